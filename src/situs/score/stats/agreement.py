"""How far raters agree: percent, Cohen's κ, Gwet's AC1, Krippendorff's α;
and how verdicts go with length."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.score.stats.estimates import (
    Estimate,
    cluster_bootstrap_of_samples,
    cluster_mean,
)
from situs.score.stats.resamples import Samples
from situs.score.stats.sums import Clusters, cluster_rows

__all__ = [
    "STATISTICS",
    "PartsFunction",
    "RatingTable",
    "Ratings",
    "agreement",
    "agreement_of",
    "agreement_of_table",
    "cohen_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "percent_agreement",
    "rating_table",
    "spearman",
]

Ratings = NDArray[np.float64]
"""Items × raters; every value is a category, NaN where a rater did not rate."""
Weights = ArrayLike | None
"""How often each item counts."""


_NO_WIDTH = 1e-9
_Parts = tuple[float, float] | None
"""Observed disagreement, and that expected by chance;
every statistic is 1 − the one / the other."""
PartsFunction = Callable[[Ratings, Weights], _Parts]
"""Ratings and how often each item counts → the two disagreements."""


def percent_agreement(ratings: Ratings, weights: Weights = None) -> float | None:
    """The share of pairs of ratings of one item that are equal,
    over items with two or more ratings."""
    return _value(_percent_parts(ratings, weights))


def cohen_kappa(ratings: Ratings, weights: Weights = None) -> float | None:
    """Cohen's (1960) κ of two raters, over the items both rated;
    undefined if both always say the same one thing."""
    return _value(_kappa_parts(ratings, weights))


def krippendorff_alpha(ratings: Ratings, weights: Weights = None) -> float | None:
    """Krippendorff's α for nominal data with any number of raters and missing ratings (2011,
    section C).

    Items with fewer than two ratings do not count. Undefined if all ratings are equal.
    """
    return _value(_alpha_parts(ratings, weights))


def gwet_ac1(ratings: Ratings, weights: Weights = None) -> float | None:
    """Gwet's (2008) AC1: as κ, but chance agreement does not explode where one answer is rare.

    Where only one answer is ever given, no agreement is by chance, and AC1 is 1.
    """
    return _value(_ac1_parts(ratings, weights))


def _value(parts: _Parts) -> float | None:
    return None if parts is None else (parts[1] - parts[0]) / parts[1]


def _percent_parts(ratings: Ratings, weights: Weights = None) -> _Parts:
    counts, w = _counts(ratings, weights)
    n = counts.sum(axis=1)
    pairs = float(w @ (n * (n - 1)))
    return (1 - float(w @ (counts * (counts - 1)).sum(axis=1)) / pairs, 1.0) if pairs else None


def _kappa_parts(ratings: Ratings, weights: Weights = None) -> _Parts:
    if ratings.shape[1] != 2:
        raise ValueError("Cohen's kappa compares two raters")
    both = np.isfinite(ratings).all(axis=1)
    rated_by_both, w = ratings[both], _weights(ratings, weights)[both]
    total = float(w.sum())
    if not total:
        return None
    observed = float(w @ (rated_by_both[:, 0] != rated_by_both[:, 1])) / total
    shares = [
        [float(w @ (rated_by_both[:, rater] == value)) / total for rater in (0, 1)]
        for value in np.unique(rated_by_both)
    ]
    expected = sum(first * second for first, second in shares)
    return (observed, 1 - expected) if expected < 1 else None


def _alpha_parts(ratings: Ratings, weights: Weights = None) -> _Parts:
    counts, w = _counts(ratings, weights)
    n = counts.sum(axis=1)
    observed = float(w @ ((n**2 - (counts**2).sum(axis=1)) / (n - 1)))
    totals = w @ counts
    total = float(totals.sum())
    expected = total**2 - float((totals**2).sum())
    return (observed / total, expected / (total * (total - 1))) if expected > 0 else None


def _ac1_parts(ratings: Ratings, weights: Weights = None) -> _Parts:
    several, w_several = _counts(ratings, weights)
    counts, w = _counts(ratings, weights, least=1)
    if not w_several.sum():
        return None
    observed = float(w_several @ _disagreements(several)) / float(w_several.sum())
    shares = w @ (counts / counts.sum(axis=1, keepdims=True)) / float(w.sum())
    expected = float((shares * (1 - shares)).sum()) / max(1, counts.shape[1] - 1)
    return observed, 1 - expected


def _disagreements(counts: Ratings) -> NDArray[np.float64]:
    """The share of unequal pairs of ratings of each item."""
    n = counts.sum(axis=1)
    return np.asarray(1 - (counts * (counts - 1)).sum(axis=1) / (n * (n - 1)), dtype=np.float64)


def _weights(ratings: Ratings, weights: Weights) -> NDArray[np.float64]:
    return np.ones(len(ratings)) if weights is None else np.asarray(weights, dtype=np.float64)


def _counts(
    ratings: Ratings, weights: Weights, least: int = 2
) -> tuple[Ratings, NDArray[np.float64]]:
    """For items with enough ratings: how often each category was given, and the item's weight."""
    table = np.ascontiguousarray(ratings, dtype=np.float64)
    counts, rated_enough = _counted(table.tobytes(), table.shape[1], least)
    return counts, _weights(ratings, weights)[rated_enough]


