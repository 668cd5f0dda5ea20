"""Law 10, round trip: a picture's map and its inverse return every voxel centre to its mm within
half a voxel, and the order in which a file stores its axes changes no pixel."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from _studies import ORDERS, flipped, reordered_grid

from situs.profiles import PLANES, PatientVolume, Plane, Window
from situs.space import Affine, Direction, Grid

SHAPE = (6, 7, 5)
SIZES = (None, 448, 101, 33)
GREY = Window(0.0, 255.0)
TILTS = {"upright": 0.0, "tilted": 12.0, "steep": 30.0}


def tilted_grid(degrees: float, seed: int = 0, shape: tuple[int, int, int] = SHAPE) -> Grid:
    """Patient order, unequal spacing, turned about a random axis."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.radians(degrees)
    turn = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    matrix = np.eye(4)
    matrix[:3, :3] = turn * np.array([0.9, 1.3, 3.1])
    matrix[:3, 3] = rng.uniform(-200.0, 200.0, 3)
    return Grid(shape, Affine(matrix))


def voxels(shape: tuple[int, int, int] = SHAPE) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, shape).astype(np.int16)


def stored(degrees: float, order) -> tuple[PatientVolume, np.ndarray, Grid]:
    grid = tilted_grid(degrees)
    other = reordered_grid(grid, order)
    array = flipped(voxels(), order)
    return PatientVolume(array, other, "ct"), array, other


def nearest_slice(volume: PatientVolume, plane: Plane, world: np.ndarray) -> int:
    """The slice of a plane on which a voxel's centre lies."""
    return round(float(volume.grid.affine.to_index(world[None])[0, plane.through.world_index]))


def check_round_trip(
    volume: PatientVolume, array: np.ndarray, grid: Grid, plane: Plane, size_px: int | None
) -> None:
    """Every voxel of the array, through its picture and back."""
    index = np.stack(np.unravel_index(np.arange(array.size), array.shape), axis=1)
    world = grid.affine.to_world(index.astype(float))
    slice_of = np.array([nearest_slice(volume, plane, point) for point in world])
    assert sorted(set(slice_of)) == list(range(volume.slices(plane)))
    for number in range(volume.slices(plane)):
        picture = volume.picture(plane, number, GREY, size_px)
        shown = world[slice_of == number]
        pixels = picture.tile.from_source(shown)
        height, width = picture.grey.shape
        assert len(shown) == array.size // volume.slices(plane)
        assert np.abs(pixels[:, 2]).max() < 1e-9
        assert (pixels[:, :2] > -0.5).all()
        assert (pixels[:, :2] < (width - 0.5, height - 0.5)).all()
        np.testing.assert_allclose(picture.tile.to_source(pixels[:, :2]), shown, atol=1e-9)
        back = grid.affine.to_index(picture.tile.to_source(np.rint(pixels[:, :2])))
        off = np.abs(back - index[slice_of == number])
        assert off.max() <= 0.5 + 1e-9, "the nearest pixel lies outside the voxel"
        if size_px is None:
            grey = picture.grey[
                np.rint(pixels[:, 1]).astype(int), np.rint(pixels[:, 0]).astype(int)
            ]
            np.testing.assert_array_equal(grey, array[tuple(index[slice_of == number].T)])
        else:
            assert max(height, width) == size_px


@pytest.mark.sampled
@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("plane", PLANES)
def test_every_voxel_centre_returns(plane, tilt):
    """Sizes at which a pixel is no larger than a voxel; all planes; a spread of orders."""
    for number, size_px in itertools.product(range(0, 48, 5), SIZES):
        check_round_trip(*stored(TILTS[tilt], ORDERS[number]), plane, size_px)


@pytest.mark.sweep
@pytest.mark.parametrize("plane", PLANES)
def test_sweep_every_voxel_centre_in_every_order(plane, little_of):
    ways = list(itertools.product(TILTS.values(), ORDERS, (*SIZES, 64, 99, 1023)))
    for degrees, order, size_px in little_of(ways, 6):
        check_round_trip(*stored(degrees, order), plane, size_px)


