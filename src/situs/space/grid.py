"""The lattice a series is sampled on: with millimetres, or pixels only."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.space.affine import Affine
from situs.space.axes import AXES
from situs.space.points import IndexPoints

__all__ = ["Grid", "PixelGrid"]

_ONE_GRID_VOXELS = 0.1
"""Files of one study often differ by some hundredths of a millimetre,
from resampling or rounded headers."""
_ROUNDING_VOXELS = 0.01
"""What float32 headers and decimal text lose; not worth a word."""


class Grid:
    """Shape and affine of a 3D array.

    Two arrays share a grid if no voxel lies a tenth of a voxel apart.
    """

    __slots__ = ("affine", "shape")

    def __init__(self, shape: tuple[int, int, int], affine: Affine) -> None:
        if len(shape) != 3 or any(n < 1 for n in shape):
            raise SitusError(f"shape {shape} is not that of a 3D volume", fix="give a 3D volume")
        self.shape = shape
        self.affine = affine

    @property
    def voxels(self) -> int:
        """Number of voxels."""
        return self.shape[0] * self.shape[1] * self.shape[2]

    def matches(self, other: Grid) -> bool:
        """Same shape, and no corner of the array a tenth
        of a voxel or more away along any stored axis."""
        return self.shape == other.shape and self._offset_voxels(other) < _ONE_GRID_VOXELS

    def offset_mm(self, other: Grid) -> float:
        """How far the same voxel may lie apart on two grids of one shape;
        0 where only rounding differs."""
        if self._offset_voxels(other) <= _ROUNDING_VOXELS:
            return 0.0
        return float(np.linalg.norm(self._corner_steps(other), axis=0).max())

    def block_in(self, whole: Grid) -> tuple[int, int, int] | None:
        """The voxel of `whole` where this grid begins,
        if it is a block of it in the same axis order; else None."""
        first = whole.affine.to_index(self.affine.to_world(IndexPoints(np.zeros((1, 3)))))[0]
        i, j, k = (round(float(start)) for start in first)
        if min(i, j, k) < 0 or any(
            at + n > size for at, n, size in zip((i, j, k), self.shape, whole.shape)
        ):
            return None
        matrix = whole.affine.matrix.copy()
        matrix[:3, 3] += whole.affine.linear @ (i, j, k)
        return (i, j, k) if self.matches(Grid(self.shape, Affine(matrix))) else None

    def difference(self, other: Grid) -> str:
        """In what two grids differ, in words for an error message."""
        if self.shape != other.shape:
            shapes = (" × ".join(map(str, grid.shape)) for grid in (self, other))
            return " against ".join(shapes) + " voxels"
        return f"{self.offset_mm(other):.3g} mm apart at a corner"

    def _corner_steps(self, other: Grid) -> NDArray[np.float64]:
        """World vectors (3, 8) between the corners. An affine difference is largest at a corner."""
        corners = np.array(list(itertools.product(*((0.0, n - 1.0) for n in self.shape)))).T
        apart = other.affine.matrix - self.affine.matrix
        steps: NDArray[np.float64] = apart[:3, :3] @ corners + apart[:3, 3:]
        return steps

    def _offset_voxels(self, other: Grid) -> float:
        """Largest distance between corners along a stored axis, in voxels."""
        return float(np.abs(np.linalg.solve(self.affine.linear, self._corner_steps(other))).max())

    def to_patient_order(self) -> tuple[tuple[int, int, int], tuple[bool, bool, bool]]:
        """How to transpose and then flip the stored array so that its axes run R,
        A, S (nearest)."""
        directions = self.affine.directions
        stored_of = {direction.axis: stored for stored, direction in enumerate(directions)}
        i, j, k = (stored_of[axis] for axis in AXES)
        a, b, c = (directions[stored].sign < 0 for stored in (i, j, k))
        return (i, j, k), (a, b, c)

    def in_patient_order(self) -> Grid:
        """The grid of the array after `to_patient_order`."""
        order, flips = self.to_patient_order()
        i, j, k = (self.shape[axis] for axis in order)
        return Grid((i, j, k), self.affine.reordered(order, flips, (i, j, k)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self.shape == other.shape and self.affine == other.affine

    def __hash__(self) -> int:
        return hash((self.shape, self.affine))

    def __repr__(self) -> str:
        return f"Grid({' × '.join(map(str, self.shape))}, {self.affine!r})"


class PixelGrid:
    """A stack of frames with no millimetres;
    their size may be unknown (None), and their number too (0)."""

    __slots__ = ("frames", "height", "width")

    def __init__(self, frames: int, width: int | None = None, height: int | None = None) -> None:
        if frames < 0 or (width is not None and width < 1) or (height is not None and height < 1):
            raise SitusError("a pixel grid needs at least one pixel", fix="check the file")
        self.frames = frames
        self.width = width
        self.height = height
