"""Label files: plain ones, and 3D Slicer's with named segments in one or more layers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from situs.errors import SitusError
from situs.space import Grid
from situs.volumes.formats.stored import SegmentTag, Stored, read_voxels
from situs.volumes.label_map import LabelMap, Structure
from situs.volumes.masks.values import Seen, present_values, to_labels

__all__ = ["load_label_file", "shared_names"]


def load_label_file(stored: Stored, grid: Grid, names: Mapping[int, str]) -> LabelMap:
    """Read a label file; a file without any labelled voxel is an error."""
    seen = (
        Seen()
        if stored.dtype == np.uint8 and len(stored.shape) == 3 and not stored.is_scaled
        else None
    )
    voxels = read_voxels(stored, watch=seen.watch if seen else None)
    flat = to_labels(voxels.reshape(-1, order="F"), stored.slope, stored.inter, where=stored.path)
    labelled = flat.reshape(stored.shape, order="F")
    # Slicer interleaves layers voxel by voxel; apart, each is contiguous and quick to measure.
    layers = (
        tuple(np.asfortranarray(layer) for layer in labelled) if labelled.ndim == 4 else (labelled,)
    )
    present = (
        [seen.values]
        if seen
        else [present_values(layer.reshape(-1, order="F"), where=stored.path) for layer in layers]
    )
    if not any(present):
        raise SitusError(
            "holds no labelled voxel", where=stored.path, fix="give a file with labels above 0"
        )
    if stored.segments:
        structures, warnings = _named_segments(stored, present, names)
    else:
        structures = [
            Structure(value, names.get(value, f"label_{value}"), 0, value) for value in present[0]
        ]
        warnings = []
    if not structures:
        raise SitusError(
            "no listed segment has a voxel",
            where=stored.path,
            fix="give a file with filled segments",
        )
    warnings += shared_names(structures)
    return LabelMap(grid, layers, tuple(structures), (*stored.warnings, *warnings))


def _named_segments(
    stored: Stored, present: list[list[int]], names: Mapping[int, str]
) -> tuple[list[Structure], list[str]]:
    """Structures of the listed segments that have voxels.

    Warnings give numbers, never the file's names.
    """
    placed = _layers_and_values(stored, len(present))
    labels = [value for _, value in placed]
    warnings = []
    if len(set(labels)) < len(labels):
        labels = [position + 1 for position in range(len(placed))]
        warnings.append("label values repeat across layers: segments are numbered in file order")
    structures, empty = [], []
    for label, tag, (layer, value) in zip(labels, stored.segments, placed):
        if value in present[layer]:
            structures.append(Structure(label, names.get(label, tag.name), layer, value))
        else:
            empty.append(label)
    if empty:
        warnings.append(f"empty segments: {', '.join(map(str, sorted(empty)))}")
    unlisted = sorted(
        {v for layer, values in enumerate(present) for v in values if (layer, v) not in set(placed)}
    )
    if unlisted:
        first_values = ", ".join(map(str, unlisted[:10])) + (", …" if len(unlisted) > 10 else "")
        warnings.append(f"values that no segment lists are ignored: {first_values}")
    return sorted(structures, key=lambda s: s.label), warnings


def _layers_and_values(stored: Stored, layers: int) -> list[tuple[int, int]]:
    """Layer and value of each segment.

    Slicer before 4.11 wrote neither: one layer of ones per segment.
    """
    tags = stored.segments
    places = [
        _layer_and_value(tag, position, layers, len(tags)) for position, tag in enumerate(tags)
    ]
    for layer, value in places:
        if not (0 <= layer < layers and 0 < value < 2**31):
            raise SitusError(
                "a segment's layer or label value is invalid",
                where=stored.path,
                fix="save it again",
            )
    if len(set(places)) < len(places):
        raise SitusError(
            "two segments share layer and label value",
            where=stored.path,
            fix="save it again in Slicer",
        )
    return places


def _layer_and_value(tag: SegmentTag, position: int, layers: int, segments: int) -> tuple[int, int]:
    layer = tag.layer if tag.layer is not None else position if layers > 1 else 0
    default = 1 if layers > 1 or segments == 1 else position + 1
    return layer, tag.value if tag.value is not None else default


def shared_names(structures: list[Structure]) -> list[str]:
    by_name: dict[str, list[int]] = {}
    for structure in structures:
        by_name.setdefault(structure.name, []).append(structure.label)
    return [
        f"labels {', '.join(map(str, labels))} share one name"
        for labels in by_name.values()
        if len(labels) > 1
    ]
