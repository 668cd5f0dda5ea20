"""A run broken down by what its items are about,
as small tables a report draws and a paper prints."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from situs.items import Choice, Item, Number
from situs.score.columns import Columns
from situs.score.facets import FACETS, facets_of, side_of_value
from situs.score.metrics.number import MRA_VSI_CODE, WITHIN_INTERVAL
from situs.score.metrics.registry import Shown, shown_in
from situs.score.scored_run import ScoredRun
from situs.score.stats.estimates import cluster_mean
from situs.score.stats.sources import OverSources, over_sources, source_of
from situs.score.table_entries import Entry, entries
from situs.tables import INTERVAL, Cell, Style, Table

__all__ = [
    "SAID_SIDES",
    "Breakdowns",
    "NumberError",
    "breakdown_tables",
    "breakdowns",
    "facet_matrix",
    "facet_table",
    "number_table",
    "side_counts",
    "side_table",
]

SAID_SIDES = ("left", "right", "other", "no answer")
_THIRDS = ("small", "medium", "large")


class NumberError(msgspec.Struct, frozen=True):
    """How far the numbers of one task lie from the truth (Bland and Altman)."""

    task: str
    unit: str
    n: int
    bias: float
    """Mean of said − true."""
    ci95: tuple[float, float] | None
    """Of the bias, over patients."""
    low: float | None
    """Lower limit of agreement: bias − 1.96 standard deviations; None of a single answer."""
    high: float | None
    median_log_ratio: float | None
    """Of ln(said / true); 0 is no bias, +0.69 is twice as much."""
    spread_log_ratio: float | None
    """Standard deviation of ln(said / true)."""


class VolumeThird(msgspec.Struct, frozen=True):
    """Numbers asked for in mL, by thirds of the true volume."""

    third: str
    from_ml: float
    to_ml: float
    entries: list[Entry]


class Breakdowns(msgspec.Struct, frozen=True):
    """One run, broken down."""

    by: dict[str, dict[str, list[Entry]]]
    """Facet → group → entries; an item may stand in several groups of a facet (two structures)."""
    numbers: list[NumberError]
    sides: dict[str, dict[str, int]]
    """True side → what was said → how often, where the other side was offered as well."""
    volume_thirds: list[VolumeThird]
    sources: OverSources | None
    """Where the bench has several sources of data."""


def breakdowns(run: ScoredRun, *, seed: int = 0) -> Breakdowns:
    """Break down the scored answers of a run."""
    columns, replies = run.final, run.replies
    metrics = shown_in(Shown.BREAKDOWN)
    groups: dict[str, dict[str, list[int]]] = {facet: defaultdict(list) for facet in FACETS}
    for item_id, facets in facets_of(replies.bench, replies.items(), replies.viewing).items():
        for facet in FACETS:
            for group in facets[facet]:
                groups[facet][group].append(columns.places[item_id])
    by = {
        facet: {
            name: entries(columns.rows_at(rows), metrics, seed)
            for name, rows in sorted(own.items())
        }
        for facet, own in groups.items()
    }
    asked = [item for item in replies.items() if columns.counted[columns.places[item.item_id]]]
    rows = np.array([columns.places[item.item_id] for item in asked], dtype=np.int64)
    return Breakdowns(
        by=by,
        numbers=_numbers(asked, columns),
        sides=side_counts(asked, columns),
        volume_thirds=_volume_thirds(asked, columns, seed),
        sources=over_sources(
            columns.right[rows].astype(np.float64),
            columns.clusters[rows],
            [source_of(item) for item in asked],
        ),
    )


def _numbers(items: Iterable[Item], columns: Columns) -> list[NumberError]:
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for item in items:
        row = columns.places[item.item_id]
        if isinstance(item.answer, Number) and columns.predicted[row]:
            groups[item.task, item.answer.unit].append(row)
    return [
        _number_error(task, unit, rows, columns) for (task, unit), rows in sorted(groups.items())
    ]


def _number_error(task: str, unit: str, rows: Sequence[int], columns: Columns) -> NumberError:
    predictions = columns.predictions
    pairs = [(float(predictions[row] or 0), float(columns.truth[row])) for row in rows]
    gaps = np.array([said - true for said, true in pairs])
    logs = np.array([math.log(said / true) for said, true in pairs if said > 0 and true > 0])
    estimate = cluster_mean(gaps, columns.clusters[list(rows)], bounds=None)
    bias = float(gaps.mean())
    half = 1.96 * float(gaps.std(ddof=1)) if len(gaps) > 1 else None
    return NumberError(
        task,
        unit,
        len(rows),
        bias,
        estimate.ci95,
        None if half is None else bias - half,
        None if half is None else bias + half,
        float(np.median(logs)) if logs.size else None,
        float(logs.std(ddof=1)) if logs.size > 1 else None,
    )


def side_counts(items: Iterable[Item], columns: Columns) -> dict[str, dict[str, int]]:
    """True side → what was said → how often, where the other side was offered as well."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        if not isinstance(item.answer, Choice):
            continue
        offered = {side_of_value(option.value) for option in item.options}
        true = side_of_value(item.answer.value)
        if true and {"left", "right"} <= offered:
            counts[true][_said_side(item, columns)] += 1
    return {
        true: {said: counts[true][said] for said in SAID_SIDES}
        for true in ("left", "right")
        if counts[true]
    }


