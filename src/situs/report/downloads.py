"""Tables as links that download them."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from situs.tables import Table, csv_text

__all__ = ["csv_link", "table_of"]


def table_of(
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    caption: str = "",
) -> Table:
    """A table from lists; what is no word or number is none."""
    body = tuple(
        tuple(cell if isinstance(cell, str | int | float) else None for cell in row) for row in rows
    )
    return Table(name, title, tuple(columns), body, caption)


def csv_link(table: Table) -> str:
    """The table as a link that downloads it."""
    return "data:text/csv;charset=utf-8," + quote("\ufeff" + csv_text(table))
