"""Tables as links that download them."""

from __future__ import annotations

from urllib.parse import quote

from situs.tables import Table, csv_text

__all__ = ["csv_link"]


def csv_link(table: Table) -> str:
    """The table as a link that downloads it."""
    return "data:text/csv;charset=utf-8," + quote("\ufeff" + csv_text(table))
