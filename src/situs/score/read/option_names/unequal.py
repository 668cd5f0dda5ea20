"""Signs of inequality: "A ≠ C" says of both options that they differ, and chooses neither."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from situs.score.read.prose.tokens import Mention

__all__ = ["idle_beside_signs"]

_UNEQUAL = re.compile(r"≠|! ?=|=/=|<>|\\neq?\b")
_BEFORE = re.compile(r"[ \"')\]*]*")
"""Between an answer and the sign behind it."""
_BEHIND = re.compile(r"[ \"'(\[*]*(?:the )?", re.IGNORECASE)
_LABELS = re.compile(r"[.:)\]]+ ?(?:the )?", re.IGNORECASE)
"""Between an option's letter and its words: "C. liver"."""


def idle_beside_signs(
    plain: str, mentions: Sequence[Mention], cores: Sequence[str] = ()
) -> list[Mention]:
    """The mentions, of which those that a sign of inequality joins are no answers.

    `cores` are the words of the options; words that stand for several of them are no mention. A
    sign with an answer on one side only ("≠ B") denies it; that is left to the grammar.
    """
    named = [(one.start, one.end) for one in mentions]
    signs = list(_UNEQUAL.finditer(plain))
    for words in cores if signs else ():
        exact = re.compile(rf"\b{re.escape(words)}\b", re.IGNORECASE)
        named += [match.span() for match in exact.finditer(plain)]
    joined = {place for sign in signs for place in _joined(plain, named, sign)}
    return [replace(one, idle=True) if one.start in joined else one for one in mentions]


def _joined(plain: str, named: Sequence[tuple[int, int]], sign: re.Match[str]) -> list[int]:
    """Where the answers on both sides of a sign begin; none if a side names no answer."""
    left = list(_before(plain, named, sign.start()))
    right = list(_behind(plain, named, sign.end()))
    return [*left, *right] if left and right else []


def _before(plain: str, named: Sequence[tuple[int, int]], end: int) -> Iterator[int]:
    """The answer that ends here, and the letter that labels it."""
    between = _BEFORE
    for start, own_end in sorted(named, key=lambda span: -span[1]):
        if own_end <= end and between.fullmatch(plain, own_end, end):
            yield start
            end, between = start, _LABELS


def _behind(plain: str, named: Sequence[tuple[int, int]], start: int) -> Iterator[int]:
    """The answer that begins here, and the words that it labels."""
    between = _BEHIND
    for own_start, end in sorted(named):
        if own_start >= start and between.fullmatch(plain, start, own_start):
            yield own_start
            start, between = end, _LABELS
