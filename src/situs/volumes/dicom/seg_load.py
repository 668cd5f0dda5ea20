"""From the frames of a DICOM segmentation to labels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.space import Grid
from situs.volumes.dicom.pixels import FrameReader
from situs.volumes.dicom.seg import Segmentation
from situs.volumes.label_map import LabelMap, Structure
from situs.volumes.masks.painter import Painter
from situs.volumes.masks.segments import shared_names
from situs.volumes.masks.values import smallest_unsigned

__all__ = ["header_warnings", "load_segmentation"]


def header_warnings(header: Segmentation) -> tuple[str, ...]:
    """What is doubtful before a pixel is read."""
    if header.kind == "FRACTIONAL":
        return ("fractional segmentation: voxels at or above 0.5 are taken as inside",)
    return ()


def load_segmentation(
    header: Segmentation, grid: Grid, slices: Sequence[int], names: Mapping[int, str]
) -> LabelMap:
    """Read the frames; `slices` tells where each goes."""
    if header.kind == "LABELMAP":
        return _load_label_map(header, grid, slices, names)
    reader = FrameReader(header.path, header.format)
    listed = {segment.number: segment for segment in header.segments if not segment.is_background}
    painter = Painter(grid, max(header.owners), header.path)
    by_owner = sorted(range(len(slices)), key=lambda frame: header.owners[frame])
    for number, frames in itertools.groupby(by_owner, key=lambda frame: header.owners[frame]):
        if number not in listed:
            continue
        masks: dict[int, NDArray[np.bool_]] = {}
        for frame in frames:
            if slices[frame] in masks:
                raise SitusError(
                    f"segment {number} has two frames at one position",
                    where=header.path,
                    fix="keep one time point",
                )
            masks[slices[frame]] = _inside(reader.frame(frame), header)
        painter.add(number, names.get(number, listed.pop(number).name), masks)
    for number, segment in listed.items():
        painter.add(number, segment.name, {})
    return painter.label_map(header_warnings(header))


def _inside(pixels: NDArray[Any], header: Segmentation) -> NDArray[np.bool_]:
    if header.kind == "FRACTIONAL":
        return np.asarray(2 * pixels.astype(np.int32) >= header.most)
    return np.asarray(pixels != 0)


def _load_label_map(
    header: Segmentation, grid: Grid, slices: Sequence[int], names: Mapping[int, str]
) -> LabelMap:
    """Pixel values are segment numbers.

    Nothing is where the padding value or a background segment stands.
    """
    if len(set(slices)) < len(slices):
        raise SitusError(
            "has two frames at one position", where=header.path, fix="keep one time point"
        )
    empty = {header.padding if header.padding is not None else 0}
    empty |= {segment.number for segment in header.segments if segment.is_background}
    listed = [segment for segment in header.segments if segment.number not in empty]
    largest = max((segment.number for segment in listed), default=0)
    labels = {segment.number: segment.number or largest + 1 for segment in listed}
    to_label = np.zeros(1 << header.format.bits, dtype=smallest_unsigned(largest + 1))
    for value, label in labels.items():
        if value < to_label.size:
            to_label[value] = label
    layer = np.zeros(grid.shape, dtype=to_label.dtype, order="F")
    seen = np.zeros(to_label.size, dtype=np.bool_)
    reader = FrameReader(header.path, header.format)
    for frame, k in enumerate(slices):
        pixels = reader.frame(frame)
        seen[pixels] = True
        layer[..., k] = to_label[pixels].T
    present = set(np.flatnonzero(seen).tolist())
    structures = sorted(
        (
            Structure(labels[s.number], names.get(labels[s.number], s.name), 0, labels[s.number])
            for s in listed
            if s.number in present
        ),
        key=lambda structure: structure.label,
    )
    if not structures:
        raise SitusError(
            "no structure has a voxel", where=header.path, fix="give a file with filled structures"
        )
    warnings = _label_map_warnings(labels, present, present - empty - set(labels))
    layer = layer.astype(smallest_unsigned(structures[-1].label), copy=False)
    return LabelMap(grid, (layer,), tuple(structures), (*warnings, *shared_names(structures)))


def _label_map_warnings(
    labels: Mapping[int, int], present: set[int], unlisted: set[int]
) -> list[str]:
    warnings = []
    if absent := sorted(label for value, label in labels.items() if value not in present):
        warnings.append(f"empty segments: {', '.join(map(str, absent))}")
    if unlisted:
        first_values = ", ".join(map(str, sorted(unlisted)[:10])) + (
            ", …" if len(unlisted) > 10 else ""
        )
        warnings.append(f"values that no segment lists are ignored: {first_values}")
    if 0 in labels:
        warnings.append(f"segment 0 is numbered {labels[0]}")
    return warnings
