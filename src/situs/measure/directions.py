"""How often a voxel of one structure lies beyond a voxel of another, along an axis."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.measure.regions import Region
from situs.space import Axis

__all__ = ["Histogram", "Precedence", "histograms", "precedence", "tilted_axes"]

_BIN_MM = 1.0
_SILENT = 1e-11
"""A voxel axis that moves a structure by less than
this many bins along a direction lies across it."""


def tilted_axes(axis: Axis, degrees: float) -> NDArray[np.float64]:
    """The axis itself and the four unit vectors it
    becomes when the patient turns by ± `degrees`."""
    base = np.zeros(3)
    base[axis.world_index] = 1.0
    result = [base]
    angle = np.radians(degrees)
    for other in range(3):
        if other != axis.world_index:
            for sign in (1.0, -1.0):
                tilted = np.cos(angle) * base
                tilted[other] = sign * np.sin(angle)
                result.append(tilted)
    return np.array(result)


class Histogram:
    """Share of a structure's voxels per millimetre of an axis.

    Each voxel is shared linearly between the two nearest bins, so that the histogram is a
    continuous function of position and rounding in the affine cannot tip a voxel from one bin to
    the next.
    """

    __slots__ = ("_below", "share", "start")

    def __init__(self, start: int, counts: NDArray[np.float64]) -> None:
        """`counts` holds voxels per bin from bin `start` on; empty bins at the ends are dropped."""
        filled = np.flatnonzero(counts)
        first, last = int(filled[0]), int(filled[-1])
        self.start = start + first
        self.share = counts[first : last + 1] / counts.sum()
        self._below = np.cumsum(self.share) - 0.5 * self.share

    def beyond(self, other: Histogram) -> float:
        """P(a random voxel of self lies at a larger
        coordinate than a random voxel of other), ties half."""
        ahead = self.start - other.start
        first = min(max(0, -ahead), self.share.size)
        past = min(max(first, other.share.size - ahead), self.share.size)
        among = (
            self.share[first:past] @ other._below[first + ahead : past + ahead]
            if past > first
            else 0.0
        )
        return float(min(1.0, max(0.0, among + self.share[past:].sum())))


class Precedence(msgspec.Struct, frozen=True):
    """P(voxel of a lies further along the axis than voxel of b),
    as posed and over turns of the patient."""

    value: float
    lowest: float
    highest: float


def histograms(region: Region, axis: Axis, degrees: float) -> list[Histogram]:
    """One histogram per direction of `tilted_axes`."""
    return [_histogram(region, direction) for direction in tilted_axes(axis, degrees)]


def _histogram(region: Region, direction: NDArray[np.float64]) -> Histogram:
    """Along one unit vector: from counts in a plane where
    the third voxel axis lies across it, else from runs."""
    from situs.measure.kernels.projections import share_counts, share_runs

    affine, runs = region.grid.affine, region.runs
    steps = (affine.linear.T @ direction / _BIN_MM)[list(runs.axes)]
    origin = float(affine.matrix[:3, 3] @ direction) / _BIN_MM
    lo, hi = np.array(runs.lo), np.array(runs.hi)
    ends = np.stack([steps * lo, steps * (hi - 1)])
    low, high = origin + ends.min(axis=0).sum(), origin + ends.max(axis=0).sum()
    first = int(np.floor(low)) - 1
    bins = np.zeros(int(np.floor(high)) - first + 4)
    across = np.abs(steps) * (hi - lo)
    silent = int(across.argmin())
    if across[silent] < _SILENT:
        counts, width, rows, columns = region.shadow(silent)
        at = origin + float(steps @ lo)
        share_counts(counts, width, at, float(steps[columns]), float(steps[rows]), first, bins)
    else:
        share_runs(
            runs.x0, runs.x1, runs.y, runs.z, origin, *(float(c) for c in steps), first, bins
        )
    return Histogram(first, bins)


def precedence(a: list[Histogram], b: list[Histogram]) -> Precedence:
    """Compare two structures' histograms of the same axis."""
    values = [x.beyond(y) for x, y in zip(a, b)]
    return Precedence(values[0], min(values), max(values))
