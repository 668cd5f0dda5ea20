"""Free text: what judges said, and how the wording compares, as `situs score` last found it."""

from __future__ import annotations

from collections.abc import Sequence

from situs.report.scored import ReportedRun, entry_of
from situs.run import blind_rows
from situs.score import Entry
from situs.tables import Cell, Style, Table

__all__ = ["wording_of"]

_WORDING = ("fact_f1", "fact_f1.side", "rougeL", "meteor", "bleu", "sbert", "token_f1", "exact")
_BLIND = {
    **blind_rows("text"),
    "other-patient": "another patient's gold answer: wrong",
    "side-flipped": "the gold answer with left and right swapped: wrong",
}


def wording_of(runs: Sequence[ReportedRun]) -> Table | None:
    """Runs and blind rows against the jury, each judge and the text metrics;
    None if nothing was scored so."""
    scored_runs = [(run.name, run.kept.overall) for run in runs if run.kept is not None]
    widest = max(
        (run.kept for run in runs if run.kept is not None),
        key=lambda s: s.overall[0].n if s.overall else 0,
        default=None,
    )
    if widest is None:
        return None
    rows: list[tuple[str, str, Sequence[Entry]]] = [
        (name, "", entries) for name, entries in scored_runs
    ]
    rows += [
        (name, _BLIND[name], table.overall)
        for name in _BLIND
        if (table := widest.baselines.get(name)) and table.overall
    ]
    judges = sorted(
        {
            e.metric
            for _, _, es in rows
            for e in es
            if e.metric.startswith("judge.") and e.metric.count(".") == 1
        }
    )
    metrics = [m for m in ("jury", *judges, *_WORDING) if any(entry_of(es, m) for _, _, es in rows)]
    if not metrics:
        return None
    columns, styles = ["answers", "what"], {}
    for metric in metrics:
        interval = f"{metric}, 95 %"
        columns += [metric, interval]
        styles[metric], styles[interval] = _styles(metric)
    body = tuple(
        (name, note or "run", *(cell for m in metrics for cell in _cells(entry_of(es, m))))
        for name, note, es in rows
    )
    note = (
        "Judges: share called right, in percent. Wording never ranks: two of the rows are wrong by"
        " construction. Intervals are over patients."
    )
    title = "Free text: judges and wording"
    return Table("wording", title, tuple(columns), body, note, styles)


def _styles(metric: str) -> tuple[Style, Style]:
    is_share = metric == "jury" or metric.startswith("judge.")
    scale, digits = (100.0, 1) if is_share else (1.0, 1 if metric == "bleu" else 3)
    ends = (f"{metric} low", f"{metric} high")
    return Style(digits=digits, scale=scale), Style(digits=digits, scale=scale, ends=ends)


def _cells(entry: Entry | None) -> tuple[Cell, Cell]:
    return (None, None) if entry is None else (entry.value, entry.ci95)
