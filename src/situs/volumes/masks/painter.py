"""Painting structures that come slice by slice into as few layers as they need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.space import Grid
from situs.volumes.label_map import LabelMap, Structure
from situs.volumes.limits import max_bytes
from situs.volumes.masks.segments import shared_names
from situs.volumes.masks.values import smallest_unsigned

__all__ = ["Painter"]


class Painter:
    """Collects structures; each goes into the first layer where it overlaps none."""

    def __init__(self, grid: Grid, largest_label: int, where: Path) -> None:
        self._grid = grid
        self._kind = smallest_unsigned(largest_label)
        self._where = where
        self._layers: list[NDArray[Any]] = []
        self._structures: list[Structure] = []
        self._empty: list[int] = []

    def add(self, label: int, name: str, slices: Mapping[int, NDArray[np.bool_]]) -> None:
        """Paint one structure, given as masks [row, column] by slice."""
        filled = {k: mask.T for k, mask in slices.items() if mask.any()}
        if not filled:
            self._empty.append(label)
            return
        free = (n for n, layer in enumerate(self._layers) if not _overlaps(layer, filled))
        number = next(free, len(self._layers))
        if number == len(self._layers):
            self._add_layer()
        for k, mask in filled.items():
            np.copyto(self._layers[number][..., k], self._kind.type(label), where=mask)
        self._structures.append(Structure(label, name, number, label))

    def _add_layer(self) -> None:
        if (len(self._layers) + 1) * self._grid.voxels * self._kind.itemsize > max_bytes():
            raise SitusError(
                "too many structures overlap",
                where=self._where,
                fix="split them into several files",
            )
        self._layers.append(np.zeros(self._grid.shape, dtype=self._kind, order="F"))

    def label_map(self, warnings: tuple[str, ...]) -> LabelMap:
        """What was painted; nothing at all is an error."""
        if not self._structures:
            raise SitusError(
                "no structure has a voxel",
                where=self._where,
                fix="give a file with filled structures",
            )
        if self._empty:
            warnings = (*warnings, f"empty segments: {', '.join(map(str, sorted(self._empty)))}")
        structures = sorted(self._structures, key=lambda s: s.label)
        kind = smallest_unsigned(max(structure.value for structure in structures))
        layers = tuple(layer.astype(kind, copy=False) for layer in self._layers)
        return LabelMap(
            self._grid, layers, tuple(structures), (*warnings, *shared_names(structures))
        )


def _overlaps(layer: NDArray[Any], slices: Mapping[int, NDArray[np.bool_]]) -> bool:
    return any(bool(layer[..., k][mask].any()) for k, mask in slices.items())
