"""Numbers read off a structure's voxels, against formulas of solid bodies and loops over voxels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from _random_labels import random_affine

from situs.measure import Region, Regions, eroded_contact_mm2
from situs.measure.trees import gap_mode, is_square
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure


def regions_of(layers: list[np.ndarray], affine: Affine) -> list[Region]:
    structures = tuple(Structure(n + 1, f"s{n}", n, 1) for n in range(len(layers)))
    arrays = tuple(layer.astype(np.uint8) for layer in layers)
    return list(Regions(LabelMap(Grid(layers[0].shape, affine), arrays, structures)))


def test_principal_axes_of_a_solid_box() -> None:
    """A box has variance side² / 12 along each side; the ellipsoid with these moments has full axes
    of twice √5 deviations."""
    mask = np.zeros((30, 30, 30), dtype=bool)
    mask[3:13, 4:24, 5:9] = True
    affine = Affine(np.array([[0, -1.5, 0, 9], [2.0, 0, 0, 8], [0, 0, 3.0, 7], [0, 0, 0, 1]]))
    axes = regions_of([mask], affine)[0].principal_axes
    deviations = np.array([20 * 1.5, 10 * 2.0, 4 * 3.0]) / np.sqrt(12.0)
    assert axes.deviations_mm == pytest.approx(tuple(deviations))
    assert axes.lengths_mm == pytest.approx(tuple(2 * np.sqrt(5.0) * deviations))
    np.testing.assert_allclose(axes.directions, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_moments_and_volume_under_any_affine(seed: int) -> None:
    """The covariance of voxel centres, and that of a cell of the lattice about its own."""
    rng = np.random.default_rng(seed)
    mask = np.zeros((14, 13, 12), dtype=bool)
    mask[5:11, 4:10, 6:11] = rng.random((6, 6, 5)) < 0.4
    affine = random_affine(rng, oblique=True)
    (region,) = regions_of([mask], affine)
    points = np.argwhere(mask) @ affine.linear.T + affine.matrix[:3, 3]
    expected = np.cov(points.T, bias=True) + affine.linear @ affine.linear.T / 12.0
    np.testing.assert_allclose(region.covariance_mm2, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(region.centroid_mm, points.mean(axis=0))
    cell = abs(np.linalg.det(affine.linear))
    assert region.volume_ml == pytest.approx(mask.sum() * cell / 1000.0)
    faces = sum(np.count_nonzero(np.diff(np.pad(mask, 1), axis=axis)) for axis in range(3))
    assert region.half_voxel_ml == pytest.approx(faces / 2 * cell / 1000.0)
    assert (region.crop() == mask[tuple(slice(a, b) for a, b in zip(*box_of(mask)))]).all()
    assert (region.box_index.lo, region.box_index.hi) == box_of(mask)
    for axis in range(3):
        assert region.slice_span(axis) == (box_of(mask)[0][axis], box_of(mask)[1][axis])


def box_of(mask: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
    index = np.argwhere(mask)
    return tuple(index.min(axis=0).tolist()), tuple((index.max(axis=0) + 1).tolist())


@pytest.mark.parametrize("order", itertools.permutations(range(3)))
def test_corners_are_ends_of_lines(order: tuple[int, ...]) -> None:
    """All voxels lie within the hull of the corners, which are few: along each direction some
    corner reaches farthest."""
    rng = np.random.default_rng(7)
    mask = (rng.random((8, 9, 10)) < 0.5).transpose(order)
    affine = random_affine(rng, oblique=True)
    (region,) = regions_of([mask], affine)
    everything = np.argwhere(mask) @ affine.linear.T + affine.matrix[:3, 3]
    corners = np.asarray(region.corners_mm)
    places = {tuple(place) for place in everything.round(6)}
    assert {tuple(place) for place in corners.round(6)} <= places
    assert len(corners) < len(everything)
    directions = rng.normal(size=(3, 60))
    np.testing.assert_allclose(
        (corners @ directions).max(axis=0), (everything @ directions).max(axis=0)
    )


def eroded(mask: np.ndarray) -> np.ndarray:
    """Voxels of which all six neighbours belong to the structure; beyond the scan it goes on."""
    wide = np.pad(mask, 1, mode="edge")
    inner = mask.copy()
    for axis in range(3):
        for step in (1, -1):
            inner &= np.roll(wide, step, axis=axis)[1:-1, 1:-1, 1:-1]
    return inner


def faces_mm2(a: np.ndarray, b: np.ndarray, areas: tuple[float, ...]) -> float:
    total = 0.0
    for axis, area in enumerate(areas):
        first, second = (np.moveaxis(one, axis, 0) for one in (a, b))
        total += area * float((first[:-1] & second[1:]).sum() + (second[:-1] & first[1:]).sum())
    return total


@pytest.mark.parametrize("seed", range(6))
def test_contact_that_is_left_when_one_wears_off(seed: int) -> None:
    """Two blocks that overlap by a few layers, or only abut, or lie apart: the lesser of both
    ways."""
    rng = np.random.default_rng(seed)
    one, two = np.zeros((2, 16, 14, 12), dtype=bool)
    one[1:9, 2:11, 1:10] = True
    first = 9 - seed // 2
    two[first:15, 3:12, 2:11] = rng.random((15 - first, 9, 9)) < 0.95
    affine = Affine(np.diag([1.5, 0.8, 2.0, 1.0]))
    areas = affine.face_areas_mm2
    expected = min(faces_mm2(eroded(one), two, areas), faces_mm2(one, eroded(two), areas))
    a, b = regions_of([one, two], affine)
    assert eroded_contact_mm2(a, b) == pytest.approx(expected)
    assert eroded_contact_mm2(b, a) == pytest.approx(expected)
    assert (expected > 0) is (seed > 1)


@pytest.mark.parametrize("axis", range(3))
def test_structures_that_lie_apart_share_no_face(axis: int) -> None:
    one, two = np.zeros((2, 12, 12, 12), dtype=bool)
    one[1:4, 1:4, 1:4] = True
    lo, hi = [1, 1, 1], [4, 4, 4]
    lo[axis], hi[axis] = 8, 11
    two[tuple(slice(a, b) for a, b in zip(lo, hi))] = True
    a, b = regions_of([one, two], Affine(np.eye(4)))
    assert eroded_contact_mm2(a, b) == 0.0


def test_axes_at_right_angles_but_for_rounding() -> None:
    """A cosine of a millionth is too much, whatever the voxels' size."""
    for cosine, square in ((0.9e-6, True), (1.1e-6, False)):
        matrix = np.diag([2.0, 3.0, 0.5, 1.0])
        matrix[0, 1] = 3.0 * cosine
        assert is_square(Affine(matrix)) is square
        assert gap_mode(Affine(matrix)) == (1 if square else 2)
