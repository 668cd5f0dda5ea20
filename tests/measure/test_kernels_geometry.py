"""Distances, gaps, lengths, diameters, areas,
histograms and sides from kernels, against brute force and ITK."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import SimpleITK as sitk  # noqa: N813
from _kernel_arrays import label_array, stored_as
from scipy import ndimage
from scipy.spatial.distance import cdist

from situs.measure import (
    Midline,
    Regions,
    Spine,
    SymmetryPlane,
    axial_diameter,
    borders,
    boundary_distance_mm,
    contacts,
    gap_mm,
    histograms,
    label_statistics,
    length_3d,
    nearest_boundaries,
    nearest_faces,
    pair_symmetry,
    right_shares,
    tilted_axes,
)
from situs.space import AXES, Affine, Axis, Grid, IndexPoints
from situs.volumes import LabelMap, Structure

pytestmark = pytest.mark.sampled

CUBE = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
DIAMOND = np.concatenate([np.eye(3), -np.eye(3)]) / 2.0


def rotation(rng: np.random.Generator) -> np.ndarray:
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.sign(np.diag(r))


def affine_of(seed: int) -> Affine:
    """Straight, oblique, nearly square (as float32 leaves it) or sheared, in turn."""
    rng = np.random.default_rng(seed)
    matrix = np.eye(4)
    matrix[:3, :3] = np.diag(rng.uniform(0.5, 3.0, 3))
    matrix[:3, 3] = rng.uniform(-200, 200, 3)
    if seed % 4:
        matrix[:3, :3] = rotation(rng) @ matrix[:3, :3]
    if seed % 4 == 2:
        matrix = matrix.astype(np.float32).astype(np.float64)
    if seed % 4 == 3:
        matrix[:3, :3] = matrix[:3, :3] @ (np.eye(3) + np.triu(rng.uniform(-0.3, 0.3, (3, 3)), 1))
    return Affine(matrix)


def regions_of(*layers: np.ndarray, affine: Affine | None = None) -> Regions:
    structures = [
        Structure(int(value), f"s{layer}_{int(value)}", layer, int(value))
        for layer, array in enumerate(layers)
        for value in np.unique(array[array > 0])
    ]
    grid = Grid(layers[0].shape, affine or Affine(np.diag([0.7, 1.1, 2.5, 1.0])))
    return Regions(LabelMap(grid, tuple(a.astype(np.uint8) for a in layers), tuple(structures)))


def boundary(mask: np.ndarray) -> np.ndarray:
    return np.argwhere(mask & ~ndimage.binary_erosion(np.pad(mask, 1))[1:-1, 1:-1, 1:-1]).astype(
        np.float64
    )


def world(affine: Affine, points: np.ndarray) -> np.ndarray:
    return np.asarray(affine.to_world(IndexPoints(points)))


@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize("seed", range(80))
def test_distances_and_gaps_against_brute_force(seed):
    """All pairs of five labels of a layer and of a second layer that overlaps it:
    thousands of pairs in all."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 14, 3))
    kind = ("blobs", "sparse", "noise", "blobs")[seed % 4 if seed % 5 else 1]
    arrays = [label_array(seed + 100 * n, shape, kind, (1, 2, 3, 4, 5)) for n in range(2)]
    affine = affine_of(seed // 2)
    regions = regions_of(*(stored_as(a, seed % 48) for a in arrays), affine=affine)
    everything = list(regions)
    centres = nearest_boundaries(among=everything)
    faces = nearest_faces(among=everything)
    pairs = list(itertools.combinations(everything, 2))
    assert len(centres) == len(faces) == len(pairs)
    for (a, b), centre, face in zip(pairs, centres, faces):
        masks = [arrays[r.structure.layer] == r.structure.value for r in (a, b)]
        first, second = (boundary(mask) for mask in masks)
        expected = cdist(world(affine, first), world(affine, second)).min()
        assert centre.distance_mm == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert boundary_distance_mm(a, b) == centre.distance_mm
        assert np.linalg.norm(np.subtract(centre.a_mm, centre.b_mm)) == pytest.approx(
            expected, rel=1e-9, abs=1e-9
        )
        assert masks[0][centre.a_voxel]
        assert masks[1][centre.b_voxel]
        corners = [np.unique((p[:, None] + CUBE).reshape(-1, 3), axis=0) for p in (first, second)]
        gap = cdist(*(world(affine, c) for c in corners)).min()
        assert face.distance_mm == pytest.approx(gap, rel=1e-9, abs=1e-9)
        assert gap_mm(a, b) == face.distance_mm
        assert np.linalg.norm(np.subtract(face.a_mm, face.b_mm)) == pytest.approx(
            gap, rel=1e-9, abs=1e-9
        )


@pytest.mark.parametrize("seed", range(40))
def test_length_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 12, 3))
    array = label_array(seed, shape, ("blobs", "sparse", "noise")[seed % 3], (1,))
    affine = affine_of(seed)
    found = length_3d(regions_of(stored_as(array, seed), affine=affine)["s0_1"])
    points = world(affine, (np.argwhere(array == 1)[:, None] + DIAMOND).reshape(-1, 3))
    assert found.length_mm == pytest.approx(cdist(points, points).max(), rel=1e-9)
    assert np.linalg.norm(np.subtract(*found.ends_mm)) == pytest.approx(found.length_mm, rel=1e-9)
    for end in found.ends_mm:
        assert np.linalg.norm(points - np.array(end), axis=1).min() < 1e-6


