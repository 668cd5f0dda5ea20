"""Results over several sources of data:
the mean over sources, and how much hangs on each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.items import Item
from situs.score.stats.estimates import Estimate, cluster_function, cluster_mean
from situs.score.stats.sums import Clusters, cluster_sums

__all__ = ["SOURCE_PREFIXES", "OverSources", "over_sources", "source_in", "source_of"]

SOURCE_PREFIXES = ("source:", "dataset:")
"""Of the tags that name the set of data an item comes from; the first is looked for first."""


class SourceValue(msgspec.Struct, frozen=True):
    """One source of data."""

    source: str
    value: float | None
    ci95: tuple[float, float] | None
    n: int
    clusters: int
    without: float | None
    """The plain mean over all items of the other sources."""
    macro_without: float | None
    """The mean over the other sources."""


class OverSources(msgspec.Struct, frozen=True):
    """A mean over items beside the mean over sources, which no large source decides alone."""

    micro: float | None
    macro: float | None
    macro_ci95: tuple[float, float] | None
    sources: list[SourceValue]
    note: str = ""


def source_of(item: Item) -> str:
    """The set of data an item comes from (its tag `source:` or `dataset:`);
    empty if the bench has one only."""
    return source_in(item.tags)


def source_in(tags: Iterable[str]) -> str:
    """The same, from the tags alone."""
    all_tags = list(tags)
    for prefix in SOURCE_PREFIXES:
        for tag in all_tags:
            if tag.startswith(prefix):
                return tag.removeprefix(prefix)
    return ""


def over_sources(
    values: ArrayLike, clusters: Clusters, sources: Sequence[str]
) -> OverSources | None:
    """Macro over sources and leave-one-source-out; None unless there are two sources or more."""
    names = sorted(set(sources))
    if len(names) < 2:
        return None
    item_values, of = np.asarray(values, dtype=np.float64), np.asarray(sources)
    groups = {name: item_values[of == name] for name in names}
    means = {name: float(group.mean()) for name, group in groups.items()}

    # A mean over sources is a mean of ratios: of each source, the sum of its values by the number
    # of its items.
    inside = (of[:, None] == np.array(names)[None]).astype(np.float64)
    sums = cluster_sums(np.hstack([inside * item_values[:, None], inside]), clusters)

    def statistic(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        right, items = totals[:, : len(names)], totals[:, len(names) :]
        shares = np.divide(right, items, out=np.full_like(right, np.nan), where=items > 0)
        return np.asarray(shares.mean(axis=1))

    bounds = (0.0, 1.0) if item_values.min() >= 0 and item_values.max() <= 1 else None
    macro = cluster_function(sums, statistic, len(item_values), bounds=bounds)
    rows = [_source(name, groups, means, clusters, sources, item_values) for name in names]
    return OverSources(float(item_values.mean()), macro.value, macro.ci95, rows, macro.note)


def _source(
    name: str,
    groups: Mapping[str, np.ndarray],
    means: Mapping[str, float],
    clusters: Clusters,
    sources: Sequence[str],
    values: np.ndarray,
) -> SourceValue:
    inside = [number for number, source in enumerate(sources) if source == name]
    estimate: Estimate = cluster_mean(values[inside], np.asarray(clusters)[inside], bounds=None)
    others = [other for other in groups if other != name]
    other_values = np.concatenate([groups[other] for other in others])
    macro = float(np.mean([means[other] for other in others]))
    return SourceValue(
        name,
        estimate.value,
        estimate.ci95,
        estimate.n,
        estimate.clusters,
        float(other_values.mean()),
        macro,
    )
