"""Subregions that masks do not split:
parts of a mask by stated fractions along the joint's own axes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from situs.anatomy.banks import Region
from situs.facts.grades.joint.frame import JointFrame, Points
from situs.facts.grades.joint.losses import Losses, find_losses
from situs.facts.grades.joint.surface import measure_surface
from situs.space import Grid, IndexBox, IndexPoints, WorldBox

__all__ = ["JointMasks", "Part", "block_of", "part_of", "with_lesions"]

_AXIS = {"medial_lateral": 0, "posterior_anterior": 1, "inferior_superior": 2}
_JOINT_END = {"femur": "low", "tibia": "high"}
"""Which end of a bone faces the joint."""


class JointMasks:
    """The voxels of each structure of one knee, as indices, read once."""

    def __init__(
        self, grid: Grid, voxels: dict[str, NDArray[np.intp]], told: Collection[str] = ()
    ) -> None:
        self.grid = grid
        self._voxels = voxels
        self._told = frozenset(told)
        self._losses: dict[tuple[str, str], Losses] = {}
        self._own: dict[str, Points] = {}
        self._parts: dict[object, Part | None] = {}
        step = np.abs(grid.affine.linear)
        self.voxel_mm3 = float(abs(np.linalg.det(grid.affine.linear)))
        self.half_voxel_mm = float(np.linalg.norm(step, axis=0).mean()) / 2.0

    @property
    def names(self) -> list[str]:
        """Structures that have voxels, sorted."""
        return sorted(name for name, voxels in self._voxels.items() if len(voxels))

    def __contains__(self, name: str) -> bool:
        return name in self._voxels

    def is_told(self, name: str) -> bool:
        """Whether the masks tell of the structure:
        it is there, or the label map names it and it is empty."""
        return name in self._voxels or name in self._told

    def indices(self, name: str) -> NDArray[np.intp]:
        """(n, 3) stored indices of a structure; none if it is named but empty."""
        return self._voxels[name] if name in self._voxels else np.empty((0, 3), dtype=np.intp)

    def points_mm(self, name: str) -> Points:
        """(n, 3) voxel centres in mm."""
        return self.to_mm(self._voxels[name])

    def to_mm(self, indices: NDArray[np.intp]) -> Points:
        """Voxel centres in mm."""
        return np.asarray(self.grid.affine.to_world(IndexPoints(indices.astype(np.float64))))

    def losses(self, bone: str, cartilage: str, frame: JointFrame) -> Losses:
        """Where on a bone's surface cartilage is lost; worked out once."""
        key = (bone, cartilage)
        if key not in self._losses:
            surface = measure_surface(self.indices(bone), self.indices(cartilage), self.grid, frame)
            self._losses[key] = find_losses(surface, bone, self.half_voxel_mm)
        return self._losses[key]

    def own(self, name: str, frame: JointFrame) -> Points:
        """(n, 3) voxel centres of a structure in the joint's frame;
        worked out once, for the one frame of the joint."""
        if name not in self._own:
            affine = self.grid.affine
            turn = frame.axes @ affine.linear
            self._own[name] = self._voxels[name] @ turn.T + frame.axes @ affine.matrix[:3, 3]
        return self._own[name]

    def part(self, region: Region, frame: JointFrame) -> Part | None:
        """The voxels of a region, worked out once."""
        key = (region.structure, tuple(sorted(region.span.items())), region.joint_mm)
        if key not in self._parts:
            self._parts[key] = part_of(region, self, frame)
        return self._parts[key]

    def centres_mm(self) -> dict[str, Points]:
        """The centroid of each structure."""
        return {name: self.to_mm(voxels).mean(axis=0) for name, voxels in self._voxels.items()}


@dataclass(frozen=True, eq=False)
class Part:
    """The voxels of a region."""

    indices: NDArray[np.intp]
    approximate: bool
    """Whether it was got by dividing a mask by rule."""
    own: Points
    """Its voxel centres in the joint's frame."""

    def box_mm(self, grid: Grid) -> WorldBox:
        """The tight world box over its voxel cubes, also for oblique affines."""
        world = np.asarray(grid.affine.to_world(IndexPoints(self.indices.astype(np.float64))))
        half = grid.affine.half_voxel_mm
        return WorldBox.of(world.min(axis=0) - half, world.max(axis=0) + half)


