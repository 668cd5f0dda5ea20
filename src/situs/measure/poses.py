"""What a turn of the patient changes: how far a structure reaches along an axis that is tilted."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from situs.measure.regions import Region

__all__ = ["across", "axial_diameter_ratios", "reach_mm", "turned"]

_AROUND = 32
"""Directions on the rim of the cone;
between two of them a width changes by less than a thousandth of the length."""
_ANGLES = 36
"""In-plane directions along which a section is measured; the longest is found to within 0.1 %."""
_IN_PLANE = np.stack(
    [
        np.cos(np.linspace(0.0, np.pi, _ANGLES, endpoint=False)),
        np.sin(np.linspace(0.0, np.pi, _ANGLES, endpoint=False)),
    ]
)


def turned(direction: NDArray[np.float64], degrees: float) -> NDArray[np.float64]:
    """Unit vectors that a direction may become when the
    patient turns by up to so many degrees; itself first."""
    x, y, z = np.asarray(direction, dtype=np.float64).tolist()
    return _turned(x, y, z, degrees)


@lru_cache(maxsize=256)
def _turned(x: float, y: float, z: float, degrees: float) -> NDArray[np.float64]:
    """The axes of a grid are turned again for every structure on it."""
    direction = np.array([x, y, z])
    axis = direction / np.linalg.norm(direction)
    first, second = across(axis)
    around = np.linspace(0.0, 2.0 * np.pi, _AROUND, endpoint=False)
    rim = np.cos(around)[:, None] * first + np.sin(around)[:, None] * second
    vectors = [axis[None]]
    for share in (0.5, 1.0):
        angle = np.radians(degrees) * share
        vectors.append(np.cos(angle) * axis + np.sin(angle) * rim)
    result = np.concatenate(vectors)
    result.flags.writeable = False
    return result


def reach_mm(region: Region, directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 2) Least and greatest coordinate of the structure's voxel cubes along each direction."""
    along = np.asarray(region.corners_mm) @ directions.T
    half = 0.5 * np.abs(directions @ region.grid.affine.linear).sum(axis=1)
    return np.stack([along.min(axis=0) - half, along.max(axis=0) + half], axis=1)


def axial_diameter_ratios(region: Region, axis: int, degrees: float) -> tuple[float, float]:
    """Least and greatest longest diameter on slices across a stored axis, over turns, against the
    one as posed.

    Sections at a turn are taken as layers of voxel centres, one slice thick, from two starting
    heights. A section that falls into two parts counts as one, which errs to the long side.
    """
    affine = region.grid.affine
    normal = np.linalg.inv(affine.linear)[axis]
    # Towards the head, however the file counts its slices.
    normal = normal * float(affine.directions[axis].sign)
    thickness = 1.0 / float(np.linalg.norm(normal))
    points = np.asarray(affine.to_world(region.index_points()))
    lengths = [
        _longest_section(points, vector, thickness, start)
        for vector in turned(normal, degrees)
        for start in (0.0, 0.5)
    ]
    posed = max(lengths[0], 1e-6)
    return min(1.0, *(length / posed for length in lengths)), max(
        1.0, *(length / posed for length in lengths)
    )


def _longest_section(
    points: NDArray[np.float64], normal: NDArray[np.float64], thickness: float, start: float
) -> float:
    """Longest diameter of any layer;
    the first layer holds only a share `start` less of its thickness."""
    first, second = across(normal)
    height = points @ normal
    layer = np.floor((height - height.min()) / thickness + start + 1e-6).astype(np.int64)
    order = np.argsort(layer, kind="stable")
    starts = np.flatnonzero(np.diff(layer[order], prepend=-1))
    flat = np.stack([points @ first, points @ second], axis=1)[order]
    along = flat @ _IN_PLANE
    widths = np.maximum.reduceat(along, starts) - np.minimum.reduceat(along, starts)
    return float(widths.max())


def across(normal: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two unit vectors at right angles to a third and to each other."""
    # Rounded, so that of two components that are equal but for their last bits the first is taken,
    # in the mirrored patient as well: the directions that are tried are then mirror images of each
    # other.
    aside = np.eye(3)[int(np.abs(normal).round(9).argmin())]
    first = _cross(normal, aside)
    first = first / np.linalg.norm(first)
    return first, _cross(normal, first)


def _cross(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """`np.cross` of two vectors, to the last bit:
    that takes ten times as long, and turns are tried by the hundred."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
