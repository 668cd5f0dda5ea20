"""Thickness of cartilage along parallel lines across a joint, finer than a voxel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from situs.facts.joint._frame import JointFrame, Points
from situs.space import Grid, WorldPoints

__all__ = ["LINE_MM", "Lines", "measure_lines"]

LINE_MM = 0.5
"""Distance between lines, and between the points on one."""
_INTO_BONE_MM = 3.0
_BEYOND_MM = 10.0
"""How far a line runs to either side of the bone's face to the joint."""
_USUAL = 95.0
"""Percentile of thickness, among lines that meet cartilage, that is usual on a bone."""
_ANY_MM = 0.25


@dataclass(frozen=True, eq=False)
class Lines:
    """A lattice of lines over one bone."""

    across: tuple[int, int]
    """The two axes of the joint's frame that the lattice spans."""
    origin: Points
    """Where its first line stands."""
    thickness_mm: Points
    usual_mm: float

    def within(self, low: Points, high: Points) -> Points:
        """Thickness along the lines between two corners, both half a millimetre inside."""
        first = np.ceil((low + LINE_MM - self.origin) / LINE_MM).astype(int)
        last = np.floor((high - LINE_MM - self.origin) / LINE_MM).astype(int)
        first = np.maximum(first, 0)
        result: Points = self.thickness_mm[first[0] : last[0] + 1, first[1] : last[1] + 1]
        return result


def measure_lines(cartilage: NDArray[np.intp], own: Points, bone: str, grid: Grid, frame: JointFrame) -> Lines:
    """Lines over the bone: up and down for femur and tibia, front to back for the patella."""
    from scipy.ndimage import map_coordinates

    through = 1 if bone == "patella" else 2
    across = (0, 2) if bone == "patella" else (0, 1)
    face, ahead = (own[:, through].max(), 1.0) if bone == "tibia" else (own[:, through].min(), -1.0)
    origin = own[:, across].min(axis=0)
    size = np.floor((own[:, across].max(axis=0) - origin) / LINE_MM).astype(int) + 1
    steps = np.arange(-_INTO_BONE_MM, _BEYOND_MM, LINE_MM)
    corner = cartilage.min(axis=0) - 1
    box = np.zeros(tuple(np.ptp(cartilage, axis=0) + 3), dtype=np.float32)
    box[tuple((cartilage - corner).T)] = 1.0
    thickness = np.zeros(tuple(size))
    u, v = (origin[n] + LINE_MM * np.arange(size[n]) for n in (0, 1))
    points = np.empty((size[0], size[1], 3))
    points[..., across[0]], points[..., across[1]] = u[:, None], v[None, :]
    for step in steps:
        points[..., through] = face + ahead * step
        world = WorldPoints(points.reshape(-1, 3) @ frame.axes)
        index = np.asarray(grid.affine.to_index(world)) - corner
        thickness += LINE_MM * map_coordinates(box, index.T, order=1, mode="constant").reshape(thickness.shape)
    met = thickness[thickness > _ANY_MM]
    return Lines(across, origin, thickness, float(np.percentile(met, _USUAL)) if met.size else 0.0)
