"""The tables of `situs score`, for a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from situs.score._entries import Entry
from situs.score._scores import Scores
from situs.score._tables import Cell, Table

__all__ = ["score_tables"]


def score_tables(scores: Scores) -> list[Table]:
    """Overall with the blind rows as columns, and accuracy by task and stratum beside them."""
    blind = {name: table.overall for name, table in scores.baselines.items()}
    rows: list[tuple[Cell, ...]] = []
    for entry in scores.overall:
        low, high = entry.ci95 or (None, None)
        others = [_value(table, entry.metric) for table in blind.values()]
        rows.append((entry.metric, entry.n, entry.clusters, entry.value, low, high, *others))
    gain = scores.over_best_shortcut
    if gain is not None:
        low, high = gain.ci95 or (None, None)
        name = f"accuracy minus the best blind row ({gain.best})"
        rows.append((name, gain.n, gain.patients, gain.value, low, high, *(None for _ in blind)))
    columns = ("metric", "items", "patients", "value", "low", "high", *blind)
    caption = "Unparsed and refused answers count as not right. Intervals are 95 %, over patients."
    return [
        Table("overall", "Overall, beside what one gets without looking", columns, tuple(rows), caption),
        _grouped("task", scores.by_task, {name: table.by_task for name, table in scores.baselines.items()}),
        _grouped("stratum", scores.by_stratum, {name: table.by_stratum for name, table in scores.baselines.items()}),
    ]


def _grouped(name: str, own: Mapping[str, list[Entry]], blind: Mapping[str, Mapping[str, list[Entry]]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group, table in own.items():
        entry = next((one for one in table if one.metric == "accuracy"), None)
        if entry is not None:
            low, high = entry.ci95 or (None, None)
            others = [_value(other.get(group, ()), "accuracy") for other in blind.values()]
            rows.append((group, entry.n, entry.clusters, entry.value, low, high, _value(table, "chance"), *others))
    columns = (name, "items", "patients", "accuracy", "low", "high", "chance", *blind)
    return Table(
        f"accuracy_by_{name}", f"Accuracy by {name}, beside what one gets without looking", columns, tuple(rows)
    )


def _value(table: Sequence[Entry], metric: str) -> float | None:
    return next((entry.value for entry in table if entry.metric == metric), None)
