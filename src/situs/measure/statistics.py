"""Counts, boxes and moments of every label of an array, in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.measure.runs import Runs, find_runs

__all__ = ["LabelStatistics", "SliceBoxes", "label_statistics", "statistics_of"]


@dataclass(frozen=True, eq=False)
class SliceBoxes:
    """Boxes of one structure on the slices across one stored axis,
    where it has voxels; in stored index order."""

    axis: int
    """The stored axis that the slices lie across."""
    index: NDArray[np.int64]
    """(n,) slice numbers, ascending."""
    voxels: NDArray[np.int64]
    """(n,) voxels on each slice."""
    lo: NDArray[np.int64]
    """(n, 2) first pixel along the two other stored axes, in their order."""
    hi: NDArray[np.int64]
    """(n, 2) one past the last pixel."""


@dataclass(frozen=True, eq=False)
class LabelStatistics:
    """Exact whole numbers per label value, labels ascending, coordinates in stored index order."""

    values: tuple[int, ...]
    voxels: NDArray[np.int64]
    """(L,)"""
    lo: NDArray[np.int32]
    """(L, 3) first voxel."""
    hi: NDArray[np.int32]
    """(L, 3) one past the last voxel."""
    sums: NDArray[np.int64]
    """(L, 3) Σ index."""
    products: NDArray[np.int64]
    """(L, 3, 3) Σ index · index."""
    runs: NDArray[np.int64]
    """(L,) runs along the memory's contiguous axis; each has two faces across that axis."""
    slice_axis: int
    """The stored axis of the slice boxes: the slowest in memory."""
    slices: NDArray[np.int32]
    """(n, 7) label's place in `values`, slice, voxels,
    and from and to along the two other axes in stored order."""

    def slice_boxes(self, value: int) -> SliceBoxes:
        """The boxes of one label on the slices across `slice_axis`."""
        label_slices = self.slices[self.slices[:, 0] == self.values.index(value)].astype(np.int64)
        return SliceBoxes(
            self.slice_axis,
            label_slices[:, 1],
            label_slices[:, 2],
            label_slices[:, [3, 5]],
            label_slices[:, [4, 6]],
        )


def label_statistics(labels: NDArray[Any]) -> LabelStatistics:
    """Count, box, first and second moments of every label above 0, and its box on every slice.

    `labels` is any 3D array of whole numbers ≥ 0; it is read once, in whatever order it lies in
    memory.
    """
    return statistics_of(find_runs(labels))


def statistics_of(runs: Runs) -> LabelStatistics:
    """As `label_statistics`, from runs."""
    from situs.measure.kernels.statistics import sum_runs

    count = len(runs.values)
    _, ny, nz = runs.shape
    sums = np.zeros((count, 11), dtype=np.int64)
    boxes = np.zeros((count, 6), dtype=np.int32)
    boxes[:, :3] = np.iinfo(np.int32).max
    slices = np.empty((min(runs.label.size, count * nz), 7), dtype=np.int32)
    filled = sum_runs(
        runs.row_start,
        runs.x0,
        runs.x1,
        runs.label,
        ny,
        nz,
        np.zeros(10 * count, dtype=np.int64),
        np.zeros(count, dtype=np.int32),
        sums.reshape(-1),
        boxes.reshape(-1),
        slices.reshape(-1),
    )
    x, y, z = runs.axes
    products = np.empty((count, 3, 3), dtype=np.int64)
    products[:, x, x], products[:, y, y], products[:, z, z] = sums[:, 4], sums[:, 5], sums[:, 6]
    for column, (a, b) in zip((7, 8, 9), ((x, y), (x, z), (y, z))):
        products[:, a, b] = products[:, b, a] = sums[:, column]
    slices = slices[:filled]
    if x > y:
        slices = slices[:, [0, 1, 2, 5, 6, 3, 4]]
    return LabelStatistics(
        runs.values,
        sums[:, 0],
        runs.to_stored(boxes[:, :3]),
        runs.to_stored(boxes[:, 3:]),
        runs.to_stored(sums[:, 1:4]),
        products,
        sums[:, 10],
        z,
        slices,
    )
