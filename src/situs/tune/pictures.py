"""Pictures of training data: whole, of a size that fits, and what belongs to nobody."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["is_uniform", "opened_picture", "picture_bytes"]

_MOST_BYTES = 256 << 20
_MOST_PIXELS = 1 << 26
"""Of 8,192 × 8,192: none that a model is shown is larger, and a small file can claim many more."""


def picture_bytes(path: Path) -> bytes:
    """What a picture's file holds; ValueError if that is more than any has."""
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"more than {_MOST_BYTES >> 20} MB")
    return path.read_bytes()


@contextmanager
def opened_picture(data: bytes) -> Iterator[Image]:
    """A picture that is decoded; OSError, SyntaxError or ValueError if it is none, or too large."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        try:
            opened = Image.open(io.BytesIO(data), formats=("PNG", "JPEG"))
        except Image.DecompressionBombError as error:
            raise ValueError(str(error)) from error
    with opened as picture:
        if picture.width * picture.height > _MOST_PIXELS:
            raise ValueError(f"more than {_MOST_PIXELS:,} pixels")
        picture.load()
        yield picture


def is_uniform(data: bytes) -> bool:
    """Whether a picture has one grey only:
    padding and fill slices are the same in every patient."""
    with opened_picture(data) as picture:
        extrema = picture.getextrema()
    bands = extrema if isinstance(extrema[0], tuple) else (extrema,)
    return all(low == high for low, high in bands)
