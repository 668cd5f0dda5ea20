"""Paired organs that a source paints as one: a mask of both kidneys becomes a left and a right one.

The rule: the mask and the lesions of that organ together fall into exactly two large 26-connected
parts that lie clearly side by side; the one further to the patient's right is the right organ, and
small parts go with the nearer. Otherwise (one kidney, a horseshoe kidney, unknown orientation) the
mask stays as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Naming, Term, term
from situs.facts.recipe import Truth
from situs.measure import Region, Regions
from situs.space import IndexPoints
from situs.volumes import LabelMap, Structure

__all__ = ["split_pairs"]


def split_pairs(
    labels: LabelMap, terms: Mapping[str, Term], truth: Truth
) -> tuple[LabelMap, dict[str, Term]]:
    """The label map with every mask of both organs of
    a pair replaced by the left and the right one."""
    known = dict(terms)
    structures, layers = list(labels.structures), list(labels.layers)
    regions = Regions(labels)
    for structure in labels.structures:
        halves = _halves(structure.name, known)
        if halves is None:
            continue
        lesions = [
            name for name in regions.structures if _belongs(known[name], known[structure.name])
        ]
        layer = _sided(regions[structure.name], [regions[name] for name in lesions], truth)
        if layer is None:
            continue
        layers.append(layer)
        structures.remove(structure)
        known.pop(structure.name)
        for value, name in enumerate(halves, start=1):
            structures.append(Structure(structure.label, name, len(layers) - 1, value))
            known[name] = term(name)
    return dataclasses.replace(labels, layers=tuple(layers), structures=tuple(structures)), known


def _halves(name: str, terms: Mapping[str, Term]) -> tuple[str, str] | None:
    """Names of the left and the right organ,
    if the name stands for such a pair and neither has its own mask."""
    pair_name = terms[name].canonical
    left, right = f"{pair_name}_left", f"{pair_name}_right"
    parts = [term(part) for part in (left, right)]
    paired = all(
        part.known and part.part_of == pair_name and part.naming is Naming.POSITIONAL
        for part in parts
    )
    if terms[name].kind != "group" or not paired or left in terms or right in terms:
        return None
    return left, right


def _belongs(lesion: Term, organ: Term) -> bool:
    return lesion.kind == "lesion" and lesion.part_of == organ.canonical


def _sided(organ: Region, lesions: list[Region], truth: Truth) -> NDArray[np.uint8] | None:
    """A layer with 1 where the left organ is and 2 where the right one is;
    None if they cannot be told apart."""
    from scipy import ndimage

    boxes = [region.box_index for region in (organ, *lesions)]
    lo = np.min([box.lo for box in boxes], axis=0)
    hi = np.max([box.hi for box in boxes], axis=0)
    both = np.zeros(hi - lo, dtype=np.bool_)
    for region in (organ, *lesions):
        both[_window(region, lo)] |= region.crop()
    parts, count = ndimage.label(both, structure=np.ones((3, 3, 3)))
    sizes = np.bincount(parts.ravel(), minlength=count + 1)[1:]
    centres = np.array(ndimage.center_of_mass(both, parts, range(1, count + 1))) + lo
    world = np.asarray(organ.grid.affine.to_world(IndexPoints(centres)))
    large = np.flatnonzero(sizes >= truth.pair_part_share * sizes.sum())
    if len(large) != 2:
        return None
    step = world[large[1]] - world[large[0]]
    if abs(step[0]) < truth.pair_apart_mm or abs(step[0]) < np.linalg.norm(step) / 2.0:
        return None
    middle = world[large, 0].mean()
    side = np.zeros(count + 1, dtype=np.uint8)
    side[1:] = np.where(world[:, 0] > middle, 2, 1)
    layer = np.zeros(organ.grid.shape, dtype=np.uint8, order="F")
    inside = tuple(slice(a, b) for a, b in zip(organ.box_index.lo, organ.box_index.hi))
    layer[inside] = side[parts[_window(organ, lo)]] * organ.crop()
    return layer if {1, 2} <= set(np.unique(layer)) else None


def _window(region: Region, lo: NDArray[np.int64]) -> tuple[slice, ...]:
    return tuple(
        slice(int(a - o), int(b - o))
        for a, b, o in zip(region.box_index.lo, region.box_index.hi, lo)
    )
