"""Whether two organs were drawn as one: a mask with a waist, with a spur, or in both flanks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.measure import Region
from situs.space import IndexPoints

__all__ = ["in_both_flanks", "second_core", "spur_mm"]

_DEPTH = 0.3
"""Part of the depth of the deepest point below which voxels belong to no core."""
_MOST_VOXELS = 100_000
"""Of larger masks only every second or third voxel along each axis is looked at."""

_THIN_MM = 5.0
"""Half the thickness of what counts as a spur: an adrenal gland's limbs are thinner."""

_BESIDE_SPINE_MM = 40.0
"""So far to the left or right of the vertebrae's centres a flank begins,"""
_BEFORE_SPINE_MM = 20.0
"""and it lies behind a plane so far in front of them, about the front of their bodies."""


def in_both_flanks(region: Region, vertebrae_mm: NDArray[np.float64]) -> float:
    """Share of a structure that lies in that flank of the patient of which it holds less; 0 without
    vertebrae.

    The liver fills one flank and crosses the midline in front of the stomach: one that lies in the
    other flank as well was drawn together with the spleen. `vertebrae_mm`: their centres.
    """
    if not len(vertebrae_mm):
        return 0.0
    stride = max(1, int(np.ceil((region.voxels / _MOST_VOXELS) ** (1.0 / 3.0))))
    index = np.argwhere(region.crop()[::stride, ::stride, ::stride]) * stride
    if not len(index):
        return 0.0
    world = region.grid.affine.to_world(IndexPoints(index + np.array(region.box_index.lo)))
    x, y, z = np.asarray(world).T
    row = vertebrae_mm[np.argsort(vertebrae_mm[:, 2])]
    across = x - np.interp(z, row[:, 2], row[:, 0])
    is_behind = y < np.interp(z, row[:, 2], row[:, 1]) + _BEFORE_SPINE_MM
    shares = [(is_behind & (sign * across > _BESIDE_SPINE_MM)).mean() for sign in (1.0, -1.0)]
    return float(min(shares))


def second_core(region: Region) -> float:
    """The second largest part, as a share of all, of what lies deep below a structure's surface; 0
    if it is one part.

    An organ has one core. Where two that touch were drawn as one, the skin between them is thin and
    parts the cores.
    """
    from scipy import ndimage

    stride = max(1, int(np.ceil((region.voxels / _MOST_VOXELS) ** (1.0 / 3.0))))
    mask = np.pad(region.crop()[::stride, ::stride, ::stride], 1)
    if not mask.any():
        return 0.0
    depth = ndimage.distance_transform_edt(mask, sampling=region.grid.affine.spacing_mm)
    parts, count = ndimage.label(depth > _DEPTH * depth.max())
    sizes = np.sort(np.bincount(parts.ravel())[1:])
    return float(sizes[-2] / sizes.sum()) if count > 1 else 0.0


def spur_mm(region: Region) -> float:
    """By how much a structure is longer, along the voxel axis of which that is most, than the part
    of it that balls of 1 cm fill; 0 where voxels are too large to tell.

    A plump organ has no thin end: what sticks out of it is a neighbour drawn with it.
    """
    from scipy import ndimage

    spacing = np.asarray(region.grid.affine.spacing_mm)
    if spacing.max() > _THIN_MM:
        return 0.0
    mask = np.pad(region.crop(), 1)
    core = ndimage.distance_transform_edt(mask, sampling=spacing) > _THIN_MM
    if not core.any():
        return 0.0
    plump = mask & (ndimage.distance_transform_edt(~core, sampling=spacing) <= _THIN_MM)
    lengths = [np.ptp(np.argwhere(part), axis=0) for part in (mask, plump)]
    return float(((lengths[0] - lengths[1]) * spacing).max())
