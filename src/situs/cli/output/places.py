"""How boxes, frames, sets and grades read in a terminal, and the published scores of SGMRI-VQA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from situs.cli.output.numbers import entry_of, interval_text, value_text
from situs.cli.output.printing import print_table

if TYPE_CHECKING:
    from situs.score import Entry, Scores, SgmriTable

__all__ = ["print_places", "print_sgmri"]

_TABLES = (
    ("boxes", "box.", "Boxes match one to one, on the same picture and under the same label."),
    ("frames", "frames.", ""),
    ("several options", "choices.", ""),
    ("grades", "grade.", "Exact and within one count unanswered sub-scores as wrong."),
    ("what and where", "grounded.", "Right answer and right place: both, one of them, neither."),
)
_MOST_ROWS = 40
_SHORT = {"box.f1-at-0.5@1": "F1 at .5", "box.tube-iou@1": "tube IoU"}


def print_places(name: str, scores: Scores) -> None:
    """A table for each form of answer that the run has, with the blind rows as columns."""
    for title, prefix, caption in _TABLES:
        metrics = [entry.metric for entry in scores.overall if entry.metric.startswith(prefix)]
        if not metrics:
            continue
        inferred = entry_of(scores.overall, "places.inferred")
        if prefix == "box." and inferred is not None and inferred.value:
            count = round(inferred.value * inferred.n)
            caption += f" {count:,} of {inferred.n:,} answers were read otherwise than the profile declares."
        blind = {
            row: table.overall
            for row, table in scores.baselines.items()
            if entry_of(table.overall, metrics[0])
        }
        columns = ["", "n", name, "95 % interval", *blind]
        print_table(
            title, columns, [_row(metric, scores, blind) for metric in metrics], caption.strip()
        )
    if scores.by_subscore:
        majority = scores.baselines.get("majority")
        _print_grades(
            name, "sub-score", scores.by_subscore, majority.by_subscore if majority else {}
        )
        for kind in ("family", "region"):
            tables = {
                tag.partition(":")[2]: own
                for tag, own in scores.by_tag.items()
                if tag.startswith(f"{kind}:")
            }
            blind = majority.by_tag if majority else {}
            _print_grades(
                name, kind, tables, {tag.partition(":")[2]: own for tag, own in blind.items()}
            )


def _row(metric: str, scores: Scores, blind: Mapping[str, list[Entry]]) -> list[str]:
    entry = entry_of(scores.overall, metric)
    others = (value_text(entry_of(table, metric)) for table in blind.values())
    return [
        metric,
        f"{entry.n:,}" if entry else "",
        value_text(entry),
        interval_text(entry),
        *others,
    ]


def _print_grades(
    name: str, kind: str, tables: Mapping[str, list[Entry]], majority: Mapping[str, list[Entry]]
) -> None:
    """Grades by sub-score, family or region, beside the majority grade; nothing if there are none."""
    shown = ("grade.exact@1", "grade.within-one@1", "grade.quadratic-kappa@1")
    rows = []
    for own, table in list(tables.items())[:_MOST_ROWS]:
        exact = entry_of(table, shown[0])
        others = value_text(entry_of(majority.get(own), shown[0]))
        values = [value_text(entry_of(table, metric)) for metric in shown]
        rows.append([own, f"{exact.n:,}" if exact else "", *values, others])
    more = len(tables) - len(rows)
    columns = [kind, "n", f"{name}: exact", "within one", "quadratic κ", "majority: exact"]
    if rows:
        print_table(
            f"grades by {kind}", columns, rows, f"{more} more in scores.json." if more > 0 else ""
        )


def print_sgmri(name: str, scores: Scores) -> None:
    """The published columns, in percent as published, with ours and the blind rows beside them."""
    for table in scores.sgmri:
        blind = sorted({row for cell in table.cells for row in cell.blind}, key=_order)
        rows = [
            [
                cell.column,
                f"{cell.n:,}",
                _percent(cell.value),
                ", ".join(
                    f"{_SHORT.get(name, name)} {_percent(value)}"
                    for name, value in cell.ours.items()
                )
                or "–",
                *(_percent(cell.blind.get(row)) for row in blind),
            ]
            for cell in table.cells
        ]
        rows.append(
            ["Avg (plain mean)", "", _percent(table.average), "–", *_averages(table, blind)]
        )
        columns = ["%", "n", name, "ours, same items", *blind]
        level = "image" if table.level == "slice" else "volume"
        print_table(
            f"SGMRI-VQA as published, {level} level",
            columns,
            rows,
            f"Avg is over these six columns. {'; '.join(table.notes)}.",
        )
    for lacking in scores.not_computed if scores.sgmri else ():
        if lacking.metric == "bertscore":
            print_table(
                "not computed: bertscore", ["why", "remedy"], [[lacking.reason, lacking.fix]]
            )


def _averages(table: SgmriTable, blind: Sequence[str]) -> list[str]:
    columns = [[cell.blind.get(row) for cell in table.cells] for row in blind]
    return [_percent(_mean(values)) for values in columns]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _order(row: str) -> tuple[int, str]:
    known = ("random", "majority", "prior", "prior?boxes=5", "grid")
    return (known.index(row) if row in known else len(known)), row


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"
