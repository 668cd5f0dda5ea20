"""What kind of scan an image is, by its values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["modality_of", "padding_of"]

_AIR_HU = -200.0
_PADDING_HU = -1100.0
"""Below what any tissue or air can have: scanners write such values outside the reconstructed circle."""


def modality_of(values: NDArray[Any]) -> str:
    """`ct` or `mr`: CT holds air at about -1000; nothing in an MR is so far below zero."""
    return "ct" if float(np.min(values)) < _AIR_HU else "mr"


def padding_of(values: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Voxels of a CT that lie outside the reconstructed field; None if it has none.

    Padding by -1024, the value of air, cannot be told from air and is not found.
    """
    outside: NDArray[np.bool_] = values < _PADDING_HU
    return outside if outside.any() else None
