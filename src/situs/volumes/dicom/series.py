"""A DICOM series as a volume: one folder,
one multi-frame file, or the series that a file belongs to."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.space import Grid
from situs.volumes.dicom.files import dicom_files
from situs.volumes.dicom.format import PixelFormat
from situs.volumes.dicom.frames import Frame, ImageFile, read_image
from situs.volumes.dicom.heads import Head, by_series, read_head
from situs.volumes.dicom.pixels import FrameReader
from situs.volumes.dicom.stack import affine_of, stack
from situs.volumes.limits import check_shape
from situs.volumes.volume import Volume

__all__ = ["open_series"]

INVERTED = "MONOCHROME1: stored values are kept, though small ones are meant to look bright"


def open_series(path: Path) -> Volume:
    """Open a folder that holds one image series,
    a multi-frame file, or the series of which `path` is a file."""
    if path.is_dir():
        heads = [read_head(file) for file in dicom_files(path)]
        return open_images(path, _the_series(heads, path))
    head = read_head(path)
    _check_kind([head], path)
    if head.is_multiframe:
        return open_images(path, [path])
    others = [read_head(file) for file in dicom_files(path.parent)]
    same = [other for other in others if other.kind == "image" and other.series == head.series]
    _check_kind(same, path)
    return open_images(path, [other.path for other in same])


def _the_series(heads: Sequence[Head], folder: Path) -> list[Path]:
    """The files of the only usable series of a folder."""
    images = [head for head in heads if head.kind == "image"]
    if not images:
        raise SitusError(
            "holds no DICOM image", where=folder, fix="give the folder of the CT or MR images"
        )
    usable = [
        series for series in by_series(images).values() if not any(head.refusal for head in series)
    ]
    if not usable:
        _check_kind(images, folder)
    if len(usable) > 1:
        raise SitusError(
            f"holds {len(usable)} image series",
            where=folder,
            fix=(
                "give the path of one file of the series you want, or put each series in a folder"
                " of its own"
            ),
        )
    return [head.path for head in usable[0]]


def _check_kind(heads: Sequence[Head], where: Path) -> None:
    for head in heads:
        if head.kind in ("seg", "rtstruct"):
            raise SitusError(
                "is a segmentation, not an image", where=where, fix="open it as labels"
            )
        if head.kind == "other":
            raise SitusError("holds no image", where=where, fix="give the CT or MR images")
        if head.refusal:
            several = sum(1 for other in heads if other.refusal)
            count = f" ({several} of {len(heads)} files)" if len(heads) > 1 else ""
            raise SitusError(
                f"is {head.refusal}{count}", where=where, fix="give the original CT or MR series"
            )


def open_images(path: Path, files: Sequence[Path]) -> Volume:
    """The volume that the frames of these files form."""
    images = [read_image(file) for file in files]
    forms = {image.path: image.format for image in images}
    sizes = {(form.columns, form.rows) for form in forms.values()}
    if len(sizes) > 1:
        raise SitusError(
            f"slices have {len(sizes)} different sizes",
            where=path,
            fix="keep one volume in the folder",
        )
    frames = [frame for image in images for frame in image.frames]
    slice_stack = stack([frame.plane for frame in frames], path)
    dropped = _identical_repeats(frames, slice_stack.repeats, forms, path)
    ordered = [frames[n] for n in slice_stack.order if n not in dropped]
    kind = _dtype(ordered, forms)
    columns, rows = next(iter(sizes))
    shape = (columns, rows, len(ordered))
    check_shape(shape, kind.itemsize, where=path)
    grid = Grid(shape, affine_of(ordered[0].plane, slice_stack.first, slice_stack.step, path))
    warnings = _warnings(images, len(dropped), len(ordered), slice_stack.tilt_degrees)
    return Volume(path, grid, kind, "affine", warnings, lambda: _read(ordered, forms, shape, kind))


def _warnings(
    images: Sequence[ImageFile], dropped: int, slices: int, tilt_degrees: float
) -> tuple[str, ...]:
    warnings = []
    if tilt_degrees:
        warnings.append(
            f"slices are sheared by {tilt_degrees:.1f}° (gantry tilt); the sheared affine is kept"
        )
    if dropped:
        warnings.append(f"{dropped} identical repeats of slices are dropped")
    if slices == 1:
        warnings.append("one slice only; its thickness is taken from the header")
    if any(image.format.inverted for image in images):
        warnings.append(INVERTED)
    return tuple(warnings)


def _identical_repeats(
    frames: Sequence[Frame],
    repeats: Sequence[tuple[int, int]],
    forms: dict[Path, PixelFormat],
    where: Path,
) -> set[int]:
    """Which frames are exact copies of the one before;
    two different ones at one place are an error."""
    dropped = set()
    for one, other in repeats:
        a, b = frames[one], frames[other]
        apart = np.abs(np.subtract(a.plane.position, b.plane.position)).max()
        same = (
            apart < 0.01
            and (a.slope, a.inter) == (b.slope, b.inter)
            and a.lookup is b.lookup is None
        )
        if same:
            pixels = [
                FrameReader(frame.path, forms[frame.path]).frame(frame.index) for frame in (a, b)
            ]
            same = np.array_equal(pixels[0], pixels[1])
        if not same:
            raise SitusError(
                f"holds different slices at one position ({len(repeats)} repeats among"
                f" {len(frames)} slices)",
                where=where,
                fix="several time points, echoes or reconstructions? keep one",
            )
        dropped.add(other)
    return dropped


def _dtype(frames: Sequence[Frame], forms: dict[Path, PixelFormat]) -> np.dtype[Any]:
    """The stored type if nothing is rescaled;
    else the smallest of int16, int32 and float32 that loses nothing."""
    stored = {forms[frame.path].dtype for frame in frames}
    if len(stored) == 1 and all(frame.is_stored for frame in frames):
        return stored.pop()
    scaled = [frame for frame in frames if frame.lookup is None]
    if any(frame.slope % 1 or frame.inter % 1 for frame in scaled):
        return np.dtype(np.float32)
    ends = [end * frame.slope + frame.inter for frame in scaled for end in forms[frame.path].range]
    ends += [float(frame.lookup.values.max()) for frame in frames if frame.lookup is not None]
    fits = (
        kind
        for kind in (np.int16, np.int32)
        if min(ends) >= np.iinfo(kind).min and max(ends) <= np.iinfo(kind).max
    )
    return np.dtype(next(fits, np.float32))


def _read(
    frames: Sequence[Frame],
    forms: dict[Path, PixelFormat],
    shape: tuple[int, int, int],
    kind: np.dtype[Any],
) -> NDArray[Any]:
    """Decode slice by slice into one array; each file is opened once."""
    voxels: NDArray[Any] = np.empty(shape, dtype=kind, order="F")
    placed = sorted(enumerate(frames), key=lambda item: (str(item[1].path), item[1].index))
    for path, group in itertools.groupby(placed, key=lambda item: item[1].path):
        reader = FrameReader(path, forms[path])
        for k, frame in group:
            pixels = reader.frame(frame.index).T
            if frame.lookup is not None:
                pixels = frame.lookup.of(pixels)
            elif not frame.is_stored:
                pixels = pixels.astype(np.float64) * frame.slope + frame.inter
            voxels[..., k] = pixels
    return voxels
