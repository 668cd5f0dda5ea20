"""Grids: when two coincide, and the way to patient order."""

from __future__ import annotations

import itertools

import nibabel
import numpy as np
import pytest

from situs.errors import SitusError
from situs.space import Affine, Grid, PixelGrid

SHAPE = (30, 40, 50)
BASE = np.diag([1.0, 2.0, 3.0, 1.0])


def grid(change=0.0, at=(0, 0), shape=SHAPE) -> Grid:
    matrix = BASE.copy()
    matrix[at] += change
    return Grid(shape, Affine(matrix))


def test_same_grid_matches():
    assert grid().matches(grid())
    assert grid() == grid()
    assert not grid().matches(grid(shape=(30, 40, 51)))


@pytest.mark.parametrize(
    ("at", "limit"),
    [((0, 3), 0.1), ((2, 3), 0.3), ((0, 0), 0.1 / 29), ((2, 1), 0.3 / 39), ((1, 2), 0.2 / 49)],
)
def test_no_corner_may_move_by_a_tenth_of_a_voxel(at, limit):
    """Voxels are 1 × 2 × 3 mm;
    a step that is wrong by e moves the last of n voxels by (n - 1) e."""
    assert grid().matches(grid(0.99 * limit, at))
    assert not grid().matches(grid(1.01 * limit, at))
    assert not grid().matches(grid(-1.01 * limit, at))


def test_the_offset_is_the_largest_distance_between_corners():
    assert grid().offset_mm(grid(0.05, (0, 3))) == pytest.approx(0.05)
    assert grid().offset_mm(grid(0.001, (2, 1))) == pytest.approx(0.039)
    both = BASE.copy()
    both[0, 3] += 0.03
    both[1, 2] -= 0.04 / 49
    assert grid().offset_mm(Grid(SHAPE, Affine(both))) == pytest.approx(0.05)


def test_rounding_is_no_offset():
    """Less than a hundredth of a voxel is what a float32 header loses."""
    assert grid().offset_mm(grid(0.009, (0, 3))) == 0.0


def test_a_difference_is_told_in_words():
    assert grid().difference(grid(shape=(30, 40, 51))) == "30 × 40 × 50 against 30 × 40 × 51 voxels"
    assert grid().difference(grid(1.5, (1, 3))) == "1.5 mm apart at a corner"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("signs", list(itertools.product((1.0, -1.0), repeat=3)))
def test_patient_order_is_nibabels_canonical_order(order, signs):
    rng = np.random.default_rng(2)
    array = rng.integers(0, 100, (3, 4, 5)).astype(np.int16)
    matrix = np.eye(4)
    matrix[:3, :3] = (np.eye(3)[:, order] * signs + rng.uniform(-0.15, 0.15, (3, 3))) * (
        1.0,
        2.0,
        3.0,
    )
    matrix[:3, 3] = (10.0, -20.0, 30.0)
    own = Grid(array.shape, Affine(matrix))
    axes, flips = own.to_patient_order()
    turned = array.transpose(axes)[tuple(slice(None, None, -1 if flip else 1) for flip in flips)]
    referee = nibabel.as_closest_canonical(nibabel.Nifti1Image(array, matrix))
    np.testing.assert_array_equal(turned, np.asanyarray(referee.dataobj))
    np.testing.assert_allclose(own.in_patient_order().affine.matrix, referee.affine, atol=1e-12)
    assert own.in_patient_order().shape == referee.shape
    assert own.in_patient_order().affine.codes == "RAS"
    assert own.voxels == array.size


@pytest.mark.parametrize("shape", [(1, 2), (0, 2, 3), (1, 2, 3, 4)])
def test_only_volumes_have_a_grid(shape):
    with pytest.raises(SitusError, match="3D"):
        Grid(shape, Affine(BASE))


def test_pixel_grids_may_not_know_their_size_or_number():
    assert PixelGrid(3).width is None
    assert PixelGrid(0).frames == 0
    for bad in ((-1, 1, 1), (1, 0, 1), (1, 1, 0)):
        with pytest.raises(SitusError):
            PixelGrid(*bad)
