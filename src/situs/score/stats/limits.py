"""Confidence limits of means and differences over patients, made from sums by patient.

The method was chosen by simulation (`benchmarks/interval_coverage.py`; docs/statistics.md has the
tables). A bootstrap of patients is too narrow near 0 and 1 and with patients of unequal size,
because the few patients who differ from the rest decide the spread, and a sample with few of them
shows too little of it. Here the variance is the mean of two estimates that fail in different
places: a robust one, from how far patients lie from the mean, and a modelled one, from how alike
the answers within a patient are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from situs.score.stats.sums import ClusterSums, t_quantile

__all__ = [
    "Concentration",
    "ShareLimits",
    "SignedLimits",
    "concentration",
    "degrees_of_freedom",
    "joined_limits",
    "mean_variance",
    "signed_parts",
]

FloatArray = NDArray[np.float64]
Limits = tuple[FloatArray, FloatArray]

_NOTHING = 1e-12
"""Relative size under which a difference of sums is rounding."""
_NO_VARIANCE = _NOTHING**2
_PRIOR = 1.0
"""Weight of the belief that patients are all right or all wrong,
against the square of how many tell otherwise."""
_NORMAL_KURTOSIS = 3.0
_LEAST_DEGREES = 3.0
"""A t with fewer has limits that say nothing;
two or three patients who differ are then also seen by `doubt`."""
_LEAST_TAIL, _MOST_TAIL = 1e-12, 0.5
_EDGE = 1e-15
"""How near to 0 and 1 a mean is put on the logit scale."""
_HALVINGS = 45
"""Of the search for p: to the last digit of what is stored."""


class Concentration(NamedTuple):
    """What patients tell of how outcomes keep together."""

    alike: FloatArray
    """How alike the outcomes within a patient are:
    0 as if they were anybody's, 1 if a patient has one outcome only."""
    doubt: FloatArray
    """From 1, if all patients have one and the same outcome,
    towards 0, the more of them tell otherwise."""


def concentration(parts: Sequence[ClusterSums]) -> Concentration:
    """How far the items of a patient share one fate.

    The correlation of two items of one patient: 1 − (half the mean squared difference of two items
    of one patient) / (that of two items of different patients), summed over the parts of an
    outcome, and kept within 0 and 1.

    Where nearly all patients have one and the same outcome throughout, the few others, k of them,
    say little about it, and it is drawn towards 1, the case that needs the widest interval: by 1 /
    (1 + k²).
    """
    within = between = np.zeros(())
    constant = np.ones((), dtype=bool)
    level: FloatArray = np.zeros(())
    for sign, part in zip((1.0, -1.0), parts):
        spread = np.maximum(part.weights * part.squares - part.weighted**2, 0.0)
        own_pairs = (part.weights**2 - part.weight_squares).sum(axis=-1)
        within = within + _ratio(spread.sum(axis=-1), own_pairs)
        between = between + _between(part, spread)
        constant = constant & (spread <= _NOTHING * part.weights * part.squares)
        level = level + sign * _ratio(part.weighted, part.weights)
    alike = np.clip(1.0 - _ratio(within, between), 0.0, 1.0)
    telling = parts[0].clusters - _largest_group(np.where(constant, level, np.nan))
    doubt = _PRIOR / (_PRIOR + telling**2)
    return Concentration(np.asarray(alike + (1.0 - alike) * doubt), np.asarray(doubt))


def mean_variance(sums: ClusterSums, alike: FloatArray) -> FloatArray:
    """The variance of the weighted mean: the mean of a robust and a modelled estimate.

    Robust: the linearised variance with residuals divided by √(1 − h), h a patient's share of the
    weight (CR2, Bell and McCaffrey 2002). Modelled: every two items of one patient correlate by
    `alike` (Kish's design effect). With one item a patient both are the textbook's s² / n.
    """
    leverage = sums.weights / sums.total[..., None]
    robust = (sums.residuals**2 / np.maximum(1.0 - leverage, _NOTHING)).sum(axis=-1)
    spread = np.maximum(sums.weights * sums.squares - sums.weighted**2, 0.0)
    own_pairs = sums.weights**2 - sums.weight_squares
    modelled = _between(sums, spread) * (sums.weight_squares + own_pairs * alike[..., None]).sum(
        axis=-1
    )
    return np.asarray(0.5 * (robust + modelled) / sums.total**2)


