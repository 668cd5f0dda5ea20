"""Filling polygons on a pixel grid by the even-odd rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["fill_even_odd"]

_CHUNK = 1 << 22
"""Crossings of edges with pixel rows that are worked out at once."""


def fill_even_odd(
    polygons: Sequence[NDArray[np.float64]], rows: int, columns: int
) -> NDArray[np.bool_]:
    """Pixels [row, column] whose centre lies inside an odd number of the polygons' windings.

    Points are (column, row) with pixel centres at whole numbers. Several polygons are XORed: one
    inside another is a hole, and a keyhole's double edge cancels. A centre on an edge belongs to
    the side of larger coordinates, so polygons that share an edge neither overlap nor leave a gap.
    """
    starts = np.concatenate(list(polygons))
    ends = np.concatenate([np.roll(polygon, -1, axis=0) for polygon in polygons])
    upward = starts[:, 1] <= ends[:, 1]
    low, high = np.where(upward[:, None], starts, ends), np.where(upward[:, None], ends, starts)
    first = np.clip(np.ceil(low[:, 1]), 0, rows).astype(np.int64)
    last = np.clip(np.ceil(high[:, 1]), 0, rows).astype(np.int64)
    crossed = np.flatnonzero(last > first)
    toggles = np.zeros(rows * (columns + 1), dtype=np.uint8)
    at = 0
    while at < crossed.size:
        counts = (last - first)[crossed[at:]]
        take = max(1, int(np.searchsorted(np.cumsum(counts), _CHUNK, side="right")))
        edges, counts = crossed[at : at + take], counts[:take]
        at += take
        edge = np.repeat(edges, counts)
        row = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[edge]
        slope = (high[edge, 0] - low[edge, 0]) / (high[edge, 1] - low[edge, 1])
        crossing = low[edge, 0] + (row - low[edge, 1]) * slope
        column = np.clip(np.ceil(crossing), 0, columns).astype(np.int64)
        np.bitwise_xor.at(toggles, row * (columns + 1) + column, np.uint8(1))
    inside = np.bitwise_xor.accumulate(toggles.reshape(rows, columns + 1), axis=1)
    return np.asarray(inside[:, :columns], dtype=np.bool_)
