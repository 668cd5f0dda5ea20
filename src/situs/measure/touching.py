"""Which structures share a face, over how much area, and which share voxels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.measure.layers import layers_of
from situs.measure.regions import Region, Regions
from situs.measure.runs import Runs, find_runs
from situs.volumes import LabelMap

__all__ = ["Contacts", "borders", "contacts", "label_contacts"]

Pair = tuple[str, str]
Faces = tuple[int, int, int]

_DENSE = 1 << 20
"""Largest table of pairs; beyond it they go into a hash table."""


class Contacts:
    """Shared faces and their area in mm², and shared voxels,
    of every pair of structures that has any."""

    def __init__(
        self,
        area_mm2: dict[Pair, float],
        shared_voxels: dict[Pair, int],
        faces: Mapping[Pair, Faces] | None = None,
    ) -> None:
        self._area = area_mm2
        self._shared = shared_voxels
        self._faces = faces or {}

    def area_mm2(self, a: str, b: str) -> float:
        """Area of the voxel faces with `a` on one side and `b` on the other."""
        return self._area.get(_ordered(a, b), 0.0)

    def faces(self, a: str, b: str) -> Faces:
        """Number of those faces across each stored axis."""
        return self._faces.get(_ordered(a, b), (0, 0, 0))

    def shared_voxels(self, a: str, b: str) -> int:
        """Voxels that both structures hold (overlapping masks)."""
        return self._shared.get(_ordered(a, b), 0)

    def touching(self, a: str, b: str) -> bool:
        """Whether they share a face or a voxel."""
        return self.area_mm2(a, b) > 0 or self.shared_voxels(a, b) > 0

    @property
    def pairs(self) -> list[Pair]:
        """Every touching pair, each in alphabetical order."""
        return sorted(set(self._area) | set(self._shared))


def _ordered(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)


def contacts(labels: LabelMap) -> Contacts:
    """All contacts of a label map, its overlapping layers included."""
    names = [
        {s.value: s.name for s in labels.structures if s.layer == layer}
        for layer in range(len(labels.layers))
    ]
    area: dict[Pair, float] = {}
    shared: dict[Pair, int] = {}
    faces: dict[Pair, list[int]] = {}
    face_areas = labels.grid.affine.face_areas_mm2
    runs = [layer.runs for layer in layers_of(labels)]
    for first, one in enumerate(runs):
        for second, two in enumerate(runs):
            for axis in range(3):
                for (a, b), count in _count_pairs(one, two, axis).items():
                    if (first != second or a != b) and a in names[first] and b in names[second]:
                        pair = _ordered(names[first][a], names[second][b])
                        area[pair] = area.get(pair, 0.0) + count * face_areas[axis]
                        faces.setdefault(pair, [0, 0, 0])[axis] += count
            if first < second:
                for (a, b), count in _count_pairs(one, two, None).items():
                    if a in names[first] and b in names[second]:
                        pair = _ordered(names[first][a], names[second][b])
                        shared[pair] = shared.get(pair, 0) + count
    return Contacts(area, shared, {pair: (i, j, k) for pair, (i, j, k) in faces.items()})


def label_contacts(labels: NDArray[Any]) -> dict[tuple[int, int], Faces]:
    """Faces between each two label values of an array (smaller first), across each stored axis."""
    runs = find_runs(labels)
    faces: dict[tuple[int, int], list[int]] = {}
    for axis in range(3):
        for (a, b), count in _count_pairs(runs, runs, axis).items():
            if a != b:
                faces.setdefault((min(a, b), max(a, b)), [0, 0, 0])[axis] += count
    return {pair: (i, j, k) for pair, (i, j, k) in faces.items()}


def _count_pairs(one: Runs, two: Runs, axis: int | None) -> dict[tuple[int, int], int]:
    """Voxels of each label of one whose next voxel along
    a stored axis (or itself) has each label of two."""
    from situs.measure.kernels import overlap as overlap_kernels

    dx, dy, dz = (int(axis == stored) for stored in one.axes)
    _, ny, nz = one.shape
    a = (one.row_start, one.x0, one.x1, one.label)
    b = (two.row_start, two.x0, two.x1, two.label)
    width = len(two.values)
    if len(one.values) * width <= _DENSE:
        table = np.zeros(len(one.values) * width, dtype=np.int64)
        overlap_kernels.count_pairs(*a, *b, ny, nz, dx, dy, dz, width, table)
        codes = np.flatnonzero(table)
        firsts, seconds, counts = codes // max(1, width), codes % max(1, width), table[codes]
    else:
        size = 1 << 16
        while True:
            keys, sums = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
            if overlap_kernels.count_pairs_sparse(*a, *b, ny, nz, dx, dy, dz, keys, sums):
                break
            size *= 4
        used = np.flatnonzero(keys >= 0)
        used = used[np.argsort(keys[used])]
        firsts, seconds, counts = keys[used] >> 32, keys[used] & 0xFFFFFFFF, sums[used]
    rows = zip(firsts.tolist(), seconds.tolist(), counts.tolist())
    return {(one.values[i], two.values[j]): count for i, j, count in rows}


def borders(regions: Regions, name: str) -> dict[str, float]:
    """Share of a structure's surface (voxel faces, by area) that has each other structure right
    outside it.

    With overlapping masks a face may border several structures, so that shares may add up to more
    than 1; what borders on no structure or the array's edge is in none of them.
    """
    region = regions[name]
    areas = region.grid.affine.face_areas_mm2
    lo, hi = region.box_index.lo, region.box_index.hi
    inside = np.pad(region.crop(), 1)
    around = tuple(slice(max(0, a - 1), b + 1) for a, b in zip(lo, hi))
    pads = [(int(a == 0), int(b == n)) for a, b, n in zip(lo, hi, region.grid.shape)]
    windows = [np.pad(layer[around], pads) for layer in regions.labels.layers]
    names = {(s.layer, s.value): s.name for s in regions.labels.structures}
    shares: dict[str, float] = {}
    for axis in range(3):
        for near, far in ((slice(None, -1), slice(1, None)), (slice(1, None), slice(None, -1))):
            here = tuple(near if a == axis else slice(None) for a in range(3))
            there = tuple(far if a == axis else slice(None) for a in range(3))
            open_faces = inside[here] & ~inside[there]
            for number, window in enumerate(windows):
                values, counts = np.unique(window[there][open_faces], return_counts=True)
                for value, count in zip(values.tolist(), counts.tolist()):
                    other = names.get((number, value))
                    if other is not None:
                        shares[other] = (
                            shares.get(other, 0.0) + count * areas[axis] / region.face_area_mm2
                        )
    return shares


def eroded_contact_mm2(a: Region, b: Region) -> float:
    """Area of the faces between two structures once one of them has lost a voxel all around: the
    lesser of both ways.

    Faces count as in `Contacts`: `a` on one side, `b` on the other, also where the two overlap.
    """
    from scipy import ndimage

    lo = np.maximum(a.box_index.lo, b.box_index.lo) - 2
    hi = np.minimum(a.box_index.hi, b.box_index.hi) + 2
    if (hi <= lo).any():
        return 0.0
    masks = [_in_window(region, lo, hi) for region in (a, b)]
    areas = a.grid.affine.face_areas_mm2
    # Beyond the window and the scan a structure is taken to go on: only its own surface erodes.
    worn = [ndimage.binary_erosion(mask, border_value=1) for mask in masks]
    return min(_face_area_mm2(worn[0], masks[1], areas), _face_area_mm2(masks[0], worn[1], areas))


def _in_window(region: Region, lo: NDArray[Any], hi: NDArray[Any]) -> NDArray[np.bool_]:
    """The structure between two corners, which may lie outside its box and the array."""
    window = np.zeros([int(n) for n in hi - lo], dtype=np.bool_)
    crop = region.crop()
    source, target = [], []
    for axis in range(3):
        first, end = region.box_index.lo[axis], region.box_index.hi[axis]
        start, stop = max(first, int(lo[axis])), min(end, int(hi[axis]))
        source.append(slice(start - first, stop - first))
        target.append(slice(start - int(lo[axis]), stop - int(lo[axis])))
    window[tuple(target)] = crop[tuple(source)]
    return window


def _face_area_mm2(
    a: NDArray[np.bool_], b: NDArray[np.bool_], areas: tuple[float, float, float]
) -> float:
    total = 0.0
    for axis, area in enumerate(areas):
        before, behind = (
            tuple(part if k == axis else slice(None) for k in range(3))
            for part in (slice(None, -1), slice(1, None))
        )
        total += area * float(
            np.count_nonzero(a[before] & b[behind]) + np.count_nonzero(b[before] & a[behind])
        )
    return total
