"""The tables of `situs score`, for a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from situs.score.headline import Headline
from situs.score.table import Scores
from situs.score.table_entries import Entry, closed_or_all
from situs.tables import Cell, Table

__all__ = ["score_tables"]


def score_tables(scores: Scores) -> list[Table]:
    """Overall with the blind rows as columns, and accuracy by task and stratum beside them."""
    blind = {name: table.overall for name, table in scores.baselines.items()}
    rows: list[tuple[Cell, ...]] = []
    for entry in scores.overall:
        low, high = entry.ci95 or (None, None)
        others = [_value(table, entry.metric) for table in blind.values()]
        rows.append((entry.metric, entry.n, entry.clusters, entry.value, low, high, *others))
    columns = ("metric", "items", "patients", "value", "low", "high", *blind)
    caption = "Unparsed and refused answers count as not right. Intervals are 95 %, over patients."
    return [
        *_headline(scores),
        Table(
            "overall",
            "All items of all kinds, beside what one gets without looking",
            columns,
            tuple(rows),
            caption,
        ),
        _grouped(
            "task",
            scores.by_task,
            {name: table.by_task for name, table in scores.baselines.items()},
        ),
        _grouped(
            "stratum",
            scores.by_stratum,
            {name: table.by_stratum for name, table in scores.baselines.items()},
        ),
    ]


def _grouped(
    name: str, own: Mapping[str, list[Entry]], blind: Mapping[str, Mapping[str, list[Entry]]]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group, table in own.items():
        metric = closed_or_all(table)
        entry = next((one for one in table if one.metric == metric), None)
        if entry is not None:
            low, high = entry.ci95 or (None, None)
            others = [_value(other.get(group, ()), metric) for other in blind.values()]
            rows.append(
                (
                    group,
                    entry.n,
                    entry.clusters,
                    entry.value,
                    low,
                    high,
                    _value(table, "chance"),
                    *others,
                )
            )
    columns = (name, "items", "patients", "accuracy", "low", "high", "chance", *blind)
    return Table(
        f"accuracy_by_{name}",
        f"Accuracy by {name}, beside what one gets without looking",
        columns,
        tuple(rows),
        "Questions with options, where there are any; else all.",
    )


def _headline(scores: Scores) -> list[Table]:
    """The one number of the run, chance and blind rows on the same items; numbers apart."""
    own = scores.headline
    if own is None or own.value is None:
        return []
    blind = {
        name: table.headline
        for name, table in scores.baselines.items()
        if table.headline is not None
    }
    rows: list[tuple[Cell, ...]] = [_row("accuracy", own, blind)]
    gain = scores.over_best_shortcut
    nothing = [None for _ in blind]
    if gain is not None:
        low, high = gain.ci95 or (None, None)
        name = f"accuracy minus the best blind row ({gain.best})"
        rows.append((name, gain.n, gain.patients, gain.value, low, high, None, *nothing))
    skill = own.numbers
    if skill is not None:
        low, high = skill.ci95 or (None, None)
        others = [
            None if table.numbers is None else table.numbers.value for table in blind.values()
        ]
        name = "numbers: skill over the mean"
        rows.append((name, skill.n, skill.clusters, skill.value, low, high, None, *others))
    columns = ("", "items", "patients", "value", "low", "high", "chance", *blind)
    caption = (
        f"{own.items.capitalize()}. Unparsed and refused answers count as not right. Chance and blind rows are of the "
        "same items. Intervals are 95 %, over patients."
    )
    return [Table("headline", "Headline", columns, tuple(rows), caption)]


def _row(name: str, own: Headline, blind: Mapping[str, Headline]) -> tuple[Cell, ...]:
    low, high = own.ci95 or (None, None)
    others = [table.value for table in blind.values()]
    return (name, own.n, own.patients, own.value, low, high, own.chance, *others)


def _value(table: Sequence[Entry], metric: str) -> float | None:
    return next((entry.value for entry in table if entry.metric == metric), None)
