"""What a station's export tells other commands:
audit sheet, verdicts on keys, and what to fix or drop."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from situs.base.files import read_json
from situs.bench import KeyReading, read_readings, write_readings
from situs.errors import SitusError
from situs.score import key_errors

__all__ = ["MARKER", "ItemRequest", "Results", "is_export", "keep_key_readings", "read_results"]

MARKER = "station-export.json"


class ItemRequest(msgspec.Struct, frozen=True):
    """What becomes of an item, and who (by code) read it."""

    item: str
    decision: Literal["keep", "fix", "drop"]
    reason: str
    verified_by: tuple[str, ...] = ()
    adjudicated: bool = False
    adjudicated_by: str = ""


class _Head(msgspec.Struct, frozen=True):
    bench_hash: str
    project: str


class Results(msgspec.Struct, frozen=True):
    """An export, as far as a bench is concerned."""

    bench_hash: str
    requests: list[ItemRequest]
    key_readings: list[KeyReading]
    audit_sheet: Path

    @property
    def withdrawn(self) -> dict[str, str]:
        """Item → why it is not to be asked as it is."""
        words = {"drop": "dropped by readers", "fix": "readers asked for a fix"}
        return {r.item: words[r.decision] for r in self.requests if r.decision != "keep"}


def is_export(path: Path) -> bool:
    """Whether a folder is a station's export."""
    return (path / MARKER).is_file()


def read_results(path: Path) -> Results:
    """An export of `situs review export`."""
    if not is_export(path):
        raise SitusError(
            "is not an export of a reading station", where=path, fix="make one: situs review export"
        )
    return Results(
        read_json(path / MARKER, _Head).bench_hash,
        read_json(path / "requests.json", list[ItemRequest]),
        read_json(path / "key_readings.json", list[KeyReading]),
        path / "audit.csv",
    )


def keep_key_readings(bench: Path, content_hash: str, results: Results) -> str:
    """Put readers' verdicts into a bench and its key-error rate onto the card;
    returns the sentence."""
    if results.bench_hash != content_hash:
        raise SitusError(
            "is of another bench",
            where=results.audit_sheet.parent,
            fix="give the bench it was read from",
        )
    new = {(r.reader, r.profile, r.seed) for r in results.key_readings}
    # Earlier versions did not tell who settled what.
    new |= {("adjudication", r.profile, r.seed) for r in results.key_readings if r.adjudicated}
    other_readings = [r for r in read_readings(bench) if (r.reader, r.profile, r.seed) not in new]
    readings = [*other_readings, *results.key_readings]
    errors = key_errors(readings)
    sentence = errors.words if errors is not None else ""
    write_readings(bench, readings, sentence)
    return sentence
