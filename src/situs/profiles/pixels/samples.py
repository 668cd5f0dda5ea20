"""Voxels on the shown lattice, one slice at a time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.profiles.geometry.frame import Screen
from situs.profiles.geometry.lattice import AxisMap, Lattice
from situs.space import Grid

__all__ = ["in_lattice_order", "lattice_slice", "slice_of"]

_EDGE = 0.5 + 1e-6
"""How far outside the centre of the last voxel the volume ends."""


def in_lattice_order(array: NDArray[Any], grid: Grid | None) -> NDArray[Any]:
    """A view whose axes run to the right, front and head;
    or x, y, frame of a stack (frames, height, width)."""
    if grid is None:
        return array.transpose(2, 1, 0)
    order, flips = grid.to_patient_order()
    return array.transpose(order)[tuple(slice(None, None, -1 if flip else 1) for flip in flips)]


def lattice_slice(
    array: NDArray[Any], lattice: Lattice, axis: int, index: int, interpolation: str
) -> NDArray[Any]:
    """One slice across `axis`, the other two axes in their order; NaN outside the volume.

    Voxels keep their type where none is interpolated or missing.
    """
    in_plane = [other for other in range(3) if other != axis]
    through = _through(array, lattice.axes[axis], axis, index, interpolation)
    if through is None:
        return np.full(
            [lattice.axes[other].known() for other in in_plane], np.nan, dtype=np.float32
        )
    for slice_axis, other in enumerate(in_plane):
        through = _along(through, lattice.axes[other], slice_axis, interpolation)
    return through


def slice_of(
    array: NDArray[Any], lattice: Lattice, screen: Screen, index: int, interpolation: str
) -> NDArray[Any]:
    """One slice as rows of a picture."""
    values = lattice_slice(array, lattice, screen.through, index, interpolation)
    upright = values if screen.columns > screen.rows else values.T
    return upright[:: -1 if screen.flip_rows else 1, :: -1 if screen.flip_columns else 1]


def _through(
    array: NDArray[Any], axis: AxisMap, array_axis: int, index: int, interpolation: str
) -> NDArray[Any] | None:
    """The slice at a shown index: an acquired one, or a mean of some; None outside the volume."""
    first_acquired = _whole_start(axis)
    if first_acquired is not None:
        acquired = first_acquired + index
        return (
            _slice(array, acquired, array_axis) if 0 <= acquired < array.shape[array_axis] else None
        )
    indices, weights = _weights(axis, index, interpolation)
    if not len(indices):
        return None
    if len(indices) == 1:
        return _slice(array, indices[0], array_axis)
    mean = np.zeros([n for i, n in enumerate(array.shape) if i != array_axis], dtype=np.float32)
    for acquired, weight in zip(indices, weights, strict=True):
        mean += np.float32(weight) * _slice(array, acquired, array_axis).astype(np.float32)
    return mean


def _slice(array: NDArray[Any], index: int, array_axis: int) -> NDArray[Any]:
    """A view; `np.take` would copy a volume that is not stored in C order."""
    return np.asarray(array[(slice(None),) * array_axis + (index,)])


def _along(
    values: NDArray[Any], axis: AxisMap, array_axis: int, interpolation: str
) -> NDArray[Any]:
    """One axis of a slice on its shown voxels."""
    if axis.is_identity:
        return values
    first_acquired = _whole_start(axis)
    if first_acquired is not None:
        return _cut_or_padded(values, array_axis, first_acquired, axis.known())
    if interpolation == "nearest":
        return _nearest(values, axis, array_axis)
    matrix, outside = _matrix(
        axis.acquired or 0, axis.known(), axis.start, axis.step, interpolation
    )
    moved = np.moveaxis(values.astype(np.float32, copy=False), array_axis, 0)
    sampled = np.asarray(matrix @ np.ascontiguousarray(moved), dtype=np.float32)
    sampled[outside] = np.nan
    return np.moveaxis(sampled, 0, array_axis)


def _whole_start(axis: AxisMap) -> int | None:
    """Where the shown voxels begin, if they are acquired ones or lie beside them."""
    return int(axis.start) if axis.step == 1.0 and float(axis.start).is_integer() else None


def _cut_or_padded(values: NDArray[Any], array_axis: int, start: int, count: int) -> NDArray[Any]:
    size = values.shape[array_axis]
    low, high = max(0, start), min(size, start + count)
    inside = values[(slice(None),) * array_axis + (slice(low, max(low, high)),)]
    if low == start and high == start + count:
        return inside
    shape = list(values.shape)
    shape[array_axis] = count
    padded = np.full(shape, np.nan, dtype=np.float32)
    padded[
        (slice(None),) * array_axis + (slice(low - start, low - start + inside.shape[array_axis]),)
    ] = inside
    return padded


def _weights(axis: AxisMap, shown_index: int, interpolation: str) -> tuple[list[int], list[float]]:
    """Acquired voxels and their weights for one shown voxel; none outside the volume."""
    size, position = axis.acquired or 0, axis.acquired_at(shown_index)
    if not -_EDGE <= position <= size - 1 + _EDGE:
        return [], []
    if interpolation == "nearest":
        return [min(max(int(np.floor(position + 0.5)), 0), size - 1)], [1.0]
    if interpolation == "area" and axis.step > 1.0:
        low, high = (
            max(position - 0.5 * axis.step, -0.5),
            min(position + 0.5 * axis.step, size - 0.5),
        )
        first, last = int(np.floor(low + 0.5)), min(int(np.ceil(high - 0.5)), size - 1)
        indices = list(range(first, last + 1))
        shares = [min(high, i + 0.5) - max(low, i - 0.5) for i in indices]
        total = sum(shares)
        return indices, [share / total for share in shares]
    position = min(max(position, 0.0), size - 1.0)
    first = min(int(position), size - 1)
    share = position - first
    return ([first], [1.0]) if share < 1e-9 else ([first, first + 1], [1.0 - share, share])


def _nearest(values: NDArray[Any], axis: AxisMap, array_axis: int) -> NDArray[Any]:
    """Keeps the type unless some shown voxels lie outside."""
    places = axis.start + axis.step * np.arange(axis.known())
    outside = (places < -_EDGE) | (places > values.shape[array_axis] - 1 + _EDGE)
    taken = np.take(
        values,
        np.clip(np.floor(places + 0.5), 0, values.shape[array_axis] - 1).astype(int),
        axis=array_axis,
    )
    if outside.any():
        taken = taken.astype(np.float32)
        taken[(slice(None),) * array_axis + (outside,)] = np.nan
    return np.asarray(taken)


@lru_cache(maxsize=64)
def _matrix(
    acquired: int, count: int, start: float, step: float, interpolation: str
) -> tuple[Any, NDArray[np.bool_]]:
    """Sparse weights (shown × acquired), and which shown voxels lie outside."""
    from scipy.sparse import csr_matrix

    axis = AxisMap(acquired, count, start, step)
    rows, columns, values = [], [], []
    outside = np.zeros(count, dtype=bool)
    for shown_index in range(count):
        indices, weights = _weights(axis, shown_index, interpolation)
        outside[shown_index] = not indices
        rows += [shown_index] * len(indices)
        columns += indices
        values += weights
    return csr_matrix(
        (np.array(values, np.float32), (rows, columns)), shape=(count, acquired)
    ), outside
