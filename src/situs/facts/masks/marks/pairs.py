"""Five marks of which two lie in one structure, so placed that where they lie does not tell which
two.

For every patient four sets of marks are found or none. In the first the nearest mark is the one
asked for, in the next the second nearest, and so on. How central it is among the four, how far from
its neighbours, how near to the direction of the fifth, how level with it from front to back, and
how far to the side, goes through the same four ranks in an order drawn by a hash, as nearly as the
patient allows; and the structure is another each time, if there are as many. So whoever sees the
marks alone, and picks by one of these, is right not much oftener than chance.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from situs.base.files import digest
from situs.facts.masks.marks.kin import kin_table
from situs.facts.masks.marks.sites import Mark

if TYPE_CHECKING:
    from situs.facts.masks.ledger import Ledger

__all__ = ["MARKS", "same_marks"]

MARKS = 4
"""Marks among which one is asked for."""
_TRIED = 6000
"""Sets of marks that are drawn on each slice."""
_POINTS = 64
"""Sites of each structure that are drawn from."""
_CUES = 6
"""Ways to guess from the marks' places that are balanced."""

_PAIRS = np.triu_indices(MARKS + 1, k=1)
_TO_PARTNER = np.flatnonzero(_PAIRS[1] == MARKS)
"""Which pairs are one of the four and the fifth."""
_AMONG_FOUR = [
    np.flatnonzero(((_PAIRS[0] == mark) | (_PAIRS[1] == mark)) & (_PAIRS[1] != MARKS))
    for mark in range(MARKS)
]
"""For each of the four, its pairs with the other three."""

Found = tuple[tuple[float, ...], list[Mark]]


def same_marks(ledger: Ledger) -> list[list[Mark]]:
    """For each number of marks nearer than the right one, a set:
    the right mark, three others, and its partner."""
    rng = np.random.default_rng(int(digest("marks", ledger.study_id, size=8), 16))
    wanted = np.stack(
        [np.arange(MARKS), *(rng.permutation(MARKS) for _ in range(_CUES - 1))], axis=1
    )
    best: list[dict[str, Found]] = [{} for _ in range(MARKS)]
    for slice_sites in ledger.mark_sites.cores.values():
        names = sorted(
            (n for n in slice_sites if ledger.family(n) is None),
            key=lambda name: _order_without_side(slice_sites[name]),
        )
        if len(names) < MARKS:
            continue
        sites = np.array(
            [
                slice_sites[name][np.linspace(0, len(slice_sites[name]) - 1, _POINTS).astype(int)]
                for name in names
            ]
        )
        # A column for every set: each step below goes through numbers that lie side by side.
        which = np.argsort(rng.random((_TRIED, len(names))), axis=1)[:, [*range(MARKS), 0]]
        which = which[~_has_kin(which[:, :MARKS], kin_table(ledger, names))]
        drawn = rng.integers(_POINTS, size=which.shape)
        points = sites.reshape(-1, 3).T.take((which * _POINTS + drawn).T, axis=1)
        lengths = _lengths_mm(points)
        apart = np.round(lengths.min(axis=0), 6) >= ledger.recipe.truth.mark_apart_mm
        which, points, lengths = which[apart], points.compress(apart, axis=2), lengths[:, apart]
        middle = float(np.mean([site[0].mean() for site in sites.transpose(0, 2, 1)]))
        spread, ranks = np.round(lengths.max(axis=0), 6), _ranks(points, lengths, middle)
        for nearer, better in enumerate(best):
            rows = np.flatnonzero(ranks[0] == nearer)
            off = ((ranks[:, rows] - wanted[nearer][:, None]) ** 2).sum(axis=0)
            order = np.lexsort((spread[rows], off))
            rows, off = rows[order], off[order]
            for first in np.unique(which[rows, 0], return_index=True)[1]:
                row = rows[first]
                name, fit = names[which[row, 0]], (float(off[first]), float(spread[row]))
                if name not in better or fit < better[name][0]:
                    better[name] = (
                        fit,
                        [(names[k], point) for k, point in zip(which[row], points[:, :, row].T)],
                    )
    return _of_different_structures(best) if all(best) else []


def _of_different_structures(best: list[dict[str, Found]]) -> list[list[Mark]]:
    """The best set for each number of nearer marks; the same structure is asked for again only if
    there is no other, since a large one that lies aside of all others would be found by its
    place."""
    asked: Counter[str] = Counter()
    chosen: list[list[Mark]] = [[] for _ in best]
    for nearer in sorted(range(len(best)), key=lambda nearer: (len(best[nearer]), nearer)):
        name = min(best[nearer], key=lambda name: (asked[name], *best[nearer][name][0]))
        asked[name] += 1
        chosen[nearer] = best[nearer][name][1]
    return chosen


def _has_kin(which: NDArray[np.int64], kin: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which sets hold two structures that are parts of one whole: then two marks could be right."""
    first, second = np.triu_indices(MARKS, k=1)
    return np.asarray(kin[which[:, first], which[:, second]].any(axis=1))


def _order_without_side(points: NDArray[np.float64]) -> tuple[float, ...]:
    """An order of structures that neither their names nor a mirror changes."""
    return (len(points), *(round(float(v), 6) for v in points[0, 1:]))


def _lengths_mm(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distances of the marks of each set from one another, pair by pair."""
    first, second = _PAIRS
    x, y, z = (axis[first] - axis[second] for axis in points)
    lengths: NDArray[np.float64] = np.sqrt(x * x + y * y + z * z)
    return lengths


def _ranks(
    points: NDArray[np.float64], lengths: NDArray[np.float64], middle_x: float
) -> NDArray[np.int64]:
    """By each cue, how many of the other three come before the right mark."""
    four, partner = points[:, :MARKS], points[:, MARKS:]
    middle = four.mean(axis=1, keepdims=True)
    outwards, towards = four - middle, partner - middle
    out = np.sqrt((outwards**2).sum(axis=0))
    along = (outwards * towards).sum(axis=0) / np.maximum(out, 1e-6)
    aside = four[0] * np.where(middle[0] < middle_x, -1.0, 1.0)
    level = np.abs(four[1] - partner[1])
    cues = (lengths[_TO_PARTNER], out, _to_nearest(lengths), -along, level, aside)
    before: NDArray[np.int64] = np.array(
        [(np.round(cue[1:], 6) < np.round(cue[:1], 6)).sum(axis=0) for cue in cues]
    )
    return before


def _to_nearest(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each of the four lies from the nearest of the others."""
    return np.array([lengths[pairs].min(axis=0) for pairs in _AMONG_FOUR])
