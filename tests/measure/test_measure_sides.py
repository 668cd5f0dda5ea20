"""The midline between and beyond its points, and the share of a structure right of it."""

from __future__ import annotations

import numpy as np
import pytest
from _random_labels import random_labels

from situs.errors import SitusError
from situs.measure import Midline, Regions, SymmetryPlane, pair_symmetry, right_shares
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

SPINE = [np.array(p) for p in ((4.0, -60.0, 0.0), (0.0, -62.0, 30.0), (2.0, -64.0, 60.0))]


def test_midline_is_linear_between_its_points():
    midline = Midline(SPINE[::-1], "spine")
    found = midline.at(np.array([0.0, 15.0, 30.0, 50.0, 60.0]))
    np.testing.assert_allclose(found[:, 0], [4.0, 2.0, 0.0, 4.0 / 3.0, 2.0])
    np.testing.assert_allclose(found[:, 1], [-60.0, -61.0, -62.0, -62.0 - 4.0 / 3.0, -64.0])


def test_midline_goes_on_along_a_straight_fit():
    """Least squares over all points: x = 3 - z/30, y = -60 - z/15."""
    z = np.array([-30.0, 120.0])
    found = Midline(SPINE, "spine").at(z)
    np.testing.assert_allclose(found, np.column_stack([3.0 - z / 30.0, -60.0 - z / 15.0]))


@pytest.mark.parametrize("heights", [(5.0, 5.0), (5.0, 5.0 + 1e-13), (0.0, 1e-3), (5.0,)])
def test_points_at_one_height_give_an_upright_midline(heights):
    """Rounding must not decide the slope: two points at the same height have none."""
    midline = Midline([np.array([2.0 * n, 1.0, z]) for n, z in enumerate(heights)], "paired organs")
    mean = float(len(heights) - 1)
    np.testing.assert_allclose(midline.at(np.array([-100.0, 300.0])), [[mean, 1.0], [mean, 1.0]])


def test_points_at_nearly_one_height_do_not_swing_the_midline_away():
    """4 mm apart in height and 12 mm sideways:
    a slope of 3 is held to tan 20°, for 4 mm beyond each end."""
    midline = Midline(
        [np.array([-6.0, -40.0, 100.0]), np.array([6.0, -20.0, 104.0])], "paired organs"
    )
    found = midline.at(np.array([-300.0, 96.0, 98.0, 106.0, 108.0, 900.0]))
    lean = np.tan(np.radians(20.0))
    np.testing.assert_allclose(found[:, 0], lean * np.array([-6.0, -6.0, -4.0, 4.0, 6.0, 6.0]))
    np.testing.assert_allclose(found[:, 1], -30.0 + np.array([-6.0, -6.0, -4.0, 4.0, 6.0, 6.0]))


def test_a_long_spine_is_followed_as_far_as_it_is_high():
    """Leaning by 1 in 10 over 200 mm: 20 mm more at 200 mm above its end, and no more at 1 m."""
    midline = Midline([np.array([z / 10.0, 0.0, z]) for z in (0.0, 100.0, 200.0)], "spine")
    np.testing.assert_allclose(
        midline.at(np.array([300.0, 400.0, 1200.0]))[:, 0], [30.0, 40.0, 40.0]
    )


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(10))
def test_right_shares_directly(seed):
    """Each voxel counts by the part of its world width
    that lies right of the midline, at every turn."""
    labels = random_labels(seed)
    rng = np.random.default_rng(seed)
    centre = labels.grid.affine.to_world((np.array(labels.grid.shape)[None] - 1.0) / 2.0)[0]
    points = [
        centre + np.array([rng.normal(), rng.normal(), height]) for height in (-20.0, 0.0, 25.0)
    ]
    midline = Midline(points, "spine")
    width = np.abs(labels.grid.affine.linear[0]).sum()
    for region in Regions(labels):
        shares = []
        for turn in (0.0, -10.0, 10.0):
            parts = []
            for index in np.argwhere(labels.mask(region.structure)):
                x, y, z = labels.grid.affine.linear @ index + labels.grid.affine.matrix[:3, 3]
                (mx, my), angle = midline.at(np.array([z]))[0], np.radians(turn)
                beyond = (x - mx) * np.cos(angle) + (y - my) * np.sin(angle)
                parts.append(min(1.0, max(0.0, beyond / width + 0.5)))
            shares.append(np.mean(parts))
        expected = (shares[0], min(shares), max(shares))
        assert right_shares(region, midline, 10.0) == pytest.approx(expected, abs=1e-12)


