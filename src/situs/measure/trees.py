"""A box tree over the boundary voxels of a structure, and the nearest pair between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from situs.space import Affine

__all__ = ["CENTRES", "Tree", "frame_of", "gap_mode", "is_square", "nearest_of_pairs", "plant"]

CENTRES = 0
"""Distance between voxel centres; other modes come from `gap_mode`."""
_SQUARE = 1e-6
"""Largest cosine between two voxel axes;
what rounding to float32 in a header leaves is ten times smaller."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Voxels in Morton order along x, y, z of the runs, and the boxes of all levels."""

    points: NDArray[np.int32]
    """(n, 4) x, y, z and open sides."""
    level_start: NDArray[np.int64]
    boxes: NDArray[np.float64]
    """(m, 6) in mm, lowest level first."""
    steps: NDArray[np.int32]
    """(m, 2) sets of sign triples that may start and that may end in a box."""


def frame_of(affine: Affine, axes: tuple[int, int, int]) -> NDArray[np.float64]:
    """Upper triangular map (9 numbers) from steps along x, y, z to mm, in a frame turned with the
    voxels.

    A turn changes no distance; for voxel axes at right angles the map is the spacing on the
    diagonal.
    """
    columns = affine.linear[:, list(axes)]
    return np.ascontiguousarray(
        np.linalg.cholesky(columns.T @ columns).T, dtype=np.float64
    ).reshape(-1)


def is_square(affine: Affine) -> bool:
    """Whether voxel axes are at right angles so nearly that no step across a volume could tell."""
    columns = affine.linear / np.array(affine.spacing_mm)
    return bool(np.abs(columns.T @ columns - np.eye(3)).max() < _SQUARE)


def gap_mode(affine: Affine) -> int:
    """How the face-to-face distance of two voxels is computed:
    by axes at right angles, or over all corners."""
    return 1 if is_square(affine) else 2


def plant(points: NDArray[np.int32], frame: NDArray[np.float64]) -> Tree:
    """The tree over (n, 4) voxels: x, y, z and open sides."""
    from situs.measure.kernels.steps import ENDS, STARTS
    from situs.measure.kernels.trees import build_tree, morton

    codes = np.empty(len(points), dtype=np.uint64)
    morton(np.ascontiguousarray(points).reshape(-1), codes)
    codes.sort()
    sizes = [-(-len(points) // 4)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 4))
    level_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    total = int(level_start[-1])
    tree = Tree(
        np.empty((len(points), 4), np.int32),
        level_start,
        np.empty((total, 6)),
        np.empty((total, 2), np.int32),
    )
    build_tree(
        codes,
        frame,
        STARTS,
        ENDS,
        tree.points.reshape(-1),
        level_start,
        tree.boxes.reshape(-1),
        tree.steps.reshape(-1),
    )
    return tree


def nearest_of_pairs(
    trees: Sequence[Tree],
    pairs: NDArray[np.int64],
    apart: NDArray[np.bool_],
    frame: NDArray[np.float64],
    mode: int,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
    """Distance in mm of each pair of trees, and the two voxels (x, y, z) that attain it.

    `apart` says of each pair that it shares no voxel and lies on axes at right angles.
    """
    from situs.measure.kernels.steps import Steps
    from situs.measure.kernels.trees import Forest
    from situs.measure.kernels.trees import nearest_of_pairs as nearest_of_forest

    used, pairs = np.unique(pairs, return_inverse=True)
    trees, pairs = [trees[i] for i in used], pairs.reshape(-1, 2)
    first = np.cumsum([0, *(len(tree.points) for tree in trees)], dtype=np.int64)
    box_first = np.cumsum([0, *(len(tree.boxes) for tree in trees)])
    forest = Forest(
        points=np.concatenate([tree.points for tree in trees]).reshape(-1),
        boxes=np.concatenate([tree.boxes for tree in trees]).reshape(-1),
        steps=np.concatenate([tree.steps for tree in trees]).reshape(-1),
        levels=np.concatenate([tree.level_start + at for tree, at in zip(trees, box_first)]),
        first=first,
        level=np.cumsum([0, *(tree.level_start.size for tree in trees)], dtype=np.int64),
    )
    squared = np.empty(len(pairs))
    witness = np.zeros((len(pairs), 2), dtype=np.int64)
    nearest_of_forest(
        forest,
        pairs.reshape(-1),
        Steps(frame, mode),
        np.ascontiguousarray(apart),
        squared,
        witness.reshape(-1),
    )
    points = forest.points.reshape(-1, 4)
    a_points, b_points = (points[first[pairs[:, side]] + witness[:, side], :3] for side in (0, 1))
    return np.sqrt(squared), a_points, b_points