def test_length_of_a_ball_and_a_voxel():
    grid = np.ogrid[:41, :41, :41]
    ball = sum((g - 20) ** 2 for g in grid) <= 18.3**2
    assert length_3d(regions_of(ball, affine=Affine(np.eye(4)))["s0_1"]).length_mm == pytest.approx(
        36.6, abs=1.0
    )
    one = np.zeros((3, 3, 3), dtype=np.uint8)
    one[1, 1, 1] = 1
    assert (
        length_3d(regions_of(one, affine=Affine(np.diag([1.0, 2.0, 3.0, 1.0])))["s0_1"]).length_mm
        == 3.0
    )


def diameter_by_brute_force(array: np.ndarray, affine: Affine, axis: int) -> float:
    others = [a for a in range(3) if a != axis]
    best = 0.0
    for index in range(array.shape[axis]):
        parts, count = ndimage.label(array.take(index, axis=axis), structure=np.ones((3, 3)))
        for part in range(1, count + 1):
            pixels = np.argwhere(parts == part)
            points = np.full((len(pixels), 3), float(index))
            points[:, others] = pixels
            moves = np.concatenate(
                [DIAMOND[[others[0], others[1]]], DIAMOND[[3 + others[0], 3 + others[1]]]]
            )
            mm = world(affine, (points[:, None] + moves).reshape(-1, 3))
            best = max(best, cdist(mm, mm).max())
    return best


