"""Weighted agreement of many raters with missing ratings: AC2, Fleiss' and Conger's κ, weighted κ,
Krippendorff's α.

All are 1 − observed / expected disagreement over a matrix of weights between categories (Gwet,
Handbook of Inter-Rater Reliability, 4th edition, 2014, chapters 2 to 5; Krippendorff 2011 for α).
With identity weights AC2 is AC1, and Conger's κ of two raters is Cohen's; with quadratic weights it
is the weighted κ of Cohen (1968).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.score.stats.agreement import Ratings, RatingTable, agreement_of_table
from situs.score.stats.estimates import Estimate

__all__ = ["COEFFICIENTS", "reliability", "reliability_value"]

Array = NDArray[np.float64]
COEFFICIENTS = ("raw", "ac1", "ac2", "alpha", "alpha_ordinal", "fleiss", "conger", "weighted_kappa")
"""`ac1`, `alpha`, `fleiss` and `conger` treat categories as names; `ac2` and `weighted_kappa` weigh
how far they are apart, `alpha_ordinal` how many ratings lie between them."""
_WEIGHTED = ("ac2", "weighted_kappa")
_NO_CHANCE = 1e-12


def reliability_value(name: str, ratings: Ratings, categories: Sequence[float]) -> float | None:
    """The coefficient alone; None where it is not estimable (no item with two ratings,
    or all ratings equal)."""
    parts = _parts(ratings, None, name=name, categories=np.asarray(categories, dtype=np.float64))
    return None if parts is None else 1.0 - parts[0] / parts[1]


def reliability(
    name: str, rated: RatingTable, categories: Sequence[float], *, n_boot: int = 500, seed: int = 0
) -> Estimate:
    """One of `COEFFICIENTS` with an interval over patients.

    `categories`: every rating that may be given.
    """
    values = np.asarray(categories, dtype=np.float64)
    lowest = 0.0 if name == "raw" else -1.0
    parts_of = partial(_parts, name=name, categories=values)
    return agreement_of_table(parts_of, rated, lowest=lowest, n_boot=n_boot, seed=seed)


def _parts(
    ratings: Ratings, weights: ArrayLike | None, *, name: str, categories: Array
) -> tuple[float, float] | None:
    """Observed and expected disagreement."""
    often = np.ones(len(ratings)) if weights is None else np.asarray(weights, dtype=np.float64)
    apart = _quadratic(categories) if name in _WEIGHTED else 1.0 - np.eye(len(categories))
    counts = (ratings[:, :, None] == categories).sum(axis=1).astype(np.float64)
    n = counts.sum(axis=1)
    several = n >= 2
    if not float(often[several].sum()):
        return None
    if name.startswith("alpha"):
        ordered = name == "alpha_ordinal"
        apart = _ordinal(often[several] @ counts[several]) if ordered else apart
        parts = _alpha(counts[several], often[several], apart)
    else:
        observed = _observed(counts[several], often[several], apart)
        parts = observed, _expected(name, ratings, counts, often, apart, categories)
    return parts if parts[1] > _NO_CHANCE else None


def _quadratic(categories: Array) -> Array:
    """How far categories are apart: the squared distance, 1 for the farthest two."""
    distance = np.subtract.outer(categories, categories) ** 2
    return np.asarray(distance / max(float(distance.max()), _NO_CHANCE))


def _ordinal(totals: Array) -> Array:
    """How far categories are apart in ranks, by how often each was given.

    Krippendorff's ordinal metric: the square of all ratings from one category to the other, half of
    each end's left out.
    """
    middle_rank = np.cumsum(totals) - totals / 2
    return _quadratic(middle_rank)


def _observed(counts: Array, often: Array, apart: Array) -> float:
    """The mean over items of the mean disagreement of their pairs of ratings."""
    n = counts.sum(axis=1)
    unlike = np.einsum("ik,kl,il->i", counts, apart, counts) / (n * (n - 1))
    return float(often @ unlike) / float(often.sum())


def _expected(
    name: str, ratings: Ratings, counts: Array, often: Array, apart: Array, categories: Array
) -> float:
    if name == "raw":
        return 1.0
    rated = counts.sum(axis=1) >= 1
    shares = often[rated] @ (counts[rated] / counts[rated].sum(axis=1, keepdims=True))
    shares = shares / float(often[rated].sum())
    if name in ("ac1", "ac2"):
        # Gwet: chance agreement is T_w / (q (q − 1)) · Σ π (1 − π), with T_w the sum of the
        # weights.
        q = len(categories)
        weight_sum = q * q - float(apart.sum())
        return 1.0 - weight_sum / (q * (q - 1)) * float((shares * (1 - shares)).sum())
    if name == "fleiss":
        return float(shares @ apart @ shares)
    marginals = _marginals(ratings, often, categories)
    total = marginals.sum(axis=0)
    pairs = len(marginals) * (len(marginals) - 1)
    # Pairs of different raters: all pairs without each rater's with itself.
    same = np.einsum("gk,kl,gl->", marginals, apart, marginals)
    return (float(total @ apart @ total) - float(same)) / pairs if pairs else 0.0


def _marginals(ratings: Ratings, often: Array, categories: Array) -> Array:
    """How often each rater gave each category, as shares; raters without ratings are left out."""
    rows = []
    for column in ratings.T:
        category_counts = often @ (column[:, None] == categories)
        if category_counts.sum():
            rows.append(category_counts / category_counts.sum())
    return np.array(rows)


def _alpha(counts: Array, often: Array, apart: Array) -> tuple[float, float]:
    n = counts.sum(axis=1)
    unlike = np.einsum("ik,kl,il->i", counts, apart, counts) / (n - 1)
    totals = often @ counts
    total = float(totals.sum())
    expected = float(totals @ apart @ totals) / (total * (total - 1))
    return float(often @ unlike) / total, expected
