"""Boxes that replies give just as the profile asks, on the pictures shown: many replies at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from situs.profiles import AnswerSpace
from situs.score.read.box_forms.record import Mention
from situs.score.read.box_forms.stated import StatedBoxes
from situs.space import FrameBoxes, picture_sides

__all__ = ["TOLERANCE", "Size", "may_be_as_asked", "placed_as_asked", "placed_rows"]

Size: TypeAlias = tuple[float, float]
TOLERANCE = 1.05
"""How far beyond the edge, as a share of the side,
a coordinate may lie before its scale is doubted."""
_HIGHEST = 1e9
"""No picture is larger: a number beyond it is none of its pixels."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def placed_as_asked(
    replies: Sequence[tuple[Sequence[Mention], AnswerSpace, Sequence[Size]]],
) -> list[FrameBoxes | None]:
    """The boxes of each reply all of whose boxes are in pixels, corner by corner, on pictures that
    are there; None for any other reply."""
    placed: list[FrameBoxes | None] = [None] * len(replies)
    rows: list[int] = []
    stated: list[StatedBoxes] = []
    for row, (mentions, space, sizes) in enumerate(replies):
        if may_be_as_asked(space, sizes):
            boxes = StatedBoxes.of(mentions)
            if boxes is not None and boxes.frames:
                rows.append(row)
                stated.append(boxes)
    if not rows:
        return placed
    table, is_plain = placed_rows(
        [frame for one in stated for frame in one.frames],
        [numbers for one in stated for numbers in one.numbers],
        [len(one.frames) for one in stated],
        [replies[row][1].frame_base for row in rows],
        [replies[row][2] for row in rows],
    )
    end = 0
    for row, boxes, is_asked in zip(rows, stated, is_plain.tolist()):
        start, end = end, end + len(boxes.frames)
        if is_asked:
            placed[row] = FrameBoxes(table[start:end], boxes.labels)
    return placed


def may_be_as_asked(space: AnswerSpace, sizes: Sequence[Size]) -> bool:
    """Whether boxes are asked for in pixels, corner by corner, on pictures that have numbers."""
    # One picture needs no number, so that another one may be meant by it.
    return len(sizes) > 1 and (space.box_scale, space.box_order) == ("pixel", "xyxy")


def placed_rows(
    frames: Sequence[int],
    numbers: Sequence[tuple[float, float, float, float]],
    counts: list[int],
    bases: Sequence[int],
    sizes: Sequence[Sequence[Size]],
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The rows of the boxes of many replies (`FrameBoxes.table`), cut off at the edges of their
    pictures, and whether all boxes of each reply are as they were asked for.

    A reply has so many boxes (`counts`), on pictures of these sizes whose first has the number
    `bases`.
    """
    starts = np.cumsum([0, *counts[:-1]])
    table = np.empty((len(frames), 5))
    table[:, 0] = frames
    table[:, 0] -= np.repeat(bases, counts)
    table[:, 1:] = numbers
    sides, is_shown = picture_sides(table[:, 0], sizes, counts)
    low, high = table[:, 1:3], table[:, 3:]
    is_plain = is_shown & (high > low).all(axis=1)
    highest = high.max(axis=1)
    cut = ((low < 0.0) | (high > sides)).any(axis=1)
    if cut.any():
        highest[cut] = np.maximum(highest[cut], np.abs(low[cut]).max(axis=1))
        table[cut, 1:] = np.clip(table[cut, 1:], 0.0, np.tile(sides[cut], 2))
        # What is left without an extent is none of the reply's boxes.
        is_plain &= (table[:, 3:] > table[:, 1:3]).all(axis=1)
    highest = np.maximum.reduceat(highest, starts)
    largest = np.maximum.reduceat(sides.max(axis=1), starts)
    # Up to 1 they may be shares of the sides, and beyond the largest side thousandths.
    in_pixels = (highest > TOLERANCE) & (highest <= np.minimum(largest * TOLERANCE, _HIGHEST))
    all_plain = np.logical_and.reduceat(is_plain, starts) & in_pixels
    return table, all_plain & ~_repeats(table, counts, starts)


def _repeats(table: FloatArray, counts: list[int], starts: IntArray) -> NDArray[np.bool_]:
    """Whether each reply gives a box twice."""
    repeats = np.zeros(len(counts), dtype=bool)
    owner = np.repeat(np.arange(len(counts)), counts)
    places = owner * (table[:, 0].max() + 1) + table[:, 0]
    order = np.argsort(places, kind="stable")
    # Only a reply with two boxes on one picture can give one of them twice.
    same = np.flatnonzero(np.diff(places[order]) == 0)
    for row in np.unique(owner[order[same]]).tolist():
        boxes = table[starts[row] : starts[row] + counts[row]].tolist()
        repeats[row] = len({tuple(box) for box in boxes}) < len(boxes)
    return repeats
