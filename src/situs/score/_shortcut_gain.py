"""How much better than the best who does not look."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from situs.score._statistics import cluster_bootstrap_of, paired_difference

__all__ = ["ShortcutGain", "gain_over_best"]


class ShortcutGain(msgspec.Struct, frozen=True):
    """The model against the best of the shortcuts; the bootstrap chooses the best anew in every resample."""

    value: float | None
    ci95: tuple[float, float] | None
    n: int
    patients: int
    best: str
    note: str = ""


def gain_over_best(
    model: Mapping[str, bool],
    shortcuts: Mapping[str, Mapping[str, bool]],
    clusters: Mapping[str, str],
    *,
    seed: int = 0,
) -> ShortcutGain:
    """The model minus the best shortcut on the same items."""
    items = sorted(model)
    if not items or not shortcuts:
        return ShortcutGain(None, None, 0, 0, "", "no item to compare")
    own = np.array([model[item] for item in items], dtype=np.float64)
    others = np.array([[row[item] for item in items] for row in shortcuts.values()], dtype=np.float64)

    def statistic(picked: np.ndarray) -> float:
        return float(own[picked].mean() - others[:, picked].mean(axis=1).max())

    found = cluster_bootstrap_of(statistic, [clusters[item] for item in items], seed=seed, bounds=(-1.0, 1.0))
    place = int(np.argmax(others.mean(axis=1)))
    best, interval = list(shortcuts)[place], found.ci95
    if interval is not None and interval[0] == interval[1]:
        # Answers that are a shortcut's throughout: resampling shows no spread.
        interval = paired_difference(own, others[place], [clusters[item] for item in items], seed=seed).ci95
    return ShortcutGain(found.value, interval, found.n, found.clusters, best, found.note)
