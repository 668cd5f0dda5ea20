"""A CSV too large to hold: an index of which lines belong to which study,
and those lines when asked for."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from situs.base.files import bounded_lines, check_regular
from situs.errors import SitusError

__all__ = ["GroupedTable"]


class GroupedTable:
    """The rows of a CSV by study;
    memory holds one place per stretch of lines that follow one another."""

    def __init__(self, path: Path, key: str) -> None:
        self.path = path
        self._key = key
        with self._open() as stream:
            header = self._cells(next(bounded_lines(stream, self.path), b""), 1)
        self.columns = [name.strip().lstrip("\ufeff") for name in header]
        if len(set(self.columns)) < len(self.columns):
            raise SitusError("a column occurs twice", where=path, fix="remove one")
        if key not in self.columns:
            fix = "name it so, or give a column map with --columns"
            raise SitusError(f"has no column {key!r}", where=path, fix=fix)
        self._spans = self._index()
        if not self._spans:
            raise SitusError("has no rows", where=path, fix="is it the right table?")

    @property
    def keys(self) -> list[str]:
        """The studies, in the order in which they first occur."""
        return list(self._spans)

    def rows(self, key: str) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of each row of a study; none if it is not there."""
        with self._open() as stream:
            for start, line, count in self._spans.get(key, ()):
                stream.seek(start)
                for number in range(line, line + count):
                    cells = self._cells(stream.readline(), number)
                    if cells:
                        yield number, cells

    def values(self, column: int) -> set[str]:
        """What a column holds, in all rows."""
        with self._open() as stream:
            stream.readline()
            lines = enumerate(bounded_lines(stream, self.path), start=2)
            rows = (self._cells(raw, number) for number, raw in lines)
            return {cells[column].strip() for cells in rows if cells}

    def _open(self) -> BinaryIO:
        check_regular(self.path)
        try:
            return self.path.open("rb")
        except OSError as error:
            raise SitusError(
                f"cannot be read ({error.strerror})", where=self.path, fix="check the path"
            ) from error

    def _index(self) -> dict[str, list[tuple[int, int, int]]]:
        key_column = self.columns.index(self._key)
        spans: dict[str, list[tuple[int, int, int]]] = {}
        last: str | None = None
        start = line = count = 0
        with self._open() as stream:
            offset = len(stream.readline())
            for number, raw in enumerate(bounded_lines(stream, self.path), start=2):
                cells = self._cells(raw, number)
                key = cells[key_column].strip() if cells else last
                if not key and cells:
                    raise SitusError(
                        f"has no {self._key}", where=f"{self.path}:{number}", fix="fill the cell"
                    )
                if key != last:
                    if last is not None:
                        spans.setdefault(last, []).append((start, line, count))
                    last, start, line, count = key, offset, number, 0
                count += 1
                offset += len(raw)
        if last is not None:
            spans.setdefault(last, []).append((start, line, count))
        return spans

    def _cells(self, raw: bytes, number: int) -> list[str]:
        """The cells of one line; none if it is blank."""
        where = f"{self.path}:{number}"
        try:
            text = raw.decode("utf-8").rstrip("\r\n")
            cells = text.split(",") if '"' not in text else next(csv.reader([text], strict=True))
        except UnicodeDecodeError as error:
            raise SitusError("is not UTF-8 text", where=where, fix="save it as UTF-8") from error
        except csv.Error as error:
            raise SitusError(
                "is not valid CSV", where=where, fix="a row must stand on one line"
            ) from error
        if number > 1 and not any(cell.strip() for cell in cells):
            return []
        if number > 1 and len(cells) != len(self.columns):
            problem = f"has {len(cells)} cells, not {len(self.columns)}"
            raise SitusError(problem, where=where, fix="repair the row")
        return cells
