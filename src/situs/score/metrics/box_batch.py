"""Boxes of many answers against the true ones at once: every box is a row, and what an answer
scores a sum over rows.

The numbers are those of `boxes.Matches`, to the last bit: sums add up the same terms in the same
order. It works where no answer has two boxes on one picture under one label, as nearly all have
not; then nothing is to choose in matching. Answers that have are left to `Matches`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.items import Boxes
from situs.profiles import Stack, hulls
from situs.score.metrics.boxes import (
    BOX_CENTRE_HIT,
    BOX_CENTRE_HIT_3D,
    BOX_F1,
    BOX_FRAME_F1,
    BOX_FRAME_IOU,
    BOX_HIT_3D,
    BOX_IOU_3D,
    BOX_MEAN_IOU,
    BOX_PANOPTIC,
    BOX_PRICED_IOU,
    BOX_TUBE_IOU,
)
from situs.score.metrics.registry import Given
from situs.space import FrameBoxes, WorldBox

__all__ = ["BoxBatch", "MatchedBoxes", "SolidBatch", "match_boxes"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MatchedBoxes:
    """What the boxes of many answers score."""

    right: list[bool | None]
    """Whether each overlaps the truth enough, label by label; None where it is left to `Matches`,
    as are then its scores."""
    values: dict[str, FloatArray]
    """The scores by the id of their metric; NaN where one is left to `Matches` or `Solids`."""


def match_boxes(answers: Sequence[Given], least: Sequence[float]) -> MatchedBoxes:
    """Match the boxes of many answers with the true ones.

    An answer is right where the tube IoU of every label is at least its own of `least`.
    """
    batch = BoxBatch.of(*zip(*map(_labelled, answers)))
    plain = np.flatnonzero(~batch.is_crowded)
    alone = batch if len(plain) == len(answers) else batch.only(plain)
    values = {name: _spread(column, plain, len(answers)) for name, column in alone.scores.items()}
    reached = alone.reaches(np.array(least, dtype=np.float64)[plain])
    right: list[bool | None] = [None] * len(answers)
    for row, enough in zip(plain.tolist(), reached.tolist()):
        right[row] = enough
    stacks = [_stack_of(given) for given in answers]
    if any(stacks):
        # What a label spans in millimetres needs no matching: it is the same however many boxes
        # there are.
        values |= SolidBatch(batch, stacks).scores
    return MatchedBoxes(right, values)


def _spread(column: FloatArray, rows: IntArray, count: int) -> FloatArray:
    """The values of some rows among all."""
    if len(rows) == count:
        return column
    spread = np.full(count, np.nan)
    spread[rows] = column
    return spread


def _labelled(given: Given) -> tuple[Labelled, Labelled]:
    """The true and the said boxes with comparable labels (`boxes.same_labels`),
    without copying them."""
    assert given.viewing is not None
    assert isinstance(given.answer, Boxes)
    true = FrameBoxes.of(given.viewing.boxes(given.item, given.answer.boxes))
    if true.has_one_label:
        return (true, False), (FrameBoxes.of(given.said), False)
    return (FrameBoxes.of(given.true_boxes), True), (FrameBoxes.of(given.said_boxes), True)


def _stack_of(given: Given) -> Stack | None:
    """The pictures of an answer all of whose true boxes are in millimetres,
    if they are one stack."""
    answer, viewing = given.answer, given.viewing
    assert isinstance(answer, Boxes)
    assert viewing is not None
    if not answer.boxes or not all(isinstance(box, WorldBox) for box in answer.boxes):
        return None
    return viewing.layout(given.item).stack


Labelled = tuple[FrameBoxes, bool]
"""Boxes, and whether each counts with its own label; else one thing is asked for, whatever it is
called."""


@dataclass(frozen=True, slots=True)
class BoxRows:
    """Boxes of many answers, one after the other."""

    owner: IntArray
    """The answer each belongs to, by number."""
    frame: IntArray
    label: IntArray
    """By number among all labels of the batch."""
    x0: FloatArray
    y0: FloatArray
    x1: FloatArray
    y1: FloatArray

    @classmethod
    def of(cls, answers: Sequence[Labelled], numbers: dict[str, int]) -> BoxRows:
        """The boxes of each answer; a label that is not known yet is given a number."""
        counts = [len(boxes) for boxes, _ in answers]
        table = np.concatenate([np.empty((0, 5)), *(boxes.table for boxes, _ in answers)])
        label = np.zeros(len(table), dtype=np.int64)
        end = 0
        for count, (boxes, is_labelled) in zip(counts, answers):
            start, end = end, end + count
            if is_labelled:
                label[start:end] = [numbers.setdefault(one, len(numbers)) for one in boxes.labels]
        owner = np.repeat(np.arange(len(answers)), counts)
        return cls(owner, table[:, 0].astype(np.int64), label, *table.T[1:])

    def at(self, chosen: BoolArray, owner: IntArray) -> BoxRows:
        """Some of the rows; `owner` are the new numbers of the answers."""
        sides = (side[chosen] for side in (self.x0, self.y0, self.x1, self.y1))
        return BoxRows(owner[self.owner[chosen]], self.frame[chosen], self.label[chosen], *sides)

    @property
    def area(self) -> FloatArray:
        """Square pixels of each."""
        return np.asarray((self.x1 - self.x0) * (self.y1 - self.y0))


class BoxBatch:
    """Many answers, each with its true boxes and those that were said, under comparable labels."""

    def __init__(self, count: int, labels: int, truth: BoxRows, said: BoxRows) -> None:
        """So many answers and labels."""
        self.count, self.labels = count, labels
        self.truth, self.said = truth, said
        both = np.concatenate([self.truth.frame, self.said.frame])
        frames, number = np.unique(both, return_inverse=True)
        groups = np.concatenate([self.group(self.truth), self.group(self.said)])
        places = groups * max(1, len(frames)) + number
        self._true_places, self._said_places = np.split(places, [len(self.truth.owner)])

    @classmethod
    def of(cls, truth: Sequence[Labelled], said: Sequence[Labelled]) -> BoxBatch:
        """From the boxes of each answer."""
        labels = {"": 0}
        rows = BoxRows.of(truth, labels), BoxRows.of(said, labels)
        return cls(len(truth), len(labels), *rows)

    def only(self, answers: IntArray) -> BoxBatch:
        """Some of the answers."""
        number = np.full(self.count, -1)
        number[answers] = np.arange(len(answers))
        rows = (one.at(number[one.owner] >= 0, number) for one in (self.truth, self.said))
        return BoxBatch(len(answers), self.labels, *rows)

    @property
    def is_crowded(self) -> BoolArray:
        """Whether each answer, or its truth, has two boxes on one picture under one label."""
        crowded = np.zeros(self.count, dtype=bool)
        for rows, places in ((self.truth, self._true_places), (self.said, self._said_places)):
            order = np.argsort(places, kind="stable")
            crowded[rows.owner[order[:-1][np.diff(places[order]) == 0]]] = True
        return crowded

    def group(self, rows: BoxRows) -> IntArray:
        """What an answer says of one label, by number."""
        return np.asarray(rows.owner * self.labels + rows.label)

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray]:
        """The rows of true boxes and of the said ones on the same picture under the same label."""
        order = np.argsort(self._said_places, kind="stable")
        ordered = self._said_places[order]
        at = np.searchsorted(ordered, self._true_places)
        there = at < len(ordered)
        there[there] = ordered[at[there]] == self._true_places[there]
        true = np.flatnonzero(there)
        return true, np.asarray(order[at[true]])

    @cached_property
    def _shared(self) -> FloatArray:
        """The area that both boxes of each pair cover."""
        true, said = self._pairs
        t, s = self.truth, self.said
        width = np.minimum(t.x1[true], s.x1[said]) - np.maximum(t.x0[true], s.x0[said])
        height = np.minimum(t.y1[true], s.y1[said]) - np.maximum(t.y0[true], s.y0[said])
        return np.asarray(np.maximum(0.0, width) * np.maximum(0.0, height))

    @cached_property
    def _overlaps(self) -> FloatArray:
        """The IoU of each pair."""
        true, said = self._pairs
        union = self.truth.area[true] + self.said.area[said] - self._shared
        return _ratio(self._shared, union)

    def _tubes(self, true_of: IntArray, said_of: IntArray, count: int) -> FloatArray:
        """Area that both mark by area that either marks, by what the rows belong to."""
        true, said = self._pairs
        either_true, alone = self.truth.area, np.ones(len(said_of), dtype=bool)
        either_true[true] = either_true[true] + self.said.area[said] - self._shared
        alone[said] = False
        both = np.bincount(true_of[true], self._shared, minlength=count)
        owners = np.concatenate([true_of, said_of[alone]])
        terms = np.concatenate([either_true, self.said.area[alone]])
        return np.minimum(1.0, _ratio(both, np.bincount(owners, terms, minlength=count)))

    @property
    def scores(self) -> dict[str, FloatArray]:
        """Every score of every answer, by the id of its metric."""
        return {
            BOX_TUBE_IOU: self.tube_iou(),
            BOX_FRAME_F1: self.frame_f1(),
            BOX_FRAME_IOU: self.frame_iou(),
            BOX_PANOPTIC: self.panoptic_quality(),
            BOX_MEAN_IOU: self.mean_iou(),
            BOX_PRICED_IOU: self.priced_iou(),
            BOX_CENTRE_HIT: self.centre_f1(),
            **{name: self.f1_at(threshold) for threshold, name in BOX_F1.items()},
        }

    @cached_property
    def true_counts(self) -> IntArray:
        """True boxes of each answer."""
        return np.bincount(self.truth.owner, minlength=self.count)

    @cached_property
    def said_counts(self) -> IntArray:
        """Boxes that each answer says."""
        return np.bincount(self.said.owner, minlength=self.count)

    def tube_iou(self) -> FloatArray:
        """See `boxes.tube_iou`."""
        nothing = self.true_counts + self.said_counts == 0
        return np.where(nothing, 1.0, self._tubes(self.truth.owner, self.said.owner, self.count))

    def reaches(self, least: FloatArray) -> BoolArray:
        """Whether the tube IoU of every label of an answer is at least the answer's own bound."""
        own = self.group(self.truth), self.group(self.said)
        groups, number = np.unique(np.concatenate(own), return_inverse=True)
        true_of, said_of = np.split(number, [len(own[0])])
        owner = groups // self.labels
        short = self._tubes(true_of, said_of, len(groups)) < least[owner]
        return np.asarray(np.bincount(owner[short], minlength=self.count) == 0)

    @cached_property
    def _paired(self) -> IntArray:
        """Pairs of each answer."""
        return self._pairs_with(np.ones(len(self._pairs[0]), dtype=bool))

    def _pairs_with(self, chosen: BoolArray) -> IntArray:
        return np.bincount(self.truth.owner[self._pairs[0]][chosen], minlength=self.count)

    def _f1(self, pairs: IntArray) -> FloatArray:
        return _ratio(2.0 * pairs, self.true_counts + self.said_counts, nothing=1.0)

    def frame_f1(self) -> FloatArray:
        """See `boxes.frame_f1`."""
        return self._f1(self._paired)

    def frame_iou(self) -> FloatArray:
        """See `boxes.frame_iou`."""
        either = self.true_counts + self.said_counts - self._paired
        return _ratio(self._paired, either, nothing=1.0)

    def f1_at(self, threshold: float) -> FloatArray:
        """See `boxes.Matches.f1_at`."""
        return self._f1(self._pairs_with(self._overlaps >= threshold))

    def _overlap_sums(self, threshold: float) -> FloatArray:
        chosen = np.where(self._overlaps >= threshold, self._overlaps, 0.0)
        return np.asarray(
            np.bincount(self.truth.owner[self._pairs[0]], chosen, minlength=self.count), np.float64
        )

    def panoptic_quality(self) -> FloatArray:
        """See `boxes.Matches.panoptic_quality`."""
        halves = 0.5 * (self.true_counts + self.said_counts)
        return _ratio(self._overlap_sums(0.5), halves, nothing=1.0)

    def mean_iou(self) -> FloatArray:
        """See `boxes.Matches.mean_iou`."""
        means = _ratio(self._overlap_sums(0.0), self.true_counts)
        return np.where(self.true_counts > 0, means, (self.said_counts == 0).astype(np.float64))

    def priced_iou(self) -> FloatArray:
        """See `boxes.Matches.priced_iou`."""
        most = np.maximum(self.true_counts, self.said_counts)
        return _ratio(self._overlap_sums(0.0), most, nothing=1.0)

    def centre_f1(self) -> FloatArray:
        """See `boxes.Matches.centre_f1`."""
        true, said = self._pairs
        t, s = self.truth, self.said
        x, y = 0.5 * (s.x0[said] + s.x1[said]), 0.5 * (s.y0[said] + s.y1[said])
        across = (t.x0[true] <= x) & (x <= t.x1[true])
        down = (t.y0[true] <= y) & (y <= t.y1[true])
        return self._f1(self._pairs_with(across & down))


