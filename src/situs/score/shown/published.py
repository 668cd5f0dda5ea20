"""The published scores of SGMRI-VQA, in percent as published,
with ours and the blind rows beside them."""

from __future__ import annotations

from collections.abc import Sequence

from situs.score.published.sgmri_tables import SgmriTable
from situs.score.shown.judged import not_computed_tables
from situs.score.table import Scores
from situs.tables import Cell, Style, Table

__all__ = ["sgmri_score_tables"]

_PERCENT = Style(digits=2, scale=100.0)
_SHORT = {"box.f1-at-0.5@1": "F1 at .5", "box.tube-iou@1": "tube IoU"}
_BLIND_ORDER = ("random", "majority", "prior", "prior?boxes=5", "grid")


def sgmri_score_tables(scores: Scores, name: str) -> list[Table]:
    """A table a level; nothing for other benches."""
    if not scores.sgmri:
        return []
    tables = [_level_table(table, name) for table in scores.sgmri]
    return [*tables, *not_computed_tables(scores, ["bertscore"])]


def _level_table(table: SgmriTable, name: str) -> Table:
    blind = sorted({row for cell in table.cells for row in cell.blind}, key=_order)
    rows: list[tuple[Cell, ...]] = []
    for cell in table.cells:
        ours = [f"{_SHORT.get(key, key)} {_percent(value)}" for key, value in cell.ours.items()]
        others = (cell.blind.get(row) for row in blind)
        rows.append((cell.column, cell.n, cell.value, ", ".join(ours) or None, *others))
    means = (_mean([cell.blind.get(row) for cell in table.cells]) for row in blind)
    rows.append(("Avg (plain mean)", None, table.average, None, *means))
    level = "image" if table.level == "slice" else "volume"
    return Table(
        f"sgmri_{level}",
        f"SGMRI-VQA as published, {level} level",
        ("%", "items", name, "ours, same items", *blind),
        tuple(rows),
        f"Avg is over these six columns. {'; '.join(table.notes)}.",
        dict.fromkeys((name, *blind), _PERCENT),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _order(row: str) -> tuple[int, str]:
    known = row in _BLIND_ORDER
    return (_BLIND_ORDER.index(row) if known else len(_BLIND_ORDER)), row


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"
