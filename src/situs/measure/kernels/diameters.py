# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernel for the largest diameter of a label on one slice, from its runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel
from situs.measure.kernels.components import _root

__all__ = ["largest_on_slices"]

_TIED = 1.0 - 1e-9
"""Squared lengths that differ by less are equal: rounding depends on the order of the axes."""


@kernel
def _components_2d(
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    y: NDArray[np.int32],
    first: int,
    end: int,
    parent: NDArray[np.int32],
) -> None:
    """Join the runs of one slice that touch, corners included;
    the root of each is the first of its component."""
    above, row = first, first
    for run in range(first, end):
        parent[run] = run
        if y[run] != y[row]:
            above, row = row, run
        if run > row and x1[run - 1] == x0[run]:
            parent[run] = _root(parent, run - 1)
        while y[above] != y[run] and x1[above] < x0[run]:
            above += 1
        other = above
        while y[other] == y[run] - 1 and x0[other] <= x1[run]:
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
    """The lower (sign 1) or upper (-1) hull of one x per row, written from `at` on.

    Returns one past its end.
    """
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
def _width(
    hull_x: NDArray[np.int64],
    hull_y: NDArray[np.int64],
    left: int,
    count: int,
    first: int,
    second: int,
    fxx: float,
    fxy: float,
    fyy: float,
) -> float:
    """The longest chord of a hull at right angles to the line between two of its points.

    The hull is its left side (`left` points) and its right side, each from row to row.
    """
    dx, dy = float(hull_x[second] - hull_x[first]), float(hull_y[second] - hull_y[first])
    ux, uy = fxx * dx + fxy * dy, fyy * dy
    norm = np.sqrt(ux * ux + uy * uy)
    if norm == 0.0:
        return 0.0
    ux, uy = ux / norm, uy / norm
    along, aside = np.empty(count, dtype=np.float64), np.empty(count, dtype=np.float64)
    for k in range(count):
        x, y = fxx * hull_x[k] + fxy * hull_y[k], fyy * hull_y[k]
        along[k], aside[k] = ux * x + uy * y, ux * y - uy * x
    widest = 0.0
    for k in range(count):
        low, high = aside[k], aside[k]
        for start in range(count):
            stop = start + 1
            if start == left - 1:
                stop = count - 1
            elif start == count - 1:
                start, stop = 0, left
            a, b = along[start], along[stop]
            if min(a, b) <= along[k] <= max(a, b):
                share = 0.0 if a == b else (along[k] - a) / (b - a)
                at = aside[start] + share * (aside[stop] - aside[start])
                low, high = min(low, at), max(high, at)
        widest = max(widest, high - low)
    return widest


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

    Points are the middles of the outer pixel edges, in half pixels, y from the first row. A step of
    half a pixel is (fxx, 0) along x and (fxy, fyy) along y. `out` is: z, number of hull points in
    `best_x`, `best_y`, and two of them. Of several diameters of one length, the one with the
    longest chord across it is taken, so that the order in which axes are stored does not choose.
    """
    none_low, none_high = np.int64(1 << 40), -np.int64(1 << 40)
    rows = 2 * ny + 3
    low, high = np.full(rows, none_low, dtype=np.int64), np.full(rows, none_high, dtype=np.int64)
    hull_x, hull_y = np.empty(2 * rows, dtype=np.int64), np.empty(2 * rows, dtype=np.int64)
    parent, following = np.empty(x0.size, dtype=np.int32), np.empty(x0.size, dtype=np.int32)
    head = np.full(x0.size, -1, dtype=np.int32)
    best = widest = -1.0
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
            top = bottom = np.int64(y[root])
            while run >= 0:
                bottom = max(bottom, np.int64(y[run]))
                row = 2 * (np.int64(y[run]) - lo_y) + 1
                a, b = 2 * np.int64(x0[run]), 2 * np.int64(x1[run]) - 2
                low[row], high[row] = min(low[row], a - 1), max(high[row], b + 1)
                for near in (row - 1, row + 1):
                    low[near], high[near] = min(low[near], a), max(high[near], b)
                run = following[run]
            from_row, to_row = 2 * (top - lo_y), 2 * (bottom - lo_y) + 3
            left = _chain(from_row, to_row, low, 1, none_low, hull_x, hull_y, 0)
            count = _chain(from_row, to_row, high, -1, none_high, hull_x, hull_y, left)
            for row in range(from_row, to_row):
                low[row], high[row] = none_low, none_high
            most = 0.0
            for i in range(count):
                for j in range(i + 1, count):
                    u, v = (
                        fxx * (hull_x[j] - hull_x[i]) + fxy * (hull_y[j] - hull_y[i]),
                        fyy * (hull_y[j] - hull_y[i]),
                    )
                    most = max(most, u * u + v * v)
            if most < best * _TIED:
                continue
            if most * _TIED > best:
                widest = -1.0
            best = max(best, most)
            improved = False
            for i in range(count):
                for j in range(i + 1, count):
                    u, v = (
                        fxx * (hull_x[j] - hull_x[i]) + fxy * (hull_y[j] - hull_y[i]),
                        fyy * (hull_y[j] - hull_y[i]),
                    )
                    if u * u + v * v < most * _TIED:
                        continue
                    width = _width(hull_x, hull_y, left, count, i, j, fxx, fxy, fyy)
                    if width > widest:
                        widest = width
                        improved = True
                        out[0], out[1], out[2], out[3] = z[root], count, i, j
            if improved:
                for i in range(count):
                    best_x[i], best_y[i] = hull_x[i], hull_y[i]
        first = end
    return best
