"""What a model is handed: encoded pictures, or a whole volume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["Image", "VolumeInput"]


class Image(msgspec.Struct, frozen=True):
    """An encoded picture; its digest stands for it in caches and logs."""

    data: bytes
    media_type: str
    """`image/png` or `image/jpeg`."""
    digest: str
    width: int
    height: int


class VolumeInput:
    """A whole volume for a 3D model, as the profile prepared it;
    the array is made when first asked for."""

    def __init__(
        self, load: Callable[[], NDArray[Any]], affine: NDArray[np.float64] | None, digest: str
    ) -> None:
        self._load = load
        self.affine = affine
        """4×4, array index → RAS+ mm; None where the series has no millimetres."""
        self.digest = digest
        """Of the source volume and the profile; nothing of a path or name."""

    def array(self) -> NDArray[Any]:
        """The voxels, in the profile's orientation, spacing, crop and intensity."""
        return self._load()
