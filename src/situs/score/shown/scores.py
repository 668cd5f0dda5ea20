"""The tables of `situs score`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from situs.score.headline import Headline
from situs.score.metrics.registry import Shown, shown_in
from situs.score.shown.judged import judged_tables
from situs.score.shown.places import place_tables
from situs.score.shown.published import sgmri_score_tables
from situs.score.table import Scores
from situs.score.table_entries import Entry, closed_or_all
from situs.tables import INTERVAL, Cell, Style, Table

__all__ = ["score_tables"]

_INTERVAL = "95 % interval"
_STYLES = {_INTERVAL: INTERVAL, "patients": Style(detail=True)}


def score_tables(scores: Scores, name: str = "", *, brief: bool = False) -> list[Table]:
    """All that the scores say.

    `name` heads the run's values; `brief` leaves out metrics that are rarely read.
    """
    return [
        *_headline(scores, name or "value"),
        _overall(scores, name or "value", shown_in(Shown.TERMINAL) if brief else None),
        *_grouped("stratum", scores, name or "accuracy"),
        *_grouped("task", scores, name or "accuracy"),
        *place_tables(scores, name or "value"),
        *judged_tables(scores, name or "share"),
        *sgmri_score_tables(scores, name or "score"),
    ]


def _overall(scores: Scores, name: str, metrics: Sequence[str] | None) -> Table:
    """Every metric with the blind rows as columns."""
    listed = [e for e in scores.overall if metrics is None or e.metric in metrics]
    wanted = {entry.metric for entry in listed}
    blind = {
        row: table.overall
        for row, table in scores.baselines.items()
        if any(entry.metric in wanted for entry in table.overall)
    }
    rows: list[tuple[Cell, ...]] = []
    for entry in listed:
        others = (_value(table, entry.metric) for table in blind.values())
        rows.append((entry.metric, entry.n, entry.clusters, entry.value, entry.ci95, *others))
    first = scores.overall[0].states if scores.overall else {}
    states = ", ".join(f"{state} {count:,}" for state, count in first.items())
    caption = (
        f"{states}. Unparsed and refused answers count as not right; a number is right inside its "
        "interval. Intervals are over patients."
    )
    return Table(
        "overall",
        "All items of all kinds, beside the blind rows",
        ("metric", "items", "patients", name, _INTERVAL, *blind),
        tuple(rows),
        caption,
        _STYLES,
    )


def _grouped(kind: str, scores: Scores, name: str) -> list[Table]:
    """Accuracy by stratum or task; nothing where there is none."""
    is_task = kind == "task"
    run_groups = scores.by_task if is_task else scores.by_stratum
    blind = {
        row: table.by_task if is_task else table.by_stratum
        for row, table in scores.baselines.items()
    }
    rows: list[tuple[Cell, ...]] = []
    for group, table in run_groups.items():
        metric = closed_or_all(table)
        entry = next((one for one in table if one.metric == metric), None)
        if entry is not None:
            others = (_value(other.get(group, ()), metric) for other in blind.values())
            counts = (entry.n, entry.clusters)
            chance = _value(table, "chance")
            rows.append((group, *counts, entry.value, entry.ci95, chance, *others))
    grouped = Table(
        f"accuracy_by_{kind}",
        f"Accuracy by {kind}, beside the blind rows",
        (kind, "items", "patients", name, _INTERVAL, "chance", *blind),
        tuple(rows),
        "Questions with options, where there are any; else all.",
        _STYLES,
    )
    return [grouped] if rows else []


def _headline(scores: Scores, name: str) -> list[Table]:
    """The one number of the run, chance and blind rows on the same items; numbers apart."""
    headline = scores.headline
    if headline is None or headline.value is None:
        return []
    blind = {
        row: table.headline
        for row, table in scores.baselines.items()
        if table.headline is not None and table.headline.value is not None
    }
    rows: list[tuple[Cell, ...]] = [_accuracy_row(headline, blind)]
    gain = scores.over_best_shortcut
    if gain is not None and gain.value is not None:
        what = f"accuracy minus the best blind row ({gain.best})"
        nothing = (None for _ in blind)
        rows.append((what, gain.n, gain.patients, gain.value, gain.ci95, None, *nothing))
    skill = headline.numbers
    if skill is not None and skill.value is not None:
        others = (None if t.numbers is None else t.numbers.value for t in blind.values())
        what = "numbers: skill over the prior"
        rows.append((what, skill.n, skill.clusters, skill.value, skill.ci95, None, *others))
    caption = (
        f"{headline.items[:1].upper()}{headline.items[1:]}. Unparsed and refused answers count as"
        " not right. Chance and blind rows are of the same items. Intervals are over patients."
    )
    if scores.same_patient is not None:
        # Of the bench as a whole, which the profile may not show: no row beside the run's own.
        caption += f" {scores.same_patient.words}"
    return [
        Table(
            "headline",
            "Headline",
            ("", "items", "patients", name, _INTERVAL, "chance", *blind),
            tuple(rows),
            caption,
            {_INTERVAL: INTERVAL},
        )
    ]


def _accuracy_row(own: Headline, blind: Mapping[str, Headline]) -> tuple[Cell, ...]:
    others = (table.value for table in blind.values())
    return ("accuracy", own.n, own.patients, own.value, own.ci95, own.chance, *others)


def _value(table: Sequence[Entry], metric: str) -> float | None:
    return next((entry.value for entry in table if entry.metric == metric), None)
