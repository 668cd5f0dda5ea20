"""One lattice stored in two axis orders: how to turn an array from the one into the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.space import Grid

__all__ = ["Reorder", "grid_warnings", "reorder_onto"]


@dataclass(frozen=True)
class Reorder:
    """Transpose, then flip: no voxel changes its value or its place in the patient."""

    order: tuple[int, int, int]
    flips: tuple[bool, bool, bool]
    """Along the new axes."""

    @property
    def is_identity(self) -> bool:
        """Whether nothing changes."""
        return self.order == (0, 1, 2) and not any(self.flips)

    def array(self, voxels: NDArray[Any]) -> NDArray[Any]:
        """The array in the new order, first axis fastest."""
        if self.is_identity:
            return voxels
        turned = voxels.transpose(self.order)[
            tuple(slice(None, None, -1 if flip else 1) for flip in self.flips)
        ]
        return np.asfortranarray(turned)

    def grid(self, grid: Grid) -> Grid:
        """The grid of the array in the new order."""
        i, j, k = (grid.shape[axis] for axis in self.order)
        return Grid((i, j, k), grid.affine.reordered(self.order, self.flips, (i, j, k)))


def reorder_onto(grid: Grid, target: Grid) -> Reorder | None:
    """How to store an array on `grid` so that it lies on `target`;
    None where the two are not one lattice."""
    if grid.matches(target):
        return Reorder((0, 1, 2), (False, False, False))
    steps = np.rint(np.linalg.solve(target.affine.linear, grid.affine.linear))
    if not (np.abs(steps).sum(axis=0) == 1).all() or not (np.abs(steps).sum(axis=1) == 1).all():
        return None
    i, j, k = (int(axis) for axis in np.abs(steps).argmax(axis=1))
    a, b, c = (bool(sign < 0) for sign in steps.sum(axis=1))
    reorder = Reorder((i, j, k), (a, b, c))
    return reorder if reorder.grid(grid).matches(target) else None


def grid_warnings(offset_mm: float, files: str) -> tuple[str, ...]:
    """What to tell where the grids of files differ but count as one."""
    if offset_mm == 0.0:
        return ()
    text = (
        f"the grids of {files} differ by up to {offset_mm:.2g} mm; taken as one, every interval"
        " wider by that"
    )
    return (text,)
