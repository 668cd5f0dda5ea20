"""Units a reply may use, and their exact conversion."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["COUNT", "RATIO", "Unit", "known_unit", "unit_at"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: what it measures and how many base units (mm, mm², mm³, 1) it is."""

    dimension: str
    size: Fraction

    def to(self, other: Unit) -> Fraction | None:
        """The factor from this unit to another; None if it measures something else."""
        return self.size / other.size if self.dimension == other.dimension else None


COUNT = Unit("count", Fraction(1))
RATIO = Unit("share", Fraction(1))
_OTHER = Unit("other", Fraction(1))

_CUBED = r"(?: ?(?:³|\^ ?3|\*\*3)|3)"
_SQUARED = r"(?: ?(?:²|\^ ?2|\*\*2)|2)"
_METRES = {"mm": ("m(?:m|illimet(?:er|re)s?)", 1), "cm": ("(?:cms?|centimet(?:er|re)s?)", 10), "dm": ("dm", 100),
           "m": ("m(?:et(?:er|re)s?)?", 1000)}  # fmt: skip
_LITRES = {
    "mL": (r"(?:mls?|ccm|cc|millilit(?:er|re)s?)", 1_000),
    "cL": (r"(?:cl|centilit(?:er|re)s?)", 10_000),
    "dL": (r"(?:dl|decilit(?:er|re)s?)", 100_000),
    "L": (r"(?:l|lit(?:er|re)s?)", 1_000_000),
    "µL": (r"(?:[µμu]l|microlit(?:er|re)s?)", 1),
}
_SPELLINGS: list[tuple[str, Unit]] = [
    *(
        (rf"(?:cubic |cu\.? ){word}|{word}{_CUBED}", Unit("volume", Fraction(size**3)))
        for word, size in _METRES.values()
    ),
    *(
        (rf"(?:square |sq\.? ){word}|{word}{_SQUARED}", Unit("area", Fraction(size**2)))
        for word, size in _METRES.values()
    ),
    *((word, Unit("volume", Fraction(size))) for word, size in _LITRES.values()),
    (r"[µμ]m|microns?|micromet(?:er|re)s?", Unit("length", Fraction(1, 1000))),
    *((word, Unit("length", Fraction(size))) for word, size in _METRES.values()),
    # "in" only where no word follows ("2 in the left lobe"), and the mark of inches only where none opened a quotation.
    (
        r"inch(?:es)?|in\.?(?=\s*(?:$|[.,;)\n\ue001]))|\"(?=\s*(?:$|[.,;)\n\ue001]))|''(?!\w)",
        Unit("length", Fraction(254, 10)),
    ),
    (r"f(?:oo|ee)t|ft", Unit("length", Fraction(3048, 10))),
    (r"%|percent|per cent|pct", Unit("share", Fraction(1, 100))),
    (r"(?:axial )?slices?", Unit("slices", Fraction(1))),
    (
        r"years?|yrs?|months?|weeks?|days?|hours?|minutes?|min|seconds?|secs?|ms|k?g|grams?|hu|hounsfield|degrees?|°c?|pixels?|px|"
        r"voxels?|vox|frames?|images?|tesla|t|khz|mhz|hz|kv|kvp|mas|mm ?hg|bpm",
        _OTHER,
    ),
]
_RATE = re.compile(r" ?(?:/|per\b) ?(?:[a-z]|$)", re.IGNORECASE)
_AT = [
    (re.compile(rf"(?:{pattern})(?![a-z0-9²³^])", re.IGNORECASE), unit)
    for pattern, unit in _SPELLINGS
]


def known_unit(name: str) -> Unit | None:
    """The unit of this name; an empty name is a count, `fraction` a share of one."""
    stripped = name.strip()
    if not stripped:
        return COUNT
    if stripped.lower() in {"fraction", "ratio"}:
        return RATIO
    found = unit_at(stripped, 0)
    return found[0] if found and found[1] == len(stripped) and found[0] is not _OTHER else None


def unit_at(text: str, position: int) -> tuple[Unit, int] | None:
    """The unit that stands exactly at a position, and where it ends. A rate (mL/min) measures something else."""
    for pattern, unit in _AT:
        match = pattern.match(text, position)
        if match:
            rate = _RATE.match(text, match.end())
            return (_OTHER, rate.end()) if rate else (unit, match.end())
    return None
