"""How far readers agree: coefficients of what they chose and scored,
and the overlap of places they marked."""

from __future__ import annotations

import itertools
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.review.station.places import SAME_PLACE, overlap
from situs.review.station.read_row import ReadRow
from situs.score import cluster_mean
from situs.score.stats.agreement import rating_table
from situs.score.stats.reliability import reliability, reliability_value

__all__ = ["Rating", "Ratings", "coefficients", "place_agreement", "place_overlap", "ratings_of"]

_NOT_ESTIMABLE = "not estimable, all ratings equal"
Rating = Callable[[ReadRow], float | None]
"""How a reading answers a question, as a number."""


@dataclass(frozen=True)
class Ratings:
    """Units × readers in a fixed order, NaN where a reader did not read;
    patient and stratum of each unit."""

    values: NDArray[np.float64]
    patients: list[str]
    strata: list[str]
    readers: list[str]

    def of(self, stratum: str) -> Ratings:
        """Those of one stratum."""
        rows = [n for n, name in enumerate(self.strata) if name == stratum]
        patients = [self.patients[n] for n in rows]
        return Ratings(self.values[rows], patients, [stratum] * len(rows), self.readers)

    def between(self, a: int, b: int) -> Ratings:
        """Those of two readers, by their columns."""
        readers = [self.readers[a], self.readers[b]]
        return Ratings(self.values[:, [a, b]], self.patients, self.strata, readers)


def coefficients(rated: Ratings, ordered: bool, seed: int | None) -> dict[str, Any]:
    """All coefficients of one question; scores also by how far they are apart.

    With a seed, intervals by patient: for pairs of readers, of which there are many, none.
    """
    ratings, clusters = rated.values, rated.patients
    several = np.isfinite(ratings).sum(axis=1) >= 2 if len(ratings) else np.zeros(0, dtype=bool)
    n = int(several.sum())
    if not n:
        nothing: dict[str, Any] = dict.fromkeys(("raw", "ac1", "alpha", "kappa"))
        return nothing | {"n": 0, "note": "no unit was read by two readers"}
    ratings, clusters = ratings[several], list(itertools.compress(clusters, several.tolist()))
    scores = np.unique(ratings[np.isfinite(ratings)])
    # Scores are 0, 1 and 2, whether or not somebody gave each of them.
    categories = [0.0, 1.0, 2.0] if ordered else _categories(scores)
    equal = len(scores) == 1
    names = {"raw": "raw", "ac1": "ac1", "alpha": "alpha", "kappa": "fleiss", "conger": "conger"}
    if ordered:
        names |= {
            "ac2": "ac2",
            "alpha_ordinal": "alpha_ordinal",
            "weighted_kappa": "weighted_kappa",
        }
    result: dict[str, Any] = {"n": n, "patients": len(set(clusters))}
    table = rating_table(ratings, clusters) if seed is not None else None
    for key, name in names.items():
        chance_free = name in ("raw", "ac1", "ac2")
        if equal and not chance_free:
            result[key], result[f"{key}_note"] = None, _NOT_ESTIMABLE
            continue
        if table is None or seed is None:
            result[key] = reliability_value(name, ratings, categories)
            continue
        estimate = reliability(name, table, categories, seed=seed)
        result[key], result[f"{key}_ci95"] = estimate.value, estimate.ci95
        if estimate.note:
            result["note"] = estimate.note
    return result


def _categories(scores: NDArray[np.float64]) -> list[float]:
    """Whole numbers from 0 on, at least two of them:
    a category nobody chose could have been chosen."""
    return [float(value) for value in range(max(2, int(scores.max()) + 1))]


def ratings_of(rows: Sequence[ReadRow], of_row: Rating) -> Ratings:
    about = {row.unit: row for row in rows}
    units = sorted(about)
    readers = sorted({row.reader for row in rows})
    line = {unit: n for n, unit in enumerate(units)}
    column = {reader: n for n, reader in enumerate(readers)}
    values = np.full((len(units), len(readers)), np.nan)
    row_values = np.array([of_row(row) for row in rows], dtype=np.float64)  # None becomes NaN
    values[[line[row.unit] for row in rows], [column[row.reader] for row in rows]] = row_values
    patients = [about[unit].patient for unit in units]
    return Ratings(values, patients, [about[unit].stratum for unit in units], readers)


def _overlap(first: ReadRow, second: ReadRow) -> float | None:
    """How far two readers' places overlap, as a mean over parts; None if neither could tell."""
    if first.cannot or second.cannot:
        return None if first.cannot and second.cannot else 0.0
    parts = [
        overlap(key_place, first.answers[name], second.answers[name])
        for name, key_place in first.places.items()
    ]
    return statistics.fmean(parts)


def place_agreement(rows: Sequence[ReadRow]) -> dict[str, Any]:
    """Overlap of readers' boxes and slices: of each unit the mean over its pairs of readers.

    `raw` is the share of units whose readers overlap by half or more. Places have no chance
    agreement to correct for.
    """
    by_unit: dict[int, list[ReadRow]] = defaultdict(list)
    for row in rows:
        by_unit[row.unit].append(row)
    values, patients = [], []
    for _, readings in sorted(by_unit.items()):
        pairs = (_overlap(a, b) for a, b in itertools.combinations(readings, 2))
        known = [value for value in pairs if value is not None]
        if known:
            values.append(statistics.fmean(known))
            patients.append(readings[0].patient)
    entry: dict[str, Any] = dict.fromkeys(("raw", "ac1", "alpha", "kappa"))
    entry |= {"n": len(values), "patients": len(set(patients)), "overlap": None}
    if not values:
        return entry | {"note": "no unit was read by two readers"}
    mean = cluster_mean(np.array(values), patients)
    entry |= {"overlap": mean.value, "overlap_ci95": mean.ci95}
    entry["raw"] = statistics.fmean(value >= SAME_PLACE for value in values)
    return entry


def place_overlap(rows: Sequence[ReadRow], readers: Sequence[str]) -> dict[str, dict[str, Any]]:
    result = {}
    for reader in readers:
        answered = [row for row in rows if row.reader == reader and not row.cannot and row.answers]
        if not answered:
            continue
        values = [
            statistics.fmean(
                overlap(key_place, row.answers[name], key_place.key)
                for name, key_place in row.places.items()
            )
            for row in answered
        ]
        mean = cluster_mean(np.array(values), [row.patient for row in answered])
        result[reader] = {"value": mean.value, "n": mean.n, "ci95": mean.ci95, "note": mean.note}
    return result
