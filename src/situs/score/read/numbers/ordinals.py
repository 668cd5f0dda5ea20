"""Ordinals as words: "the twenty-third"."""

from __future__ import annotations

import re

__all__ = ["ORDINAL", "ordinal_value"]

# "First" is left out: it says where something begins.
_LOW = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth",
]  # fmt: skip
_TENS = ("twent", "thirt", "fort", "fift", "sixt", "sevent", "eight", "ninet")
_VALUES = {word: value for value, word in enumerate(_LOW, 1)}
_VALUES |= {f"{tens}ieth": 10 * value for value, tens in enumerate(_TENS, 2)}
_VALUES |= {f"{tens}y": 10 * value for value, tens in enumerate(_TENS, 2)}
_ALONE = "|".join(sorted((*_LOW[1:], *(f"{tens}ieth" for tens in _TENS)), key=len, reverse=True))
ORDINAL = re.compile(
    rf"\b(?:(?:{'|'.join(_TENS)})y[- ](?:{'|'.join(_LOW[:9])})|{_ALONE})\b", re.IGNORECASE
)
"""An English ordinal from the second to the ninety-ninth."""


def ordinal_value(text: str) -> int:
    """The value of a match of `ORDINAL`."""
    return sum(_VALUES[part] for part in re.split(r"[- ]", text.lower()))
