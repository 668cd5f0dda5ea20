"""Painting over a part of an image so that it looks like what is around it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["filled"]

_RIM = 4
"""Voxels of surroundings that the fill is matched to."""


def filled(
    image: NDArray[Any], mask: NDArray[np.bool_], like: NDArray[np.bool_] | None, seed: int
) -> NDArray[Any]:
    """A copy of the image with the mask filled from around it.

    The smooth part is carried in from the rim (a Gaussian mean of what lies outside the mask, and
    inside `like` where that is given: the organ around a lesion); the grain is drawn from the rim's
    own deviations. The mask's border of partial volume, one voxel wide, is filled as well.
    """
    from scipy.ndimage import binary_dilation, gaussian_filter

    window = _window(mask, _RIM * 3)
    part, hole = image[window].astype(np.float32), mask[window]
    hole = binary_dilation(hole, iterations=1)
    source = binary_dilation(hole, iterations=_RIM) & ~hole
    if like is not None and (source & like[window]).sum() >= 30:
        source &= like[window]
    if not source.any():
        return image
    weight = gaussian_filter(source.astype(np.float32), _RIM)
    smooth = gaussian_filter(np.where(source, part, 0.0), _RIM)
    far = weight < 1e-3
    base = np.where(far, float(part[source].mean()), smooth / np.maximum(weight, 1e-3))
    grain = part[source] - base[source]
    generator = np.random.default_rng(seed)
    noise = generator.choice(grain - grain.mean(), size=int(hole.sum()))
    result = image.copy()
    target = result[window]
    value = base[hole] + noise
    if image.dtype.kind in "iu":
        bounds = np.iinfo(image.dtype)
        value = np.rint(value).clip(bounds.min, bounds.max)
    target[hole] = value.astype(image.dtype)
    return result


def _window(mask: NDArray[np.bool_], margin: int) -> tuple[slice, ...]:
    where = np.argwhere(mask)
    lo, hi = where.min(axis=0) - margin, where.max(axis=0) + margin + 1
    return tuple(slice(max(0, int(a)), min(n, int(b))) for a, b, n in zip(lo, hi, mask.shape))
