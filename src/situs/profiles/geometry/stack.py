"""Pictures that are one slice each, all alike and along the patient's axes: boxes without matrices.

Most series are acquired or shown so. What is worked out here is what matrices give
(`geometry/boxes.py`), to the last bit: where a matrix has one number a row, its product is that
number's, and rounding keeps the order of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from situs.space import FrameBox, FrameBoxes, WorldBox

if TYPE_CHECKING:
    from situs.profiles.geometry.frame import Frame
    from situs.profiles.geometry.lattice import Lattice

__all__ = ["TOUCH_MM", "Stack", "hulls", "inside", "stack_of"]

TOUCH_MM = 1e-6
"""A slice this near to a box's face cuts it."""


Length = TypeVar("Length", float, NDArray[np.float64])


@dataclass(frozen=True, slots=True)
class _Side:
    """Along the picture's x or y: the patient's axis,
    and how pixels and millimetres turn into each other."""

    axis: int
    slope: float
    start: float
    inverse: float

    def pixels(self, low_mm: Length, high_mm: Length) -> tuple[Length, Length]:
        """The ends of a box on the picture, from its low and its high face."""
        return (low_mm - self.start) * self.inverse, (high_mm - self.start) * self.inverse

    def span_mm(self, low: float, high: float) -> tuple[float, float]:
        """What half-open pixels span in the patient."""
        first = (low - 0.5) * self.slope + self.start
        last = (high - 0.5) * self.slope + self.start
        return (first, last) if first <= last else (last, first)


@dataclass(frozen=True, slots=True)
class Stack:
    """The slices, in the order of the pictures."""

    x: _Side
    y: _Side
    axis: int
    """The patient's axis across the slices."""
    places: NDArray[np.float64]
    """Where each slice lies on it."""
    inverse: float
    thickness: tuple[list[float], list[float]]
    """Where each slice begins and ends on it."""
    rectangle: tuple[float, float, float, float]
    """What a slice fills of its picture."""

    def cuts(self, box: WorldBox) -> list[FrameBox] | None:
        """The box on the slices that cut it; None if none does."""
        low_mm, high_mm = box.lo_mm[self.axis], box.hi_mm[self.axis]
        first = (low_mm - self.places) * self.inverse
        second = (high_mm - self.places) * self.inverse
        near, far = np.minimum(first, second), np.maximum(first, second)
        met = np.flatnonzero((near <= TOUCH_MM) & (far >= -TOUCH_MM)).tolist()
        if not met:
            return None
        xs, ys = (
            side.pixels(box.lo_mm[side.axis], box.hi_mm[side.axis]) for side in (self.x, self.y)
        )
        rectangles = []
        for number, before, behind in zip(met, first[met].tolist(), second[met].tolist()):
            x0, x1 = _cut(before, behind, xs)
            y0, y1 = _cut(before, behind, ys)
            one = inside(
                number, self.rectangle, (x0 + 0.5, y0 + 0.5, x1 + 0.5, y1 + 0.5), box.label
            )
            if one is not None:
                rectangles.append(one)
        return rectangles

    def cuts_of_many(self, boxes: Sequence[Sequence[WorldBox]]) -> list[FrameBoxes | None]:
        """What has an area of `cuts` of the boxes of many items, an entry an item, at once; None
        for an item with a box that no slice cuts."""
        counts = [len(one) for one in boxes]
        every = [box for one in boxes for box in one]
        low = np.array([box.lo_mm for box in every], dtype=np.float64).reshape(-1, 3)
        high = np.array([box.hi_mm for box in every], dtype=np.float64).reshape(-1, 3)
        first = (low[:, self.axis, None] - self.places) * self.inverse
        second = (high[:, self.axis, None] - self.places) * self.inverse
        is_met = np.minimum(first, second) <= TOUCH_MM
        is_met &= np.maximum(first, second) >= -TOUCH_MM
        row, number = np.nonzero(is_met)
        before, behind = first[row, number], second[row, number]
        sides = np.empty((len(row), 5))
        sides[:, 0] = number
        for column, side in ((1, self.x), (2, self.y)):
            ends = side.pixels(low[row, side.axis], high[row, side.axis])
            near, far = _cuts_at(before, behind, *ends)
            sides[:, column] = np.maximum(near + 0.5, self.rectangle[column - 1])
            sides[:, column + 2] = np.minimum(far + 0.5, self.rectangle[column + 1])
        is_drawn = (sides[:, 3] > sides[:, 1]) & (sides[:, 4] > sides[:, 2])
        sides, row = sides[is_drawn], row[is_drawn]
        owner = np.repeat(np.arange(len(boxes)), counts)
        uncut = np.bincount(owner[~is_met.any(axis=1)], minlength=len(boxes)) > 0
        ends_of = np.searchsorted(owner[row], np.arange(len(boxes) + 1)).tolist()
        labels = [every[number].label for number in row.tolist()]
        return [
            None if is_uncut else FrameBoxes(sides[start:end], labels[start:end])
            for start, end, is_uncut in zip(ends_of, ends_of[1:], uncut.tolist())
        ]

    def hull(self, boxes: Sequence[FrameBox], label: str) -> WorldBox:
        """The box around rectangles that are each as thick as their slice."""
        low, high = [0.0] * 3, [0.0] * 3
        begins, ends = self.thickness
        first = boxes[0]
        left, top, right, bottom = first.x0, first.y0, first.x1, first.y1
        near, far = begins[first.frame], ends[first.frame]
        for box in boxes:
            left, right = min(left, box.x0), max(right, box.x1)
            top, bottom = min(top, box.y0), max(bottom, box.y1)
            near, far = min(near, begins[box.frame]), max(far, ends[box.frame])
        low[self.x.axis], high[self.x.axis] = self.x.span_mm(left, right)
        low[self.y.axis], high[self.y.axis] = self.y.span_mm(top, bottom)
        low[self.axis], high[self.axis] = near, far
        return WorldBox((low[0], low[1], low[2]), (high[0], high[1], high[2]), label)


