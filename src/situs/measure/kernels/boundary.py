# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels that find the voxels of one label that
border on what is not that label, from its runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel

__all__ = ["boundary_voxels"]


@kernel
def boundary_voxels(
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    y: NDArray[np.int32],
    z: NDArray[np.int32],
    lo_y: int,
    lo_z: int,
    ny: int,
    nz: int,
    points: NDArray[np.int32],
) -> int:
    """Write x, y, z and the open sides of every voxel with one of its six neighbours outside, in
    row order.

    Open sides are bits: 1 and 2 down and up along x, 4 and 8 along y, 16 and 32 along z. A run is
    walked together with its four neighbouring rows in stretches over which nothing changes, so that
    the cost is that of the runs and of the boundary. Returns how many voxels were written.
    """
    rows = (ny + 2) * (nz + 2)
    row_start = np.zeros(rows + 1, dtype=np.int64)
    for run in range(x0.size):
        row_start[(z[run] - lo_z + 1) * (ny + 2) + (y[run] - lo_y + 1) + 1] += 1
    for row in range(rows):
        row_start[row + 1] += row_start[row]
    step = np.array([-1, 1, -(ny + 2), ny + 2])
    at, end = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    filled, last = 0, -1
    for run in range(x0.size):
        row = (z[run] - lo_z + 1) * (ny + 2) + (y[run] - lo_y + 1)
        if row != last:
            for k in range(4):
                at[k], end[k] = row_start[row + step[k]], row_start[row + step[k] + 1]
            last = row
        first, stop = np.int64(x0[run]), np.int64(x1[run])
        p = first
        while p < stop:
            until, open_sides = stop, 0
            for k in range(4):
                while at[k] < end[k] and x1[at[k]] <= p:
                    at[k] += 1
                if at[k] == end[k]:
                    open_sides |= 4 << k
                elif x0[at[k]] > p:
                    open_sides |= 4 << k
                    until = min(until, np.int64(x0[at[k]]))
                else:
                    until = min(until, np.int64(x1[at[k]]))
            x = p
            while x < until:
                own = open_sides
                if x == first:
                    own |= 1
                if x == stop - 1:
                    own |= 2
                if own != 0:
                    points[filled * 4] = x
                    points[filled * 4 + 1] = y[run]
                    points[filled * 4 + 2] = z[run]
                    points[filled * 4 + 3] = own
                    filled += 1
                    x += 1
                elif until == stop:
                    x = stop - 1
                else:
                    x = until
            p = until
    return filled
