"""Between records and columns: one scored answer as a record,
many as an Arrow table, as it is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.items import Item, answer_key
from situs.score.columns import Columns
from situs.score.judgements import Judgement
from situs.score.outcomes import Outcome, Scored, chance_of, truth_of
from situs.score.stats.estimates import cluster_of
from situs.space import FrameBox, FrameBoxes

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "GradeCell",
    "JudgedArrays",
    "asked_arrays",
    "box_lists",
    "columns_of",
    "grade_cells",
    "grade_lists",
    "in_one_piece",
    "judged_table",
    "judgements_of",
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


def judgements_of(columns: Columns, rows: NDArray[np.int64]) -> list[Judgement]:
    """What became of the answers in some rows, without the scores of metrics and grades; boxes stay
    the rows of an array."""
    table = columns.table.select(_JUDGED).take(rows).combine_chunks()
    boxes = _boxes_in(table["boxes"])
    cells = {name: table[name].to_pylist() for name in _JUDGED if name != "boxes"}
    said = [None if text is None else Fraction(text) for text in cells.pop("prediction")]
    flags = map(tuple, cells.pop("flags"))
    return [
        Judgement(flags=flag, boxes=own, prediction=number, **dict(zip(cells, rest)))
        for flag, own, number, *rest in zip(flags, boxes, said, *cells.values())
    ]


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


_TEXTS = ("item_id", "patient_id", "task", "form", "stratum", "question", "answer", "twin_group")
"""Columns of words that every answer to an item shares."""
_ONCE = ("item_id", "parsed")
"""Columns whose words hardly occur twice; each word of the others is stored once."""
_TRI_STATES = ("answer_right", "place_right", "hidden_right")
_JUDGED = ("state", "right", "parsed", "flags", "boxes", "prediction", *_TRI_STATES)
_JUDGED_COLUMNS = (
    "state",
    "parsed",
    "right",
    *_TRI_STATES,
    "prediction",
    "flags",
    "boxes",
    "grades",
)
_ORDER = (
    *(*_TEXTS, "state", "parsed", "position", "right", *_TRI_STATES, "chance", "truth"),
    *("prediction", "tags", "flags", "boxes", "grades"),
)
"""The columns of every table, as they stand in it; those of metrics follow."""

Arrays = dict[str, Any]
"""Arrow columns by name."""


def asked_arrays(items: Sequence[Item]) -> Arrays:
    """The columns that tell the items: the same whoever answers them."""
    import pyarrow as pa

    answers = [item.answer for item in items]
    words: dict[str, list[str]] = {
        "item_id": [item.item_id for item in items],
        "patient_id": [cluster_of(item) for item in items],
        "task": [item.task for item in items],
        "form": [item.form for item in items],
        "stratum": [item.stratum for item in items],
        "question": [item.question for item in items],
        "answer": [answer_key(answer) or "" for answer in answers],
        "twin_group": [item.twin_group for item in items],
    }
    arrays: Arrays = {name: _word_array(name, column) for name, column in words.items()}
    arrays["chance"] = pa.array([chance_of(item) for item in items], pa.float64())
    arrays["truth"] = pa.array([truth_of(item) for item in items], pa.float64())
    arrays["tags"] = _tag_lists([item.tags for item in items])
    return arrays


@dataclass(frozen=True, slots=True)
class JudgedArrays:
    """The columns that tell what became of some answers."""

    arrays: Arrays
    """Also of the metrics of single answers."""
    kinds: Sequence[tuple[str, ...]]
    """The metrics of which each answer has a value."""

    @classmethod
    def of(cls, judged: Sequence[Judgement]) -> JudgedArrays:
        """Made of the judgements that differ."""
        import pyarrow as pa

        distinct = {id(one): one for one in judged}
        places = {key: place for place, key in enumerate(distinct)}
        arrays = _judgement_arrays(list(distinct.values()))
        if len(distinct) < len(judged):
            rows = pa.array([places[id(one)] for one in judged], pa.int64())
            arrays = {name: column.take(rows) for name, column in arrays.items()}
        return cls(arrays, [tuple(one.values) for one in judged])

    @classmethod
    def joined(cls, parts: Sequence[tuple[Sequence[int], JudgedArrays]]) -> JudgedArrays:
        """Of answers that were judged in different ways, in their order: with each part the places
        of its answers among all."""
        import pyarrow as pa

        if len(parts) == 1:
            return parts[0][1]
        rows = np.concatenate([np.asarray(places, dtype=np.int64) for places, _ in parts])
        order = np.argsort(rows)
        kinds = [kind for _, part in parts for kind in part.kinds]
        kinds = [kinds[place] for place in order.tolist()]
        columns = (
            *_JUDGED_COLUMNS,
            *dict.fromkeys(n for kind in dict.fromkeys(kinds) for n in kind),
        )
        arrays = {}
        for name in columns:
            of_parts = [part.column(name) for _, part in parts]
            arrays[name] = pa.concat_arrays(of_parts).take(pa.array(order))
        return cls(arrays, kinds)

    def column(self, name: str) -> Any:
        """A column; of a metric that none of these answers has, an empty one."""
        import pyarrow as pa

        known = self.arrays.get(name)
        return pa.nulls(len(self.kinds), pa.float64()) if known is None else known


def judged_table(
    asked: Mapping[str, Any], judged: JudgedArrays, first: int = 0, *, unjudged: bool = True
) -> pa.Table:
    """Answers as an Arrow table, as it is stored: `first` is the place of the first item in the
    bench.

    `asked` are the columns of their items (`asked_arrays`). Without `unjudged`, answers that wait
    for a judge are left out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    arrays = {**asked, **judged.arrays}
    counts = pc.not_equal(arrays["state"], "unjudged")
    arrays["state"] = arrays["state"].dictionary_encode()
    if not unjudged and not pc.all(counts).as_py():
        arrays = {name: column.filter(counts) for name, column in arrays.items()}
    count = len(arrays["item_id"])
    arrays["position"] = pa.array(range(first, first + count), pa.int64())
    # A metric that only those have who were left out has no column.
    values = [k for k, column in arrays.items() if k not in _FIXED and column.null_count < count]
    return pa.table({name: arrays[name] for name in (*_ORDER, *values)})


