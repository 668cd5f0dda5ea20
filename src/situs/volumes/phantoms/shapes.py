"""Solids whose volume, centroid and world box are known in closed form.

All lengths are millimetres in one right-handed frame (RAS+ once a patient is posed). A rotation is
stored as three rows; its columns are the solid's own axes u, v, w. Surfaces belong to the solid.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.errors import SitusError

__all__ = [
    "Box",
    "Capsule",
    "Cuboid",
    "Cylinder",
    "Ellipsoid",
    "Rotation",
    "Shape",
    "Sphere",
    "Vector",
]

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
Vector: TypeAlias = tuple[float, float, float]
Rotation: TypeAlias = tuple[Vector, Vector, Vector]
Box: TypeAlias = tuple[Vector, Vector]

UPRIGHT: Rotation = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_UNIT = np.eye(3)
_UNIT.flags.writeable = False


def vector(values: ArrayLike) -> Vector:
    """Three plain floats."""
    x, y, z = np.asarray(values, dtype=np.float64).tolist()
    return x, y, z


def rotation_rows(matrix: ArrayLike) -> Rotation:
    """A 3×3 array as the rows a solid stores."""
    a, b, c = np.asarray(matrix, dtype=np.float64)
    return vector(a), vector(b), vector(c)


def _orthonormal(matrix: ArrayLike) -> FloatArray:
    values = np.asarray(matrix, dtype=np.float64)
    if values.shape != (3, 3) or not (np.abs(values.T @ values - _UNIT) < 1e-6).all():
        raise SitusError(
            "rotation is not an orthonormal 3×3 matrix",
            fix="give a rotation (or reflection) matrix",
        )
    return values


def _positive(what: str, *lengths_mm: float) -> None:
    if not all(math.isfinite(v) and v > 0 for v in lengths_mm):
        raise SitusError(
            f"{what} {', '.join(f'{v:g}' for v in lengths_mm)} mm is not positive",
            fix="give millimetres",
        )


class _Solid(msgspec.Struct, frozen=True):
    """What every solid can tell; a subclass gives its frame,
    its inside and its reach in that frame."""

    def frame(self) -> tuple[FloatArray, FloatArray]:
        """The solid's own axes as columns, and its centre in mm."""
        raise NotImplementedError

    def within(self, u: FloatArray, v: FloatArray, w: FloatArray) -> BoolArray:
        """Whether points at these own coordinates (mm from the centre,
        broadcastable) lie inside."""
        raise NotImplementedError

    def reach(self, directions: FloatArray) -> FloatArray:
        """How far the solid extends from its centre along each of (n,
        3) own directions: max of d·x."""
        raise NotImplementedError

    @property
    def volume_mm3(self) -> float:
        """Exact volume."""
        raise NotImplementedError

    @property
    def volume_ml(self) -> float:
        """Exact volume in millilitres."""
        return self.volume_mm3 / 1000.0

    @property
    def centroid_mm(self) -> Vector:
        """Exact centroid; every solid here is symmetric about it."""
        return vector(self.frame()[1])

    @property
    def box_mm(self) -> Box:
        """Exact axis-aligned world box, (lo, hi)."""
        half = self.reach(self.frame()[0])
        centre = self.frame()[1]
        return vector(centre - half), vector(centre + half)

    def contains(self, points: ArrayLike) -> BoolArray:
        """Which of (…, 3) points in mm lie inside or on the surface."""
        axes, centre = self.frame()
        in_frame = (np.asarray(points, dtype=np.float64) - centre) @ axes
        return self.within(in_frame[..., 0], in_frame[..., 1], in_frame[..., 2])

    def support(self, directions: ArrayLike) -> FloatArray:
        """max of d·x over the solid for each of (n,
        3) directions (the support function of a convex body)."""
        axes, centre = self.frame()
        d = np.asarray(directions, dtype=np.float64)
        total: FloatArray = d @ centre + self.reach(d @ axes)
        return total


