"""Positions along the spine, by its vertebral bodies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.measure.regions import Region
from situs.space import IndexPoints

__all__ = ["Spine", "vertebral_body"]

_BODY_SHARE = 0.7
"""A body is what balls of this share of the largest one inside the vertebra fill: arch and
processes are thinner.

Against masks of bodies (CT and T2 MR of the lumbar and thoracic spine) the centroid is right to 1
mm; at 0.5, lateral masses of cervical vertebrae and pedicles begin to count.
"""
_FINE_MM = 0.6
_STRIDE = 3
"""Voxels finer than this are taken in blocks of 3. An odd stride, so that the blocks can lie
symmetrically about the crop's middle and the order of axes changes nothing."""
_KNOTS = 16
"""Places on the curve from one vertebra to the next."""
_BEYOND = 30.0
"""Vertebrae by which the curve goes on straight: farther than any scan."""
_TIE = 1e-6
"""Relative: rounding decides no comparison of distances that are equal."""


def vertebral_body(region: Region) -> NDArray[np.float64]:
    """(n, 3) mm: voxel centres of a vertebra's body, the massive part of it that carries the
    weight.

    An opening by a ball: first where a ball of 70 % of the largest one fits around its centre, of
    that the part that holds the largest; then what these balls fill.
    """
    from scipy import ndimage

    spacing = np.asarray(region.grid.affine.spacing_mm, dtype=np.float64)
    mask, first, stride = _sampled(region.crop(), spacing)
    depth = ndimage.distance_transform_edt(mask, sampling=spacing * stride)
    radius = _BODY_SHARE * float(depth.max()) * (1.0 - _TIE)
    cores, _ = ndimage.label(depth >= radius, np.ones((3, 3, 3)))
    core = np.isin(cores, cores[depth >= depth.max() * (1.0 - _TIE)])
    reach = ndimage.distance_transform_edt(~core, sampling=spacing * stride)
    body = np.argwhere(mask & (reach <= radius * (1.0 + 2.0 * _TIE)))
    index = body * stride + first + np.array(region.box_index.lo)
    return np.asarray(region.grid.affine.to_world(IndexPoints(index.astype(np.float64))))


def _sampled(
    crop: NDArray[np.bool_], spacing_mm: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """A padded mask of every voxel, or of every third along finely sampled axes;
    index of its first, and the step."""
    stride = np.where(spacing_mm < _FINE_MM, _STRIDE, 1)
    size = np.array(crop.shape)
    # As much padding before as behind, so that samples come out even: size + 2 * lead = 1 (mod 3).
    lead = np.where(stride == 1, 0, (size - 1) % _STRIDE)
    padded = np.pad(crop, [(int(n), int(n)) for n in lead])
    sampled = padded[tuple(slice(None, None, int(step)) for step in stride)]
    return np.pad(sampled, 1), -lead - stride, stride


class Spine:
    """Vertebral bodies in anatomical order, and the smooth curve through their centres.

    A level is a number counted down the spine by whatever numbering the bodies are given in; where
    the numbering has a gap, the curve between two bodies counts the steps that are missing. Beyond
    the first and last body the curve goes on straight.
    """

    def __init__(self, bodies: Mapping[float, NDArray[np.float64]]) -> None:
        """By level: the voxel centres of each body, RAS+ mm."""
        from scipy.interpolate import CubicSpline

        if len(bodies) < 2:
            raise SitusError("a spine needs at least two vertebrae", fix="annotate more of them")
        self.levels = np.array(sorted(bodies))
        self._bodies = [np.asarray(bodies[level], dtype=np.float64) for level in self.levels]
        self.centres_mm = np.array([body.mean(axis=0) for body in self._bodies])
        if not (np.abs(np.diff(self.centres_mm, axis=0)) > 0).any(axis=1).all():
            raise SitusError("two vertebrae have the same centre", fix="check the labels")
        first, last = float(self.levels[0]), float(self.levels[-1])
        inside = np.linspace(first, last, _KNOTS * int(last - first) + 1)
        curve = CubicSpline(self.levels, self.centres_mm, bc_type="natural")
        # Knots close enough that straight lines between them do for the curve, and one far beyond
        # either end.
        self._knot_levels = np.array([first - _BEYOND, *inside, last + _BEYOND])
        before, after = (
            curve(first) - _BEYOND * curve(first, 1),
            curve(last) + _BEYOND * curve(last, 1),
        )
        self._knots = np.vstack([before, curve(inside), after])
        self._heights: dict[bytes, NDArray[np.float64] | None] = {}
        """By direction upwards: heights of the knots, None unless they fall steadily. Every
        structure is asked about along the same few directions."""

    def step_mm(self, level: float) -> float:
        """How far it is from one vertebra to the next, about this level."""
        nearest = int(
            np.clip(np.searchsorted(self._knot_levels, level) - 1, 0, len(self._knots) - 2)
        )
        length = np.linalg.norm(self._knots[nearest + 1] - self._knots[nearest])
        return float(length / (self._knot_levels[nearest + 1] - self._knot_levels[nearest]))

    def holds(self, level: float) -> bool:
        """Whether the level lies no more than half a vertebra beyond the first and last body."""
        return bool(self.levels[0] - 0.5 <= level <= self.levels[-1] + 0.5)

    def along_curve(self, points_mm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Level of the nearest place on the curve to each point."""
        steps, rises = np.diff(self._knots, axis=0), np.diff(self._knot_levels)
        squares = (steps**2).sum(axis=1)
        result = []
        for point in np.asarray(points_mm, dtype=np.float64):
            from_knot = point - self._knots[:-1]
            along = np.clip((from_knot * steps).sum(axis=1) / squares, 0.0, 1.0)
            distance = np.linalg.norm(from_knot - along[:, None] * steps, axis=1)
            nearest = int(distance.argmin())
            result.append(self._knot_levels[nearest] + along[nearest] * rises[nearest])
        return np.array(result)

    def at_height(self, height_mm: float, up: NDArray[np.float64]) -> float | None:
        """Level at which a plane across `up` meets the curve;
        None where the curve does not run down steadily."""
        key = up.tobytes()
        if key not in self._heights:
            heights = self._knots @ up
            self._heights[key] = heights if (np.diff(heights) < 0).all() else None
        known = self._heights[key]
        return None if known is None else float(np.interp(-height_mm, -known, self._knot_levels))

    def body_on_slice(
        self, height_mm: float, half_thickness_mm: float, up: NDArray[np.float64]
    ) -> float | None:
        """Level of the body with the largest cross-section on a slice; None where it meets none."""
        areas = [
            int((np.abs(body @ up - height_mm) <= half_thickness_mm).sum()) for body in self._bodies
        ]
        return float(self.levels[int(np.argmax(areas))]) if any(areas) else None
