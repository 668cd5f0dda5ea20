"""Lesions one by one: a mask that holds several
lesions of a kind is split into its connected parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Term, term, without_number
from situs.measure import Region, Regions
from situs.space import IndexPoints
from situs.volumes import LabelMap, Structure

__all__ = ["join_parts", "largest_part", "split_lesions", "together", "without_islands"]

_MOST_PARTS = 99
"""More parts than this are noise, not lesions."""


_CORES = {"brain_tumour": ("brain_tumour_core", "brain_tumour_edema")}
"""By the lesion that parts belong to:
what the parts that are tumour are called together, and the part around them."""


class _Whole(NamedTuple):
    """A lesion that is painted in parts only."""

    name: str
    parts: list[Structure]
    around: list[Structure]
    """Parts that belong to the lesion but not to its mask: edema."""


def join_parts(labels: LabelMap, terms: Mapping[str, Term]) -> tuple[LabelMap, dict[str, Term]]:
    """The label map with a mask of each lesion that is painted in parts only: of a brain tumour
    without its edema.

    The parts keep their masks. Without the whole, nobody could ask where the tumour is. Pieces of
    the mask that the lesion's other parts connect are one lesion: lesions are told apart, and
    numbered, by the connected parts of the whole.
    """
    structures, layers, known = list(labels.structures), list(labels.layers), dict(terms)
    for whole in _painted_in_parts(labels, terms):
        layer, count = _numbered_by_whole(labels, whole)
        layers.append(layer)
        entry = term(whole.name, terms)
        if entry.kind != "lesion":
            entry = msgspec.structs.replace(entry, kind="lesion", known=True, ask_size=True)
        in_one_piece = count == 1 and _pieces(labels, layer) == 1
        for number in range(1, count + 1):
            instance = entry if in_one_piece else numbered_lesion(entry, number)
            structures.append(
                Structure(whole.parts[0].label, instance.name, len(layers) - 1, number)
            )
            known[instance.name] = instance
    return dataclasses.replace(labels, layers=tuple(layers), structures=tuple(structures)), known


def _painted_in_parts(labels: LabelMap, terms: Mapping[str, Term]) -> list[_Whole]:
    by_whole: dict[str, list[Structure]] = {}
    for structure in labels.structures:
        entry = terms.get(structure.name)
        if entry is not None and entry.kind == "lesion_part" and entry.part_of:
            by_whole.setdefault(entry.part_of, []).append(structure)
    masks = {terms[s.name].canonical or s.name for s in labels.structures if s.name in terms}
    result = []
    for whole, members in by_whole.items():
        name, outside = _CORES.get(whole, (whole, ""))
        around = [s for s in members if outside and terms[s.name].canonical == outside]
        parts = [s for s in members if s not in around]
        if parts and not masks & {whole, name}:
            result.append(_Whole(name, parts, around))
    return result


def _numbered_by_whole(labels: LabelMap, whole: _Whole) -> tuple[NDArray[np.uint8], int]:
    """A layer of the lesion's mask,
    numbered by the connected parts of the lesion with what is around it."""
    mask: NDArray[np.uint8] = np.zeros_like(labels.layers[whole.parts[0].layer], dtype=np.uint8)
    for part in whole.parts:
        mask[labels.mask(part)] = 1
    extent = mask.copy(order="K")
    for part in whole.around:
        extent[labels.mask(part)] = 1
    region = _region(labels, extent)
    if len(region.component_voxels) > _MOST_PARTS:
        return mask, 1
    numbered, count = _numbered(region)
    numbered = np.where(mask == 1, numbered, 0).astype(np.uint8)
    present = [number for number in range(1, count + 1) if (numbered == number).any()]
    sizes = {number: int(np.count_nonzero(numbered == number)) for number in present}
    order = np.zeros(count + 1, dtype=np.uint8)
    for new, old in enumerate(
        sorted(present, key=lambda number: (-sizes[number], number)), start=1
    ):
        order[old] = new
    layer: NDArray[np.uint8] = np.empty_like(mask)
    layer[...] = order[numbered]
    return layer, len(present)


def _region(labels: LabelMap, layer: NDArray[np.uint8]) -> Region:
    return Regions(LabelMap(labels.grid, (layer,), (Structure(1, "lesion", 0, 1),)))["lesion"]


def _pieces(labels: LabelMap, layer: NDArray[np.uint8]) -> int:
    return len(_region(labels, layer).component_voxels)


def split_lesions(labels: LabelMap, terms: Mapping[str, Term]) -> tuple[LabelMap, dict[str, Term]]:
    """The label map with every lesion mask of several parts replaced by `<family>_1`, `_2`, … from
    the largest down.

    Parts are 26-connected; equal sizes are ordered by place, from the head down, so that the order
    in which a file stores its axes does not matter. Masks that already stand for single lesions
    (they are numbered) are left alone.
    """
    lesions = [s for s in labels.structures if s.name in terms and _may_hold_several(s.name, terms)]
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
        family_term = known.pop(lesion.name)
        for number in range(1, count + 1):
            name = f"{lesion.name}_{number}"
            structures.append(Structure(lesion.label, name, len(layers) - 1, number))
            known[name] = numbered_lesion(family_term, number, name)
    return dataclasses.replace(labels, layers=tuple(layers), structures=tuple(structures)), known


def _may_hold_several(name: str, terms: Mapping[str, Term]) -> bool:
    """Whether a mask may be of several lesions: it is of a lesion, and has no number."""
    return terms[name].kind == "lesion" and without_number(name) == name


def numbered_lesion(family: Term, number: int, name: str = "") -> Term:
    """The term of one of several lesions."""
    own_name = name or f"{family.name}_{number}"
    return msgspec.structs.replace(family, name=own_name, plain=f"{family.plain} {number}")


def without_islands(region: Region, island_share: float) -> Region:
    """The structure's parts of at least this share of its volume, and its largest;
    the region itself if it has no smaller ones."""
    from scipy import ndimage

    if min(region.component_voxels) >= island_share * region.voxels:
        return region
    parts, _ = ndimage.label(region.crop(), structure=np.ones((3, 3, 3)))
    sizes = np.bincount(parts.ravel())
    sizes[0] = 0
    # Of dust no part is large, as in a rim between labels that were interpolated.
    large = sizes >= min(island_share * region.voxels, sizes.max())
    layer = _layer_with(region, large[parts])
    alone = Structure(region.structure.label, region.name, 0, 1)
    return Regions(LabelMap(region.grid, (layer,), (alone,)))[region.name]


def largest_part(region: Region) -> Region:
    """The structure's largest part, or its largest ones where these are of one size."""
    # Half a voxel less, so that rounding leaves the largest part.
    return without_islands(region, (region.component_voxels[0] - 0.5) / region.voxels)


