"""How far raters agree: percent, Cohen's κ, Gwet's AC1, Krippendorff's α; and how verdicts go with length."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.score._statistics import Estimate, cluster_bootstrap_of

__all__ = [
    "STATISTICS",
    "Ratings",
    "agreement",
    "cohen_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "percent_agreement",
    "spearman",
]

Ratings = NDArray[np.float64]
"""Items × raters; every value is a category, NaN where a rater did not rate."""
Weights = ArrayLike | None
"""How often each item counts."""


def percent_agreement(ratings: Ratings, weights: Weights = None) -> float | None:
    """The share of pairs of ratings of one item that are equal, over items with two or more ratings."""
    counts, w = _counts(ratings, weights)
    n = counts.sum(axis=1)
    pairs = float(w @ (n * (n - 1)))
    return float(w @ (counts * (counts - 1)).sum(axis=1)) / pairs if pairs else None


def cohen_kappa(ratings: Ratings, weights: Weights = None) -> float | None:
    """Cohen's (1960) κ of two raters, over the items both rated; undefined if both always say the same one thing."""
    if ratings.shape[1] != 2:
        raise ValueError("Cohen's kappa compares two raters")
    both = np.isfinite(ratings).all(axis=1)
    held, w = ratings[both], _weights(ratings, weights)[both]
    total = float(w.sum())
    if not total:
        return None
    observed = float(w @ (held[:, 0] == held[:, 1])) / total
    shares = [[float(w @ (held[:, rater] == value)) / total for rater in (0, 1)] for value in np.unique(held)]
    expected = sum(first * second for first, second in shares)
    return (observed - expected) / (1 - expected) if expected < 1 else None


def krippendorff_alpha(ratings: Ratings, weights: Weights = None) -> float | None:
    """Krippendorff's α for nominal data with any number of raters and missing ratings (2011, section C).

    Items with fewer than two ratings do not count. Undefined if all ratings are equal.
    """
    counts, w = _counts(ratings, weights)
    n = counts.sum(axis=1)
    observed = float(w @ ((n**2 - (counts**2).sum(axis=1)) / (n - 1)))
    totals = w @ counts
    whole = float(totals.sum())
    expected = whole**2 - float((totals**2).sum())
    return float(1 - (whole - 1) * observed / expected) if expected > 0 else None


def gwet_ac1(ratings: Ratings, weights: Weights = None) -> float | None:
    """Gwet's (2008) AC1: as κ, but chance agreement does not explode where one answer is rare."""
    several, w_several = _counts(ratings, weights)
    counts, w = _counts(ratings, weights, least=1)
    if counts.shape[1] < 2 or not w_several.sum():
        return None
    n = several.sum(axis=1)
    observed = float(w_several @ ((several * (several - 1)).sum(axis=1) / (n * (n - 1)))) / float(w_several.sum())
    shares = w @ (counts / counts.sum(axis=1, keepdims=True)) / float(w.sum())
    expected = float((shares * (1 - shares)).sum()) / (counts.shape[1] - 1)
    return float((observed - expected) / (1 - expected))


def _weights(ratings: Ratings, weights: Weights) -> NDArray[np.float64]:
    return np.ones(len(ratings)) if weights is None else np.asarray(weights, dtype=np.float64)


def _counts(ratings: Ratings, weights: Weights, least: int = 2) -> tuple[Ratings, NDArray[np.float64]]:
    """For items with enough ratings: how often each category was given, and the item's weight."""
    values = np.unique(ratings[np.isfinite(ratings)])
    counts = (ratings[:, :, None] == values).sum(axis=1).astype(np.float64)
    held = counts.sum(axis=1) >= least
    return counts[held], _weights(ratings, weights)[held]


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Spearman's rank correlation with mean ranks for ties; undefined if one side is constant."""
    from scipy.stats import rankdata

    a, b = rankdata(np.asarray(first, dtype=np.float64)), rankdata(np.asarray(second, dtype=np.float64))
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


def agreement(name: str, ratings: Ratings, clusters: Sequence[str], *, n_boot: int = 500, seed: int = 0) -> Estimate:
    """One of `STATISTICS` with an interval over patients. Items with equal ratings are counted, not repeated."""
    statistic = STATISTICS[name]
    # Infinity stands for a missing rating: it is equal to itself, and no statistic counts it.
    patterns, place = np.unique(np.where(np.isnan(ratings), np.inf, ratings), axis=0, return_inverse=True)
    place = place.ravel()

    def weighted(rows: NDArray[np.intp]) -> float | None:
        return statistic(patterns, np.bincount(place[rows], minlength=len(patterns)))

    found = cluster_bootstrap_of(weighted, clusters, n_boot=n_boot, seed=seed)
    if found.ci95 is None:
        return found
    # With few patients the interval is symmetric about the value, and may leave what the statistic can be.
    lowest = 0.0 if name == "percent" else -1.0
    return dataclasses.replace(found, ci95=(max(lowest, found.ci95[0]), min(1.0, found.ci95[1])))
