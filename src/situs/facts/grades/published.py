"""The published form of a knee's box: `[start_slice, end_slice, x_min, x_max, y_min, y_max]`.

The slices are the sagittal ones: the array with its sagittal axis moved to the front, the others
kept in order (the released scripts transpose by (2, 0, 1) where the slices come last). y counts the
rows of a slice, x its columns. Numbers are voxel indices from 0, both ends included. The release
does not say so: rows, columns and ends are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from situs.errors import SitusError
from situs.space import Grid, IndexBox, WorldBox, WorldPoints

__all__ = ["from_published", "sagittal_axis", "to_published"]


def to_published(box: WorldBox, grid: Grid) -> tuple[int, int, int, int, int, int]:
    """The smallest run of voxels around a box in mm, as far as it lies in the array.

    On an oblique scan that run is larger than the structure's own: a box in mm lies along the
    patient's axes, and the voxels around it along the scan's.
    """
    corners = np.array(list(product(*zip(box.lo_mm, box.hi_mm))))
    index = np.asarray(grid.affine.to_index(WorldPoints(corners)))
    # A box ends at the faces of voxels, half a voxel beyond their centres.
    low = np.floor(index.min(axis=0) + 0.5 + 1e-6).astype(int)
    high = np.ceil(index.max(axis=0) - 0.5 - 1e-6).astype(int)
    last = np.array(grid.shape) - 1
    low, high = np.clip(low, 0, last), np.clip(np.maximum(high, low), 0, last)
    s, y, x = _order(grid)
    return int(low[s]), int(high[s]), int(low[x]), int(high[x]), int(low[y]), int(high[y])


def from_published(numbers: Sequence[float], grid: Grid) -> WorldBox:
    """The box in mm over the voxels named."""
    if any(number != int(number) for number in numbers):
        raise SitusError(
            f"box {_listed(numbers)} is not of whole voxels", fix="give indices from 0, not shares"
        )
    start, end, x_min, x_max, y_min, y_max = (int(number) for number in numbers)
    if start > end or x_min > x_max or y_min > y_max:
        raise SitusError(
            f"box {_listed(numbers)} is inside out", fix="each start comes before its end"
        )
    low, high = [0, 0, 0], [0, 0, 0]  # not arrays: a number may be larger than theirs
    for axis, least, most in zip(_order(grid), (start, y_min, x_min), (end, y_max, x_max)):
        low[axis], high[axis] = least, most + 1
    if min(low) < 0 or any(most > size for most, size in zip(high, grid.shape, strict=True)):
        fix = (
            "slices, y and x go up to"
            f" {', '.join(str(grid.shape[axis] - 1) for axis in _order(grid))}"
        )
        raise SitusError(f"box {_listed(numbers)} lies outside the scan", fix=fix)
    first, last = ((a, b, c) for a, b, c in (low, high))
    return IndexBox(first, last).to_world(grid.affine)


def sagittal_axis(grid: Grid) -> int:
    """The stored axis that runs from left to right, by the affine."""
    along = np.abs(grid.affine.linear[0]) / np.linalg.norm(grid.affine.linear, axis=0)
    return int(np.argmax(along))


def _listed(numbers: Sequence[float]) -> str:
    return f"[{', '.join(f'{number:g}' for number in numbers)}]"


def _order(grid: Grid) -> tuple[int, int, int]:
    """The stored axes that count slices, rows and columns."""
    sagittal = sagittal_axis(grid)
    rows, columns = (axis for axis in range(3) if axis != sagittal)
    return sagittal, rows, columns