def _said_side(item: Item, columns: Columns) -> str:
    state, parsed = columns.reading(columns.places[item.item_id])
    if state != "answered":
        return "no answer"
    number = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".find(parsed)
    value = item.options[number].value if 0 <= number < len(item.options) else ""
    return side_of_value(value) or "other"


def _volume_thirds(items: Iterable[Item], columns: Columns, seed: int) -> list[VolumeThird]:
    asked = sorted(
        (item.answer.value, item.item_id)
        for item in items
        if isinstance(item.answer, Number) and item.answer.unit == "mL"
    )
    if len(asked) < len(_THIRDS):
        return []
    result = []
    for name, part in zip(_THIRDS, np.array_split(np.arange(len(asked)), len(_THIRDS))):
        group = [asked[number] for number in part]
        rows = columns.rows_at([columns.places[item_id] for _, item_id in group])
        third_entries = entries(rows, [MRA_VSI_CODE, WITHIN_INTERVAL], seed)
        result.append(VolumeThird(name, group[0][0], group[-1][0], third_entries))
    return result


def facet_table(name: str, groups: Mapping[str, list[Entry]]) -> Table:
    """One facet: a row per group, a column per metric that any group has."""
    metrics = [
        metric
        for metric in shown_in(Shown.BREAKDOWN)
        if any(_value(table, metric) is not None for table in groups.values())
    ]
    rows: list[tuple[Cell, ...]] = []
    for group, table in groups.items():
        accuracy = next((entry for entry in table if entry.metric == "accuracy"), None)
        interval = None if accuracy is None else accuracy.ci95
        n = accuracy.n if accuracy is not None else 0
        patients = accuracy.clusters if accuracy is not None else 0
        cells = [_value(table, metric) for metric in metrics]
        rows.append((group, n, patients, *cells, interval))
    columns = (name, "items", "patients", *metrics, "accuracy, 95 %")
    # The accuracies are read first; the other metrics are in the written tables.
    rare = [m for m in metrics if "@" in m or m == "accuracy.chance-adjusted"]
    styles = {metric: Style(detail=True) for metric in rare}
    styles["accuracy, 95 %"] = Style(ends=("accuracy low", "accuracy high"))
    caption = "Intervals are 95 %, over patients; under 10 patients there is none."
    return Table(f"by_{name}", f"Results by {name}", columns, tuple(rows), caption, styles)


def facet_matrix(
    runs: Mapping[str, Breakdowns], facet: str = "structure", metric: str = "accuracy"
) -> Table:
    """Group × run: the heatmap of organs (`structure`), or the radar of categories (`category`)."""
    groups = sorted({group for run in runs.values() for group in run.by.get(facet, {})})
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        values = [_value(run.by[facet].get(group, []), metric) for run in runs.values()]
        rows.append((group, *values))
    return Table(f"{facet}_by_run", f"{metric} by {facet} and run", (facet, *runs), tuple(rows))


def number_table(numbers: Sequence[NumberError]) -> Table:
    """Bias and limits of agreement."""
    columns = (
        "task",
        "unit",
        "answers",
        "bias",
        "bias, 95 %",
        "limits of agreement",
        "median ln ratio",
        "sd ln ratio",
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            e.task,
            e.unit,
            e.n,
            e.bias,
            e.ci95,
            _both(e.low, e.high),
            e.median_log_ratio,
            e.spread_log_ratio,
        )
        for e in numbers
    )
    caption = (
        "Bland–Altman: said − true, bias ± 1.96 standard deviations; the bias's interval is over"
        " patients."
    )
    styles = {
        "bias, 95 %": Style(ends=("bias low", "bias high")),
        "limits of agreement": Style(ends=("lower limit", "upper limit")),
    }
    title = "Numbers: bias and limits of agreement"
    return Table("number_errors", title, columns, rows, caption, styles)


