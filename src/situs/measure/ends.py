"""How a structure ends: tapering, as organs do, or bluntly, as where it was cut.

An ellipsoid is the measure. At depth d below its tip it has 1 - (1 - d / c)² of its largest section
(c: half its length). A structure whose sections near its end are larger than that by a margin ends
bluntly.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.measure.poses import across, reach_mm
from situs.measure.regions import Region
from situs.space import IndexPoints

__all__ = ["EndShape", "FlatEnd", "ends_bluntly", "flat_ends"]

_LAYERS_FLAT = 2
"""Masks that were resampled end in one layer of partial sections; the next one tells."""
_LAYERS_BEHIND = 3
_FEWEST_LAYERS = 6
"""A structure of fewer layers along a direction is shallow there:
its layers tell little of its shape."""
_FEWEST_LAYERS_OF_ALL = 3
_SHEET = 0.4
"""A shallow structure under this share of its longest extent is a sheet;
its broad sides are no ends."""
_SHALLOW_RISE = 0.68
"""Share of its largest layer that the first of a shallow structure has where it was cut. The first
of a small ball has less than .6: half a lesion of 10 mm on voxels of 2 mm is told from a whole one,
but not much less."""
_FEWEST_VOXELS = 24
"""Ends of fewer voxels are too small to be called flat."""
_ALIKE_COSINE = float(np.cos(np.radians(8.0)))
_SAME_COSINE = float(np.cos(np.radians(4.0)))
_REFINED_COSINE = float(np.cos(np.radians(15.0)))
_MOST_FACETS = 24
_MOST_VOXELS = 150_000
"""Larger structures are looked at on every second, third … voxel along each axis."""


class EndShape(msgspec.Struct, frozen=True):
    """How an end in a plane looks, layer by layer from its tip inwards.

    All are shares of a cross-section.
    """

    share: float
    """It has at least so much of the largest section near it."""
    margin: float
    """It exceeds the section of an ellipsoid by so much."""
    rise: float
    """Its first layer has so much of the largest of the three behind it: bone ends are blunt, but
    grow over several layers; behind a plane all are alike."""
    ragged_rise: float
    """Or its second layer has: masks that were resampled,
    and ragged ones, end in a layer of partial sections."""

    def fits(self, profile: NDArray[np.int64]) -> bool:
        """Whether an end with these voxels in each layer is of this shape."""
        if profile[:_LAYERS_FLAT].max() < max(_FEWEST_VOXELS, self.share * profile.max()):
            return False
        if _excess(profile)[:_LAYERS_FLAT].max() < self.margin:
            return False
        behind = [
            profile[k + 1 : k + 1 + _LAYERS_BEHIND].max(initial=1) for k in range(_LAYERS_FLAT)
        ]
        return any(
            profile[k] >= rise * behind[k] for k, rise in enumerate((self.rise, self.ragged_rise))
        )


class FlatEnd(msgspec.Struct, frozen=True):
    """An end of a structure that lies in a plane."""

    normal: tuple[float, float, float]
    """Unit vector that points out of the structure, RAS+."""
    offset_mm: float
    """Where the plane lies along the normal."""
    profile: NDArray[np.int64]
    """Voxels in each layer from the end inwards."""
    points_mm: NDArray[np.float64]
    """(n, 3) centres of the voxels of the end."""


def ends_bluntly(
    mask: NDArray[np.bool_], layer: NDArray[np.int64], *, near: int, depth: int, margin: float
) -> tuple[bool, bool]:
    """Whether the mask ends bluntly within `near` layers of a limit, and whether such an end
    touches the limit.

    `layer` counts layers of voxels from the limit, 0 beside it. Each part of the mask within
    `depth` layers of its end is judged by itself, so that one loop of bowel that leaves the scan
    counts however large the rest is.
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
    """By how much the sections from an end inwards exceed those of an ellipsoid, as shares of the
    largest.

    `least_half`: layers that the ellipsoid's half length has at least; of a small part close to the
    limit of the scan most is not seen as likely as not."""
    filled = np.flatnonzero(profile)
    goes_on = filled[-1] == len(profile) - 1
    half = float(len(profile)) if goes_on else max((filled[-1] + 1) / 2.0, float(least_half))
    depth = np.minimum((np.arange(len(profile)) + 0.5) / half, 1.0)
    expected = 1.0 - (1.0 - depth) ** 2
    excess: NDArray[np.float64] = profile / profile.max() - expected
    return excess


