"""A clause as structures, relations and negations, where every word of it is explained."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from situs.score.read.assertions.asked_relation import (
    MEASURES,
    WORD,
    AskedRelation,
    phrases_of_axis,
    relation_words,
    singular,
)
from situs.score.read.prose.content import opposites
from situs.score.read.prose.lexicon import language_file

__all__ = ["HEALTHY", "symbols_of"]

HEALTHY = frozenset({"normal", "intact", "unremarkable", "preserved", "healthy"})
"""Said of what is free of a finding; beside a negation of the finding they add nothing."""


def symbols_of(clause: str, asked: AskedRelation) -> list[str] | None:
    """The clause as structures (X, Y), relations (+, -, =) and negations;
    None if a word of it is not explained."""
    words = WORD.findall(clause.lower())
    negations = frozenset(relation_words()["negations"])
    # "A large tear" is a tear; "no large tear" leaves a small one.
    described = asked.axis == "presence" and not negations & set(words)
    plain = _plain(described=described)
    names = _names(asked)
    result: list[str] = []
    healthy = False
    absent = -1
    """Where "no" stands before what comes next: "no gland on the left" does not place the gland."""
    at = 0
    while at < len(words):
        named = _named_at(words, at, names) or _relation_at(words, at, asked)
        if named is not None:
            result.append(named[0])
            at += named[1]
            continue
        word = words[at]
        if word == "none":
            result += ["not", "it"]  # "none is seen"
        elif word in negations:
            absent = len(result) if word == "no" else absent
            result.append("not")
        elif word in {"it", "they", "one"}:
            result.append("it")
        elif word in HEALTHY:
            healthy = True
        elif singular(word) in asked.subject and asked.axis == "presence":
            pass  # "the menisci", where a meniscal tear is asked for
        elif (
            _names_both(words, at, asked)
            or _is_surface(word, asked)
            or (described and _describes(words, at, names))
        ):
            pass
        elif word not in plain and not _is_measured(words, at, asked):
            return None
        at += 1
    if (
        asked.axis not in {"presence", "contact"}
        and absent >= 0
        and result[absent + 1 : absent + 2] in (["X"], ["Y"])
    ):
        return None
    # "The menisci are normal without a tear"; "a normal tear" and "it is normal to see a tear" say
    # nothing.
    return None if healthy and not ("not" in result and asked.axis == "presence") else result


def _describes(words: Sequence[str], at: int, names: Sequence[tuple[tuple[str, ...], str]]) -> bool:
    """Whether an adjective before a finding says what kind it is ("a lacunar infarct")."""
    kind = words[at].endswith(_OF_A_KIND) and words[at] not in _PERHAPS
    # "Lateral", "frontal": where it is, against what may be asked.
    kind = kind and words[at] not in opposites()
    return kind and _named_at(words, at + 1, names) is not None


_OF_A_KIND = ("ar", "al", "ic", "ous", "ary", "oid")
_PERHAPS = frozenset({"potential", "equivocal", "hypothetical", "theoretical", "dubious"})


def _names_both(words: Sequence[str], at: int, asked: AskedRelation) -> bool:
    """Whether a word names both that are compared ("the longer of the two kidneys")."""
    noun = singular(words[at])
    both = asked.subject[-1:] == asked.object[-1:] == (noun,)
    return both and noun != words[at] and words[at - 1 : at] in (["two"], ["both"])


def _is_surface(word: str, asked: AskedRelation) -> bool:
    """Whether a word only tells what part of a structure is touched ("the wall of the vessel")."""
    return asked.axis == "contact" and singular(word) in relation_words()["surface"]


def _alike_at(words: Sequence[str], at: int) -> int:
    """How many words from here on say that two things are alike."""
    phrases = (phrase.split() for phrase in relation_words()["alike"])
    return max((len(one) for one in phrases if list(words[at : at + len(one)]) == one), default=0)


def _is_measured(words: Sequence[str], at: int, asked: AskedRelation) -> bool:
    """Whether a word is a measure, or tells how or where it was taken ("at the hiatus")."""
    if words[at][0].isdigit() or words[at] in {"mm", "cm", "ml"}:
        return True
    placed = not _WHEREABOUTS.isdisjoint(words[max(0, at - 2) : at])
    taken = placed or words[at].endswith(("ly", "est"))
    return bool(asked.bound) and taken and singular(words[at]) not in _structures()


_COMPARING = frozenset({*MEASURES, "vertical"})
"""Axes on which two can be alike."""
_WHEREABOUTS = frozenset({"at", "by", "near", "on", "in"})


@lru_cache(maxsize=1)
def _structures() -> frozenset[str]:
    return frozenset(singular(word) for word in language_file("en")["numbers"]["structures"])


def _length(words: Sequence[str], at: int, name: tuple[str, ...]) -> int:
    """How many words a name covers from here on,
    articles and "of" inside it included; 0 if it is not there."""
    end = at
    for part in name:
        while part is not name[0] and end < len(words) and words[end] in {"the", "of", "a"}:
            end += 1
        if end >= len(words) or singular(words[end]) != part:
            return 0
        end += 1
    return end - at


@lru_cache(maxsize=1024)
def _names(asked: AskedRelation) -> tuple[tuple[tuple[str, ...], str], ...]:
    """How the two structures may be called, longest first:
    with or without their attributes, if that is unambiguous."""
    found: dict[tuple[str, ...], str] = {}
    ends = {
        symbol: _endings(words) for symbol, words in (("X", asked.subject), ("Y", asked.object))
    }
    for symbol, other in (("X", "Y"), ("Y", "X")):
        for name in ends[symbol] - ends[other]:
            if len(name) > 1 or name[0] in _SIDES or name[0] not in _firsts(asked):
                found[name] = symbol
    return tuple(sorted(found.items(), key=lambda pair: -len(pair[0])))


_SIDES = frozenset({"left", "right", "upper", "lower", "medial", "lateral"})
"""Attributes that name one of two alike ("the left is larger")."""


def _firsts(asked: AskedRelation) -> set[str]:
    """First words of names that have more than one: they name nothing by themselves."""
    return {words[0] for words in (asked.subject, asked.object) if len(words) > 1}


def _endings(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    """A name and what is left of it without its first words, those in its middle or its side."""
    if not words:
        return set()
    endings = {words[start:] for start in range(len(words))}
    unsided = tuple(word for word in words if word not in {"left", "right"})
    # "The lower pole", of whatever has two.
    poles = {words[:2]} if words[1:2] == ("pole",) else set()
    return (
        endings | poles | {(words[0], words[-1]), (words[0],)} | ({unsided} if unsided else set())
    )


def _named_at(
    words: Sequence[str], at: int, names: Sequence[tuple[tuple[str, ...], str]]
) -> tuple[str, int] | None:
    """Which of the two structures is named here, and in how many words."""
    for name, symbol in names:
        length = _length(words, at, name)
        if length:
            # "The left one" is the left kidney, and no other.
            return symbol, length + (list(words[at + length : at + length + 1]) == ["one"])
    return None


def _relation_at(words: Sequence[str], at: int, asked: AskedRelation) -> tuple[str, int] | None:
    alike = _alike_at(words, at) if asked.object and asked.axis in _COMPARING else 0
    if alike:
        return "=", alike
    for phrase, sign in _by_length(asked.axis):
        if tuple(words[at : at + len(phrase)]) == phrase:
            return sign, len(phrase)
    return None


@lru_cache(maxsize=16)
def _by_length(axis: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    pairs = [
        (tuple(phrase.split()), "+" if end else "-")
        for end in (True, False)
        for phrase in phrases_of_axis(axis, end)
    ]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=2)
def _plain(*, described: bool) -> frozenset[str]:
    """Words that a statement may hold beside what it compares, or that tell more of a finding."""
    return frozenset(
        [*relation_words()["plain"], *(relation_words()["described"] if described else [])]
    )