def _judgement_arrays(distinct: Sequence[Judgement]) -> Arrays:
    import pyarrow as pa

    # The fields of all judgements, each as one list.
    rows = zip(*map(msgspec.structs.astuple, distinct)) if distinct else ([] for _ in _FIELDS)
    fields: dict[str, Sequence[Any]] = dict(zip(_FIELDS, rows))
    arrays: Arrays = {name: pa.array(fields[name], pa.string()) for name in ("state", "parsed")}
    for name in ("right", *_TRI_STATES):
        arrays[name] = pa.array(fields[name], pa.bool_())
    said = [None if one is None else str(one) for one in fields["prediction"]]
    arrays["prediction"] = pa.array(said, pa.string())
    arrays["flags"] = pa.array(fields["flags"], pa.list_(pa.string()))
    boxes = [FrameBoxes.of(one) for one in fields["boxes"]]
    table = np.concatenate([np.empty((0, 5)), *(one.table for one in boxes)])
    labels = [label for one in boxes for label in one.labels]
    arrays["boxes"] = box_lists(table, labels, list(map(len, boxes)))
    arrays["grades"] = grade_lists([grade_cells(one) if one.grades else () for one in distinct])
    arrays |= _value_arrays(fields["values"])
    return arrays


_FIELDS = tuple(field.name for field in msgspec.structs.fields(Judgement))


def _value_arrays(values: Sequence[Mapping[str, float]]) -> Arrays:
    """A column for each metric of which some answer has a value, in the order in which they come.

    Answers of a kind mostly have the same metrics: those of each set of them are had at once.
    """
    import pyarrow as pa

    names: dict[str, None] = {}
    alike: dict[tuple[str, ...], list[int]] = {}
    for row, own in enumerate(values):
        alike.setdefault(tuple(own), []).append(row)
    for kind in alike:
        names |= dict.fromkeys(kind)
    table = np.full((len(names), len(values)), np.nan)
    there = np.zeros(table.shape, dtype=bool)
    places = {name: place for place, name in enumerate(names)}
    for kind, rows in alike.items():
        if kind:
            cells = np.ix_([places[name] for name in kind], rows)
            table[cells] = np.array([tuple(values[row].values()) for row in rows]).T
            there[cells] = True
    return {
        name: pa.array(column, pa.float64(), mask=~is_there)
        for name, column, is_there in zip(names, table, there)
    }


def _tag_lists(tags: Sequence[Sequence[str]]) -> pa.Array:
    """A column of lists of tags, in which each tag is stored once."""
    import pyarrow as pa

    lists = pa.array(tags, pa.list_(pa.string()))
    return pa.ListArray.from_arrays(lists.offsets, lists.values.dictionary_encode())


