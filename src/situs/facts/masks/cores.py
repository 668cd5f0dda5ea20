"""Whether a mask has a waist: two organs drawn as one."""

from __future__ import annotations

import numpy as np

from situs.measure import Region

__all__ = ["second_core"]

_DEPTH = 0.3
"""Part of the depth of the deepest point below which voxels belong to no core."""
_MOST_VOXELS = 100_000
"""Of larger masks only every second or third voxel along each axis is looked at."""


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
