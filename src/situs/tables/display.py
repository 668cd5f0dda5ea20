"""Results in a notebook or a Python prompt: as tables, and as data frames of other libraries."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from situs.base.text import printable
from situs.errors import SitusError, did_you_mean
from situs.tables.html import html_table
from situs.tables.table import Table, spread

__all__ = ["Displayed", "as_arrow", "as_pandas", "as_polars"]

_MOST_ROWS = 40
"""Of a table in a notebook; data frames have them all."""


class Displayed:
    """A result that shows itself as tables; each can be had as a data frame, the first unasked."""

    __slots__ = ()

    def tables(self) -> Sequence[Table]:
        """What the result says, a table each; the main one first."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n\n".join(_as_text(table) for table in self.tables())

    def _repr_html_(self) -> str:
        return "\n".join(
            html_table(table, most_rows=_MOST_ROWS, notes=_below_rows(table))
            for table in self.tables()
        )

    def table_names(self) -> list[str]:
        """What can be had as a data frame."""
        return [table.name for table in self.tables()]

    def to_arrow(self, table: str = "") -> Any:
        """The main table, or the one of a name, as a `pyarrow.Table`."""
        for one in self.tables():
            if table in ("", one.name):
                return as_arrow(one)
        fix = did_you_mean(table, self.table_names())
        raise SitusError(f"there is no table {table!r}", fix=fix)

    def to_pandas(self, table: str = "") -> Any:
        """The same as a `pandas.DataFrame`; pandas must be installed."""
        return as_pandas(self.to_arrow(table))

    def to_polars(self, table: str = "") -> Any:
        """The same as a `polars.DataFrame`; polars must be installed."""
        return as_polars(self.to_arrow(table))


def as_arrow(table: Table) -> Any:
    """A table as a `pyarrow.Table`: whole numbers, numbers and words keep their types."""
    import pyarrow as pa

    names, rows = spread(table)
    columns = {
        name or ("row" if number == 0 else f"column {number + 1}"): _column(
            [row[number] for row in rows]
        )
        for number, name in enumerate(names)
    }
    return pa.table(columns)


def as_pandas(arrow: Any) -> Any:
    """An Arrow table as a `pandas.DataFrame`."""
    _library("pandas")
    return arrow.to_pandas()


def as_polars(arrow: Any) -> Any:
    """An Arrow table as a `polars.DataFrame`."""
    return _library("polars").from_arrow(arrow)


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SitusError(
            f"{name} is not installed", fix=f"pip install {name}, or use to_arrow()"
        ) from error


def _column(cells: Sequence[str | int | float | None]) -> Any:
    import pyarrow as pa

    present = [cell for cell in cells if cell is not None]
    if any(isinstance(cell, str) for cell in present):
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    if present and all(isinstance(cell, int) for cell in present):
        return pa.array(cells, pa.int64())
    return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())


def _as_text(table: Table) -> str:
    rows = [table.columns, *(table.words(row) for row in table.rows[:_MOST_ROWS])]
    widths = [max(len(row[number]) for row in rows) for number in range(len(table.columns))]
    lines = [table.title]
    for row in rows:
        first, *others = row
        cells = [
            first.ljust(widths[0]),
            *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    lines += _below_rows(table)
    return printable("\n".join(lines), lines=True)


def _below_rows(table: Table) -> list[str]:
    """What stands below the rows."""
    more = len(table.rows) - _MOST_ROWS
    left_out = [f"… and {more:,} more rows"] if more > 0 else []
    return [*left_out, *([table.caption] if table.caption else [])]
