"""Boxes in three coordinate systems that cannot be mixed up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import msgspec
import numpy as np

from situs.errors import SitusError
from situs.space.affine import Affine
from situs.space.points import IndexPoints

__all__ = ["FrameBox", "IndexBox", "WorldBox", "covered_area"]


class IndexBox(msgspec.Struct, frozen=True):
    """Half-open box of voxels in stored index order: `lo` inside, `hi` one past the end."""

    lo: tuple[int, int, int]
    hi: tuple[int, int, int]

    def __post_init__(self) -> None:
        if any(h <= l for l, h in zip(self.lo, self.hi)):  # noqa: E741
            raise SitusError(
                f"box {self.lo}–{self.hi} is empty", fix="index boxes are half-open: hi > lo"
            )

    @property
    def voxels(self) -> int:
        """Number of voxels inside; a one-voxel structure has one."""
        return math.prod(h - l for l, h in zip(self.lo, self.hi))  # noqa: E741

    def to_world(self, affine: Affine) -> WorldBox:
        """The world box that holds all eight corners of
        this box's voxel cubes (exact hull if oblique)."""
        corners = np.array(list(itertools.product(*zip(self.lo, self.hi))), dtype=np.float64) - 0.5
        world = affine.to_world(IndexPoints(corners))
        return WorldBox.of(world.min(axis=0), world.max(axis=0))


class WorldBox(msgspec.Struct, frozen=True, gc=False, tag="world"):
    """Axis-aligned box in RAS+ millimetres."""

    lo_mm: tuple[float, float, float]
    hi_mm: tuple[float, float, float]
    label: str = ""

    def __post_init__(self) -> None:
        (x0, y0, z0), (x1, y1, z1) = self.lo_mm, self.hi_mm
        if not all(map(math.isfinite, (x0, y0, z0, x1, y1, z1))):
            raise SitusError("box holds NaN or infinity", fix="give finite millimetres")
        if x1 < x0 or y1 < y0 or z1 < z0:
            raise SitusError(
                f"box {self.lo_mm}–{self.hi_mm} is inside out", fix="lo must not exceed hi"
            )

    @classmethod
    def of(cls, lo: np.ndarray, hi: np.ndarray, label: str = "") -> WorldBox:
        """From two arrays of three numbers."""
        x0, y0, z0 = (float(v) for v in lo)
        x1, y1, z1 = (float(v) for v in hi)
        return cls((x0, y0, z0), (x1, y1, z1), label)

    @property
    def extent_mm(self) -> tuple[float, float, float]:
        """Size along x, y, z."""
        x, y, z = (h - l for l, h in zip(self.lo_mm, self.hi_mm))  # noqa: E741
        return x, y, z

    @property
    def volume_mm3(self) -> float:
        """Volume of the box."""
        return math.prod(self.extent_mm)

    def holds_centre_of(self, other: WorldBox) -> bool:
        """Whether the middle of another box lies in this one."""
        return all(
            a <= 0.5 * (b + c) <= d
            for a, b, c, d in zip(self.lo_mm, other.lo_mm, other.hi_mm, self.hi_mm)
        )

    def iou(self, other: WorldBox) -> float:
        """Intersection over union, no epsilon; 0 when both are empty."""
        shared = math.prod(
            max(0.0, min(a_hi, b_hi) - max(a_lo, b_lo))
            for a_lo, a_hi, b_lo, b_hi in zip(self.lo_mm, self.hi_mm, other.lo_mm, other.hi_mm)
        )
        union = self.volume_mm3 + other.volume_mm3 - shared
        return shared / union if union > 0 else 0.0


class FrameBox(msgspec.Struct, frozen=True, gc=False, tag="frame"):
    """Half-open pixel box on one 0-based frame: x to the right, y downwards, as stored."""

    frame: int
    x0: float
    y0: float
    x1: float
    y1: float
    label: str = ""

    def __post_init__(self) -> None:
        if self.frame < 0:
            raise SitusError(f"frame {self.frame} is negative", fix="frames count from 0")
        if not math.isfinite(self.x0 + self.y0 + self.x1 + self.y1):
            raise SitusError("box holds NaN or infinity", fix="give finite pixels")
        if self.x1 < self.x0 or self.y1 < self.y0:
            raise SitusError("box is inside out", fix="x0 ≤ x1 and y0 ≤ y1")

    @property
    def area(self) -> float:
        """Area in square pixels."""
        return (self.x1 - self.x0) * (self.y1 - self.y0)

    def iou(self, other: FrameBox) -> float:
        """Intersection over union; 0 on different frames or when both are empty."""
        if self.frame != other.frame:
            return 0.0
        width = max(0.0, min(self.x1, other.x1) - max(self.x0, other.x0))
        height = max(0.0, min(self.y1, other.y1) - max(self.y0, other.y0))
        union = self.area + other.area - width * height
        return width * height / union if union > 0 else 0.0


def covered_area(boxes: Iterable[FrameBox]) -> float:
    """Square pixels that boxes of one frame cover together, each pixel once."""
    listed = list(boxes)
    columns = sorted({x for box in listed for x in (box.x0, box.x1)})
    area = 0.0
    for left, right in itertools.pairwise(columns):
        end = -math.inf
        for box in sorted(
            (box for box in listed if box.x0 <= left and box.x1 >= right), key=lambda box: box.y0
        ):
            area += (right - left) * max(0.0, box.y1 - max(box.y0, end))
            end = max(end, box.y1)
    return area