@pytest.mark.parametrize("seed", range(60))
def test_axial_diameter_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 13, 3))
    array = label_array(seed, shape, ("blobs", "sparse", "noise", "full")[seed % 4], (1,))
    affine = affine_of(seed // 2)
    found = axial_diameter(regions_of(stored_as(array, seed % 48), affine=affine)["s0_1"])
    assert affine.directions[found.slice_axis].axis is Axis.SUPERIOR_INFERIOR
    expected = diameter_by_brute_force(array, affine, found.slice_axis)
    assert found.length_mm == pytest.approx(expected, rel=1e-9)
    long, across = (np.subtract(*ends) for ends in (found.ends_mm, found.perpendicular_ends_mm))
    assert np.linalg.norm(long) == pytest.approx(found.length_mm, rel=1e-9)
    assert np.linalg.norm(across) == pytest.approx(found.perpendicular_mm, rel=1e-6, abs=1e-9)
    assert abs(long @ across) <= 1e-6 * found.length_mm**2
    assert found.perpendicular_mm <= found.length_mm * (1 + 1e-9)
    for end in (*found.ends_mm, *found.perpendicular_ends_mm):
        at = np.asarray(affine.to_index(np.array([end])))[0]
        assert at[found.slice_axis] == pytest.approx(found.slice_index, abs=1e-6)


def test_diameters_of_an_ellipse_and_a_rectangle():
    """An ellipse of half axes 30 and 12 mm at 37°;
    20 × 8 pixels of 2 mm, between the middles of pixel edges."""
    grid = np.indices((101, 101, 3)).astype(float)
    x, y = grid[0] - 50, grid[1] - 50
    turn = np.radians(37.0)
    u, v = x * np.cos(turn) + y * np.sin(turn), -x * np.sin(turn) + y * np.cos(turn)
    found = axial_diameter(
        regions_of((u / 30) ** 2 + (v / 12) ** 2 <= 1, affine=Affine(np.eye(4)))["s0_1"]
    )
    assert found.length_mm == pytest.approx(60.0, abs=1.0)
    assert found.perpendicular_mm == pytest.approx(24.0, abs=1.5)
    block = np.zeros((30, 30, 2), dtype=np.uint8)
    block[3:23, 4:12, 1] = 1
    found = axial_diameter(regions_of(block, affine=Affine(np.diag([2.0, 2.0, 5.0, 1.0])))["s0_1"])
    assert found.slice_index == 1
    assert found.length_mm == pytest.approx(2.0 * np.hypot(20.0, 7.0))


def test_two_parts_on_a_slice_are_measured_apart():
    array = np.zeros((40, 6, 3), dtype=np.uint8)
    array[0:4, 2, 1] = array[30:40, 2, 1] = 1
    found = axial_diameter(regions_of(array, affine=Affine(np.eye(4)))["s0_1"])
    assert found.length_mm == pytest.approx(10.0)
    assert found.perpendicular_mm == pytest.approx(1.0)


def test_a_later_slice_may_hold_the_longest_whichever_way_it_runs():
    """A part 8 mm along one axis on the first slice, 20 mm along the other on the last."""
    for axes in ((0, 1), (1, 0)):
        array = np.zeros((24, 24, 3), dtype=np.uint8)
        array[0:8, 2, 0] = array[2, 2:4, 1] = array[4, 2:22, 2] = 1
        turned = np.ascontiguousarray(array.transpose(*axes, 2))
        found = axial_diameter(regions_of(turned, affine=Affine(np.eye(4)))["s0_1"])
        assert found.length_mm == pytest.approx(20.0)
        assert found.perpendicular_mm == pytest.approx(1.0)


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (1.0, 1.0, 2.5)])
@pytest.mark.parametrize("radius", [8.0, 15.0, 25.0])
def test_surface_of_balls(radius, spacing):
    shape = [int(2 * radius / s) + 5 for s in spacing]
    grid = np.ogrid[tuple(slice(n) for n in shape)]
    centre = [n / 2 - 0.37 for n in shape]
    ball = sum(((g - c) * s) ** 2 for g, c, s in zip(grid, centre, spacing)) <= radius**2
    region = regions_of(ball, affine=Affine(np.diag([*spacing, 1.0])))["s0_1"]
    assert region.surface_area_mm2 == pytest.approx(4 * np.pi * radius**2, rel=0.025)


@pytest.mark.parametrize("seed", range(6))
def test_surface_of_turned_boxes(seed):
    half = np.array([20.0, 15.0, 10.0])
    turn = np.eye(3) if seed == 0 else rotation(np.random.default_rng(seed))
    points = (np.indices((60, 60, 60)).reshape(3, -1) - 29.6).T @ turn
    box = (np.abs(points) <= half).all(axis=1).reshape(60, 60, 60)
    region = regions_of(box, affine=Affine(np.eye(4)))["s0_1"]
    expected = 8 * (half[0] * half[1] + half[1] * half[2] + half[0] * half[2])
    # Faces along the voxel axes: each direction's cosine weighed by its part of the sphere gives
    # 0.927 of their area.
    bias = 0.927 if seed == 0 else 1.0
    assert region.surface_area_mm2 == pytest.approx(bias * expected, rel=0.04)


