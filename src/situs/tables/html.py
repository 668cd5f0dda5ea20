"""Tables as HTML: in a notebook, and in the report."""

from __future__ import annotations

import html
from collections.abc import Sequence

from situs.tables.table import Cell, Table

__all__ = ["html_body", "html_table"]


def html_table(table: Table, *, most_rows: int, notes: Sequence[str] = ()) -> str:
    """A whole table with its title and what stands below it,
    for a page without styles of its own."""
    below = "".join(f"<p><small>{html.escape(text)}</small></p>" for text in notes)
    title = f"<caption>{html.escape(table.title)}</caption>"
    return f"<table>{title}{html_body(table, most_rows=most_rows)}</table>{below}"


def html_body(table: Table, *, most_rows: int | None = None) -> str:
    """Head and rows. The first cell of a row names it;
    numbers, and what stands in for one, are `num`."""
    numeric = {
        number
        for number, name in enumerate(table.columns)
        if table.style(name).ends or any(_is_number(row[number]) for row in table.rows)
    }
    head = "".join(
        f'<th scope="col"{_class(number, number in numeric)}>{html.escape(name)}</th>'
        for number, name in enumerate(table.columns)
    )
    rows = "".join(
        f"<tr>{_row(table, row, numeric)}</tr>" for row in table.rows[slice(None, most_rows)]
    )
    return f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"


def _row(table: Table, row: Sequence[Cell], numeric: set[int]) -> str:
    cells = []
    for number, (cell, text) in enumerate(zip(row, table.words(row), strict=True)):
        kind = _class(number, number in numeric and not isinstance(cell, str))
        tag, scope = ("th", ' scope="row"') if number == 0 else ("td", "")
        cells.append(f"<{tag}{scope}{kind}>{html.escape(text)}</{tag}>")
    return "".join(cells)


def _class(number: int, is_numeric: bool) -> str:
    if number == 0:
        return ' class="sticky"'
    return ' class="num"' if is_numeric else ""


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float | tuple)
