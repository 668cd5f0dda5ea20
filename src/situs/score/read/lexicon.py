"""The words that decide how a reply is meant, read from the data files beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import product

__all__ = ["LANGUAGES", "Lexicon", "english", "language_file"]

LANGUAGES = ("en", "de", "fr", "es", "zh")
"""Languages whose replies can be read."""


@dataclass(frozen=True)
class Lexicon:
    """Phrases by what they do, and words that may stand beside a bare answer."""

    signals: dict[str, list[tuple[tuple[str, ...], str]]]
    """First word → (all words of the phrase, class), longest first."""
    fillers: frozenset[str]
    verbs: frozenset[str]

    def longest(self, words: list[str], at: int) -> tuple[str, int] | None:
        """The class and length, in words, of the longest phrase that begins at a word."""
        for phrase, signal in self.signals.get(words[at], ()):
            if words[at : at + len(phrase)] == list(phrase):
                return signal, len(phrase)
        return None


@lru_cache(maxsize=1)
def english() -> Lexicon:
    """The words of English."""
    record = language_file("en")
    signals: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for signal, phrase in (*_phrases(record["signals"]), *_reported(record["reported"])):
        words = tuple(phrase.split())
        signals.setdefault(words[0], []).append((words, signal))
    for phrases in signals.values():
        phrases.sort(key=lambda pair: -len(pair[0]))
    fillers = record["fillers"]
    return Lexicon(signals, frozenset(fillers["words"]), frozenset(fillers["verbs"]))


@lru_cache(maxsize=8)
def language_file(language: str) -> dict[str, dict[str, list[str]]]:
    """The data file of a language as it stands."""
    text = files("situs.score.read").joinpath("words", f"{language}.toml").read_text("utf-8")
    return tomllib.loads(text)


def _reported(words: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """What others say, as what is only said first."""
    for parts in product(words["subjects"], words["modals"], words["verbs"]):
        yield "first", " ".join(part for part in parts if part)


def _phrases(signals: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    for signal, phrases in signals.items():
        for phrase in phrases:
            yield signal, phrase
