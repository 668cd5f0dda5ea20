"""A bone's surface, point by point:
its normal, its area, and the thickness of cartilage upon it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.facts.grades.joint.frame import JointFrame, Points
from situs.space import Grid, IndexPoints, WorldPoints

__all__ = ["BoneSurface", "measure_surface"]

Mask = NDArray[np.bool_]

_AROUND_MM = 12.0
"""How far around the cartilage the bone's surface is looked at: farther than cartilage is thick."""
_STEP_MM = 0.25
_INTO_BONE_MM = 2.0
_BEYOND_MM = 9.0
"""How far a line along the normal runs to either side of the surface, and between its points."""
_START_MM = 1.5
"""Cartilage that begins farther above the surface is that of something else."""
_SMOOTH_MM = 0.75
"""Least width of the smoothing from which normals are taken; one voxel if that is more."""
_USUAL = 95.0
"""Percentile of thickness, among points that bear cartilage, that is usual on a bone."""
_ANY_MM = 0.25
_NARROWEST_MM = 0.75
"""Half the width of the narrowest patch that counts; one voxel if that is more."""
_TIE = 1e-6
"""Relative: rounding decides no comparison of distances that are equal."""
_LINK = 1.8
"""Points nearer than so many voxels are neighbours: across a face, an edge or a corner."""


@dataclass(frozen=True, eq=False)
class BoneSurface:
    """Voxels at a bone's surface near its cartilage."""

    indices: NDArray[np.intp]
    points_mm: Points
    normals: Points
    """Outwards, in the joint's frame: lateral, anterior, superior."""
    area_mm2: Points
    thickness_mm: Points
    usual_mm: float
    spacing_mm: Points

    def thinner_than(self, share: float) -> Mask:
        """Where cartilage is thinner than this share of what is usual on the bone,
        in patches wide enough to count."""
        return self.without_specks(self.thickness_mm < share * self.usual_mm)

    def shut_in(self, lost: Mask) -> list[Mask]:
        """The patches around which there is cartilage on all sides.

        The rest is one with the bone's bare outside: there the cartilage may have ended of itself.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        members = np.flatnonzero(lost)
        if not len(members):
            return []
        position = np.full(len(lost), -1)
        position[members] = np.arange(len(members))
        pairs = position[self._neighbours]
        pairs = pairs[(pairs >= 0).all(axis=1)]
        ones = np.ones(len(pairs), dtype=np.int8)
        links = coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(len(members), len(members)))
        count, component = connected_components(links, directed=False)
        outer = int(np.bincount(component, weights=self.area_mm2[members]).argmax())
        patches = []
        for number in range(count):
            if number != outer:
                patch = np.zeros_like(lost)
                patch[members[component == number]] = True
                patches.append(patch)
        return patches

    def grown(self, patch: Mask, mm: float) -> Mask:
        """The patch with a seam of this width around it,
        or without its own seam if the width is negative."""
        inner, outer = (patch, ~patch) if mm >= 0 else (~patch, patch)
        if not inner.any() or not outer.any():
            return patch
        reached = np.zeros_like(patch)
        # Between two voxels of different kind, the edge lies in the middle.
        reached[outer] = self._within(abs(mm) + self._half_mm, inner, outer)
        return patch | reached if mm >= 0 else patch & ~reached

    def without_specks(self, mask: Mask) -> Mask:
        """An opening: patches that hold no disc of the least radius go."""
        core = self.grown(mask, -self.narrowest_mm)
        return mask & self.grown(core, self.narrowest_mm) if core.any() else core

    @property
    def narrowest_mm(self) -> float:
        """Half the width of the narrowest patch that counts."""
        return max(_NARROWEST_MM, float(self.spacing_mm.max()))

    @functools.cached_property
    def _half_mm(self) -> float:
        return float(self.spacing_mm.mean()) / 2.0

    @functools.cached_property
    def _neighbours(self) -> NDArray[np.intp]:
        from scipy.spatial import cKDTree

        pairs = cKDTree(self.points_mm).query_pairs(
            _LINK * float(self.spacing_mm.max()), output_type="ndarray"
        )
        return np.asarray(pairs)

    def _within(self, mm: float, to: Mask, of: Mask) -> Mask:
        """Which points of one mask lie no farther from the other than this."""
        from scipy.spatial import cKDTree

        distances, _ = cKDTree(self.points_mm[to]).query(
            self.points_mm[of], distance_upper_bound=mm * (1.0 + _TIE)
        )
        near: Mask = np.isfinite(distances)
        return near


def measure_surface(
    bone: NDArray[np.intp], cartilage: NDArray[np.intp], grid: Grid, frame: JointFrame
) -> BoneSurface:
    """The surface of a bone around its cartilage;
    thickness is measured along the surface's own normals."""
    from scipy.ndimage import gaussian_filter

    spacing = np.asarray(grid.affine.spacing_mm, dtype=np.float64)
    margin = np.ceil(_AROUND_MM / spacing).astype(int)
    low = np.maximum(cartilage.min(axis=0) - margin, 0)
    high = np.minimum(cartilage.max(axis=0) + margin + 1, grid.shape)
    solid, cover = (_painted(voxels, low, high) for voxels in (bone, cartilage))
    flux = _open_faces(solid, grid)
    # Where the crop cuts the bone there is no surface.
    flux[~_inner(solid.shape, low, high, grid)] = 0.0
    places = np.argwhere((flux != 0.0).any(axis=-1))
    smooth = gaussian_filter(
        solid.astype(np.float32), max(_SMOOTH_MM, float(spacing.max())) / spacing
    )
    normals = _outwards(smooth, places, grid)
    area = np.maximum((flux[tuple(places.T)] * normals).sum(axis=1), 0.0)
    indices = places + low
    points = np.asarray(grid.affine.to_world(IndexPoints(indices.astype(np.float64))))
    thickness = _along_normals(cover, low, points, normals, grid)
    bearing = thickness[thickness > _ANY_MM]
    usual = float(np.percentile(bearing, _USUAL)) if bearing.size else 0.0
    return BoneSurface(indices, points, frame.own(normals), area, thickness, usual, spacing)


