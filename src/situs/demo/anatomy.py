"""From recognised points to organs and lesions with a size and a place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from situs.demo.sight import CLASS_LESION, CLASSES, Sight

__all__ = ["Finding", "Findings", "measure_findings"]

ORGANS = tuple(name for name in CLASSES if name not in ("other", "lesion"))
_LESION_SHARE = 0.7
_LESION_ML = 0.4
"""Smaller spots are noise."""
_WHOLE = np.ones((3, 3, 3), dtype=bool)


class Finding(NamedTuple):
    """An organ or a lesion."""

    name: str
    volume_ml: float
    height_mm: float
    """From top to bottom."""
    width_mm: float
    """Across, on the slice where it is widest."""
    centre_mm: NDArray[np.float64]
    """Along slice (to the head), y (to the back) and x (to the patient's left)."""


class Findings(NamedTuple):
    """All that was recognised in one patient."""

    organs: dict[str, Finding]
    lesions: list[Finding]
    """Named for the organ that holds them, the largest first."""


def measure_findings(sight: Sight) -> Findings:
    """Organs as the largest connected part of their class,
    lesions as spots inside or beside them."""
    spots, count = ndimage.label(sight.shares[CLASS_LESION] > _LESION_SHARE, structure=_WHOLE)
    organs, masks = {}, {}
    for name in ORGANS:
        mask = _largest(sight.shares[CLASSES.index(name)] > 0.5)
        if mask is not None:
            masks[name] = mask
    lesions: list[Finding] = []
    for number in range(1, count + 1):
        spot = spots == number
        one = _finding("", spot, sight)
        rim = ndimage.binary_dilation(spot, structure=_WHOLE) & ~spot
        touches = {name: int((rim & mask).sum()) for name, mask in masks.items()}
        owner = max(touches, key=lambda name: touches[name], default="")
        if not owner or one.volume_ml < _LESION_ML or touches[owner] < 0.25 * rim.sum():
            continue
        masks[owner] = masks[owner] | spot
        lesions.append(one._replace(name=owner))
    for name, mask in masks.items():
        organs[name] = _finding(name, mask, sight)
    return Findings(organs, sorted(lesions, key=lambda one: -one.volume_ml))


def _largest(mask: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    parts, count = ndimage.label(mask)
    if not count:
        return None
    sizes = np.bincount(parts.ravel())[1:]
    chosen: NDArray[np.bool_] = parts == 1 + int(sizes.argmax())
    return chosen


def _finding(name: str, mask: NDArray[np.bool_], sight: Sight) -> Finding:
    spacing = np.array(sight.stack.spacing_mm)
    points = np.argwhere(mask) * spacing
    voxel_ml = float(spacing.prod()) / 1000.0
    # An ellipsoid of half-axis h has the variance h² / 5 along it; one slice adds its own
    # thickness.
    along = float(points[:, 0].var()) + spacing[0] ** 2 / 12.0 * (len(np.unique(points[:, 0])) == 1)
    areas = mask.sum(axis=(1, 2))
    across = 2.0 * float(np.sqrt(areas.max() * spacing[1] * spacing[2] / np.pi))
    height = 2.0 * float(np.sqrt(5.0 * along))
    return Finding(name, len(points) * voxel_ml, height, across, points.mean(axis=0))
