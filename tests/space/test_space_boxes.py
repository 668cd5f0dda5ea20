"""Boxes: eight corners through any rotation, IoU against counted voxels, and what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situs.errors import SitusError
from situs.space import (
    Affine,
    FrameBox,
    FrameBoxes,
    IndexBox,
    WorldBox,
    covered_area,
    picture_sides,
)

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
@settings(max_examples=80, deadline=None)
def test_a_box_maps_by_its_eight_corners(seed):
    """The hull of every voxel cube of the box, counted one by one;
    two corners would not do for a rotated grid."""
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    matrix = np.eye(4)
    matrix[:3, :3] = rotation * rng.uniform(0.5, 4.0, 3)
    matrix[:3, 3] = rng.uniform(-200, 200, 3)
    affine = Affine(matrix)
    lo = rng.integers(0, 6, 3)
    hi = lo + rng.integers(1, 5, 3)
    box = IndexBox(tuple(map(int, lo)), tuple(map(int, hi)))
    inside = np.array(list(itertools.product(*(range(a, b) for a, b in zip(lo, hi)))))
    assert box.voxels == len(inside)
    cubes = inside[:, None, :] + np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    world = cubes.reshape(-1, 3) @ affine.linear.T + affine.matrix[:3, 3]
    found = box.to_world(affine)
    np.testing.assert_allclose(found.lo_mm, world.min(axis=0), atol=1e-9)
    np.testing.assert_allclose(found.hi_mm, world.max(axis=0), atol=1e-9)


def test_one_voxel_has_the_extent_of_one_voxel():
    found = IndexBox((2, 3, 4), (3, 4, 5)).to_world(Affine(np.diag([2.0, -1.0, 3.0, 1.0])))
    assert (found.lo_mm, found.hi_mm) == ((3.0, -3.5, 10.5), (5.0, -2.5, 13.5))
    assert found.extent_mm == (2.0, 1.0, 3.0)
    assert found.volume_mm3 == 6.0


def whole_box(rng: np.random.Generator, sides: int) -> tuple[np.ndarray, np.ndarray]:
    lo = rng.integers(0, 8, sides)
    return lo, lo + rng.integers(1, 6, sides)


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_iou_is_the_share_of_counted_voxels(seed):
    rng = np.random.default_rng(seed)
    boxes, masks = [], []
    for _ in range(2):
        lo, hi = whole_box(rng, 3)
        mask = np.zeros((14, 14, 14), dtype=bool)
        mask[tuple(slice(a, b) for a, b in zip(lo, hi))] = True
        boxes.append(WorldBox.of(lo * 1.5 - 7.0, hi * 1.5 - 7.0))
        masks.append(mask)
    expected = (masks[0] & masks[1]).sum() / (masks[0] | masks[1]).sum()
    assert boxes[0].iou(boxes[1]) == pytest.approx(expected)
    assert boxes[1].iou(boxes[0]) == pytest.approx(expected)
    assert boxes[0].iou(boxes[0]) == pytest.approx(1.0)


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_frame_iou_is_the_share_of_counted_pixels(seed):
    rng = np.random.default_rng(seed)
    (a_lo, a_hi), (b_lo, b_hi) = whole_box(rng, 2), whole_box(rng, 2)
    masks = np.zeros((2, 14, 14), dtype=bool)
    masks[0, a_lo[1] : a_hi[1], a_lo[0] : a_hi[0]] = True
    masks[1, b_lo[1] : b_hi[1], b_lo[0] : b_hi[0]] = True
    one, two = FrameBox(3, *a_lo, *a_hi), FrameBox(3, *b_lo, *b_hi)
    assert one.area == masks[0].sum()
    assert one.iou(two) == pytest.approx((masks[0] & masks[1]).sum() / (masks[0] | masks[1]).sum())
    assert one.iou(FrameBox(4, *b_lo, *b_hi)) == 0.0


def test_iou_of_touching_and_empty_boxes():
    a, b = WorldBox((0, 0, 0), (1, 1, 1)), WorldBox((1, 0, 0), (2, 1, 1))
    point = WorldBox((0, 0, 0), (0, 0, 0))
    assert a.iou(b) == 0.0
    assert point.iou(point) == 0.0
    assert FrameBox(0, 1, 1, 1, 1).iou(FrameBox(0, 1, 1, 1, 1)) == 0.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: IndexBox((0, 0, 0), (1, 0, 1)),
        lambda: IndexBox((2, 0, 0), (1, 1, 1)),
        lambda: WorldBox((0.0, 0.0, 1.0), (1.0, 1.0, 0.0)),
        lambda: WorldBox((0.0, 0.0, math.nan), (1.0, 1.0, 1.0)),
        lambda: WorldBox((0.0, 0.0, 0.0), (1.0, math.inf, 1.0)),
        lambda: FrameBox(-1, 0, 0, 1, 1),
        lambda: FrameBox(0, 2, 0, 1, 1),
        lambda: FrameBox(0, 0, math.nan, 1, 1),
    ],
)
def test_impossible_boxes_are_refused(make):
    with pytest.raises(SitusError) as caught:
        make()
    assert caught.value.fix


def test_the_area_that_boxes_cover_together_against_pixels() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        corners = rng.integers(0, 20, (int(rng.integers(0, 6)), 2, 2))
        boxes = [FrameBox(0, *map(float, (*c.min(axis=0), *c.max(axis=0)))) for c in corners]
        pixels = np.zeros((20, 20), dtype=bool)
        for found in boxes:
            pixels[int(found.x0) : int(found.x1), int(found.y0) : int(found.y1)] = True
        assert covered_area(boxes) == pixels.sum()


def test_boxes_as_rows_are_the_records_they_were_made_of() -> None:
    records = [FrameBox(3, 0.1, 0.2, 7.5, 8.25, "a"), FrameBox(0, 1.0, 2.0, 3.0, 4.0, "b")]
    rows = FrameBoxes.of(records)
    assert list(rows) == records
    assert rows == records
    assert rows != records[:1]
    assert (rows[1], list(rows[:1]), list(rows.labelled("b"))) == (
        records[1],
        records[:1],
        records[1:],
    )
    assert not rows.has_one_label
    assert rows[:1].has_one_label
    assert FrameBoxes.of(rows) is rows
    assert not FrameBoxes.of([])


def test_each_box_is_told_the_size_of_its_own_picture() -> None:
    small, large = [(10.0, 20.0), (11.0, 21.0)], [(100.0, 200.0)]
    sides, shown = picture_sides(np.array([1.0, 0.0, 2.0, 0.0]), [small, large, small], [1, 1, 2])
    assert sides[shown].tolist() == [[11.0, 21.0], [100.0, 200.0], [10.0, 20.0]]
    assert shown.tolist() == [True, True, False, True]
