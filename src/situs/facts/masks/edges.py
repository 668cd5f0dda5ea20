"""How well the edge of a mask follows the edge of what a CT shows there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.measure import Region
from situs.volumes import LabelMap

__all__ = ["edge_contrast"]

_REACH_MM = 4.0
"""How far a voxel inside and its partner outside lie apart: beyond blur and a sloppy contour, at least one voxel."""
_LIKE = 2.0
"""Spreads from the organ's median within which a value is like it."""
_LEAST_SPREAD_HU = 15.0
_MOST_VOXELS = 200_000
"""A large organ is sampled; its edge is known to a percent long before."""
_FEWEST_PAIRS = 200
_FEWEST_FREE = 0.3
"""Part of the edge that must lie free of other masks before it tells anything."""


def edge_contrast(
    region: Region, labels: LabelMap, image: NDArray[Any], ignored: Iterable[int]
) -> float | None:
    """Share of the edge's inner side that looks like the organ, less that of its outer side; None if unknown.

    About 0.3 to 0.9 where the mask ends where the organ ends, and about 0 where it ends within the organ or within
    what lies around it: too small, too large, moved, or another patient's. Where another mask begins, nothing is
    compared. `ignored`: labels of structures that hold others (the body).
    """
    structure, grid = region.structure, labels.grid
    steps = np.maximum(np.rint(_REACH_MM / np.asarray(grid.affine.spacing_mm)).astype(int), 1)
    low = np.maximum(np.asarray(region.box_index.lo) - steps, 0)
    high = np.minimum(np.asarray(region.box_index.hi) + steps, grid.shape)
    window = tuple(slice(int(a), int(b)) for a, b in zip(low, high, strict=True))
    mask = labels.layers[structure.layer][window] == structure.value
    taken = _taken(labels, window, {structure.label, *ignored})
    inside = np.argwhere(mask)
    if len(inside) > _MOST_VOXELS:
        inside = inside[:: len(inside) // _MOST_VOXELS + 1]
    values = image[window]
    own = values[tuple(inside.T)]
    dark, middle, bright = np.percentile(own, [16.0, 50.0, 84.0])
    reach = _LIKE * max((bright - dark) / 2.0, _LEAST_SPREAD_HU)
    edges = free = inner = outer = 0
    for axis in range(3):
        for step in (int(steps[axis]), -int(steps[axis])):
            there = inside.copy()
            there[:, axis] += step
            valid = (there[:, axis] >= 0) & (there[:, axis] < mask.shape[axis])
            here, beyond = inside[valid], there[valid]
            outside = ~mask[tuple(beyond.T)]
            edges += int(outside.sum())
            open_ = outside & ~taken[tuple(beyond.T)]
            free += int(open_.sum())
            inner += int((np.abs(values[tuple(here[open_].T)] - middle) <= reach).sum())
            outer += int((np.abs(values[tuple(beyond[open_].T)] - middle) <= reach).sum())
    if free < _FEWEST_PAIRS or free < _FEWEST_FREE * edges:
        return None
    return (inner - outer) / free


def _taken(labels: LabelMap, window: tuple[slice, ...], but: set[int]) -> NDArray[np.bool_]:
    """Voxels of any other structure."""
    result: NDArray[np.bool_] | None = None
    for number, layer in enumerate(labels.layers):
        others = [s.value for s in labels.structures if s.layer == number and s.label not in but]
        if others:
            seen = layer[window]
            table = np.zeros(max(int(seen.max()), *others) + 1, dtype=np.bool_)
            table[others] = True
            found = table[seen]
            result = found if result is None else result | found
    return (
        np.zeros(tuple(s.stop - s.start for s in window), dtype=np.bool_)
        if result is None
        else result
    )