def side_table(sides: Mapping[str, Mapping[str, int]]) -> Table:
    """True side × said side."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (true, *(said[name] for name in SAID_SIDES)) for true, said in sides.items()
    )
    caption = (
        "Questions that offer both sides; a reader who exchanges them fills the wrong diagonal."
    )
    return Table("sides", "Sides: true (rows) by said", ("true", *SAID_SIDES), rows, caption)


_MOST_GROUPS = 15
"""Rows of the summary: with the other tables of a terminal, about a page."""
_FEWEST_ITEMS = 5
"""Groups of fewer items differ by luck."""


def summary_table(run: Breakdowns) -> Table:
    """The groups of all facets that differ most from the run as a whole, by accuracy and by how
    many items they have.

    Tasks and strata are left out: they have tables of their own wherever this one is shown.
    """
    groups_found = [
        (facet, group, accuracy)
        for facet, groups in run.by.items()
        if facet not in ("task", "stratum")
        for group, table in groups.items()
        if (accuracy := _entry(table, "accuracy")) is not None and accuracy.n >= _FEWEST_ITEMS
    ]
    items = sum(accuracy.n for _, _, accuracy in groups_found)
    if not items:
        return Table("breakdown_summary", "Where it differs most", (), ())
    mean = sum(accuracy.n * (accuracy.value or 0.0) for _, _, accuracy in groups_found) / items
    ordered = sorted(
        groups_found, key=lambda one: -abs((one[2].value or 0.0) - mean) * math.sqrt(one[2].n)
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (facet, group, accuracy.n, accuracy.clusters, accuracy.value, accuracy.ci95)
        for facet, group, accuracy in ordered[:_MOST_GROUPS]
    )
    return Table(
        "breakdown_summary",
        "Where it differs most",
        ("by", "group", "items", "patients", "accuracy", "accuracy, 95 %"),
        rows,
        caption=(
            f"{len(rows)} of {len(groups_found)} groups, those farthest from the mean of all groups"
            f" ({mean:.3f}) for their size; --tables DIR writes all of them. A look at many groups"
            " finds some by luck."
        ),
        styles={"accuracy, 95 %": INTERVAL},
    )


def _entry(table: Sequence[Entry], metric: str) -> Entry | None:
    return next((entry for entry in table if entry.metric == metric), None)


def breakdown_tables(run: Breakdowns, *, brief: bool = False) -> list[Table]:
    """Every table that has rows; `brief`:
    one of the groups that differ most in place of a table for each facet."""
    if brief:
        tables = [summary_table(run), number_table(run.numbers), side_table(run.sides)]
        return [table for table in tables if table.rows]
    tables = [facet_table(facet, groups) for facet, groups in run.by.items()]
    tables += [number_table(run.numbers), side_table(run.sides)]
    thirds: tuple[tuple[Cell, ...], ...] = tuple(
        (
            one.third,
            one.from_ml,
            one.to_ml,
            *(_value(one.entries, m) for m in (MRA_VSI_CODE, WITHIN_INTERVAL)),
        )
        for one in run.volume_thirds
    )
    columns = ("third", "from mL", "to mL", MRA_VSI_CODE, WITHIN_INTERVAL)
    tables.append(Table("volume_thirds", "Volumes by thirds of their true size", columns, thirds))
    if run.sources is not None:
        tables.append(_source_table(run.sources))
    return [table for table in tables if table.rows]


def _source_table(sources: OverSources) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            one.source,
            one.n,
            one.clusters,
            one.value,
            one.ci95,
            one.without,
            one.macro_without,
        )
        for one in sources.sources
    ]
    rows.append(
        (
            "mean over sources",
            None,
            None,
            sources.macro,
            sources.macro_ci95,
            None,
            None,
        )
    )
    rows.append(("mean over items", None, None, sources.micro, None, None, None))
    columns = (
        "source",
        "items",
        "patients",
        "accuracy",
        "95 % interval",
        "without it",
        "mean over the other sources",
    )
    title = "Accuracy over sources, and without each"
    return Table("sources", title, columns, tuple(rows), styles={"95 % interval": INTERVAL})


def _value(table: Iterable[Entry], metric: str) -> float | None:
    return next((entry.value for entry in table if entry.metric == metric), None)


def _both(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low, high)