def hulls(
    stacks: Sequence[Stack],
    stack: NDArray[np.int64],
    group: NDArray[np.int64],
    frame: NDArray[np.int64],
    sides: tuple[NDArray[np.float64], ...],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """`Stack.hull` of many groups of rectangles at once: the low and the high corner of each, n×3,
    in mm.

    Every row is a rectangle (`frame`, and x0, y0, x1, y1 of `sides`) with the number of its stack
    and of its group; groups are numbered from 0 without gaps.
    """
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 1))
    stack_of_group = stack[order][starts]
    offsets = np.cumsum([0, *(len(one.places) for one in stacks)])[:-1]
    slice_number = (offsets[stack] + frame)[order]
    begins, ends = (
        np.concatenate([one.thickness[end] for one in stacks])[slice_number] for end in (0, 1)
    )
    left, top, right, bottom = (side[order] for side in sides)
    low, high = np.empty((len(starts), 3)), np.empty((len(starts), 3))
    groups = np.arange(len(starts))
    for side, near, far in (("x", left, right), ("y", top, bottom)):
        axis, slope, start = (
            np.array([getattr(getattr(one, side), name) for one in stacks])[stack_of_group]
            for name in ("axis", "slope", "start")
        )
        first = (np.minimum.reduceat(near, starts) - 0.5) * slope + start
        last = (np.maximum.reduceat(far, starts) - 0.5) * slope + start
        low[groups, axis], high[groups, axis] = np.minimum(first, last), np.maximum(first, last)
    through = np.array([one.axis for one in stacks])[stack_of_group]
    low[groups, through] = np.minimum.reduceat(begins, starts)
    high[groups, through] = np.maximum.reduceat(ends, starts)
    return low, high


def _cut(before: float, behind: float, ends: tuple[float, float]) -> tuple[float, float]:
    """The least and greatest place at which a slice cuts the edges that run through it, or touches
    their ends.

    `before` and `behind` are the ends' distances from the slice. Along such an edge nothing changes
    but for rounding.
    """
    points: list[float] = []
    if abs(before) <= TOUCH_MM or abs(behind) <= TOUCH_MM:
        points += ends
    if before * behind < 0:
        share = before / (before - behind)
        points += [(1.0 - share) * end + share * end for end in ends]
    return min(points), max(points)


def _cuts_at(
    before: NDArray[np.float64],
    behind: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """`_cut` of many boxes, with the same operations in the same order."""
    touches = (np.abs(before) <= TOUCH_MM) | (np.abs(behind) <= TOUCH_MM)
    crosses = before * behind < 0
    share = np.divide(before, before - behind, out=np.zeros_like(before), where=crosses)
    points = [np.where(touches, end, np.nan) for end in (low, high)]
    points += [np.where(crosses, (1.0 - share) * end + share * end, np.nan) for end in (low, high)]
    # A slice that meets a box touches or crosses it, so that two of the four are numbers.
    return np.fmin.reduce(points), np.fmax.reduce(points)


def inside(
    number: int,
    rectangle: tuple[float, float, float, float],
    sides: tuple[float, float, float, float],
    label: str,
) -> FrameBox | None:
    """A rectangle as far as it lies in the one that a slice fills of its picture;
    None where nothing of it does."""
    x0, y0, x1, y1 = rectangle
    left, top, right, bottom = sides
    if left > x1 or right < x0 or top > y1 or bottom < y0:
        return None
    box = FrameBox(number, max(left, x0), max(top, y0), min(right, x1), min(bottom, y1), label)
    return box if box.area > 0 or right == left or bottom == top else None


def stack_of(lattice: Lattice, frames: Sequence[Frame]) -> Stack | None:
    """The pictures as a stack; None if they are none, or oblique to the patient."""
    if not frames or not lattice.has_mm or any(len(frame.tiles) != 1 for frame in frames):
        return None
    tiles = [frame.tiles[0] for frame in frames]
    matrices = np.array([tile.matrix for tile in tiles])
    directions, inverse = matrices[0, :, :2], tiles[0].inverse
    if (np.count_nonzero(directions, axis=0) != 1).any() or np.count_nonzero(inverse) != 3:
        return None
    in_x, in_y = (int(np.flatnonzero(directions[:, column])[0]) for column in (0, 1))
    across = 3 - in_x - in_y
    screen = tiles[0].screen
    half = 0.5 * lattice.axes[screen.through].step * lattice.to_source[:3, screen.through]
    alike = (
        in_x != in_y
        and (matrices[:, :, :2] == directions).all()
        and (matrices[:, [in_x, in_y], 2] == matrices[0, [in_x, in_y], 2]).all()
        and len({(tile.rectangle, tile.screen.through) for tile in tiles}) == 1
        and not half[[in_x, in_y]].any()
    )
    if not alike:
        return None
    places = matrices[:, across, 2]
    ends = places - half[across], places + half[across]
    x, y = (
        _Side(
            axis,
            float(directions[axis, column]),
            float(matrices[0, axis, 2]),
            float(inverse[column, axis]),
        )
        for column, axis in ((0, in_x), (1, in_y))
    )
    return Stack(
        x,
        y,
        across,
        places,
        float(inverse[2, across]),
        (np.minimum(*ends).tolist(), np.maximum(*ends).tolist()),
        tiles[0].rectangle,
    )
