"""The measured quantities of a text: plain numbers with a unit, in base units."""

from __future__ import annotations

import msgspec

from situs.score.read.numbers.tokens import Kind, tokens
from situs.score.read.numbers.units import known_unit

__all__ = ["Quantity", "base_value", "quantities"]

_MEASURED = ("length", "area", "volume", "slices")


class Quantity(msgspec.Struct, frozen=True):
    """One number with its unit."""

    value: float
    """In mm, mm², mm³ or slices."""
    dimension: str
    start: int
    end: int


def quantities(text: str) -> list[Quantity]:
    """Every single number with a unit of length, area or volume, or of slices;
    ranges and bounds are left out."""
    return [
        Quantity(float(token.parts[0] * unit.size), unit.dimension, token.start, token.end)
        for token in tokens(text)
        if token.kind is Kind.VALUE
        and token.parts[0] is not None
        and (unit := token.units[0]) is not None
        and unit.dimension in _MEASURED
    ]


def base_value(value: float, unit: str) -> tuple[float, str] | None:
    """A value in base units with what it measures;
    None for a unit that measures nothing of these."""
    known = known_unit(unit)
    if known is None or known.dimension not in _MEASURED:
        return None
    return float(value * known.size), known.dimension
