"""Which structures share a face, over how much area, and which share voxels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.volumes import LabelMap

__all__ = ["Contacts", "contacts"]

Pair = tuple[str, str]


class Contacts:
    """Shared faces in mm² and shared voxels of every pair of structures that has any."""

    def __init__(self, area_mm2: dict[Pair, float], shared_voxels: dict[Pair, int]) -> None:
        self._area = area_mm2
        self._shared = shared_voxels

    def area_mm2(self, a: str, b: str) -> float:
        """Area of the voxel faces with `a` on one side and `b` on the other."""
        return self._area.get(_ordered(a, b), 0.0)

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
    names = [{s.value: s.name for s in labels.structures if s.layer == layer} for layer in range(len(labels.layers))]
    area: dict[Pair, float] = {}
    shared: dict[Pair, int] = {}
    faces = labels.grid.affine.face_areas_mm2
    for first, one in enumerate(labels.layers):
        for second, two in enumerate(labels.layers):
            for axis in range(3):
                meeting = _count_pairs(_near(one, axis), _far(two, axis), same_layer=first == second)
                for (a, b), count in meeting.items():
                    if a in names[first] and b in names[second]:
                        pair = _ordered(names[first][a], names[second][b])
                        area[pair] = area.get(pair, 0.0) + count * faces[axis]
            if first < second:
                for (a, b), count in _count_pairs(one, two, same_layer=False).items():
                    if a in names[first] and b in names[second]:
                        pair = _ordered(names[first][a], names[second][b])
                        shared[pair] = shared.get(pair, 0) + count
    return Contacts(area, shared)


def _near(array: NDArray[np.unsignedinteger], axis: int) -> NDArray[np.unsignedinteger]:
    return array[tuple(slice(None, -1) if a == axis else slice(None) for a in range(3))]


def _far(array: NDArray[np.unsignedinteger], axis: int) -> NDArray[np.unsignedinteger]:
    return array[tuple(slice(1, None) if a == axis else slice(None) for a in range(3))]


def _count_pairs(
    a: NDArray[np.unsignedinteger], b: NDArray[np.unsignedinteger], *, same_layer: bool
) -> dict[tuple[int, int], int]:
    meet = (a != 0) & (b != 0)
    if same_layer:
        meet &= a != b
    codes = a[meet].astype(np.int64) << 32 | b[meet].astype(np.int64)
    values, counts = np.unique(codes, return_counts=True)
    return {(int(v >> 32), int(v & 0xFFFFFFFF)): int(n) for v, n in zip(values, counts)}
