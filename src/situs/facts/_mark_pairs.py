"""Five marks of which two lie in one structure, so placed that where they lie does not tell which two.

For every patient four sets of marks are found or none. In the first the nearest mark is the one asked for, in the
next the second nearest, and so on; and it is the most central of the four in one set, the least central in another.
So whoever sees the marks alone, and picks by distance or by place among them, is right as often as chance.
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


def same_marks(ledger: Ledger) -> list[list[Mark]]:
    """For each number of marks nearer than the right one, a set: the right mark, three others, and its partner."""
    rng = np.random.default_rng(int(digest("marks", ledger.study_id, size=8), 16))
    shift = int(rng.integers(MARKS))
    best: list[tuple[float, list[Mark]] | None] = [None] * MARKS
    for found in ledger.mark_sites.values():
        names = sorted((n for n in found if lesion_family(n) is None), key=lambda name: _place(found[name]))
        if len(names) < MARKS:
            continue
        sites = np.array([found[name][np.linspace(0, len(found[name]) - 1, _POINTS).astype(int)] for name in names])
        which = np.argsort(rng.random((_TRIED, len(names))), axis=1)[:, [*range(MARKS), 0]]
        points = sites[which, rng.integers(_POINTS, size=which.shape)]
        for nearer in range(MARKS):
            chosen = _fitting(ledger, points, nearer, (nearer + shift) % MARKS)
            for spread, row in chosen:
                known = best[nearer]
                if known is None or spread < known[0]:
                    marks = [(names[k], point) for k, point in zip(which[row], points[row])]
                    best[nearer] = (spread, marks)
    return [entry[1] for entry in best if entry is not None] if all(best) else []


def _place(points: NDArray[np.float64]) -> tuple[float, ...]:
    """An order of structures that neither their names nor a mirror changes."""
    return (len(points), *(round(float(v), 6) for v in points[0, 1:]))


def _fitting(ledger: Ledger, points: NDArray[np.float64], nearer: int, more_central: int) -> list[tuple[float, int]]:
    """The most compact set in which so many others lie nearer to the partner, and so many more centrally."""
    between = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    upper = np.triu_indices(MARKS + 1, k=1)
    apart = np.round(between[:, *upper].min(axis=1), 6) >= ledger.recipe.truth.mark_apart_mm
    to_partner = np.round(between[:, :MARKS, MARKS], 6)
    four = points[:, :MARKS]
    out = np.round(np.linalg.norm(four - four.mean(axis=1, keepdims=True), axis=-1), 6)
    fits = apart & ((to_partner[:, 1:] < to_partner[:, :1]).sum(axis=1) == nearer)
    fits &= (out[:, 1:] < out[:, :1]).sum(axis=1) == more_central
    rows = np.flatnonzero(fits)
    if not len(rows):
        return []
    spread = np.round(between[rows].max(axis=(1, 2)), 6)
    return [(float(spread.min()), int(rows[int(spread.argmin())]))]
