"""Options that are ranges of a measure ("80 to 120 mm",
"more than 160 mm"), named by a range or by a value inside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from situs.score.read.numbers.owners import of_another
from situs.score.read.numbers.roles import measures_else, working
from situs.score.read.numbers.tokens import Kind, Token, tokens
from situs.score.read.numbers.units import Unit
from situs.score.read.prose.beside import just_after, just_before
from situs.score.read.prose.tokens import Mention

__all__ = ["named_ranges"]

_APPROXIMATELY = r"(?: about| approximately| roughly| around)? ?$"
_AT_MOST = re.compile(
    r"(?:\b(?:less|fewer|smaller|shorter|lower|no more|not more) than(?: or equal to)?|\bat"
    r" most|\bup to"
    rf"|\bunder|\bbelow|\bwithin|[<≤]=?){_APPROXIMATELY}",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    r"(?:\b(?:more|greater|larger|bigger|longer|higher) than(?: or equal to)?|\bat"
    r" least|\bover|\babove"
    rf"|\bexceed(?:s|ing)?|\bbeyond|[>≥]=?){_APPROXIMATELY}",
    re.IGNORECASE,
)
_OR_LESS = re.compile(r" (?:or|and) (?:less|fewer|below|under|smaller)\b", re.IGNORECASE)
_OR_MORE = re.compile(r"\+| (?:or|and) (?:more|above|over|greater|larger)\b", re.IGNORECASE)
# "More than 10 mm but less than 20 mm": two bounds that make one range.
_BOTH = re.compile(r",? ?(?:but|and|yet|,)? ?(?:still )?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Interval:
    low: Fraction | None
    """In base units; None for no bound."""
    high: Fraction | None
    dimension: str

    def holds(self, value: Fraction) -> bool:
        """Whether a value lies inside; on a bound, which a neighbour shares, it is in neither."""
        above = self.low is None or value > self.low
        return above and (self.high is None or value < self.high)


def named_ranges(plain: str, options: tuple[str, ...], question: str) -> Iterator[Mention]:
    """Where a reply names one of the options, if these are ranges:
    by the same ends, or by a value inside one."""
    ranges = _ranges(options)
    if ranges is None:
        yield from _converted(plain, options, question)
        return
    unit = ranges[0]
    for start, end, interval, idle in _told(plain, unit, question):
        fitting = [index for index, option in ranges[1].items() if _fits(interval, option)]
        if len(fitting) == 1:
            yield Mention(start, end, fitting[0], idle=idle)


def _converted(plain: str, options: tuple[str, ...], question: str) -> Iterator[Mention]:
    """Where a reply gives the value of an option in another unit ("3 cm" for "30 mm")."""
    values = _values(options)
    if values is None:
        return
    unit, by_value = values
    for start, end, interval, idle in _told(plain, unit, question):
        index = by_value.get(interval.low) if interval.low == interval.high else None
        if index is not None and interval.low is not None:
            yield Mention(start, end, index, idle=idle)


@lru_cache(maxsize=256)
def _values(options: tuple[str, ...]) -> tuple[Unit, dict[Fraction | None, int]] | None:
    """The unit and the values of options that are all measures; None if one is not."""
    found: dict[Fraction | None, int] = {}
    units: set[Unit] = set()
    for index, words in enumerate(options):
        numbers = tokens(words)
        if len(numbers) != 1 or numbers[0].kind is not Kind.VALUE or len(numbers[0].units) != 1:
            return None
        unit = numbers[0].units[0]
        if unit is None or words[: numbers[0].start].strip() or words[numbers[0].end :].strip():
            return None
        units.add(unit)
        found[_ends(words, numbers[0], unit)[0]] = index
    return (units.pop(), found) if len(units) == 1 and len(found) == len(options) else None


def _fits(told: _Interval, option: _Interval) -> bool:
    if told.low is not None and told.low == told.high:
        return option.holds(told.low)
    return (told.low, told.high) == (option.low, option.high)


@lru_cache(maxsize=256)
def _ranges(options: tuple[str, ...]) -> tuple[Unit, dict[int, _Interval]] | None:
    """The unit and the intervals of the options;
    None unless at least two, and all with numbers, are intervals."""
    found: dict[int, _Interval] = {}
    units: set[Unit] = set()
    for index, words in enumerate(options):
        numbers = tokens(words)
        units |= {unit for token in numbers for unit in token.units if unit is not None}
        if not numbers:
            continue
        if len(numbers) > 1:
            return None
        found[index] = _Interval(*_ends(words, numbers[0], None), "")
    if len(units) != 1 or len(found) < 2 or any(one.low == one.high for one in found.values()):
        return None
    (unit,) = units
    scaled = {
        index: _Interval(_times(one.low, unit), _times(one.high, unit), unit.dimension)
        for index, one in found.items()
    }
    return unit, scaled


def _times(value: Fraction | None, unit: Unit) -> Fraction | None:
    return None if value is None else value * unit.size


def _told(plain: str, unit: Unit, question: str) -> Iterator[tuple[int, int, _Interval, bool]]:
    """The intervals and values of a reply in the dimension of the options,
    and whether each serves something else."""
    numbers = tokens(plain)
    at = 0
    while at < len(numbers):
        token = numbers[at]
        at += 1
        if token.kind not in {Kind.VALUE, Kind.BOUND, Kind.RANGE}:
            continue
        used = next((one for one in reversed(token.units) if one is not None), None)
        following = numbers[at] if at < len(numbers) else None
        if used is None and following is not None and following.kind is Kind.BOUND:
            used = following.units[-1]
        if used is not None and used.dimension != unit.dimension:
            continue
        if used is None and token.kind is Kind.VALUE:
            continue  # a bare number may be anything
        low, high = _ends(plain, token, used or unit)
        end = token.end
        if token.kind is Kind.BOUND and following is not None and following.kind is Kind.BOUND:
            second = _ends(plain, following, following.units[-1] or unit)
            opening = _opening(plain, following)
            if _BOTH.fullmatch(plain[token.end : opening]):
                low, high = (
                    low if low is not None else second[0],
                    high if high is not None else second[1],
                )
                end = following.end
                at += 1
        aside = (working, measures_else, of_another)
        idle = any(judges(plain, token, question) for judges in aside)
        yield _opening(plain, token), end, _Interval(low, high, unit.dimension), idle


def _opening(plain: str, token: Token) -> int:
    """Where a number begins together with the words that make it a bound."""
    before = just_before(plain, token.start, 40)
    match = _AT_MOST.search(before) or _AT_LEAST.search(before)
    return token.start - (len(before) - match.start()) if match else token.start


def _ends(text: str, token: Token, unit: Unit | None) -> tuple[Fraction | None, Fraction | None]:
    """The two ends of what a number tells, in base units if its unit is given."""
    size = Fraction(1) if unit is None else unit.size
    known = sorted(part * size for part in token.parts if part is not None)
    if not known:
        return None, None
    if token.kind is Kind.RANGE:
        return known[0], known[-1]
    before, after = just_before(text, token.start, 40), just_after(text, token.end, 16)
    if _AT_MOST.search(before) or _OR_LESS.match(after):
        return None, known[0]
    if _AT_LEAST.search(before) or _OR_MORE.match(after):
        return known[0], None
    return known[0], known[0]
