"""Which slices of a plane an item shows, and on which it opens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["opening_slice", "shown_slices", "spoken_ranges"]

_BESIDE = 3
"""Slices kept on each side of the structures."""

_ENOUGH = 0.3
"""A structure is seen on a slice if it has this share of its largest cross-section there."""


def opening_slice(areas: Sequence[NDArray[np.int64]]) -> int:
    """Where most of every structure is seen;
    if no slice shows enough of all of them, where most of the first is."""
    shares = np.array([area / max(1, area.max()) for area in areas])
    together = shares.min(axis=0)
    return _middle_of_best(together if together.max() >= _ENOUGH else shares[0])


def _middle_of_best(shares: NDArray[np.float64]) -> int:
    """The middle of the slices that are about as good as the best,
    so that noise does not decide."""
    good = np.flatnonzero(shares >= 0.95 * shares.max())
    return int(good[np.argmin(np.abs(good - np.median(good)))])


def shown_slices(areas: Sequence[NDArray[np.int64]], opening: int, most: int) -> list[int]:
    """At most about `most` slices: those around the structures, else those nearest the opening one,
    and a few of each structure that lies elsewhere."""
    seen = np.flatnonzero(np.sum(areas, axis=0))
    count = len(areas[0])
    first, last = max(0, int(seen[0]) - _BESIDE), min(count - 1, int(seen[-1]) + _BESIDE)
    if last - first + 1 > most:
        first = min(max(first, opening - most // 2), last - most + 1)
        last = first + most - 1
    chosen = set(range(first, last + 1))
    for area in areas:
        best = _middle_of_best(area / max(1, area.max()))
        if not first <= best <= last:
            reach = 2 if most >= 12 else 0
            chosen |= set(range(max(0, best - reach), min(count - 1, best + reach) + 1))
    return sorted(chosen)


def spoken_ranges(slices: Sequence[int]) -> str:
    """Slices counted from 1, as one reads them out: `31–70, 88–92`."""
    runs: list[list[int]] = []
    for index in slices:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    words = [f"{a + 1}–{b + 1}" if b > a else f"{a + 1}" for a, b in runs]
    return ", ".join(words)
