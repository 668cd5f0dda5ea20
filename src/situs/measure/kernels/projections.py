# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels that project the voxels of one label onto planes,
lines and the sides of a midline, from its runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel

__all__ = ["count_along_x", "right_of", "share_counts", "share_runs"]


@kernel
def count_along_x(
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    other: NDArray[np.int32],
    lo_x: int,
    lo_other: int,
    width: int,
    counts: NDArray[np.int64],
) -> None:
    """Voxels per (other, x), rows of `width` = size along x + 1;
    by marking where runs begin and end."""
    for run in range(x0.size):
        row = np.int64(other[run] - lo_other) * width
        counts[row + x0[run] - lo_x] += 1
        counts[row + x1[run] - lo_x] -= 1
    for row in range(counts.size // width):
        total = np.int64(0)
        for x in range(width):
            total += counts[row * width + x]
            counts[row * width + x] = total


@kernel
def share_counts(
    counts: NDArray[np.int64],
    width: int,
    at: float,
    step: float,
    row_step: float,
    first_bin: int,
    bins: NDArray[np.float64],
) -> None:
    """Share counted voxels linearly between the two nearest of bins 1 apart;
    cell (r, c) is at + r·row + c·step."""
    for cell in range(counts.size):
        n = counts[cell]
        if n > 0:
            row = cell // width
            place = at + row * row_step + (cell - row * width) * step
            low = np.floor(place)
            k = np.int64(low) - first_bin
            upper = (place - low) * n
            bins[k] += n - upper
            bins[k + 1] += upper


@kernel
def share_runs(
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    y: NDArray[np.int32],
    z: NDArray[np.int32],
    at: float,
    cx: float,
    cy: float,
    cz: float,
    first_bin: int,
    bins: NDArray[np.float64],
) -> None:
    """As `share_counts` for a direction oblique to all three axes:
    whole stretches of a run that fall into one bin."""
    for run in range(x0.size):
        left = np.int64(x1[run]) - np.int64(x0[run])
        step = abs(cx)
        begin = x0[run] if cx >= 0.0 else x1[run] - 1
        place = at + cx * begin + cy * y[run] + cz * z[run]
        while left > 0:
            low = np.floor(place)
            n = min(left, np.int64((low + 1.0 - place) / step) + 1) if step > 1e-9 else left
            upper = n * (place - low) + step * (n * (n - 1) // 2)
            k = np.int64(low) - first_bin
            bins[k] += n - upper
            bins[k + 1] += upper
            left -= n
            place += n * step


@kernel
def right_of(
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    y: NDArray[np.int32],
    z: NDArray[np.int32],
    matrix: NDArray[np.float64],
    knots: NDArray[np.float64],
    line: NDArray[np.float64],
    turns: NDArray[np.float64],
    width: float,
    sums: NDArray[np.float64],
) -> None:
    """Sum over voxels of the part of each that lies right of a midline, for each turn of the
    patient.

    `matrix` maps x, y, z, 1 to world x, y, z; `knots` are z, x, y of the midline's points by
    height; `line` is slope and intercept of x, then of y, beyond them, and the heights between
    which these hold; `turns` are cosine and sine of each angle.
    """
    count = knots.size // 3
    for run in range(x0.size):
        middle_x, middle_y = 0.0, 0.0
        for x in range(x0[run], x1[run]):
            wx = matrix[0] * x + matrix[1] * y[run] + matrix[2] * z[run] + matrix[3]
            wy = matrix[4] * x + matrix[5] * y[run] + matrix[6] * z[run] + matrix[7]
            if x == x0[run] or matrix[8] != 0.0:
                wz = matrix[8] * x + matrix[9] * y[run] + matrix[10] * z[run] + matrix[11]
                if wz < knots[0] or wz > knots[3 * count - 3]:
                    height = min(max(wz, line[4]), line[5])
                    middle_x, middle_y = line[0] * height + line[1], line[2] * height + line[3]
                else:
                    k = 0
                    while k < count - 2 and wz >= knots[3 * k + 3]:
                        k += 1
                    middle_x, middle_y = knots[3 * k + 1], knots[3 * k + 2]
                    if wz == knots[3 * count - 3]:
                        middle_x, middle_y = knots[3 * count - 2], knots[3 * count - 1]
                    elif count > 1:
                        share = (wz - knots[3 * k]) / (knots[3 * k + 3] - knots[3 * k])
                        middle_x += share * (knots[3 * k + 4] - middle_x)
                        middle_y += share * (knots[3 * k + 5] - middle_y)
            for turn in range(sums.size):
                beyond = (wx - middle_x) * turns[2 * turn] + (wy - middle_y) * turns[2 * turn + 1]
                sums[turn] += min(1.0, max(0.0, beyond / width + 0.5))