def degrees_of_freedom(residuals: FloatArray) -> FloatArray:
    """How many degrees of freedom a variance made of these residuals has: as many as a χ² of the
    same relative spread.

    The variance of n squares e² is estimated with a relative variance of (κ − 1) / n, κ their
    kurtosis, that of a χ² being 2 / degrees. So n normal residuals (κ = 3) have n degrees; where k
    patients of n decide the spread, κ is about n / k, and there are about 3 k instead (Σe²)² / Σe⁴
    · 3. One is spent on the mean.
    """
    telling = _ratio(_squared((residuals**2).sum(axis=-1)), (residuals**4).sum(axis=-1), tiny=0.0)
    most = residuals.shape[-1] - 1
    return np.asarray(np.clip(_NORMAL_KURTOSIS * telling - 1.0, min(_LEAST_DEGREES, most), most))


class ShareLimits:
    """Limits of a mean of values from 0 to 1, at any level.

    Student's t on the logit scale, with the degrees of freedom that the patients' residuals tell.
    What was never seen may exist all the same: at most a share u of independent tries came out
    beyond all that were seen, with (1 − u)^n = tail and n the effective number of tries (patients,
    if each has one outcome only), and at most as far as 0 and 1. This is all there is to say if no
    item differs from another; of shares of 0 and 1 it is then Clopper and Pearson's limit. It
    counts the less, the more patients differ from the rest.

    A t with the degrees of freedom of one or two patients who differ says next to nothing. But a
    mean is at least the share of patients whose every value is 1, and at most that of patients with
    any value above 0; Clopper and Pearson's limits of these two shares bound it whatever the other
    patients' values are, and the narrower limit is taken.
    """

    def __init__(
        self,
        sums: ClusterSums,
        known: Concentration | None = None,
        degrees: FloatArray | None = None,
    ) -> None:
        alike, doubt = known or concentration([sums])
        variance = mean_variance(sums, alike)
        items = sums.total**2 / sums.weight_squares.sum(axis=-1)
        inside = np.clip(sums.mean, _EDGE, 1.0 - _EDGE)
        self.mean = sums.mean
        self._none = variance <= _NO_VARIANCE
        self._degrees = degrees_of_freedom(sums.residuals) if degrees is None else degrees
        self._centre = np.log(inside) - np.log1p(-inside)
        self._step = np.sqrt(variance) / (inside * (1.0 - inside))
        self._tries = items / (1.0 + (items / sums.clusters - 1.0) * alike)
        self._doubt = np.where(self._none, 1.0, doubt)
        self._least, self._most = _extremes(sums)
        self._patients = _squared(sums.total) / (sums.weights**2).sum(axis=-1)
        """How many patients of one size would tell as much (Kish)."""
        self._all_one, self._all_zero = _whole_shares(sums)

    def at(self, tail: float) -> Limits:
        """Limits that are each exceeded with probability `tail`."""
        step = t_quantile(self._degrees, tail) * self._step
        unseen = self._doubt * -np.expm1(np.log(tail) / self._tries)
        low = np.where(self._none, self.mean, _logistic(self._centre - step)) - unseen * self._least
        high = np.where(self._none, self.mean, _logistic(self._centre + step)) + unseen * (
            1.0 - self._most
        )
        low = np.maximum(low, _exact_lower(self._all_one, self._patients, tail))
        high = np.minimum(high, 1.0 - _exact_lower(self._all_zero, self._patients, tail))
        return np.maximum(low, 0.0), np.minimum(high, 1.0)


