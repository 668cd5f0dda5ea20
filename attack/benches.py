"""Benches and runs of others whose parts are each well formed, and contradict each other."""

from __future__ import annotations

import contextlib
import json
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from attack.commands import OF_BENCH, lay_out, spell
from attack.corpus import BENCHES
from attack.program import call, complaints, tree

__all__ = ["agree", "case"]

Rows = list[dict[str, Any]]
_TABLES = ("items", "studies", "facts")
_ODD: tuple[Any, ...] = (
    None, "", " ", "nobody", "../../x", "/etc/passwd", -1, 0, 1, 2**70, -(2**40), 1.5, 1e308,
    -1e308, 1e-320, True,
    [], {}, [None], [[]], {"": ""}, "\x1b[2J", "<script>", "x" * 3000, "1", "nan", [1, 2],
    [1e308] * 3, "left", "yes",
)  # fmt: skip


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A bench or run with one to three contradictions, through any command that opens it."""
    kind = rng.choice(BENCHES)
    lay_out(f"benches/{kind}/bench.json", corpus, work)
    lay_out(f"runs/{kind}/run.json", corpus, work)
    bench, run = work / "benches" / kind, work / "runs" / kind
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.8:
            _change_table(rng, bench / f"{rng.choice(_TABLES)}.parquet")
        else:
            _change_json(
                rng, rng.choice([bench / "bench.json", run / "run.json", run / "answers.jsonl"])
            )
    if rng.random() < 0.8:
        agree(bench, run)
    words = rng.choice(OF_BENCH)
    before = tree(work)
    ran = call(*spell(words, bench=bench, run=run, corpus=corpus, out=work / "out"))
    return [f"{kind} {text}" for text in complaints(ran, work, before)]


def _change_table(rng: random.Random, path: Path) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    schema = table.schema
    if rows:
        change = rng.choice(
            [_cell, _cell, _cell, _cell, _likely, _likely, _as_text, _rows, _column]
        )
        schema = change(rng, rows, schema)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)


def _cell(rng: random.Random, rows: Rows, schema: pa.Schema) -> pa.Schema:
    """Another value in one cell, at any depth; one that its column cannot hold is drawn again."""
    row, field = rng.choice(rows), rng.choice(list(schema))
    before = row[field.name]
    for _ in range(20):
        if pa.types.is_string(field.type):
            others = [str(other[field.name]) for other in rows]
            row[field.name] = rng.choice([rng.choice(others), str(rng.choice(_ODD))])
        elif pa.types.is_nested(field.type):
            row[field.name] = _changed(rng, before)
        else:
            row[field.name] = rng.choice([None, 1e308, float("nan"), float("inf"), -1.0])
        try:
            _check_maps(row[field.name], field.type)
            # With its neighbours: an empty list alone would pass for a struct.
            pa.array([other[field.name] for other in rows], field.type)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
            row[field.name] = before
        else:
            break
    return schema


def _likely(rng: random.Random, rows: Rows, schema: pa.Schema) -> pa.Schema:
    """In one column or all, some values exchanged with those of the same place in other rows, or
    nearly those: each may stand there, and together they do not fit."""
    share = rng.choice([0.02, 0.1, 0.5])
    for field in rng.sample(list(schema), rng.choice([1, 1, 2, len(schema)])):
        others: dict[str, list[Any]] = defaultdict(list)
        for row in rows:
            _gather(row[field.name], "", others)
        for row in rows:
            made = _exchanged(rng, row[field.name], "", others, share)
            with contextlib.suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
                _check_maps(made, field.type)
                pa.array([made], field.type)
                row[field.name] = made
    return schema


def _gather(value: Any, place: str, found: dict[str, list[Any]]) -> None:
    """Every plain value by its kind and place."""
    if isinstance(value, dict):
        for key, part in value.items():
            _gather(part, f"{place}.{key}", found)
    elif isinstance(value, list | tuple):
        for part in value:
            _gather(part, f"{place}[]", found)
    else:
        found[f"{place} {type(value)}"].append(value)


def _exchanged(
    rng: random.Random, value: Any, place: str, others: dict[str, list[Any]], share: float
) -> Any:
    if isinstance(value, dict):
        return {k: _exchanged(rng, v, f"{place}.{k}", others, share) for k, v in value.items()}
    if isinstance(value, tuple):  # an entry of a map
        return tuple(_exchanged(rng, part, f"{place}[]", others, share) for part in value)
    if isinstance(value, list):
        kept = [part for part in value if rng.random() > share / 3]
        return [_exchanged(rng, part, f"{place}[]", others, share) for part in kept]
    if rng.random() > share:
        return value
    other = rng.choice(others[f"{place} {type(value)}"])
    if isinstance(other, str):
        return rng.choice([other, other, other, f"{other}2", "", other.upper()])
    if isinstance(other, bool) or other is None:
        return other
    return rng.choice([other, -other, 0 * other, other + 1, other * 50])


def _check_maps(value: Any, kind: pa.DataType) -> None:
    """TypeError for a map with an entry that is none:
    pyarrow ends the process instead of refusing it."""
    if value is None:
        return
    if pa.types.is_map(kind):
        entries = list(value.items()) if isinstance(value, dict) else value
        for entry in entries:
            if not isinstance(entry, tuple | list) or len(entry) != 2:
                raise TypeError(entry)
            _check_maps(entry[1], kind.item_type)
    elif pa.types.is_list(kind) and isinstance(value, list):
        for entry in value:
            _check_maps(entry, kind.value_type)
    elif pa.types.is_struct(kind) and isinstance(value, dict):
        for field in kind:
            _check_maps(value.get(field.name), field.type)


def _as_text(rng: random.Random, rows: Rows, schema: pa.Schema) -> pa.Schema:
    """A nested column as JSON text, as version 0.1 wrote it;
    what stands there need not fit its type."""
    nested = [field for field in schema if pa.types.is_nested(field.type)]
    if not nested:
        return schema
    field = rng.choice(nested)
    for row in rows:
        row[field.name] = json.dumps(row[field.name])
    odd = rng.choice(rows)
    odd[field.name] = rng.choice([odd[field.name][:-1], json.dumps(rng.choice(_ODD)), "[" * 9000])
    return schema.set(schema.get_field_index(field.name), pa.field(field.name, pa.string()))


def _rows(rng: random.Random, rows: Rows, schema: pa.Schema) -> pa.Schema:
    """A row too few, twice, or as the only one."""
    row = rng.choice(rows)
    match rng.randrange(4):
        case 0:
            rows.remove(row)
        case 1:
            rows.append(dict(row))
        case 2:
            rows[:] = [row]
        case _:
            rows.clear()
    return schema


def _column(rng: random.Random, rows: Rows, schema: pa.Schema) -> pa.Schema:
    """A column too few, of another type, or with the same in every row."""
    place = rng.randrange(len(schema))
    field = schema.field(place)
    match rng.randrange(3):
        case 0:
            return schema.remove(place)
        case 1 if pa.types.is_string(field.type):
            for row in rows:
                row[field.name] = 7
            return schema.set(place, pa.field(field.name, pa.int64()))
        case _:
            for row in rows:
                row[field.name] = rows[0][field.name]
            return schema


def _change_json(rng: random.Random, path: Path) -> None:
    lines = (
        path.read_text(encoding="utf-8").splitlines()
        if path.suffix == ".jsonl"
        else [path.read_text("utf-8")]
    )
    place = rng.randrange(len(lines))
    lines[place] = json.dumps(_changed(rng, json.loads(lines[place])))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _changed(rng: random.Random, value: Any) -> Any:
    """The value with one thing inside it changed, at any depth."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.15:
            return {name: entry for name, entry in value.items() if name != key}
        return value | {key: _changed(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        changes: list[Callable[[], list[Any]]] = [
            lambda: [*value[:place], _changed(rng, value[place]), *value[place + 1 :]],
            lambda: value[:place],
            lambda: [*value, value[place]],
        ]
        return rng.choice(changes)()
    return rng.choice(_ODD)


def agree(bench: Path, run: Path) -> None:
    """What is held to be the bench's hash says nothing: who writes a bench writes that too."""
    from situs.bench import content_hash

    for path, key in ((bench / "bench.json", "content_hash"), (run / "run.json", "bench_hash")):
        told = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(told, dict) and key in told:
            path.write_text(json.dumps(told | {key: content_hash(bench)}), encoding="utf-8")
