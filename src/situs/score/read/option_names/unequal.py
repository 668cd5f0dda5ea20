"""Replies that only say of options that they are not equal: "A ≠ C" chooses neither."""

from __future__ import annotations

import re
from collections.abc import Sequence

from situs.score.read.prose.tokens import Mention

__all__ = ["only_unequal"]

_SIGN = re.compile(r"≠|! ?=|=/=|<>|\\neq?\b")
_LEAD = re.compile(r"\W*(?:the )?(?:final )?answer\b(?: is\b)?", re.IGNORECASE)
_LETTER = re.compile(r"\b[A-Z]\b")
_NAMED, _UNEQUAL = "\x01", "\x02"
_LABELLED = re.compile(rf"{_NAMED}[.:)] ?{_NAMED}")
"""An option by its letter and its words: "A. the liver"."""
_ONLY = re.compile(f"(?:{_NAMED}{_UNEQUAL})+{_NAMED}")

_LONGEST = 1000
"""Characters of a reply that says nothing else."""


def only_unequal(plain: str, mentions: Sequence[Mention], cores: Sequence[str]) -> bool:
    """Whether a reply is options with signs of inequality between them, and says nothing else."""
    if len(plain) > _LONGEST or not _SIGN.search(plain):
        return False
    lead = _LEAD.match(plain)
    first = lead.end() if lead else 0
    text = plain
    for mention in mentions:
        if mention.start >= first:
            width = mention.end - mention.start
            text = text[: mention.start] + _NAMED * width + text[mention.end :]
    text = text[first:]
    for words in sorted(filter(None, cores), key=len, reverse=True):
        text = re.sub(rf"\b{re.escape(words)}\b", _NAMED, text, flags=re.IGNORECASE)
    text = re.sub(f"{_NAMED}+", _NAMED, text)
    text = _SIGN.sub(_UNEQUAL, _LETTER.sub(_NAMED, text))
    text = _LABELLED.sub(_NAMED, re.sub(r"\b[Tt]he ", "", text))
    return _ONLY.fullmatch(re.sub(rf"[^\w{_NAMED}{_UNEQUAL}]", "", text)) is not None
