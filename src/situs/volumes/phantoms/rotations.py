"""Rotations by angles in degrees about the patient's axes."""

from __future__ import annotations

import numpy as np

from situs.volumes.phantoms.shapes import FloatArray

__all__ = ["about_axis", "turned"]


def about_axis(axis: FloatArray, degrees: float) -> FloatArray:
    """Right-handed rotation about a unit axis (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.radians(degrees)
    matrix: FloatArray = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    return matrix


def turned(x_degrees: float, y_degrees: float, z_degrees: float) -> FloatArray:
    """Rotation about x, then y, then z, each right-handed."""
    x, y, z = (about_axis(axis, a) for axis, a in zip(np.eye(3), (x_degrees, y_degrees, z_degrees)))
    matrix: FloatArray = z @ y @ x
    return matrix
