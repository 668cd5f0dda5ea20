"""Options named by their parts: "the lower lobe, on the right" for "right lower lobe"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from situs.score.read.option_names.phrases import GENERIC
from situs.score.read.prose.content import content_words, noun
from situs.score.read.prose.tokens import Mention

__all__ = ["composed_names"]

_SENTENCE = re.compile(r"[^.;!?\n]+")
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)
_DENYING = re.compile(
    r"\b(?:not|no|nor|neither|without|than|rather|except|or|if|eliminated|excluded)\b|n't\b",
    re.IGNORECASE,
)
_FARTHEST = 60
"""Characters between the first and the last part of a name."""


def composed_names(plain: str, cores: tuple[str, ...], named: list[Mention]) -> Iterator[Mention]:
    """Where a sentence that names no option otherwise holds all parts of one, and of no other.

    Parts are the words that tell options apart where each of them belongs to several ("right",
    "lower"); what only one option has names it by itself (`situs.score.read.option_names.phrases`).
    """
    parts = _parts(cores)
    if not parts:
        return
    every = frozenset().union(*parts)
    for sentence in _SENTENCE.finditer(plain):
        if any(sentence.start() <= one.start < sentence.end() for one in named):
            continue
        words = [
            (noun(match[0].lower()), match.start(), match.end())
            for match in _WORD.finditer(plain, *sentence.span())
        ]
        held = frozenset(word for word, _, _ in words) & every
        if held not in parts:
            continue
        places = [(start, end) for word, start, end in words if word in held]
        start, end = places[0][0], places[-1][1]
        if end - start <= _FARTHEST and not _DENYING.search(plain, start, end):
            yield Mention(start, end, parts.index(held))


@lru_cache(maxsize=512)
def _parts(cores: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    """What tells each option from the others; nothing where that is a single word."""
    words = [frozenset(content_words(core)) for core in cores]
    shared = frozenset.intersection(*words) if words else frozenset()
    parts = tuple(one - shared - GENERIC for one in words)
    several = sum(len(one) > 1 for one in parts)
    return parts if several == len(parts) > 2 and len(set(parts)) == len(parts) else ()
