"""Sums by cluster, and the cluster bootstrap made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.errors import SitusError

__all__ = ["ClusterSums", "bootstrap_ratios", "cluster_rows", "percentile_95", "t_975"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

_MOST_CELLS = 2_000_000
"""Cells of one batch of resamples; 16 MB each for indices, sums and weights."""


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """What a ratio estimate needs of each cluster, in the order of the cluster names."""

    weighted: FloatArray
    """Σ w·v."""
    weights: FloatArray
    """Σ w."""

    @staticmethod
    def of(values: ArrayLike, clusters: Sequence[str], weights: ArrayLike | None) -> ClusterSums:
        """Sums that do not depend on the order of rows, to the last bit: rows are sorted before they are added."""
        v = np.asarray(values, dtype=np.float64)
        w = np.ones_like(v) if weights is None else np.asarray(weights, dtype=np.float64)
        if v.ndim != 1 or v.shape != w.shape or len(clusters) != len(v):
            raise SitusError(f"{v.shape} values, {w.shape} weights and {len(clusters)} clusters do not match")
        if not np.isfinite(v).all() or not np.isfinite(w).all() or (w < 0).any():
            raise SitusError(
                "values must be finite, and weights not negative", fix="leave undefined values out, and count them"
            )
        _, place = np.unique(np.asarray(clusters, dtype=np.str_), return_inverse=True)
        order = np.lexsort((w, v, place))
        count = int(place.max()) + 1 if len(v) else 0
        return ClusterSums(
            np.bincount(place[order], (v * w)[order], minlength=count).astype(np.float64),
            np.bincount(place[order], w[order], minlength=count).astype(np.float64),
        )

    @property
    def ratio(self) -> float | None:
        """Σ w·v / Σ w over all clusters; None without weight."""
        total = float(self.weights.sum())
        return float(self.weighted.sum()) / total if total > 0 else None

    def linearised_error(self) -> float:
        """The cluster-robust standard error of the ratio, with the small-sample factor G / (G − 1)."""
        count = len(self.weights)
        total = float(self.weights.sum())
        residuals = self.weighted - (float(self.weighted.sum()) / total) * self.weights
        return float(np.sqrt(count / (count - 1) * float(residuals @ residuals))) / total

    def alike(self) -> bool:
        """Whether every cluster (of positive weight) has the same mean, so that resampling shows no spread."""
        held = self.weights > 0
        means = self.weighted[held] / self.weights[held]
        return bool(np.ptp(means) <= 1e-12) if len(means) else True


def bootstrap_ratios(sums: ClusterSums, n_boot: int, generator: np.random.Generator) -> FloatArray:
    """The ratio over `n_boot` resamples of whole clusters with replacement, in batches of bounded memory."""
    count = len(sums.weights)
    batch = max(1, _MOST_CELLS // count)
    ratios: list[FloatArray] = []
    for start in range(0, n_boot, batch):
        drawn = generator.integers(0, count, size=(min(batch, n_boot - start), count))
        weights = sums.weights[drawn].sum(axis=1)
        weighted = sums.weighted[drawn].sum(axis=1)
        ratios.append(weighted[weights > 0] / weights[weights > 0])
    return np.concatenate(ratios)


def cluster_rows(clusters: Sequence[str]) -> list[IntArray]:
    """The row numbers of each cluster, clusters in the order of their names."""
    _, place = np.unique(np.asarray(clusters, dtype=np.str_), return_inverse=True)
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place)) if len(place) else np.zeros(0, dtype=np.intp)
    return np.split(order, ends[:-1]) if len(ends) else []


def percentile_95(draws: FloatArray) -> tuple[float, float]:
    """The central 95 % of the draws."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def t_975(degrees: int) -> float:
    """The 97.5 % quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975))
