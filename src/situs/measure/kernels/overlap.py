# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels that count voxels of one label beside voxels of another, from runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel

__all__ = ["count_pairs", "count_pairs_sparse", "count_same"]


@kernel
def count_pairs(
    a_start: NDArray[np.int64],
    a0: NDArray[np.int32],
    a1: NDArray[np.int32],
    a_label: NDArray[np.int32],
    b_start: NDArray[np.int64],
    b0: NDArray[np.int32],
    b1: NDArray[np.int32],
    b_label: NDArray[np.int32],
    ny: int,
    nz: int,
    dx: int,
    dy: int,
    dz: int,
    width: int,
    counts: NDArray[np.int64],
) -> None:
    """Voxels v with label a of the first and v + (dx, dy,
    dz) with b of the second, into counts[a · width + b]."""
    for z in range(max(0, -dz), min(nz, nz - dz)):
        for y in range(max(0, -dy), min(ny, ny - dy)):
            row = z * ny + y
            other = row + dz * ny + dy
            i, i_end = a_start[row], a_start[row + 1]
            j, j_end = b_start[other], b_start[other + 1]
            while i < i_end and j < j_end:
                a_stop, b_stop = np.int64(a1[i]), np.int64(b1[j]) - dx
                shared = min(a_stop, b_stop) - max(np.int64(a0[i]), np.int64(b0[j]) - dx)
                if shared > 0:
                    counts[np.int64(a_label[i]) * width + b_label[j]] += shared
                if a_stop < b_stop:
                    i += 1
                else:
                    j += 1


@kernel
def count_pairs_sparse(
    a_start: NDArray[np.int64],
    a0: NDArray[np.int32],
    a1: NDArray[np.int32],
    a_label: NDArray[np.int32],
    b_start: NDArray[np.int64],
    b0: NDArray[np.int32],
    b1: NDArray[np.int32],
    b_label: NDArray[np.int32],
    ny: int,
    nz: int,
    dx: int,
    dy: int,
    dz: int,
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> bool:
    """As `count_pairs` into a hash table (size a power of two,
    keys -1 where free); False if it fills up."""
    mask = keys.size - 1
    used = 0
    for z in range(max(0, -dz), min(nz, nz - dz)):
        for y in range(max(0, -dy), min(ny, ny - dy)):
            row = z * ny + y
            other = row + dz * ny + dy
            i, i_end = a_start[row], a_start[row + 1]
            j, j_end = b_start[other], b_start[other + 1]
            while i < i_end and j < j_end:
                a_stop, b_stop = np.int64(a1[i]), np.int64(b1[j]) - dx
                shared = min(a_stop, b_stop) - max(np.int64(a0[i]), np.int64(b0[j]) - dx)
                if shared > 0:
                    key = (np.int64(a_label[i]) << 32) | np.int64(b_label[j])
                    at = ((key ^ (key >> 32)) * np.int64(0x9E3779B1) >> 7) & mask
                    while keys[at] != key and keys[at] != -1:
                        at = (at + 1) & mask
                    if keys[at] == -1:
                        keys[at] = key
                        used += 1
                        if 2 * used > keys.size:
                            return False
                    counts[at] += shared
                if a_stop < b_stop:
                    i += 1
                else:
                    j += 1
    return True


@kernel
def count_same(
    row_start: NDArray[np.int64],
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    label: NDArray[np.int32],
    ny: int,
    nz: int,
    dx: int,
    dy: int,
    dz: int,
    counts: NDArray[np.int64],
) -> None:
    """Voxels v whose label is also that of v + (dx, dy, dz), per label."""
    for z in range(max(0, -dz), min(nz, nz - dz)):
        for y in range(max(0, -dy), min(ny, ny - dy)):
            row = z * ny + y
            other = row + dz * ny + dy
            i, i_end = row_start[row], row_start[row + 1]
            j, j_end = row_start[other], row_start[other + 1]
            while i < i_end and j < j_end:
                a_stop, b_stop = np.int64(x1[i]), np.int64(x1[j]) - dx
                if label[i] == label[j]:
                    shared = min(a_stop, b_stop) - max(np.int64(x0[i]), np.int64(x0[j]) - dx)
                    if shared > 0:
                        counts[label[i]] += shared
                if a_stop < b_stop:
                    i += 1
                else:
                    j += 1
