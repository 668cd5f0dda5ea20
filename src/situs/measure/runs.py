"""A label array as runs: stretches of equal label along the axis that is contiguous in memory."""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError

__all__ = ["LabelRuns", "Runs", "find_runs"]

_DENSE_VALUES = 1 << 22
_LARGEST = 2**32 - 1

Triple = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class LabelRuns:
    """The runs of one label in row order:
    voxels x0 ≤ x < x1 of row (y, z), along the axes of `Runs.axes`."""

    axes: Triple
    shape: Triple
    """Size of the whole array along these axes."""
    x0: NDArray[np.int32]
    x1: NDArray[np.int32]
    y: NDArray[np.int32]
    z: NDArray[np.int32]

    @functools.cached_property
    def lo(self) -> Triple:
        """First voxel along x, y, z."""
        return int(self.x0.min()), int(self.y.min()), int(self.z[0])

    @functools.cached_property
    def hi(self) -> Triple:
        """One past the last voxel along x, y, z."""
        return int(self.x1.max()), int(self.y.max()) + 1, int(self.z[-1]) + 1

    def to_stored(self, points: NDArray[Any]) -> NDArray[np.float64]:
        """(n, 3) coordinates along x, y, z → stored index order."""
        stored = np.empty(points.shape, dtype=np.float64)
        stored[:, list(self.axes)] = points
        return stored


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of nonzero label of an array, row by row."""

    axes: Triple
    """Which stored axis is x (contiguous in memory), y and z (slowest)."""
    shape: Triple
    """Size along x, y, z."""
    values: tuple[int, ...]
    """The label values that occur, ascending; `label` counts along them."""
    row_start: NDArray[np.int64]
    """First run of row y + ny · z, and the number of runs at the end."""
    x0: NDArray[np.int32]
    x1: NDArray[np.int32]
    label: NDArray[np.int32]

    @functools.cached_property
    def place(self) -> dict[int, int]:
        """Label value → its number in `label`."""
        return {value: number for number, value in enumerate(self.values)}

    @functools.cached_property
    def _grouped(self) -> tuple[NDArray[np.int64], tuple[NDArray[np.int32], ...]]:
        from situs.measure.kernels.runs import group_runs

        first = np.zeros(len(self.values) + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.label, minlength=len(self.values)), out=first[1:])
        columns = tuple(np.empty(self.label.size, dtype=np.int32) for _ in range(4))
        group_runs(
            self.row_start, self.x0, self.x1, self.label, self.shape[1], first.copy(), *columns
        )
        return first, columns

    def of(self, value: int) -> LabelRuns:
        """The runs of one label value."""
        first, columns = self._grouped
        number = self.place[value]
        x0, x1, y, z = (column[first[number] : first[number + 1]] for column in columns)
        return LabelRuns(self.axes, self.shape, x0, x1, y, z)

    def to_stored(self, table: NDArray[Any]) -> NDArray[Any]:
        """The last axis from x, y, z to stored index order."""
        stored = np.empty_like(table)
        stored[..., list(self.axes)] = table
        return stored


def find_runs(labels: NDArray[Any]) -> Runs:
    """Runs of a 3D array of whole labels ≥ 0 of any integer type, memory order, stride or
    alignment.

    Only an array without a contiguous axis is copied.
    """
    from situs.measure.kernels.runs import find_runs as kernel

    array = _unsigned(labels)
    item = array.dtype.itemsize
    # Of axes with equal steps (size 1), the longest counts as the inner one.
    axes = sorted(range(3), key=lambda axis: (array.shape[axis] == 1, abs(array.strides[axis])))
    if abs(array.strides[axes[0]]) != item and array.shape[axes[0]] > 1:
        array = array.copy(order="K")
        axes = sorted(range(3), key=lambda axis: (array.shape[axis] == 1, abs(array.strides[axis])))
    x, y, z = axes
    nx, ny, nz = (array.shape[axis] for axis in axes)
    if array.size * max(nx, ny, nz) ** 2 >= 1 << 63:
        raise SitusError("volume too large for exact sums", fix="crop it")
    flip = array.strides[x] < 0
    address = array.ctypes.data + (array.strides[x] * (nx - 1) if flip else 0)
    sample = np.zeros(1, dtype=array.dtype)
    row_start = np.empty(ny * nz + 1, dtype=np.int64)
    x0, x1, run_values = _scratch.columns(4 * nx)
    row, filled = 0, 0
    while True:
        row, filled = kernel(
            address,
            sample,
            nx,
            ny,
            nz,
            array.strides[y] if ny > 1 else 0,
            array.strides[z] if nz > 1 else 0,
            flip,
            row,
            filled,
            row_start,
            x0,
            x1,
            run_values,
        )
        if row == ny * nz:
            break
        x0, x1, run_values = (
            np.concatenate([column, np.empty_like(column)]) for column in (x0, x1, run_values)
        )
    values, label = _numbered(run_values[:filled])
    return Runs(
        (x, y, z), (nx, ny, nz), values, row_start, x0[:filled].copy(), x1[:filled].copy(), label
    )


class _Scratch(threading.local):
    """Memory that a thread uses again and again: fresh memory costs more than finding the runs."""

    known: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint32]] | None = None

    def columns(
        self, least: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint32]]:
        """Start, stop and value of at least so many runs."""
        if self.known is None or self.known[0].size < least:
            size = max(least, 1 << 20)
            self.known = (
                np.empty(size, np.int32),
                np.empty(size, np.int32),
                np.empty(size, np.uint32),
            )
        return self.known


_scratch = _Scratch()


def _unsigned(labels: NDArray[Any]) -> NDArray[Any]:
    """The same memory seen as unsigned integers;
    64-bit and float labels are converted once they are known to fit."""
    if labels.ndim != 3 or labels.size == 0:
        raise SitusError(
            f"labels of shape {labels.shape} are not a 3D volume", fix="give a 3D array"
        )
    if not labels.dtype.isnative:
        labels = labels.astype(labels.dtype.newbyteorder("="), order="K")
    kind, item = labels.dtype.kind, labels.dtype.itemsize
    if kind == "b" or (kind == "u" and item <= 2):
        return labels.view(np.uint8) if kind == "b" else labels
    if kind not in "iuf":
        raise SitusError(f"labels of type {labels.dtype} are not numbers", fix="give whole numbers")
    if kind == "u" and item == 4:
        return labels
    if kind == "i" and item <= 4:
        if int(labels.min()) < 0:
            raise SitusError("negative labels", fix="give labels ≥ 0")
        return labels.view(f"u{item}")
    low, high = labels.min(), labels.max()
    if not (low >= 0 and high <= _LARGEST):
        raise SitusError(
            f"labels from {low} to {high} are not between 0 and {_LARGEST}",
            fix="renumber the labels",
        )
    as_integers: NDArray[Any] = labels.astype(np.uint32, order="K")
    if kind == "f" and not np.array_equal(as_integers, labels):
        raise SitusError("fractional labels", fix="give whole numbers")
    return as_integers


def _numbered(run_values: NDArray[np.uint32]) -> tuple[tuple[int, ...], NDArray[np.int32]]:
    """The values that occur, ascending, and each run's place among them."""
    if run_values.size == 0:
        return (), np.zeros(0, dtype=np.int32)
    largest = int(run_values.max())
    if largest < _DENSE_VALUES:
        present = np.zeros(largest + 1, dtype=np.bool_)
        present[run_values] = True
        values = np.flatnonzero(present)
        number = np.cumsum(present, dtype=np.int32) - np.int32(1)
        return tuple(values.tolist()), number[run_values]
    sparse, label = np.unique(run_values, return_inverse=True)
    return tuple(sparse.tolist()), label.astype(np.int32)