def _word_array(name: str, words: list[str]) -> Any:
    import pyarrow as pa

    column = pa.array(words, pa.string())
    return column if name in _ONCE else column.dictionary_encode()


def scored_table(scored: Sequence[Scored]) -> pa.Table:
    """Records of scored answers as an Arrow table."""
    import pyarrow as pa

    asked: Arrays = {"item_id": pa.array([row.outcome.item_id for row in scored], pa.string())}
    for name in _TEXTS[1:]:
        field = "cluster" if name == "patient_id" else name
        asked[name] = _word_array(name, [getattr(row, field) for row in scored])
    for name in ("chance", "truth"):
        asked[name] = pa.array([getattr(row, name) for row in scored], pa.float64())
    asked["tags"] = _tag_lists([row.tags for row in scored])
    return judged_table(asked, JudgedArrays.of([row.judgement for row in scored]))


def columns_of(tables: list[pa.Table]) -> Columns:
    """Parts of a run as one, in the order of ids.

    The list is emptied: of each column there is one copy at a time.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    pieces = [pa.concat_tables(tables, promote_options="default").unify_dictionaries()]
    tables.clear()
    order = pc.sort_indices(pieces[0]["item_id"])
    return Columns(in_one_piece(pieces, order))


def in_one_piece(tables: list[pa.Table], order: Any = None) -> pa.Table:
    """The only table of a list with each column in one piece, maybe in another order of rows.

    The list is emptied: of each column there is one copy at a time.
    """
    import pyarrow as pa

    table = tables.pop()
    names, columns = table.column_names, []
    for name in names:
        column = table[name] if order is None else table[name].take(order)
        columns.append(column.combine_chunks())
        table = table.drop_columns([name])
    return pa.table(columns, names=names)


_GRADE = {
    "name": "string", "truth": "int64", "told": "int64", "nominal": "bool", "absent": "int64"
}  # fmt: skip
"""The fields of a grade, and their types."""


def box_lists(table: NDArray[np.float64], labels: Sequence[str], counts: Sequence[int]) -> pa.Array:
    """A column of lists of so many boxes each, from the rows and labels of all (`FrameBoxes`)."""
    import pyarrow as pa

    fields = {
        "frame": pa.array(table[:, 0].astype(np.int64)),
        **{name: pa.array(side) for name, side in zip(("x0", "y0", "x1", "y1"), table.T[1:])},
        "label": pa.array(labels, pa.string()).dictionary_encode(),
    }
    entries = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
    return _listed(counts, entries)


def _boxes_in(column: pa.ChunkedArray) -> list[FrameBoxes]:
    """The lists of a column of boxes (`box_lists`)."""
    lists = column.combine_chunks()
    boxes = lists.flatten()
    names = ("frame", "x0", "y0", "x1", "y1")
    table = np.stack([np.asarray(boxes.field(name), dtype=np.float64) for name in names], axis=1)
    labels = boxes.field("label").to_pylist()
    ends = np.cumsum([0, *np.asarray(lists.value_lengths())]).tolist()
    return [FrameBoxes(table[start:end], labels[start:end]) for start, end in pairwise(ends)]


def grade_lists(cells: Sequence[Sequence[tuple[Any, ...]]]) -> pa.Array:
    """A column of lists of grades: each field of all grades is one array,
    which is quicker than grade by grade."""
    import pyarrow as pa

    grades = [grade for cell in cells for grade in cell]
    columns = zip(*grades) if grades else ([] for _ in _GRADE)
    arrays = [
        pa.array(column, pa.type_for_alias(kind)) for column, kind in zip(columns, _GRADE.values())
    ]
    entries = pa.StructArray.from_arrays(arrays, names=list(_GRADE))
    return _listed(list(map(len, cells)), entries)


def _listed(counts: Sequence[int], entries: pa.Array) -> pa.Array:
    """The entries of all cells, one after the other, as lists of so many."""
    import pyarrow as pa

    ends = np.cumsum([0, *counts])
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), entries)


GradeCell = tuple[str, int, int | None, bool, int | None]
"""The fields of one grade, in the order of `_GRADE`."""


def grade_cells(row: Judgement) -> list[GradeCell]:
    """The grades of an answer as they are stored."""
    return [
        (name, truth, told, name in row.nominal, row.absent.get(name, 0))
        for name, truth, told in row.grades
    ]


_FIXED = frozenset(_ORDER)


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
