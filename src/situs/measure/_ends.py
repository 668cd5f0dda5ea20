"""How a structure ends: tapering, as organs do, or bluntly, as where it was cut.

An ellipsoid is the measure. At depth d below its tip it has 1 - (1 - d / c)² of its largest section (c: half its
length). A structure whose sections near its end are larger than that by a margin ends bluntly.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.measure._regions import Region
from situs.space import IndexPoints

__all__ = ["FlatEnd", "ends_bluntly", "flat_ends"]

_LAYERS_FLAT = 2
"""Masks that were resampled end in one layer of partial sections; the next one tells."""
_LAYERS_BEHIND = 3
_PLATEAU = 0.9
_FEWEST_LAYERS = 6
"""A structure of fewer layers along a direction is a sheet there; its broad sides are no ends."""
_FEWEST_VOXELS = 24
"""Ends of fewer voxels are too small to be called flat."""
_ALIKE_COSINE = float(np.cos(np.radians(5.0)))
_MOST_FACETS = 12
_MOST_VOXELS = 1_000_000
"""Larger structures are looked at on every second, third … voxel along each axis."""


class FlatEnd(msgspec.Struct, frozen=True):
    """An end of a structure that lies in a plane."""

    normal: tuple[float, float, float]
    """Unit vector that points out of the structure, RAS+."""
    offset_mm: float
    """Where the plane lies along the normal."""
    step_mm: float
    """Thickness of one layer of voxels along the normal."""
    section: float
    """Its area as a share of the largest section near it."""
    points_mm: NDArray[np.float64]
    """(n, 3) centres of the voxels of the end."""


def ends_bluntly(
    mask: NDArray[np.bool_], layer: NDArray[np.int64], *, near: int, depth: int, margin: float
) -> tuple[bool, bool]:
    """Whether the mask ends bluntly within `near` layers of a limit, and whether such an end touches the limit.

    `layer` counts layers of voxels from the limit, 0 beside it. Each part of the mask within `depth` layers of its
    end is judged by itself, so that one loop of bowel that leaves the scan counts however large the rest is.
    """
    from scipy import ndimage

    width = near + 1 + depth
    slab = mask & (layer < width)
    window = _window_of(slab)
    if window is None:
        return False, False
    # Most of a large structure lies far from the limit: only the slab is searched for its parts.
    slab, layer = slab[window], layer[window]
    parts, count = ndimage.label(slab, structure=np.ones((3, 3, 3)))
    codes = (parts[slab] - 1).astype(np.int64) * width + layer[slab]
    sections = np.bincount(codes, minlength=count * width).reshape(count, width)
    blunt, touching = False, False
    for profile in sections:
        first = int(np.flatnonzero(profile)[0])
        if first > near:
            continue
        excess = _excess(profile[first : first + depth], least_half=near)[: near + 1 - first]
        if excess.size and excess.max() >= margin:
            blunt, touching = True, touching or first == 0
    return blunt, touching


def _window_of(mask: NDArray[np.bool_]) -> tuple[slice, slice, slice] | None:
    """The smallest block of the array that holds all of a mask; None if it is empty."""
    ends = []
    for axis in range(3):
        filled = np.flatnonzero(mask.any(axis=tuple(other for other in range(3) if other != axis)))
        if not filled.size:
            return None
        ends.append(slice(int(filled[0]), int(filled[-1]) + 1))
    i, j, k = ends
    return i, j, k


def _excess(profile: NDArray[np.int64], least_half: int = 0) -> NDArray[np.float64]:
    """By how much the sections from an end inwards exceed those of an ellipsoid, as shares of the largest.

    `least_half`: layers that the ellipsoid's half length has at least; of a small part close to the limit of the scan
    most is not seen as likely as not."""
    filled = np.flatnonzero(profile)
    goes_on = filled[-1] == len(profile) - 1
    half = float(len(profile)) if goes_on else max((filled[-1] + 1) / 2.0, float(least_half))
    depth = np.minimum((np.arange(len(profile)) + 0.5) / half, 1.0)
    expected = 1.0 - (1.0 - depth) ** 2
    excess: NDArray[np.float64] = profile / profile.max() - expected
    return excess


def flat_ends(region: Region, *, depth_mm: float, share: float, margin: float) -> Iterator[FlatEnd]:
    """Ends of a structure that lie in a plane, in any orientation.

    A plane that cuts a body leaves a facet on its convex hull: the normals of the largest facets are tried, and
    the axes of the array and of the structure itself.
    """
    linear = region.grid.affine.linear
    stride = max(1, int(np.ceil((region.voxels / _MOST_VOXELS) ** (1.0 / 3.0))))
    mask = region.crop()[::stride, ::stride, ::stride]
    index = np.argwhere(mask)
    if len(index) < _FEWEST_LAYERS * _FEWEST_VOXELS:
        return
    steps = linear * stride
    points = index @ steps.T
    origin = np.asarray(region.grid.affine.to_world(IndexPoints(np.array([region.box_index.lo], dtype=np.float64))))[0]
    for normal in _directions(region, points):
        step = float(np.abs(normal @ steps).sum())
        along = points @ normal
        layer = ((along.max() - along) / step + 1e-6).astype(np.int64)
        depth = max(2 * _FEWEST_LAYERS, int(np.ceil(depth_mm / step)))
        profile = np.bincount(layer)
        if len(profile) < _FEWEST_LAYERS or not _is_flat(profile[:depth], share, margin):
            continue
        end = _largest_end(mask, index, layer, depth)
        profile = np.bincount(layer[end], minlength=_FEWEST_LAYERS)[:depth]
        if not _is_flat(profile, share, margin):
            continue
        face = points[end & (layer < _LAYERS_FLAT)] + origin
        x, y, z = (float(v) for v in normal)
        offset = float(along.max() + origin @ normal) + step / 2.0
        section = float(profile[:_LAYERS_FLAT].max() / profile.max())
        yield FlatEnd((x, y, z), offset, step, section, face)


def _is_flat(profile: NDArray[np.int64], share: float, margin: float) -> bool:
    near = profile[:_LAYERS_FLAT]
    if near.max() < max(_FEWEST_VOXELS, share * profile.max()):
        return False
    if _excess(profile)[:_LAYERS_FLAT].max() < margin:
        return False
    # Bone ends are blunt, but their sections grow over several layers; behind a plane they are all alike.
    behind = [profile[k + 1 : k + 1 + _LAYERS_BEHIND].max(initial=1) for k in range(_LAYERS_FLAT)]
    return any(profile[k] >= _PLATEAU * behind[k] for k in range(_LAYERS_FLAT))


def _largest_end(
    mask: NDArray[np.bool_], index: NDArray[np.int64], layer: NDArray[np.int64], depth: int
) -> NDArray[np.bool_]:
    """Which voxels belong to the part, of those within a depth, that holds most of the end."""
    from scipy import ndimage

    slab = np.zeros_like(mask)
    inside = layer < depth
    slab[tuple(index[inside].T)] = True
    corner = index[inside].min(axis=0)
    window = tuple(slice(lo, hi) for lo, hi in zip(corner, index[inside].max(axis=0) + 1))
    parts, _ = ndimage.label(slab[window], structure=np.ones((3, 3, 3)))
    part = np.zeros(len(index), dtype=parts.dtype)
    part[inside] = parts[tuple((index[inside] - corner).T)]
    at_end = np.bincount(part[layer < _LAYERS_FLAT])
    chosen: NDArray[np.bool_] = part == at_end[1:].argmax() + 1
    return chosen


def _directions(region: Region, points: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Unit vectors along which an end is looked for, none within 5° of another."""
    linear = region.grid.affine.linear
    across = np.linalg.inv(linear)  # rows are the normals of the slices across each stored axis
    axes = [*across, *(np.array(axis) for axis in region.principal_axes.directions)]
    wanted = [sign * axis for axis in axes for sign in (1.0, -1.0)]
    chosen: list[NDArray[np.float64]] = []
    for vector in (*wanted, *_facets(points)):
        unit = vector / np.linalg.norm(vector)
        if not any(float(unit @ other) > _ALIKE_COSINE for other in chosen):
            chosen.append(unit)
    return chosen


def _facets(points: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Normals of the largest facets of the convex hull; neighbours within 5° count as one."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except QhullError:
        return []
    corners = points[hull.simplices]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    normals = hull.equations[:, :3]
    facets: list[tuple[float, NDArray[np.float64]]] = []
    left = np.ones(len(areas), dtype=np.bool_)
    for _ in range(_MOST_FACETS):
        if not left.any():
            break
        largest = int(np.argmax(np.where(left, areas, -1.0)))
        alike = left & (normals @ normals[largest] > _ALIKE_COSINE)
        facets.append((float(areas[alike].sum()), areas[alike] @ normals[alike]))
        left &= ~alike
    return [normal for _, normal in sorted(facets, key=lambda facet: -facet[0])]
