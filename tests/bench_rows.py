"""A bench's tables as plain rows that a test may change, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from situs.bench import StudyRecord, TableWriter, content_hash, read_table
from situs.facts import Fact
from situs.items import Item

Row = dict[str, Any]
RECORDS: dict[str, type[msgspec.Struct]] = {"items": Item, "facts": Fact, "studies": StudyRecord}


def rows_of(bench: Path, table: str) -> list[Row]:
    """A table's rows as JSON would hold them."""
    records = read_table(bench / f"{table}.parquet", RECORDS[table])
    return [json.loads(msgspec.json.encode(record)) for record in records]


def write_rows(bench: Path, table: str, rows: list[Row]) -> None:
    """Rewrite a table and make the content hash fit."""
    with TableWriter(bench / f"{table}.parquet", RECORDS[table]) as writer:
        writer.write(msgspec.convert(row, RECORDS[table]) for row in rows)
    refresh(bench)


def refresh(bench: Path, **changes: Any) -> None:
    """Change `bench.json`, and make its content hash fit the tables."""
    info = json.loads((bench / "bench.json").read_text()) | changes
    info["content_hash"] = content_hash(bench)
    (bench / "bench.json").write_text(json.dumps(info))
