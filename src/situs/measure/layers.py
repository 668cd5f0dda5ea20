"""One layer of a label map, measured as a whole on first need:
its runs, statistics, components and neighbours."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.measure.components import LabelComponents, components_of
from situs.measure.runs import Runs, find_runs
from situs.measure.statistics import LabelStatistics, statistics_of
from situs.volumes import LabelMap

__all__ = ["Layer", "layers_of"]


class Layer:
    """Everything that is cheaper for all labels of a layer at once than for each."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self._same: dict[tuple[int, int, int], NDArray[np.int64]] = {}
        self._components: dict[int, LabelComponents] = {}

    @functools.cached_property
    def statistics(self) -> LabelStatistics:
        """Counts, boxes and moments."""
        return statistics_of(self.runs)

    def components(self, connectivity: int) -> LabelComponents:
        """Connected components of all labels."""
        if connectivity not in self._components:
            self._components[connectivity] = components_of(self.runs, connectivity)
        return self._components[connectivity]

    @functools.cached_property
    def components_by_label(self) -> dict[int, dict[int, NDArray[np.intp]]]:
        """Filled by `components_of_label`:
        connectivity → label value → rows of the component table."""
        return {}

    def components_of_label(self, value: int, connectivity: int) -> NDArray[np.intp]:
        """Rows of one label's components, largest first, then by place in memory."""
        known = self.components_by_label
        if connectivity not in known:
            table = self.components(connectivity)
            order = np.lexsort((np.arange(table.voxels.size), -table.voxels, table.label))
            ends = np.searchsorted(table.label[order], np.array(self.runs.values), side="right")
            known[connectivity] = dict(zip(self.runs.values, np.split(order, ends[:-1])))
        return known[connectivity][value]

    def same(self, step: tuple[int, int, int]) -> NDArray[np.int64]:
        """Per label, voxels whose neighbour at a step (stored index order) has the same label."""
        from situs.measure.kernels.overlap import count_same

        if step not in self._same:
            runs = self.runs
            dx, dy, dz = (step[axis] for axis in runs.axes)
            counts = np.zeros(len(runs.values), dtype=np.int64)
            _, ny, nz = runs.shape
            count_same(runs.row_start, runs.x0, runs.x1, runs.label, ny, nz, dx, dy, dz, counts)
            self._same[step] = counts
        return self._same[step]


_KNOWN: weakref.WeakKeyDictionary[LabelMap, tuple[Layer, ...]] = weakref.WeakKeyDictionary()


def layers_of(labels: LabelMap) -> tuple[Layer, ...]:
    """The layers of a label map, found once per map; all have the same axis as x, y and z."""
    known = _KNOWN.get(labels)
    if known is None:
        runs = [find_runs(layer) for layer in labels.layers]
        if len({r.axes for r in runs}) > 1:
            runs = [find_runs(_alike(layer, labels.grid.shape)) for layer in labels.layers]
        known = _KNOWN.setdefault(labels, tuple(Layer(r) for r in runs))
    return known


def _alike(layer: NDArray[Any], shape: tuple[int, int, int]) -> NDArray[Any]:
    """A copy with the first axis fastest."""
    return np.array(layer, order="F", copy=True).reshape(shape, order="F")
