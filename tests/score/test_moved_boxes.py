"""Slips in boxes undone at many places: what the kernels tell is what measuring each place tells."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from situs.items import Boxes, Item
from situs.score import boxes_right, tube_iou
from situs.score.explain import Cause, places
from situs.score.explain import place_kernels as kernels
from situs.space import FrameBox, FrameBoxes

SIZES = [(320.0, 256.0)] * 12
Row = tuple[float, float, float, float, float]


def _scaled(row: Row, across: float, down: float) -> Row:
    frame, x0, y0, x1, y1 = row
    return frame, x0 * across, y0 * down, x1 * across, y1 * down


UNDONE: dict[tuple[int, int], Callable[[Row], Row]] = {
    (kernels.SAME, 0): lambda r: r,
    (kernels.FLIPPED_X, 0): lambda r: (r[0], 320 - r[3], r[2], 320 - r[1], r[4]),
    (kernels.FLIPPED_Y, 0): lambda r: (r[0], r[1], 256 - r[4], r[3], 256 - r[2]),
    (kernels.FROM_THOUSANDTHS, 0): partial(_scaled, across=0.32, down=0.256),
    (kernels.TO_THOUSANDTHS, 0): partial(_scaled, across=1000 / 320, down=1000 / 256),
    (kernels.ENDS_FOR_SIZES, 0): lambda r: (r[0], r[1], r[2], r[1] + r[3], r[2] + r[4]),
    (kernels.SIZES_FOR_ENDS, 0): lambda r: (
        *r[:3],
        max(r[1], r[3] - r[1]),
        max(r[2], r[4] - r[2]),
    ),
    (kernels.EXCHANGED, 0): lambda r: (r[0], r[2], r[1], r[4], r[3]),
    (kernels.STEPPED, -2): lambda r: (r[0] - 2, *r[1:]),
    (kernels.STEPPED, 1): lambda r: (r[0] + 1, *r[1:]),
    (kernels.REVERSED, 11): lambda r: (11 - r[0], *r[1:]),
}
"""Each slip, and a box before it."""
SLIPS = np.array(list(UNDONE), dtype=np.int64)


def _boxes(rng: np.random.Generator, most: int, labels: list[str]) -> FrameBoxes:
    """On a run of pictures one to `most` boxes of each label."""
    first = int(rng.integers(0, 8))
    found = []
    for label in labels:
        corner, size = rng.uniform(0, 200, 2), rng.uniform(5, 60, 2)
        for frame in range(first, first + int(rng.integers(1, 5))):
            for _ in range(int(rng.integers(1, most + 1))):
                x0, y0 = corner + rng.uniform(0, 6, 2)
                found.append(FrameBox(frame, x0, y0, x0 + size[0], y0 + size[1], label))
    return FrameBoxes.of(found)


def _rows(boxes: FrameBoxes, numbers: dict[str, int]) -> np.ndarray:
    return np.column_stack([boxes.table, [float(numbers[label]) for label in boxes.labels]])


def _before(row: Row, slip: tuple[int, int]) -> Row:
    return UNDONE[slip](row)


@pytest.mark.parametrize("slip", UNDONE)
def test_a_slip_is_undone_as_its_formula_says(slip: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    said = _rows(_boxes(rng, 2, ["a"]), {"a": 7})
    shift = np.array([1.0, 3.5, -2.25, 3.5, -2.25])
    undone = kernels.undone_boxes(said, shift, np.array(slip, dtype=np.int64), np.array(SIZES))
    expected = [_before(tuple(row), slip) for row in (said[:, :5] + shift).tolist()]
    assert undone[:, :5] == pytest.approx(np.array(expected), rel=1e-12)
    assert (undone[:, 5] == 7).all()


@pytest.mark.parametrize("labels", [[""], ["left", "right"]])
@pytest.mark.parametrize("most", [1, 2])
def test_kernels_tell_what_measuring_tells(most: int, labels: list[str]) -> None:
    rng = np.random.default_rng(3)
    item = Item("i", "s", "mr", "p", "t", "boxes", "?", Boxes(()), tags=("approximate",))
    told = dict.fromkeys((kernels.NO, kernels.YES, kernels.UNSURE), 0)
    for number in range(12):
        said = _boxes(rng, most, labels)
        shifts = places._shifts(said.table, SIZES)
        # The truth is one of the places, or near it, so that some places do overlap.
        slip = list(UNDONE)[number % len(UNDONE)]
        moved = (said.table + shifts[int(rng.integers(len(shifts)))]).tolist()
        at = np.array([_before(tuple(row), slip) for row in moved])
        keep = np.flatnonzero(at[:, 0] >= 0).tolist()
        at[:, 1:] += rng.uniform(-4, 4)
        true = FrameBoxes(at[keep], [said.labels[row] for row in keep])
        numbers = {label: place for place, label in enumerate(labels)}
        rows_said, rows_true = (_rows(one, numbers) for one in (said, true))
        for pooled in (False, True):
            verdicts = kernels.where_they_overlap(
                rows_said, rows_true, shifts, SLIPS, np.array(SIZES), 0.25, pooled
            )
            for (way, place), verdict in np.ndenumerate(verdicts):
                rows = kernels.undone_boxes(rows_said, shifts[place], SLIPS[way], np.array(SIZES))
                boxes = list(FrameBoxes(rows[:, :5], [labels[int(row)] for row in rows[:, 5]]))
                told[verdict] += 1
                if verdict == kernels.UNSURE:
                    continue
                measured = bool(boxes) and len(true) > 0
                if measured and pooled:
                    measured = tube_iou(list(true), boxes) >= 0.25
                elif measured:
                    measured = boxes_right(item, list(true), boxes)
                assert measured == (verdict == kernels.YES)
    assert told[kernels.NO] > 1000
    # Only boxes that lie on each other are left to be measured, and only where they may overlap.
    assert (told[kernels.UNSURE] > 20) == (most > 1)
    assert most > 1 or told[kernels.YES] > 20
    assert told[kernels.UNSURE] < told[kernels.NO] / 3


@dataclass(eq=False, frozen=True)
class _Frame:
    plane: None = None


@dataclass(eq=False, frozen=True)
class _Pictures:
    """As much of a layout as tests of slips ask for."""

    sizes: list[tuple[float, float]]
    frames: tuple[_Frame, ...]


def _case(rng: np.random.Generator, pictures: _Pictures, labels: list[str]) -> places.BoxCase:
    """Boxes near a slip of the true ones, or anywhere; some beside what others suggest."""
    tags = ("approximate",) if rng.random() < 0.5 else ()
    item = Item("i", "s", "mr", "p", "t", "boxes", "?", Boxes(()), tags=tags)
    most = 1 if rng.random() < 0.8 else 2
    true = _boxes(rng, most, labels)
    rows = true.table.copy()
    if rng.random() < 0.7:
        rows[:, 0] = np.maximum(0, rows[:, 0] + rng.integers(-2, 3))
        rows[:, 1:] += rng.uniform(-3, 3)
    said = FrameBoxes(rows, true.labels) if rng.random() < 0.8 else _boxes(rng, most, labels)
    near = FrameBoxes(said.table + np.array([0, 2, 2, 2, 2]), said.labels)
    prior = None if rng.random() < 0.3 else list(near if rng.random() < 0.5 else true)
    if prior and rng.random() < 0.5:
        prior.reverse()  # so that its labels are not numbered as those of the answer are
    if rng.random() < 0.1:
        said = FrameBoxes.of([])
    return places.BoxCase(item, true, said, pictures, prior)  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [[""], ["left", "right"]])
def test_many_answers_at_once_are_told_as_each_alone(labels: list[str]) -> None:
    rng = np.random.default_rng(11)
    frames = (_Frame(),) * len(SIZES)
    shown = [
        _Pictures(SIZES, frames),
        _Pictures([(math.inf, math.inf)] * len(SIZES), frames),
        _Pictures([(280.0, 400.0)] * 7, frames[:7]),
    ]
    cases = [_case(rng, shown[int(rng.integers(len(shown)))], labels) for _ in range(150)]
    told = places.box_tests(cases)
    alone = [
        places._measured(case, places._slips_of(case.layout)) if len(case.said) else {}
        for case in cases
    ]
    assert told == alone
    shares = {cause: [one[cause] for one in alone if cause in one] for cause in told[0]}
    # Each of these shows in some and not in others, and has a chance in some.
    for cause in (Cause.OFF_BY_ONE, Cause.OFF_BY_TWO, Cause.PRIOR):
        assert {seen for seen, _ in shares[cause]} == {True, False}
        assert any(0 < share < 1 for _, share in shares[cause])
