"""The letters on the edges of a picture, and marks drawn over it,
are right for every way of storing a volume."""

from __future__ import annotations

import itertools

import nibabel
import numpy as np
import pytest

from situs.profiles import PLANES, PatientVolume, Plane, Window
from situs.report.pictures.embedded import plane_frames
from situs.space import Affine, Grid, IndexPoints

ORIENTATIONS = [
    (order, signs)
    for order in itertools.permutations(range(3))
    for signs in itertools.product((1, -1), repeat=3)
]
SHAPE = (5, 6, 7)
LETTERS = {"R": (0, 1), "L": (0, -1), "A": (1, 1), "P": (1, -1), "H": (2, 1), "F": (2, -1)}
"""World axis and sign of each letter."""


def stored(order: tuple[int, ...], signs: tuple[int, ...]) -> tuple[np.ndarray, Grid]:
    """Voxels that hold 10 × their world coordinate along x,
    y or z in turn, stored in one of the 48 ways."""
    affine = np.eye(4)
    for axis, (world, sign) in enumerate(zip(order, signs)):
        affine[:3, axis] = 0.0
        affine[world, axis] = sign * (1.0 + 0.5 * world)
    grid = Grid(SHAPE, Affine(affine))
    index = np.stack(np.meshgrid(*map(np.arange, SHAPE), indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(grid.affine.to_world(IndexPoints(index.astype(float)))).reshape(
        *SHAPE, 3
    ), grid


@pytest.mark.parametrize(("order", "signs"), ORIENTATIONS)
def test_letters_say_where_the_coordinate_grows(
    order: tuple[int, ...], signs: tuple[int, ...]
) -> None:
    world, grid = stored(order, signs)
    assert nibabel.aff2axcodes(grid.affine.matrix) == tuple(grid.affine.codes)
    for plane, (axis, volume) in itertools.product(
        PLANES, [(axis, PatientVolume(world[..., axis], grid, "mr")) for axis in range(3)]
    ):
        values = world[..., axis]
        grey = volume.picture(
            plane, 1, Window(float(values.min()), float(values.max()))
        ).grey.astype(int)
        frame = plane_frames()[plane.value]
        for letter, towards in (
            (frame.left, grey[:, 0] - grey[:, -1]),
            (frame.right, grey[:, -1] - grey[:, 0]),
            (frame.top, grey[0] - grey[-1]),
            (frame.bottom, grey[-1] - grey[0]),
        ):
            of_axis, sign = LETTERS[letter]
            assert (sign * towards > 0).all() if of_axis == axis else (towards == 0).all()


@pytest.mark.parametrize("plane", PLANES)
def test_radiological_convention(plane: Plane) -> None:
    frame = plane_frames()[plane.value]
    expected = {"axial": "RLAP", "coronal": "RLHF", "sagittal": "APHF"}[plane.value]
    assert frame.left + frame.right + frame.top + frame.bottom == expected


@pytest.mark.parametrize(("order", "signs"), ORIENTATIONS[::5])
@pytest.mark.parametrize("plane", PLANES)
def test_marks_land_where_the_picture_maps_them(
    plane: Plane, order: tuple[int, ...], signs: tuple[int, ...]
) -> None:
    """The page places a mark at (n - 1 - index); the picture's own map from millimetres agrees."""
    world, grid = stored(order, signs)
    volume = PatientVolume(world[..., 0], grid, "mr")
    points = np.random.default_rng(3).uniform(0, 4, (20, 3))
    index = np.asarray(volume.grid.affine.to_index(points))
    frame, shape = plane_frames()[plane.value], volume.array.shape
    pixels = volume.picture(plane, 2, Window(0.0, 1.0)).tile.from_source(points)
    assert np.allclose(pixels[:, 0], shape[frame.across] - 1 - index[:, frame.across])
    assert np.allclose(pixels[:, 1], shape[frame.down] - 1 - index[:, frame.down])
