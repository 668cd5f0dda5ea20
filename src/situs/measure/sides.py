"""On which side of the patient's midline voxels lie, and how alike the two sides are."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.measure.regions import Region

__all__ = ["Midline", "PairSymmetry", "SymmetryPlane", "pair_symmetry", "right_shares"]

_FIT_MM = 1e-3
"""Least height of the points for a fit of their slope;
below it, rounding would decide where the midline runs."""


_STEEPEST = np.tan(np.radians([20.0, 45.0]))
"""Most that the fit may lean sideways, and forwards or back:
a patient lying askew, a curved spine."""


class Midline:
    """The patient's midline as a curve over height: where the spine (or the centre of paired
    organs) runs.

    Between its points it is linear; above and below it goes on along a straight fit, so that one
    oblique vertebra at the end does not throw it aside. The fit leans by 20° sideways and 45°
    forwards or back at most, and is followed no farther than the points are high; beyond, the
    midline is upright. So two points at nearly one height, whose slope is chance, cannot swing it
    away. Never x = 0: a scanner's origin is no anatomy.
    """

    def __init__(
        self, points_mm: Sequence[NDArray[np.float64]], basis: str, *, off_mm: float = 0.0
    ) -> None:
        """`off_mm`: how far to either side the midline may truly lie."""
        points = np.array(
            sorted((tuple(float(v) for v in p) for p in points_mm), key=lambda p: p[2])
        )
        self.basis = basis
        self.off_mm = off_mm
        self._z = points[:, 2]
        self._xy = points[:, :2]
        height = float(np.ptp(self._z))
        slope = np.zeros(2)
        if height > _FIT_MM:
            slope = np.polyfit(self._z, self._xy, 1)[0].clip(-_STEEPEST, _STEEPEST)
        self._slope, self._intercept = slope, self._xy.mean(axis=0) - slope * self._z.mean()
        self._ends = np.array([self._z[0] - height, self._z[-1] + height])

    def at(self, z_mm: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 2) x and y of the midline at these heights."""
        inside = np.stack([np.interp(z_mm, self._z, self._xy[:, axis]) for axis in (0, 1)], axis=1)
        fitted = self._slope * z_mm.clip(*self._ends)[:, None] + self._intercept
        beyond = (z_mm < self._z[0]) | (z_mm > self._z[-1])
        return np.where(beyond[:, None], fitted, inside)

    def on_knots(self, aside_mm: float = 0.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(n, 3) z, x, y of the points by height; and beyond them slope and intercept of x, those
        of y, and the least and greatest height for which they hold. `aside_mm`: all of it moved to
        the patient's right."""
        aside = np.array([aside_mm, 0.0])
        line = np.concatenate(
            [np.stack([self._slope, self._intercept + aside], axis=1).reshape(-1), self._ends]
        )
        return np.column_stack([self._z, self._xy + aside]), line.astype(np.float64)


def right_shares(region: Region, midline: Midline, degrees: float) -> tuple[float, float, float]:
    """Share of the structure right of the midline: as posed, and least and most over turns about
    the long axis and wherever the midline may lie.

    A voxel that straddles the midline counts by its part, so that rounding cannot tip it over.
    """
    from situs.measure.kernels.projections import right_of

    runs, affine = region.runs, region.grid.affine
    matrix = np.column_stack([affine.linear[:, list(runs.axes)], affine.matrix[:3, 3]])
    angles = np.radians([0.0, -degrees, degrees])
    turns = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    shares = []
    for aside in (0.0, -midline.off_mm, midline.off_mm) if midline.off_mm else (0.0,):
        sums = np.zeros(3)
        flat = (
            np.ascontiguousarray(part).reshape(-1)
            for part in (matrix, *midline.on_knots(aside), turns)
        )
        right_of(
            runs.x0, runs.x1, runs.y, runs.z, *flat, 2.0 * float(affine.half_voxel_mm[0]), sums
        )
        shares += [float(total) / region.voxels for total in sums]
    return shares[0], min(shares), max(shares)


class SymmetryPlane:
    """The plane about which paired structures lie mirrored, from the centroids of pairs.

    Its normal is the mean step from a left structure to its right partner; it passes through the
    mean of their middles. For heads and limbs, where no spine is shown.
    """

    def __init__(self, pairs_mm: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> None:
        """`pairs_mm` are the centroids of a right structure and of its left partner, RAS+."""
        if not pairs_mm:
            raise SitusError(
                "a symmetry plane needs at least one pair",
                fix="give the centroids of a left-right pair",
            )
        steps = np.array(
            [np.asarray(right) - np.asarray(left) for right, left in pairs_mm], dtype=np.float64
        )
        normal = (steps / np.linalg.norm(steps, axis=1, keepdims=True)).mean(axis=0)
        self.normal = normal / np.linalg.norm(normal)
        centres = [(np.asarray(right) + np.asarray(left)) / 2.0 for right, left in pairs_mm]
        self.point_mm = np.array(centres).mean(axis=0)

    def offset_mm(self, point_mm: NDArray[np.float64]) -> float:
        """Signed distance of a point from the plane; positive on the patient's right."""
        return float((np.asarray(point_mm) - self.point_mm) @ self.normal)

    def mirrored(self, point_mm: NDArray[np.float64]) -> NDArray[np.float64]:
        """The point on the other side."""
        point = np.asarray(point_mm, dtype=np.float64)
        reflected: NDArray[np.float64] = point - 2.0 * self.offset_mm(point) * self.normal
        return reflected

    @property
    def tilt_degrees(self) -> float:
        """Angle between the plane's normal and the left-right axis."""
        return float(np.degrees(np.arccos(min(1.0, abs(float(self.normal[0]))))))


class PairSymmetry(msgspec.Struct, frozen=True):
    """How alike a right structure and its left partner are."""

    volume_ratio: float
    """Right over left."""
    volume_asymmetry: float
    """(right - left) / (right + left): 0 if equal, ±1 if one is missing."""
    offset_mm: float
    """How far their middle lies right of the midline or plane."""
    height_mm: float
    """How much higher the right one's centroid lies."""
    mirrored_distance_mm: float
    """Distance of the right centroid, reflected, from the left one."""


def pair_symmetry(right: Region, left: Region, about: Midline | SymmetryPlane) -> PairSymmetry:
    """Compare a pair of structures across the midline
    (reflected along x at each height) or a symmetry plane."""
    a, b = right.centroid_mm, left.centroid_mm
    middle = (a + b) / 2.0
    if isinstance(about, SymmetryPlane):
        offset, reflected = about.offset_mm(middle), about.mirrored(a)
    else:
        offset = float(middle[0] - about.at(middle[2:3])[0, 0])
        reflected = np.array([2.0 * about.at(a[2:3])[0, 0] - a[0], a[1], a[2]])
    return PairSymmetry(
        right.volume_ml / left.volume_ml,
        (right.volume_ml - left.volume_ml) / (right.volume_ml + left.volume_ml),
        offset,
        float(a[2] - b[2]),
        float(np.linalg.norm(reflected - b)),
    )
