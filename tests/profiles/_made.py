"""Profiles, grids and volumes for the tests of profiles."""

from __future__ import annotations

import itertools

import msgspec
import numpy as np

from situs.profiles import Frame, Layout, Profile, Renderer, layout_of
from situs.space import Affine, Grid

ORDERS = tuple(
    itertools.product(itertools.permutations(range(3)), itertools.product((False, True), repeat=3))
)
"""The 48 ways to permute and flip three axes."""


def profile(**tables: dict[str, object]) -> Profile:
    """A profile of native pixels, all slices and a window from 0 to 255,
    with some fields of its tables changed."""
    fields = {"name": "made", "window": {"any": {"low": 0.0, "high": 255.0}}, **tables}
    return msgspec.convert(fields, Profile)


def oblique_grid(
    shape: tuple[int, int, int], degrees: float, seed: int = 0, shear: float = 0.0
) -> Grid:
    """Patient order, unequal spacing, turned about a random axis."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.radians(degrees)
    turn = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    matrix = np.eye(4)
    matrix[:3, :3] = turn @ np.array([[0.9, 0, 0], [0, 1.3, shear], [0, 0, 3.1]])
    matrix[:3, 3] = rng.uniform(-200.0, 200.0, 3)
    return Grid(shape, Affine(matrix))


def reordered(array: np.ndarray, grid: Grid, order) -> tuple[np.ndarray, Grid]:
    """The same patient in another stored order."""
    axes, flips = order
    moved = array.transpose(axes)
    affine = grid.affine.reordered(axes, flips, moved.shape)
    return moved[tuple(slice(None, None, -1 if flip else 1) for flip in flips)], Grid(
        moved.shape, affine
    )


def pictures(
    own: Profile, array: np.ndarray, grid: Grid, modality: str = "ct", most: int = 10_000
) -> tuple[list[Frame], list[np.ndarray], Layout]:
    """The pictures of a volume; of many, an even choice."""
    layout = layout_of(own, grid)
    frames = layout.frames[:: -(-len(layout.frames) // most)]
    renderer = Renderer(own, array, grid, modality)
    return list(frames), [renderer.picture(layout.lattice, frame) for frame in frames], layout
