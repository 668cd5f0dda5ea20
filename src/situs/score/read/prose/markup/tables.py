"""Markdown tables in a reply, row by row as prose."""

from __future__ import annotations

import re

__all__ = ["rows_as_lines", "without_tables"]

_LONGEST_HEAD = 1000
"""Characters of a line with the heads of columns."""
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|[^A-Za-z0-9]")
_NUMBERS = re.compile(r"[-0-9.,;\s]+")


def without_tables(text: str) -> str:
    """The text with each row of a table as a line of `head: cell, …`,
    words before numbers and lists of numbers."""
    lines = text.split("\n")
    result: list[str] = []
    heads: list[str] = []
    for number, line in enumerate(lines):
        if "|" not in line:
            heads = []
            result.append(line)
        elif len(line) <= _LONGEST_HEAD and _is_rule("".join(lines[number + 1 : number + 2])):
            heads = [_ASIDE.sub("", cell) for cell in _cells(line)]
        elif not heads:
            result.append(line)
        elif not _is_rule(line):
            result.append(_row(heads, _cells(line)))
    return "\n".join(result)


def rows_as_lines(text: str) -> str:
    """The text with each row of a table as a line of cells between colons;
    heads of columns are left out."""
    if "|" not in text:
        return text
    lines = text.split("\n")
    result: list[str] = []
    inside = False
    for number, line in enumerate(lines):
        inside = "|" in line and (inside or _is_rule("".join(lines[number + 1 : number + 2])))
        if not inside:
            result.append(line)
        elif not _is_rule(line) and not _is_rule("".join(lines[number + 1 : number + 2])):
            result.append(" : ".join(cell for cell in _cells(line) if cell))
    return "\n".join(result)


def _is_rule(line: str) -> bool:
    """Whether it is the line below the heads: `|---|:--:|`."""
    return "--" in line and not line.strip("|:- \t")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _row(heads: list[str], cells: list[str]) -> str:
    words: list[str] = []
    places: list[str] = []
    for head, cell in zip(heads, cells):
        several = len(re.findall(r"[0-9.]+", cell)) > 1
        listed = (
            f"[{cell}]" if several and _NUMBERS.fullmatch(cell) and not _is_frame(head) else cell
        )
        (words if _is_frame(head) or re.search("[a-z]", cell, re.IGNORECASE) else places).append(
            f"{head}: {listed}"
        )
    return ", ".join([*words, *places])


def _is_frame(head: str) -> bool:
    return re.match("frame|slice|image|picture", head, re.IGNORECASE) is not None
