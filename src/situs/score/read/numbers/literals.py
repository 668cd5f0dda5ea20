"""Numerals and number words, read exactly."""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = ["NUMERAL", "WORD", "numeral", "word_value"]

_MOST_DIGITS = 30

NUMERAL = re.compile(
    r"(?:(?<![\w.^])|(?<=[0-9]x))(?:[0-9]+(?:[.,'][0-9]+)*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
    r"(?: ?[×x*·] ?10 ?(?:\^ ?[+-]?[0-9]{1,2}|[⁻⁰¹²³⁴-⁹]{1,3}))?",
    re.IGNORECASE,
)
"""A number in digits, with its power of ten.

Never inside a word (L1, T12), and linear: nothing after it can fail.
"""

_UNITS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {word: value for value, word in enumerate(_UNITS)} | {
    word: 10 * (2 + i) for i, word in enumerate(_TENS)
}
_LONGEST_FIRST = "|".join(sorted(_UNITS, key=len, reverse=True))
WORD = re.compile(
    rf"\b(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_UNITS[1:10])}))?|(?:one |a"
    rf" )?hundred|{_LONGEST_FIRST})\b",
    re.IGNORECASE,
)
"""An English number word from zero to a hundred."""

_PARTS = re.compile(
    r"([0-9.,']+)(?:e([+-]?[0-9]+))?(?: ?[×x*·] ?10 ?(?:\^ ?([+-]?[0-9]+)|([⁻⁰¹²³⁴-⁹]+)))?",
    re.IGNORECASE,
)
_SUPERSCRIPT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def numeral(text: str) -> Fraction | None:
    """The value of a match of `NUMERAL`; None if it is no plain number (a date, a list, absurdly
    long).

    1,200 is twelve hundred and 1,5 is one and a half: a single comma groups thousands only before
    exactly three digits and after one to three. A single dot is always decimal. With both, the last
    one is decimal.
    """
    match = _PARTS.fullmatch(text)
    if not match or sum(c.isdigit() for c in text) > _MOST_DIGITS:
        return None
    mantissa = _mantissa(match[1])
    raised = match[4].translate(_SUPERSCRIPT) if match[4] else match[3]
    exponents = [part for part in (match[2], raised) if part]
    if mantissa is None or any(not re.fullmatch(r"[+-]?[0-9]{1,3}", part) for part in exponents):
        return None
    power = sum(int(part) for part in exponents)
    return mantissa * Fraction(10) ** power if abs(power) <= _MOST_DIGITS else None


def word_value(text: str) -> Fraction:
    """The value of a match of `WORD`."""
    word = text.lower()
    if word.endswith("hundred"):
        return Fraction(100)
    return Fraction(sum(_VALUES[part] for part in re.split(r"[- ]", word)))


def _mantissa(text: str) -> Fraction | None:
    text = re.sub(r"'(?=[0-9]{3}(?![0-9]))", "", text)
    if "'" in text:
        return None
    commas, dots = text.count(","), text.count(".")
    if commas and dots:
        decimal, group = (".", ",") if text.rfind(".") > text.rfind(",") else (",", ".")
        if text.count(decimal) > 1:
            return None
        integer_part, _, part = text.partition(decimal)
        return (
            Fraction(f"{integer_part.replace(group, '')}.{part}")
            if _grouped(integer_part, group)
            else None
        )
    if commas > 1 or dots > 1:
        group = "," if commas else "."
        return Fraction(text.replace(group, "")) if _grouped(text, group) else None
    if commas:
        integer_part, _, part = text.partition(",")
        if len(part) != 3 or integer_part.strip("0") == "":
            return Fraction(f"{integer_part}.{part}")
        return Fraction(integer_part + part) if _grouped(text, ",") else None
    return Fraction(text)


def _grouped(text: str, group: str) -> bool:
    first, *others = text.split(group)
    return 1 <= len(first) <= 3 and first[0] != "0" and all(len(part) == 3 for part in others)
