"""How one DICOM file stores its pixels, checked before any is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from situs.errors import SitusError

if TYPE_CHECKING:
    from pydicom.dataset import Dataset

__all__ = ["FORMAT_KEYWORDS", "UNPACKED", "PixelFormat", "numbers", "pixel_format", "whole"]

FORMAT_KEYWORDS = (
    "Rows",
    "Columns",
    "NumberOfFrames",
    "SamplesPerPixel",
    "PhotometricInterpretation",
    "BitsAllocated",
    "BitsStored",
    "HighBit",
    "PixelRepresentation",
    "SharedFunctionalGroupsSequence",
    "PerFrameFunctionalGroupsSequence",
)
UNPACKED = ("1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2")
"""Implicit little, explicit little and big endian:
the size of the file tells whether all pixels are there."""
_MOST_FRAMES = 1_000_000


@dataclass(frozen=True)
class PixelFormat:
    """How one file stores its pixels."""

    rows: int
    columns: int
    frames: int
    bits: int
    """Allocated for each pixel: 1, 8, 16 or 32."""
    bits_used: int
    signed: bool
    inverted: bool
    """MONOCHROME1: small values are meant to look bright."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that holds the stored pixels."""
        return np.dtype(f"{'i' if self.signed else 'u'}{max(1, self.bits // 8)}")

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value that the used bits can hold."""
        half = 1 << (self.bits_used - 1)
        return (-half, half - 1) if self.signed else (0, 2 * half - 1)


def numbers(element: Any, count: int, *, what: str, where: Path) -> tuple[float, ...]:
    """`count` finite numbers, or an error that says what is missing but not what was found."""
    values = (
        [element]
        if not isinstance(element, Sequence) or isinstance(element, str)
        else list(element)
    )
    if element is None or element == "" or len(values) != count:
        raise SitusError(f"has no {what}", where=where, fix="give images with complete geometry")
    try:
        finite_values = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise SitusError(
            f"its {what} is not a number", where=where, fix="repair the header"
        ) from None
    if not np.isfinite(finite_values).all() or max(map(abs, finite_values)) > 1e7:
        raise SitusError(
            f"its {what} is NaN, infinite or out of range", where=where, fix="repair the header"
        )
    return finite_values


def whole(element: Any, *, what: str, where: Path, default: int | None = None) -> int:
    """One whole number that is not negative."""
    if element is None and default is not None:
        return default
    (value,) = numbers(element, 1, what=what, where=where)
    if value < 0 or value != int(value):
        raise SitusError(
            f"its {what} is not a whole number",
            where=where,
            fix="the header is damaged; export it again",
        )
    return int(value)


def pixel_format(dataset: Dataset, size: int, path: Path) -> PixelFormat:
    """The pixel format, refused when it is not of one
    grey channel or the file is too short for it."""
    rows, columns, bits = (
        whole(dataset.get(keyword), what=keyword, where=path)
        for keyword in ("Rows", "Columns", "BitsAllocated")
    )
    used = whole(dataset.get("BitsStored"), what="BitsStored", where=path, default=bits)
    frames = whole(dataset.get("NumberOfFrames"), what="NumberOfFrames", where=path, default=1)
    photometric = str(dataset.get("PhotometricInterpretation", ""))
    samples = whole(dataset.get("SamplesPerPixel"), what="SamplesPerPixel", where=path, default=1)
    if samples != 1 or photometric not in ("MONOCHROME1", "MONOCHROME2"):
        raise SitusError(
            "is a colour picture, not a scan", where=path, fix="give the original images"
        )
    if bits not in (1, 8, 16, 32) or not 0 < used <= bits:
        raise SitusError(
            f"{used} of {bits} bits per pixel are not supported", where=path, fix="export it again"
        )
    if whole(dataset.get("HighBit"), what="HighBit", where=path, default=used - 1) != used - 1:
        raise SitusError(
            "its pixels do not start at the lowest bit", where=path, fix="export it again"
        )
    if not (rows > 0 and columns > 0 and 0 < frames <= _MOST_FRAMES):
        raise SitusError(
            "a dimension is zero or out of range",
            where=path,
            fix="the header is damaged; export it again",
        )
    needed = -(-rows * columns * frames * bits // 8)
    if str(dataset.file_meta.get("TransferSyntaxUID", UNPACKED[0])) in UNPACKED and needed > size:
        raise SitusError(
            f"truncated: {size} of {needed} bytes", where=path, fix="copy or download it again"
        )
    signed = (
        whole(dataset.get("PixelRepresentation"), what="PixelRepresentation", where=path, default=0)
        == 1
    )
    return PixelFormat(rows, columns, frames, bits, used, signed, photometric == "MONOCHROME1")
