"""What every reader does first with a reply."""

from __future__ import annotations

import re

from situs.score.read.prose.clean import MOST_CHARACTERS, clean
from situs.score.read.prose.courtesy import without_courtesies
from situs.score.read.prose.language import other_language
from situs.score.read.prose.shorthand import written_out
from situs.score.read.result import Unparsed

__all__ = ["plain_reply"]


# "It is hardly the gallbladder, is it?" asks nothing. Tried at the beginning of words only: from
# every letter of one long word the search would cost the square of its length.
_TAG = re.compile(
    r"(\b\w++ \w+[^,.?!\n]{0,80}), "
    r"(?:(?:is|are|was|does|do|has|can|could|would)(?:n't)? (?:it|they|there|he|she)"
    r"|right|no doubt|correct)\?",
    re.IGNORECASE,
)


# "The last is no. 15": an abbreviation, no answer.
_NUMBER = re.compile(
    r"\b((?:is|last|first|pictures?|slices?|images?|frames?|lesions?|marks?|options?) )no\. ?"
    r"(?=[0-9])"
)


# "!C", "!yes": negation as programs write it. Behind a word or a mark, "!" ends a sentence.
_NOT = re.compile(r"(?:(?<=^)|(?<=[\s(:,;\ue000]))!(?=[^\W_])", re.MULTILINE)


# "About 130-ish mm."
_ISH = re.compile(r"(?<=[0-9])[- ]?ish\b", re.IGNORECASE)


def plain_reply(text: str, language: str, question: str = "") -> str | Unparsed:
    """The reply as plain English words, or why it cannot be read."""
    if len(text) > MOST_CHARACTERS:
        return Unparsed(f"longer than {MOST_CHARACTERS:,} characters")
    plain = clean(text, language=language, question=question)
    if language == "en":
        plain = _NUMBER.sub(r"\1number ", written_out(plain))
        plain = _ISH.sub("", _NOT.sub("not ", plain))
        plain = _TAG.sub(r"\1.", without_courtesies(plain))
    if not plain:
        return Unparsed("empty")
    return Unparsed("in another language") if other_language(plain, language) else plain
