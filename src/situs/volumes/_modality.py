"""What kind of scan an image is, by its values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["brain_of", "may_show_face", "modality_of"]

_AIR_HU = -200.0
_LARGEST_BRAIN_MM3 = 2.2e6
_SMALLEST_BRAIN_MM3 = 0.5e6


def modality_of(values: NDArray[Any]) -> str:
    """`ct` or `mr`: CT holds air at about -1000; nothing in an MR is so far below zero."""
    return "ct" if float(np.min(values)) < _AIR_HU else "mr"


def may_show_face(values: NDArray[Any], voxel_mm3: float) -> bool:
    """Whether an image of a head holds more than a brain: then its face may be in it.

    Nothing in a file tells for sure that a face was removed. What is left of a skull-stripped head is at most the
    brain, under 2.2 litres; more than that beyond the background (0 in an MR, air in a CT) is warned about.
    """
    background = -500.0 if modality_of(values) == "ct" else 0.0
    return float(np.count_nonzero(values > background)) * voxel_mm3 > _LARGEST_BRAIN_MM3


def brain_of(values: NDArray[Any], voxel_mm3: float) -> NDArray[np.bool_] | None:
    """The brain in an MR of a head stripped of its skull: all that is not 0; None if there is too much or too little
    of it for a brain."""
    if modality_of(values) == "ct":
        return None
    brain: NDArray[np.bool_] = values > 0.0
    volume = float(np.count_nonzero(brain)) * voxel_mm3
    return brain if _SMALLEST_BRAIN_MM3 <= volume <= _LARGEST_BRAIN_MM3 else None
