"""Words that carry the content of a question or a clause, made comparable."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from situs.score.read.prose.lexicon import language_file

__all__ = [
    "content_words",
    "fold",
    "noun",
    "opposites",
    "other_forms",
    "stem",
    "synonyms",
    "words_of",
]

_UNIT_GAP = re.compile(r"(?<=[0-9]) ?(?=(?:%|mm|cm|ml|m|l)\b|%)")

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


def words_of(text: str) -> list[str]:
    """All words of a text, in lower case and in order; hyphens part words."""
    return _WORD.findall(text.lower())


def content_words(text: str) -> list[str]:
    """The words of a text that name or place something, each as its noun in the singular."""
    idle = _idle()
    return [noun(word) for word in words_of(text) if word not in idle]


@lru_cache(maxsize=4096)
def noun(word: str) -> str:
    """ "Hepatic" is said of the liver, "kidneys" of a kidney."""
    word = word.removesuffix("'s")
    if word in _adjectives():
        return _adjectives()[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("i") and len(word) > 3:
        return word[:-1] + "us"  # "menisci"
    if word.endswith("ae"):
        return word[:-1]
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    if word.endswith("ing") and len(word) > 6:
        return word[:-3]
    if word.endswith(("ss", "us", "is")) or len(word) < 4:
        return word
    return word.removesuffix("s")


_ENDINGS = re.compile(
    r"(?:ification|ified|ifies|ations?|osis|osed|otic|ements?|ments?|ically|ical|ions?|ing|ings|ied"
    r"|ies|ed|es|al|ly|ic|e|s|y)$"
)
_SHORTEST_STEM = 4
_FROM_SION = {"ns": "nd", "as": "ad", "us": "ud", "os": "od"}
"""Ends of "extens-ion", "invas-ion", "protrus-ion", "eros-ion" as their verbs have them."""


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """What a verb, its noun and its adjective share: "extends", "extension" → "extend"."""
    word = noun(word)
    ending = _ENDINGS.search(word, _SHORTEST_STEM)
    if ending is None:
        return word
    root = word[: ending.start()]
    if ending[0].startswith("ion"):
        root = root[:-2] + _FROM_SION.get(root[-2:], root[-2:])
    elif ending[0].startswith("ation"):
        root += "at"
    return root.removesuffix("e")


def other_forms(word: str) -> list[str]:
    """The noun of an adjective and the adjectives of a noun ("spleen", "splenic")."""
    return [
        other for pair in _adjectives().items() for one, other in (pair, pair[::-1]) if one == word
    ]


@lru_cache(maxsize=1)
def opposites() -> dict[str, frozenset[str]]:
    """A word → those that say the opposite of it."""
    return _related(lambda own, other: other)


@lru_cache(maxsize=1)
def synonyms() -> dict[str, frozenset[str]]:
    """A word of contrast → those that say the same."""
    return _related(lambda own, other: own)


def _related(chosen: Callable[[list[str], list[str]], list[str]]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in language_file("en")["topic"]["opposites"]:
        one, other = (side.split() for side in pair.split("|"))
        for own, against in ((one, other), (other, one)):
            for word in own:
                found.setdefault(word, set()).update(chosen(own, against))
    return {word: frozenset(related) for word, related in found.items()}


@lru_cache(maxsize=1)
def _idle() -> frozenset[str]:
    return frozenset(language_file("en")["topic"]["idle"])


@lru_cache(maxsize=1)
def _adjectives() -> dict[str, str]:
    pairs = (pair.split() for pair in language_file("en")["yes_no"]["adjectives"])
    return {
        adjective: name.removesuffix("s") if name == "kidneys" else name
        for adjective, name in pairs
    }


def fold(text: str) -> str:
    """Case, quotes' and hyphens' variants and spacing made equal,
    so that the same words compare equal."""
    text = " ".join(text.casefold().replace("’", "'").replace("\u2212", "-").split())
    text = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", text)
    return _UNIT_GAP.sub(" ", text)
