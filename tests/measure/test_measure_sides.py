"""The midline between and beyond its points, and the share of a structure right of it."""

from __future__ import annotations

import numpy as np
import pytest
from _random_labels import random_labels

from situs.measure import Midline, Regions, right_shares
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


@pytest.mark.parametrize("heights", [(5.0, 5.0), (5.0, 5.0 + 1e-13), (5.0,)])
def test_points_at_one_height_give_an_upright_midline(heights):
    """Rounding must not decide the slope: two points at the same height have none."""
    midline = Midline([np.array([2.0 * n, 1.0, z]) for n, z in enumerate(heights)], "paired organs")
    mean = float(len(heights) - 1)
    np.testing.assert_allclose(midline.at(np.array([-100.0, 300.0])), [[mean, 1.0], [mean, 1.0]])


@pytest.mark.parametrize("seed", range(10))
def test_right_shares_directly(seed):
    """Each voxel counts by the part of its world width that lies right of the midline, at every turn."""
    labels = random_labels(seed)
    rng = np.random.default_rng(seed)
    centre = labels.grid.affine.to_world((np.array(labels.grid.shape)[None] - 1.0) / 2.0)[0]
    points = [centre + np.array([rng.normal(), rng.normal(), height]) for height in (-20.0, 0.0, 25.0)]
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
    """Ten voxels of 2 mm from x = -1 to 19; the midline at x = 4 leaves 15 of 20 mm to the right."""
    array = np.ones((10, 1, 1), dtype=np.uint8)
    grid = Grid((10, 1, 1), Affine(np.diag([2.0, 1.0, 1.0, 1.0])))
    region = Regions(LabelMap(grid, (array,), (Structure(1, "a", 0, 1),)))["a"]
    midline = Midline([np.array([4.0, 0.0, z]) for z in (-50.0, 50.0)], "spine")
    assert right_shares(region, midline, 0.0) == pytest.approx((0.75, 0.75, 0.75))
