"""Labels in memory: one or a few layers of numbers, and the structures they stand for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.base.files import canonical_json
from situs.space import Grid, IndexBox
from situs.volumes.volume import hash_voxels

__all__ = ["LabelMap", "Structure"]


class Structure(msgspec.Struct, frozen=True):
    """A named set of voxels: those of `layers[layer]` that equal `value`."""

    label: int
    """The number the user knows: the label in the file,
    the vocabulary's id, or the place in the folder."""
    name: str
    layer: int
    value: int


@dataclass(frozen=True, eq=False)
class LabelMap:
    """Loaded labels. Structures that overlap lie in different layers; within a layer none do."""

    grid: Grid
    layers: tuple[NDArray[Any], ...]
    """Unsigned integers [i, j, k] in stored order, first axis fastest.

    Shared memory: do not write to them.
    """
    structures: tuple[Structure, ...]
    """Those with at least one voxel, by label."""
    warnings: tuple[str, ...] = ()
    grid_error_mm: float = 0.0
    """How far the grid of a file that was read may lie from `grid`;
    boundaries are known no better."""
    block: IndexBox | None = None
    """The part of the grid that the file covers, if it is not the whole:
    nothing is labelled outside it."""

    @cached_property
    def hash(self) -> str:
        """Hash of voxels, affine and structure names;
        the same for any format, compression and stored type."""
        return hash_voxels(self.layers, self.grid, canonical_json(self.structures))

    def renamed(self, names: Mapping[int, str]) -> LabelMap:
        """The same labels with these names by label;
        structures that come to share one become one."""
        if not names:
            return self
        structures = [
            msgspec.structs.replace(s, name=names.get(s.label, s.name)) for s in self.structures
        ]
        layers = list(self.layers)
        for name in sorted(set(names.values())):
            same = [s for s in structures if s.name == name]
            if len(same) > 1:
                joined = np.zeros_like(layers[same[0].layer], dtype=np.uint8)
                for structure in same:
                    joined[self.mask(structure)] = 1
                layers.append(joined)
                structures = [s for s in structures if s.name != name]
                structures.append(Structure(same[0].label, name, len(layers) - 1, 1))
        ordered = tuple(sorted(structures, key=lambda s: s.label))
        return dataclasses.replace(self, layers=tuple(layers), structures=ordered)

    def padded(self, grid: Grid, start: tuple[int, int, int]) -> LabelMap:
        """The labels of a block as those of the whole grid, in which it begins at this voxel."""
        inside = tuple(slice(at, at + size) for at, size in zip(start, self.grid.shape))
        layers = []
        for layer in self.layers:
            padded_layer = np.zeros(grid.shape, dtype=layer.dtype, order="F")
            padded_layer[inside] = layer
            layers.append(padded_layer)
        (i, j, k), (a, b, c) = start, self.grid.shape
        block = IndexBox(start, (i + a, j + b, k + c))
        return dataclasses.replace(self, grid=grid, layers=tuple(layers), block=block)

    def beside(self, image: Grid) -> LabelMap:
        """The same labels, known no better than the grid of their image agrees with their own."""
        return self.no_better_than(image.offset_mm(self.grid))

    def no_better_than(self, error_mm: float) -> LabelMap:
        """The same labels with a grid that may be off by at least so much."""
        if error_mm <= self.grid_error_mm:
            return self
        return dataclasses.replace(self, grid_error_mm=error_mm)

    def mask(self, structure: Structure) -> NDArray[np.bool_]:
        """The voxels of one structure."""
        inside: NDArray[np.bool_] = self.layers[structure.layer] == structure.value
        return inside
