"""How well the edge of a mask follows the edge of what a CT shows there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.measure import Region
from situs.volumes import LabelMap

__all__ = ["LEAST_SPREAD_HU", "edge_contrast", "edge_offset"]

_REACH_MM = 4.0
"""How far a voxel inside and its partner outside lie apart:
beyond blur and a sloppy contour, at least one voxel."""
_LIKE = 2.0
"""Spreads from the organ's median within which a value is like it."""
LEAST_SPREAD_HU = 15.0
_MOST_VOXELS = 200_000
"""A large organ is sampled; its edge is known to a percent long before."""
_FEWEST_PAIRS = 200
_LAYER_MM = 1.5
"""Layers on either side of an edge are so far apart, at least one voxel."""
_LAYERS = 3
_CLEAR = 0.3
"""Share of the edge on which what lies inside must differ from what lies farther out,
before a place of it is told."""
_FEWEST_FREE = 0.3
"""Part of the edge that must lie free of other masks before it tells anything."""


def edge_contrast(
    region: Region,
    labels: LabelMap,
    image: NDArray[Any],
    ignored: Iterable[int],
    least_spread: float = LEAST_SPREAD_HU,
) -> float | None:
    """Share of the edge's inner side that looks like the organ, less that of its outer side; None
    if unknown.

    About 0.3 to 0.9 where the mask ends where the organ ends, and about 0 where it ends within the
    organ or within what lies around it: too small, too large, moved, or another patient's. Where
    another mask begins, nothing is compared. `ignored`: labels of structures that hold others (the
    body); `least_spread`: how much values of one tissue differ at least.
    """
    structure, grid = region.structure, labels.grid
    steps = np.maximum(np.rint(_REACH_MM / np.asarray(grid.affine.spacing_mm)).astype(int), 1)
    low = np.maximum(np.asarray(region.box_index.lo) - steps, 0)
    high = np.minimum(np.asarray(region.box_index.hi) + steps, grid.shape)
    window = tuple(slice(int(a), int(b)) for a, b in zip(low, high, strict=True))
    mask = labels.layers[structure.layer][window] == structure.value
    taken = _taken(labels, window, {structure.label, *ignored})
    inside = np.argwhere(mask)
    inside = inside[:: len(inside) // _MOST_VOXELS + 1]
    values = image[window]
    organ_values = values[tuple(inside.T)]
    dark, middle, bright = np.percentile(organ_values, [16.0, 50.0, 84.0])
    reach = _LIKE * max((bright - dark) / 2.0, least_spread)
    edges = free = inner = outer = 0
    # Where a voxel lies in the flat array: one number to look up instead of three.
    mask_flat, taken_flat = mask.ravel(), taken.ravel()
    flat, strides = _flat_places(inside, mask.shape)
    values_flat = values.ravel()
    for axis in range(3):
        for step in (int(steps[axis]), -int(steps[axis])):
            there = inside[:, axis] + step
            here = flat[(there >= 0) & (there < mask.shape[axis])]
            here = here[~mask_flat[here + step * strides[axis]]]
            edges += len(here)
            here = here[~taken_flat[here + step * strides[axis]]]
            free += len(here)
            beyond = here + step * strides[axis]
            inner += int((np.abs(values_flat[here] - middle) <= reach).sum())
            outer += int((np.abs(values_flat[beyond] - middle) <= reach).sum())
    if free < _FEWEST_PAIRS or free < _FEWEST_FREE * edges:
        return None
    return (inner - outer) / free


def edge_offset(
    region: Region, labels: LabelMap, image: NDArray[Any], ignored: Iterable[int]
) -> float | None:
    """How many layers beyond the end of the mask the organ ends, on the average all round; None if
    unknown.

    Layers are voxels, or 1.5 mm. About -0.5 to 0 where the mask ends where the organ ends (what
    lies on its rim is blurred), and one more for a mask that is one layer too small. `ignored`: as
    in `edge_contrast`.
    """
    structure, grid = region.structure, labels.grid
    steps = np.maximum(np.rint(_LAYER_MM / np.asarray(grid.affine.spacing_mm)).astype(int), 1)
    low = np.maximum(np.asarray(region.box_index.lo) - _LAYERS * steps, 0)
    high = np.minimum(np.asarray(region.box_index.hi) + _LAYERS * steps, grid.shape)
    window = tuple(slice(int(a), int(b)) for a, b in zip(low, high, strict=True))
    mask = labels.layers[structure.layer][window] == structure.value
    taken = _taken(labels, window, {structure.label, *ignored})
    inside = np.argwhere(mask)
    values = image[window]
    dark, middle, bright = np.percentile(values[mask], [16.0, 50.0, 84.0])
    reach = _LIKE * max((bright - dark) / 2.0, LEAST_SPREAD_HU)
    inside = inside[:: len(inside) // _MOST_VOXELS + 1]
    like, pairs = np.zeros(2 * _LAYERS), 0
    mask_flat, taken_flat = mask.ravel(), taken.ravel()
    values_flat = values.ravel()
    flat, strides = _flat_places(inside, mask.shape)
    for axis in range(3):
        # From the innermost layer to the outermost; 0 is a voxel of the rim, 1 the one beyond it.
        beside = np.arange(_LAYERS) * int(steps[axis])
        for sign in (1, -1):
            offsets = sign * np.concatenate([-beside[::-1], 1 + beside])
            ends = inside[:, axis] + offsets.min(), inside[:, axis] + offsets.max()
            rim = flat[(ends[0] >= 0) & (ends[1] < mask.shape[axis])]
            # Most voxels have another of the mask beyond them: they drop out at the first look.
            rim = rim[~mask_flat[rim + sign * strides[axis]]]
            at = rim[:, None] + offsets * strides[axis]
            in_mask = mask_flat[at]
            free = in_mask[:, :_LAYERS].all(axis=1) & ~(in_mask | taken_flat[at])[:, _LAYERS:].any(
                axis=1
            )
            pairs += int(free.sum())
            like += (np.abs(values_flat[at[free]] - middle) <= reach).sum(axis=0)
    if pairs < _FEWEST_PAIRS or like[0] - like[-1] < _CLEAR * pairs:
        return None
    return float(((like - like[-1]) / (like[0] - like[-1])).sum()) - _LAYERS


def _flat_places(
    places: NDArray[np.intp], shape: tuple[int, ...]
) -> tuple[NDArray[np.intp], tuple[int, int, int]]:
    """Where voxels lie in the flat array, and how far apart neighbours along an axis are there."""
    strides = (shape[1] * shape[2], shape[2], 1)
    return places @ np.array(strides), strides


def _taken(labels: LabelMap, window: tuple[slice, ...], but: set[int]) -> NDArray[np.bool_]:
    """Voxels of any other structure."""
    result: NDArray[np.bool_] | None = None
    for number, layer in enumerate(labels.layers):
        others = [s.value for s in labels.structures if s.layer == number and s.label not in but]
        if others:
            seen = layer[window]
            table = np.zeros(max(int(seen.max()), *others) + 1, dtype=np.bool_)
            table[others] = True
            other_voxels = table[seen]
            result = other_voxels if result is None else result | other_voxels
    return (
        np.zeros(tuple(s.stop - s.start for s in window), dtype=np.bool_)
        if result is None
        else result
    )
