"""A small table: what every number that is shown is drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

__all__ = ["INTERVAL", "PLAIN", "SIGNED", "SIGNED_INTERVAL", "Cell", "Style", "Table", "spread"]

Interval = tuple[float, float]
"""Low and high."""

Cell = str | int | float | Interval | None
"""A word, a number, an interval, or nothing."""


class Style(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the numbers of a column are read out. Files for programs hold them in full."""

    digits: int = 3
    signed: bool = False
    """Differences show their plus."""
    scale: float = 1.0
    """What a number is multiplied with for readers: 100 for percent."""
    absent: str = "–"
    """What stands where there is nothing."""
    detail: bool = False
    """A column that a terminal has no room for."""
    ends: tuple[str, str] | None = None
    """A column of intervals: what its two ends are called where each needs a column of its own."""


PLAIN = Style()
SIGNED = Style(signed=True)
INTERVAL = Style(ends=("low", "high"))
SIGNED_INTERVAL = Style(signed=True, ends=("low", "high"), absent="none")


class Table(msgspec.Struct, frozen=True, omit_defaults=True):
    """Columns and rows, with what a reader must know in the caption."""

    name: str
    """Of the file it is written to."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    styles: Mapping[str, Style] = {}
    """By column; those not named are plain."""

    def style(self, column: str) -> Style:
        """How a column is read out."""
        return self.styles.get(column, PLAIN)

    def words(self, row: Sequence[Cell]) -> list[str]:
        """A row as it is read out."""
        return [_text(cell, self.style(name)) for name, cell in zip(self.columns, row, strict=True)]

    def brief(self) -> Table:
        """Without the columns that a terminal has no room for."""
        main_columns = [n for n, name in enumerate(self.columns) if not self.style(name).detail]
        return msgspec.structs.replace(
            self,
            columns=tuple(self.columns[number] for number in main_columns),
            rows=tuple(tuple(row[number] for number in main_columns) for row in self.rows),
        )


def spread(table: Table) -> tuple[list[str], list[list[str | int | float | None]]]:
    """Columns and rows for programs: an interval becomes two columns of numbers."""
    columns: list[str] = []
    for name in table.columns:
        columns += table.style(name).ends or (name,)
    rows = []
    for row in table.rows:
        cells: list[str | int | float | None] = []
        for name, cell in zip(table.columns, row, strict=True):
            if isinstance(cell, tuple):
                cells += cell
            else:
                cells += [cell] * len(table.style(name).ends or (name,))
        rows.append(cells)
    return columns, rows


def _text(cell: Cell, style: Style) -> str:
    match cell:
        case None:
            return style.absent
        case (low, high):
            between = " to " if style.signed else " – "
            return between.join(_number(end, style) for end in (low, high))
        case float():
            return _number(cell, style)
        case int():
            return f"{cell:,}"
        case _:
            return cell


def _number(value: float, style: Style) -> str:
    sign = "+" if style.signed else ""
    return f"{style.scale * value:{sign},.{style.digits}f}"
