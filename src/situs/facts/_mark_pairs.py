"""Five marks of which two lie in one structure, so placed that where they lie does not tell which two.

For every patient four sets of marks are found or none. In the first the nearest mark is the one asked for, in the
next the second nearest, and so on. How central it is among the four, how far from its neighbours, how near to the
direction of the fifth, and how far to the front, goes through the same four ranks in an order drawn by a hash. So
whoever sees the marks alone, and picks by one of these, is right about as often as chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from situs._files import digest
from situs.anatomy import lesion_family
from situs.facts._mark_sites import Mark

if TYPE_CHECKING:
    from situs.facts._ledger import Ledger

__all__ = ["MARKS", "same_marks"]

MARKS = 4
"""Marks among which one is asked for."""
_TRIED = 4000
"""Sets of marks that are drawn on each slice."""
_POINTS = 64
"""Sites of each structure that are drawn from."""
_CUES = 5
"""Ways to guess from the marks' places that are balanced."""

Found = tuple[tuple[float, ...], list[Mark]]


def same_marks(ledger: Ledger) -> list[list[Mark]]:
    """For each number of marks nearer than the right one, a set: the right mark, three others, and its partner."""
    rng = np.random.default_rng(int(digest("marks", ledger.study_id, size=8), 16))
    wanted = np.stack([np.arange(MARKS), *(rng.permutation(MARKS) for _ in range(_CUES - 1))], axis=1)
    best: list[Found | None] = [None] * MARKS
    for found in ledger.mark_sites.values():
        names = sorted((n for n in found if lesion_family(n) is None), key=lambda name: _place(found[name]))
        if len(names) < MARKS:
            continue
        sites = np.array([found[name][np.linspace(0, len(found[name]) - 1, _POINTS).astype(int)] for name in names])
        which = np.argsort(rng.random((_TRIED, len(names))), axis=1)[:, [*range(MARKS), 0]]
        points = sites[which, rng.integers(_POINTS, size=which.shape)]
        between = _between(points)
        first, second = np.triu_indices(MARKS + 1, k=1)
        apart = np.round(between[:, first, second].min(axis=1), 6) >= ledger.recipe.truth.mark_apart_mm
        which, points, between = which[apart], points[apart], between[apart]
        spread, ranks = np.round(between.max(axis=(1, 2)), 6), _ranks(points, between)
        for nearer in range(MARKS):
            rows = np.flatnonzero(ranks[:, 0] == nearer)
            if not len(rows):
                continue
            off = np.abs(ranks[rows] - wanted[nearer]).sum(axis=1)
            row = rows[np.lexsort((spread[rows], off))[0]]
            fit = (float(np.abs(ranks[row] - wanted[nearer]).sum()), float(spread[row]))
            known = best[nearer]
            if known is None or fit < known[0]:
                best[nearer] = (fit, [(names[k], point) for k, point in zip(which[row], points[row])])
    return [entry[1] for entry in best if entry is not None] if all(best) else []


def _place(points: NDArray[np.float64]) -> tuple[float, ...]:
    """An order of structures that neither their names nor a mirror changes."""
    return (len(points), *(round(float(v), 6) for v in points[0, 1:]))


def _between(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distances of the marks of each set from one another."""
    steps = points[:, :, None] - points[:, None]
    lengths: NDArray[np.float64] = np.sqrt(np.einsum("nijk,nijk->nij", steps, steps))
    return lengths


def _ranks(points: NDArray[np.float64], between: NDArray[np.float64]) -> NDArray[np.int64]:
    """By each cue, how many of the other three come before the right mark."""
    four, partner = points[:, :MARKS], points[:, MARKS:]
    middle = four.mean(axis=1, keepdims=True)
    outwards, towards = four - middle, partner - middle
    out = np.sqrt((outwards**2).sum(axis=-1))
    alone = between[:, :MARKS, :MARKS] + np.diag(np.full(MARKS, np.inf))
    along = (outwards * towards).sum(axis=-1) / np.maximum(out, 1e-6)
    cues = np.stack([between[:, :MARKS, MARKS], out, alone.min(axis=2), -along, four[:, :, 1]], axis=1)
    before: NDArray[np.int64] = (np.round(cues[:, :, 1:], 6) < np.round(cues[:, :, :1], 6)).sum(axis=2)
    return before
