"""What kind of scan an image is, by its values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["modality_of"]

_AIR_HU = -200.0


def modality_of(values: NDArray[Any]) -> str:
    """`ct` or `mr`: CT holds air at about -1000; nothing in an MR is so far below zero."""
    return "ct" if float(np.min(values)) < _AIR_HU else "mr"
