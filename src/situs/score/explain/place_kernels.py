# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels that undo slips in boxes at many places, and tell where they then overlap others.

What both mark and what either marks is summed over pictures, label by label, as
`metrics.boxes.tube_iou` does; what is rounded may be rounded in another order. A place at which
that could matter is left to the measure itself (`UNSURE`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel

__all__ = [
    "ENDS_FOR_SIZES",
    "EXCHANGED",
    "FLIPPED_X",
    "FLIPPED_Y",
    "FROM_THOUSANDTHS",
    "NO",
    "REVERSED",
    "SAME",
    "SIZES_FOR_ENDS",
    "STEPPED",
    "TO_THOUSANDTHS",
    "UNSURE",
    "YES",
    "Cases",
    "Lists",
    "Ways",
    "slips_in",
    "undone_boxes",
    "where_they_overlap",
]

SAME = 0
FLIPPED_X, FLIPPED_Y = 1, 2
FROM_THOUSANDTHS = 3
"""What was said in thousandths was read as pixels."""
TO_THOUSANDTHS = 4
"""What was said in pixels was read as thousandths."""
ENDS_FOR_SIZES = 5
"""What was read as far corners were sizes."""
SIZES_FOR_ENDS = 6
"""What was read as sizes were far corners."""
EXCHANGED = 7
"""x for y."""
STEPPED = 8
"""So many pictures further on."""
REVERSED = 9
"""In the other order of pictures, of which the last has the number that stands beside it."""

NO, YES, UNSURE = 0, 1, 2
"""Whether boxes overlap others enough."""
_ROUNDING = 1e-6

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


_Sides = tuple[float, float, float, float, float]
"""Picture, x0, y0, x1 and y1 of a box."""


@kernel
def _undone(box: _Sides, what: int, amount: int, width: float, height: float) -> _Sides:
    """A box as it was before a slip, on a picture of this size."""
    frame, x0, y0, x1, y1 = box
    if what == FLIPPED_X:
        return frame, width - x1, y0, width - x0, y1
    if what == FLIPPED_Y:
        return frame, x0, height - y1, x1, height - y0
    if what == FROM_THOUSANDTHS:
        across, down = width * 0.001, height * 0.001
        return frame, x0 * across, y0 * down, x1 * across, y1 * down
    if what == TO_THOUSANDTHS:
        across, down = 1000.0 / width, 1000.0 / height
        return frame, x0 * across, y0 * down, x1 * across, y1 * down
    if what == ENDS_FOR_SIZES:
        return frame, x0, y0, x0 + x1, y0 + y1
    if what == SIZES_FOR_ENDS:
        return frame, x0, y0, max(x0, x1 - x0), max(y0, y1 - y0)
    if what == EXCHANGED:
        return frame, y0, x0, y1, x1
    if what == STEPPED:
        return frame + amount, x0, y0, x1, y1
    if what == REVERSED:
        return amount - frame, x0, y0, x1, y1
    return box


# Kernels that call each other hand over whole arrays of places: an array that is handed over is
# counted, which takes longer than a box does.


@kernel
def _undo_all(
    boxes: FloatArray,
    shifts: FloatArray,
    slip: IntArray,
    sides: FloatArray,
    undone: FloatArray,
    counts: IntArray,
) -> None:
    """For every shift write the boxes that then lie on a picture, as they were before a slip, and
    how many these are."""
    what, amount = slip[0], slip[1]
    for place in range(shifts.shape[0]):
        count = 0
        for row in range(boxes.shape[0]):
            frame = boxes[row, 0] + shifts[place, 0]
            moved = (
                frame,
                boxes[row, 1] + shifts[place, 1],
                boxes[row, 2] + shifts[place, 2],
                boxes[row, 3] + shifts[place, 3],
                boxes[row, 4] + shifts[place, 4],
            )
            picture = min(max(int(frame), 0), sides.shape[0] - 1)
            before = _undone(moved, what, amount, sides[picture, 0], sides[picture, 1])
            for number in range(5):
                undone[place, count, number] = before[number]
            undone[place, count, 5] = boxes[row, 5]
            count += before[0] >= 0
        counts[place] = count


@kernel
def undone_boxes(
    boxes: FloatArray, shift: FloatArray, slip: IntArray, sides: FloatArray
) -> FloatArray:
    """Boxes that were moved by a shift, as they were before a slip; those on no picture left out.

    Each is a row: picture, x0, y0, x1, y1, and the number of its label.
    """
    undone = np.empty((1, boxes.shape[0], 6))
    counts = np.zeros(1, dtype=np.int64)
    _undo_all(boxes, shift.reshape((1, 5)), slip, sides, undone, counts)
    return undone[0, : counts[0]]


class _Truth(NamedTuple):
    """The true boxes, by picture."""

    boxes: FloatArray
    first: IntArray
    """Of each picture, the first box; -1 if it has none."""
    following: IntArray
    """Of each box, the next one on the same picture."""
    areas: FloatArray
    """Of each label."""
    there: NDArray[np.bool_]
    """Whether each label is marked at all."""
    least_area: float
    """What all boxes mark at least."""


@kernel
def _by_picture(boxes: FloatArray, labels: int) -> _Truth:
    first = np.full(int(boxes[:, 0].max()) + 1, -1)
    following = np.full(boxes.shape[0], -1)
    areas = np.zeros(labels)
    there = np.zeros(labels, dtype=np.bool_)
    for row in range(boxes.shape[0] - 1, -1, -1):
        picture, label = int(boxes[row, 0]), int(boxes[row, 5])
        following[row], first[picture] = first[picture], row
        areas[label] += _area(boxes, row)
        there[label] = True
    return _Truth(boxes, first, following, areas, there, _least_area(boxes))


@kernel
def _area(boxes: FloatArray, row: int) -> float:
    return (boxes[row, 3] - boxes[row, 1]) * (boxes[row, 4] - boxes[row, 2])


@kernel
def _is_crowded(boxes: FloatArray) -> bool:
    """Whether two boxes stand on one picture under one label."""
    for row in range(boxes.shape[0]):
        for other in range(row):
            if boxes[row, 0] == boxes[other, 0] and boxes[row, 5] == boxes[other, 5]:
                return True
    return False


@kernel
def _least_area(boxes: FloatArray) -> float:
    """The sum over pictures of the largest area there: boxes mark no less together."""
    total = 0.0
    for row in range(boxes.shape[0]):
        area, is_largest = _area(boxes, row), True
        for other in range(boxes.shape[0]):
            if boxes[other, 0] == boxes[row, 0]:
                larger = _area(boxes, other) - area
                is_largest = is_largest and (larger < 0.0 or (larger == 0.0 and other >= row))
        if is_largest:
            total += area
    return total


@kernel
def _add_up(
    said: FloatArray,
    counts: IntArray,
    truth: _Truth,
    both: FloatArray,
    either: FloatArray,
    anything: FloatArray,
) -> None:
    """For every place the area that both mark and that either marks, by label, and what any two
    boxes share."""
    true, first, following, pictures = truth.boxes, truth.first, truth.following, truth.first.size
    both[:] = 0.0
    anything[:] = 0.0
    for place in range(counts.size):
        either[place] = truth.areas
        for row in range(counts[place]):
            label, picture = int(said[place, row, 5]), int(said[place, row, 0])
            x0, y0 = said[place, row, 1], said[place, row, 2]
            x1, y1 = said[place, row, 3], said[place, row, 4]
            either[place, label] += (x1 - x0) * (y1 - y0)
            other = first[picture] if picture < pictures else -1
            while other >= 0:
                width = min(x1, true[other, 3]) - max(x0, true[other, 1])
                height = min(y1, true[other, 4]) - max(y0, true[other, 2])
                shared = max(0.0, width) * max(0.0, height)
                anything[place] += shared
                if true[other, 5] == label:
                    both[place, label] += shared
                    either[place, label] -= shared
                other = following[other]


@kernel
def _compared(both: float, either: float, least: float) -> int:
    overlap = min(1.0, both / either) if either > 0.0 else 0.0
    if overlap < least * (1.0 - _ROUNDING):
        return NO
    return YES if overlap > least * (1.0 + _ROUNDING) else UNSURE


@kernel
def _of_labels(
    said: FloatArray, truth: _Truth, both: FloatArray, either: FloatArray, least: float
) -> int:
    """Whether the boxes of every label that is marked overlap enough."""
    there = truth.there.copy()
    for row in range(said.shape[0]):
        there[int(said[row, 5])] = True
    verdict = YES
    for label in range(there.size):
        if there[label] and verdict != NO:
            own = _compared(both[label], either[label], least)
            verdict = own if own != YES else verdict
    return verdict


@kernel
def _reach(
    boxes: FloatArray, shifts: FloatArray, slip: IntArray, sides: FloatArray, truth: _Truth
) -> NDArray[np.bool_]:
    """For every shift whether any box, as it was before a slip, shares some area with a true one.

    At nearly all places none does: most boxes are on no picture with a true one, which their
    pictures alone tell.
    """
    what, amount = slip[0], slip[1]
    reach = np.zeros(shifts.shape[0], dtype=np.bool_)
    for place in range(shifts.shape[0]):
        for row in range(boxes.shape[0]):
            frame = boxes[row, 0] + shifts[place, 0]
            before = frame + amount if what == STEPPED else frame
            before = amount - frame if what == REVERSED else before
            if before < 0 or before >= truth.first.size or truth.first[int(before)] < 0:
                continue
            moved = (
                frame,
                boxes[row, 1] + shifts[place, 1],
                boxes[row, 2] + shifts[place, 2],
                boxes[row, 3] + shifts[place, 3],
                boxes[row, 4] + shifts[place, 4],
            )
            picture = min(max(int(frame), 0), sides.shape[0] - 1)
            _, x0, y0, x1, y1 = _undone(moved, what, amount, sides[picture, 0], sides[picture, 1])
            other = truth.first[int(before)]
            while other >= 0:
                width = min(x1, truth.boxes[other, 3]) - max(x0, truth.boxes[other, 1])
                height = min(y1, truth.boxes[other, 4]) - max(y0, truth.boxes[other, 2])
                reach[place] = reach[place] or (width > 0.0 and height > 0.0)
                other = truth.following[other]
            if reach[place]:
                break
    return reach


@kernel
def where_they_overlap(
    said: FloatArray,
    true: FloatArray,
    shifts: FloatArray,
    slips: IntArray,
    sides: FloatArray,
    least: float,
    pooled: bool,
) -> NDArray[np.int8]:
    """For every slip (rows) and every place to which the said boxes are moved (columns): whether,
    with the slip undone, their tube IoU with the true ones is at least `least`: that of each label,
    or (`pooled`) that of all labels together.

    Boxes are rows as of `undone_boxes`, labels being numbered from 0 on; `sides` are those of the
    pictures.
    """
    found = np.full((slips.shape[0], shifts.shape[0]), NO, dtype=np.int8)
    if not true.shape[0] or not said.shape[0]:
        return found
    truth = _by_picture(true, int(max(said[:, 5].max(), true[:, 5].max())) + 1)
    is_crowded = _is_crowded(said) or _is_crowded(true)
    labels = truth.areas.size
    for slip in range(slips.shape[0]):
        near = np.flatnonzero(_reach(said, shifts, slips[slip], sides, truth))
        if not near.size:
            continue
        undone, counts = (
            np.empty((near.size, said.shape[0], 6)),
            np.empty(near.size, dtype=np.int64),
        )
        both, either = np.empty((near.size, labels)), np.empty((near.size, labels))
        anything = np.empty(near.size)
        _undo_all(said, shifts[near], slips[slip], sides, undone, counts)
        _add_up(undone, counts, truth, both, either, anything)
        for number in range(near.size):
            boxes, place = undone[number, : counts[number]], near[number]
            if is_crowded:
                # Of boxes that lie on each other only this is known: what they share at most, and
                # what they mark at least.
                marked = max(truth.least_area, _least_area(boxes))
                if anything[number] >= least * (1.0 - _ROUNDING) * marked:
                    found[slip, place] = UNSURE
            elif pooled:
                found[slip, place] = _compared(both[number].sum(), either[number].sum(), least)
            else:
                found[slip, place] = _of_labels(boxes, truth, both[number], either[number], least)
    return found


class Lists(NamedTuple):
    """Lists of boxes (rows as of `undone_boxes`), one after the other."""

    boxes: FloatArray
    ends: IntArray
    """Where each begins, and the last ends."""


class Cases(NamedTuple):
    """Answers with boxes, and what each is put beside."""

    said: Lists
    beside_prior: FloatArray
    """The number of the label of each said box among those of the prior."""
    true: Lists
    prior: Lists
    """What other patients suggest; empty if they suggest nothing."""
    least: FloatArray
    """From which overlap on boxes are right."""


class Ways(NamedTuple):
    """How slips are undone on some pictures."""

    ways: IntArray
    """The first is none."""
    causes: IntArray
    """The number of the cause of each; -1 of the first."""
    sides: FloatArray
    """Those of the pictures."""


@kernel
def _shifts_of(boxes: FloatArray, sides: FloatArray, grid: FloatArray) -> FloatArray:
    """How boxes are moved as one piece: not at all, onto every stretch of pictures they fit on, and
    to a grid of places on the pictures, where their size is known."""
    pictures = sides.shape[0]
    picture = min(int(boxes[0, 0]), pictures - 1)
    width, height = sides[picture, 0], sides[picture, 1]
    first, last = int(boxes[:, 0].min()), int(boxes[:, 0].max())
    steps = max(pictures - last, 1 - first) + first
    is_known = np.isfinite(width)
    shifts = np.zeros((1 + steps + is_known * grid.shape[0], 5))
    for step in range(steps):
        shifts[1 + step, 0] = step - first
    if is_known:
        x0, y0 = boxes[:, 1].min(), boxes[:, 2].min()
        across = max(0.0, width - (boxes[:, 3].max() - x0))
        down = max(0.0, height - (boxes[:, 4].max() - y0))
        for place in range(grid.shape[0]):
            x, y = grid[place, 0] * across - x0, grid[place, 1] * down - y0
            row = 1 + steps + place
            shifts[row, 1], shifts[row, 2], shifts[row, 3], shifts[row, 4] = x, y, x, y
    return shifts


@kernel
def _share_of(verdicts: NDArray[np.int8], is_right: NDArray[np.bool_]) -> float:
    """Of the places at which moved boxes are wrong, the share at which undoing puts them right."""
    wrong, fits = 0, 0
    for place in range(1, is_right.size):
        if not is_right[place]:
            wrong += 1
            fits += verdicts[place] == YES
    return fits / wrong if wrong else 1.0


@kernel
def slips_in(
    cases: Cases, grid: FloatArray, slips: Ways, like_prior: float
) -> tuple[NDArray[np.bool_], FloatArray, NDArray[np.bool_]]:
    """For every case (rows) and every cause, the last of which is the prior (columns): whether the
    answer shows it, and the share of the wrong answers elsewhere that would; and of every case
    whether that is sure (`UNSURE`).

    `grid` are the places on a picture, as shares of the room there is.
    """
    count, causes = cases.least.size, slips.causes.max() + 1
    seen = np.zeros((count, causes + 1), dtype=np.bool_)
    shares = np.ones((count, causes + 1))
    is_sure = np.ones(count, dtype=np.bool_)
    for case in range(count):
        first, end = cases.said.ends[case], cases.said.ends[case + 1]
        said = cases.said.boxes[first:end]
        true = cases.true.boxes[cases.true.ends[case] : cases.true.ends[case + 1]]
        shifts = _shifts_of(said, slips.sides, grid)
        verdicts = where_they_overlap(
            said, true, shifts, slips.ways, slips.sides, cases.least[case], False
        )
        is_right = verdicts[0] == YES
        is_sure[case] = not (verdicts == UNSURE).any()
        for cause in range(causes):
            fits = np.zeros(is_right.size, dtype=np.int8)
            for way in range(slips.causes.size):
                if slips.causes[way] == cause:
                    fits = np.maximum(fits, verdicts[way])
            seen[case, cause] = fits[0] == YES
            shares[case, cause] = _share_of(fits, is_right)
        prior = cases.prior.boxes[cases.prior.ends[case] : cases.prior.ends[case + 1]]
        if prior.shape[0]:
            beside = said.copy()
            beside[:, 5] = cases.beside_prior[first:end]
            alike = where_they_overlap(
                beside, prior, shifts, slips.ways[:1], slips.sides, like_prior, True
            )[0]
            is_sure[case] = is_sure[case] and not (alike == UNSURE).any()
            seen[case, causes] = alike[0] == YES
            shares[case, causes] = _share_of(alike, is_right)
    return seen, shares, is_sure
