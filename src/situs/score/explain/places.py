"""Signatures in frames and boxes: a slip is found by undoing it and asking whether the answer is
then right.

Chance: the same answer moved elsewhere, over all frames or a grid of places; the share of those
wrong answers that undoing would put right as well.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

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

__all__ = ["BoxCase", "PlaceTest", "box_tests", "frame_tests"]

PlaceTest = tuple[bool, float]
"""Whether the answer shows the cause, and the share of moved answers that would."""

_PLACES = 5
"""Along x and y: to so many places a box is moved to tell what chance would give."""
_LIKE_PRIOR = 0.5

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Measured = Callable[[list[FrameBox], list[FrameBox]], bool]
"""Whether boxes overlap the true ones enough, to the last bit."""
_GRID = np.array(list(itertools.product(np.arange(_PLACES) / (_PLACES - 1), repeat=2)))
"""How far each place of the grid lies along x and y, as shares of the room there is."""
_NONE = FrameBoxes(np.empty((0, 5)), [])


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


@dataclass(frozen=True, slots=True)
class BoxCase:
    """Boxes that are drawn wrongly, and what they are put beside."""

    item: Item
    true: FrameBoxes
    said: FrameBoxes
    """The same labels as the true ones (`same_labels`)."""
    layout: Layout
    prior: Sequence[FrameBox] | None
    """What other patients suggest."""

    @classmethod
    def of(
        cls,
        item: Item,
        truth: Boxes,
        said: Sequence[FrameBox],
        shown: Viewing,
        prior: Sequence[FrameBox] | None,
    ) -> BoxCase:
        """What was said to an item, on its pictures."""
        true, named = same_labels(shown.boxes(item, truth.boxes), FrameBoxes.of(said))
        own = FrameBoxes.of(true), FrameBoxes.of(named)
        return cls(item, *own, shown.layout(item), prior or None)


def box_tests(cases: Sequence[BoxCase]) -> list[dict[Cause, PlaceTest]]:
    """For each case every cause that could show in boxes drawn wrongly."""
    tests: list[dict[Cause, PlaceTest]] = [{} for _ in cases]
    by_slips: dict[int, tuple[_Slips, list[int]]] = {}
    for number, case in enumerate(cases):
        if len(case.said):
            slips = _slips_of(case.layout)
            by_slips.setdefault(id(slips), (slips, []))[1].append(number)
    for slips, numbers in by_slips.values():
        alike = [cases[number] for number in numbers]
        for number, case, told in zip(numbers, alike, _told_together(alike, slips)):
            tests[number] = _measured(case, slips) if told is None else told
    return tests


def _told_together(cases: Sequence[BoxCase], slips: _Slips) -> list[dict[Cause, PlaceTest] | None]:
    """What the kernels tell of cases on alike pictures; None of one in which they leave a place to
    be measured."""
    # A run whose wrong answers are not asked about needs no compiled kernels.
    from situs.score.explain import place_kernels as kernels

    causes = list(slips.rows)
    cause_of_way = np.full(len(slips.ways), -1)
    for number, cause in enumerate(causes):
        cause_of_way[np.array(slips.rows[cause]) + 1] = number
    seen, shares, is_sure = kernels.slips_in(
        _rows_of(cases), _GRID, kernels.Ways(slips.ways, cause_of_way, slips.sides), _LIKE_PRIOR
    )
    told: list[dict[Cause, PlaceTest] | None] = []
    for case, *own, sure in zip(cases, seen.tolist(), shares.tolist(), is_sure.tolist()):
        names = causes if case.prior is None else [*causes, Cause.PRIOR]
        told.append(dict(zip(names, zip(*own))) if sure else None)
    return told


def _rows_of(cases: Sequence[BoxCase]) -> Any:
    """The boxes of many cases as the kernels take them."""
    from situs.score.explain import place_kernels as kernels

    expected = {id(one.prior): _unnamed_alone(one.prior) for one in cases if one.prior}
    said, true, prior, beside_prior = [], [], [], []
    for case in cases:
        numbers: dict[Hashable, int] = {}
        said.append(_numbered(case.said.table, case.said.labels, numbers))
        true.append(_numbered(case.true.table, case.true.labels, numbers))
        suggested = _NONE if case.prior is None else expected[id(case.prior)]
        named: dict[Hashable, int] = {}
        prior.append(_numbered(suggested.table, suggested.labels, named))
        names = _labels_beside(suggested, case.said)
        beside_prior += [named.setdefault(name, len(named)) for name in names]
    return kernels.Cases(
        kernels.Lists(np.concatenate(said), _ends(said)),
        np.array(beside_prior, dtype=np.float64),
        kernels.Lists(np.concatenate(true), _ends(true)),
        kernels.Lists(np.concatenate(prior), _ends(prior)),
        np.array([least_overlap(case.item) for case in cases]),
    )


def _ends(lists: Sequence[FloatArray]) -> IntArray:
    return np.cumsum([0, *map(len, lists)])


def _unnamed_alone(prior: Sequence[FrameBox]) -> FrameBoxes:
    """What other patients suggest, without a label where there is only one."""
    return FrameBoxes.of(same_labels(prior, prior)[0])


def _labels_beside(prior: FrameBoxes, said: FrameBoxes) -> Sequence[str]:
    """The labels of what was said, beside those of what other patients suggest."""
    return FrameBoxes.of(same_labels(prior, said)[1]).labels


def _measured(case: BoxCase, slips: _Slips) -> dict[Cause, PlaceTest]:
    """The same of one case, with the places that kernels leave open measured one by one."""
    # What was said stands first, before the places to which it is moved.
    places = _Places(case.said, _shifts(case.said.table, case.layout.sizes), slips)
    least = least_overlap(case.item)
    shows = places.overlapping(case.true, least, partial(boxes_right, case.item))
    is_right, undone = shows[0], shows[1:]
    wrong = np.flatnonzero(~is_right[1:]) + 1
    result = {}
    for cause, rows in slips.rows.items():
        fits = np.logical_or.reduce(undone[rows])
        result[cause] = bool(fits[0]), _share(fits[wrong].tolist())
    if case.prior is not None:
        alike = places.like(_unnamed_alone(case.prior))
        result[Cause.PRIOR] = bool(alike[0]), _share(alike[wrong].tolist())
    return result


def _like_prior(prior: list[FrameBox], boxes: list[FrameBox]) -> bool:
    return tube_iou(prior, same_labels(prior, boxes)[1]) >= _LIKE_PRIOR


@dataclass(frozen=True, slots=True)
class _Slips:
    """The slips that could show on some pictures, and how each is undone (`place_kernels`)."""

    sides: FloatArray
    """Width and height of each picture."""
    ways: IntArray
    """The first is none."""
    rows: dict[Cause, list[int]]
    """The ways of each cause, counted behind the first; several where it is not known which of them
    it was."""


@lru_cache(maxsize=64)
def _slips_of(layout: Layout) -> _Slips:
    from situs.score.explain import place_kernels as kernels

    sides, last = np.array(layout.sizes, dtype=np.float64), len(layout.frames) - 1
    ways: dict[Cause, list[tuple[int, int]]] = {}
    known = all(math.isfinite(width) for width, _ in layout.sizes)
    planes = {frame.plane for frame in layout.frames}
    plane = planes.pop() if len(planes) == 1 else None
    if known and not planes:
        ways.setdefault(_across(plane), []).append((kernels.FLIPPED_X, 0))
        ways.setdefault(_down(plane), []).append((kernels.FLIPPED_Y, 0))
    if known:
        ways[Cause.BOX_SCALE] = [(kernels.FROM_THOUSANDTHS, 0), (kernels.TO_THOUSANDTHS, 0)]
    orders = kernels.ENDS_FOR_SIZES, kernels.SIZES_FOR_ENDS, kernels.EXCHANGED
    ways[Cause.BOX_ORDER] = [(order, 0) for order in orders]
    if last > 0:
        ways[Cause.OFF_BY_ONE] = [(kernels.STEPPED, -1), (kernels.STEPPED, 1)]
        ways[Cause.OFF_BY_TWO] = [(kernels.STEPPED, -2), (kernels.STEPPED, 2)]
        if not planes:
            ways.setdefault(_through(plane), []).append((kernels.REVERSED, last))
    every = [way for own in ways.values() for way in own]
    numbers = iter(range(len(every)))
    rows = {cause: [next(numbers) for _ in own] for cause, own in ways.items()}
    return _Slips(sides, np.array([(kernels.SAME, 0), *every], dtype=np.int64), rows)


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


class _Places:
    """Boxes at many places: what was said, and to where it is moved."""

    def __init__(self, said: FrameBoxes, shifts: FloatArray, slips: _Slips) -> None:
        self._said = said
        self._shifts = shifts
        self._slips = slips

    def overlapping(self, true: FrameBoxes, least: float, measured: Measured) -> BoolArray:
        """For every way to undo a slip, and every place, whether the boxes of each label then
        overlap the true ones enough; places at which that hangs on rounding, or boxes lie on each
        other, are measured."""
        return self._told(true, self._said.labels, self._slips.ways, least, measured, pooled=False)

    def like(self, prior: FrameBoxes) -> BoolArray:
        """For every place whether the boxes lie like those that other patients suggest."""
        names = _labels_beside(prior, self._said)
        none = self._slips.ways[:1]
        return np.asarray(self._told(prior, names, none, _LIKE_PRIOR, _like_prior, pooled=True)[0])

    def _told(
        self,
        true: FrameBoxes,
        names: Sequence[str],
        ways: IntArray,
        least: float,
        measured: Measured,
        *,
        pooled: bool,
    ) -> BoolArray:
        # A run whose wrong answers are not asked about needs no compiled kernels.
        from situs.score.explain import place_kernels as kernels

        numbers: dict[Hashable, int] = {}
        said = _numbered(self._said.table, names, numbers)
        truth = _numbered(true.table, true.labels, numbers)
        sides = self._slips.sides
        verdicts = kernels.where_they_overlap(said, truth, self._shifts, ways, sides, least, pooled)
        for way, place in zip(*np.nonzero(verdicts == kernels.UNSURE)):
            labelled = _numbered(self._said.table, range(len(said)), {})
            rows = kernels.undone_boxes(labelled, self._shifts[place], ways[way], sides)
            labels = [self._said.labels[int(row)] for row in rows[:, 5]]
            boxes = FrameBoxes(rows[:, :5], labels)
            verdicts[way, place] = measured(list(true), list(boxes))
        return np.asarray(verdicts == kernels.YES)


def _numbered(
    boxes: FloatArray, labels: Iterable[Hashable], numbers: dict[Hashable, int]
) -> FloatArray:
    """The boxes with the number of each label; one that has none yet is given the next."""
    rows = np.empty((len(boxes), 6))
    rows[:, :5] = boxes
    rows[:, 5] = [numbers.setdefault(one, len(numbers)) for one in labels]
    return rows


def _shifts(boxes: FloatArray, sizes: Sequence[tuple[float, float]]) -> FloatArray:
    """How the boxes are moved as one piece: not at all, onto every stretch of pictures they fit on,
    and to a grid of places on the pictures."""
    width, height = sizes[min(int(boxes[0, 0]), len(sizes) - 1)]
    x0, y0 = boxes[:, 1:3].min(axis=0).tolist()
    x1, y1 = boxes[:, 3:].max(axis=0).tolist()
    first, last = int(boxes[:, 0].min()), int(boxes[:, 0].max())
    steps = np.arange(-first, max(len(sizes) - last, 1 - first))
    is_known = math.isfinite(width)
    shifts = np.zeros((1 + len(steps) + is_known * len(_GRID), 5))
    shifts[1 : 1 + len(steps), 0] = steps
    if is_known:
        room = [max(0.0, width - (x1 - x0)), max(0.0, height - (y1 - y0))]
        shifts[1 + len(steps) :, 1:3] = shifts[1 + len(steps) :, 3:] = _GRID * room - [x0, y0]
    return shifts
