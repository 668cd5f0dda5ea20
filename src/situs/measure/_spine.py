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

    def at(self, point_mm: NDArray[np.float64]) -> Level:
        """The nearest place on the curve; beyond its ends, on the straight line through the last two vertebrae."""
        apart = np.asarray(point_mm, dtype=np.float64) - self._points[:-1]
        along = (apart * self._steps).sum(axis=1) / self._squared
        low = np.zeros(len(along))
        high = np.ones(len(along))
        low[0], high[-1] = -np.inf, np.inf
        along = np.clip(along, low, high)
        distances = np.linalg.norm(apart - along[:, None] * self._steps, axis=1)
        segment = int(distances.argmin())
        position = segment + float(along[segment])
        last = len(self.names) - 1
        nearest = int(min(last, max(0, round(position))))
        beyond = not 0.0 <= position <= last
        return Level(position, self.names[nearest], position - nearest, float(distances[segment]), beyond)
