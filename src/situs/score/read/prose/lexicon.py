"""The words that decide how a reply is meant, read from the data files beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TypeAlias

__all__ = ["LANGUAGES", "Lexicon", "english", "language_file"]

LANGUAGES = ("en", "de", "fr", "es", "zh")
"""Languages whose replies can be read."""


@dataclass(frozen=True)
class Frame:
    """A phrase of slots, each with several fillings
    ("many readers" + "would" + "say"), and its class."""

    signal: str
    slots: tuple[PhraseTable, ...]
    """Each by its first word; an empty first word stands for a slot that may be left out."""

    def length(self, words: list[str], at: int) -> int:
        """How many words the frame covers from a word on; 0 if it does not fit."""
        return self._rest(words, at, 0) or 0

    def _rest(self, words: list[str], at: int, slot: int) -> int | None:
        """The words that the slots from one on cover; None if they do not fit."""
        if slot == len(self.slots):
            return 0
        table = self.slots[slot]
        for phrase in table.get(words[at], ()) if at < len(words) else ():
            if tuple(words[at : at + len(phrase)]) == phrase:
                remaining = self._rest(words, at + len(phrase), slot + 1)
                if remaining is not None:
                    return len(phrase) + remaining
        return self._rest(words, at, slot + 1) if "" in table else None


@dataclass(frozen=True)
class Lexicon:
    """Phrases by what they do, and words that may stand beside a bare answer."""

    signals: dict[tuple[str, ...], str]
    """The words of a phrase → its class."""
    lengths: dict[str, tuple[int, ...]]
    """First word → how many words its phrases have, longest first."""
    frames: dict[str, tuple[Frame, ...]]
    """First word → the frames that may begin with it."""
    fillers: frozenset[str]
    verbs: frozenset[str]
    adverbs: frozenset[str]
    """Words that may stand inside a phrase without changing it."""

    def longest(self, words: list[str], at: int) -> tuple[str, int] | None:
        """The class and length, in words, of the longest phrase that begins at a word."""
        best = self._phrase(words, at)
        for frame in self.frames.get(words[at], ()):
            length = frame.length(words, at)
            if length > (best[1] if best else 0):
                best = frame.signal, length
        return best

    def _phrase(self, words: list[str], at: int) -> tuple[str, int] | None:
        lengths = self.lengths.get(words[at], ())
        for length in lengths:
            phrase = tuple(words[at : at + length])  # shorter than asked for at the end of the text
            if phrase in self.signals:
                return self.signals[phrase], len(phrase)
        return None


@lru_cache(maxsize=1)
def english() -> Lexicon:
    """The words of English."""
    record = language_file("en")
    signals = {tuple(phrase.split()): signal for signal, phrase in _phrases(record["signals"])}
    lengths: dict[str, set[int]] = {}
    for words in signals:
        lengths.setdefault(words[0], set()).add(len(words))
    longest = {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}
    fillers = record["fillers"]
    beside, verbs, adverbs = (frozenset(fillers[kind]) for kind in ("words", "verbs", "adverbs"))
    frames: dict[str, list[Frame]] = {}
    for frame in _frames(record):
        for first in frame.slots[0]:
            frames.setdefault(first, []).append(frame)
    by_first = {first: tuple(found) for first, found in frames.items()}
    return Lexicon(signals, longest, by_first, beside, verbs, adverbs)


@lru_cache(maxsize=8)
def language_file(language: str) -> dict[str, dict[str, list[str]]]:
    """The data file of a language as it stands."""
    text = files("situs.score.read").joinpath("words", f"{language}.toml").read_text("utf-8")
    return tomllib.loads(text)


def _frames(record: dict[str, dict[str, list[str]]]) -> Iterator[Frame]:
    reported, announced, modest = record["reported"], record["announced"], record["modest"]
    adverbs = ["", *record["fillers"]["adverbs"]]
    # What others say, as what is only said first.
    reporting = (["", *reported["modals"]], adverbs, reported["verbs"])
    yield _frame("first", reported["subjects"], *reporting)
    yield _frame("first", reported["quantifiers"], reported["people"], *reporting)
    yield _frame("first", reported["according"], reported["whose"], reported["sources"])
    yield _frame("first", reported["nearly"], adverbs, announced["verbs"])
    # What leads to the reply's own answer, and what only prepares for one.
    yield _frame("answer", announced["subjects"], announced["modals"], adverbs, announced["verbs"])
    yield _frame("answer", announced["contracted"], adverbs, announced["verbs"])
    yield _frame("answer", announced["participles"])
    yield _frame("answer", announced["being"], announced["participles"])
    yield _frame("settle", announced["settling"], announced["choosing"])
    yield _frame("neutral", announced["preparing"], announced["verbs"])
    yield _frame("answer", announced["adjectives"], announced["nouns"])
    yield _frame(
        "answer", announced["owners"], ["", *announced["qualities"]], announced["opinions"]
    )
    yield _frame("answer", ["the", "a"], announced["qualities"], announced["replies"])
    # What sounds like a condition and is none.
    yield _frame("neutral", record["pressed"]["openings"], record["pressed"]["verbs"])
    yield _frame("neutral", record["procedure"]["openings"], record["procedure"]["verbs"])
    yield _frame("neutral", record["pictures"]["nouns"], record["pictures"]["participles"])
    yield _frame("neutral", modest["openings"], modest["verbs"], modest["objects"])


PhraseTable: TypeAlias = dict[str, tuple[tuple[str, ...], ...]]


def _frame(signal: str, *slots: list[str]) -> Frame:
    tables: list[PhraseTable] = []
    for slot in slots:
        table: dict[str, list[tuple[str, ...]]] = {}
        for phrase in slot:
            words = tuple(phrase.split())
            table.setdefault(words[0] if words else "", []).append(words)
        tables.append(
            {first: tuple(sorted(found, key=len, reverse=True)) for first, found in table.items()}
        )
    return Frame(signal, tuple(tables))


def _phrases(signals: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    for signal, phrases in signals.items():
        for phrase in phrases:
            yield signal, phrase