def flat_ends(region: Region, shape: EndShape, depth_mm: float) -> Iterator[FlatEnd]:
    """Ends of a structure that lie in a plane, in any orientation, and have a shape, looked at to a
    depth.

    A plane that cuts a body leaves a facet on its convex hull: the normals of the largest facets
    are tried, and the axes of the array and of the structure itself.
    """
    stride = max(1, int(np.ceil((region.voxels / _MOST_VOXELS) ** (1.0 / 3.0))))
    turned, linear = _towards_right_front_head(region)
    mask = turned[::stride, ::stride, ::stride]
    index = np.argwhere(mask)
    if len(index) < _FEWEST_LAYERS * _FEWEST_VOXELS:
        return
    steps = linear * stride
    # From the centre of the box, so that the columns of `_refined` fall alike in a mirrored
    # structure.
    points = index @ steps.T - (np.array(turned.shape) - 1) / 2.0 @ linear.T
    middle = (np.add(region.box_index.lo, region.box_index.hi) - 1.0) / 2.0
    origin = np.asarray(region.grid.affine.to_world(IndexPoints(middle[None])))[0]
    directions = np.array(_directions(region, points, steps))
    # Of all voxels, also where only some are looked at: the plane lies at the farthest face of any.
    offsets = reach_mm(region, directions)[:, 1]
    longest = float(np.ptp(points @ directions.T, axis=0).max())
    for normal, offset in zip(directions, offsets):
        step = float(np.abs(normal @ steps).sum())
        along = points @ normal
        layer = ((along.max() - along) / step + 1e-6).astype(np.int64)
        depth = max(2 * _FEWEST_LAYERS, int(np.ceil(depth_mm / step)))
        profile = np.bincount(layer)
        is_sheet = float(np.ptp(along)) + step < _SHEET * longest
        if _is_unlike_an_end(profile, is_sheet=is_sheet):
            continue
        end = _largest_end(mask, index, layer, depth)
        profile = np.bincount(layer[end], minlength=_FEWEST_LAYERS)[:depth]
        if shape.fits(profile):
            face = points[end & (layer < _LAYERS_FLAT)] + origin
            x, y, z = (float(v) for v in normal)
            yield FlatEnd((x, y, z), float(offset), profile, face)


def _is_unlike_an_end(profile: NDArray[np.int64], *, is_sheet: bool) -> bool:
    """Whether the layers along a direction,
    from its tip to the other end, rule out that it was cut there."""
    if profile[:_LAYERS_FLAT].max() < _FEWEST_VOXELS:
        return True
    if len(profile) >= _FEWEST_LAYERS:
        return False
    too_few = len(profile) < _FEWEST_LAYERS_OF_ALL
    return is_sheet or too_few or bool(profile[0] < _SHALLOW_RISE * profile.max())


def _towards_right_front_head(region: Region) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """The structure's box with its axes in the order of the patient's, each rising as RAS+ does,
    and their steps.

    Which voxels a stride leaves out, how a hull is triangulated and which of two equal parts comes
    first depend on the order of the voxels: it must not be the file's.
    """
    affine = region.grid.affine
    order = np.argsort([direction.axis.world_index for direction in affine.directions])
    signs = np.array([affine.directions[axis].sign for axis in order])
    i, j, k = (slice(None, None, int(sign)) for sign in signs)
    return region.crop().transpose(order)[i, j, k], affine.linear[:, order] * signs


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


def _directions(
    region: Region, points: NDArray[np.float64], steps: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Unit vectors along which an end is looked for, none within 4° of another."""
    linear = region.grid.affine.linear
    across = np.linalg.inv(linear)  # rows are the normals of the slices across each stored axis
    axes = [*across, *(np.array(axis) for axis in region.principal_axes.directions)]
    wanted = [sign * axis for axis in axes for sign in (1.0, -1.0)]
    chosen: list[NDArray[np.float64]] = []
    units = [vector / np.linalg.norm(vector) for vector in (*wanted, *_facets(points))]
    refined = [_refined(points, unit, steps) for unit in units[len(wanted) :]]
    for unit in (*units[: len(wanted)], *refined):
        if not any(float(unit @ other) > _SAME_COSINE for other in chosen):
            chosen.append(unit)
    return chosen


def _refined(
    points: NDArray[np.float64], normal: NDArray[np.float64], steps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The normal of the plane through the outermost voxels about a direction; the direction if
    there is no plane.

    A facet of the hull is off by some degrees where a cut is ragged; that smears its section over
    several layers.
    """
    cell = float(np.linalg.norm(steps, axis=0).max())
    refined = normal
    for reach in (4.0, 2.0):
        along = points @ refined
        outermost = points[along > along.max() - reach * cell]
        first, second = across(refined)
        # Rounded before they are compared: on a regular grid many lie half a column aside, or
        # equally high.
        columns = np.rint(
            (np.stack([outermost @ first, outermost @ second]) / cell).round(6)
        ).astype(np.int64)
        columns -= columns.min(axis=1, keepdims=True)
        column = columns[0] * (columns[1].max() + 1) + columns[1]
        height = (outermost @ refined / cell).round(6)
        top = np.full(int(column.max()) + 1, -np.inf)
        np.maximum.at(top, column, height)
        surface = outermost[height == top[column]]
        if len(surface) < _FEWEST_VOXELS:
            return normal
        _, _, axes = np.linalg.svd(surface - surface.mean(axis=0), full_matrices=False)
        refined = axes[2] * np.sign(axes[2] @ normal)
        if not refined.any():
            # A plane at right angles to the direction is no end of the structure there.
            return normal
    return refined if float(refined @ normal) > _REFINED_COSINE else normal


def _facets(points: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Normals of the largest facets of the convex hull; neighbours within 8° count as one."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except QhullError:
        return []
    corners = points[hull.simplices]
    areas = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
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
