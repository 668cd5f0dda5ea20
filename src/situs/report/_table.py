"""A table of a report as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec

from situs._files import write_atomic

__all__ = ["Table", "csv_link", "csv_text", "write_tables"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
}
_NUMERIC = re.compile(r"^[-−+]?[0-9][0-9.,\u202f]*( ?%)?$|^–?$")


class Table(msgspec.Struct, frozen=True):
    """Rows of words under a head."""

    name: str
    """Of its file."""
    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""

    @property
    def csv(self) -> str:
        """For a spreadsheet."""
        return csv_text([self.columns, *self.rows])

    @property
    def markdown(self) -> str:
        """For a README."""
        lines = [
            f"**{self.title}**",
            "",
            _pipes(self.columns),
            "|" + "|".join("---:" if right else "---" for right in self._right()) + "|",
            *(_pipes(row) for row in self.rows),
        ]
        return "\n".join([*lines, *(["", self.note] if self.note else []), ""])

    @property
    def latex(self) -> str:
        """For a paper, with `booktabs`."""
        shape = "".join("r" if right else "l" for right in self._right())
        body = [" & ".join(_escaped(word) for word in row) + r" \\" for row in self.rows]
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(self.title)}{'. ' + _escaped(self.note) if self.note else ''}}}",
            rf"\begin{{tabular}}{{{shape}}}",
            r"\toprule",
            " & ".join(_escaped(word) for word in self.columns) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def _right(self) -> list[bool]:
        """Columns of numbers stand to the right."""
        return [
            bool(self.rows) and all(_NUMERIC.match(row[place]) for row in self.rows)
            for place in range(len(self.columns))
        ]


def _pipes(words: Sequence[str]) -> str:
    return "| " + " | ".join(word.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for word in words) + " |"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text.replace("\n", " "))


def csv_text(rows: Sequence[Sequence[str]]) -> str:
    """CSV that a spreadsheet reads as text: nothing that came from outside starts a formula."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        writer.writerow([f"'{word}" if word[:1] in ("=", "+", "@", "\t", "\r") else word for word in row])
    return stream.getvalue()


def csv_link(text: str) -> str:
    """A table as a link that downloads it."""
    return "data:text/csv;charset=utf-8," + quote("\ufeff" + text)


def write_tables(folder: Path, tables: Sequence[Table]) -> list[Path]:
    """Every table in its three forms."""
    written = []
    for table in tables:
        for suffix, text in (("csv", table.csv), ("md", table.markdown), ("tex", table.latex)):
            path = folder / f"{table.name}.{suffix}"
            write_atomic(path, text)
            written.append(path)
    return written
