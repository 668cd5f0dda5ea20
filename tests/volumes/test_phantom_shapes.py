"""Solids in closed form, their masks, and their distances,
against formulas and an optimiser as referee."""

import math

import msgspec
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation as Turn

from situs.errors import SitusError
from situs.space import Affine, Grid
from situs.volumes.phantoms import (
    Capsule,
    Cuboid,
    Cylinder,
    Ellipsoid,
    Shape,
    Sphere,
    rasterize,
    surface_distance_mm,
)

SHAPES = {
    "ellipsoid": (Ellipsoid((0.0, 0.0, 0.0), (22.0, 13.0, 9.0)), 4 / 3 * math.pi * 22 * 13 * 9),
    "sphere": (Sphere((0.0, 0.0, 0.0), 14.0), 4 / 3 * math.pi * 14**3),
    "capsule": (
        Capsule((-16.0, 0.0, 0.0), (16.0, 0.0, 0.0), 9.0),
        math.pi * 81 * 32 + 4 / 3 * math.pi * 729,
    ),
    "cuboid": (Cuboid((0.0, 0.0, 0.0), (20.0, 12.0, 9.0)), 40.0 * 24.0 * 18.0),
    "cylinder": (Cylinder((0.0, 0.0, 0.0), (17.0, 11.0), 15.0), math.pi * 17 * 11 * 30),
}


def turned(seed: int) -> np.ndarray:
    return Turn.random(random_state=seed).as_matrix()


def oblique_grid(spacing_mm: float, seed: int, handed: int = 1) -> Grid:
    """An oblique grid of anisotropic voxels that holds every shape above,
    centred off the origin."""
    axes = turned(seed) * np.array([1.0, 1.0, handed])
    spacing = spacing_mm * np.array([0.8, 1.0, 1.25])
    size = np.ceil(74.0 / spacing).astype(int)
    shift = np.random.default_rng(seed).uniform(-0.5, 0.5, 3)
    matrix = np.eye(4)
    matrix[:3, :3] = axes * spacing
    matrix[:3, 3] = -matrix[:3, :3] @ ((size - 1) / 2.0 + shift)
    return Grid((int(size[0]), int(size[1]), int(size[2])), Affine(matrix))


@pytest.mark.parametrize("kind", SHAPES)
def test_volume_is_that_of_the_formula(kind: str) -> None:
    shape, volume = SHAPES[kind]
    assert shape.volume_mm3 == pytest.approx(volume, rel=1e-12)
    assert shape.transformed(turned(1), (5.0, 6.0, 7.0)).volume_mm3 == pytest.approx(
        volume, rel=1e-12
    )


@pytest.mark.parametrize("kind", SHAPES)
def test_mask_converges_to_the_closed_form(kind: str) -> None:
    """Volume, centroid and box errors,
    over random poses and sub-voxel shifts, shrink with the voxel."""
    volume_errors, centroid_errors = [], []
    for spacing in (4.0, 2.0, 1.0):
        volumes, centroids = [], []
        for seed in range(6):
            shape = SHAPES[kind][0].transformed(
                turned(seed), np.random.default_rng(seed).uniform(-2, 2, 3)
            )
            grid = oblique_grid(spacing, seed + 100, handed=-1 if seed % 2 else 1)
            centres = grid.affine.to_world(np.argwhere(rasterize(shape, grid)).astype(float))
            volumes.append(len(centres) * grid.affine.voxel_volume_mm3 / shape.volume_mm3 - 1.0)
            centroids.append(np.linalg.norm(centres.mean(axis=0) - shape.centroid_mm))
            lo, hi = (np.array(end) for end in shape.box_mm)
            assert (centres.min(axis=0) >= lo).all()
            assert (centres.max(axis=0) <= hi).all()
            # A corner of a turned block is thin: the outermost centre may lie a few voxels inside
            # it.
            assert (
                np.r_[centres.min(axis=0) - lo, hi - centres.max(axis=0)] <= 3.0 * 1.25 * spacing
            ).all()
        volume_errors.append(np.sqrt(np.mean(np.square(volumes))))
        centroid_errors.append(np.mean(centroids))
    assert volume_errors[2] < 0.5 * volume_errors[0]
    assert volume_errors[2] < 0.01
    assert centroid_errors[2] < 0.5 * centroid_errors[0]
    assert centroid_errors[2] < 0.1


