"""Placing convex solids so that they provably do not meet.

Two convex bodies are separated by s along a direction d when −support_A(d) − support_B(−d) ≥ s, so
the best of a few hundred directions is a lower bound of their distance: a placement accepted here
is always disjoint.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from situs.volumes.phantoms.distance import surface_distance_mm
from situs.volumes.phantoms.shapes import FloatArray, Shape

__all__ = ["Packing", "directions", "moved_to"]

_HALF = 160


@cache
def directions() -> FloatArray:
    """(2n, 3) unit directions spread evenly, with more near the body's axes, along which blocks and
    tubes face each other; the second half is the first half negated."""
    k = np.arange(_HALF) + 0.5
    z = 1.0 - k / _HALF
    turn = np.pi * (1.0 + 5.0**0.5) * k
    r = np.sqrt(1.0 - z * z)
    spread = np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)
    tilt, around = np.meshgrid(np.radians([4.0, 8.0, 13.0]), np.arange(6) * np.pi / 3.0)
    cone = [np.sin(tilt) * np.cos(around), np.sin(tilt) * np.sin(around), np.cos(tilt)]
    half = np.concatenate([np.eye(3), spread, np.stack(cone, axis=-1).reshape(-1, 3)])
    both: FloatArray = np.concatenate([half, -half])
    both.flags.writeable = False
    return both


def moved_to(shape: Shape, centre: FloatArray) -> Shape:
    """The same solid with its centroid at `centre` (mm)."""
    return shape.transformed(np.eye(3), centre - np.array(shape.centroid_mm))


class Packing:
    """Solids placed so far, all inside a cavity and at least `margin_mm` apart."""

    def __init__(self, cavity: Shape, margin_mm: float) -> None:
        self._cavity = cavity.support(directions())
        self._margin = margin_mm
        self._shapes: list[Shape] = []
        self._opposite: list[FloatArray] = []

    def add(self, shape: Shape) -> bool:
        """Take a solid where it is, inside the cavity or not;
        False if it is too near to one placed before."""
        support = shape.support(directions())
        for other, opposite in zip(self._shapes, self._opposite):
            exact = surface_distance_mm(shape, other)
            if (float((-support - opposite).max()) if exact is None else exact) < self._margin:
                return False
        self._keep(shape)
        return True

    def _keep(self, shape: Shape) -> None:
        self._shapes.append(shape)
        self._opposite.append(shape.support(-directions()))

    def _separations_mm(self, supports: FloatArray) -> FloatArray:
        """For (m, directions) supports of a solid at m places,
        lower bounds of the distance to what is placed."""
        apart = np.full(len(supports), np.inf)
        for opposite in self._opposite:
            apart = np.minimum(apart, (-supports - opposite).max(axis=1))
        return apart

    def place(
        self, shape: Shape, wish: FloatArray, rng: np.random.Generator, *, reach_mm: float
    ) -> Shape | None:
        """The solid at the free place nearest to `wish`,
        searched in a ball of `reach_mm`; None if there is none."""
        ball = rng.normal(size=(160, 3))
        ball *= (rng.random(160) ** 0.6 * reach_mm / np.linalg.norm(ball, axis=1))[:, None]
        ball *= (1.0, 1.0, 0.7)  # rather sideways than upwards: it keeps the field of view short
        ball[0] = 0.0
        centres = wish + ball[np.argsort((ball**2).sum(axis=1))]
        d = directions()
        supports = moved_to(shape, np.zeros(3)).support(d) + centres @ d.T
        fits = (supports <= self._cavity).all(axis=1)
        centres, supports = centres[fits], supports[fits]
        for first in range(0, len(centres), 16):
            free = self._separations_mm(supports[first : first + 16]) >= self._margin
            if free.any():
                placed = moved_to(shape, centres[first + int(np.argmax(free))])
                self._keep(placed)
                return placed
        return None
