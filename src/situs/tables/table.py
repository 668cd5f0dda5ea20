"""A small table: what every number that is shown is drawn from."""

from __future__ import annotations

import msgspec

__all__ = ["Cell", "Table"]

Cell = str | int | float | None
"""A word, a number, or nothing."""


class Table(msgspec.Struct, frozen=True):
    """Columns and rows, with what a reader must know in the caption."""

    name: str
    """Of the file it is written to."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
