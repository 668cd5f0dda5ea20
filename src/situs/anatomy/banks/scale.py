"""Scales: grades with their words and, where a quantity decides, the interval of each."""

from __future__ import annotations

import itertools
import math
import re

import msgspec

from situs.errors import SitusError

__all__ = ["Level", "Range", "Scale", "parse_range"]

_RANGE = re.compile(r"([\[(])\s*(-?[\d.]+)\s*,\s*(-?[\d.]+|inf)\s*([\])])")
_WHOLE = {"share": (0.0, 100.0), "length": (0.0, math.inf), "count": (0.0, math.inf)}


class Range(msgspec.Struct, frozen=True):
    """An interval of a quantity; each end is held or left out."""

    low: float
    high: float
    holds_low: bool
    holds_high: bool

    def __contains__(self, value: float) -> bool:
        above = value > self.low or (self.holds_low and value == self.low)
        below = value < self.high or (self.holds_high and value == self.high)
        return above and below


def parse_range(text: str, where: str) -> Range:
    """Read `[2,3)` or `(66,100]`."""
    match = _RANGE.fullmatch(text.strip())
    if not match:
        raise SitusError(
            f"cannot read the range {text!r}",
            where=where,
            fix="write it like [2,3) or (66,100] or [5,inf)",
        )
    low, high = float(match[2]), float(match[3])
    result = Range(low, high, match[1] == "[", match[4] == "]")
    if low > high or (low == high and not (result.holds_low and result.holds_high)):
        raise SitusError(
            f"the range {text!r} is empty", where=where, fix="the lower end comes first"
        )
    return result


class Level(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One grade of a scale."""

    grade: int
    text: str
    range: str = ""


class Scale(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The grades a sub-score can have."""

    text: str
    levels: tuple[Level, ...]
    quantity: str = ""
    """`share`, `count` or `length` where a measured value decides the grade."""
    unit: str = ""
    ordered: bool = True
    """Whether a higher grade is more of the same;
    within-one and weighted agreement make sense only then."""
    follow_up_only: tuple[int, ...] = ()
    """Grades that compare two time points; not asked of a single one."""
    absent: int | None = None
    """The grade that means the sign is not there;
    0 unless stated, and none where the scale has no 0."""

    @property
    def absent_grade(self) -> int | None:
        """The grade of absence, if there is one: what presence is told from."""
        return self.absent if self.absent is not None else 0 if 0 in self.grades else None

    @property
    def grades(self) -> tuple[int, ...]:
        """All grades, in order."""
        return tuple(level.grade for level in self.levels)

    def grade_of(self, value: float) -> int | None:
        """The grade of a measured quantity; None where none decides."""
        for level in self.levels:
            if level.range and value in parse_range(level.range, self.text):
                return level.grade
        return None

    def edges(self) -> tuple[float, ...]:
        """Values at which the grade changes."""
        ranges = [parse_range(level.range, self.text) for level in self.levels if level.range]
        return tuple(
            sorted(
                {
                    end
                    for r in ranges
                    for end in (r.low, r.high)
                    if 0 < end < _WHOLE[self.quantity][1]
                }
            )
        )

    def problems(self) -> list[str]:
        """What makes the scale unusable: grades out of order, gaps or overlaps between bins."""
        problems = []
        if len(self.levels) < 2 or list(self.grades) != sorted(set(self.grades)):
            problems.append("needs at least two grades, each once and in order")
        if not set(self.follow_up_only) <= set(self.grades):
            problems.append("follow_up_only names a grade it does not have")
        if self.absent is not None and self.absent not in self.grades:
            problems.append("absent names a grade it does not have")
        if bool(self.quantity) != all(level.range for level in self.levels) or (
            not self.quantity and any(level.range for level in self.levels)
        ):
            problems.append("either a quantity and a range for every grade, or neither")
        elif self.quantity not in ("", *_WHOLE):
            problems.append(f"unknown quantity {self.quantity!r}: share, count or length")
        elif self.quantity:
            problems.extend(self._bin_problems())
        return problems

    def _bin_problems(self) -> list[str]:
        """Bins must follow one another, disjoint, and cover all the quantity can be."""
        low, high = _WHOLE[self.quantity]
        bins = sorted(
            (parse_range(level.range, self.text) for level in self.levels),
            key=lambda r: (r.low, r.high),
        )
        problems = []
        if bins[0].low != low or not bins[0].holds_low:
            problems.append(f"no bin holds {low:g}")
        for before, after in itertools.pairwise(bins):
            is_count = self.quantity == "count"
            joined = before.high == after.low and before.holds_high != after.holds_low
            if not joined and not (
                is_count and before.holds_high and after.holds_low and after.low == before.high + 1
            ):
                problems.append(
                    f"bins up to {before.high:g} and from {after.low:g} leave a gap or overlap"
                )
        if bins[-1].high != high or (math.isfinite(high) and not bins[-1].holds_high):
            problems.append(f"no bin holds {high:g}")
        return problems
