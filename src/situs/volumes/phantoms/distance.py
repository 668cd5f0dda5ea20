"""Surface-to-surface distance of disjoint solids, where a closed form exists."""

from __future__ import annotations

import numpy as np

from situs.volumes.phantoms.shapes import Capsule, Cuboid, FloatArray, Shape, Sphere

__all__ = ["surface_distance_mm"]


def surface_distance_mm(a: Shape, b: Shape) -> float | None:
    """Smallest distance between two surfaces in mm, 0 if the solids meet; None where no closed form
    exists.

    Closed forms: any two of sphere and capsule (their axes' distance less both radii), and a sphere
    against a cuboid (point to block less the radius).
    """
    if isinstance(a, Cuboid) and isinstance(b, Sphere):
        a, b = b, a
    if isinstance(a, Sphere) and isinstance(b, Cuboid):
        return max(0.0, _point_to_cuboid(np.array(a.centre_mm), b) - a.radius_mm)
    if isinstance(a, Sphere | Capsule) and isinstance(b, Sphere | Capsule):
        return max(0.0, _between_segments(*_segment(a), *_segment(b)) - a.radius_mm - b.radius_mm)
    return None


def _segment(solid: Sphere | Capsule) -> tuple[FloatArray, FloatArray]:
    if isinstance(solid, Sphere):
        return np.array(solid.centre_mm), np.array(solid.centre_mm)
    return np.array(solid.start_mm), np.array(solid.end_mm)


def _point_to_cuboid(point: FloatArray, block: Cuboid) -> float:
    axes, centre = block.frame()
    outside = np.maximum(np.abs((point - centre) @ axes) - np.array(block.half_edges_mm), 0.0)
    return float(np.linalg.norm(outside))


def _point_to_segment(point: FloatArray, start: FloatArray, end: FloatArray) -> float:
    along = end - start
    squared = float(along @ along)
    t = 0.0 if squared == 0.0 else min(1.0, max(0.0, float((point - start) @ along) / squared))
    return float(np.linalg.norm(point - start - t * along))


def _between_segments(a0: FloatArray, a1: FloatArray, b0: FloatArray, b1: FloatArray) -> float:
    """A convex quadratic on the unit square has its minimum on an edge (an end point) or where both
    derivatives vanish."""
    ends = [
        _point_to_segment(a0, b0, b1),
        _point_to_segment(a1, b0, b1),
        _point_to_segment(b0, a0, a1),
        _point_to_segment(b1, a0, a1),
    ]
    u, v, gap = a1 - a0, b1 - b0, a0 - b0
    uu, uv, vv = float(u @ u), float(u @ v), float(v @ v)
    determinant = uu * vv - uv * uv
    if determinant > 1e-12 * max(uu * vv, 1e-300):
        s = (uv * float(v @ gap) - vv * float(u @ gap)) / determinant
        t = (uu * float(v @ gap) - uv * float(u @ gap)) / determinant
        if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
            ends.append(float(np.linalg.norm(gap + s * u - t * v)))
    return min(ends)
