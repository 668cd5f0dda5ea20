"""Radiologists' shorthand written out: "RT kidney", "GB inf to panc", "w/o"."""

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


def written_out(text: str) -> str:
    """The text with shorthand in full words; capitals count, so that "us" and "AP" stay apart."""
    table = _table()
    text = _pattern().sub(lambda match: table[match[0]], text)
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
