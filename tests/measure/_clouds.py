"""Clouds of voxels in trees, several trees in one set of arrays, as the kernels search them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from situs.measure.kernels.caps import Branch, Scratch
from situs.measure.trees import Tree, plant

SQUARE = np.diag([1.5, 0.9, 3.0]).reshape(-1)
SHEARED = np.array([1.5, 0.4, -0.6, 0.0, 0.9, 0.7, 0.0, 0.0, 2.0])
FRAMES = {"square": SQUARE, "sheared": SHEARED}


@dataclass(frozen=True)
class Forest:
    """Trees whose arrays lie one behind the other."""

    trees: list[Tree]
    points: np.ndarray
    boxes: np.ndarray
    steps: np.ndarray
    levels: np.ndarray

    def branch(self, number: int) -> Branch:
        """One of the trees, as the kernels take it."""
        before, own = self.trees[:number], self.trees[number]
        return Branch(
            self.points,
            self.boxes,
            self.steps,
            self.levels,
            sum(len(tree.points) for tree in before),
            len(own.points),
            sum(tree.level_start.size for tree in before),
            own.level_start.size - 2,
        )


def forest(clouds: list[np.ndarray], frame: np.ndarray) -> Forest:
    """The trees of clouds of (n, 4) voxels."""
    trees = [plant(np.asarray(cloud, dtype=np.int32), frame) for cloud in clouds]
    starts = np.cumsum([0, *(len(tree.boxes) for tree in trees)])
    return Forest(
        trees,
        np.concatenate([tree.points for tree in trees]).reshape(-1),
        np.concatenate([tree.boxes for tree in trees]).reshape(-1),
        np.concatenate([tree.steps for tree in trees]).reshape(-1),
        np.concatenate([tree.level_start + start for tree, start in zip(trees, starts)]),
    )


def random_cloud(rng: np.random.Generator, count: int, size: int = 20) -> np.ndarray:
    """So many different voxels of a cube, each with some sides open."""
    places = rng.choice(size**3, size=count, replace=False)
    voxels = np.stack(np.unravel_index(places, (size, size, size)), axis=1)
    return np.column_stack([voxels, rng.integers(1, 64, size=count)]).astype(np.int32)


def boundary_cloud(mask: np.ndarray) -> np.ndarray:
    """The voxels of a mask that have an open side, with these as bits: down and up along x, y, z."""
    inside = np.pad(mask, 1)
    sides = np.zeros(mask.shape, dtype=np.int64)
    for axis in range(3):
        for up in (0, 1):
            shifted = np.roll(inside, -1 if up else 1, axis=axis)[1:-1, 1:-1, 1:-1]
            sides |= (mask & ~shifted).astype(np.int64) << (2 * axis + up)
    voxels = np.argwhere(sides > 0)
    return np.column_stack([voxels, sides[tuple(voxels.T)]]).astype(np.int32)


def squares(frame: np.ndarray, a: np.ndarray, b: np.ndarray, mode: int) -> np.ndarray:
    """Square of the distance of each voxel of a from each of b: 0 between centres; 1 and 2 between
    cubes, whose corners differ by the step and one less, none or one more along each axis."""
    steps = (b[None, :, :3] - a[:, None, :3]).astype(float)
    if mode == 0:
        return ((steps @ frame.reshape(3, 3).T) ** 2).sum(axis=2)
    moves = np.stack(np.meshgrid(*[(-1, 0, 1)] * 3), axis=-1).reshape(-1, 3)
    return np.min(
        [(((steps + move) @ frame.reshape(3, 3).T) ** 2).sum(axis=2) for move in moves], axis=0
    )


def least_square(frame: np.ndarray, a: np.ndarray, b: np.ndarray, mode: int) -> float:
    """The least of `squares`, found in a k-d tree of all centres, or of all corners."""
    corners = np.array([[0.0, 0.0, 0.0]])
    if mode:
        corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    there, here = (
        np.unique((cloud[:, None, :3] + corners).reshape(-1, 3), axis=0) @ frame.reshape(3, 3).T
        for cloud in (a, b)
    )
    return float(cKDTree(there).query(here)[0].min() ** 2)


def scratch() -> Scratch:
    """Stack and bounds of a search."""
    return Scratch(np.zeros(4 * 256, dtype=np.int64), np.zeros(256))
