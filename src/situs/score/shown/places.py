"""Tables of boxes, frames, sets and grades."""

from __future__ import annotations

from collections.abc import Mapping

from situs.score.shown.entries import entry_of
from situs.score.table import Scores
from situs.score.table_entries import Entry
from situs.tables import INTERVAL, Cell, Table

__all__ = ["place_tables"]

_FORMS = (
    ("boxes", "box.", "Boxes match one to one, on the same picture and under the same label."),
    ("frames", "frames.", ""),
    ("several options", "choices.", ""),
    ("grades", "grade.", "Exact and within one count unanswered sub-scores as wrong."),
    ("what and where", "grounded.", "Right answer and right place: both, one of them, neither."),
)
_GRADES = ("grade.exact@1", "grade.within-one@1", "grade.quadratic-kappa@1")
_MOST_ROWS = 40


def place_tables(scores: Scores, name: str) -> list[Table]:
    """A table for each form of answer that the run has, with the blind rows as columns."""
    tables = []
    for title, prefix, caption in _FORMS:
        metrics = [entry.metric for entry in scores.overall if entry.metric.startswith(prefix)]
        if metrics:
            full_caption = f"{caption}{_read_otherwise(scores) if prefix == 'box.' else ''}".strip()
            tables.append(_form_table(scores, name, title, metrics, full_caption))
    return tables + _grade_tables(scores, name)


def _form_table(scores: Scores, name: str, title: str, metrics: list[str], caption: str) -> Table:
    blind = {
        row: table.overall
        for row, table in scores.baselines.items()
        if entry_of(table.overall, metrics[0])
    }
    rows: list[tuple[Cell, ...]] = []
    for metric in metrics:
        entry = entry_of(scores.overall, metric)
        others = (_value(table, metric) for table in blind.values())
        cells = (None, None, None) if entry is None else (entry.n, entry.value, entry.ci95)
        rows.append((metric, *cells, *others))
    columns = ("metric", "items", name, "95 % interval", *blind)
    file_name = title.replace(" ", "_")
    return Table(file_name, title.capitalize(), columns, tuple(rows), caption, _STYLES)


_STYLES = {"95 % interval": INTERVAL}


def _read_otherwise(scores: Scores) -> str:
    inferred = entry_of(scores.overall, "places.inferred")
    if inferred is None or not inferred.value:
        return ""
    count = round(inferred.value * inferred.n)
    return f" {count:,} of {inferred.n:,} answers were read otherwise than the profile declares."


def _grade_tables(scores: Scores, name: str) -> list[Table]:
    """Grades by sub-score, family and region, beside the majority grade."""
    if not scores.by_subscore:
        return []
    majority = scores.baselines.get("majority")
    groups = [("sub-score", scores.by_subscore, majority.by_subscore if majority else {})]
    for kind in ("family", "region"):
        blind = majority.by_tag if majority else {}
        groups.append((kind, _of_kind(scores.by_tag, kind), _of_kind(blind, kind)))
    return [_by_group(name, *group) for group in groups if group[1]]


def _of_kind(by_tag: Mapping[str, list[Entry]], kind: str) -> dict[str, list[Entry]]:
    """The tags `family:…`, by what follows."""
    start = f"{kind}:"
    return {tag.removeprefix(start): own for tag, own in by_tag.items() if tag.startswith(start)}


def _by_group(
    name: str, kind: str, groups: Mapping[str, list[Entry]], majority: Mapping[str, list[Entry]]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group, table in list(groups.items())[:_MOST_ROWS]:
        exact = entry_of(table, _GRADES[0])
        values = (_value(table, metric) for metric in _GRADES)
        beside = _value(majority.get(group, []), _GRADES[0])
        rows.append((group, None if exact is None else exact.n, *values, beside))
    more = len(groups) - len(rows)
    columns = (kind, "items", f"{name}: exact", "within one", "quadratic κ", "majority: exact")
    caption = f"{more:,} more in scores.json." if more > 0 else ""
    return Table(f"grades_by_{kind}", f"Grades by {kind}", columns, tuple(rows), caption)


def _value(table: list[Entry], metric: str) -> float | None:
    entry = entry_of(table, metric)
    return None if entry is None else entry.value
