"""Replies in other languages: told apart from English,
and put into English words where a language is declared."""

from __future__ import annotations

import re
from functools import lru_cache

from situs.errors import SitusError, did_you_mean
from situs.score.read.prose.lexicon import LANGUAGES, language_file

__all__ = ["glossed", "known_language", "other_language"]

_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?:'[^\W\d_]+)?(?![\w-])")
_SCRIPT = re.compile(r"[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENOUGH = 6
"""Foreign letters of other scripts that a reply in English may hold: Greek symbols, mostly."""


def known_language(language: str) -> str:
    """The language if replies in it can be read; an error that names those if not."""
    if language not in LANGUAGES:
        raise SitusError(
            f"no reply language {language!r}{did_you_mean(language, LANGUAGES)}",
            fix=f"use one of {', '.join(LANGUAGES)}",
        )
    return language


def other_language(plain: str, language: str) -> bool:
    """Whether a reply is in a language that was not declared, so that its "not" would go unseen."""
    if language != "en":
        return False
    words = [word.lower() for word in _WORD.findall(plain)]
    scripted = len(_SCRIPT.findall(plain))
    if scripted and (scripted > _ENOUGH or scripted * 2 >= sum(len(word) for word in words)):
        return True
    foreign = sum(word in _foreign() for word in words)
    return foreign > sum(word in _common() for word in words)


def glossed(text: str, language: str) -> str:
    """A reply of a declared language with the words that matter put into English."""
    if language == "en" or not (_foreign_words(text, language) or _SCRIPT.search(text)):
        return text
    table, pattern = _gloss(language)
    return pattern.sub(lambda match: table[match[0].casefold()], text)


def _foreign_words(text: str, language: str) -> bool:
    """Whether a reply is not in English after all:
    baselines and many models answer in it whatever is asked."""
    table, _ = _gloss(language)
    words = [word.lower() for word in _WORD.findall(text)]
    return sum(word in table for word in words) > sum(word in _common() for word in words)


@lru_cache(maxsize=8)
def _gloss(language: str) -> tuple[dict[str, str], re.Pattern[str]]:
    record = language_file(language)
    table = {
        phrase: english for english, phrases in record["phrases"].items() for phrase in phrases
    }
    # Chinese sets no spaces between words, so that its phrases are found anywhere, with spaces put
    # around them.
    spaced = language != "zh"
    alternatives = "|".join(re.escape(phrase) for phrase in sorted(table, key=len, reverse=True))
    pattern = re.compile(
        rf"(?<!\w)(?:{alternatives})(?!\w)" if spaced else alternatives, re.IGNORECASE
    )
    return {
        phrase.casefold(): english if spaced else f" {english} "
        for phrase, english in table.items()
    }, pattern


@lru_cache(maxsize=1)
def _foreign() -> frozenset[str]:
    return frozenset(language_file("en")["languages"]["foreign"])


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    return frozenset(language_file("en")["languages"]["english"])
