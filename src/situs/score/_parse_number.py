"""The number a reply gives, in the unit that was asked for."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal

from situs.errors import SitusError
from situs.score._numbers_tokens import Kind, Token, tokens
from situs.score._numbers_units import COUNT, RATIO, Unit, known_unit
from situs.score._numbers_words import count_in_words, difference, times_as_numbers
from situs.score._parse_claims import Claim, lone_sentences, sentences
from situs.score._parse_clean import clean
from situs.score._parse_common import Parsed, RefusedInWords, Result, Unparsed, agree, settle
from situs.score._parse_refusal import after_refusal, refuses

__all__ = ["UNIT_MISSING", "parse_number"]

UNIT_MISSING = "unit_missing"
"""Flag of a number without a unit, taken to be in the unit asked for."""

Ranges = Literal["reject", "midpoint"]

_HEDGE = re.compile(
    r"(?:[ ~≈=:(\"'-]|\b(?:about|approximately|approx\.?|around|roughly|circa|ca\.?|c\.|nearly|almost|exactly|"
    r"estimated|is|are|at|of|there|only|just|a total|total|an?|the|it|be|to|would|volume|count|length|distance|"
    r"area|value|answer)\b)*",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"[ .,!)\"'\ue001]*+(?:\([^()]*+\))?+[ .]*+")
_OPERATOR = re.compile(r"[ )]*[×x*·/+÷](?= ?[\d(.π])| ?[-–] ?[\d(]")
_EQUALS = re.compile(r"(?:[=≈]|≃|≅) ?(?:about |approximately |roughly |~ ?)?$", re.IGNORECASE)
# Behind "Answer:", a list mark or an answer: "1. 150 mL", "1) 150 mL"; on a line of its own also "1. The liver …".
_NUMBERED = re.compile(r"[0-9]{1,2}(?:\. (?=[~≈]? ?[0-9])|\) (?=\S))")
_NUMBERED_LINE = re.compile(r"[0-9]{1,2}[.)] (?=\S)")
_TOTAL = re.compile(r"\b(?:i(?: can)? count|a total of|in total,?|altogether,?) (?:about |exactly )?$", re.IGNORECASE)
_CONCLUSION = re.compile(
    r"(?:so|therefore|thus|hence|overall|in total|in conclusion|in summary|to conclude|conclusion|total)\b",
    re.IGNORECASE,
)


def parse_number(text: str, unit: str, *, ranges: Ranges = "reject") -> Result[Fraction]:
    """The reply's number, exactly, converted to `unit` (mm, cm², mL, %, `fraction`, …; empty for a count).

    A marked answer wins; then a reply that begins or ends with a bare number; then a last "= 25 mL" or "therefore …";
    then the only number in a compatible unit, else the only number without one (flag `unit_missing`). Ranges,
    dimensions, bounds and alternatives are no numbers; `ranges="midpoint"` takes the middle of a range instead.
    """
    asked = known_unit(unit)
    if asked is None:
        raise SitusError(
            f"no unit {unit!r}", fix="use mm, cm, m, mm², cm², mm³, cm³, mL, dL, L, %, fraction or '' for a count"
        )
    plain = clean(text)
    if not plain:
        return Unparsed("empty")
    if asked == RATIO:
        if difference(plain):
            return Unparsed("a difference, not a ratio")
        plain = times_as_numbers(plain)
    return _Reader(asked, ranges).read(plain)


class _Reader:
    def __init__(self, asked: Unit, ranges: Ranges) -> None:
        self.asked = asked
        self.ranges = ranges

    def read(self, plain: str) -> Result[Fraction]:
        result = settle(plain, self._claim)
        if result is not None:
            return result
        lone = [found for sentence in lone_sentences(plain) if (found := self._lone(sentence)) is not None]
        result = agree(lone) or self._concluded(plain)
        if result is not None:
            return result
        open_text = after_refusal(plain)
        result = self._only(open_text) if open_text else None
        if isinstance(result, Parsed):
            return result
        if refuses(plain):
            return RefusedInWords()
        return result or self._counted(plain) or Unparsed("no number")

    def _counted(self, text: str) -> Result[Fraction] | None:
        """None or one, where a count is asked for and the reply holds no other number."""
        count = count_in_words(text) if self.asked is COUNT else None
        return None if count is None else Parsed(Fraction(count))

    def _claim(self, claim: Claim) -> Result[Fraction] | None:
        payload = claim.payload
        if (_NUMBERED_LINE if claim.own_line else _NUMBERED).match(payload):
            return Unparsed("a list mark or an answer")
        found = tokens(payload, marked=True)
        if claim.tail and len(found) == 1 and found[0].units == (None,) and found[0].end == len(payload):
            payload = f"{payload} {claim.tail}"  # a unit behind the box
            found = tokens(payload, marked=True)
        if found and self._at_head(found[0], payload) and found[0].kind is not Kind.DIMENSIONS:
            return self._value(found[0])
        result = self._concluded(payload) or self._only(payload)
        if not isinstance(result, Parsed) and refuses(payload):
            return RefusedInWords()
        return result or self._counted(payload)

    def _lone(self, sentence: str) -> Result[Fraction] | None:
        """A sentence that is nothing but a number; what stands in brackets behind it does not count."""
        found = tokens(sentence)
        if not found or not self._at_head(found[0], sentence) or not _BEHIND.fullmatch(sentence, found[0].end):
            return None
        result = self._value(found[0])
        return result if isinstance(result, Parsed) else None

    def _concluded(self, text: str) -> Result[Fraction] | None:
        """The number behind the last equals sign, or in a last sentence that begins with "therefore"."""
        found = tokens(text)
        if found and self._is_value(found[-1]) and _EQUALS.search(text[max(0, found[-1].start - 20) : found[-1].start]):
            return self._value(found[-1])
        last = next((sentence for sentence in reversed(sentences(text)) if tokens(sentence)), "")
        if last and last != text and _CONCLUSION.match(last):
            result = self._only(last)
            return result if isinstance(result, Parsed) else None
        return None

    def _only(self, text: str) -> Result[Fraction] | None:
        found = tokens(text)
        if not found:
            return None
        values = [token for token in found if self._is_value(token)]
        with_unit = [token for token in values if self._converted(token, 0) is not None and token.units[0] is not None]
        bare = [token for token in values if token.units[0] is None]
        if not with_unit and any(token.units[0] is not None for token in values) and self.asked is not COUNT:
            return Unparsed("unit of another dimension")
        candidates = {self._value(token) for token in with_unit or bare}
        others = [token for token in found if not self._is_value(token) and token.kind is not Kind.BOUND]
        if not candidates:
            return self._no_candidate(found, values)
        totals = {self._value(token) for token in bare if _TOTAL.search(text[max(0, token.start - 24) : token.start])}
        if self.asked is COUNT and len(totals) == 1:  # "I count 3: one in the left lobe, two in the right"
            return totals.pop()
        if len(candidates) > 1:
            return Unparsed("several numbers")
        result = candidates.pop()
        return next((trouble for token in others if (trouble := self._conflict(token, result))), result)

    def _no_candidate(self, found: tuple[Token, ...], values: list[Token]) -> Unparsed:
        if values:
            return Unparsed("unit of another dimension")
        return Unparsed(found[0].kind.value)

    def _conflict(self, token: Token, result: Result[Fraction]) -> Unparsed | None:
        """A range or dimensions beside the only number: fine if they hold it or measure something else."""
        if token.kind is Kind.UNCLEAR:
            return Unparsed(token.kind.value)
        parts = [self._converted(token, index) for index in range(len(token.parts))]
        known = [part for part in parts if part is not None]
        if not isinstance(result, Parsed) or len(known) < len(parts):
            return None
        inside = min(known) <= result.value <= max(known) if token.kind is Kind.RANGE else result.value in known
        return None if inside else Unparsed(token.kind.value)

    def _at_head(self, token: Token, text: str) -> bool:
        hedged = _HEDGE.match(text)
        return hedged is not None and hedged.end() >= token.start and not _OPERATOR.match(text, token.end)

    def _is_value(self, token: Token) -> bool:
        return isinstance(self._value(token), Parsed) or token.kind is Kind.VALUE

    def _value(self, token: Token) -> Result[Fraction]:
        """One token as an answer."""
        parts = [self._converted(token, index) for index in range(len(token.parts))]
        known = [part for part in parts if part is not None]
        if token.kind is Kind.UNCLEAR:
            return Unparsed(token.kind.value)
        if len(known) < len(parts):
            return Unparsed("unit of another dimension" if token.kind is Kind.VALUE else token.kind.value)
        flags = (UNIT_MISSING,) if self.asked is not COUNT and not any(token.units) else ()
        if token.kind is Kind.VALUE or (token.kind is Kind.ALTERNATIVES and len(set(known)) == 1):
            return Parsed(known[0], flags)
        if token.kind is Kind.RANGE and self.ranges == "midpoint" and len(known) == 2:
            return Parsed((known[0] + known[1]) / 2, flags)
        share = token.kind is Kind.RATIO and self.asked.dimension == "share" and not any(token.units)
        if share and len(known) == 2 and known[1]:
            return Parsed(known[0] / known[1] / self.asked.size)
        return Unparsed(token.kind.value)

    def _converted(self, token: Token, index: int) -> Fraction | None:
        """A part in the asked unit; a part without a unit takes that of the last part that has one."""
        value = token.parts[index]
        unit = token.units[index] or next((unit for unit in reversed(token.units) if unit), None)
        if value is None:
            return None
        factor = Fraction(1) if unit is None else unit.to(self.asked)
        return None if factor is None else value * factor
