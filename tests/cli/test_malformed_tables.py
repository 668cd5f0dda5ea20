"""Damaged name maps, recipes, profiles, study tables, benches and runs:
exit code 2, one line, nothing left behind."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench_rows import rows_of

pytestmark = pytest.mark.sampled

DEEP_JSON = b"[" * 100_000
DEEP_TOML = b"a = " + b"[" * 100_000
NOT_TEXT = b'{"\xff\xfe": 1}'


def put(path: Path, content: bytes | None) -> None:
    """Write a file, or make a folder in its place."""
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)


# --- name maps ---

NAMES: dict[str, tuple[str, bytes | None]] = {
    "JSON cut": ("n.json", b'{"1": "liv'),
    "JSON list": ("n.json", b'["liver"]'),
    "JSON nested": ("n.json", b'{"1": {"name": {"liver": "right"}}}'),
    "JSON deep": ("n.json", DEEP_JSON),
    "JSON not text": ("n.json", NOT_TEXT),
    "JSON empty": ("n.json", b""),
    "JSON without entries": ("n.json", b"{}"),
    "JSON label of a thousand digits": ("n.json", b'{"' + b"9" * 5000 + b'": "liver"}'),
    "JSON one name twice": ("n.json", b'{"1": "liver", "2": "liver"}'),
    "JSON lone surrogate": ("n.json", b'{"1": "\\ud800"}'),
    "JSON folder": ("n.json", None),
    "CSV empty": ("n.csv", b""),
    "CSV header only": ("n.csv", b"label,name\n"),
    "CSV no name": ("n.csv", b"label\n1\n"),
    "CSV unknown column": ("n.csv", b"label,name,colour\n1,liver,red\n"),
    "CSV label in words": ("n.csv", b"label,name\none,liver\n"),
    "CSV label twice": ("n.csv", b"label,name\n1,liver\n1,spleen\n"),
    "CSV name twice": ("n.csv", b"label,name\n1,liver\n2,liver\n"),
    "CSV too many cells": ("n.csv", b"label,name\n1,liver,2,3\n"),
    "CSV not text": ("n.csv", b"label,name\n1,\xff\xfe\n"),
    "CSV unknown side": ("n.csv", b"label,name,side\n1,liver,up\n"),
    "CSV folder": ("n.csv", None),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_name_map_is_refused(refused, work, small, name) -> None:
    file, content = NAMES[name]
    put(work / file, content)
    masks = small / "data" / "patient000" / "segmentations"
    refused("measure", masks, "--names", file)
    refused("build", "masks", small / "data", "--names", file, "--out", "bench")


# --- recipes and profiles ---

RECIPE = files("situs.facts").joinpath("data", "recipe.toml").read_bytes()
PROFILE = files("situs.profiles").joinpath("data", "default.toml").read_bytes()
TOML: dict[str, bytes | None] = {
    "folder": None,
    "empty": b"",
    "rubbish": bytes(range(256)),
    "not text": b"name = '\xff'",
    "broken": b"name = ",
    "twice": b"name = 'a'\nname = 'b'\n",
    "deep": DEEP_TOML,
    "list": b"[[truth]]\n",
}
RECIPES = TOML | {
    "no truth": RECIPE.replace(b"[truth]", b"[untruth]"),
    "unknown key": RECIPE.replace(b"rotation_degrees", b"rotation_degree"),
    "word": RECIPE.replace(b"rotation_degrees = 10.0", b"rotation_degrees = 'ten'"),
    "splits": RECIPE.replace(b"train = 0.6", b"train = 0.7"),
    "negative split": (
        RECIPE.replace(b"train = 0.6", b"train = -0.6").replace(b"test = 0.3", b"test = 1.5")
    ),
    "cut": RECIPE[: len(RECIPE) // 2],
}
PROFILES = TOML | {
    "no view": PROFILE.replace(b"[view]", b"[look]"),
    "plane": PROFILE.replace(b'"axial" ', b'"diagonal" '),
    "no slice": PROFILE.replace(b"slices = 32", b"slices = 0"),
    "huge picture": PROFILE.replace(b"size_px = 448", b"size_px = 100000"),
    "window": PROFILE.replace(b"low = -160.0", b"low = 900.0"),
    "gives": PROFILE.replace(b"gives = [", b"gives = [1, "),
    "unknown key": PROFILE.replace(b"yes_no =", b"perhaps ="),
    "cut": PROFILE[: len(PROFILE) // 2],
}


def test_the_changes_are_changes() -> None:
    assert RECIPE not in RECIPES.values()
    assert PROFILE not in PROFILES.values()


@pytest.mark.parametrize("name", RECIPES)
def test_a_damaged_recipe_is_refused(refused, work, small, name) -> None:
    put(work / "recipe.toml", RECIPES[name])
    refused("build", "masks", small / "data", "--recipe", "recipe.toml", "--out", "bench")
    refused("build", "phantoms", "--studies", 1, "--recipe", "recipe.toml", "--out", "bench")


@pytest.mark.parametrize("name", PROFILES)
def test_a_damaged_profile_is_refused(refused, work, bench, name) -> None:
    put(work / "p.toml", PROFILES[name])
    refused("run", bench, "--model", "oracle", "--profile", "p.toml", "--out", "run")
    refused("show", bench, "--profile", "p.toml", "--out", "pictures")


# --- tables of studies ---

STUDIES: dict[str, bytes | None] = {
    "folder": None,
    "empty": b"",
    "header only": b"study,patient,image,labels\n",
    "no labels": b"study,patient\na,b\n",
    "unknown column": b"study,patient,labels,age\na,b,m,70\n",
    "column twice": b"study,study,labels\na,a,m\n",
    "same study twice": b"study,labels\na,m\na,m\n",
    "missing file": b"study,labels\na,nosuch\n",
    "missing image": b"study,image,labels\na,nosuch.nii,m\n",
    "ragged": b"study,labels\na,m,x\n",
    "no study": b"study,labels\n,m\n",
    "not text": b"study,labels\n\xff\xfe,m\n",
    "nul": b"study,labels\na,m\0\n",
    "open quote": b'study,labels\na,"m\n',
    "quote inside": b'study,labels\na,"m"x\n',
}


@pytest.mark.parametrize("name", STUDIES)
def test_a_damaged_table_of_studies_is_refused(refused, work, small, name) -> None:
    (work / "m").symlink_to(small / "data" / "patient000" / "segmentations")
    put(work / "studies.csv", STUDIES[name])
    refused("build", "masks", "studies.csv", "--out", "bench")


# --- benches ---


def on_a_bench(refused: Callable[..., str], bench: Path, run: Path) -> None:
    """Every command that reads a bench refuses it."""
    refused("check", bench)
    refused("run", bench, "--model", "random", "--out", "new")
    refused("score", bench, run)
    refused("score", bench, run / "answers.jsonl")


TABLES = ("items", "facts", "studies")


def damage(content: bytes) -> dict[str, bytes | None]:
    rng = np.random.default_rng(2)
    cuts = {
        f"cut at {share:.0%}": content[: int(len(content) * share)]
        for share in (0.02, 0.3, 0.6, 0.95, 0.999)
    }
    noise: dict[str, bytes | None] = {"random bytes": rng.bytes(5000), "magic only": b"PAR1PAR1"}
    return {**cuts, **noise, "empty": b"", "text": b"item_id,question\n", "folder": None}


@pytest.mark.parametrize("kind", list(damage(b"")))
@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_table_is_refused(refused, bench_copy, random_run, table, kind) -> None:
    path = bench_copy / f"{table}.parquet"
    content = damage(path.read_bytes())[kind]
    path.unlink()
    put(path, content)
    refused("check", bench_copy)
    if table == "items":
        refused("run", bench_copy, "--model", "random", "--out", "new")
        refused("score", bench_copy, random_run / "answers.jsonl")
        refused("show", bench_copy, "--out", "new")


@pytest.mark.parametrize(
    "name", ["bench.json", "items.parquet", "facts.parquet", "studies.parquet"]
)
def test_a_missing_part_is_refused(refused, bench_copy, random_run, name) -> None:
    (bench_copy / name).unlink()
    on_a_bench(refused, bench_copy, random_run)


def columns(table: str) -> list[str]:
    names = {
        "items": (
            "item_id study_id series patient_id task form question answer source_id split stratum"
            " level frames options needs tags fact_ids steps boxes difficulty twin_group twin_of"
            " parameters"
        ),
        "facts": "fact_id study_id series kind subjects value unit interval derivation flags",
        "studies": "study_id patient_id split series",
    }
    return names[table].split()


@pytest.mark.parametrize("column", columns("items"))
def test_a_missing_column_of_items_is_refused(refused, bench_copy, random_run, column) -> None:
    path = bench_copy / "items.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    assert repr(column) in refused("check", bench_copy)
    refused("score", bench_copy, random_run / "answers.jsonl")


@pytest.mark.parametrize(
    ("table", "column"), [(t, c) for t in ("facts", "studies") for c in columns(t)]
)
def test_a_missing_column_is_refused(refused, bench_copy, table, column) -> None:
    path = bench_copy / f"{table}.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    assert repr(column) in refused("check", bench_copy)


CELLS: dict[str, Any] = {
    "nothing": None,
    "no JSON": "{",
    "deep": "[" * 100_000,
    "number": "12",
    "list of a list": "[[]]",
    "wrong tag": '{"type": "nosuch"}',
    "surrogate": '"\\ud800"',
}


def set_text(path: Path, column: str, value: str | None) -> None:
    """A column as JSON text, as version 0.1 wrote it, with one odd cell."""
    rows = rows_of(path.parent, path.stem)
    cells = [json.dumps(row[column]) for row in rows]
    cells[len(cells) // 2] = value
    table = pq.read_table(path)
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, column, pa.array(cells, pa.string())), path)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("column", ["answer", "options", "steps", "boxes", "needs"])
def test_a_damaged_cell_is_refused_with_its_place(refused, bench_copy, column, cell) -> None:
    set_text(bench_copy / "items.parquet", column, CELLS[cell])
    said = refused("run", bench_copy, "--model", "random", "--out", "new")
    assert "items.parquet:" in said
    assert f"$.{column}" in said


@pytest.mark.parametrize(
    ("table", "column"), [("facts", "derivation"), ("facts", "value"), ("studies", "series")]
)
def test_a_damaged_cell_of_other_tables_is_refused(refused, bench_copy, table, column) -> None:
    set_text(bench_copy / f"{table}.parquet", column, "{]")
    assert f"$.{column}" in refused("check", bench_copy)


TYPED = {
    "nothing": ("answer", lambda cell: None),
    "no kind of answer": ("answer", lambda cell: dict.fromkeys(cell)),
    "two kinds of answer": (
        "answer",
        lambda cell: cell | {"yes_no": {"value": True}, "text": {"references": ["yes"]}},
    ),
    "an answer without its value": ("answer", lambda cell: cell | {cell["kind"]: {}}),
    "a list with a hole": ("needs", lambda cell: [*cell, None]),
    "an option without text": ("options", lambda cell: [*cell, {"value": "x", "text": None}]),
    "a box of two numbers": (
        "boxes",
        lambda cell: [
            {"kind": "world", "world": {"lo_mm": [0.0, 1.0], "hi_mm": [1.0, 2.0], "label": ""}}
        ],
    ),
    "a box inside out": (
        "boxes",
        lambda cell: [
            {"kind": "world", "world": {"lo_mm": [1.0] * 3, "hi_mm": [0.0] * 3, "label": ""}}
        ],
    ),
}


@pytest.mark.parametrize("name", TYPED)
def test_a_damaged_typed_cell_is_refused_with_its_place(refused, bench_copy, name) -> None:
    column, change = TYPED[name]
    path = bench_copy / "items.parquet"
    rows = pq.read_table(path).to_pylist()
    number = len(rows) // 2
    rows[number][column] = change(rows[number][column])
    pq.write_table(pa.Table.from_pylist(rows, schema=pq.read_schema(path)), path)
    said = refused("run", bench_copy, "--model", "random", "--out", "new")
    assert f"items.parquet:{number + 1}" in said
    assert f"$.{column}" in said


@pytest.mark.parametrize("column", ["answer", "options", "parameters", "frames", "boxes"])
def test_a_nested_column_of_another_type_is_refused(refused, bench_copy, column) -> None:
    path = bench_copy / "items.parquet"
    table = pq.read_table(path)
    place = table.column_names.index(column)
    odd = pa.array([1.5] * table.num_rows)
    pq.write_table(table.set_column(place, column, odd), path)
    assert f"$.{column}" in refused("run", bench_copy, "--model", "random", "--out", "new")


@pytest.mark.parametrize("kind", [pa.int64(), pa.bool_(), pa.binary()])
def test_a_column_of_another_type_is_refused(refused, bench_copy, kind) -> None:
    path = bench_copy / "items.parquet"
    table = pq.read_table(path)
    place = table.column_names.index("task")
    odd = pa.array([b"\xff" if kind == pa.binary() else True] * table.num_rows).cast(kind)
    pq.write_table(table.set_column(place, "task", odd), path)
    refused("run", bench_copy, "--model", "random", "--out", "new")


def test_text_that_is_not_unicode_is_refused(refused, bench_copy) -> None:
    path = bench_copy / "items.parquet"
    table = pq.read_table(path)
    raw = pa.array([b"\xff\xfe"] * table.num_rows, pa.binary())
    odd = pa.Array.from_buffers(pa.string(), table.num_rows, raw.buffers())
    pq.write_table(table.set_column(table.column_names.index("question"), "question", odd), path)
    refused("run", bench_copy, "--model", "random", "--out", "new")


def test_a_repeated_item_is_refused(refused, bench_copy, random_run) -> None:
    path = bench_copy / "items.parquet"
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table.slice(3, 1)]), path)
    on_a_bench(refused, bench_copy, random_run)


JSON: dict[str, bytes | None] = {
    "folder": None,
    "empty": b"",
    "cut": b'{"name": "x", "for',
    "list": b"[]",
    "null": b"null",
    "number": b"1e999",
    "deep": DEEP_JSON,
    "deep inside": b'{"name": ' + DEEP_JSON,
    "not text": NOT_TEXT,
    "rubbish": bytes(range(256)),
    "without keys": b"{}",
}


@pytest.mark.parametrize("kind", JSON)
def test_a_damaged_bench_json_is_refused(refused, bench_copy, random_run, kind) -> None:
    (bench_copy / "bench.json").unlink()
    put(bench_copy / "bench.json", JSON[kind])
    on_a_bench(refused, bench_copy, random_run)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 999},
        {"format": "1"},
        {"seed": "x"},
        {"recipe": {}},
        {"counts": []},
        {"terms": {"a": 1}},
        {"name": None},
    ],
    ids=str,
)
def test_a_changed_bench_json_is_refused(refused, bench_copy, random_run, change) -> None:
    path = bench_copy / "bench.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    on_a_bench(refused, bench_copy, random_run)


@pytest.mark.parametrize("kind", [kind for kind in JSON if kind not in ("folder", "without keys")])
def test_a_damaged_locations_json_is_refused(refused, bench_copy, kind) -> None:
    (bench_copy / "locations.json").unlink()
    put(bench_copy / "locations.json", JSON[kind])
    refused("check", bench_copy)
    refused("show", bench_copy, "--out", "new")


# --- runs and answers ---


@pytest.mark.parametrize("kind", JSON)
def test_a_damaged_run_json_is_refused(refused, bench, run_copy, kind) -> None:
    (run_copy / "run.json").unlink()
    put(run_copy / "run.json", JSON[kind])
    refused("score", bench, run_copy)
    refused("run", bench, "--model", "random", "--out", run_copy)
    refused("report", run_copy, "--bench", bench, "--out", "new.html")


@pytest.mark.parametrize(
    "change", [{"bench_hash": "0"}, {"profile": {}}, {"client": 3}, {"limit": "x"}], ids=str
)
def test_a_changed_run_json_is_refused(refused, bench, run_copy, change) -> None:
    path = run_copy / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    refused("score", bench, run_copy)
    refused("report", run_copy, "--bench", bench, "--out", "new.html")


LINES: dict[str, bytes | None] = {
    "folder": None,
    "empty": b"",
    "broken line": b'{"item_id": \n',
    "list": b"[]\n",
    "deep": DEEP_JSON + b"\n",
    "no id": b'{"response": "yes"}\n',
    "id is a number": b'{"item_id": 3, "response": "yes"}\n',
    "response is a number": b'{"item_id": "i", "response": 1}\n',
    "unknown state": b'{"item_id": "i", "state": "bored"}\n',
    "not text": b'{"item_id": "\xff"}\n',
    "surrogate": b'{"item_id": "i", "response": "\\ud800"}\n',
    "CSV": b"item_id,response\ni,yes\n",
    "two answers": b'{"item_id": "i", "response": "a"}\n{"item_id": "i", "response": "b"}\n',
    "strangers only": b'{"item_id": "i", "response": "a"}\n',
    "random bytes": bytes(range(256)) * 10 + b"\n",
}


@pytest.mark.parametrize("kind", LINES)
def test_damaged_answers_are_refused(refused, work, bench, run_copy, kind) -> None:
    put(work / "answers.jsonl", LINES[kind])
    refused("score", bench, "answers.jsonl")
    shutil.copy(run_copy / "answers.jsonl", work / "good.jsonl")
    (run_copy / "answers.jsonl").unlink()
    put(run_copy / "answers.jsonl", LINES[kind])
    if kind not in ("empty", "strangers only"):
        refused("run", bench, "--model", "random", "--out", run_copy)
    refused("score", bench, run_copy)


def test_a_line_in_the_middle_is_named(refused, bench, run_copy) -> None:
    path = run_copy / "answers.jsonl"
    lines = path.read_text().splitlines()
    lines[6] = "{"
    path.write_text("\n".join(lines) + "\n")
    assert "answers.jsonl:7" in refused("score", bench, run_copy)


@pytest.mark.parametrize("name", ["run.json", "answers.jsonl"])
def test_a_run_without_its_files_is_refused(refused, bench, run_copy, name) -> None:
    (run_copy / name).unlink()
    refused("score", bench, run_copy)


# --- words on the command line ---

WORDS: list[tuple[object, ...]] = [
    ("run", "BENCH", "--model", "orcale", "--out", "new"),
    ("run", "BENCH", "--model", "", "--out", "new"),
    ("run", "BENCH", "--model", "random?seed=x", "--out", "new"),
    ("run", "BENCH", "--model", "random?seed=-1", "--out", "new"),
    ("run", "BENCH", "--model", "random?sed=1", "--out", "new"),
    ("run", "BENCH", "--model", "random?&&", "--out", "new"),
    ("run", "BENCH", "--model", "random:name", "--out", "new"),
    ("run", "BENCH", "--model", "random@host", "--out", "new"),
    *[
        ("run", "BENCH", "--model", f"random?delay={d}", "--out", "new")
        for d in ("x", "nan", "inf", "-1", "1e9", "1_000", "٣")
    ],
    ("run", "BENCH", "--model", "random", "--split", "nosuch", "--out", "new"),
    ("run", "BENCH", "--model", "random", "--limit", "0", "--out", "new"),
    ("run", "BENCH", "--model", "random", "--profile", "nosuch", "--out", "new"),
    ("run", "BENCH", "--model", "random", "--out", "file"),
    ("run", "BENCH", "--model", "random", "--out", "file/new"),
    ("run", "BENCH", "--model", "random", "--out", "full"),
    ("score", "BENCH", "nosuch"),
    ("score", "BENCH", "full"),
    ("score", "BENCH", "RUN", "--metrics", "acuracy"),
    ("score", "BENCH", "RUN", "--metrics", ""),
    ("show", "BENCH", "--item", "nosuch", "--out", "new"),
    ("show", "full", "--item", "i", "--out", "new"),
    ("show", "BENCH", "--out", "file/new.png"),
    ("compare", "RUN", "--blind", "RUN/answers.jsonl", "--bench", "BENCH"),
    ("compare", "RUN/answers.jsonl", "RUN", "--bench", "BENCH"),
    ("report", "RUN/answers.jsonl", "--bench", "BENCH", "--out", "new.html"),
    ("report", "RUN", "--bench", "BENCH", "--max-mb", "1e308", "--out", "new.html"),
    ("report", "nosuch", "--out", "new.html"),
    ("report", "--out", "new.html"),
    ("build", "phantoms", "--studies", "0", "--out", "new"),
    ("build", "phantoms", "--studies", "100001", "--out", "deep/er/new"),
    ("build", "phantoms", "--studies", "1", "--out", "file"),
    ("build", "phantoms", "--studies", "1", "--out", "file/new"),
    ("build", "phantoms", "--studies", "1", "--out", "full"),
    ("build", "phantoms", "--studies", "1", "--out", "full", "--overwrite"),
    ("build", "phantoms", "--studies", "1", "--out", "."),
    ("build", "phantoms", "--studies", "1", "--out", ".."),
    ("build", "phantoms", "--studies", "1", "--out", "/"),
    ("build", "phantoms", "--studies", "1", "--out", ""),
    ("build", "masks", "DATA", "--tasks", "nosuch", "--out", "new"),
    ("build", "masks", "DATA", "--annotation", "nosuch", "--out", "new"),
    ("build", "masks", "DATA", "DATA", "--out", "new"),
    ("build", "masks", "--out", "new"),
    ("build", "nosuch", "--out", "new"),
    ("measure", "DATA/patient000", "--pairs", "liver"),
    ("measure", "DATA/patient000", "--pairs", "liver,nosuch"),
    ("measure", "DATA/patient000", "--pairs", "liver,liver"),
    ("measure", "DATA/patient000", "--annotation", "nosuch"),
    ("measure", "DATA/patient000", "--names", "nosuch"),
    ("measure", "\x1b[31mred\x07"),
    ("measure", "--\x1b[31mred"),
    ("check", "full"),
    ("check", "file"),
    ("nosuch",),
    ("--nosuch",),
]


@pytest.mark.parametrize("args", WORDS, ids=lambda args: ascii(" ".join(map(str, args))))
def test_unknown_words_and_impossible_places_are_refused(
    refused, work, small, random_run, args
) -> None:
    (work / "file").write_text("mine")
    (work / "full").mkdir()
    (work / "full" / "mine.txt").write_text("mine")
    known = {"BENCH": small / "bench", "DATA": small / "data", "RUN": random_run}
    known["DATA/patient000"] = small / "data" / "patient000"
    known["RUN/answers.jsonl"] = random_run / "answers.jsonl"
    refused(*(known.get(str(word), word) for word in args))
