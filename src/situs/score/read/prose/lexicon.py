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

    signals: dict[tuple[str, ...], str]
    """The words of a phrase → its class."""
    lengths: dict[str, tuple[int, ...]]
    """First word → how many words its phrases have, longest first."""
    fillers: frozenset[str]
    verbs: frozenset[str]

    def longest(self, words: list[str], at: int) -> tuple[str, int] | None:
        """The class and length, in words, of the longest phrase that begins at a word."""
        for length in self.lengths.get(words[at], ()):
            phrase = tuple(words[at : at + length])  # shorter than asked for at the end of the text
            if phrase in self.signals:
                return self.signals[phrase], len(phrase)
        return None


@lru_cache(maxsize=1)
def english() -> Lexicon:
    """The words of English."""
    record = language_file("en")
    phrases = [
        *_reported(record["reported"]),
        *_announced(record["announced"]),
        *_modest(record["modest"]),
        *_phrases(record["signals"]),
    ]
    signals = {tuple(phrase.split()): signal for signal, phrase in phrases}
    lengths: dict[str, set[int]] = {}
    for words in signals:
        lengths.setdefault(words[0], set()).add(len(words))
    longest = {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}
    fillers = record["fillers"]
    return Lexicon(signals, longest, frozenset(fillers["words"]), frozenset(fillers["verbs"]))


@lru_cache(maxsize=8)
def language_file(language: str) -> dict[str, dict[str, list[str]]]:
    """The data file of a language as it stands."""
    text = files("situs.score.read").joinpath("words", f"{language}.toml").read_text("utf-8")
    return tomllib.loads(text)


def _reported(words: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """What others say, as what is only said first."""
    others = [" ".join(pair) for pair in product(words["quantifiers"], words["people"])]
    for parts in product([*words["subjects"], *others], words["modals"], words["verbs"]):
        yield "first", " ".join(part for part in parts if part)


def _announced(words: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """What leads to the reply's own answer; "final" ones are classed by the signals."""
    people = [" ".join(filter(None, pair)) for pair in product(words["subjects"], words["modals"])]
    for pair in product([*people, *words["contracted"]], words["verbs"]):
        yield "answer", " ".join(pair)
    for pair in product(words["preparing"], words["verbs"]):
        yield "neutral", " ".join(pair)
    for adjective, noun in product(words["adjectives"], words["nouns"]):
        yield "final" if adjective == "final" else "answer", f"{adjective} {noun}"


def _modest(words: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """What sounds like a condition and is none."""
    for parts in product(words["openings"], words["verbs"], words["objects"]):
        yield "neutral", " ".join(part for part in parts if part)


def _phrases(signals: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    for signal, phrases in signals.items():
        for phrase in phrases:
            yield signal, phrase
