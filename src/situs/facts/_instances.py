"""Lesions one by one: a mask that holds several lesions of a kind is split into its connected parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Term, lesion_family, term
from situs.measure import Region, Regions
from situs.space import IndexPoints
from situs.volumes import LabelMap, Structure

__all__ = ["join_parts", "split_lesions", "together", "without_islands"]

_MOST_PARTS = 99
"""More parts than this are noise, not lesions."""


_CORES = {"brain_tumour": ("brain_tumour_core", "brain_tumour_edema")}
"""By the lesion that parts belong to: the name of all its parts together, and the part around it that is left out."""


def join_parts(labels: LabelMap, terms: Mapping[str, Term]) -> tuple[LabelMap, dict[str, Term]]:
    """The label map with a mask of each lesion that is painted in parts only: of a brain tumour without its edema.

    The parts keep their masks. Without the whole, nobody could ask where the tumour is.
    """
    structures, layers, known = list(labels.structures), list(labels.layers), dict(terms)
    for whole, (name, around) in _CORES.items():
        parts = [s for s in labels.structures if s.name in terms and _is_part(terms[s.name], whole, around)]
        if not parts or any(entry.canonical in (whole, name) for entry in terms.values()):
            continue
        joined = np.zeros_like(layers[parts[0].layer], dtype=np.uint8)
        for part in parts:
            joined[layers[part.layer] == part.value] = 1
        layers.append(joined)
        structures.append(Structure(parts[0].label, name, len(layers) - 1, 1))
        known[name] = term(name)
    return dataclasses.replace(labels, layers=tuple(layers), structures=tuple(structures)), known


def _is_part(entry: Term, whole: str, around: str) -> bool:
    return entry.kind == "lesion_part" and entry.part_of == whole and entry.canonical != around


def split_lesions(labels: LabelMap, terms: Mapping[str, Term]) -> tuple[LabelMap, dict[str, Term]]:
    """The label map with every lesion mask of several parts replaced by `<family>_1`, `_2`, … from the largest down.

    Parts are 26-connected; equal sizes are ordered by place, from the head down, so that the order in which a
    file stores its axes does not matter. Masks that already stand for single lesions are left alone.
    """
    lesions = [s for s in labels.structures if s.name in terms and lesion_family(s.name) == s.name]
    if not lesions:
        return labels, dict(terms)
    regions = Regions(labels)
    structures, layers, known = list(labels.structures), list(labels.layers), dict(terms)
    for lesion in lesions:
        if not 1 < len(regions[lesion.name].component_voxels) <= _MOST_PARTS:
            continue
        layer, count = _numbered(regions[lesion.name])
        layers.append(layer)
        structures.remove(lesion)
        own = known.pop(lesion.name)
        for number in range(1, count + 1):
            name = f"{lesion.name}_{number}"
            structures.append(Structure(lesion.label, name, len(layers) - 1, number))
            known[name] = msgspec.structs.replace(own, name=name, plain=f"{own.plain} {number}")
    return dataclasses.replace(labels, layers=tuple(layers), structures=tuple(structures)), known


def without_islands(region: Region, island_share: float) -> Region:
    """The structure's parts of at least this share of its volume; the region itself if it has no smaller ones."""
    from scipy import ndimage

    if min(region.component_voxels) >= island_share * region.voxels:
        return region
    parts, _ = ndimage.label(region.crop(), structure=np.ones((3, 3, 3)))
    large = np.bincount(parts.ravel()) >= island_share * region.voxels
    large[0] = False
    layer = _layer_with(region, large[parts])
    alone = Structure(region.structure.label, region.name, 0, 1)
    return Regions(LabelMap(region.grid, (layer,), (alone,)))[region.name]


def together(name: str, regions: list[Region]) -> Region:
    """One region of all voxels of several."""
    layer = _layer_with(regions[0], regions[0].crop())
    for region in regions[1:]:
        layer[tuple(slice(lo, hi) for lo, hi in zip(region.box_index.lo, region.box_index.hi))] |= region.crop()
    one = Structure(regions[0].structure.label, name, 0, 1)
    return Regions(LabelMap(regions[0].grid, (layer,), (one,)))[name]


def _numbered(region: Region) -> tuple[NDArray[np.uint8], int]:
    """A layer in which the structure's parts are numbered from the largest down."""
    from scipy import ndimage

    parts, count = ndimage.label(region.crop(), structure=np.ones((3, 3, 3)))
    sizes = np.bincount(parts.ravel())[1:]
    centres = np.array(ndimage.center_of_mass(parts > 0, parts, range(1, count + 1))) + region.box_index.lo
    world = region.grid.affine.to_world(IndexPoints(centres))
    order = sorted(range(count), key=lambda i: (-int(sizes[i]), *(-round(float(v), 3) for v in world[i][::-1])))
    number = np.zeros(count + 1, dtype=np.uint8)
    number[np.array(order) + 1] = np.arange(1, count + 1)
    return _layer_with(region, number[parts]), count


def _layer_with(region: Region, crop: NDArray[Any]) -> NDArray[np.uint8]:
    """A whole layer that holds the crop, its axes in memory as those of the layer the region came from."""
    memory = region.runs.axes[::-1]
    plain = np.zeros([region.grid.shape[axis] for axis in memory], dtype=np.uint8)
    layer = plain.transpose([memory.index(axis) for axis in range(3)])
    layer[tuple(slice(lo, hi) for lo, hi in zip(region.box_index.lo, region.box_index.hi))] = crop
    return layer
