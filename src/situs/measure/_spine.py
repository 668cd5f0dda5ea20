"""Positions along the spine."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError

__all__ = ["Level", "Spine"]


class Level(msgspec.Struct, frozen=True):
    """Where a point projects on the spine's curve."""

    position: float
    """Vertebrae counted along the spine as given: 2.25 is a quarter of the way from the third to the fourth."""
    nearest: str
    """The vertebra whose centre is nearest along the curve."""
    off_centre: float
    """How far from that vertebra's centre, in steps to its neighbour, -0.5 to 0.5 inside the spine."""
    distance_mm: float
    """From the point to the curve."""
    beyond: bool
    """Whether it lies beyond the first or last vertebra, where the curve goes on straight."""


class Spine:
    """The curve through the centres of vertebrae in anatomical order; straight between them."""

    def __init__(self, vertebrae: Sequence[tuple[str, NDArray[np.float64]]]) -> None:
        """Names and centres in RAS+ mm, in order along the spine."""
        if len(vertebrae) < 2:
            raise SitusError("a spine needs at least two vertebrae", fix="annotate more of them")
        self.names = tuple(name for name, _ in vertebrae)
        self._points = np.array([np.asarray(centre, dtype=np.float64) for _, centre in vertebrae])
        self._steps = np.diff(self._points, axis=0)
        self._squared = (self._steps**2).sum(axis=1)
        if not (self._squared > 0).all():
            raise SitusError("two vertebrae have the same centre", fix="check the labels")

    def positions(self, points_mm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Place of each point on the curve, counted in vertebrae from 0; it goes on straight beyond the ends."""
        return self._project(np.asarray(points_mm, dtype=np.float64))[0]

    def _project(self, points_mm: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position on the curve and distance from it, in mm."""
        best = np.full(len(points_mm), np.inf)
        position = np.zeros(len(points_mm))
        last = len(self._steps) - 1
        for segment, (start, step) in enumerate(zip(self._points, self._steps)):
            low, high = (-np.inf if segment == 0 else 0.0), (np.inf if segment == last else 1.0)
            along = np.clip((points_mm - start) @ step / self._squared[segment], low, high)
            distance = np.linalg.norm(points_mm - start - along[:, None] * step, axis=1)
            nearer = distance < best
            position[nearer], best[nearer] = segment + along[nearer], distance[nearer]
        return position, best

    def at(self, point_mm: NDArray[np.float64]) -> Level:
        """The nearest place on the curve; beyond its ends, on the straight line through the last two vertebrae."""
        positions, distances = self._project(np.asarray(point_mm, dtype=np.float64)[None])
        position, last = float(positions[0]), len(self.names) - 1
        nearest = int(min(last, max(0, round(position))))
        beyond = not 0.0 <= position <= last
        return Level(position, self.names[nearest], position - nearest, float(distances[0]), beyond)
