"""The table a paper prints: each model with its headline,
its sight gain, and the best row that sees no image."""

from __future__ import annotations

from collections.abc import Sequence

from situs.report.tables.leaderboard import Board, BoardRow
from situs.tables import INTERVAL, SIGNED, SIGNED_INTERVAL, Cell, Table

__all__ = ["paper_table"]

_COLUMNS = (
    "model",
    "headline",
    "95 % interval",
    "sight gain",
    "gain interval",
    "best blind row",
    "its headline",
    "n",
)
_STYLES = {
    "95 % interval": INTERVAL,
    "sight gain": SIGNED,
    "gain interval": SIGNED_INTERVAL,
}


def paper_table(board: Board) -> Table | None:
    """Models only, in the order of the leaderboard, all as fractions;
    None where nothing competes."""
    models = [row for row in board.rows if row.kind == "model" and row.headline.value is not None]
    if not models:
        return None
    best = _best_blind(board.rows)
    return Table(
        "paper",
        "Headline accuracy and sight gain",
        _COLUMNS,
        tuple(_row(model, best) for model in models),
        caption="Headline: share of right answers to the questions with options that cannot be "
        "answered from their words alone. Sight gain: headline minus that of the better of the "
        "model's own two runs without pictures. Intervals: 95 %, over patients. Best blind row: "
        "the best of the baselines that see no image.",
        styles=_STYLES,
    )


def _best_blind(rows: Sequence[BoardRow]) -> BoardRow | None:
    blind = [row for row in rows if row.kind in ("blind", "baseline")]
    scored = [row for row in blind if row.headline.value is not None and row.name != "oracle"]
    return max(scored, key=lambda row: row.headline.value or 0.0, default=None)


def _row(model: BoardRow, best: BoardRow | None) -> tuple[Cell, ...]:
    headline, gain = model.headline, model.gain
    return (
        model.name,
        _share(headline.value),
        _span(headline.low, headline.high),
        None if gain is None else gain.value / 100,
        None if gain is None else _span(gain.low, gain.high),
        None if best is None else best.name,
        None if best is None else _share(best.headline.value),
        headline.n,
    )


def _share(per_cent: float | None) -> float | None:
    return None if per_cent is None else per_cent / 100


def _span(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low / 100, high / 100)
