"""Estimates over items with honest intervals: the items of one patient are one cluster."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.base.text import counted
from situs.errors import SitusError
from situs.items.record import Item
from situs.score.stats.limits import (
    ShareLimits,
    SignedLimits,
    concentration,
    degrees_of_freedom,
    mean_variance,
    signed_parts,
)
from situs.score.stats.resamples import Samples, drawn, every, left_out
from situs.score.stats.sums import (
    Clusters,
    ClusterSums,
    cluster_rows,
    percentile_95,
    sums_of,
    t_quantile,
)

__all__ = [
    "FEW_CLUSTERS",
    "TOO_FEW_CLUSTERS",
    "Difference",
    "Estimate",
    "RowStatistic",
    "SumStatistic",
    "cluster_bootstrap_of",
    "cluster_bootstrap_of_samples",
    "cluster_function",
    "cluster_mean",
    "cluster_means",
    "cluster_of",
    "paired_difference",
    "too_few",
]

TOO_FEW_CLUSTERS = 10
"""Under so many clusters no interval is given."""
FEW_CLUSTERS = 30
"""Under so many clusters an interval is called rough, and a bootstrap is too narrow to be used."""

RowStatistic = Callable[[NDArray[np.intp]], float | None]
"""A statistic of rows, given by number (with repeats); None where it is undefined."""

SumStatistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""A statistic of sums over items, for each row of sums; NaN where it is undefined."""

SampleStatistic = Callable[[Samples], NDArray[np.float64]]
"""A statistic of each of several samples of clusters; NaN where it is undefined."""

Bounds = tuple[float, float]

_TAIL = 0.025
_NO_WIDTH = 1e-12
_NO_VARIANCE = _NO_WIDTH**2


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval, or the reason why there is none."""

    value: float | None
    """None without items, or where the statistic is undefined."""
    n: int
    clusters: int
    ci95: tuple[float, float] | None
    method: str
    """`cluster-t-logit`, `cluster-t-parts`, `cluster-t`, `cluster-jackknife-t`,
    `cluster-bootstrap-percentile`, `exact-on-patients` or `none`."""
    note: str = ""
    p: float | None = None
    """Of differences: against 0, by the same method as the interval,
    which holds 0 exactly if p is over .05."""


def cluster_of(item: Item) -> str:
    """The cluster an item belongs to: its patient. The only place that says so."""
    if not item.patient_id.strip():
        raise SitusError(
            "item without patient_id: its score has no interval, since items of one patient are not"
            " independent",
            where=item.item_id,
            fix="give the patient, or the study if each patient has one",
        )
    return item.patient_id


def cluster_mean(
    values: ArrayLike,
    clusters: Clusters,
    weights: ArrayLike | None = None,
    *,
    bounds: Bounds | None = (0.0, 1.0),
    tested: bool = True,
) -> Estimate:
    """The (weighted) mean over items, with a 95 % interval over patients; under 10 patients there
    is none.

    `bounds` are the least and greatest possible value. Values from 0 on: `ShareLimits`. Values of
    both signs: `SignedLimits`, with a p against 0 if it is `tested`. None: Student's t with the
    same variance, since nothing bounds the mean. If no value differs from another, see
    `ShareLimits`; without bounds there is then no interval.

    The result does not depend on the order of rows. docs/statistics.md says how often the intervals
    hold the truth.
    """
    array = np.asarray(values, dtype=np.float64)
    if bounds is not None and array.size and (array.min() < bounds[0] or array.max() > bounds[1]):
        fix = "give the right bounds, or None"
        raise SitusError(f"values from {array.min()} to {array.max()} leave {bounds}", fix=fix)
    sums = sums_of(array, clusters, weights)
    n, count = len(array), sums.clusters
    if not count or not sums.total > 0:
        return Estimate(None, n, count, None, "none", "no items")
    value = float(sums.mean)
    if count < TOO_FEW_CLUSTERS:
        return _too_few(value, n, count)
    if bounds is None:
        return _unbounded(value, n, sums)
    if bounds[0] < 0:
        difference = Difference(array, clusters, weights, bounds=bounds)
        method = "exact-on-patients" if np.ptp(array) == 0 else "cluster-t-parts"
        p = difference.p if tested else None
        return Estimate(value, n, count, difference.interval(_TAIL), method, _few(count), p)
    low, width = bounds[0], bounds[1] - bounds[0]
    if (low, width) != (0.0, 1.0):
        sums = sums_of((array - low) / width, clusters, weights)
    limits = ShareLimits(sums).at(_TAIL)
    interval = float(low + width * limits[0]), float(low + width * limits[1])
    if np.ptp(array) == 0:
        note = f"all outcomes equal in {counted(count, 'patient')}"
        return Estimate(value, n, count, interval, "exact-on-patients", note)
    return Estimate(value, n, count, interval, "cluster-t-logit", _few(count))


def cluster_means(values: NDArray[np.float64], clusters: Clusters) -> list[Estimate]:
    """`cluster_mean` of several columns of shares (a row of `values` each) over the same items, at
    once.

    Limits are worked out along all columns: what numpy costs a call is then paid once for all of
    them.
    """
    sums = [sums_of(column, clusters) for column in values]
    n, count = values.shape[1], sums[0].clusters
    if count < TOO_FEW_CLUSTERS or len(sums) == 1 or values.min() < 0.0 or values.max() > 1.0:
        return [cluster_mean(column, clusters, tested=False) for column in values]
    stacked = ClusterSums(
        *(
            np.stack([getattr(one, name) for one in sums])
            for name in ("weighted", "weights", "squares", "weight_squares")
        )
    )
    lows, highs = (limit.tolist() for limit in ShareLimits(stacked).at(_TAIL))
    estimates = []
    for column, value, low, high in zip(values, stacked.mean.tolist(), lows, highs):
        method, note = "cluster-t-logit", _few(count)
        if np.ptp(column) == 0:
            method = "exact-on-patients"
            note = f"all outcomes equal in {counted(count, 'patient')}"
        estimates.append(Estimate(value, n, count, (low, high), method, note))
    return estimates


class Difference:
    """A mean of values of both signs, with its interval at any level and its p against 0."""

    def __init__(
        self,
        values: ArrayLike,
        clusters: Clusters,
        weights: ArrayLike | None = None,
        *,
        bounds: Bounds = (-1.0, 1.0),
    ) -> None:
        self._scale = max(abs(bounds[0]), abs(bounds[1]))
        parts = signed_parts(np.asarray(values, dtype=np.float64) / self._scale)
        self._limits = SignedLimits(*(sums_of(part, clusters, weights) for part in parts))

    def interval(self, tail: float) -> tuple[float, float]:
        """Limits that are each exceeded with probability `tail`."""
        low, high = self._limits.at(tail)
        return float(self._scale * low), float(self._scale * high)

    @property
    def p(self) -> float:
        """Twice the tail at which the interval reaches 0."""
        return self._limits.p()


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    clusters: Clusters,
    weights: ArrayLike | None = None,
    *,
    bounds: Bounds | None = (-1.0, 1.0),
) -> Estimate:
    """The mean of a − b over shared items, row by row, with an interval over patients as in
    `cluster_mean`.

    `bounds` are those of the difference.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise SitusError(
            f"{first.shape} and {second.shape} values are not pairs",
            fix="keep the items both runs share",
        )
    return cluster_mean(first - second, clusters, weights, bounds=bounds)


