"""On which side of the patient's midline voxels lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from situs.measure._regions import Region

__all__ = ["Midline", "right_shares"]

_FIT_MM = 1e-3
"""Least height of the points for a fit of their slope; below it, rounding would decide where the midline runs."""


class Midline:
    """The patient's midline as a curve over height: where the spine (or the centre of paired organs) runs.

    Between its points it is linear; above and below it goes on along a straight fit, so that one
    oblique vertebra at the end does not throw it aside. Never x = 0: a scanner's origin is no anatomy.
    """

    def __init__(self, points_mm: Sequence[NDArray[np.float64]], basis: str) -> None:
        points = np.array(sorted((tuple(float(v) for v in p) for p in points_mm), key=lambda p: p[2]))
        self.basis = basis
        self._z = points[:, 2]
        self._xy = points[:, :2]
        if len(points) > 1 and np.ptp(self._z) > _FIT_MM:
            slope, intercept = np.polyfit(self._z, self._xy, 1)
        else:
            slope, intercept = np.zeros(2), self._xy.mean(axis=0)
        self._slope, self._intercept = slope, intercept

    def at(self, z_mm: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 2) x and y of the midline at these heights."""
        inside = np.stack([np.interp(z_mm, self._z, self._xy[:, axis]) for axis in (0, 1)], axis=1)
        fitted = self._slope * z_mm[:, None] + self._intercept
        beyond = (z_mm < self._z[0]) | (z_mm > self._z[-1])
        return np.where(beyond[:, None], fitted, inside)


def right_shares(region: Region, midline: Midline, degrees: float) -> tuple[float, float, float]:
    """Share of the structure right of the midline: as posed, and least and most over turns about the long axis.

    A voxel that straddles the midline counts by its part, so that rounding cannot tip it over.
    """
    width = 2.0 * float(region.grid.affine.half_voxel_mm[0])
    points = np.asarray(region.grid.affine.to_world(region.index_points()))
    offset = points[:, :2] - midline.at(points[:, 2])
    shares = []
    for angle in np.radians([0.0, -degrees, degrees]):
        beyond = offset[:, 0] * np.cos(angle) + offset[:, 1] * np.sin(angle)
        shares.append(float(np.clip(beyond / width + 0.5, 0.0, 1.0).mean()))
    return shares[0], min(shares), max(shares)
