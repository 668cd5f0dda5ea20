"""What the header of a DICOM image says of each of its frames: where it lies and what its values mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from situs.errors import SitusError
from situs.volumes._dicom_files import quiet, read_dataset

if TYPE_CHECKING:
    from pydicom.dataset import Dataset

__all__ = [
    "FORMAT_KEYWORDS",
    "UNPACKED",
    "Frame",
    "ImageFile",
    "PixelFormat",
    "Plane",
    "frame_groups",
    "pixel_format",
    "plane_of",
    "read_image",
    "whole",
]

_FUNCTIONAL_GROUPS = ("SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence")
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
    *_FUNCTIONAL_GROUPS,
)
_KEYWORDS = (
    "ModalityLUTSequence",
    "ImagePositionPatient",
    "ImageOrientationPatient",
    "PixelSpacing",
    "SliceThickness",
    "SpacingBetweenSlices",
    "RescaleSlope",
    "RescaleIntercept",
    *FORMAT_KEYWORDS,
)
UNPACKED = ("1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2")
"""Implicit little, explicit little and big endian: the size of the file tells whether all pixels are there."""
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


@dataclass(frozen=True)
class Plane:
    """Where one frame lies, in DICOM's LPS millimetres."""

    position: tuple[float, ...]
    """Centre of the first pixel."""
    orientation: tuple[float, ...]
    """Unit steps along a row, then down a column."""
    spacing: tuple[float, ...]
    """Between rows, then between columns."""
    thickness: float | None
    """From slice to slice, else of the slice, if told."""


@dataclass(frozen=True)
class Frame:
    """One frame of an image."""

    path: Path
    index: int
    """Place in its file, from 0."""
    plane: Plane
    slope: float
    inter: float


@dataclass(frozen=True)
class ImageFile:
    """One file's header, as far as a volume needs it."""

    path: Path
    has_lut: bool
    """Whether values are meant to pass a lookup table."""
    format: PixelFormat
    frames: tuple[Frame, ...]


def numbers(element: Any, count: int, *, what: str, where: Path) -> tuple[float, ...]:
    """`count` finite numbers, or an error that says what is missing but not what was found."""
    values = [element] if not isinstance(element, Sequence) or isinstance(element, str) else list(element)
    if element is None or element == "" or len(values) != count:
        raise SitusError(f"has no {what}", where=where, fix="give images with complete geometry")
    try:
        found = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise SitusError(f"its {what} is not a number", where=where, fix="repair the header") from None
    if not np.isfinite(found).all() or max(map(abs, found)) > 1e7:
        raise SitusError(f"its {what} is NaN, infinite or absurd", where=where, fix="repair the header")
    return found


def whole(element: Any, *, what: str, where: Path, default: int | None = None) -> int:
    """One whole number that is not negative."""
    if element is None and default is not None:
        return default
    (value,) = numbers(element, 1, what=what, where=where)
    if value < 0 or value != int(value):
        raise SitusError(f"its {what} is not a whole number", where=where, fix="the header is damaged; export it again")
    return int(value)