def cluster_function(
    sums: NDArray[np.float64], statistic: SumStatistic, n: int, *, bounds: Bounds | None = None
) -> Estimate:
    """A smooth function of sums over items (a ratio, a mean of ratios), with an interval over
    patients.

    `sums` has a row of sums for each patient. The interval is the delete-one-patient jackknife with
    Student's t, on the logit scale for shares.
    """
    count, total = len(sums), sums.sum(axis=0)
    value = float(statistic(total[None])[0]) if count else math.nan
    if not math.isfinite(value):
        return Estimate(
            None, n, count, None, "none", "undefined for these items" if count else "no items"
        )
    if count < TOO_FEW_CLUSTERS:
        return _too_few(value, n, count)
    return _jackknife(value, n, statistic(total - sums), bounds)


def cluster_bootstrap_of(
    statistic: RowStatistic,
    clusters: Clusters,
    *,
    n_boot: int = 1000,
    seed: int = 0,
    bounds: Bounds | None = None,
) -> Estimate:
    """Any statistic of rows, with an interval over patients: for medians and correlations.

    `statistic` gets the row numbers of a resample (whole clusters, with repeats). 30 clusters or
    more: percentile bootstrap. 10 to 29: delete-one-cluster jackknife with Student's t (too rough
    for medians, and said so). Resamples where the statistic is undefined are left out; if they
    exceed 5 %, there is no interval. For results equal to the last bit, give rows in a canonical
    order (by item_id).
    """
    rows = cluster_rows(clusters)

    def each(samples: Samples) -> NDArray[np.float64]:
        values = (statistic(np.concatenate([rows[i] for i in sample])) for sample in samples)
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    return cluster_bootstrap_of_samples(
        each, len(clusters), len(rows), n_boot=n_boot, seed=seed, bounds=bounds
    )


