"""What readers of a sample said of a bench's keys:
`readings.json`, beside the tables and outside their hash."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Literal

import msgspec

from situs.base.files import canonical_json, read_json, read_text, write_atomic

__all__ = ["KeyReading", "KeyVerdict", "read_readings", "settle_keys", "write_readings"]

KeyVerdict = Literal["agree", "disagree", "unsure", "not_visible"]

_LINE = re.compile(r"^\*\*(Not r|R)eader-verified\*\*.*$", re.MULTILINE)
_FILE = "readings.json"


class KeyReading(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reader's verdicts on the keys of items drawn at random."""

    reader: str
    profile: str
    """What the reader saw."""
    seed: int
    drawn: int
    """How many items were drawn for it."""
    verdicts: dict[str, KeyVerdict]
    adjudicated: bool = False
    """Not one vote more: these verdicts settle what readers disputed."""


def read_readings(bench: Path) -> list[KeyReading]:
    """All readings of a bench; none if nobody read it."""
    path = bench / _FILE
    return read_json(path, list[KeyReading]) if path.is_file() else []


def settle_keys(readings: list[KeyReading]) -> dict[str, KeyVerdict]:
    """One verdict an item: as adjudicated, else by the majority of those who decided,
    else what most said; a tie is unsure."""
    verdicts_of: dict[str, Counter[KeyVerdict]] = {}
    adjudicated: dict[str, KeyVerdict] = {}
    for reading in readings:
        if reading.adjudicated:
            adjudicated.update(reading.verdicts)
            continue
        for item, verdict in reading.verdicts.items():
            verdicts_of.setdefault(item, Counter())[verdict] += 1
    result: dict[str, KeyVerdict] = {}
    for item, counts in sorted(verdicts_of.items()):
        if counts["agree"] != counts["disagree"]:
            result[item] = "agree" if counts["agree"] > counts["disagree"] else "disagree"
        else:
            result[item] = (
                "unsure"
                if counts["agree"] or counts["unsure"] >= counts["not_visible"]
                else "not_visible"
            )
    return result | adjudicated


def _who_read_what(readings: list[KeyReading]) -> str:
    """By code, each with the number of its items; which ones stands in `readings.json`."""
    words = []
    for is_adjudicated, title in ((False, "Items read by"), (True, "Disputes settled by")):
        items_of: dict[str, set[str]] = {}
        for reading in readings:
            if reading.adjudicated == is_adjudicated:
                items_of.setdefault(reading.reader, set()).update(reading.verdicts)
        parts = [f"{code} ({len(items)})" for code, items in sorted(items_of.items())]
        words += [f"{title}: {', '.join(parts)}."] if parts else []
    return " ".join(words)


def write_readings(bench: Path, readings: list[KeyReading], sentence: str) -> None:
    """Keep the readings, and say on the card what they found."""
    write_atomic(bench / _FILE, msgspec.json.format(canonical_json(readings), indent=1) + b"\n")
    card = bench / "README.md"
    text = read_text(card) if card.is_file() else ""
    line = f"**Reader-verified**: {sentence} {_who_read_what(readings)}".rstrip()
    written = (
        _LINE.sub(lambda _: line, text, count=1)
        if _LINE.search(text)
        else f"{text.rstrip()}\n\n{line}\n".lstrip()
    )
    write_atomic(card, written)
