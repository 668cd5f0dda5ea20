"""Facts as rows of a table, and numbers as a reader wants them."""

from __future__ import annotations

import msgspec

from situs.base.text import short
from situs.facts import Cell, Fact, FactValue, Measured, Quoted

__all__ = ["FactRow", "FactTable", "rounded"]


class FactRow(msgspec.Struct, frozen=True, array_like=True):
    """One fact as the table of an item shows it."""

    kind: str
    subjects: str
    value: str
    interval: str
    function: str
    flags: tuple[str, ...]


class FactTable:
    """Facts by place, each written once however many items use it."""

    def __init__(self, quotes: bool) -> None:
        self.rows: list[FactRow] = []
        self.bytes = 0
        self._places: dict[str, int] = {}
        self.quotes = quotes

    def place(self, fact: Fact) -> int:
        """Where the fact stands, added if it is new."""
        if fact.fact_id not in self._places:
            row = FactRow(
                fact.kind,
                ", ".join(fact.subjects),
                f"{_value_text(fact.value)} {fact.unit if fact.unit != 'fraction' else ''}".strip(),
                _interval_text(fact.interval),
                _how(fact, self.quotes),
                fact.flags,
            )
            self._places[fact.fact_id] = len(self.rows)
            self.rows.append(row)
            self.bytes += len(msgspec.json.encode(row))
        return self._places[fact.fact_id]


def _how(fact: Fact, quotes: bool) -> str:
    match fact.derivation:
        case Measured(function):
            return function
        case Quoted(quote=quote):
            return f"report: “{quote}”" if quotes else "report (quote withheld)"
        case Cell(column=column):
            return f"table, column {column}"


def _value_text(value: FactValue) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{v:.1f}" for v in value).replace("-", "−") + ")"
    return value if isinstance(value, str) else short(value)


def _interval_text(interval: tuple[float, ...] | None) -> str:
    if interval is None:
        return ""
    half = len(interval) // 2
    if half == 1:
        low, high = interval
        return f"{short(low)} to {'∞' if high >= 1e9 else short(high)}"
    slack = max(abs(high - low) / 2 for low, high in zip(interval[:half], interval[half:]))
    return f"± {slack:.1f}"


def rounded(value: float) -> float:
    return float(f"{value:.6g}")
