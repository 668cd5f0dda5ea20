"""What a mean over items needs of each patient: a few sums, from which every interval is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.errors import SitusError

__all__ = ["ClusterSums", "cluster_rows", "cluster_sums", "percentile_95", "sums_of", "t_quantile"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


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


def sums_of(
    values: ArrayLike, clusters: Sequence[str], weights: ArrayLike | None = None
) -> ClusterSums:
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
    _, number = np.unique(np.asarray(clusters, dtype=np.str_), return_inverse=True)
    order = np.lexsort((w, v, number))
    sorted_number, v, w = number[order], v[order], w[order]
    count = int(number.max()) + 1 if len(v) else 0
    sums = (
        np.bincount(sorted_number, one, minlength=count).astype(float)
        for one in (v * w, w, w * v * v, w * w)
    )
    return ClusterSums(*sums)


def cluster_sums(columns: FloatArray, clusters: Sequence[str]) -> FloatArray:
    """The sum of each column by cluster, in the order of the names: an array of clusters × columns."""
    rows = cluster_rows(clusters)
    return np.array([columns[own].sum(axis=0) for own in rows]).reshape(len(rows), columns.shape[1])


def cluster_rows(clusters: Sequence[str]) -> list[IntArray]:
    """The rows of each cluster, clusters in the order of their names."""
    _, number = np.unique(np.asarray(clusters, dtype=np.str_), return_inverse=True)
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
