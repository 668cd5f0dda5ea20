"""What a mean over items needs of each patient: a few sums, from which every interval is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.errors import SitusError

__all__ = [
    "ClusterSums",
    "Clusters",
    "cluster_rows",
    "cluster_sums",
    "distinct_codes",
    "percentile_95",
    "sums_of",
    "t_quantile",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Clusters = Sequence[str] | NDArray[np.int64]
"""The patient of each row: by name, or by a number that follows the order of names."""


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """Sums over the items of each cluster; clusters lie along the last axis.

    One estimate has arrays of one axis. A simulation stacks many estimates along axes before it.
    """

    weighted: FloatArray
    """Σ w·v."""
    weights: FloatArray
    """Σ w."""
    squares: FloatArray
    """Σ w·v²."""
    weight_squares: FloatArray
    """Σ w²; the number of items where all weights are 1."""

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.weights.shape[-1])

    @property
    def total(self) -> FloatArray:
        """Σ w over all clusters."""
        return np.asarray(self.weights.sum(axis=-1))

    @property
    def mean(self) -> FloatArray:
        """Σ w·v / Σ w over all clusters."""
        return np.asarray(self.weighted.sum(axis=-1) / self.total)

    @property
    def residuals(self) -> FloatArray:
        """How far each cluster's sum lies from what the mean predicts for it."""
        return np.asarray(self.weighted - self.mean[..., None] * self.weights)


def sums_of(values: ArrayLike, clusters: Clusters, weights: ArrayLike | None = None) -> ClusterSums:
    """The sums of rows, by cluster in the order of the names.

    They do not depend on the order of rows, to the last bit: rows are sorted before they are added.
    """
    v = np.asarray(values, dtype=np.float64)
    w = np.ones_like(v) if weights is None else np.asarray(weights, dtype=np.float64)
    if v.ndim != 1 or v.shape != w.shape or len(clusters) != len(v):
        raise SitusError(
            f"{v.shape} values, {w.shape} weights and {len(clusters)} clusters do not match"
        )
    if not np.isfinite(v).all() or not np.isfinite(w).all() or (w < 0).any():
        fix = "leave undefined values out, and count them"
        raise SitusError("values must be finite, and weights not negative", fix=fix)
    number, count = _numbered(clusters)
    if weights is None and _are_zeros_and_ones(v):
        # Sums of whole numbers are exact in any order.
        ones = np.bincount(number, v, minlength=count).astype(float)
        items = np.bincount(number, minlength=count).astype(float)
        return ClusterSums(ones, items, ones.copy(), items.copy())
    order = np.argsort(v) if weights is None else np.lexsort((w, v))
    number, v, w = number[order], v[order], w[order]
    sums = (
        np.bincount(number, one, minlength=count).astype(float)
        for one in (v * w, w, w * v * v, w * w)
    )
    return ClusterSums(*sums)


def _numbered(clusters: Clusters) -> tuple[IntArray, int]:
    """Each row's cluster by number, in the order of names, without gaps; and how many there are."""
    if isinstance(clusters, np.ndarray) and clusters.dtype.kind == "i":
        distinct, place = distinct_codes(clusters)
        return place, len(distinct)
    # Many rows have few clusters: a table of names is quicker than sorting all rows by name.
    rows = [str(name) for name in clusters]
    numbers = {name: number for number, name in enumerate(sorted(set(rows)))}
    return np.array([numbers[name] for name in rows], dtype=np.intp), len(numbers)


def distinct_codes(codes: NDArray[np.int64]) -> tuple[IntArray, IntArray]:
    """The distinct numbers in their order, and the place of each number among them.

    As `np.unique(codes, return_inverse=True)`, without sorting: they are small and not negative.
    """
    there = np.bincount(codes) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


def _are_zeros_and_ones(values: FloatArray) -> bool:
    return bool(((values == 0.0) | (values == 1.0)).all())


def cluster_sums(columns: FloatArray, clusters: Clusters) -> FloatArray:
    """The sum of each column by cluster, in the order of the names:
    an array of clusters × columns."""
    number, count = _numbered(clusters)
    sums = [np.bincount(number, column, minlength=count) for column in columns.T]
    # Rows lie together, so that sums over them add up in one order whatever made the array.
    return np.ascontiguousarray(np.array(sums, dtype=np.float64).reshape(-1, count).T)


def cluster_rows(clusters: Clusters) -> list[IntArray]:
    """The rows of each cluster, clusters in the order of their names."""
    number, _ = _numbered(clusters)
    order = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number)) if len(number) else np.zeros(0, dtype=np.intp)
    return np.split(order, ends[:-1]) if len(ends) else []


def percentile_95(draws: FloatArray) -> tuple[float, float]:
    """The central 95 % of the draws."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def t_quantile(degrees: ArrayLike, tail: float) -> FloatArray:
    """What Student's t exceeds with probability `tail`."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(degrees, 1.0 - tail))
