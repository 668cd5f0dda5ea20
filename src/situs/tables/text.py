"""Tables as text for a paper or a spreadsheet: CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterable
from pathlib import Path

from situs.base.files import file_name, write_all
from situs.base.text import markdown_safe
from situs.errors import SitusError
from situs.tables.table import Table, spread

__all__ = [
    "check_tables_folder",
    "csv_text",
    "latex_text",
    "markdown_text",
    "table_files",
    "write_tables",
]

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "−": "$-$", "×": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\geq$", "≤": r"$\leq$", "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}",
    "<": r"\textless{}",
    ">": r"\textgreater{}", "→": r"$\to$",
}  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(table: Table) -> str:
    """Full precision, empty for nothing, an interval in two columns.

    Words that a spreadsheet would run as a formula get an apostrophe.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    columns, rows = spread(table)
    writer.writerow(columns)
    writer.writerows([_csv_cell(cell) for cell in row] for row in rows)
    return stream.getvalue()


def _csv_cell(cell: str | int | float | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return f"'{cell}" if cell.startswith(_FORMULA) and not _is_number(cell) else cell
    return repr(cell)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def markdown_text(table: Table) -> str:
    """A pipe table under its title, with the caption behind it."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(map(markdown_safe, cells)) + " |"

    rule = ["---" if number == 0 else "---:" for number in range(len(table.columns))]
    lines = [f"**{markdown_safe(table.title)}**", "", line(table.columns), line(rule)]
    lines += [line(table.words(row)) for row in table.rows]
    return (
        "\n".join([*lines, *(["", markdown_safe(table.caption)] if table.caption else [])]) + "\n"
    )


def latex_text(table: Table) -> str:
    """A `table` for booktabs."""

    def line(cells: Iterable[str]) -> str:
        return " & ".join(map(_latex_cell, cells)) + r" \\"

    caption = f"{table.title}. {table.caption}".strip()
    lines = [
        r"\begin{table}",
        r"\centering",
        r"\begin{tabular}{l" + "r" * (len(table.columns) - 1) + "}",
        r"\toprule",
        line(table.columns),
        r"\midrule",
        *(line(table.words(row)) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\caption{" + "".join(_LATEX.get(c, c) for c in caption) + "}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(words: str) -> str:
    # A hyphen before a number is a minus.
    spaced = re.sub(r"(?<!\S)-(?=\d)", "−", re.sub(r"\s+", " ", words))
    return "".join(_LATEX.get(c, c) for c in spaced)


def check_tables_folder(folder: Path | None) -> None:
    """Stop where tables cannot be written, before anything else is."""
    # A link that leads nowhere does not exist, and is no place for a folder either.
    if folder is not None and os.path.lexists(folder) and not folder.is_dir():
        raise SitusError("is a file, not a folder", where=folder, fix="choose another --tables")


def write_tables(folder: Path, tables: Iterable[Table]) -> list[Path]:
    """Every table as CSV, Markdown and LaTeX; returns the files."""
    check_tables_folder(folder)
    return write_all(table_files(folder, tables))


def table_files(folder: Path, tables: Iterable[Table]) -> dict[Path, bytes | str]:
    """What `write_tables` writes."""
    files: dict[Path, bytes | str] = {}
    for table in tables:
        name = file_name(table.name)
        files[folder / f"{name}.csv"] = csv_text(table)
        files[folder / f"{name}.md"] = markdown_text(table)
        files[folder / f"{name}.tex"] = latex_text(table)
    return files