def part_of(region: Region, masks: JointMasks, frame: JointFrame) -> Part | None:
    """The voxels of a region; None where its mask is absent or nothing of it lies in the region.

    First what lies within `joint_mm` of the joint, then fractions of what is left, along the
    joint's own axes.
    """
    if region.structure not in masks:
        return None
    indices = masks.indices(region.structure)
    if not region.approximate:
        return Part(indices, approximate=False, own=masks.own(region.structure, frame))
    near = _near_joint(region, masks, frame)
    indices, in_frame = indices[near], masks.own(region.structure, frame)[near]
    in_region = np.ones(len(indices), dtype=np.bool_)
    for axis, (first, last) in region.span.items():
        along = in_frame[:, _AXIS[axis]]
        lo, hi = along.min() - masks.half_voxel_mm, along.max() + masks.half_voxel_mm
        share = (along - lo) / (hi - lo)
        in_region &= (share >= first) & ((share < last) | (last == 1.0))
    return (
        Part(indices[in_region], approximate=True, own=in_frame[in_region])
        if in_region.any()
        else None
    )


def block_of(region: Region, masks: JointMasks, frame: JointFrame) -> WorldBox | None:
    """The world box around a block placed by a structure's extent,
    as far as the scan reaches; None beyond it."""
    if region.structure not in masks:
        return None
    in_frame = masks.own(region.structure, frame)[_near_joint(region, masks, frame)]
    lo, hi = in_frame.min(axis=0) - masks.half_voxel_mm, in_frame.max(axis=0) + masks.half_voxel_mm
    ends = [lo[n] + (hi[n] - lo[n]) * np.array(region.span[axis]) for axis, n in _AXIS.items()]
    corners = np.array(list(product(*ends))) @ frame.axes
    scan = IndexBox((0, 0, 0), masks.grid.shape).to_world(masks.grid.affine)
    first, last = (
        np.maximum(corners.min(axis=0), scan.lo_mm),
        np.minimum(corners.max(axis=0), scan.hi_mm),
    )
    return WorldBox.of(first, last) if (first < last).all() else None


def _near_joint(region: Region, masks: JointMasks, frame: JointFrame) -> NDArray[np.bool_]:
    """Which voxels of the region's structure lie within its distance of the joint;
    all if it has none."""
    height = masks.own(region.structure, frame)[:, 2]
    if region.joint_mm is None:
        return np.ones(len(height), dtype=np.bool_)
    half = masks.half_voxel_mm
    near_low = _JOINT_END.get(region.structure, "low") == "low"
    depth = height - (height.min() - half) if near_low else height.max() + half - height
    near: NDArray[np.bool_] = depth <= region.joint_mm
    return near


def with_lesions(
    bones: dict[str, NDArray[np.intp]], lesions: NDArray[np.intp], shape: tuple[int, ...]
) -> dict[str, NDArray[np.intp]]:
    """Bones that hold the lesions within them, also where labels exclude each other and lesions are
    holes in a bone.

    There a lesion voxel belongs to the bones with the nearest voxels. Masks that overlap the
    lesions are left alone.
    """
    from scipy.ndimage import distance_transform_edt

    # A lesion is next to its bone: a few voxels around all lesions are enough.
    low, high = np.maximum(lesions.min(axis=0) - 3, 0), np.minimum(lesions.max(axis=0) + 4, shape)
    places = tuple((lesions - low).T)
    reach = np.full((len(bones), len(lesions)), np.inf)
    for number, voxels in enumerate(bones.values()):
        near = voxels[((voxels >= low) & (voxels < high)).all(axis=1)]
        free = np.ones(high - low, dtype=np.bool_)
        free[tuple((near - low).T)] = False
        if not free[places].all():
            return bones
        if len(near):
            reach[number] = distance_transform_edt(free)[places]
    nearest = (reach == reach.min(axis=0)) & np.isfinite(reach)
    return {
        name: np.concatenate([bones[name], lesions[is_nearest]])
        for name, is_nearest in zip(bones, nearest)
    }
