"""Between records and columns: one scored answer as a record, many as an Arrow table, as it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from situs.score.columns import Columns
from situs.score.outcomes import Outcome, Scored
from situs.space import FrameBox

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "columns_of",
    "outcomes_of",
    "record_of",
    "records_of",
    "scored_table",
    "with_outcomes",
]


def record_of(columns: Columns, row: int) -> Scored:
    """One row as a record."""
    return _record(columns.table.slice(row, 1).to_pylist()[0])


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
    arrays["boxes"] = pa.array([_box_cells(row.outcome.boxes) for row in scored], _boxes_type())
    arrays["grades"] = pa.array([_grade_cells(row) for row in scored], _grades_type())
    for name in dict.fromkeys(name for row in scored for name in row.values):
        values = [row.values.get(name) for row in scored]
        arrays[name] = pa.array(values, pa.float64())
    return pa.table(arrays)


def columns_of(tables: Sequence[pa.Table]) -> Columns:
    """Parts of a run as one, in the order of ids."""
    import pyarrow as pa

    whole = pa.concat_tables(tables, promote_options="default").unify_dictionaries()
    return Columns(whole.sort_by("item_id").combine_chunks())


def _boxes_type() -> pa.DataType:
    import pyarrow as pa

    sides = [(side, pa.float64()) for side in ("x0", "y0", "x1", "y1")]
    return pa.list_(pa.struct([("frame", pa.int64()), *sides, ("label", pa.string())]))


def _grades_type() -> pa.DataType:
    import pyarrow as pa

    whole = [("truth", pa.int64()), ("told", pa.int64())]
    more = [("nominal", pa.bool_()), ("absent", pa.int64())]
    return pa.list_(pa.struct([("name", pa.string()), *whole, *more]))


def _box_cells(boxes: Sequence[FrameBox]) -> list[dict[str, object]]:
    names = ("frame", "x0", "y0", "x1", "y1", "label")
    return [{name: getattr(box, name) for name in names} for box in boxes]


def _grade_cells(row: Scored) -> list[tuple[str, int, int | None, bool, int | None]]:
    return [
        (name, truth, told, name in row.nominal, row.absent.get(name, 0))
        for name, truth, told in row.grades
    ]


_FIXED = frozenset(
    (*_TEXTS, "position", "right", "answer_right", "place_right", "hidden_right", "chance", "truth")
) | {"prediction", "tags", "flags", "boxes", "grades"}


def _record(cells: Mapping[str, Any]) -> Scored:
    outcome = Outcome(
        cells["item_id"],
        cells["state"],
        cells["right"],
        cells["parsed"],
        tuple(cells["flags"]),
        tuple(FrameBox(**box) for box in cells["boxes"]),
    )
    grades = cells["grades"]
    return Scored(
        outcome=outcome,
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
