"""Units that a reply may use, and their exact conversion;
how each is written stands in `situs.items.units`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from situs.items import SHIPPED_UNITS, UNITS

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

_OTHER_SPELLED = (
    r"years?|yrs?|months?|weeks?|days?|hours?|minutes?|min|seconds?|secs?|ms|k?g|grams?|hu|"
    r"hounsfield|degrees?|°c?|"
    r"pixels?|px|voxels?|vox|frames?|images?|tesla|t|khz|mhz|hz|kv|kvp|mas|mm ?hg|bpm"
)
_RATE = re.compile(r" ?(?:/|per\b) ?(?:[a-z]|$)", re.IGNORECASE)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})(?![a-z0-9²³^])", re.IGNORECASE)


@lru_cache(maxsize=2)
def _spellings(count: int) -> list[tuple[re.Pattern[str], Unit]]:
    """How each of so many units is written, in the order in which they are looked for; none is ever
    taken back.

    Those of other packages come first: a degree is no unit of ours, and would be taken for
    something else.
    """
    shipped, added = [], []
    for unit in islice(UNITS.values(), count):
        measures = Unit(unit.dimension, unit.size)
        if unit.name not in SHIPPED_UNITS:
            spelled = "|".join(filter(None, (re.escape(unit.name), unit.spelled)))
            added.append((_compiled(spelled), measures))
        elif unit.spelled:
            shipped.append((_compiled(unit.spelled), measures))
    return [*added, *shipped, (_compiled(_OTHER_SPELLED), _OTHER)]


def known_unit(name: str) -> Unit | None:
    """The unit of this name; an empty name is a count, `fraction` a share of one."""
    stripped = name.strip()
    if not stripped:
        return COUNT
    if stripped.lower() in {"fraction", "ratio"}:
        return RATIO
    unit_and_end = unit_at(stripped, 0)
    return (
        unit_and_end[0]
        if unit_and_end and unit_and_end[1] == len(stripped) and unit_and_end[0] is not _OTHER
        else None
    )


def unit_at(text: str, position: int) -> tuple[Unit, int] | None:
    """The unit that stands exactly at a position, and where it ends.

    A rate (mL/min) measures something else.
    """
    for pattern, unit in _spellings(len(UNITS)):
        match = pattern.match(text, position)
        if match:
            rate = _RATE.match(text, match.end())
            return (_OTHER, rate.end()) if rate else (unit, match.end())
    return None