def test_a_block_cut_by_the_midline_counts_by_its_part():
    """Ten voxels of 2 mm from x = -1 to 19;
    the midline at x = 4 leaves 15 of 20 mm to the right."""
    array = np.ones((10, 1, 1), dtype=np.uint8)
    grid = Grid((10, 1, 1), Affine(np.diag([2.0, 1.0, 1.0, 1.0])))
    region = Regions(LabelMap(grid, (array,), (Structure(1, "a", 0, 1),)))["a"]
    midline = Midline([np.array([4.0, 0.0, z]) for z in (-50.0, 50.0)], "spine")
    assert right_shares(region, midline, 0.0) == pytest.approx((0.75, 0.75, 0.75))


def test_a_plane_of_symmetry_that_leans() -> None:
    """Two pairs whose steps lean by 30° up and down: the mean lies level. Their middles are (1, 2,
    3) and (3, 2, 1), so that the plane passes through (2, 2, 2)."""
    lean = np.array([np.cos(np.radians(30.0)), 0.0, np.sin(np.radians(30.0))])
    down = lean * (1.0, 1.0, -1.0)
    first, second = np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])
    level = SymmetryPlane(
        [(first + 5 * lean, first - 5 * lean), (second + 20 * down, second - 20 * down)]
    )
    np.testing.assert_allclose(level.normal, [1.0, 0.0, 0.0], atol=1e-12)
    assert level.tilt_degrees == pytest.approx(0.0, abs=1e-6)
    assert level.offset_mm(np.array([7.0, 9.0, 9.0])) == pytest.approx(5.0)
    np.testing.assert_allclose(level.mirrored(np.array([7.0, 9.0, 8.0])), [-3.0, 9.0, 8.0])
    leaning = SymmetryPlane([(first + 5 * lean, first - 5 * lean)])
    assert leaning.tilt_degrees == pytest.approx(30.0)
    assert leaning.offset_mm(first + 3 * lean) == pytest.approx(3.0)
    np.testing.assert_allclose(leaning.mirrored(first + 3 * lean), first - 3 * lean)
    with pytest.raises(SitusError, match="at least one pair"):
        SymmetryPlane([])


def test_a_pair_is_compared_across_a_midline_that_leans() -> None:
    """Blocks of 2 mL and 0.6 mL, centres at (30, 10, 20) and (-6, 10, 10); x = z / 10 in the
    midline."""
    array = np.zeros((60, 20, 40), dtype=np.uint8)
    array[40:60, 5:15, 15:25], array[9:19, 5:15, 7:13] = 1, 2
    matrix = np.eye(4)
    matrix[:3, 3] = (-19.5, 0.5, 0.5)
    labels = LabelMap(
        Grid(array.shape, Affine(matrix)),
        (array,),
        (Structure(1, "kidney_right", 0, 1), Structure(2, "kidney_left", 0, 2)),
    )
    right, left = (Regions(labels)[name] for name in ("kidney_right", "kidney_left"))
    np.testing.assert_allclose(right.centroid_mm, [30.0, 10.0, 20.0])
    np.testing.assert_allclose(left.centroid_mm, [-6.0, 10.0, 10.0])
    midline = Midline([np.array([z / 10.0, 0.0, z]) for z in (0.0, 40.0)], "spine")
    found = pair_symmetry(right, left, midline)
    assert found.volume_ratio == pytest.approx(2.0 / 0.6)
    assert found.volume_asymmetry == pytest.approx(1.4 / 2.6)
    # At the height of their middle, 15, the midline is at 1.5; that of their middle is 12.
    assert found.offset_mm == pytest.approx(10.5)
    assert found.height_mm == pytest.approx(10.0)
    # At 20 the midline is at 2: the right centre falls on (-26, 10, 20).
    assert found.mirrored_distance_mm == pytest.approx(np.hypot(20.0, 10.0))


def test_a_midline_that_may_lie_aside_widens_the_shares() -> None:
    """Ten voxels of 2 mm from x = -1 to 19; the midline at 4, known to 3 mm: right of 1 lie 18 of
    20 mm, right of 7 lie 12."""
    array = np.ones((10, 1, 1), dtype=np.uint8)
    grid = Grid((10, 1, 1), Affine(np.diag([2.0, 1.0, 1.0, 1.0])))
    region = Regions(LabelMap(grid, (array,), (Structure(1, "a", 0, 1),)))["a"]
    for heights in ((-50.0, 50.0), (-90.0, -50.0)):  # at its height, and below it
        midline = Midline([np.array([4.0, 0.0, z]) for z in heights], "brain", off_mm=3.0)
        assert right_shares(region, midline, 0.0) == pytest.approx((0.75, 0.6, 0.9))


def test_a_midline_moved_aside() -> None:
    """To the patient's right, at its points and beyond them."""
    here, there = (Midline(SPINE, "spine").on_knots(aside) for aside in (0.0, 2.5))
    np.testing.assert_allclose(there[0] - here[0], [[0.0, 2.5, 0.0]] * 3)
    np.testing.assert_allclose(there[1] - here[1], [0.0, 2.5, 0.0, 0.0, 0.0, 0.0])