@pytest.mark.parametrize("seed", range(12))
def test_histograms_and_right_shares_against_every_voxel(seed):
    array = label_array(seed, (23, 17, 19), ("blobs", "noise")[seed % 2], (1, 2, 3))
    affine = affine_of(seed)
    regions = regions_of(stored_as(array, seed * 5 % 48), affine=affine)
    rng = np.random.default_rng(seed)
    midline = Midline([rng.uniform(-100, 100, 3) for _ in range(1 + seed % 4)], "spine")
    for region in regions:
        points = np.argwhere(array == region.structure.value).astype(np.float64)
        for axis in AXES:
            for direction, found in zip(tilted_axes(axis, 10.0), histograms(region, axis, 10.0)):
                at = world(affine, points) @ direction
                low = np.floor(at).astype(int)
                expected = np.zeros(int(low.max() - low.min()) + 2)
                np.add.at(expected, low - low.min(), 1.0 - (at - low))
                np.add.at(expected, low - low.min() + 1, at - low)
                whole = np.zeros(expected.size + 4)
                shift = found.start - int(low.min()) + 2
                whole[shift : shift + found.share.size] = found.share
                np.testing.assert_allclose(
                    whole[2:-2], expected / len(points), rtol=1e-9, atol=1e-12
                )
        mm = world(affine, points)
        offset = mm[:, :2] - midline.at(mm[:, 2])
        width = 2.0 * affine.half_voxel_mm[0]
        shares = [
            np.clip((offset @ [np.cos(a), np.sin(a)]) / width + 0.5, 0, 1).mean()
            for a in np.radians([0, -10, 10])
        ]
        expected = (shares[0], min(shares), max(shares))
        np.testing.assert_allclose(
            right_shares(region, midline, 10.0), expected, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("seed", range(8))
def test_principal_axes_against_simpleitk(seed):
    array = label_array(seed, (25, 31, 19), "blobs", (1, 2)).astype(np.uint8)
    spacing = (0.8, 1.3, 2.1)
    regions = regions_of(stored_as(array, seed * 7 % 48), affine=Affine(np.diag([*spacing, 1.0])))
    image = sitk.GetImageFromArray(array.transpose(2, 1, 0))
    image.SetSpacing(spacing)
    shape = sitk.LabelShapeStatisticsImageFilter()
    shape.Execute(image)
    for region in regions:
        value = region.structure.value
        axes = np.array(shape.GetPrincipalAxes(value)).reshape(3, 3)
        moments = axes.T @ np.diag(shape.GetPrincipalMoments(value)) @ axes
        # ITK takes a voxel for a point, we for a cube, whose own variance is its width squared /
        # 12.
        np.testing.assert_allclose(
            region.covariance_mm2, moments + np.diag(np.square(spacing)) / 12, atol=1e-9
        )
        found = region.principal_axes
        turned = np.array(found.directions)
        again = turned.T @ np.diag(np.square(found.deviations_mm)) @ turned
        np.testing.assert_allclose(again, region.covariance_mm2, atol=1e-9)
        assert list(found.deviations_mm) == sorted(found.deviations_mm, reverse=True)


def test_principal_axes_of_a_box():
    box = np.zeros((30, 30, 30), dtype=np.uint8)
    box[2:26, 5:17, 8:14] = 1
    axes = regions_of(box, affine=Affine(np.eye(4)))["s0_1"].principal_axes
    np.testing.assert_allclose(np.square(axes.deviations_mm) * 12, [24.0**2, 12.0**2, 6.0**2])


def test_far_off_labels_lose_no_digits():
    """Sums of products of thousands are whole numbers:
    the variance of one row at the end of a long axis is exact."""
    array = np.zeros((1, 3000, 1), dtype=np.uint8)
    array[0, 2900:3000, 0] = 1
    region = regions_of(array, affine=Affine(np.eye(4)))["s0_1"]
    assert region.covariance_mm2[1, 1] == pytest.approx((100.0**2 - 1) / 12 + 1 / 12, rel=1e-12)
    assert label_statistics(array).sums[0, 1] == sum(range(2900, 3000))


@pytest.mark.parametrize("seed", range(10))
def test_borders_against_brute_force(seed):
    layers = [label_array(seed + 50 * n, (7, 6, 8), "blobs", (1, 2, 3)) for n in range(2)]
    regions = regions_of(*layers)
    areas = regions.grid.affine.face_areas_mm2
    padded = [np.pad(layer, 1) for layer in layers]
    for region in regions:
        mask = padded[region.structure.layer] == region.structure.value
        expected: dict[str, float] = {}
        for point in np.argwhere(mask):
            for axis, sign in itertools.product(range(3), (-1, 1)):
                there = tuple(point + sign * np.eye(3, dtype=int)[axis])
                for number, layer in enumerate(padded):
                    if not mask[there] and layer[there]:
                        name = f"s{number}_{layer[there]}"
                        expected[name] = (
                            expected.get(name, 0.0) + areas[axis] / region.face_area_mm2
                        )
        assert borders(regions, region.name) == pytest.approx(expected)
        for other, share in expected.items():
            if regions[other].layer is region.layer:
                area = contacts(regions.labels).area_mm2(region.name, other)
                assert share * region.face_area_mm2 == pytest.approx(area)


def test_levels_along_a_spine():
    """L1 to L5 along a straight line that leans forward;
    L3 is missing, so a step of two is counted there."""
    step, first = np.array([0.0, 2.0, -30.0]), np.array([5.0, 2.0, -30.0])
    spine = Spine({float(n): np.array([first + n * step]) for n in (0, 1, 3, 4)})
    up = np.array([0.0, 0.0, 1.0])
    aside = np.array([40.0, 30.0, 2.0])  # at right angles to the step
    for level in (-0.75, 0.0, 0.3, 1.5, 2.5, 3.9, 4.0, 4.4):
        point = first + level * step + aside
        assert spine.along_curve(point[None]) == pytest.approx([level])
        assert spine.at_height(float(point[2]), up) == pytest.approx(level - aside[2] / 30.0)
        assert spine.holds(level) is (level >= -0.5)
    assert spine.step_mm(2.0) == pytest.approx(np.linalg.norm(step))
    assert spine.body_on_slice(-30.0 - 90.0, 0.5, up) == 3.0
    assert spine.body_on_slice(-30.0 - 45.0, 0.5, up) is None
    assert spine.at_height(0.0, -up) is None


def test_symmetry_plane_and_pairs():
    array = np.zeros((41, 9, 9), dtype=np.uint8)
    array[4:8, 2:6, 2:6] = 1
    array[33:37, 2:6, 2:6] = 2
    regions = regions_of(array, affine=Affine(np.eye(4)))
    left, right = regions["s0_1"], regions["s0_2"]
    plane = SymmetryPlane([(right.centroid_mm, left.centroid_mm)])
    assert plane.tilt_degrees == pytest.approx(0.0)
    assert plane.offset_mm(right.centroid_mm) == pytest.approx(14.5)
    found = pair_symmetry(right, left, plane)
    assert (found.volume_ratio, found.volume_asymmetry) == (1.0, 0.0)
    assert found.mirrored_distance_mm == pytest.approx(0.0, abs=1e-9)
    spine = Midline([np.array([18.0, 0.0, z]) for z in (0.0, 10.0)], "spine")
    shifted = pair_symmetry(right, left, spine)
    assert shifted.offset_mm == pytest.approx(2.0)
    assert shifted.mirrored_distance_mm == pytest.approx(4.0)


def test_layers_in_different_memory_orders_are_compared():
    one, two = (
        label_array(1, (9, 8, 7), "blobs", (1, 2)),
        label_array(2, (9, 8, 7), "blobs", (3, 4)),
    )
    same = regions_of(one, two)
    mixed = Regions(
        LabelMap(
            same.grid,
            (np.asfortranarray(one.astype(np.uint8)), np.ascontiguousarray(two.astype(np.uint16))),
            same.labels.structures,
        )
    )
    assert contacts(mixed.labels).pairs == contacts(same.labels).pairs
    for a, b in itertools.combinations(same.structures, 2):
        assert contacts(mixed.labels).shared_voxels(a, b) == contacts(same.labels).shared_voxels(
            a, b
        )
        assert gap_mm(mixed[a], mixed[b]) == pytest.approx(gap_mm(same[a], same[b]))