class Sphere(_Solid, frozen=True, tag="sphere"):
    """A ball."""

    centre_mm: Vector
    radius_mm: float

    def __post_init__(self) -> None:
        _positive("radius", self.radius_mm)

    def frame(self) -> tuple[FloatArray, FloatArray]:
        return _UNIT, np.array(self.centre_mm)

    def within(self, u: FloatArray, v: FloatArray, w: FloatArray) -> BoolArray:
        inside: BoolArray = u * u + v * v + w * w <= self.radius_mm**2
        return inside

    def reach(self, directions: FloatArray) -> FloatArray:
        far: FloatArray = self.radius_mm * np.sqrt((directions**2).sum(axis=-1))
        return far

    @property
    def volume_mm3(self) -> float:
        return 4.0 / 3.0 * math.pi * self.radius_mm**3

    def transformed(self, rotation: ArrayLike, translation: ArrayLike) -> Sphere:
        """The ball after x → rotation·x + translation."""
        return Sphere(
            vector(_orthonormal(rotation) @ self.centre_mm + np.asarray(translation)),
            self.radius_mm,
        )


class _Turned(_Solid, frozen=True):
    """A solid with a centre and a rotation of its own."""

    centre_mm: Vector

    def _rows(self) -> Rotation:
        raise NotImplementedError

    def frame(self) -> tuple[FloatArray, FloatArray]:
        return np.array(self._rows()), np.array(self.centre_mm)

    def _moved(self, rotation: ArrayLike, translation: ArrayLike) -> tuple[Vector, Rotation]:
        matrix = _orthonormal(rotation)
        centre = vector(matrix @ self.centre_mm + np.asarray(translation, dtype=np.float64))
        return centre, rotation_rows(matrix @ np.array(self._rows()))


class Ellipsoid(_Turned, frozen=True, tag="ellipsoid"):
    """An ellipsoid of any rotation. Box half extent along k is sqrt(Σ_j (R_kj·a_j)²)."""

    semi_axes_mm: Vector
    rotation: Rotation = UPRIGHT

    def __post_init__(self) -> None:
        _positive("semi-axes", *self.semi_axes_mm)
        _orthonormal(self.rotation)

    def _rows(self) -> Rotation:
        return self.rotation

    def within(self, u: FloatArray, v: FloatArray, w: FloatArray) -> BoolArray:
        a, b, c = self.semi_axes_mm
        inside: BoolArray = (u / a) ** 2 + (v / b) ** 2 + (w / c) ** 2 <= 1.0
        return inside

    def reach(self, directions: FloatArray) -> FloatArray:
        far: FloatArray = np.sqrt(((directions * self.semi_axes_mm) ** 2).sum(axis=-1))
        return far

    @property
    def volume_mm3(self) -> float:
        return 4.0 / 3.0 * math.pi * math.prod(self.semi_axes_mm)

    def transformed(self, rotation: ArrayLike, translation: ArrayLike) -> Ellipsoid:
        """The ellipsoid after x → rotation·x + translation."""
        centre, rows = self._moved(rotation, translation)
        return Ellipsoid(centre, self.semi_axes_mm, rows)


class Cuboid(_Turned, frozen=True, tag="cuboid"):
    """A rectangular block of any rotation, given by half its edge lengths."""

    half_edges_mm: Vector
    rotation: Rotation = UPRIGHT

    def __post_init__(self) -> None:
        _positive("half edges", *self.half_edges_mm)
        _orthonormal(self.rotation)

    def _rows(self) -> Rotation:
        return self.rotation

    def within(self, u: FloatArray, v: FloatArray, w: FloatArray) -> BoolArray:
        a, b, c = self.half_edges_mm
        inside: BoolArray = (np.abs(u) <= a) & (np.abs(v) <= b) & (np.abs(w) <= c)
        return inside

    def reach(self, directions: FloatArray) -> FloatArray:
        far: FloatArray = np.abs(directions) @ np.array(self.half_edges_mm)
        return far

    @property
    def volume_mm3(self) -> float:
        return 8.0 * math.prod(self.half_edges_mm)

    def transformed(self, rotation: ArrayLike, translation: ArrayLike) -> Cuboid:
        """The block after x → rotation·x + translation."""
        centre, rows = self._moved(rotation, translation)
        return Cuboid(centre, self.half_edges_mm, rows)