def pixel_format(dataset: Dataset, size: int, path: Path) -> PixelFormat:
    """The pixel format, refused when it is not of one grey channel or the file is too short for it."""
    rows, columns, bits = (
        whole(dataset.get(keyword), what=keyword, where=path) for keyword in ("Rows", "Columns", "BitsAllocated")
    )
    used = whole(dataset.get("BitsStored"), what="BitsStored", where=path, default=bits)
    frames = whole(dataset.get("NumberOfFrames"), what="NumberOfFrames", where=path, default=1)
    photometric = str(dataset.get("PhotometricInterpretation", ""))
    samples = whole(dataset.get("SamplesPerPixel"), what="SamplesPerPixel", where=path, default=1)
    if samples != 1 or photometric not in ("MONOCHROME1", "MONOCHROME2"):
        raise SitusError("is a colour picture, not a scan", where=path, fix="give the original images")
    if bits not in (1, 8, 16, 32) or not 0 < used <= bits:
        raise SitusError(f"{used} of {bits} bits a pixel are not supported", where=path, fix="export it again")
    if whole(dataset.get("HighBit"), what="HighBit", where=path, default=used - 1) != used - 1:
        raise SitusError("its pixels do not start at the lowest bit", where=path, fix="export it again")
    if not (rows > 0 and columns > 0 and 0 < frames <= _MOST_FRAMES):
        raise SitusError("a dimension is zero or absurd", where=path, fix="the header is damaged; export it again")
    needed = -(-rows * columns * frames * bits // 8)
    if str(dataset.file_meta.get("TransferSyntaxUID", UNPACKED[0])) in UNPACKED and needed > size:
        raise SitusError(f"truncated: {size} of {needed} bytes", where=path, fix="copy or download it again")
    signed = whole(dataset.get("PixelRepresentation"), what="PixelRepresentation", where=path, default=0) == 1
    return PixelFormat(rows, columns, frames, bits, used, signed, photometric == "MONOCHROME1")


def plane_of(groups: Sequence[Dataset], path: Path) -> Plane:
    """A frame's place from its functional groups, or from a classic header (itself the only group)."""
    orientation = numbers(
        _find(groups, "PlaneOrientationSequence", "ImageOrientationPatient"), 6, what="orientation", where=path
    )
    position = numbers(_find(groups, "PlanePositionSequence", "ImagePositionPatient"), 3, what="position", where=path)
    spacing = numbers(_find(groups, "PixelMeasuresSequence", "PixelSpacing"), 2, what="pixel spacing", where=path)
    if min(spacing) <= 0:
        raise SitusError("its pixel spacing is not above 0", where=path, fix="repair the header")
    between = _find(groups, "PixelMeasuresSequence", "SpacingBetweenSlices")
    thick = between if between not in (None, "", 0) else _find(groups, "PixelMeasuresSequence", "SliceThickness")
    thickness = abs(numbers(thick, 1, what="slice spacing", where=path)[0]) if thick not in (None, "") else None
    return Plane(position, orientation, spacing, thickness)


def _find(groups: Sequence[Dataset], sequence: str, keyword: str) -> Any:
    for group in groups:
        macro = group.get(sequence)
        found = (macro[0] if macro else group).get(keyword)
        if found is not None:
            return found
    return None


def frame_groups(dataset: Dataset, frames: int, path: Path) -> list[tuple[Dataset, ...]]:
    """For each frame, where to look for its attributes, nearest first."""
    per_frame = dataset.get("PerFrameFunctionalGroupsSequence")
    if per_frame is None:
        if frames > 1:
            raise SitusError("has frames without positions", where=path, fix="give an enhanced or single-frame image")
        return [(dataset,)]
    if len(per_frame) != frames:
        raise SitusError(
            f"lists {len(per_frame)} frames but declares {frames}", where=path, fix="the header is damaged"
        )
    shared = dataset.get("SharedFunctionalGroupsSequence") or []
    return [(group, *shared[:1], dataset) for group in per_frame]


def read_image(path: Path) -> ImageFile:
    """The header of one image file; pixels are not read."""
    with quiet(path):
        dataset, size = read_dataset(path, _KEYWORDS)
        form = pixel_format(dataset, size, path)
        groups = frame_groups(dataset, form.frames, path)
        frames = tuple(_frame(group, index, path) for index, group in enumerate(groups))
        return ImageFile(path, bool(dataset.get("ModalityLUTSequence")), form, frames)


def _frame(groups: Sequence[Dataset], index: int, path: Path) -> Frame:
    slope, inter = (
        numbers(1.0 - n if found in (None, "") else found, 1, what="rescaling", where=path)[0]
        for n, keyword in enumerate(("RescaleSlope", "RescaleIntercept"))
        for found in (_find(groups, "PixelValueTransformationSequence", keyword),)
    )
    return Frame(path, index, plane_of(groups, path), slope, inter)
