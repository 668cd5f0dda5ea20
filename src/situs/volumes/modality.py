"""What kind of scan an image is, by its values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["brain_of", "may_show_face", "modality_of"]

_AIR_HU = -200.0
_DENSEST_AIR_HU = -900.0
"""What lies around a patient in a CT is no denser."""
_LARGEST_BRAIN_MM3 = 2.2e6
_SMALLEST_BRAIN_MM3 = 0.5e6


def modality_of(values: NDArray[Any]) -> str:
    """`ct` or `mr`: CT holds air at about -1000; an MR so far below zero has had its mean taken
    off.

    Then what was 0 around the patient is one value, and seldom one that CT has there.
    """
    lowest = float(np.min(values))
    if lowest >= _AIR_HU:
        return "mr"
    may_be_air = lowest <= _DENSEST_AIR_HU and lowest.is_integer()
    return "mr" if not may_be_air and _background(values) == lowest else "ct"


def _background(values: NDArray[Any]) -> float | None:
    """The one value that most of the array's faces have;
    None if none is so common, as where there is noise."""
    faces = np.concatenate(
        [values[(slice(None),) * axis + (end,)].ravel() for axis in range(3) for end in (0, -1)]
    )
    levels, counts = np.unique(faces, return_counts=True)
    return float(levels[counts.argmax()]) if 2 * counts.max() > faces.size else None


def may_show_face(values: NDArray[Any], voxel_mm3: float) -> bool:
    """Whether an image of a head holds more than a brain: then its face may be in it.

    Nothing in a file tells for sure that a face was removed. What is left of a skull-stripped head
    is at most the brain, under 2.2 litres; more than that beside the background (air in a CT) is
    warned about.
    """
    body = values > -500.0 if modality_of(values) == "ct" else _foreground(values)
    return float(np.count_nonzero(body)) * voxel_mm3 > _LARGEST_BRAIN_MM3


def _foreground(values: NDArray[Any]) -> NDArray[np.bool_]:
    """What an MR shows of the patient:
    all that is not the value around it, which is 0 unless values were shifted."""
    around = _background(values)
    if around is None:
        above: NDArray[np.bool_] = values > 0.0
        return above
    foreground: NDArray[np.bool_] = values != around
    # An image of one value has no background to tell it from.
    return foreground if foreground.any() else values > 0.0


def brain_of(values: NDArray[Any], voxel_mm3: float) -> NDArray[np.bool_] | None:
    """The brain in an MR of a head stripped of its skull: all that is not background, which is 0,
    or another value where the mean was taken off; None if there is too much or too little of it for
    a brain."""
    if modality_of(values) == "ct":
        return None
    brain = _foreground(values)
    volume = float(np.count_nonzero(brain)) * voxel_mm3
    return brain if _SMALLEST_BRAIN_MM3 <= volume <= _LARGEST_BRAIN_MM3 else None