class Cylinder(_Turned, frozen=True, tag="cylinder"):
    """A straight cylinder with an elliptic cross-section (own axes u,
    v) and length along its own w."""

    semi_axes_mm: tuple[float, float]
    half_length_mm: float
    rotation: Rotation = UPRIGHT

    def __post_init__(self) -> None:
        _positive("semi-axes and half length", *self.semi_axes_mm, self.half_length_mm)
        _orthonormal(self.rotation)

    def _rows(self) -> Rotation:
        return self.rotation

    def within(self, u: FloatArray, v: FloatArray, w: FloatArray) -> BoolArray:
        a, b = self.semi_axes_mm
        inside: BoolArray = ((u / a) ** 2 + (v / b) ** 2 <= 1.0) & (
            np.abs(w) <= self.half_length_mm
        )
        return inside

    def reach(self, directions: FloatArray) -> FloatArray:
        a, b = self.semi_axes_mm
        u, v, w = directions[..., 0], directions[..., 1], directions[..., 2]
        far: FloatArray = np.sqrt((a * u) ** 2 + (b * v) ** 2) + self.half_length_mm * np.abs(w)
        return far

    @property
    def volume_mm3(self) -> float:
        return math.pi * math.prod(self.semi_axes_mm) * 2.0 * self.half_length_mm

    def transformed(self, rotation: ArrayLike, translation: ArrayLike) -> Cylinder:
        """The cylinder after x → rotation·x + translation."""
        centre, rows = self._moved(rotation, translation)
        return Cylinder(centre, self.semi_axes_mm, self.half_length_mm, rows)


class Capsule(_Solid, frozen=True, tag="capsule"):
    """All points within `radius_mm` of the segment from `start_mm` to `end_mm`:
    a tube with round ends."""

    start_mm: Vector
    end_mm: Vector
    radius_mm: float

    def __post_init__(self) -> None:
        _positive("radius", self.radius_mm)

    @property
    def length_mm(self) -> float:
        """Length of the middle segment, without the round ends."""
        return math.dist(self.start_mm, self.end_mm)

    def frame(self) -> tuple[FloatArray, FloatArray]:
        start, end = np.array(self.start_mm), np.array(self.end_mm)
        if self.length_mm == 0.0:
            return np.eye(3), start
        w = (end - start) / self.length_mm
        # One Householder reflection takes z to ±w: its columns are the axes, with no cross product.
        pole = np.array([0.0, 0.0, 1.0 if w[2] > 0 else -1.0])
        normal = w + pole
        axes = np.eye(3) - 2.0 * np.outer(normal, normal) / (normal @ normal)
        axes[:, 2] = w
        return axes, (start + end) / 2.0

    def within(self, u: FloatArray, v: FloatArray, w: FloatArray) -> BoolArray:
        beyond = np.maximum(np.abs(w) - self.length_mm / 2.0, 0.0)
        inside: BoolArray = u * u + v * v + beyond * beyond <= self.radius_mm**2
        return inside

    def reach(self, directions: FloatArray) -> FloatArray:
        round_part = self.radius_mm * np.sqrt((directions**2).sum(axis=-1))
        far: FloatArray = round_part + self.length_mm / 2.0 * np.abs(directions[..., 2])
        return far

    @property
    def volume_mm3(self) -> float:
        r = self.radius_mm
        return math.pi * r * r * self.length_mm + 4.0 / 3.0 * math.pi * r**3

    def transformed(self, rotation: ArrayLike, translation: ArrayLike) -> Capsule:
        """The tube after x → rotation·x + translation."""
        matrix, shift = _orthonormal(rotation), np.asarray(translation, dtype=np.float64)
        return Capsule(
            vector(matrix @ self.start_mm + shift),
            vector(matrix @ self.end_mm + shift),
            self.radius_mm,
        )


Shape: TypeAlias = Ellipsoid | Sphere | Capsule | Cuboid | Cylinder
