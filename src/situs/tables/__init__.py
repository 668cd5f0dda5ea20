"""Small tables, and how they are shown: as text for a paper, in a notebook, as data frames."""

from situs.tables.display import Displayed, as_arrow, as_pandas, as_polars
from situs.tables.table import Cell, Table
from situs.tables.text import check_tables_folder, csv_text, latex_text, markdown_text, write_tables

__all__ = [
    "Cell",
    "Displayed",
    "Table",
    "as_arrow",
    "as_pandas",
    "as_polars",
    "check_tables_folder",
    "csv_text",
    "latex_text",
    "markdown_text",
    "write_tables",
]
