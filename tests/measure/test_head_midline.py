"""The middle of a head in a stack of pictures, row by row."""

from __future__ import annotations

import numpy as np
import pytest

from situs.measure import head_midline

WIDE, TALL = 80, 60


def frames_of(rows: list[tuple[int, int, int]], value: float = 1000.0, around: float = 0.0):
    """One frame in which each (row, first, end) is bright."""
    frame = np.full((TALL, WIDE), around)
    for row, first, end in rows:
        frame[row, first:end] = value
    return frame[None]


def slab(first: int, end: int, rows: int = 24, top: int = 10) -> list[tuple[int, int, int]]:
    return [(top + row, first, end) for row in range(rows)]


def test_the_middle_of_a_slab() -> None:
    """From the left edge of pixel 21 to the right edge of pixel 50: 36; all rows agree."""
    assert head_midline(frames_of(slab(21, 51))) == (36.0, 0.0)
    assert head_midline(frames_of(slab(20, 51))) == (35.5, 0.0)
    # The mean taken off: what is around it lies below 0.
    assert head_midline(frames_of(slab(21, 51), 700.0, -300.0)) == (36.0, 0.0)


def test_the_spread_of_the_rows() -> None:
    """Two slabs of 24 rows on two frames, their middles 36 and 40: the median lies between, and
    each row off by 2, which is 1.4826 times as much as a standard deviation."""
    both = np.concatenate([frames_of(slab(21, 51)), frames_of(slab(25, 55))])
    assert head_midline(both) == (38.0, pytest.approx(2 * 1.4826))


def test_the_largest_bright_part_is_the_head() -> None:
    rows = slab(40, 66) + slab(2, 12)
    assert head_midline(frames_of(rows)) == (53.0, 0.0)


@pytest.mark.parametrize(("width", "known"), [(20, True), (19, False)])
def test_rows_under_a_quarter_of_the_width_tell_nothing(width: int, known: bool) -> None:
    found = head_midline(frames_of(slab(30, 30 + width)))
    assert found == ((30 + width / 2, 0.0) if known else None)


@pytest.mark.parametrize(("rows", "known"), [(10, True), (9, False)])
def test_ten_rows_are_enough(rows: int, known: bool) -> None:
    assert (head_midline(frames_of(slab(21, 51, rows))) is not None) is known


@pytest.mark.parametrize(("value", "seen"), [(101.0, True), (100.0, False)])
def test_tissue_is_brighter_than_a_tenth_of_what_is_bright(value: float, seen: bool) -> None:
    """A head of 1000 and beside it a wing of a tenth, which is part of the head if it is brighter."""
    frame = frames_of(slab(40, 60))
    frame[0, 10:34, 20:40] = value
    found = head_midline(frame)
    assert found == ((40.0 if seen else 50.0), 0.0)


@pytest.mark.parametrize("around", [0.0, -300.0])
def test_bright_is_counted_from_what_is_around(around: float) -> None:
    """A tenth of the way from -300 to 700 is -200."""
    for value, seen in ((0.101, True), (0.099, False)):
        frame = frames_of(slab(40, 60), around + 1000.0, around)
        frame[0, 10:34, 20:40] = around + 1000.0 * value
        assert head_midline(frame) == ((40.0 if seen else 50.0), 0.0)


def test_a_picture_without_light_has_no_head() -> None:
    assert head_midline(np.zeros((2, TALL, WIDE))) is None
    assert head_midline(np.full((2, TALL, WIDE), -5.0)) is None
