"""What kind of scan an image is, by its values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["brain_of", "may_show_face", "modality_of"]

_AIR_HU = -200.0
_DENSEST_AIR_HU = -900.0
"""What lies around a patient in a CT is no denser."""
_OF_SPREAD = 1e-3
"""A mean that is this small beside the spread of the values was taken off. The mean of a CT depends
on how much air is in it, and lies so near to 0 in one of about a thousand."""
_LARGEST_BRAIN_MM3 = 2.2e6
_SMALLEST_BRAIN_MM3 = 0.5e6


def modality_of(values: NDArray[Any]) -> str:
    """`ct` or `mr`: CT holds air at about -1000; an MR so far below zero has had its mean taken
    off.

    Then what was 0 around the patient is one value, and seldom one that CT has there; or, where
    there is noise around the patient, the mean is still 0.
    """
    lowest = float(np.min(values))
    if lowest >= _AIR_HU:
        return "mr"
    if lowest <= _DENSEST_AIR_HU and lowest.is_integer():
        return "ct"
    return "mr" if _background(values) == lowest or _has_no_mean(values) else "ct"


def _has_no_mean(values: NDArray[Any]) -> bool:
    """Whether the mean is 0 but for rounding: of whole numbers that may leave half of one."""
    mean, spread = float(values.mean(dtype=np.float64)), float(values.std(dtype=np.float64))
    rounding = 0.5 if np.issubdtype(values.dtype, np.integer) else _OF_SPREAD * spread
    return abs(mean) <= rounding


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
        # Where the mean was taken off there is noise on both sides of 0: nothing tells the patient
        # from it, and all may be patient.
        has_noise_below = bool((values < 0.0).any())
        above: NDArray[np.bool_] = (values > 0.0) | has_noise_below
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