@lru_cache(maxsize=8)
def _counted(
    ratings: bytes, raters: int, least: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Resamples weigh the same ratings hundreds of times: they are counted once. Read-only."""
    table = np.frombuffer(ratings).reshape(-1, raters)
    values = np.unique(table[np.isfinite(table)])
    counts = (table[:, :, None] == values).sum(axis=1).astype(np.float64)
    rated_enough = counts.sum(axis=1) >= least
    enough = counts[rated_enough]
    enough.flags.writeable = False
    return enough, rated_enough


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Spearman's rank correlation with mean ranks for ties; undefined if one side is constant."""
    from scipy.stats import rankdata

    a, b = (
        rankdata(np.asarray(first, dtype=np.float64)),
        rankdata(np.asarray(second, dtype=np.float64)),
    )
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    a, b = a - a.mean(), b - b.mean()
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


STATISTICS = {
    "percent": percent_agreement,
    "kappa": cohen_kappa,
    "ac1": gwet_ac1,
    "alpha": krippendorff_alpha,
}
_PARTS = {
    "percent": _percent_parts,
    "kappa": _kappa_parts,
    "ac1": _ac1_parts,
    "alpha": _alpha_parts,
}


def agreement(
    name: str, ratings: Ratings, clusters: Sequence[str], *, n_boot: int = 500, seed: int = 0
) -> Estimate:
    """One of `STATISTICS` with an interval over patients."""
    lowest = 0.0 if name == "percent" else -1.0
    return agreement_of(_PARTS[name], ratings, clusters, lowest=lowest, n_boot=n_boot, seed=seed)


@dataclasses.dataclass(frozen=True, slots=True)
class RatingTable:
    """Ratings as patterns and how often each cluster has each:
    every statistic of them is a short sum."""

    patterns: Ratings
    """Different rows of ratings; infinity stands for a missing rating:
    it is equal to itself, and nothing counts it."""
    table: NDArray[np.int64]
    """Clusters × patterns."""

    @property
    def often(self) -> NDArray[np.float64]:
        """How often each pattern occurs."""
        return np.asarray(self.table.sum(axis=0), dtype=np.float64)


def rating_table(ratings: Ratings, clusters: Clusters) -> RatingTable:
    """Count the patterns of ratings by cluster, once for all statistics of them."""
    patterns, pattern_of = np.unique(
        np.where(np.isnan(ratings), np.inf, ratings), axis=0, return_inverse=True
    )
    pattern_of = pattern_of.ravel()
    rows = cluster_rows(clusters)
    counts = [np.bincount(pattern_of[cluster], minlength=len(patterns)) for cluster in rows]
    return RatingTable(
        patterns, np.array(counts, dtype=np.int64).reshape(len(counts), len(patterns))
    )


def agreement_of(
    parts_of: PartsFunction,
    ratings: Ratings,
    clusters: Sequence[str],
    *,
    lowest: float,
    n_boot: int = 500,
    seed: int = 0,
) -> Estimate:
    """As `agreement_of_table`, of ratings (items × raters) and the patient of each item."""
    table = rating_table(ratings, clusters)
    return agreement_of_table(parts_of, table, lowest=lowest, n_boot=n_boot, seed=seed)


def agreement_of_table(
    parts_of: PartsFunction,
    rated: RatingTable,
    *,
    lowest: float,
    n_boot: int = 500,
    seed: int = 0,
) -> Estimate:
    """Any statistic of the form 1 − observed / expected disagreement, with an interval over
    patients.

    Items with equal ratings are counted, not repeated.

    Where raters agree equally far on every item (on all of them, say), resampling shows no spread:
    the interval of the disagreement is then that of `cluster_mean` for equal outcomes, over the
    chance found.
    """
    patterns, table, often = rated.patterns, rated.table, rated.often

    def each(samples: Samples) -> NDArray[np.float64]:
        values = (_value(parts_of(patterns, times)) for times in samples.times @ table)
        return np.array([np.nan if value is None else value for value in values])

    estimate = cluster_bootstrap_of_samples(
        each, int(often.sum()), len(table), n_boot=n_boot, seed=seed
    )
    several = np.isfinite(patterns).sum(axis=1) > 1
    apart = _disagreements(_counts(patterns, None)[0])
    parts = parts_of(patterns, often)
    if parts is not None and len(apart) and np.ptp(apart) == 0:
        items = table[:, several].sum(axis=1)
        cluster = np.repeat(np.arange(len(table)), items)
        equal = cluster_mean(np.full(len(cluster), apart[0]), cluster)
        if equal.ci95 is None:
            return dataclasses.replace(estimate, ci95=None, method=equal.method, note=equal.note)
        least, most = equal.ci95
        interval = max(lowest, 1 - most / parts[1]), min(1.0, 1 - least / parts[1])
        return dataclasses.replace(estimate, ci95=interval, method=equal.method, note=equal.note)
    if estimate.ci95 is None:
        return estimate
    if estimate.ci95[1] - estimate.ci95[0] < _NO_WIDTH:
        note = "no interval: every patient has the same agreement, so no spread is seen"
        return dataclasses.replace(estimate, ci95=None, method="none", note=note)
    # With few patients the interval is symmetric about the value, and may leave what the statistic
    # can be.
    return dataclasses.replace(
        estimate, ci95=(max(lowest, estimate.ci95[0]), min(1.0, estimate.ci95[1]))
    )
