"""From many answers to the entries of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.score.columns import Columns, Rows
from situs.score.metrics.grades import GRADE_EXACT, GRADE_WITHIN_ONE
from situs.score.metrics.registry import Metric, Shown, known_metrics, shown_in
from situs.score.stats.estimates import Estimate, cluster_mean, cluster_means

__all__ = [
    "Entry",
    "closed_or_all",
    "entries",
    "grouped_entries",
    "sub_score_entries",
    "tag_entries",
    "values_of",
]

FloatArray = NDArray[np.float64]
_SCALE_TAGS = ("nominal:", "absent:")
"""Tags that tell how grades are scored; no groups of their own."""


class Entry(msgspec.Struct, frozen=True):
    """One metric over one group of items."""

    metric: str
    value: float | None
    n: int
    ci95: tuple[float, float] | None
    states: dict[str, int]
    clusters: int = 0
    note: str = ""
    """How the interval was made, or why there is none."""


def values_of(metric: Metric, columns: Columns) -> FloatArray:
    """The value of each row under a metric that is a mean over answers;
    NaN where it has none or does not count."""
    known = columns.derived
    if metric.id not in known:
        of_rows = metric.of_columns
        values = columns.numbers(metric.id) if of_rows is None else of_rows(columns)
        counts = np.ones(len(columns), dtype=bool) if metric.of_hidden else columns.counted
        known[metric.id] = np.where(counts, values, np.nan)
    return known[metric.id]


def entries(rows: Rows, metrics: Sequence[str], seed: int) -> list[Entry]:
    """The metrics that these rows allow, with the states of all of them."""
    states = _states(rows)
    counted = rows.where(rows.columns.counted)
    means = _means(rows, [known_metrics()[name] for name in metrics])
    result = []
    for name in metrics:
        over_rows = known_metrics()[name].over_rows
        estimate = means.get(name) if over_rows is None else over_rows(counted, seed)
        result += _entry(name, estimate, states)
    return result


def _means(rows: Rows, metrics: Sequence[Metric]) -> dict[str, Estimate]:
    """The metrics that are means over answers and have a value here;
    those of the same answers are had at once."""
    alike: dict[tuple[object, ...], list[tuple[str, FloatArray]]] = {}
    for metric in metrics:
        if metric.over_rows is None:
            values = values_of(metric, rows.columns)[rows.index]
            there = ~np.isnan(values)
            if there.any():
                key = (metric.bounds, there.tobytes())
                alike.setdefault(key, []).append((metric.id, values))
    found: dict[str, Estimate] = {}
    for (bounds, _), own in alike.items():
        there = ~np.isnan(own[0][1])
        clusters = rows.clusters[there]
        columns = np.array([values[there] for _, values in own])
        if bounds == (0.0, 1.0):
            estimates = cluster_means(columns, clusters)
        else:
            estimates = [
                cluster_mean(column, clusters, bounds=bounds, tested=False)  # type: ignore[arg-type]
                for column in columns
            ]
        found |= dict(zip((name for name, _ in own), estimates))
    return found


def grouped_entries(
    columns: Columns, name: str, metrics: Sequence[str], seed: int
) -> dict[str, list[Entry]]:
    """The entries of each task or stratum."""
    column = columns.coded(name)
    return {
        group: entries(Rows(columns, index), metrics, seed)
        for group, index in _groups(np.arange(len(columns)), column.codes, column.names).items()
    }


def tag_entries(
    columns: Columns, metrics: Sequence[str], seed: int, *, graded: bool = False
) -> dict[str, list[Entry]]:
    """The entries of each tag; of graded answers only, if that is asked for."""
    chosen = [name for name in metrics if name in shown_in(Shown.TAG)]
    rows, tags = columns.tags
    is_shown = np.array([not tag.startswith(_SCALE_TAGS) for tag in tags.names], dtype=bool)
    wanted = is_shown[tags.codes] if len(is_shown) else np.zeros(0, dtype=bool)
    if graded:
        wanted &= np.isin(rows, columns.grades.rows)
    groups = _groups(rows[wanted], tags.codes[wanted], tags.names)
    return {tag: entries(Rows(columns, index), chosen, seed) for tag, index in groups.items()}


def sub_score_entries(
    columns: Columns, metrics: Sequence[str], seed: int
) -> dict[str, list[Entry]]:
    """The grade metrics of each sub-score apart."""
    grades = columns.grades
    off = np.abs(grades.truths - grades.told)
    values = {
        GRADE_EXACT: (grades.truths == grades.told).astype(np.float64),
        GRADE_WITHIN_ONE: np.where(grades.nominal, np.nan, (grades.told >= 0) & (off <= 1)),
    }
    chosen = [name for name in metrics if name in shown_in(Shown.SUB_SCORE)]
    result = {}
    every = np.arange(len(grades.rows))
    for name, index in _groups(every, grades.names.codes, grades.names.names).items():
        rows = Rows(columns, grades.rows[index], grades.names.names.index(name))
        states = _states(rows)
        own: list[Entry] = []
        for metric in chosen:
            if metric in values:
                estimate = _mean(rows, values[metric][index], (0.0, 1.0))
                own += _entry(metric, estimate, states)
            elif (over_rows := known_metrics()[metric].over_rows) is not None:
                own += _entry(metric, over_rows(rows, seed), states)
        result[name] = own
    return result


def _groups(
    rows: NDArray[np.int64], codes: NDArray[np.int64], names: Sequence[str]
) -> dict[str, NDArray[np.int64]]:
    """Name → its rows in their order, for every name that has some."""
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=len(names))
    parts = np.split(rows[order], np.cumsum(counts)[:-1]) if len(names) else []
    return {name: part for name, part in zip(names, parts) if len(part)}


def _states(rows: Rows) -> dict[str, int]:
    column = rows.columns.coded("state")
    counts = np.bincount(column.codes[rows.index], minlength=len(column.names))
    return {name: int(count) for name, count in zip(column.names, counts) if count}


def _mean(rows: Rows, values: FloatArray, bounds: tuple[float, float]) -> Estimate | None:
    there = ~np.isnan(values)
    if not there.any():
        return None
    return cluster_mean(values[there], rows.clusters[there], bounds=bounds, tested=False)


def _entry(name: str, estimate: Estimate | None, states: Mapping[str, int]) -> list[Entry]:
    if estimate is None:
        return []
    note = estimate.note or estimate.method
    return [
        Entry(
            name,
            estimate.value,
            estimate.n,
            estimate.ci95,
            dict(states),
            estimate.clusters,
            note,
        )
    ]


def closed_or_all(table: Sequence[Entry]) -> str:
    """The accuracy to show of a group:
    on its questions with options, which chance fits; where it has none, on all."""
    closed = any(entry.metric == "accuracy.closed" and entry.value is not None for entry in table)
    return "accuracy.closed" if closed else "accuracy"
