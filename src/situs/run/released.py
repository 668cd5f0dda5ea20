"""Rows of files that other tools released: JSON, JSON Lines or CSV in any of their usual shapes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import read_csv, read_text
from situs.errors import SitusError

__all__ = ["Row", "first_text", "released_rows"]

Row = dict[str, Any]

_LARGEST = 1 << 30
_LISTS = ("results", "predictions", "answers", "data", "items", "rows", "verdicts")


def released_rows(path: Path) -> list[tuple[str, Row]]:
    """Every row with where it stands.

    A volume or id that is the key of a JSON object goes into the row.
    """
    rows: Iterator[tuple[str, object]]
    if path.suffix.lower() in (".csv", ".tsv"):
        rows = (
            (f"{path.name}:{number}", row)
            for number, row in read_csv(path, limit_bytes=_LARGEST)[1]
        )
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        rows = _lines(path, read_text(path, limit_bytes=_LARGEST))
    else:
        listed = _json(path, read_text(path, limit_bytes=_LARGEST))
        rows = ((f"{path.name} row {number}", row) for number, row in enumerate(listed, start=1))
    result = []
    for where, row in rows:
        if not isinstance(row, dict):
            raise SitusError("is not an object with fields", where=where, fix="one object per row")
        result.append((where, row))
    if not result:
        raise SitusError("holds no row", where=path, fix="is it the right file?")
    return result


def _lines(path: Path, text: str) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{path.name}:{number}", _decode(line, f"{path.name}:{number}")


def _json(path: Path, text: str) -> Iterator[object]:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        # Some tools call JSON Lines .json.
        yield from (row for _, row in _lines(path, text))
        return
    if isinstance(document, dict):
        listed = next(
            (document[name] for name in _LISTS if isinstance(document.get(name), list)), None
        )
        yield from listed if listed is not None else _keyed(document)
    elif isinstance(document, list):
        yield from document
    else:
        raise SitusError(
            "is neither a list nor an object of rows", where=path, fix="is it the right file?"
        )


def _keyed(document: Row) -> Iterator[object]:
    """Rows that stand under the name of their volume or under their id."""
    for key, value in document.items():
        if isinstance(value, str):
            yield {"id": key, "response": value}
        elif isinstance(value, list):
            yield from ({"case_id": key, **row} if isinstance(row, dict) else row for row in value)
        elif isinstance(value, dict) and isinstance(value.get("qa_pairs"), list):
            pairs = enumerate(value["qa_pairs"])
            yield from (
                {"case_id": key, "position": n, **row} if isinstance(row, dict) else row
                for n, row in pairs
            )
        else:
            yield {"id": key, **value} if isinstance(value, dict) else value


def _decode(line: str, where: str) -> object:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SitusError(
            f"is not JSON ({error})", where=where, fix="one JSON object per line"
        ) from error


def first_text(row: Row, names: tuple[str, ...]) -> str | None:
    """The first of these fields that is there, as text;
    a null is an empty text, other values their JSON."""
    for name in names:
        if name in row:
            value = row[name]
            if value is None:
                return ""
            return value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return None
