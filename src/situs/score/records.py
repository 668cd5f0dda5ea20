"""Between records and columns: one scored answer as a record, many as an Arrow table, as it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from situs.score.columns import Columns
from situs.score.outcomes import Outcome, Scored
from situs.space import FrameBox

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "columns_of",
    "outcome_at",
    "outcomes_of",
    "record_of",
    "records_of",
    "scored_table",
    "with_outcomes",
]


def record_of(columns: Columns, row: int) -> Scored:
    """One row as a record."""
    return _record(columns.table.slice(row, 1).to_pylist()[0])


def outcome_at(columns: Columns, row: int) -> Outcome:
    """What became of the answer in one row; cheaper than its whole record."""
    names = ("item_id", "state", "right", "parsed", "flags", "boxes")
    return _outcome({name: columns.table[name][row].as_py() for name in names})


def records_of(columns: Columns) -> Iterator[Scored]:
    """Every row as a record, in the order of the bench."""
    order = np.argsort(columns.numbers("position"), kind="stable")
    for batch in columns.table.take(order).to_batches(max_chunksize=5000):
        yield from map(_record, batch.to_pylist())


def outcomes_of(columns: Columns) -> dict[str, Outcome]:
    """Item id → what became of its answer, in the order of the bench."""
    return {one.outcome.item_id: one.outcome for one in records_of(columns)}


def with_outcomes(columns: Columns, outcomes: Mapping[str, Outcome]) -> Columns:
    """The same with what a jury found, where an answer waits for its word."""
    waiting = columns.has_state("unjudged")
    found = {
        columns.places[item_id]: one
        for item_id, one in outcomes.items()
        if item_id in columns.places and waiting[columns.places[item_id]]
    }
    if not found:
        return columns
    import pyarrow as pa

    table = columns.table
    for name in ("state", "right", "parsed"):
        cells = table[name].to_pylist()
        for row, one in found.items():
            cells[row] = getattr(one, name)
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(cells, table.schema.field(name).type))
    return Columns(table)


_Types = Mapping[str, str]

_TEXTS: dict[str, Callable[[Scored], str]] = {
    "item_id": lambda row: row.outcome.item_id,
    "patient_id": lambda row: row.cluster,
    "task": lambda row: row.task,
    "form": lambda row: row.form,
    "stratum": lambda row: row.stratum,
    "question": lambda row: row.question,
    "answer": lambda row: row.answer,
    "twin_group": lambda row: row.twin_group,
    "state": lambda row: row.outcome.state,
    "parsed": lambda row: row.outcome.parsed,
}
_REPEATED = ("patient_id", "task", "form", "stratum", "question", "answer", "twin_group", "state")
"""Columns whose words occur often: each is stored once."""


def scored_table(scored: Sequence[Scored], first: int = 0) -> pa.Table:
    """Scored answers as an Arrow table, as it is stored: `first` is the place of the first item in the bench."""
    import pyarrow as pa

    arrays: dict[str, Any] = {}
    for name, read in _TEXTS.items():
        arrays[name] = pa.array([read(row) for row in scored], pa.string())
        if name in _REPEATED:
            arrays[name] = arrays[name].dictionary_encode()
    arrays["position"] = pa.array(range(first, first + len(scored)), pa.int64())
    arrays["right"] = pa.array([row.outcome.right for row in scored], pa.bool_())
    for name in ("answer_right", "place_right", "hidden_right"):
        arrays[name] = pa.array([getattr(row, name) for row in scored], pa.bool_())
    for name in ("chance", "truth"):
        arrays[name] = pa.array([getattr(row, name) for row in scored], pa.float64())
    said = [None if row.prediction is None else str(row.prediction) for row in scored]
    arrays["prediction"] = pa.array(said, pa.string())
    words = pa.list_(pa.string())
    arrays["tags"] = pa.array([row.tags for row in scored], words)
    arrays["flags"] = pa.array([row.outcome.flags for row in scored], words)
    arrays["boxes"] = _lists([row.outcome.boxes for row in scored], msgspec.structs.astuple, _BOX)
    arrays["grades"] = _lists([_grade_cells(row) for row in scored], tuple, _GRADE)
    for name in dict.fromkeys(name for row in scored for name in row.values):
        values = [row.values.get(name) for row in scored]
        arrays[name] = pa.array(values, pa.float64())
    return pa.table(arrays)


def columns_of(tables: list[pa.Table]) -> Columns:
    """Parts of a run as one, in the order of ids. The list is emptied: of each column there is one copy at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    joined = pa.concat_tables(tables, promote_options="default").unify_dictionaries()
    tables.clear()
    order = pc.sort_indices(joined["item_id"])
    names = joined.column_names
    columns = []
    for name in names:
        columns.append(joined[name].take(order).combine_chunks())
        joined = joined.drop_columns([name])
    return Columns(pa.table(columns, names=names))


_BOX = {"frame": "int64", **dict.fromkeys(("x0", "y0", "x1", "y1"), "float64"), "label": "string"}
_GRADE = {
    "name": "string", "truth": "int64", "told": "int64", "nominal": "bool", "absent": "int64"
}  # fmt: skip
"""The fields of what a cell lists, and their types."""


def _lists(
    cells: Sequence[Sequence[Any]], fields_of: Callable[[Any], tuple[Any, ...]], types: _Types
) -> pa.Array:
    """A column of lists of records: each field of all records is one array, which is quicker than record by record."""
    import pyarrow as pa

    ends = np.cumsum([0, *map(len, cells)])
    records = [fields_of(one) for cell in cells for one in cell]
    columns = zip(*records) if records else ([] for _ in types)
    arrays = [
        pa.array(column, pa.type_for_alias(kind)) for column, kind in zip(columns, types.values())
    ]
    listed = pa.StructArray.from_arrays(arrays, names=list(types))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), listed)


def _grade_cells(row: Scored) -> list[tuple[str, int, int | None, bool, int | None]]:
    return [
        (name, truth, told, name in row.nominal, row.absent.get(name, 0))
        for name, truth, told in row.grades
    ]


_FIXED = frozenset(
    (*_TEXTS, "position", "right", "answer_right", "place_right", "hidden_right", "chance", "truth")
) | {"prediction", "tags", "flags", "boxes", "grades"}


def _outcome(cells: Mapping[str, Any]) -> Outcome:
    return Outcome(
        cells["item_id"],
        cells["state"],
        cells["right"],
        cells["parsed"],
        tuple(cells["flags"]),
        tuple(FrameBox(**box) for box in cells["boxes"]),
    )


def _record(cells: Mapping[str, Any]) -> Scored:
    grades = cells["grades"]
    return Scored(
        outcome=_outcome(cells),
        cluster=cells["patient_id"],
        task=cells["task"],
        form=cells["form"],
        stratum=cells["stratum"],
        tags=tuple(cells["tags"]),
        question=cells["question"],
        chance=cells["chance"],
        answer=cells["answer"],
        twin_group=cells["twin_group"],
        truth=cells["truth"],
        prediction=None if cells["prediction"] is None else Fraction(cells["prediction"]),
        values={k: v for k, v in cells.items() if k not in _FIXED and v is not None},
        grades=tuple((one["name"], one["truth"], one["told"]) for one in grades),
        nominal=frozenset(one["name"] for one in grades if one["nominal"]),
        absent={one["name"]: one["absent"] for one in grades if one["absent"] != 0},
        answer_right=cells["answer_right"],
        place_right=cells["place_right"],
        hidden_right=cells["hidden_right"],
    )