@pytest.mark.sampled
@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("plane", PLANES)
def test_no_stored_order_changes_a_pixel_or_its_place(plane, tilt):
    """The same patient side is on the same side of the picture, whatever the file's order."""
    first, _, _ = stored(TILTS[tilt], ORDERS[0])
    for order, size_px in itertools.product(ORDERS[1:], (None, 33)):
        other, _, _ = stored(TILTS[tilt], order)
        for number in range(first.slices(plane)):
            a, b = (v.picture(plane, number, GREY, size_px) for v in (first, other))
            np.testing.assert_array_equal(a.grey, b.grey)
            corner = np.array([[0.0, 0.0], [5.0, 3.0]])
            np.testing.assert_allclose(
                a.tile.to_source(corner), b.tile.to_source(corner), atol=1e-9
            )


@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("plane", PLANES)
def test_edge_letters_agree_with_the_world(plane, tilt):
    """The left and top edges lie furthest towards what their letters say;
    slices run towards the axis' positive end."""
    for order in ORDERS[::5]:
        volume, _, _ = stored(TILTS[tilt], order)
        picture = volume.picture(plane, 1, GREY, 64)
        height, width = picture.grey.shape
        left, right = picture.tile.to_source(
            np.array([[0.0, height / 2], [width - 1.0, height / 2]])
        )
        top, bottom = picture.tile.to_source(
            np.array([[width / 2, 0.0], [width / 2, height - 1.0]])
        )
        for edge, near, far in ((plane.left_edge, left, right), (plane.top_edge, top, bottom)):
            axis = edge.axis.world_index
            assert (near - far)[axis] * edge.sign > 0
        origins = [volume.picture(plane, n, GREY).tile.origin for n in (0, 2)]
        assert (origins[1] - origins[0])[plane.through.world_index] > 0


def test_radiological_convention():
    """The patient's right and front, on an axial picture, are left and up;
    the head is up on the other two."""
    assert (Plane.AXIAL.left_edge, Plane.AXIAL.top_edge) == (Direction.RIGHT, Direction.ANTERIOR)
    assert (Plane.CORONAL.left_edge, Plane.CORONAL.top_edge) == (
        Direction.RIGHT,
        Direction.SUPERIOR,
    )
    assert (Plane.SAGITTAL.left_edge, Plane.SAGITTAL.top_edge) == (
        Direction.ANTERIOR,
        Direction.SUPERIOR,
    )


@pytest.mark.parametrize("size_px", [64, 97, 448])
@pytest.mark.parametrize("plane", PLANES)
def test_a_bright_voxel_is_drawn_where_the_map_says(plane, size_px):
    """The centre of its light, taken from the pixels alone,
    returns to the voxel within half a voxel."""
    shape = (11, 12, 9)
    grid = tilted_grid(15.0, shape=shape)
    rng = np.random.default_rng(3)
    for order in (ORDERS[0], ORDERS[17], ORDERS[42]):
        place = rng.integers(2, np.array(shape) - 2)
        array = np.zeros(shape, dtype=np.int16)
        array[tuple(place)] = 255
        volume = PatientVolume(flipped(array, order), reordered_grid(grid, order), "ct")
        world = grid.affine.to_world(place[None].astype(float))
        picture = volume.picture(plane, nearest_slice(volume, plane, world[0]), GREY, size_px)
        rows, columns = np.indices(picture.grey.shape)
        light = picture.grey.astype(float)
        assert light.sum() > 0
        centre = np.array([[(columns * light).sum(), (rows * light).sum()]]) / light.sum()
        back = grid.affine.to_index(picture.tile.to_source(centre))
        assert np.abs(back - place).max() < 0.25


def test_both_axes_have_one_scale():
    """A picture is not stretched: a pixel is as wide as high,
    to within the rounding of the picture's size."""
    for plane, size_px in itertools.product(PLANES, (448, 101)):
        volume = PatientVolume(voxels((40, 31, 22)), tilted_grid(10.0, shape=(40, 31, 22)), "ct")
        picture = volume.picture(plane, 3, GREY, size_px)
        x, y = np.linalg.norm(picture.tile.matrix[:, :2], axis=0)
        assert x == pytest.approx(y, rel=1.0 / min(picture.grey.shape))