def together(name: str, regions: list[Region]) -> Region:
    """One region of all voxels of several."""
    layer = _layer_with(regions[0], regions[0].crop())
    for region in regions[1:]:
        layer[tuple(slice(lo, hi) for lo, hi in zip(region.box_index.lo, region.box_index.hi))] |= (
            region.crop()
        )
    one = Structure(regions[0].structure.label, name, 0, 1)
    return Regions(LabelMap(regions[0].grid, (layer,), (one,)))[name]


def _numbered(region: Region) -> tuple[NDArray[np.uint8], int]:
    """A layer in which the structure's parts are numbered from the largest down."""
    from scipy import ndimage

    parts, count = ndimage.label(region.crop(), structure=np.ones((3, 3, 3)))
    sizes = np.bincount(parts.ravel())[1:]
    centres = (
        np.array(ndimage.center_of_mass(parts > 0, parts, range(1, count + 1)))
        + region.box_index.lo
    )
    world = region.grid.affine.to_world(IndexPoints(centres))
    order = sorted(
        range(count), key=lambda i: (-int(sizes[i]), *(-round(float(v), 3) for v in world[i][::-1]))
    )
    number = np.zeros(count + 1, dtype=np.uint8)
    number[np.array(order) + 1] = np.arange(1, count + 1)
    return _layer_with(region, number[parts]), count


def _layer_with(region: Region, crop: NDArray[Any]) -> NDArray[np.uint8]:
    """A whole layer that holds the crop,
    its axes in memory as those of the layer the region came from."""
    memory = region.runs.axes[::-1]
    plain = np.zeros([region.grid.shape[axis] for axis in memory], dtype=np.uint8)
    layer = plain.transpose([memory.index(axis) for axis in range(3)])
    layer[tuple(slice(lo, hi) for lo, hi in zip(region.box_index.lo, region.box_index.hi))] = crop
    return layer
