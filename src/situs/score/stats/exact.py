"""Exact intervals of the binomial distribution, and accuracy beyond chance."""

from __future__ import annotations

import math

from situs.errors import SitusError

__all__ = ["binomial_interval_999", "clopper_pearson"]


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact (Clopper and Pearson 1934) central
    interval of a proportion with k of n successes."""
    from scipy.special import betaincinv

    if not 0 <= k <= n or n < 1:
        raise SitusError(f"{k} of {n} is not a count of successes")
    if not 0 < confidence < 1:
        raise SitusError(f"confidence {confidence} is not between 0 and 1")
    tail = (1 - confidence) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail))
    return low, high


def binomial_interval_999(n: int, p: float) -> tuple[int, int]:
    """The counts of successes "inside chance": from k_low to k_high, both included, for n
    independent tries at p.

    Exact and central: fewer than k_low, and more than k_high, each have a probability of at most
    0.0005. With differing chances of the tries (3 and 4 options), p = their mean makes the region
    too wide, never too narrow, since the binomial variance is then the larger one. Not valid for
    tries that depend on each other.
    """
    import numpy as np
    from scipy.special import bdtr

    if n < 0 or not 0 <= p <= 1 or math.isnan(p):
        raise SitusError(f"no binomial distribution with n={n}, p={p}")
    if n == 0 or p in {0.0, 1.0}:
        return round(n * p), round(n * p)
    tail = 0.0005
    successes = np.arange(n + 1, dtype=np.float64)
    at_most = np.asarray(bdtr(successes, n, p))  # P(X ≤ k)
    at_most_failures = np.asarray(bdtr(successes, n, 1 - p))  # its mirror, exact in the upper tail
    low = int(np.argmax(at_most > tail))
    high = n - int(np.argmax(at_most_failures > tail))
    return low, high
