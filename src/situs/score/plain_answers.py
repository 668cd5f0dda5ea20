"""Boxes with grades in the plainest form, judged as columns: no answer becomes a record.

Half a million replies of one JSON object are rows of a few arrays from the reply to the stored
table. What departs from that form, or is scored by a metric from elsewhere that must see the
answer, is left to `outcomes.judge_answers`, answer by answer;
`tests/score/test_plain_answers.py` holds that both judge alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from situs.items import Boxes, Compound, Grades, Item
from situs.profiles import Stack
from situs.run import AnswerRow, Viewing
from situs.score.compound.parts import (
    boxes_words,
    least_overlap,
    reads_item,
    scored_once,
)
from situs.score.compound.stated import stated_fields, stated_grades
from situs.score.judgements import single_judgement
from situs.score.metrics.box_batch import BoxBatch, BoxRows, SolidBatch
from situs.score.metrics.registry import Given, metrics_of
from situs.score.outcomes import Asked, judge_answers
from situs.score.read.box_forms.placed import may_be_as_asked, placed_rows
from situs.score.read.box_forms.stated import StatedBox, are_plain_labels
from situs.score.read.result import Parsed
from situs.score.records import GradeCell, JudgedArrays, box_lists, grade_cells, grade_lists
from situs.space import FrameBoxes, WorldBox

__all__ = ["judged_replies"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_MOST_REMEMBERED = 1 << 14


class _Graded(NamedTuple):
    """Grades that were judged: the same for all items with these words, truth and answer."""

    right: bool
    words: str
    values: dict[str, float]
    cells: list[GradeCell]


class _Plain(NamedTuple):
    """An answer that is stated plainly."""

    asked: Asked
    true: FrameBoxes
    stack: Stack | None
    boxes: list[StatedBox]
    graded: _Graded
    box_name: str
    grade_name: str
    is_box_first: bool

    @property
    def item(self) -> Item:
        return self.asked.item


_REMEMBERED: dict[tuple[object, ...], tuple[object, _Graded | None]] = {}


def judged_replies(asked: Sequence[Asked], replies: Sequence[AnswerRow | None]) -> JudgedArrays:
    """What became of the answers to a batch of items, whatever form they have."""
    plain = _PlainAnswers()
    pairs = enumerate(zip(asked, replies))
    others = [row for row, (one, reply) in pairs if not plain.take(row, one, reply)]
    rows, judged, left = plain.judged()
    parts = [] if judged is None else [(rows, judged)]
    if others or left or not asked:
        others = sorted([*others, *left])
        read = [asked[row].answered(replies[row]) for row in others]
        parts.append((others, JudgedArrays.of(judge_answers(read))))
    return JudgedArrays.joined(parts)


class _PlainAnswers:
    """Those of a batch of answers that are stated plainly."""

    def __init__(self) -> None:
        self._answers: list[_Plain] = []
        self._rows: list[int] = []
        # Whether grades are right, and what they score, is worked out once for many items.
        self._is_possible = not reads_item(Grades)

    def take(self, row: int, asked: Asked, reply: AnswerRow | None) -> bool:
        """Whether the answer in a row of the batch is stated plainly; it is then judged with the
        others."""
        shown = asked.shown
        if asked.reasons or reply is None or reply.state != "answered" or shown is None:
            return False
        answer = asked.item.answer
        if not isinstance(answer, Compound) or not self._is_possible:
            return False
        plain = _plain(asked, answer, reply.response, shown)
        if plain is None:
            return False
        self._answers.append(plain)
        self._rows.append(row)
        return True

    def judged(self) -> tuple[list[int], JudgedArrays | None, list[int]]:
        """The rows that could be judged and what became of their answers, and the rows that could
        not: their boxes are not where they were asked for, or lie on each other."""
        if not self._answers:
            return [], None, []
        table, is_placed = _placed(self._answers)
        counts = np.array([len(one.boxes) for one in self._answers])
        batch = _matched(self._answers, table, counts)
        kept = np.flatnonzero(is_placed & ~batch.is_crowded)
        answers = [self._answers[place] for place in kept.tolist()]
        values, is_scored = _box_values(answers, batch.only(kept))
        if not is_scored.all():
            kept = kept[is_scored]
            answers = [self._answers[place] for place in kept.tolist()]
            values = [(name, column[is_scored], mask[is_scored]) for name, column, mask in values]
        rows = [self._rows[place] for place in kept.tolist()]
        left = sorted(set(self._rows) - set(rows))
        if not rows:
            return [], None, left
        least = np.array([least_overlap(one.item) for one in answers])
        is_kept = np.zeros(len(self._answers), dtype=bool)
        is_kept[kept] = True
        judged = _Columns(
            answers,
            table[np.repeat(is_kept, counts)],
            counts[kept].tolist(),
            values,
            batch.only(kept).reaches(least),
        )
        return rows, judged.arrays(), left


def _plain(asked: Asked, answer: Compound, response: str, shown: Viewing) -> _Plain | None:
    """An answer of boxes and grades that is stated plainly; None for any other."""
    names = list(answer.parts)
    places = [name for name in names if isinstance(answer.parts[name], Boxes)]
    grades = [name for name in names if isinstance(answer.parts[name], Grades)]
    if len(names) != 2 or not places or not grades or "" in names:
        return None
    fields = stated_fields(answer.parts, response)
    if fields is None:
        return None
    item, (box_name,), (grade_name,) = asked.item, places, grades
    boxes, stated, truth = fields[box_name], fields[grade_name], answer.parts[box_name]
    assert isinstance(truth, Boxes)
    if not isinstance(boxes, list) or not boxes or not isinstance(stated, dict):
        return None
    if not are_plain_labels([one.label or "" for one in boxes]):
        return None
    layout = shown.layout(item)
    is_solid = [isinstance(box, WorldBox) for box in truth.boxes]
    true = shown.boxes(item, truth.boxes)
    # Several things asked for, or places of both kinds, take more care than columns do.
    if not true.has_one_label or any(is_solid) != all(is_solid):
        return None
    stack = layout.stack if any(is_solid) else None
    if (any(is_solid) and stack is None) or not may_be_as_asked(shown.space, layout.sizes):
        return None
    graded = _graded(item, answer.parts[grade_name], stated)
    if graded is None:
        return None
    is_box_first = names[0] == box_name
    return _Plain(asked, true, stack, boxes, graded, box_name, grade_name, is_box_first)


def _graded(item: Item, truth: Any, stated: Mapping[str, int]) -> _Graded | None:
    """The grades of an answer; None if there is anything to be said of how they were read."""
    metrics = metrics_of(Grades)
    key = (
        *(item.task, item.parameters.get("question"), item.question, item.tags),
        *(tuple(truth.grades.items()), tuple(stated.items()), id(metrics)),
    )
    known = _REMEMBERED.get(key)
    if known is None:
        if len(_REMEMBERED) >= _MOST_REMEMBERED:
            _REMEMBERED.clear()
        # The metrics are held, so that no others can have their id.
        known = _REMEMBERED[key] = metrics, _judged_grades(item, truth, stated)
    return known[1]


def _judged_grades(item: Item, truth: Grades, stated: Mapping[str, int]) -> _Graded | None:
    result = stated_grades(item, truth, stated)
    if not isinstance(result, Parsed) or result.flags:
        return None
    part = scored_once(Given(item, truth, result.value))
    cells = grade_cells(single_judgement(item, part))
    return _Graded(part.right, part.shown, part.values, cells)


def _placed(answers: Sequence[_Plain]) -> tuple[FloatArray, BoolArray]:
    """The boxes of all answers on their pictures, and whether each answer has them as asked."""
    every = [box for one in answers for box in one.boxes]
    shown = [_viewing(one) for one in answers]
    return placed_rows(
        [box.frame for box in every],
        [box.bbox for box in every],
        [len(one.boxes) for one in answers],
        [one.space.frame_base for one in shown],
        [view.sizes(one.item) for view, one in zip(shown, answers)],
    )


def _viewing(one: _Plain) -> Viewing:
    assert one.asked.shown is not None
    return one.asked.shown


def _matched(answers: Sequence[_Plain], table: FloatArray, counts: NDArray[np.int64]) -> BoxBatch:
    """The said boxes against the true ones; one thing is asked for, whatever it is called."""
    truth = BoxRows.of([(one.true, False) for one in answers], {"": 0})
    owner = np.repeat(np.arange(len(answers)), counts)
    said = BoxRows(
        owner, table[:, 0].astype(np.int64), np.zeros(len(table), dtype=np.int64), *table.T[1:]
    )
    return BoxBatch(len(answers), 1, truth, said)


Values = list[tuple[str, FloatArray, BoolArray]]
"""The id of a metric, its value for each answer, and whether the answer has one."""


def _box_values(answers: Sequence[_Plain], batch: BoxBatch) -> tuple[Values, BoolArray]:
    """What the boxes score, and whether each answer has a number wherever a metric applies."""
    scores = batch.scores
    stacks = [one.stack for one in answers]
    if any(stacks):
        scores |= SolidBatch(batch, stacks).scores
    values: Values = []
    is_scored = np.ones(len(answers), dtype=bool)
    known: dict[Any, BoolArray] = {}
    for metric in metrics_of(Boxes):
        if metric.applies not in known:
            truths = ((one.item, _truth(one)) for one in answers)
            known[metric.applies] = np.array([metric.applies(*one) for one in truths], dtype=bool)
        applies = known[metric.applies]
        column = scores.get(metric.id)
        if column is None:
            is_scored &= ~applies
        else:
            is_scored &= ~applies | ~np.isnan(column)
            values.append((metric.id, column, applies))
    return values, is_scored


def _truth(one: _Plain) -> Any:
    assert isinstance(one.item.answer, Compound)
    return one.item.answer.parts[one.box_name]


@dataclass(frozen=True, slots=True)
class _Columns:
    """Plain answers that were judged."""

    answers: Sequence[_Plain]
    table: FloatArray
    """Their boxes (`FrameBoxes.table`)."""
    counts: Sequence[int]
    """How many boxes each has."""
    values: Values
    boxes_right: BoolArray

    def arrays(self) -> JudgedArrays:
        """As they are stored (`judgements.Judgement` says what the columns are)."""
        import pyarrow as pa

        count, answers = len(self.answers), self.answers
        distinct = {id(one.graded): one.graded for one in answers}
        places = {key: place for place, key in enumerate(distinct)}
        grade_of = np.array([places[id(one.graded)] for one in answers])
        graded = list(distinct.values())
        grades_right = np.array([one.right for one in graded], dtype=bool)[grade_of]
        labels = [box.label or "" for one in answers for box in one.boxes]
        arrays: dict[str, Any] = {
            "state": pa.array(["answered"] * count, pa.string()),
            "parsed": pa.array(self._words(labels), pa.string()),
            "right": pa.array(self.boxes_right & grades_right),
            "answer_right": pa.array(grades_right),
            "place_right": pa.array(self.boxes_right),
            "hidden_right": pa.nulls(count, pa.bool_()),
            "prediction": pa.nulls(count, pa.string()),
            "flags": pa.array([()] * count, pa.list_(pa.string())),
            "boxes": box_lists(self.table, labels, self.counts),
            "grades": grade_lists([one.cells for one in graded]).take(pa.array(grade_of)),
        }
        for name, column, applies in self.values:
            arrays[name] = pa.array(column, pa.float64(), mask=~applies)
        for name in dict.fromkeys(name for one in graded for name in one.values):
            cells = pa.array([one.values.get(name) for one in graded], pa.float64())
            arrays[name] = cells.take(pa.array(grade_of))
        return JudgedArrays(arrays, self._kinds())

    def _kinds(self) -> list[tuple[str, ...]]:
        """The metrics of which each answer has a value."""
        names = [name for name, _, _ in self.values]
        known: dict[object, tuple[str, ...]] = {}
        kinds = []
        flags = zip(*(applies.tolist() for _, _, applies in self.values))
        for one, own in zip(self.answers, flags if self.values else ((),) * len(self.answers)):
            key = own, tuple(one.graded.values), one.is_box_first
            if key not in known:
                of_boxes = tuple(name for name, has_value in zip(names, own) if has_value)
                parts = (of_boxes, key[1]) if one.is_box_first else (key[1], of_boxes)
                known[key] = (*parts[0], *parts[1])
            kinds.append(known[key])
        return kinds

    def _words(self, labels: Sequence[str]) -> Iterator[str]:
        """What was read, in words."""
        rows, end = self.table.tolist(), 0
        for one, count in zip(self.answers, self.counts):
            start, end = end, end + count
            boxes = boxes_words(rows[start:end], labels[start:end], _viewing(one).space.frame_base)
            of_boxes = one.box_name, boxes
            of_grades = one.grade_name, one.graded.words
            parts = (of_boxes, of_grades) if one.is_box_first else (of_grades, of_boxes)
            yield _joined(parts)


def _joined(parts: Iterable[tuple[str, str]]) -> str:
    return "; ".join([f"{name}: {words}" for name, words in parts if words])
