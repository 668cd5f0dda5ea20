"""Scores of boxes on the pictures shown: one answer against its truth.

Boxes match only on the same picture and under the same label, one to one. With nothing to be found,
an answer without boxes scores 1 and any other 0.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.items import Boxes as BoxAnswer
from situs.score.metrics.box_layers import Place, layers_of, sides_of, union_area
from situs.score.metrics.registry import Given
from situs.score.read.prose.content import fold
from situs.space import FrameBox, FrameBoxes, WorldBox

__all__ = [
    "BOX_CENTRE_HIT",
    "BOX_CENTRE_HIT_3D",
    "BOX_F1",
    "BOX_FRAME_F1",
    "BOX_FRAME_IOU",
    "BOX_HIT_3D",
    "BOX_IOU_3D",
    "BOX_MEAN_IOU",
    "BOX_PANOPTIC",
    "BOX_PRICED_IOU",
    "BOX_TUBE_IOU",
    "THRESHOLDS",
    "Matches",
    "Solids",
    "centre_f1",
    "f1_at",
    "frame_f1",
    "frame_iou",
    "matches_of",
    "mean_iou",
    "panoptic_quality",
    "same_labels",
    "solids_of",
    "tube_iou",
]

THRESHOLDS = (0.1, 0.25, 0.5)
BOX_F1 = {threshold: f"box.f1-at-{threshold:g}@1" for threshold in THRESHOLDS}
BOX_PANOPTIC = "box.panoptic-quality@1"
BOX_FRAME_F1 = "box.frame-f1@1"
BOX_FRAME_IOU = "box.frame-iou@1"
BOX_TUBE_IOU = "box.tube-iou@1"
BOX_CENTRE_HIT = "box.centre-hit@1"
BOX_MEAN_IOU = "box.mean-iou@1"
BOX_PRICED_IOU = "box.priced-iou@1"
BOX_IOU_3D = "box.iou-3d@1"
BOX_CENTRE_HIT_3D = "box.centre-hit-3d@1"
BOX_HIT_3D = {threshold: f"box.hit-3d-at-{threshold:g}@1" for threshold in THRESHOLDS}

Boxes = Sequence[FrameBox]
FloatArray = NDArray[np.float64]


def same_labels(truth: Boxes, said: Boxes) -> tuple[Boxes, Boxes]:
    """Both with comparable labels: none where one thing is asked for; else the true label that each
    answer names.

    A said label names a true one if they are equal but for case and punctuation, or one is
    contained in the other and no other true label is. Among several things asked for, a box without
    a label, or with another, matches none.
    """
    names = sorted({box.label for box in truth})
    if len(names) <= 1:
        return _unlabelled(truth), _unlabelled(said)
    true = {name: _words(name) for name in names}
    named = {label: _named(_words(label), true) for label in {box.label for box in said}}
    return list(truth), [_relabelled(box, named[box.label]) for box in said]


def _unlabelled(boxes: Boxes) -> Boxes:
    if isinstance(boxes, FrameBoxes):
        return FrameBoxes(boxes.table, [""] * len(boxes)) if any(boxes.labels) else boxes
    return [_relabelled(box, "") for box in boxes]


class Matches:
    """The boxes of one answer against the true ones: overlaps are worked out once for all metrics.

    Many answers at once: `box_batch`.
    """

    def __init__(self, truth: Boxes, said: Boxes) -> None:
        self._truth, self._said = truth, said
        self._counts = len(truth), len(said)
        self._known: dict[float, list[float]] = {}

    @functools.cached_property
    def tube_iou(self) -> float:
        """See `tube_iou`."""
        return tube_iou(self._truth, self._said)

    def frame_f1(self) -> float:
        """See `frame_f1`."""
        return frame_f1(self._truth, self._said)

    def frame_iou(self) -> float:
        """See `frame_iou`."""
        return frame_iou(self._truth, self._said)

    def f1_at(self, threshold: float) -> float:
        """2 TP / (true + said), TP the most pairs with IoU of at least the threshold.

        Weakness: a finding seen on twelve pictures weighs as much as twelve on one; read it beside
        the tube IoU.
        """
        return _f1(len(self._matched(threshold)), *self._counts)

    def panoptic_quality(self) -> float:
        """Σ IoU of pairs with IoU of at least .5 / (TP + ½ FP + ½ FN) (Kirillov et al.
        2019, per item)."""
        if not self._truth and not self._said:
            return 1.0
        return float(sum(self._matched(0.5))) / (0.5 * sum(self._counts))

    def mean_iou(self) -> float:
        """Σ IoU of the best pairs / number of true boxes.

        Weakness: no precision term, so that more boxes never cost.
        """
        if not self._truth:
            return float(not self._said)
        return float(sum(self._matched(0.0))) / len(self._truth)

    def priced_iou(self) -> float:
        """Σ IoU of the best pairs / the larger of the numbers of said and true boxes.

        Every box beyond the true ones lowers it: more boxes are never a way to score more, so that
        it may be trained on.
        """
        if not self._truth:
            return float(not self._said)
        return float(sum(self._matched(0.0))) / max(self._counts)

    def centre_f1(self) -> float:
        """F1 of the most pairs in which the centre of the said box lies in the true one.

        Weakness: size does not count.
        """
        inside = [(rows, _centres_inside(*pair)) for rows, pair in self._places]
        return _f1(len(_matched(inside, 1.0)), *self._counts)

    @functools.cached_property
    def _places(self) -> list[tuple[list[int], tuple[FloatArray, FloatArray]]]:
        """Each picture and label that both mark: the numbers of its true boxes, and the sides of
        both.

        Boxes match only there, so that every place is matched by itself.
        """
        said = layers_of(self._said)
        true: dict[Place, list[int]] = defaultdict(list)
        for number, box in enumerate(self._truth):
            if (box.frame, box.label) in said.at:
                true[box.frame, box.label].append(number)
        return [
            (rows, (sides_of([self._truth[row] for row in rows]), said.sides(place)))
            for place, rows in true.items()
        ]

    @functools.cached_property
    def _overlaps(self) -> list[tuple[list[int], FloatArray]]:
        return [(rows, _overlaps(*pair)) for rows, pair in self._places]

    def _matched(self, threshold: float) -> list[float]:
        if threshold not in self._known:
            self._known[threshold] = _matched(self._overlaps, threshold)
        return self._known[threshold]


def matches_of(given: Given) -> Matches:
    """The matches of an answer: those of its batch (`box_batch`),
    else worked out by the first metric that asks."""
    if "matches" not in given.shared:
        given.shared["matches"] = Matches(given.true_boxes, given.said_boxes)
    found: Matches = given.shared["matches"]
    return found


class Solids:
    """Boxes in millimetres: for each label the IoU of what is said with the truth, and whether its
    centre is inside.

    Both are as the pictures show them; 0 without any. Pictures that are oblique to the patient's
    axes show the hull of a box; compared with the box itself, not even the truth would reach 1.
    """

    def __init__(self, given: Given) -> None:
        viewing, answer = given.viewing, given.answer
        assert viewing is not None
        assert isinstance(answer, BoxAnswer)
        layout = viewing.layout(given.item)
        solid = [box for box in answer.boxes if isinstance(box, WorldBox)]
        true: Boxes = given.true_boxes
        if len(solid) < len(answer.boxes):
            true, _ = same_labels(viewing.boxes(given.item, solid), [])
        truth, said = (
            {box.label: box for box in layout.source_boxes(boxes) if isinstance(box, WorldBox)}
            for boxes in (true, given.said_boxes)
        )
        pairs = [(box, said.get(label)) for label, box in truth.items()]
        self._overlaps = [0.0 if other is None else box.iou(other) for box, other in pairs] or [0.0]
        self._centres = [
            other is not None and box.holds_centre_of(other) for box, other in pairs
        ] or [False]

    def iou(self) -> float:
        """The mean IoU."""
        return sum(self._overlaps) / len(self._overlaps)

    def hit_at(self, threshold: float) -> float:
        """The share with at least this IoU."""
        return sum(overlap >= threshold for overlap in self._overlaps) / len(self._overlaps)

    def centre_hit(self) -> float:
        """The share whose centre lies in the true box."""
        return sum(self._centres) / len(self._centres)


def solids_of(given: Given) -> Solids:
    """The same in millimetres."""
    if "solids" not in given.shared:
        given.shared["solids"] = Solids(given)
    found: Solids = given.shared["solids"]
    return found


def f1_at(truth: Boxes, said: Boxes, threshold: float) -> float:
    """See `Matches.f1_at`."""
    return Matches(truth, said).f1_at(threshold)


def panoptic_quality(truth: Boxes, said: Boxes) -> float:
    """See `Matches.panoptic_quality`."""
    return Matches(truth, said).panoptic_quality()


def mean_iou(truth: Boxes, said: Boxes) -> float:
    """See `Matches.mean_iou`."""
    return Matches(truth, said).mean_iou()


def centre_f1(truth: Boxes, said: Boxes) -> float:
    """See `Matches.centre_f1`."""
    return Matches(truth, said).centre_f1()


def frame_f1(truth: Boxes, said: Boxes) -> float:
    """F1 of the pictures on which each label is marked; where on them does not count."""
    true, told = (layers_of(boxes).at.keys() for boxes in (truth, said))
    return _f1(len(true & told), len(true), len(told))


def frame_iou(truth: Boxes, said: Boxes) -> float:
    """Pictures on which both mark a label / pictures on which either does."""
    true, told = (layers_of(boxes).at.keys() for boxes in (truth, said))
    return len(true & told) / len(true | told) if true or told else 1.0


def tube_iou(truth: Boxes, said: Boxes) -> float:
    """Area that both mark / area that either marks, label by label,
    summed over all pictures; overlaps count once."""
    if not truth and not said:
        return 1.0
    one_side, other_side = layers_of(truth), layers_of(said)
    both = either = 0.0
    for place in {**one_side.at, **other_side.at}:
        true, told = one_side.at.get(place, ()), other_side.at.get(place, ())
        if len(true) == len(told) == 1:
            shared = _shared_area(true[0], told[0])
            both += shared
            either += true[0].area + told[0].area - shared
            continue
        if not true or not told:
            either += (one_side if true else other_side).area(place)
            continue
        one, other = one_side.area(place), other_side.area(place)
        union = union_area(np.concatenate([one_side.sides(place), other_side.sides(place)]))
        both += max(0.0, one + other - union)
        either += union
    return min(1.0, both / either) if either > 0 else 0.0


def _shared_area(one: FrameBox, other: FrameBox) -> float:
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(0.0, width) * max(0.0, height)


def _overlaps(truth: FloatArray, said: FloatArray) -> FloatArray:
    """IoU of every pair of boxes (x0, y0, x1, y1) on one picture."""
    t, s = truth[:, None], said[None]
    sides = np.maximum(np.minimum(t[..., 2:], s[..., 2:]) - np.maximum(t[..., :2], s[..., :2]), 0.0)
    shared = sides[..., 0] * sides[..., 1]
    areas = [(a[..., 2] - a[..., 0]) * (a[..., 3] - a[..., 1]) for a in (t, s)]
    union = areas[0] + areas[1] - shared
    return np.asarray(np.divide(shared, union, out=np.zeros_like(shared), where=union > 0))


def _centres_inside(truth: FloatArray, said: FloatArray) -> FloatArray:
    """1 for every pair in which the centre of the said box lies in the true one, else 0."""
    centres = 0.5 * (said[None, :, :2] + said[None, :, 2:])
    inside = (truth[:, None, :2] <= centres) & (centres <= truth[:, None, 2:])
    return np.asarray(inside.all(axis=2).astype(np.float64))


def _matched(places: Sequence[tuple[list[int], FloatArray]], threshold: float) -> list[float]:
    """The overlaps of a one-to-one matching: the most pairs that reach the threshold, among these
    the largest sum.

    `places` are matched by themselves: the numbers of true boxes, and their overlaps with the said
    ones there.
    """
    found: list[tuple[int, float]] = []
    for rows, overlaps in places:
        if min(overlaps.shape) > 1:
            found += [(rows[row], value) for row, value in _assigned(overlaps, threshold)]
            continue
        best = int(overlaps.argmax())
        value = float(overlaps.flat[best])
        if value >= threshold:
            found.append((rows[best // overlaps.shape[1]], value))
    return [value for _, value in sorted(found)]


def _assigned(overlaps: FloatArray, threshold: float) -> list[tuple[int, float]]:
    """The same on one picture with several of both: the row of each pair, and its overlap."""
    from scipy.optimize import linear_sum_assignment

    allowed = overlaps >= threshold
    if not allowed.any():
        return []
    # A pair more outweighs any sum of overlaps, which are at most 1 each.
    bonus = float(len(overlaps))
    rows, columns = linear_sum_assignment(np.where(allowed, overlaps + bonus, 0.0), maximize=True)
    return [
        (int(row), float(overlaps[row, column]))
        for row, column in zip(rows, columns)
        if allowed[row, column]
    ]


def _f1(shared: int, true: int, said: int) -> float:
    return 2 * shared / (true + said) if true + said else 1.0


def _words(label: str) -> str:
    return " ".join(re.findall(r"[\w%]+", fold(label)))


def _named(label: str, true: dict[str, str]) -> str:
    equal = [name for name, words in true.items() if words == label]
    if equal or not label:
        return equal[0] if equal else "(no label)"
    held = [name for name, words in true.items() if _within(words, label) or _within(label, words)]
    return held[0] if len(held) == 1 else f"({label})"


def _within(part: str, whole: str) -> bool:
    return bool(part) and f" {part} " in f" {whole} "


def _relabelled(box: FrameBox, label: str) -> FrameBox:
    if box.label == label:
        return box
    # A copy is not looked at again: its sides are those of a box that was.
    named: FrameBox = cast("Any", box).__copy__()
    msgspec.structs.force_setattr(named, "label", label)
    return named