def cluster_bootstrap_of_samples(
    statistic: SampleStatistic,
    n: int,
    count: int,
    *,
    n_boot: int = 1000,
    seed: int = 0,
    bounds: Bounds | None = None,
) -> Estimate:
    """As `cluster_bootstrap_of`, for a statistic that is
    quickly had of many resamples of the `count` clusters."""
    value = float(statistic(every(count))[0]) if count else math.nan
    if not math.isfinite(value):
        return Estimate(
            None, n, count, None, "none", "undefined for these items" if count else "no items"
        )
    if count < TOO_FEW_CLUSTERS:
        return _too_few(value, n, count)
    if count < FEW_CLUSTERS:
        estimate = _jackknife(value, n, statistic(left_out(count)), bounds)
        rough = (
            f"{estimate.note}; the jackknife is rough for medians"
            if estimate.method == "cluster-jackknife-t"
            else ""
        )
        return dataclasses.replace(estimate, note=rough or estimate.note)
    draws = _finite(statistic(drawn(count, n_boot, seed)))
    if len(draws) < 0.95 * n_boot:
        return Estimate(
            value,
            n,
            count,
            None,
            "none",
            f"undefined in {n_boot - len(draws)} of {n_boot} resamples",
        )
    if np.ptp(draws) <= _NO_WIDTH:
        return _alike(value, n, count, bounds)
    return Estimate(value, n, count, percentile_95(draws), "cluster-bootstrap-percentile")


def _unbounded(value: float, n: int, sums: ClusterSums) -> Estimate:
    variance = float(mean_variance(sums, concentration([sums]).alike))
    if variance <= _NO_VARIANCE:
        return _alike(value, n, sums.clusters, None)
    half = float(t_quantile(degrees_of_freedom(sums.residuals), _TAIL)) * math.sqrt(variance)
    return Estimate(
        value, n, sums.clusters, (value - half, value + half), "cluster-t", _few(sums.clusters)
    )


def _jackknife(
    value: float, n: int, left_out: NDArray[np.float64], bounds: Bounds | None
) -> Estimate:
    """From the values of the statistic without each cluster in turn (Efron and Stein 1981)."""
    count = len(left_out)
    if not np.isfinite(left_out).all():
        return Estimate(value, n, count, None, "none", "undefined without some patients")
    variance = (count - 1) / count * float(((left_out - left_out.mean()) ** 2).sum())
    if variance <= _NO_VARIANCE:
        return _alike(value, n, count, bounds)
    half = float(t_quantile(count - 1, _TAIL)) * math.sqrt(variance)
    if bounds == (0.0, 1.0) and 0.0 < value < 1.0:
        interval = _on_logit_scale(value, half)
    else:
        interval = _cut(value - half, value + half, bounds)
    return Estimate(value, n, count, interval, "cluster-jackknife-t", _few(count))


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[np.isfinite(values)]


def too_few(count: int) -> str:
    """Why so few clusters have no interval; empty where they have one."""
    return (
        ""
        if count >= TOO_FEW_CLUSTERS
        else f"no interval: {counted(count, 'patient')}, at least {TOO_FEW_CLUSTERS} needed"
    )


def _too_few(value: float, n: int, count: int) -> Estimate:
    return Estimate(value, n, count, None, "none", too_few(count))


def _few(count: int) -> str:
    return f"only {counted(count, 'patient')}: rough" if count < FEW_CLUSTERS else ""


def _alike(value: float, n: int, count: int, bounds: Bounds | None) -> Estimate:
    """The interval where no patient changes the value:
    at most a share u of patients is otherwise (`ShareLimits`)."""
    if bounds is None or not all(map(math.isfinite, bounds)):
        note = "no interval: every patient has the same mean, so no spread is seen"
        return Estimate(value, n, count, None, "none", note)
    unseen, (low, high) = 1.0 - _TAIL ** (1.0 / count), bounds
    interval = value - unseen * (value - low), value + unseen * (high - value)
    return Estimate(
        value,
        n,
        count,
        interval,
        "exact-on-patients",
        f"all outcomes equal in {counted(count, 'patient')}",
    )


def _on_logit_scale(share: float, half: float) -> tuple[float, float]:
    """share ± half, carried over to the logit scale by the delta method and back."""
    from scipy.special import expit

    centre, step = math.log(share / (1.0 - share)), half / (share * (1.0 - share))
    return float(expit(centre - step)), float(expit(centre + step))


def _cut(low: float, high: float, bounds: Bounds | None) -> tuple[float, float]:
    return (low, high) if bounds is None else (max(low, bounds[0]), min(high, bounds[1]))
