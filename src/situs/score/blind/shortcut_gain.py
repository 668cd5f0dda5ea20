"""How much better than the best who does not look."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from situs.score.stats.estimates import paired_difference
from situs.score.stats.sums import Clusters, cluster_sums, percentile_95

__all__ = ["ShortcutGain", "gain_over_best"]


_DRAWS = 1000


class ShortcutGain(msgspec.Struct, frozen=True):
    """The model against the best of the shortcuts."""

    value: float | None
    ci95: tuple[float, float] | None
    n: int
    patients: int
    best: str
    note: str = ""


def gain_over_best(
    model: ArrayLike,
    shortcuts: Mapping[str, ArrayLike],
    patients: Clusters,
    *,
    seed: int = 0,
) -> ShortcutGain:
    """The model minus the best shortcut on the same items: who is right, row by row.

    Which shortcut is best is not known for sure either. The lower limit is the least of those
    against each shortcut, so the model is said to beat the best only if it beats every one; the
    upper limit is that of a bootstrap of patients that chooses the best anew each time.
    """
    model_right = np.asarray(model, dtype=np.float64)
    if not model_right.size or not shortcuts:
        return ShortcutGain(None, None, 0, 0, "", "no item to compare")
    others = np.array([np.asarray(row) for row in shortcuts.values()], dtype=np.float64)
    number = int(np.argmax(others.mean(axis=1)))
    difference = paired_difference(model_right, others[number], patients)
    interval = difference.ci95
    if interval is not None and len(others) > 1:
        against = (paired_difference(model_right, other, patients).ci95 for other in others)
        lowest = min(limits[0] for limits in against if limits is not None)
        highest = _upper(model_right, others, patients, seed)
        interval = lowest, max(highest, difference.value or 0.0)
    return ShortcutGain(
        difference.value,
        interval,
        difference.n,
        difference.clusters,
        list(shortcuts)[number],
        difference.note,
    )


def _upper(own: np.ndarray, others: np.ndarray, patients: Clusters, seed: int) -> float:
    """The 97.5 % quantile over resamples of patients, the best shortcut chosen in each."""
    sums = cluster_sums(np.vstack([own, others, np.ones_like(own)]).T, patients)
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=_DRAWS) @ sums
    shares = drawn[:, :-1] / drawn[:, -1:]
    return percentile_95(shares[:, 0] - shares[:, 1:].max(axis=1))[1]
