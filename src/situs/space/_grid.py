"""The lattice a series is sampled on: with millimetres, or pixels only."""

from __future__ import annotations

import numpy as np

from situs.errors import SitusError
from situs.space._affine import Affine
from situs.space._axes import AXES

__all__ = ["Grid", "PixelGrid"]


class Grid:
    """Shape and affine of a 3D array. Two arrays share a grid if voxels coincide within 1 % of a voxel."""

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
        """Same shape, and no corner of the array more than 1 % of a voxel away."""
        if self.shape != other.shape:
            return False
        tolerance = 0.01 * min(self.affine.spacing_mm)
        step = np.abs(self.affine.linear - other.affine.linear) @ (np.array(self.shape) - 1.0)
        shift = np.abs(self.affine.matrix[:3, 3] - other.affine.matrix[:3, 3])
        return bool((step + shift).max() <= tolerance)

    def to_patient_order(self) -> tuple[tuple[int, int, int], tuple[bool, bool, bool]]:
        """How to transpose and then flip the stored array so that its axes run R, A, S (nearest)."""
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
    """A stack of frames with no millimetres; their size may be unknown (None), and their number too (0)."""

    __slots__ = ("frames", "height", "width")

    def __init__(self, frames: int, width: int | None = None, height: int | None = None) -> None:
        if frames < 0 or (width is not None and width < 1) or (height is not None and height < 1):
            raise SitusError("a pixel grid needs at least one pixel", fix="check the file")
        self.frames = frames
        self.width = width
        self.height = height