@pytest.mark.parametrize("kind", SHAPES)
def test_rasterize_is_contains_at_voxel_centres(kind: str) -> None:
    shape = SHAPES[kind][0].transformed(turned(3), (9.0, -4.0, 20.0))  # partly outside the array
    grid = oblique_grid(2.5, 11)
    indices = np.indices(grid.shape).reshape(3, -1).T.astype(float)
    expected = shape.contains(grid.affine.to_world(indices)).reshape(grid.shape)
    assert expected.any()
    assert np.array_equal(rasterize(shape, grid), expected)


def test_a_shape_outside_the_array_has_an_empty_mask() -> None:
    assert not rasterize(Sphere((500.0, 0.0, 0.0), 10.0), oblique_grid(4.0, 1)).any()


def test_rotated_ellipsoid_box_formula() -> None:
    rotation, semi = turned(5), np.array([30.0, 20.0, 10.0])
    lo, hi = (
        Ellipsoid((1.0, 2.0, 3.0), (30.0, 20.0, 10.0)).transformed(rotation, (0.0, 0.0, 0.0)).box_mm
    )
    half = np.sqrt(((rotation * semi) ** 2).sum(axis=1))
    assert (np.array(hi) - np.array(lo)) / 2 == pytest.approx(half)


@pytest.mark.parametrize("kind", SHAPES)
def test_transformed_moves_the_inside_along(kind: str) -> None:
    shape = SHAPES[kind][0]
    points = np.random.default_rng(4).uniform(-25, 25, (4000, 3))
    rotation, shift = turned(8), np.array([3.0, -90.0, 14.0])
    moved = shape.transformed(rotation, shift).contains(points @ rotation.T + shift)
    assert np.array_equal(moved, shape.contains(points))


@pytest.mark.parametrize("kind", SHAPES)
def test_json_round_trip(kind: str) -> None:
    shape = SHAPES[kind][0].transformed(turned(2), (1.0, 2.0, 3.0))
    assert msgspec.json.decode(msgspec.json.encode(shape), type=Shape) == shape


def nearest_by_optimiser(a: Capsule, b: Capsule) -> float:
    a0, a1, b0, b1 = (np.array(p) for p in (a.start_mm, a.end_mm, b.start_mm, b.end_mm))

    def squared(t: np.ndarray) -> float:
        return float((((a0 + t[0] * (a1 - a0)) - (b0 + t[1] * (b1 - b0))) ** 2).sum())

    starts = [(0.0, 0.0), (1.0, 1.0), (0.5, 0.5), (0.0, 1.0), (1.0, 0.0)]
    best = min(minimize(squared, s, bounds=[(0, 1), (0, 1)], tol=1e-14).fun for s in starts)
    return max(0.0, math.sqrt(best) - a.radius_mm - b.radius_mm)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_capsule_distance_against_an_optimiser(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (
        Capsule(tuple(rng.uniform(-40, 40, 3)), tuple(rng.uniform(-40, 40, 3)), 2.0)
        for _ in range(2)
    )
    assert surface_distance_mm(a, b) == pytest.approx(nearest_by_optimiser(a, b), abs=1e-4)


def test_distances_by_formula() -> None:
    ball = Sphere((0.0, 0.0, 0.0), 5.0)
    assert surface_distance_mm(ball, Sphere((3.0, 4.0, 12.0), 6.0)) == pytest.approx(2.0)
    assert surface_distance_mm(ball, Sphere((3.0, 0.0, 0.0), 6.0)) == 0.0
    tube = Capsule((20.0, 0.0, -50.0), (20.0, 0.0, 50.0), 8.0)
    assert surface_distance_mm(ball, tube) == pytest.approx(7.0)
    assert surface_distance_mm(
        tube, tube.transformed(np.eye(3), (0.0, 30.0, 10.0))
    ) == pytest.approx(14.0)
    block = Cuboid((0.0, 0.0, 0.0), (10.0, 10.0, 10.0))
    corner = Sphere((13.0, 14.0, 22.0), 5.0)
    assert surface_distance_mm(corner, block) == pytest.approx(8.0)
    assert surface_distance_mm(block, corner) == pytest.approx(8.0)
    assert surface_distance_mm(ball, Ellipsoid((50.0, 0.0, 0.0), (3.0, 2.0, 1.0))) is None


def test_impossible_shapes_are_refused() -> None:
    with pytest.raises(SitusError, match="not positive"):
        Sphere((0.0, 0.0, 0.0), 0.0)
    with pytest.raises(SitusError, match="orthonormal"):
        Cuboid((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)).transformed(2.0 * np.eye(3), (0.0, 0.0, 0.0))
