"""How far raters agree: percent, Cohen's κ, Gwet's AC1, Krippendorff's α; and how verdicts go with length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.score._statistics import Estimate, cluster_bootstrap_of

__all__ = ["STATISTICS", "agreement", "cohen_kappa", "gwet_ac1", "krippendorff_alpha", "percent_agreement", "spearman"]

Ratings = NDArray[np.float64]
"""Items × raters; every value is a category, NaN where a rater did not rate."""


def percent_agreement(ratings: Ratings) -> float | None:
    """The share of pairs of ratings of one item that are equal, over items with two or more ratings."""
    pairs = agreeing = 0.0
    for counts in _counts(ratings):
        n = counts.sum()
        pairs += n * (n - 1)
        agreeing += float((counts * (counts - 1)).sum())
    return agreeing / pairs if pairs else None


def cohen_kappa(ratings: Ratings) -> float | None:
    """Cohen's (1960) κ of two raters, over the items both rated; undefined if both always say the same one thing."""
    both = ratings[~np.isnan(ratings).any(axis=1)]
    if both.shape[1] != 2:
        raise ValueError("Cohen's kappa compares two raters")
    if not len(both):
        return None
    values = np.unique(both)
    observed = float((both[:, 0] == both[:, 1]).mean())
    expected = sum(float((both[:, 0] == v).mean()) * float((both[:, 1] == v).mean()) for v in values)
    return (observed - expected) / (1 - expected) if expected < 1 else None


def krippendorff_alpha(ratings: Ratings) -> float | None:
    """Krippendorff's α for nominal data with any number of raters and missing ratings (2011, section C).

    Items with fewer than two ratings do not count. Undefined if all ratings are equal.
    """
    counts = _counts(ratings)
    if not len(counts):
        return None
    n = counts.sum(axis=1)
    observed = float(((n**2 - (counts**2).sum(axis=1)) / (n - 1)).sum())
    totals = counts.sum(axis=0)
    whole = float(totals.sum())
    expected = whole**2 - float((totals**2).sum())
    return 1 - (whole - 1) * observed / expected if expected > 0 else None


def gwet_ac1(ratings: Ratings) -> float | None:
    """Gwet's (2008) AC1: as κ, but chance agreement does not explode where one answer is rare."""
    rated = ratings[~np.isnan(ratings).all(axis=1)]
    values = np.unique(rated[~np.isnan(rated)])
    if len(values) < 2:
        return None
    observed = _mean_item_agreement(ratings)
    if observed is None:
        return None
    shares = np.array([np.mean([(row[~np.isnan(row)] == v).mean() for row in rated]) for v in values])
    expected = float((shares * (1 - shares)).sum()) / (len(values) - 1)
    return (observed - expected) / (1 - expected)


def _mean_item_agreement(ratings: Ratings) -> float | None:
    counts = _counts(ratings)
    if not len(counts):
        return None
    n = counts.sum(axis=1)
    return float(((counts * (counts - 1)).sum(axis=1) / (n * (n - 1))).mean())


def _counts(ratings: Ratings) -> Ratings:
    """For items with two or more ratings: how often each category was given."""
    values = np.unique(ratings[~np.isnan(ratings)])
    counts = np.stack([(ratings == value).sum(axis=1) for value in values], axis=1) if len(values) else np.zeros((0, 1))
    return np.asarray(counts[counts.sum(axis=1) >= 2], dtype=np.float64)


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
    """One of `STATISTICS` with an interval over patients."""
    statistic = STATISTICS[name]
    return cluster_bootstrap_of(lambda rows: statistic(ratings[rows]), clusters, n_boot=n_boot, seed=seed)
