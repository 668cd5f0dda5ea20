"""Radiologists' shorthand written out ("RT kidney", "w/o"), and what was dictated ("no comma none
seen full stop")."""

from __future__ import annotations

import re
from functools import lru_cache

from situs.score.read.prose.lexicon import language_file

__all__ = ["written_out"]

_RANKS = (
    "first", "second", "third", "fourth", "fifth", "sixth",
    "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
)  # fmt: skip
_VERTEBRA = re.compile(
    rf"\b({'|'.join(_RANKS)}) (lumbar|thoracic|cervical)(?: (?:vertebral"
    r" body|vertebra|level|body))?",
    re.IGNORECASE,
)


# Marks that were dictated as words. "Comma" is said of nothing else; a "period" may be one of time,
# so only a "full stop" is taken for one.
_DICTATED = (
    (re.compile(r",? comma\b,?", re.IGNORECASE), ","),
    (re.compile(r",? (?:full stop|new (?:line|paragraph))\b\.?", re.IGNORECASE), "."),
    (re.compile(r"\s+(?:stroke|slash) ", re.IGNORECASE), "/"),
)
_SIDES = {"R": "right", "L": "left"}
_SIDED = re.compile(
    r"\b([RL])\.?(?=[ -](?:kidney|adrenal|lung|lobe|side|sided|ovary|hip|femur|knee|ventricle"
    r"|hemisphere|renal|psoas|hepatic)\b)"
)
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75", "⅓": ".333", "⅔": ".667"}
_FRACTION = re.compile(rf"(?P<whole>(?<![0-9])[0-9]+)? ?(?P<part>[{''.join(_FRACTIONS)}])")
# "Option B please": said to whoever marks the answer.
_PLEASE = re.compile(r"(?<=\w)(?:,| -)? (?:please|thanks|thank you|cheers)[ .!]*$", re.IGNORECASE)


# "L3/4", "L3-4": two vertebrae and what lies between them, not the upper one.
_BETWEEN = re.compile(r"\b([CTLS])([0-9]{1,2}) ?[/–-] ?([0-9]{1,2})\b(?! ?(?:mm|cm))")


def written_out(text: str) -> str:
    """The text with shorthand in full words; capitals count, so that "us" and "AP" stay apart."""
    table = _table()
    for spoken, mark in _DICTATED:
        text = spoken.sub(mark, text)
    text = _FRACTION.sub(lambda match: f"{match['whole'] or 0}{_FRACTIONS[match['part']]}", text)
    text = _SIDED.sub(lambda match: _SIDES[match[1]], _PLEASE.sub("", text))
    text = _pattern().sub(lambda match: table[match[0]], text)
    text = _BETWEEN.sub(r"\1\2/\1\3", text)
    return _VERTEBRA.sub(
        lambda match: f"{match[2][0].upper()}{_RANKS.index(match[1].lower()) + 1}", text
    )


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    pairs = (pair.split(" = ") for pair in language_file("en")["shorthand"]["written"])
    return {short: full for shorts, full in pairs for short in shorts.split(" | ")}


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    shorts = "|".join(re.escape(short) for short in sorted(_table(), key=len, reverse=True))
    return re.compile(rf"(?<![\w/])(?:{shorts})(?![\w/])")