def signed_parts(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What is above 0, and how far the rest is below it:
    both from 0 to 1 for values from −1 to 1."""
    return np.maximum(values, 0.0), np.maximum(-values, 0.0)


class SignedLimits:
    """Limits of a mean of values from −1 to 1, from the means of their parts above and below 0.

    Each part is a share with limits of its own, which are joined as Zou and Donner (2008) do, with
    the correlation of the parts over patients. A plain t of differences is too narrow where few
    items differ and all in one direction.
    """

    def __init__(self, above: ClusterSums, below: ClusterSums) -> None:
        known = concentration([above, below])
        degrees = degrees_of_freedom(above.residuals - below.residuals)
        self._above, self._below = (
            ShareLimits(above, known, degrees),
            ShareLimits(below, known, degrees),
        )
        self._together = _correlation(above.residuals, below.residuals)

    def at(self, tail: float) -> Limits:
        """Limits that are each exceeded with probability `tail`."""
        more, less = self._above.at(tail), self._below.at(tail)
        up, down = self._above.mean, self._below.mean
        low = up - down - _joined(up - more[0], less[1] - down, self._together)
        high = up - down + _joined(more[1] - up, down - less[0], self._together)
        return np.maximum(low, -1.0), np.minimum(high, 1.0)

    def p(self) -> float:
        """The two-sided p of one estimate against 0: twice the tail at which a limit reaches 0."""
        mean = float(self._above.mean - self._below.mean)

        def reaches_zero(tail: float) -> bool:
            low, high = self.at(tail)
            return bool(low <= 0 <= high)

        if mean == 0 or reaches_zero(_MOST_TAIL):
            return 1.0
        if not reaches_zero(_LEAST_TAIL):
            return 2 * _LEAST_TAIL
        small, large = np.log(_LEAST_TAIL), np.log(_MOST_TAIL)
        for _ in range(_HALVINGS):
            middle = 0.5 * (small + large)
            small, large = (
                (middle, large) if reaches_zero(float(np.exp(middle))) else (small, middle)
            )
        return float(2 * np.exp(large))


def joined_limits(
    first: tuple[float, FloatArray, FloatArray],
    second: tuple[float, FloatArray, FloatArray],
    factor: float,
    correlation: float,
) -> Limits:
    """Limits of factor · first + second,
    each given as its estimate with its limits (Zou and Donner 2008)."""
    apart = np.asarray(-correlation)
    middle = factor * first[0] + second[0]
    low = middle - _joined(factor * (first[0] - first[1]), second[0] - second[1], apart)
    high = middle + _joined(factor * (first[2] - first[0]), second[2] - second[0], apart)
    return low, high


def _between(sums: ClusterSums, spread: FloatArray) -> FloatArray:
    """Half the mean squared difference of two items of different patients."""
    total = sums.total
    everything = total * sums.squares.sum(axis=-1) - _squared(sums.weighted.sum(axis=-1))
    pairs = total**2 - (sums.weights**2).sum(axis=-1)
    return np.maximum(_ratio(everything - spread.sum(axis=-1), pairs), 0.0)


def _squared(totals: FloatArray) -> FloatArray:
    """The square of each number, rounded as that of a single one is:
    numpy rounds a whole array otherwise."""
    if not np.ndim(totals):
        return np.asarray(totals[()] ** 2)
    return np.array([one**2 for one in totals.ravel()]).reshape(totals.shape)


def _extremes(sums: ClusterSums) -> Limits:
    """About the least and the largest value seen, as far as sums tell: a patient's mean of v,
    weighted by v or 1 − v.

    Of zeros and ones they are 0 and 1, of equal values that value.
    """
    most = _ratio(sums.squares, sums.weighted)
    left = sums.weights - sums.weighted
    least = 1.0 - _ratio(sums.weights - 2.0 * sums.weighted + sums.squares, left)
    return least.min(axis=-1), np.minimum(most.max(axis=-1), 1.0)


def _whole_shares(sums: ClusterSums) -> Limits:
    """The weight of patients whose every value is 1, and of those whose every value is 0."""
    slack = _NOTHING * sums.weights
    ones = np.where(sums.weights - sums.weighted <= slack, sums.weights, 0.0)
    zeros = np.where(sums.weighted <= slack, sums.weights, 0.0)
    return ones.sum(axis=-1) / sums.total, zeros.sum(axis=-1) / sums.total


def _exact_lower(share: FloatArray, tries: FloatArray, tail: float) -> FloatArray:
    """Clopper and Pearson's lower limit of a share of `tries`, which need not be a whole number."""
    from scipy.special import betaincinv

    successes = share * tries
    some = successes > _NOTHING
    limit = betaincinv(np.where(some, successes, 1.0), tries - successes + 1.0, tail)
    return np.where(some, limit, 0.0)


def _largest_group(levels: FloatArray) -> NDArray[np.intp]:
    """How many clusters share the most common level; NaN has none.

    Along the last axis, by runs of equals.
    """
    ordered = np.sort(np.round(levels, 9), axis=-1)
    number = np.broadcast_to(np.arange(ordered.shape[-1]), ordered.shape)
    begins = np.ones(ordered.shape, dtype=bool)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    start = np.maximum.accumulate(np.where(begins, number, 0), axis=-1)
    runs = np.where(np.isnan(ordered), 0, number - start + 1)
    return np.asarray(runs.max(axis=-1))


def _correlation(a: FloatArray, b: FloatArray) -> FloatArray:
    scale = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    return np.clip(_ratio((a * b).sum(axis=-1), scale), -1.0, 1.0)


def _joined(a: FloatArray, b: FloatArray, correlation: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.maximum(a * a + b * b - 2.0 * correlation * a * b, 0.0)))


def _ratio(above: FloatArray, under: FloatArray, tiny: float = _NOTHING) -> FloatArray:
    """above / under, and 0 where there is nothing to divide by."""
    there = np.abs(under) > tiny
    return np.asarray(np.where(there, above / np.where(there, under, 1.0), 0.0))


def _logistic(x: FloatArray) -> FloatArray:
    from scipy.special import expit

    return np.asarray(expit(x))
