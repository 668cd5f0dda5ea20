"""DICOM segmentations: binary, fractional and label maps;
what the header says, before any pixel is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from situs.errors import SitusError
from situs.space import Grid, WorldPoints
from situs.volumes.dicom.files import quiet, read_dataset
from situs.volumes.dicom.format import FORMAT_KEYWORDS, PixelFormat, pixel_format, whole
from situs.volumes.dicom.frames import Plane, frame_groups, plane_of
from situs.volumes.dicom.stack import affine_of, check_parallel, even_step, normal_of
from situs.volumes.formats.stored import clean_name
from situs.volumes.limits import MAX_STRUCTURES, check_shape
from situs.volumes.reorder import Reorder

if TYPE_CHECKING:
    from pydicom.dataset import Dataset

__all__ = ["Segment", "Segmentation", "own_grid", "place", "read_segmentation", "turned_to"]

_KEYWORDS = (
    "SegmentationType",
    "SegmentSequence",
    "MaximumFractionalValue",
    "PixelPaddingValue",
    *FORMAT_KEYWORDS,
)
_BACKGROUND_CODE = ("125040", "DCM")
_OFF_GRID = 0.1
"""Share of a voxel by which a frame may lie off its grid."""


@dataclass(frozen=True)
class Segment:
    """One listed segment."""

    number: int
    name: str
    is_background: bool


@dataclass(frozen=True)
class Segmentation:
    """A segmentation's header."""

    path: Path
    kind: str
    """`BINARY`, `FRACTIONAL` or `LABELMAP`."""
    format: PixelFormat
    segments: tuple[Segment, ...]
    planes: tuple[Plane, ...]
    """Where each frame lies."""
    owners: tuple[int, ...]
    """The segment of each frame; 0 in a label map, whose pixels tell."""
    most: int
    """The pixel value that means wholly inside, if fractional."""
    padding: int | None
    """The pixel value of a label map that means nothing, if told."""


def read_segmentation(path: Path) -> Segmentation:
    """The header of a DICOM segmentation; pixels are not read."""
    with quiet(path):
        dataset, size = read_dataset(path, _KEYWORDS)
        form = pixel_format(dataset, size, path)
        kind = str(dataset.get("SegmentationType", "")).strip().upper()
        if kind not in ("BINARY", "FRACTIONAL", "LABELMAP"):
            raise SitusError(
                "is a segmentation of an unknown type", where=path, fix="export it as BINARY"
            )
        if form.signed or form.bits > 16 or (kind != "BINARY" and form.bits == 1):
            raise SitusError(
                "its pixels do not fit its segmentation type", where=path, fix="export it again"
            )
        segments = tuple(_segment(item, path) for item in dataset.get("SegmentSequence") or ())
        listed = [segment.number for segment in segments]
        if not listed or len(set(listed)) < len(listed) or max(listed) > MAX_STRUCTURES:
            raise SitusError("lists no segments, or one twice", where=path, fix="export it again")
        groups = frame_groups(dataset, form.frames, path)
        owners = [0 if kind == "LABELMAP" else _owner(group, path) for group in groups]
        if kind != "LABELMAP" and not set(owners) <= set(listed):
            raise SitusError(
                "a frame belongs to no listed segment", where=path, fix="export it again"
            )
        padding = dataset.get("PixelPaddingValue")
        return Segmentation(
            path,
            kind,
            form,
            segments,
            tuple(plane_of(group, path) for group in groups),
            tuple(owners),
            max(
                1, whole(dataset.get("MaximumFractionalValue"), what="scale", where=path, default=1)
            ),
            None if padding is None else whole(padding, what="padding value", where=path),
        )


def _segment(item: Dataset, path: Path) -> Segment:
    number = whole(item.get("SegmentNumber"), what="segment number", where=path)
    code = (item.get("SegmentedPropertyTypeCodeSequence") or [None])[0]
    name = clean_name(str(item.get("SegmentLabel") or ""))
    if not name and code is not None:
        sides = [
            str(side.get("CodeMeaning", ""))
            for side in code.get("SegmentedPropertyTypeModifierCodeSequence") or ()
        ]
        name = clean_name(" ".join([*sides, str(code.get("CodeMeaning") or "")]))
    is_code = code is not None and _code(code) == _BACKGROUND_CODE
    return Segment(
        number,
        name or f"segment_{number}",
        is_code or (number == 0 and name.lower() == "background"),
    )


def _code(code: Any) -> tuple[str, str]:
    return str(code.get("CodeValue", "")), str(code.get("CodingSchemeDesignator", ""))


def _owner(groups: Sequence[Dataset], path: Path) -> int:
    for group in groups:
        identification = group.get("SegmentIdentificationSequence")
        if identification:
            return whole(
                identification[0].get("ReferencedSegmentNumber"),
                what="segment of a frame",
                where=path,
            )
    raise SitusError("a frame does not name its segment", where=path, fix="export it again")


def own_grid(header: Segmentation) -> Grid:
    """The grid that the frames themselves span;
    slices between them that have no frame are empty."""
    check_parallel(header.planes, header.path)
    normal = normal_of(header.planes[0], header.path)
    first, step, slices = even_step(header.planes, normal, header.path)
    shape = (header.format.columns, header.format.rows, slices)
    check_shape(shape, 1, where=header.path)
    return Grid(shape, affine_of(header.planes[0], first, step, header.path))


def turned_to(grid: Grid, plane: Plane) -> Grid:
    """The grid with its axes in the order of frames: along a row, down a column, across; as it is
    if none fits.

    An image converted from the same series may be stored in another order than the frames of its
    segmentation.
    """
    cosines = np.array(plane.orientation).reshape(2, 3) * [-1.0, -1.0, 1.0]
    rows = cosines.T * np.array([plane.spacing[1], plane.spacing[0]])
    steps = np.rint(np.linalg.solve(grid.affine.linear, rows))
    if not (np.abs(steps).sum(axis=0) == 1).all() or (np.abs(steps).sum(axis=1) > 1).any():
        return grid
    i, j = (int(axis) for axis in np.abs(steps).argmax(axis=0))
    flips = (bool(steps[i, 0] < 0), bool(steps[j, 1] < 0), False)
    return Reorder((i, j, 3 - i - j), flips).grid(grid)


def place(header: Segmentation, grid: Grid) -> list[int]:
    """The slice of `grid` that each frame fills; a frame that fits none is an error."""
    form = header.format
    if (form.columns, form.rows) != grid.shape[:2]:
        raise _off_grid(header, len(header.planes))
    corners = np.array([[0, 0], [form.columns - 1, 0], [0, form.rows - 1]], dtype=np.float64)
    off, slices = 0, []
    for plane in header.planes:
        row, column = np.array(plane.orientation[:3]), np.array(plane.orientation[3:])
        steps = np.outer(corners[:, 0] * plane.spacing[1], row) + np.outer(
            corners[:, 1] * plane.spacing[0], column
        )
        lps = np.array(plane.position) + steps
        index = grid.affine.to_index(WorldPoints(lps * [-1.0, -1.0, 1.0]))
        k = float(np.rint(index[0, 2]))
        fits = (
            np.abs(index - np.column_stack([corners, np.full(3, k)])).max() <= _OFF_GRID
            and 0 <= k < grid.shape[2]
        )
        off += not fits
        slices.append(int(k) if fits else 0)
    if off:
        raise _off_grid(header, off)
    return slices


def _off_grid(header: Segmentation, count: int) -> SitusError:
    return SitusError(
        f"{count} of {len(header.planes)} frames do not lie on the grid",
        where=header.path,
        fix="give the image it was drawn on, or resample one onto the other",
    )
