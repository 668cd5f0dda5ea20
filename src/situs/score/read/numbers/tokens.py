"""The numbers of a text: what each is (a value, a range,
dimensions, a bound, a frame number) and in which unit."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from situs.score.read.numbers.literals import NUMERAL, WORD, numeral, word_value
from situs.score.read.numbers.units import Unit, unit_at
from situs.score.read.prose.beside import just_after, just_before

__all__ = ["Kind", "Token", "tokens"]


class Kind(Enum):
    """What a number stands for."""

    VALUE = "value"
    RANGE = "a range"
    DIMENSIONS = "dimensions, not one number"
    ALTERNATIVES = "alternatives"
    BOUND = "a bound, not a number"
    RATIO = "a ratio"
    UNCLEAR = "not a plain number"
    LABEL = "a label"
    """A frame, a vertebra, a list mark: no quantity at all."""
    SPREAD = "a spread"
    """What stands behind ±."""


@dataclass(frozen=True, slots=True)
class Token:
    """One number, or several joined into one thing."""

    kind: Kind
    parts: tuple[Fraction | None, ...]
    units: tuple[Unit | None, ...]
    start: int
    end: int


_MOST_PARTS = 8
"""More numbers in a row are no measurement; the cap keeps hostile replies linear."""

_LABEL = re.compile(
    r"(?:\b(?:slices?|frames?|images?|fig(?:ure)?s?\.?|series|levels?|segments?|grades?|types?|"
    r"steps?|stages?|options?|questions?|"
    r"tables?|pages?|zones?|phases?|cases?|stud(?:y|ies)|ribs?|vertebrae?|labels?|marks?|points?|"
    r"index|indices|items?|number|no\.|"
    r"numbers|lesion)(?: ?(?:number|no\.|#|=))? ?|\b[xyz] ?= ?|#)\(?$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\([^()]*\b(?:normal|normally|reference|ref|typical|typically)\b[^()]*$", re.IGNORECASE
)
# "IMPRESSION: 1. Thyroid nodule, 16 mm. 2. Normal isthmus.": marks of the items of a list.
_ITEM = re.compile(r"(?:^|[:;.\n]) ?([0-9]{1,2})[.)] (?=[A-Z][a-z])")
_PLURAL_LABEL = re.compile(r"(?:s|ies|ices|numbers|vertebrae)(?: ?#)? ?\(?$", re.IGNORECASE)
_LABEL_CHAIN = re.compile(r" ?(?:-|–|—|~|to|through|until|of|out of|/) ?#?", re.IGNORECASE)
_LABEL_LIST = re.compile(r" ?(?:,|and|or|&|, ?and) ?#?", re.IGNORECASE)
_RANGE = re.compile(r" ?(?:-|–|—|~|to|through|until|up to|\.\.\.?|…) ?-?", re.IGNORECASE)
_BETWEEN = re.compile(
    r"\bbetween (?:about |approximately |roughly |around |~ ?|≈ ?)?$", re.IGNORECASE
)
_TIMES = re.compile(r" ?(?:×|x|\*|by|·) ?", re.IGNORECASE)
_BOUND = re.compile(
    r"(?:(?<![-=])[<>≤≥]=?|\b(?:less|more|greater|fewer|larger|smaller|bigger|longer|shorter|"
    r"higher|lower)"
    r" than"
    r"(?: or equal to)?|\bat least|\bat most|(?<!add )(?<!adds )(?<!adding )\bup to"
    r"|\bexceed(?:s|ing)?|\bunder|"
    r"(?<!extends )(?<!extending )(?<!stretches )\bover|\bbelow|\babove|\bminimum of|"
    r"\bmaximum of|(?<!comes )(?<!come )(?<!gets )(?<!passes )\bwithin)"
    r"(?: about| approximately| roughly)? ?$",
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    r"(?: [a-z]+)? or (?:more|less|fewer|above|below|greater)\b|\+(?= |$)", re.IGNORECASE
)
_SPREAD = re.compile(r" ?(?:±|\+ ?/ ?-|\+-|plus or minus|plus/minus) ?", re.IGNORECASE)
_LIST_MARK = re.compile(r"[.)] (?=\S)")
_MAGNITUDE = re.compile(
    r" (?:hundred|thousand|million|billion|dozen|and a half|and half|point|half|third|quarter"
    r"|fifth|sixth|seventh|eighth|ninth|tenth)s?\b",
    re.IGNORECASE,
)
_BIG = re.compile(r"\b(?:hundred|thousand|million|billion)s?,? (?:and )?$", re.IGNORECASE)
_POWER = re.compile(r" ?\^")
# "Answer - 118": the dash leads to the number and is no sign.
_ANSWER_DASH = re.compile(
    r"\b(?:answer|result|total|count|estimate|distance|volume|value) ?-$", re.IGNORECASE
)
_EXPONENT = re.compile(r"\^ ?\(?[-+]? ?$")
# "One" is mostly a pronoun; it counts only where a count is announced or stands alone.
_ONE_BEFORE = re.compile(
    r"(?:^|\n|[:=(≈~\"'] ?|\b(?:between|from|to|than|"
    r"is|are|was|only|just|exactly|about|approximately|answer|total of|see|has|have|with) )$",
    re.IGNORECASE,
)
_DEFINITE = re.compile(r"\b(?:the|these|those) $", re.IGNORECASE)
_NOUN = re.compile(
    r" (?:volumes|centres|centers|structures|organs|kidneys|measurements|values|numbers|points)\b",
    re.IGNORECASE,
)
_ONE_AFTER = re.compile(
    r" (?:of|can|could|may|might|must|would|should|side|another|or the|by)\b", re.IGNORECASE
)


@lru_cache(maxsize=8)
def tokens(text: str, *, marked: bool = False) -> tuple[Token, ...]:
    """Every number of the text in order, labels left out.

    A `marked` text is what follows "Answer:": "5. The liver …" begins with the answer there, not
    with a list mark.
    """
    singles = _singles(text, marked=marked)
    found: list[Token] = []
    labels_plural = False
    previous: Token | None = None
    items = _list_marks(text)
    for token in singles:
        between = text[previous.end : token.start] if previous else ""
        before = just_before(text, token.start, 48)
        chained = previous is not None and previous.kind is Kind.LABEL and (
            _LABEL_CHAIN.fullmatch(between) or (labels_plural and _LABEL_LIST.fullmatch(between))
        )  # fmt: skip
        label = _LABEL.search(before) if token.units == (None,) else None
        item = token.start in items
        if token.kind is Kind.LABEL or label or chained or item or _REFERENCE.search(before):
            labels_plural = (
                bool(_PLURAL_LABEL.search(label[0])) if label else labels_plural and bool(chained)
            )
            previous = replace(token, kind=Kind.LABEL)
            continue
        joined = _join(previous, token, between, text) if previous and found else None
        if joined is not None:
            found[-1] = previous = joined
            continue
        if token.kind is Kind.VALUE and (_BOUND.search(before) or _OR_MORE.match(text, token.end)):
            token = replace(token, kind=Kind.BOUND)
        found.append(token)
        previous = token
    return tuple(found)


def _list_marks(text: str) -> set[int]:
    """Where the marks of a list stand that counts its items from one."""
    marks = list(_ITEM.finditer(text))
    counted = [int(mark[1]) for mark in marks]
    in_order = len(marks) > 1 and counted == list(range(1, len(marks) + 1))
    return {mark.start(1) for mark in marks} if in_order else set()


def _singles(text: str, *, marked: bool) -> list[Token]:
    matches = [(match, True) for match in NUMERAL.finditer(text)] + [
        (match, False) for match in WORD.finditer(text)
    ]
    matches.sort(key=lambda pair: pair[0].start())
    candidates = (_single(text, match, digits=digits, marked=marked) for match, digits in matches)
    return [token for token in candidates if token is not None]


def _single(text: str, match: re.Match[str], *, digits: bool, marked: bool) -> Token | None:
    start, end = match.span()
    before = just_before(text, start, 20)
    if _EXPONENT.search(before):
        return None
    value = numeral(match[0]) if digits else word_value(match[0])
    if not digits and _DEFINITE.search(before) and _NOUN.match(text, end):
        return Token(
            Kind.LABEL, (None,), (None,), start, end
        )  # "the two volumes" counts nothing that is asked for
    if not digits and match[0].lower() == "one" and not _counts_one(text, start, end):
        return None
    if (
        value is not None
        and text[start - 1 : start] == "-"
        and not re.search(r"[\w)%] ?-$", just_before(text, start, 3))
        and not _ANSWER_DASH.search(before)
    ):
        value, start = -value, start - 1
    unit_and_end = _unit(text, end)
    if (
        unit_and_end is not None
        and just_after(text, end, 1) == '"'
        and text.count('"', max(text.rfind("\n", 0, start) + 1, start - 200), start) % 2
    ):
        unit_and_end = None  # the quotation mark that closes "42"
    plain = value is not None and not _BIG.search(before) and not _POWER.match(text, end)
    kind = Kind.VALUE if plain else Kind.UNCLEAR
    if unit_and_end is not None:
        return Token(kind, (value,), (unit_and_end[0],), start, unit_and_end[1])
    if re.match(
        r"(?!x[0-9])[^\W_]|-[^\W\d_]", just_after(text, end, 2), re.IGNORECASE
    ):  # 3D, 2nd, three-dimensional
        return Token(Kind.LABEL, (None,), (None,), start, end)
    if digits and _LIST_MARK.match(text, end) and _marks_list(text, start, value, marked=marked):
        return Token(Kind.LABEL, (None,), (None,), start, end)
    if _MAGNITUDE.match(text, end):
        kind = Kind.UNCLEAR
    return Token(kind, (value,), (None,), start, end)


def _marks_list(text: str, start: int, value: Fraction | None, *, marked: bool) -> bool:
    """Whether "3. …" numbers a line:
    at the head of a text only "1." surely does, in a marked answer none."""
    if start == 0:
        return value == 1 and not marked
    return text[start - 1] == "\n"


def _counts_one(text: str, start: int, end: int) -> bool:
    return bool(_ONE_BEFORE.search(just_before(text, start, 20))) and not _ONE_AFTER.match(
        text, end
    )


def _unit(text: str, end: int) -> tuple[Unit, int] | None:
    for gap in (r"[ ~\ue001]{0,3}", r" ?- ?(?=[a-zµ])"):
        space = re.compile(gap).match(text, end)
        if space and (found := unit_at(text, space.end())):
            return found
    bracket = re.compile(r" ?[(\[]").match(text, end)  # 150 (mL)
    if (
        bracket
        and (found := unit_at(text, bracket.end()))
        and just_after(text, found[1], 1) in {")", "]"}
    ):
        return found[0], found[1] + 1
    return None


def _join(previous: Token, token: Token, between: str, text: str) -> Token | None:
    """Two numbers that are one thing: 30 to 40, 3 x 2, 150 ± 10, five or six, 3/4, 1 200."""
    if token.kind not in {Kind.VALUE, Kind.UNCLEAR}:
        return None
    if _SPREAD.fullmatch(between):
        units = tuple(unit or token.units[0] for unit in previous.units)
        return replace(previous, units=units, end=token.end)
    compound = _compound(previous, token, between)
    if compound is not None:
        return compound
    kind = _joint(previous, token, between, text)
    if kind is None:
        return None
    if len(previous.parts) >= _MOST_PARTS:
        return replace(previous, kind=Kind.UNCLEAR, end=token.end)
    if Kind.UNCLEAR in {previous.kind, token.kind}:
        kind = Kind.UNCLEAR
    return Token(
        kind, previous.parts + token.parts, previous.units + token.units, previous.start, token.end
    )


def _compound(previous: Token, token: Token, between: str) -> Token | None:
    """ "7 cm and 3 mm": a measure in two units, the second a part of the first."""
    if between not in {" ", " and "} or {previous.kind, token.kind} != {Kind.VALUE}:
        return None
    (large,), (small,) = previous.units, token.units
    (whole,), (part,) = previous.parts, token.parts
    if large is None or small is None or whole is None or part is None:
        return None
    factor = small.to(large)
    if factor is None or factor >= 1 or part * factor >= 1 or whole.denominator != 1:
        return None
    return Token(Kind.VALUE, (whole + part * factor,), (large,), previous.start, token.end)


def _joint(previous: Token, token: Token, between: str, text: str) -> Kind | None:
    before = just_before(text, previous.start, 30)
    if _TIMES.fullmatch(between):
        return Kind.DIMENSIONS
    if previous.kind not in {Kind.VALUE, Kind.UNCLEAR, Kind.BOUND}:
        return None
    if re.fullmatch(r",? (?:and )?", between) and _BIG.search(just_before(text, token.start, 20)):
        return Kind.UNCLEAR
    if between == " " and previous.units[-1] is None:
        return Kind.UNCLEAR
    negative_range = between.strip() == "" and token.parts[0] is not None and token.parts[0] < 0
    if (
        _RANGE.fullmatch(between)
        or negative_range
        or (between.strip().lower() == "and" and _BETWEEN.search(before))
    ):
        return Kind.RANGE
    if between.strip().lower() == "or":
        return Kind.ALTERNATIVES
    if between.strip() == "/":
        return Kind.RATIO
    return None
