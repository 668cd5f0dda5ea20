# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels for connected components and holes, by union-find over runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel

__all__ = ["count_holes", "join_runs", "sum_components"]


@kernel
def _root(parent: NDArray[np.int32], run: int) -> int:
    while parent[run] != run:
        parent[run] = parent[parent[run]]
        run = parent[run]
    return run


@kernel
def _join(
    i: int,
    j: int,
    reach: int,
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    label: NDArray[np.int32],
    parent: NDArray[np.int32],
) -> None:
    """Join two runs if they have one label and come within `reach` of overlapping."""
    if label[i] == label[j] and x0[i] < x1[j] + reach and x0[j] < x1[i] + reach:
        a, b = _root(parent, i), _root(parent, j)
        parent[max(a, b)] = min(a, b)


@kernel
def _join_rows(
    i: int,
    i_end: int,
    j: int,
    j_end: int,
    reach: int,
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    label: NDArray[np.int32],
    parent: NDArray[np.int32],
) -> None:
    """Join runs of two rows that have one label and come within `reach` of overlapping."""
    while i < i_end and j < j_end:
        _join(i, j, reach, x0, x1, label, parent)
        if x1[i] < x1[j]:
            i += 1
        elif x1[j] < x1[i]:
            j += 1
        else:
            # Both end here: across the corner, each may meet the run that follows the other.
            if i + 1 < i_end:
                _join(i + 1, j, reach, x0, x1, label, parent)
            if j + 1 < j_end:
                _join(i, j + 1, reach, x0, x1, label, parent)
            i += 1
            j += 1


@kernel
def join_runs(
    row_start: NDArray[np.int64],
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    label: NDArray[np.int32],
    ny: int,
    nz: int,
    connectivity: int,
    component: NDArray[np.int32],
) -> int:
    """The component of each run, counted in the order in which they first appear.

    Returns how many there are.
    """
    parent = np.empty(x0.size, dtype=np.int32)
    for run in range(x0.size):
        parent[run] = run
    straight = 0 if connectivity == 6 else 1
    slanted = 1 if connectivity == 26 else 0
    for z in range(nz):
        for y in range(ny):
            row = z * ny + y
            i, i_end = row_start[row], row_start[row + 1]
            if i == i_end:
                continue
            if y > 0:
                _join_rows(i, i_end, row_start[row - 1], i, straight, x0, x1, label, parent)
            if z > 0:
                below = row - ny
                j, j_end = row_start[below], row_start[below + 1]
                _join_rows(i, i_end, j, j_end, straight, x0, x1, label, parent)
                if connectivity > 6:
                    if y > 0:
                        _join_rows(
                            i, i_end, row_start[below - 1], j, slanted, x0, x1, label, parent
                        )
                    if y + 1 < ny:
                        _join_rows(
                            i, i_end, j_end, row_start[below + 2], slanted, x0, x1, label, parent
                        )
    count = 0
    for run in range(x0.size):
        root = _root(parent, run)
        if root == run:
            component[run] = count
            count += 1
        else:
            component[run] = component[root]
    return count


@kernel
def sum_components(
    row_start: NDArray[np.int64],
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    label: NDArray[np.int32],
    ny: int,
    component: NDArray[np.int32],
    table: NDArray[np.int64],
) -> None:
    """Per component, 11 numbers: label, n, Σx Σy Σz, lo x y z, hi x y z. `table` is all zero."""
    y, z = 0, 0
    for row in range(row_start.size - 1):
        for run in range(row_start[row], row_start[row + 1]):
            at = np.int64(component[run]) * 11
            a, b = np.int64(x0[run]), np.int64(x1[run])
            n = b - a
            if table[at + 1] == 0:
                table[at] = label[run]
                table[at + 5], table[at + 6], table[at + 7] = a, y, z
            table[at + 1] += n
            table[at + 2] += (a + b - 1) * n // 2
            table[at + 3] += n * y
            table[at + 4] += n * z
            table[at + 5] = min(table[at + 5], a)
            table[at + 6] = min(table[at + 6], y)
            table[at + 8] = max(table[at + 8], b)
            table[at + 9] = max(table[at + 9], y + 1)
            table[at + 10] = z + 1
        y += 1
        if y == ny:
            y = 0
            z += 1


@kernel
def count_holes(
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    y: NDArray[np.int32],
    z: NDArray[np.int32],
    lo_x: int,
    lo_y: int,
    lo_z: int,
    nx: int,
    ny: int,
    nz: int,
    sizes: NDArray[np.int64],
) -> int:
    """Sizes of the parts of the outside of one label that are shut in by it (6-connected). Returns
    how many.

    The box has a rim of one voxel, so that what reaches the rim is joined to the first run: the
    open outside.
    """
    rows = (ny + 2) * (nz + 2)
    row_start = np.zeros(rows + 1, dtype=np.int64)
    gaps = 2 * x0.size + rows
    g0, g1 = np.empty(gaps, dtype=np.int32), np.empty(gaps, dtype=np.int32)
    same = np.zeros(gaps, dtype=np.int32)
    filled, run = 0, 0
    for row in range(rows):
        row_start[row] = filled
        at = -1
        while run < x0.size and (z[run] - lo_z + 1) * (ny + 2) + (y[run] - lo_y + 1) == row:
            # Never empty: between two runs of one label in a row there is a gap.
            g0[filled], g1[filled] = at, x0[run] - lo_x
            filled += 1
            at = x1[run] - lo_x
            run += 1
        g0[filled], g1[filled] = at, nx + 1
        filled += 1
    row_start[rows] = filled
    component = np.empty(filled, dtype=np.int32)
    count = join_runs(
        row_start, g0[:filled], g1[:filled], same[:filled], ny + 2, nz + 2, 6, component
    )
    totals = np.zeros(count, dtype=np.int64)
    for gap in range(filled):
        totals[component[gap]] += g1[gap] - g0[gap]
    for k in range(1, count):
        sizes[k - 1] = totals[k]
    return count - 1
