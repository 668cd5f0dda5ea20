"""Signatures in frames and boxes: a slip is found by undoing it and asking whether the answer is
then right.

Chance: the same answer moved elsewhere, over all frames or a grid of places; the share of those
wrong answers that undoing would put right as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from situs.items import Boxes, Frames, Item
from situs.profiles import Layout, Plane
from situs.run import Viewing
from situs.score import boxes_right, frames_right, same_labels, tube_iou
from situs.score.compound.parts import least_overlap
from situs.score.explain.causes import Cause
from situs.score.explain.closed import CAUSE_OF_AXIS
from situs.space import FrameBox, FrameBoxes

__all__ = ["PlaceTest", "box_tests", "frame_tests"]

PlaceTest = tuple[bool, float]
"""Whether the answer shows the cause, and the share of moved answers that would."""

_PLACES = 5
"""Along x and y: to so many places a box is moved to tell what chance would give."""
_LIKE_PRIOR = 0.5

FloatArray = NDArray[np.float64]
Undo = Callable[[FloatArray], FloatArray]
"""Rows of boxes (`FrameBoxes.table`) at many places as they were before a slip: places × boxes × 5,
a frame that is not there being negative."""


def frame_tests(
    item: Item, truth: Frames, said: Sequence[int], shown: Viewing, prior: Sequence[int] | None
) -> dict[Cause, PlaceTest]:
    """Every cause that could show in pictures named wrongly."""
    true = shown.frames(item, truth.frames)
    frames = shown.layout(item).frames
    count = len(frames)
    if not said or count < 2:
        return {}

    def right(named: Iterable[int]) -> bool:
        return frames_right(true, sorted(named), contiguous=truth.contiguous)

    undone: dict[Cause, Callable[[Sequence[int]], bool]] = {
        Cause.OFF_BY_ONE: lambda named: _is_shifted(named, true, 1),
        Cause.OFF_BY_TWO: lambda named: _is_shifted(named, true, 2),
    }
    planes = {frame.plane for frame in frames}
    if len(planes) == 1:
        undone[_through(planes.pop())] = lambda named: right(count - 1 - f for f in named)
    if prior is not None:
        prior_frames = list(prior)
        undone[Cause.PRIOR] = lambda named: frames_right(
            prior_frames, list(named), contiguous=truth.contiguous
        )
    moved = [[f + step for f in said] for step in range(-min(said), count - max(said))]
    wrong = [named for named in moved if not right(named)]
    return {cause: (test(said), _share(map(test, wrong))) for cause, test in undone.items()}


def box_tests(
    item: Item, truth: Boxes, said: list[FrameBox], shown: Viewing, prior: list[FrameBox] | None
) -> dict[Cause, PlaceTest]:
    """Every cause that could show in boxes drawn wrongly."""
    if not said:
        return {}
    true, named = (FrameBoxes.of(one) for one in same_labels(shown.boxes(item, truth.boxes), said))
    sizes = shown.sizes(item)
    frames = shown.layout(item).frames
    right = _Test(true, named.labels, least_overlap(item), partial(boxes_right, item))
    undos = _undos(shown.layout(item), sizes)
    moved = _moved(named.table, sizes, len(frames))
    moved = moved[~right.holds(moved)]
    # What was said stands first, before the places to which it is moved.
    places = np.concatenate([named.table[None], moved])
    result = {}
    for cause, ways in undos.items():
        shows = np.logical_or.reduce([right.holds(undo(places)) for undo in ways])
        result[cause] = bool(shows[0]), _share(shows[1:].tolist())
    if prior:
        expected = FrameBoxes.of(same_labels(prior, prior)[0])
        alike = _Test(expected, named.labels, _LIKE_PRIOR, _like_prior).holds(places)
        result[Cause.PRIOR] = bool(alike[0]), _share(alike[1:].tolist())
    return result


def _like_prior(prior: list[FrameBox], boxes: list[FrameBox]) -> bool:
    return tube_iou(prior, same_labels(prior, boxes)[1]) >= _LIKE_PRIOR


def _undos(layout: Layout, sizes: Sequence[tuple[float, float]]) -> dict[Cause, list[Undo]]:
    """How each slip is undone; several ways where it is not known which of them it was."""
    undos: dict[Cause, list[Undo]] = {}
    sides, last = np.array(sizes, dtype=np.float64), len(layout.frames) - 1
    known = all(math.isfinite(width) for width, _ in sizes)
    planes = {frame.plane for frame in layout.frames}
    plane = planes.pop() if len(planes) == 1 else None
    if known and not planes:
        undos.setdefault(_across(plane), []).append(lambda places: _flipped(places, sides, 1))
        undos.setdefault(_down(plane), []).append(lambda places: _flipped(places, sides, 2))
    if known:
        undos[Cause.BOX_SCALE] = [
            lambda places: _scaled(places, sides, 0.001),
            lambda places: _scaled(places, sides, 1000.0),
        ]
    undos[Cause.BOX_ORDER] = [_ends_for_sizes, _sizes_for_ends, _exchanged]
    if last > 0:
        undos[Cause.OFF_BY_ONE] = [
            lambda places: _stepped(places, -1),
            lambda places: _stepped(places, 1),
        ]
        undos[Cause.OFF_BY_TWO] = [
            lambda places: _stepped(places, -2),
            lambda places: _stepped(places, 2),
        ]
        if not planes:
            undos.setdefault(_through(plane), []).append(lambda places: _reversed(places, last))
    return undos


def _is_shifted(named: Iterable[int], true: Iterable[int], step: int) -> bool:
    """Whether pictures are the true ones, all of them so many further on or back."""
    frames, right = set(named), set(true)
    return {f - step for f in frames} == right or {f + step for f in frames} == right


def _across(plane: Plane | None) -> Cause:
    return Cause.MIRRORED if plane is None else CAUSE_OF_AXIS[plane.left_edge.axis]


def _down(plane: Plane | None) -> Cause:
    return Cause.UP_DOWN if plane is None else CAUSE_OF_AXIS[plane.top_edge.axis]


def _through(plane: Plane | None) -> Cause:
    return Cause.UP_DOWN if plane is None else CAUSE_OF_AXIS[plane.through]


def _share(shown: Iterable[bool]) -> float:
    values = list(shown)
    return sum(values) / len(values) if values else 1.0


class _Test:
    """Whether boxes overlap others enough, asked of the same boxes at many places.

    Nearly all places are dismissed by bounds, all of them at once; the few that are left are
    measured. What both mark is at most the sum of what any two boxes share, and what either marks
    at least the largest box of each frame. Where every label overlaps enough by itself, all of them
    together do.
    """

    def __init__(
        self,
        true: FrameBoxes,
        labels: Sequence[str],
        least: float,
        measured: Callable[[list[FrameBox], list[FrameBox]], bool],
    ) -> None:
        self._true = true
        self._labels = labels
        # A millionth is left for rounding.
        self._least = least * (1.0 - 1e-6)
        self._measured = measured

    def holds(self, places: FloatArray) -> NDArray[np.bool_]:
        """For each place whether it is so."""
        result = np.zeros(len(places), dtype=bool)
        if not len(self._true) or not len(self._labels):
            return result
        truth = list(self._true)
        near = np.flatnonzero(self._may_meet(places))
        for place in near[self._may_overlap(places[near])].tolist() if len(near) else ():
            rows = places[place]
            there = np.flatnonzero(rows[:, 0] >= 0).tolist()
            boxes = FrameBoxes(rows[there], [self._labels[row] for row in there])
            result[place] = bool(there) and self._measured(truth, list(boxes))
        return result

    def _may_meet(self, places: FloatArray) -> NDArray[np.bool_]:
        """Whether the hulls of both meet at all, and their stretches of frames."""
        true = self._true.table
        low, high = places[..., :3].min(axis=1), places[..., [0, 3, 4]].max(axis=1)
        meets = (low[:, 1:] < true[:, 3:].max(axis=0)) & (high[:, 1:] > true[:, 1:3].min(axis=0))
        near = (low[:, 0] <= true[:, 0].max()) & (high[:, 0] >= true[:, 0].min())
        return np.asarray(near & meets.all(axis=1))

    def _may_overlap(self, places: FloatArray) -> NDArray[np.bool_]:
        true = self._true.table
        t, p = true[None, None], places[:, :, None]
        sides = np.minimum(t[..., 3:], p[..., 3:]) - np.maximum(t[..., 1:3], p[..., 1:3])
        shared = np.maximum(sides[..., 0], 0.0) * np.maximum(sides[..., 1], 0.0)
        shared[t[..., 0] != p[..., 0]] = 0.0
        both = shared.sum(axis=(1, 2))
        either = np.maximum(_least_area(true[None]), _least_area(places))
        return np.asarray((both > 0) & (both >= self._least * either))


def _least_area(places: FloatArray) -> FloatArray:
    """The sum over frames of the largest box there, for each place; all places have the boxes in
    the same groups of a frame."""
    areas = (places[..., 3] - places[..., 1]) * (places[..., 4] - places[..., 2])
    areas = np.where(places[..., 0] < 0, 0.0, areas)
    order = np.argsort(places[0, :, 0], kind="stable")
    frames = places[0, order, 0]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(frames) != 0]))
    return np.asarray(np.maximum.reduceat(areas[:, order], starts, axis=1).sum(axis=1))


def _sides(places: FloatArray, sizes: FloatArray) -> FloatArray:
    """Width and height of the picture of each box."""
    return np.asarray(sizes[np.clip(places[..., 0], 0, len(sizes) - 1).astype(np.int64)])


def _flipped(places: FloatArray, sizes: FloatArray, side: int) -> FloatArray:
    """Along x (1) or y (2)."""
    whole = _sides(places, sizes)[..., side - 1]
    flipped = places.copy()
    flipped[..., side], flipped[..., side + 2] = (
        whole - places[..., side + 2],
        whole - places[..., side],
    )
    return flipped


def _scaled(places: FloatArray, sizes: FloatArray, factor: float) -> FloatArray:
    """0.001: what was said in thousandths and read as pixels; 1000: the other way round."""
    whole = np.tile(_sides(places, sizes), 2)
    scaled = places.copy()
    scaled[..., 1:] *= whole * factor if factor < 1 else factor / whole
    return scaled


def _ends_for_sizes(places: FloatArray) -> FloatArray:
    """What was read as far corners were sizes."""
    ends = places.copy()
    ends[..., 3:] = places[..., 1:3] + places[..., 3:]
    return ends


def _sizes_for_ends(places: FloatArray) -> FloatArray:
    """What was read as sizes were far corners."""
    ends = places.copy()
    ends[..., 3:] = np.maximum(places[..., 1:3], places[..., 3:] - places[..., 1:3])
    return ends


def _exchanged(places: FloatArray) -> FloatArray:
    """x for y."""
    return places[..., [0, 2, 1, 4, 3]]


def _stepped(places: FloatArray, step: int) -> FloatArray:
    stepped = places.copy()
    stepped[..., 0] += step
    return stepped


def _reversed(places: FloatArray, last: int) -> FloatArray:
    """In the other order of frames."""
    turned = places.copy()
    turned[..., 0] = last - places[..., 0]
    return turned


def _moved(boxes: FloatArray, sizes: Sequence[tuple[float, float]], count: int) -> FloatArray:
    """The boxes as one piece, at a grid of places on the pictures,
    and on every stretch of pictures they fit on."""
    frame = int(boxes[0, 0])
    width, height = sizes[min(frame, len(sizes) - 1)]
    x0, y0 = boxes[:, 1:3].min(axis=0).tolist()
    x1, y1 = boxes[:, 3:].max(axis=0).tolist()
    first, last = int(boxes[:, 0].min()), int(boxes[:, 0].max())
    shifts = [
        (float(step), 0.0, 0.0, 0.0, 0.0) for step in range(-first, max(count - last, 1 - first))
    ]
    if math.isfinite(width):
        for column in range(_PLACES):
            for row in range(_PLACES):
                dx = column / (_PLACES - 1) * max(0.0, width - (x1 - x0)) - x0
                dy = row / (_PLACES - 1) * max(0.0, height - (y1 - y0)) - y0
                shifts.append((0.0, dx, dy, dx, dy))
    return np.asarray(boxes[None] + np.array(shifts)[:, None])
