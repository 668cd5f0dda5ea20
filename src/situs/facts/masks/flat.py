"""Whether one structure's mask ends in a plane against another's: where organs meet, faces are
curved; where half of one was painted over, they are flat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import are_akin, are_continuous
from situs.measure import Region

if TYPE_CHECKING:
    from situs.facts.masks.ledger import Ledger

__all__ = ["flat_faces"]

_LEAST_MM2 = 150.0
"""Smaller faces are not judged: a few voxels of a thin gland lie in one plane by chance."""
_FEWEST_SLICES = 5
"""Of a structure on fewer slices the end of one may be its largest section."""
_APART = frozenset({"organ", "tract", "vertebra", "spine", "muscle"})
"""Kinds of structure that meet in curved faces; bones and the discs between them may be flat."""
_ON_VESSELS = frozenset({"organ", "tract"})
"""Kinds of structure too broad to end on a vessel; vessels pass into each other and into these."""
_SIDE_BY_SIDE = frozenset({"aorta", "inferior_vena_cava"})
"""The vessels that run beside each other."""


def flat_faces(ledger: Ledger) -> Iterator[tuple[tuple[str, str], float]]:
    """Pairs of which the first ends in a plane of voxels against the second, and the part of its
    largest section across that plane that lies on the second there."""
    for pair in ledger.contacts.pairs:
        for name, other in (pair, pair[::-1]):
            if not _is_judged(ledger, name, other):
                continue
            share = max(_share(ledger, name, other, axis) for axis in range(3))
            if share > 0.0:
                yield (name, other), share


def _is_judged(ledger: Ledger, name: str, other: str) -> bool:
    """Whether an end of the first in a plane on the second would be odd."""
    a, b = ledger.terms[name], ledger.terms[other]
    if a.kind == b.kind == "vertebra":  # where a disc lies between them, its planes part them
        return False
    may_not = (
        _APART.issuperset((a.kind, b.kind))
        or {a.canonical, b.canonical} == _SIDE_BY_SIDE
        or (a.kind in _ON_VESSELS and b.kind == "vessel")
    )
    return may_not and not are_continuous(a, b) and not are_akin(a, b, ledger.terms)


def _share(ledger: Ledger, name: str, other: str, axis: int) -> float:
    """Part of the largest section across a stored axis that ends on the other in one plane."""
    region, grid = ledger.regions[name], ledger.regions.grid
    face_mm2 = grid.affine.face_areas_mm2[axis]
    sections = region.slice_boxes(axis)
    if len(sections.index) < _FEWEST_SLICES:
        return 0.0
    # No plane holds more of their common faces than there are across this axis.
    if ledger.contacts.faces(name, other)[axis] * face_mm2 < _LEAST_MM2:
        return 0.0
    windows = _windows(ledger, region, ledger.regions[other])
    mask, beside = (np.moveaxis(one, axis, 0) for one in windows)
    largest = int(mask.reshape(len(mask), -1).sum(axis=1).max())
    count = max(_ends_on(mask, beside), _ends_on(mask[::-1], beside[::-1]))
    return count / largest if count * face_mm2 >= _LEAST_MM2 else 0.0


def _ends_on(mask: NDArray[np.bool_], other: NDArray[np.bool_]) -> int:
    """Most voxels on one slice that end there with the other beyond them."""
    return int((mask[:-1] & ~mask[1:] & other[1:]).reshape(len(mask) - 1, -1).sum(axis=1).max())


def _windows(
    ledger: Ledger, region: Region, other: Region
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Both masks in the box of the first and a voxel around it."""
    low = np.maximum(np.asarray(region.box_index.lo) - 1, 0)
    high = np.minimum(np.asarray(region.box_index.hi) + 1, region.grid.shape)
    window = tuple(slice(int(a), int(b)) for a, b in zip(low, high, strict=True))
    layers = ledger.regions.labels.layers
    own, beside = (
        layers[one.layer][window] == one.value for one in (region.structure, other.structure)
    )
    return own, beside