def _painted(voxels: NDArray[np.intp], low: NDArray[Any], high: NDArray[Any]) -> Mask:
    box = np.zeros(tuple(high - low), dtype=np.bool_)
    near = voxels[((voxels >= low) & (voxels < high)).all(axis=1)]
    box[tuple((near - low).T)] = True
    return box


def _inner(shape: tuple[int, ...], low: NDArray[Any], high: NDArray[Any], grid: Grid) -> Mask:
    """Voxels that do not lie where the crop cuts through the array."""
    inner = np.ones(shape, dtype=np.bool_)
    for axis in range(3):
        along = np.moveaxis(inner, axis, 0)
        if low[axis] > 0:
            along[0] = False
        if high[axis] < grid.shape[axis]:
            along[-1] = False
    return inner


def _open_faces(solid: Mask, grid: Grid) -> Points:
    """Per voxel the sum of its open faces as vectors (mm²), outwards in RAS+.

    On a smooth surface their component along the normal adds up to its area, whatever way it lies
    to the voxels: the flux of a constant field through the staircase is that through the surface.
    """
    padded = np.pad(solid, 1)
    flux = np.zeros((*solid.shape, 3))
    # A face's vector is that of the cofactor matrix: area times the normal of the plane that the
    # other axes span.
    cofactors = np.linalg.inv(grid.affine.linear).T * abs(np.linalg.det(grid.affine.linear))
    for axis in range(3):
        for sign in (1, -1):
            beside = np.roll(padded, -sign, axis=axis)[1:-1, 1:-1, 1:-1]
            flux[solid & ~beside] += sign * cofactors[:, axis]
    return flux


def _outwards(smooth: NDArray[np.float32], places: NDArray[np.intp], grid: Grid) -> Points:
    """Unit vectors down the slope of a smoothed mask, RAS+."""
    from scipy.ndimage import map_coordinates

    slope = np.empty((len(places), 3))
    for axis in range(3):
        step = np.eye(3)[axis]
        ahead, behind = (
            map_coordinates(smooth, (places + sign * step).T, order=1, mode="nearest")
            for sign in (1.0, -1.0)
        )
        slope[:, axis] = ahead - behind
    world = -slope @ np.linalg.inv(grid.affine.linear)
    length = np.linalg.norm(world, axis=1, keepdims=True)
    unit: Points = world / np.maximum(length, 1e-12)
    return unit


def _along_normals(
    cover: Mask, low: NDArray[Any], points: Points, normals: Points, grid: Grid
) -> Points:
    """How much cartilage a line along each normal meets,
    from the bone to the first gap; finer than a voxel."""
    from scipy.ndimage import map_coordinates

    field = cover.astype(np.float32)
    thickness = np.zeros(len(points))
    started = np.zeros(len(points), dtype=np.bool_)
    ended = np.zeros(len(points), dtype=np.bool_)
    origin = np.asarray(grid.affine.to_index(WorldPoints(points))) - low
    per_mm = normals @ np.linalg.inv(grid.affine.linear).T
    for step in np.arange(-_INTO_BONE_MM, _BEYOND_MM, _STEP_MM):
        share = map_coordinates(field, (origin + step * per_mm).T, order=1, mode="constant")
        ended |= ~started & (step > _START_MM) & (share < 0.5)
        started |= share >= 0.5
        ended |= started & (share < 1e-3)
        thickness += np.where(ended, 0.0, _STEP_MM * share)
    return np.where(started, thickness, 0.0)
