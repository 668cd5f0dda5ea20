"""The table for a paper: fractions of the leaderboard's per cent,
the best row that sees no image beside each model."""

from __future__ import annotations

from situs.report.tables.leaderboard import Board, BoardRow, Cell
from situs.report.tables.paper import paper_table
from situs.report.tables.standing import Gain
from situs.tables import Table, latex_text


def row(name: str, kind: str, share: float, gain: Gain | None = None) -> BoardRow:
    headline = Cell(share, share - 10, share + 8, n=40)
    return BoardRow("1", name, "", kind, headline, Cell(), Cell(), {}, {}, "default", gain=gain)


def board(*rows: BoardRow) -> Board:
    empty = Table("leaderboard", "", (), ())
    return Board(list(rows), [], [], empty, True, "", False, True, False, None)


def test_a_model_stands_beside_the_best_row_without_pictures() -> None:
    gain = Gain(12.5, -1.0, 26.0, 40, "text")
    table = paper_table(
        board(
            row("looker", "model", 70.0, gain),
            row("prior", "blind", 55.0),
            row("majority", "baseline", 57.5),
            row("oracle", "baseline", 100.0),
            row("looker (text only)", "text", 57.5),
        )
    )
    assert table is not None
    expected = ("looker", 0.7, (0.6, 0.78), 0.125, (-0.01, 0.26), "majority", 0.575, 40)
    assert table.rows == (expected,)
    assert "looker & 0.700 & 0.600" in latex_text(table)


def test_without_a_model_there_is_no_such_table() -> None:
    assert paper_table(board(row("prior", "blind", 55.0))) is None


def test_a_gain_is_told_in_one_line_or_two() -> None:
    gain = Gain(12.5, -1.0, 26.0, 40, "text")
    assert (gain.points, gain.bounds) == ("+12.5", "−1.0 to +26.0")
    assert gain.text == "+12.5 (−1.0 to +26.0)"
    few = Gain(-3.0, None, None, 4, "text")
    assert (few.text, few.bounds) == ("−3.0", "")
