"""The boxes of one answer by picture and label, the places in which they can meet others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from situs.space import FrameBox, FrameBoxes

__all__ = ["Layers", "Place", "layers_of", "sides_of", "union_area"]

Boxes = Sequence[FrameBox]
FloatArray = NDArray[np.float64]

Place = tuple[int, str]
"""A picture and a label: boxes match only where both are the same."""


class Layers:
    """Boxes by picture and label, with what is worked out of them."""

    def __init__(self, boxes: Boxes) -> None:
        self.boxes = boxes
        self.at: dict[Place, list[FrameBox]] = defaultdict(list)
        for box in boxes:
            self.at[box.frame, box.label].append(box)
        self._areas: dict[Place, float] = {}
        self._sides: dict[Place, FloatArray] = {}

    def area(self, place: Place) -> float:
        """Area of the union of the boxes there."""
        if place not in self._areas:
            self._areas[place] = union_area(self.sides(place))
        return self._areas[place]

    def sides(self, place: Place) -> FloatArray:
        """The sides of the boxes there, a row each."""
        if place not in self._sides:
            self._sides[place] = sides_of(self.at[place])
        return self._sides[place]


_MANY = 16
"""From so many boxes on, they are worth remembering:
a grid is compared with hundreds of answers."""
_MOST_REMEMBERED = 64
_REMEMBERED: dict[int, Layers] = {}


def layers_of(boxes: Boxes) -> Layers:
    """The layers of some boxes; those of many boxes are remembered."""
    # A list can be changed, an array of boxes is not.
    if len(boxes) < _MANY or not isinstance(boxes, FrameBoxes):
        return Layers(boxes)
    known = _REMEMBERED.get(id(boxes))
    # The boxes are held, so that no others can have their id.
    if known is None or known.boxes is not boxes:
        if len(_REMEMBERED) >= _MOST_REMEMBERED:
            _REMEMBERED.clear()
        known = _REMEMBERED[id(boxes)] = Layers(boxes)
    return known


def union_area(sides: FloatArray) -> float:
    """Area of the union of boxes on one picture, a row of sides each (`sides_of`)."""
    if len(sides) == 1:
        return float((sides[0, 2] - sides[0, 0]) * (sides[0, 3] - sides[0, 1]))
    xs, ys = np.unique(sides[:, ::2]), np.unique(sides[:, 1::2])
    x0, x1 = np.searchsorted(xs, sides[:, ::2]).T
    y0, y1 = np.searchsorted(ys, sides[:, 1::2]).T
    # Each rectangle adds one at its near corners and takes it away at its far ones: sums over both
    # axes then tell how many cover each cell.
    shape = len(xs), len(ys)
    corners = np.concatenate([x0 * shape[1] + y0, x1 * shape[1] + y1])
    counters = np.concatenate([x0 * shape[1] + y1, x1 * shape[1] + y0])
    size = shape[0] * shape[1]
    steps = np.bincount(corners, minlength=size) - np.bincount(counters, minlength=size)
    covered = steps.reshape(shape).cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0
    return float(np.diff(xs) @ covered @ np.diff(ys))


def sides_of(boxes: Boxes) -> FloatArray:
    """x0, y0, x1 and y1 of each box."""
    return np.array([(box.x0, box.y0, box.x1, box.y1) for box in boxes])
