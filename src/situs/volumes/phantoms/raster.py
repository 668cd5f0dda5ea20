"""Solids on a voxel grid: a voxel belongs to a solid if and only if its centre lies inside it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from situs.space import Grid
from situs.volumes.phantoms.shapes import BoolArray, FloatArray, Shape

__all__ = ["Window", "inside_window", "rasterize", "window_of"]

Window: TypeAlias = tuple[slice, slice, slice]
_ROUNDING = 1e-9
"""Voxels by which a window may be too generous,
so that rounding never loses a centre on the surface."""


def rasterize(shape: Shape, grid: Grid) -> BoolArray:
    """The mask of a solid in stored order.

    Only voxels inside the solid's own index box are evaluated.
    """
    mask = np.zeros(grid.shape, dtype=np.bool_)
    window = window_of(shape, grid)
    if window is not None:
        mask[window] = inside_window(shape, grid, window)
    return mask


def window_of(shape: Shape, grid: Grid) -> Window | None:
    """The tight index box of a solid, clipped to the array; None if it lies outside."""
    inverse = grid.affine.inverse
    rows, shift = inverse[:3, :3], inverse[:3, 3]
    first = np.ceil(shift - shape.support(-rows) - _ROUNDING).astype(int).clip(0)
    past = np.minimum(np.floor(shift + shape.support(rows) + _ROUNDING).astype(int) + 1, grid.shape)
    if (past <= first).any():
        return None
    i, j, k = (slice(int(lo), int(hi)) for lo, hi in zip(first, past))
    return i, j, k


def inside_window(shape: Shape, grid: Grid, window: Window) -> BoolArray:
    """Which voxel centres of an index window lie inside the solid."""
    axes, centre = shape.frame()
    linear = axes.T @ grid.affine.linear
    offset = axes.T @ (grid.affine.matrix[:3, 3] - centre)
    u, v, w = (along_window(linear[row], float(offset[row]), window) for row in range(3))
    return shape.within(u, v, w)


def along_window(steps: FloatArray, offset: float, window: Window) -> FloatArray:
    """offset + steps·index for every voxel of a window, by broadcasting."""
    i, j, k = (step * np.arange(part.start, part.stop) for step, part in zip(steps, window))
    total: FloatArray = (offset + i)[:, None, None] + (j[:, None] + k[None, :])[None]
    return total
