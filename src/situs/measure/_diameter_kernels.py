# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernel for the largest diameter of a label on one slice, from its runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs._jit import kernel
from situs.measure._component_kernels import _root

__all__ = ["largest_on_slices"]


@kernel
def _components_2d(
    x0: NDArray[np.int32], x1: NDArray[np.int32], y: NDArray[np.int32], first: int, end: int, parent: NDArray[np.int32]
) -> None:
    """Join the runs of one slice that touch, corners included; the root of each is the first of its component."""
    above, row = first, first
    for run in range(first, end):
        parent[run] = run
        if y[run] != y[row]:
            above, row = row, run
        if run > row and x1[run - 1] == x0[run]:
            parent[run] = _root(parent, run - 1)
        while above < row and x1[above] < x0[run]:
            above += 1
        other = above
        while other < row and y[other] == y[run] - 1 and x0[other] <= x1[run]:
            if x1[other] >= x0[run]:
                a, b = _root(parent, run), _root(parent, other)
                parent[max(a, b)] = min(a, b)
            other += 1


@kernel
def _chain(
    from_row: int,
    to_row: int,
    side: NDArray[np.int64],
    sign: int,
    empty: int,
    hull_x: NDArray[np.int64],
    hull_y: NDArray[np.int64],
    at: int,
) -> int:
    """The lower (sign 1) or upper (-1) hull of one x per row, written from `at` on. Returns one past its end."""
    first = at
    for row in range(from_row, to_row):
        if side[row] == empty:
            continue
        while at - first >= 2:
            ax, ay = hull_x[at - 1] - hull_x[at - 2], hull_y[at - 1] - hull_y[at - 2]
            bx, by = side[row] - hull_x[at - 2], row - hull_y[at - 2]
            if sign * (ax * by - ay * bx) < 0:
                break
            at -= 1
        hull_x[at], hull_y[at] = side[row], row
        at += 1
    return at


@kernel
def largest_on_slices(
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    y: NDArray[np.int32],
    z: NDArray[np.int32],
    lo_y: int,
    ny: int,
    fxx: float,
    fxy: float,
    fyy: float,
    best_x: NDArray[np.int64],
    best_y: NDArray[np.int64],
    out: NDArray[np.int64],
) -> float:
    """Square of the largest diameter of one 8-connected part of the label on one slice (one z).

    Points are the middles of the outer pixel edges, in half pixels, y from the first row. A step of half a pixel is
    (fxx, 0) along x and (fxy, fyy) along y. `out` is: z, number of hull points in `best_x`, `best_y`, and two of them.
    """
    none_low, none_high = np.int64(1 << 40), -np.int64(1 << 40)
    rows = 2 * ny + 3
    low, high = np.full(rows, none_low, dtype=np.int64), np.full(rows, none_high, dtype=np.int64)
    hull_x, hull_y = np.empty(2 * rows, dtype=np.int64), np.empty(2 * rows, dtype=np.int64)
    parent, following = np.empty(x0.size, dtype=np.int32), np.empty(x0.size, dtype=np.int32)
    head = np.full(x0.size, -1, dtype=np.int32)
    best = -1.0
    first = 0
    while first < x0.size:
        end = first
        while end < x0.size and z[end] == z[first]:
            end += 1
        _components_2d(x0, x1, y, first, end, parent)
        for run in range(end - 1, first - 1, -1):
            root = _root(parent, run)
            following[run] = head[root]
            head[root] = run
        for root in range(first, end):
            if parent[root] != root:
                continue
            run = root
            left, right, top, bottom = np.int64(x0[run]), np.int64(x1[run]), np.int64(y[run]), np.int64(y[run])
            while run >= 0:
                left, right = min(left, np.int64(x0[run])), max(right, np.int64(x1[run]))
                bottom = max(bottom, np.int64(y[run]))
                run = following[run]
            wide, tall = 2.0 * (right - left), 2.0 * (bottom - top + 1)
            across = fxx * wide + abs(fxy) * tall
            if across * across + fyy * tall * fyy * tall <= best:
                continue
            from_row, to_row = 2 * (top - lo_y), 2 * (bottom - lo_y) + 3
            run = root
            while run >= 0:
                row = 2 * (np.int64(y[run]) - lo_y) + 1
                a, b = 2 * np.int64(x0[run]), 2 * np.int64(x1[run]) - 2
                low[row], high[row] = min(low[row], a - 1), max(high[row], b + 1)
                for near in (row - 1, row + 1):
                    low[near], high[near] = min(low[near], a), max(high[near], b)
                run = following[run]
            count = _chain(from_row, to_row, low, 1, none_low, hull_x, hull_y, 0)
            count = _chain(from_row, to_row, high, -1, none_high, hull_x, hull_y, count)
            for row in range(from_row, to_row):
                low[row], high[row] = none_low, none_high
            improved = False
            for i in range(count):
                for j in range(i + 1, count):
                    dx, dy = hull_x[j] - hull_x[i], hull_y[j] - hull_y[i]
                    u, v = fxx * dx + fxy * dy, fyy * dy
                    if u * u + v * v > best:
                        best = u * u + v * v
                        improved = True
                        out[0], out[1], out[2], out[3] = z[root], count, i, j
            if improved:
                for i in range(count):
                    best_x[i], best_y[i] = hull_x[i], hull_y[i]
        first = end
    return best
