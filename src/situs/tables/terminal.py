"""Tables on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Literal

from situs.base.text import printable
from situs.tables.table import Table

__all__ = ["print_table"]

_PROSE = 30
"""Letters of the longest cell from which a column holds sentences."""
_BESIDE = 3
"""Columns of the terminal that a cell takes beside its words."""
_WIDTH_OF_FILES = 120
"""Columns of a page where nobody knows how wide it will be read."""


def print_table(table: Table) -> None:
    """A table on standard output.

    From the second column on words stand to the right, as numbers do; prose stands to the left.
    Where no column has a name there is no header.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawn

    # In a file, who wants no colour wants no bold either, even if FORCE_COLOR is set as well.
    is_plain = not sys.stdout.isatty() and bool(os.environ.get("NO_COLOR"))
    forced = False if is_plain else None
    console = Console(highlight=False, markup=False, force_terminal=forced)
    if not console.is_terminal:
        width = max(_WIDTH_OF_FILES, console.width)
        console = Console(highlight=False, markup=False, force_terminal=forced, width=width)
    brief = table.brief()
    drawn = Drawn(box=box.SIMPLE_HEAD, show_header=any(brief.columns))
    rows = [[printable(word) for word in brief.words(row)] for row in brief.rows]
    widths = _widths([brief.columns, *rows], console.width - 1 - _BESIDE * len(brief.columns))
    for number, column in enumerate(brief.columns):
        is_prose = any(len(row[number]) > _PROSE for row in rows)
        justify: Literal["left", "right"] = "left" if is_prose or number == 0 else "right"
        of_column = widths[number] if widths else None
        drawn.add_column(column, justify=justify, overflow="fold", width=of_column)
    for row in rows:
        drawn.add_row(*row)
    console.print(printable(table.title), style="bold")
    console.print(drawn)
    if table.caption:
        console.print(printable(table.caption, lines=True), style="dim")
        console.print()


def _widths(lines: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """How wide each column is so that no word is broken;
    None where all fits as it is, or nothing helps."""
    from rich.cells import cell_len

    whole, least = [], []
    for cells in zip(*lines, strict=True):
        whole.append(max(cell_len(cell) for cell in cells))
        least.append(max(cell_len(word) for cell in cells for word in _unbroken(cell)))
    spare = room - sum(least)
    if sum(whole) <= room or spare < 0:
        return None
    widths = list(least)
    # Who lacks least is served first: the longest sentences are broken.
    order = sorted(range(len(least)), key=lambda number: whole[number] - least[number])
    for served, number in enumerate(order):
        more = min(whole[number] - least[number], spare // (len(order) - served))
        widths[number] += more
        spare -= more
    return widths


def _unbroken(cell: str) -> list[str]:
    """What of a cell stays on one line: its words, or all of an interval."""
    return cell.split() if any(map(str.isalpha, cell)) else [cell]
