"""What the header of a DICOM image says of each of its frames:
where it lies and what its values mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situs.errors import SitusError
from situs.volumes.dicom.files import quiet, read_dataset
from situs.volumes.dicom.format import FORMAT_KEYWORDS, PixelFormat, numbers, pixel_format
from situs.volumes.dicom.lut import Lookup, read_lookup

if TYPE_CHECKING:
    from pydicom.dataset import Dataset

__all__ = ["Frame", "ImageFile", "Plane", "frame_groups", "plane_of", "read_image"]

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
    lookup: Lookup | None = None
    """A table to pass values through, in the place of slope and intercept."""

    @property
    def is_stored(self) -> bool:
        """Whether stored values are what is meant."""
        return self.lookup is None and (self.slope, self.inter) == (1.0, 0.0)


@dataclass(frozen=True)
class ImageFile:
    """One file's header, as far as a volume needs it."""

    path: Path
    format: PixelFormat
    frames: tuple[Frame, ...]


def plane_of(groups: Sequence[Dataset], path: Path) -> Plane:
    """A frame's place from its functional groups,
    or from a classic header (itself the only group)."""
    orientation = numbers(
        _find(groups, "PlaneOrientationSequence", "ImageOrientationPatient"),
        6,
        what="orientation",
        where=path,
    )
    position = numbers(
        _find(groups, "PlanePositionSequence", "ImagePositionPatient"),
        3,
        what="position",
        where=path,
    )
    spacing = numbers(
        _find(groups, "PixelMeasuresSequence", "PixelSpacing"), 2, what="pixel spacing", where=path
    )
    if min(spacing) <= 0:
        raise SitusError("its pixel spacing is not above 0", where=path, fix="repair the header")
    between = _find(groups, "PixelMeasuresSequence", "SpacingBetweenSlices")
    thick = (
        between
        if between not in (None, "", 0)
        else _find(groups, "PixelMeasuresSequence", "SliceThickness")
    )
    thickness = (
        abs(numbers(thick, 1, what="slice spacing", where=path)[0])
        if thick not in (None, "")
        else None
    )
    return Plane(position, orientation, spacing, thickness)


def _find(groups: Sequence[Dataset], sequence: str, keyword: str) -> Any:
    for group in groups:
        macro = group.get(sequence)
        value = (macro[0] if macro else group).get(keyword)
        if value is not None:
            return value
    return None


def frame_groups(dataset: Dataset, frames: int, path: Path) -> list[tuple[Dataset, ...]]:
    """For each frame, where to look for its attributes, nearest first."""
    per_frame = dataset.get("PerFrameFunctionalGroupsSequence")
    if per_frame is None:
        if frames > 1:
            raise SitusError(
                "has frames without positions",
                where=path,
                fix="give an enhanced or single-frame image",
            )
        return [(dataset,)]
    if len(per_frame) != frames:
        raise SitusError(
            f"lists {len(per_frame)} frames but declares {frames}",
            where=path,
            fix="the header is damaged",
        )
    shared = dataset.get("SharedFunctionalGroupsSequence") or []
    return [(group, *shared[:1], dataset) for group in per_frame]


def read_image(path: Path) -> ImageFile:
    """The header of one image file; pixels are not read."""
    with quiet(path):
        dataset, size = read_dataset(path, _KEYWORDS)
        form = pixel_format(dataset, size, path)
        groups = frame_groups(dataset, form.frames, path)
        lookup = read_lookup(dataset, path, signed=form.signed)
        frames = tuple(_frame(group, index, path, lookup) for index, group in enumerate(groups))
        return ImageFile(path, form, frames)


def _frame(groups: Sequence[Dataset], index: int, path: Path, lookup: Lookup | None) -> Frame:
    slope, inter = (
        numbers(1.0 - n if value in (None, "") else value, 1, what="rescaling", where=path)[0]
        for n, keyword in enumerate(("RescaleSlope", "RescaleIntercept"))
        for value in (_find(groups, "PixelValueTransformationSequence", keyword),)
    )
    return Frame(path, index, plane_of(groups, path), slope, inter, lookup)
