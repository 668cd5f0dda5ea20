# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels for counts, boxes, moments and slice boxes of all labels, from runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel

__all__ = ["boxes_across_rows", "sum_runs"]


@kernel
def _flush(
    label: int,
    z: int,
    part: NDArray[np.int64],
    sums: NDArray[np.int64],
    boxes: NDArray[np.int32],
    slices: NDArray[np.int32],
    filled: int,
) -> None:
    """Add one label's part on one slice to its totals and write its slice box."""
    at, to, box, out = label * 10, label * 11, label * 6, filled * 7
    n, sx, sxx, sy, syy, sxy = (
        part[at],
        part[at + 1],
        part[at + 2],
        part[at + 3],
        part[at + 4],
        part[at + 5],
    )
    sums[to] += n
    sums[to + 1] += sx
    sums[to + 2] += sy
    sums[to + 3] += n * z
    sums[to + 4] += sxx
    sums[to + 5] += syy
    sums[to + 6] += n * z * z
    sums[to + 7] += sxy
    sums[to + 8] += sx * z
    sums[to + 9] += sy * z
    boxes[box] = min(boxes[box], part[at + 6])
    boxes[box + 1] = min(boxes[box + 1], part[at + 8])
    boxes[box + 2] = min(boxes[box + 2], z)
    boxes[box + 3] = max(boxes[box + 3], part[at + 7])
    boxes[box + 4] = max(boxes[box + 4], part[at + 9])
    boxes[box + 5] = z + 1
    slices[out] = label
    slices[out + 1] = z
    slices[out + 2] = n
    for k in range(4):
        slices[out + 3 + k] = part[at + 6 + k]


@kernel
def sum_runs(
    row_start: NDArray[np.int64],
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    label: NDArray[np.int32],
    ny: int,
    nz: int,
    part: NDArray[np.int64],
    touched: NDArray[np.int32],
    sums: NDArray[np.int64],
    boxes: NDArray[np.int32],
    slices: NDArray[np.int32],
) -> int:
    """Exact sums per label and a box per label and z.

    `part` (10 per label) and `touched` are scratch, all zero. `sums` has 11 per label: n, Σx Σy Σz,
    Σxx Σyy Σzz, Σxy Σxz Σyz, runs. `boxes`: lo x y z, hi x y z. A slice is: label, z, n, x from to,
    y from to. Returns how many.
    """
    filled = 0
    for z in range(nz):
        count = 0
        for y in range(ny):
            row = z * ny + y
            for run in range(row_start[row], row_start[row + 1]):
                a, b = np.int64(x0[run]), np.int64(x1[run])
                at = np.int64(label[run]) * 10
                n = b - a
                sx = (a + b - 1) * n // 2
                sxx = ((b - 1) * b * (2 * b - 1) - (a - 1) * a * (2 * a - 1)) // 6
                sums[np.int64(label[run]) * 11 + 10] += 1
                if part[at] == 0:
                    touched[count] = label[run]
                    count += 1
                    part[at + 6] = a
                    part[at + 7] = b
                    part[at + 8] = y
                else:
                    part[at + 6] = min(part[at + 6], a)
                    part[at + 7] = max(part[at + 7], b)
                part[at] += n
                part[at + 1] += sx
                part[at + 2] += sxx
                part[at + 3] += n * y
                part[at + 4] += n * y * y
                part[at + 5] += sx * y
                part[at + 9] = y + 1
        for k in range(count):
            _flush(touched[k], z, part, sums, boxes, slices, filled)
            filled += 1
            for i in range(10):
                part[np.int64(touched[k]) * 10 + i] = 0
    return filled


@kernel
def boxes_across_rows(
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    y: NDArray[np.int32],
    z: NDArray[np.int32],
    along_x: bool,
    first: int,
    boxes: NDArray[np.int64],
) -> None:
    """A box per y, or per x, of one label's runs.

    Per slice: n, then from and to along the two other axes in order.
    """
    for run in range(x0.size):
        if along_x:
            for x in range(x0[run], x1[run]):
                at = (x - first) * 5
                if boxes[at] == 0:
                    boxes[at + 1], boxes[at + 2] = y[run], y[run] + 1
                    boxes[at + 3] = z[run]
                boxes[at] += 1
                boxes[at + 1] = min(boxes[at + 1], y[run])
                boxes[at + 2] = max(boxes[at + 2], y[run] + 1)
                boxes[at + 4] = z[run] + 1
        else:
            at = (y[run] - first) * 5
            if boxes[at] == 0:
                boxes[at + 1], boxes[at + 2] = x0[run], x1[run]
                boxes[at + 3] = z[run]
            boxes[at] += x1[run] - x0[run]
            boxes[at + 1] = min(boxes[at + 1], x0[run])
            boxes[at + 2] = max(boxes[at + 2], x1[run])
            boxes[at + 4] = z[run] + 1
