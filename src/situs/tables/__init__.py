"""Small tables, and how they are shown:
on a terminal, as text for a paper, as HTML, as data frames."""

from situs.tables.display import Displayed, as_arrow, as_pandas, as_polars
from situs.tables.html import html_body
from situs.tables.table import INTERVAL, SIGNED, SIGNED_INTERVAL, Cell, Style, Table
from situs.tables.terminal import print_table
from situs.tables.text import (
    check_tables_folder,
    csv_text,
    latex_text,
    markdown_text,
    table_files,
    write_tables,
)

__all__ = [
    "INTERVAL",
    "SIGNED",
    "SIGNED_INTERVAL",
    "Cell",
    "Displayed",
    "Style",
    "Table",
    "as_arrow",
    "as_pandas",
    "as_polars",
    "check_tables_folder",
    "csv_text",
    "html_body",
    "latex_text",
    "markdown_text",
    "print_table",
    "table_files",
    "write_tables",
]