class SolidBatch:
    """The same boxes in millimetres, as `boxes.Solids` has them: what is said of each label against
    its true hull.

    `stacks` are the pictures of each answer; None for an answer that is left to `Solids`.
    """

    def __init__(self, boxes: BoxBatch, stacks: Sequence[Stack | None]) -> None:
        self._count = boxes.count
        distinct = {id(one): one for one in stacks if one is not None}
        places = {key: place for place, key in enumerate(distinct)}
        self._stacks = list(distinct.values())
        self._stack = np.array([places.get(id(one), -1) for one in stacks], dtype=np.int64)
        keys, low, high = self._hulls(boxes, boxes.truth)
        said_keys, said_low, said_high = self._hulls(boxes, boxes.said)
        self._owner = keys // boxes.labels
        order = np.argsort(said_keys)
        at = np.minimum(np.searchsorted(said_keys[order], keys), max(0, len(order) - 1))
        partner = order[at] if len(order) else np.zeros(len(keys), dtype=np.int64)
        met = said_keys[partner] == keys if len(order) else np.zeros(len(keys), dtype=bool)
        self._overlaps, self._inside = np.zeros(len(keys)), np.zeros(len(keys), dtype=bool)
        mine, other = (low[met], high[met]), (said_low[partner[met]], said_high[partner[met]])
        self._overlaps[met] = _solid_iou(*mine, *other)
        centre = 0.5 * (other[0] + other[1])
        self._inside[met] = ((mine[0] <= centre) & (centre <= mine[1])).all(axis=1)

    def _hulls(self, boxes: BoxBatch, rows: BoxRows) -> tuple[IntArray, FloatArray, FloatArray]:
        """What each answer marks of each label, in the order in which it does:
        key, low and high corner in mm."""
        stack = self._stack[rows.owner]
        slices = np.array([len(one.places) for one in self._stacks] or [0])
        # A picture that was not shown lies nowhere in the patient.
        there = np.flatnonzero((stack >= 0) & (rows.frame < slices[stack]))
        keys = boxes.group(rows)[there]
        distinct, first, number = np.unique(keys, return_index=True, return_inverse=True)
        if not len(distinct):
            return distinct, np.empty((0, 3)), np.empty((0, 3))
        sides = rows.x0[there], rows.y0[there], rows.x1[there], rows.y1[there]
        low, high = hulls(self._stacks, stack[there], number, rows.frame[there], sides)
        order = np.argsort(first)
        return distinct[order], low[order], high[order]

    @property
    def scores(self) -> dict[str, FloatArray]:
        """Every score of every answer, by the id of its metric; NaN of those without a stack."""
        columns = {
            BOX_IOU_3D: self.iou(),
            BOX_CENTRE_HIT_3D: self.centre_hit(),
            **{name: self.hit_at(threshold) for threshold, name in BOX_HIT_3D.items()},
        }
        return {
            name: np.where(self._stack >= 0, column, np.nan) for name, column in columns.items()
        }

    def _mean(self, values: NDArray[Any]) -> FloatArray:
        sums = np.bincount(self._owner, values, minlength=self._count)
        return _ratio(sums, np.bincount(self._owner, minlength=self._count))

    def iou(self) -> FloatArray:
        """See `boxes.Solids.iou`."""
        return self._mean(self._overlaps)

    def hit_at(self, threshold: float) -> FloatArray:
        """See `boxes.Solids.hit_at`."""
        return self._mean(self._overlaps >= threshold)

    def centre_hit(self) -> FloatArray:
        """See `boxes.Solids.centre_hit`."""
        return self._mean(self._inside)


def _solid_iou(
    low: FloatArray, high: FloatArray, other_low: FloatArray, other_high: FloatArray
) -> FloatArray:
    sides = np.maximum(0.0, np.minimum(high, other_high) - np.maximum(low, other_low))
    shared = _volume(sides)
    return _ratio(shared, _volume(high - low) + _volume(other_high - other_low) - shared)


def _volume(sides: FloatArray) -> FloatArray:
    return np.asarray(sides[:, 0] * sides[:, 1] * sides[:, 2])


def _ratio(above: NDArray[Any], under: NDArray[Any], nothing: float = 0.0) -> FloatArray:
    """above / under; `nothing` where there is nothing to divide by."""
    return np.asarray(np.divide(above, under, out=np.full(len(above), nothing), where=under > 0))
