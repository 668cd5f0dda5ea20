"""Replies to a yes/no question that state how things are, instead of saying yes or no.

The question is read as a subject, a relation and an object ("the left kidney", above, "the stomach") or a bound
("within 50 mm of …"). A clause of the reply counts only if every word of it is explained: the two structures, a
relation on the same axis, a negation, or a word that does not matter. One word more ("the *hilum of* the left kidney")
and it says nothing. Sentences with a condition or a doubt say nothing either, and all clauses that do must agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from situs.score.read.framing import without_frame
from situs.score.read.numbers.tokens import Kind, tokens
from situs.score.read.numbers.units import Unit
from situs.score.read.prose.lexicon import language_file

__all__ = ["stated"]

_AXES = ("vertical", "depth", "side", "size", "reach", "contact", "presence")
_SYMMETRIC = frozenset({"reach", "contact", "presence"})
"""Axes on which it does not matter which of the two is the subject."""

_DIRECTION = re.compile(
    r"(?:is|are|does|do) (?P<subject>.+?) (?:(?:lie|sit|located|lying) )?"
    r"(?P<relation>above|below|in front of|behind|to the left of|to the right of) "
    r"(?P<object>[^,?]+)(?:, from the patient's point of view)?\?"
)
_WITHIN = re.compile(
    r"(?:is|are) (?P<subject>.+?) (?P<relation>within) (?P<bound>[0-9][^?]*?) of (?P<object>[^,?]+)\?"
)
_SIZE = re.compile(
    r"(?:is|are) (?P<subject>.+?) (?P<relation>larger than|smaller than) (?P<bound>[0-9][^?]*)\?"
)
_CONTACT = re.compile(r"(?:does|do) (?P<subject>.+?) (?P<relation>touch) (?P<object>[^,?]+)\?")
_PLACE = r"(?: (?:on|in) (?:this|any|the) [a-z ]+)?"
_PRESENCE = re.compile(
    rf"(?:(?:did|has) the reader (?P<relation>marke?d?) (?P<subject>[^,?]+?){_PLACE}"
    rf"|according to the reader, does this (?:slice|volume) show (?P<shown>[^,?]+)"
    rf"|(?:is|are) (?:there )?(?P<there>[^,?]+?)(?: (?:annotated|present|visible|marked|seen)){_PLACE})\?"
)
_FORMS = (_WITHIN, _SIZE, _DIRECTION, _CONTACT, _PRESENCE)
_NORMAL = re.compile(
    r"\b(?:no|not|normal|absent|free|without|unremarkable|intact|lacks?|none)\b|n't"
)
"""A question that speaks of absence itself: what "no" would mean is not clear."""

_SENTENCE = re.compile(r"(?:[^.;!?\n]|\.(?=[0-9]))+(?P<end>[.;!?\n]|$)")
_AGREED = re.compile(
    r"\bi(?: would|'d) (?:agree|say|argue|think|conclude|maintain) that\b|\bif only\b"
)
"""What introduces a statement, or tones it down, without a condition."""
_CLAUSE = re.compile(
    r",| - | – |—|:|\b(?:even )?though\b|\balthough\b|\bdespite\b"
    r"|\bbecause\b|\bsince\b|\bwhereas\b|\bwhile\b|\bso\b|\bas\b|\(|\)"
)
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|[0-9]+(?:[.,][0-9]+)?|%")
_SIZED = re.compile(r"\bmeasur(?:es|ing)\b(?!.*\b(?:away|apart|from|distance|gap|between)\b)")
"""The size of the subject ("the lesion measures 32 mm"), where its distance is asked for."""
_LONGEST = 2_000
"""Characters of a reply that are read as statements; longer ones argue rather than answer."""


@dataclass(frozen=True, slots=True)
class _Asked:
    subject: tuple[str, ...]
    object: tuple[str, ...]
    axis: str
    positive: bool
    """At which end of its axis the question places its subject."""
    bound: str = ""


def stated(plain: str, question: str) -> bool | None:
    """True if the reply states what the question asks, False if it states the opposite; None if neither is sure."""
    asked = _asked(question)
    if asked is None or len(plain) > _LONGEST:
        return None
    answers = {
        answer
        for clause in _clauses(plain)
        for answer in _answers(clause, asked)
        if answer is not None
    }
    return answers.pop() if len(answers) == 1 else None


@lru_cache(maxsize=1024)
def _asked(question: str) -> _Asked | None:
    text = " ".join(question.lower().split())
    for pattern in _FORMS:
        match = pattern.fullmatch(text) or pattern.match(text)
        if match is None:
            continue
        groups = match.groupdict()
        subject = groups.get("subject") or groups.get("shown") or groups.get("there") or ""
        if pattern is _PRESENCE:
            return None if _NORMAL.search(text) else _Asked(_nouns(subject), (), "presence", True)
        axis = {_WITHIN: "reach", _SIZE: "size", _CONTACT: "contact"}.get(pattern) or _axis(
            groups["relation"]
        )
        positive = groups["relation"] in _phrases(axis, True)
        return _Asked(
            _nouns(subject),
            _nouns(groups.get("object") or ""),
            axis,
            positive,
            groups.get("bound") or "",
        )
    return None


def _axis(relation: str) -> str:
    return next(
        axis
        for axis in ("vertical", "depth", "side")
        for end in (True, False)
        if relation in _phrases(axis, end)
    )


def _clauses(plain: str) -> Iterator[str]:
    """The clauses of sentences that state something without condition or doubt."""
    unsettled = frozenset(_words()["unsettled"])
    for sentence in _SENTENCE.finditer(plain):
        text = _AGREED.sub(" ", sentence[0].lower().rstrip(".;!?\n"))
        words = _WORD.findall(text)
        # "Provided the scan is not flipped, …" sets a condition; "based on the images provided, …" does not.
        conditional = words[:1] in (["provided"], ["assuming"], ["were"], ["had"])
        if sentence["end"] != "?" and not conditional and not unsettled & set(words):
            for clause in _CLAUSE.split(text):
                statement, turned = without_frame(" ".join(clause.split()))
                if statement and not turned:
                    yield statement


def _answers(clause: str, asked: _Asked) -> list[bool | None]:
    """What a clause says, or else what its parts say ("it is enlarged and exceeds 300 mL")."""
    whole = _answer(clause, asked)
    if whole is not None or not asked.bound:
        return [whole]
    return [_answer(part, asked) for part in clause.split(" and ")]


def _answer(clause: str, asked: _Asked) -> bool | None:
    """What one clause says about the question: True, False or nothing."""
    if asked.bound and (compared := _compared(clause, asked)) is not None:
        return compared
    symbols = _symbols(clause, asked)
    if symbols is None:
        return None
    relations = {symbol for symbol in symbols if symbol in {"+", "-"}}
    negations = symbols.count("not")
    if asked.axis == "presence" and "X" in symbols and negations and not relations:
        relations = {"+"}  # "no meniscus tear"
    # "It is bigger" means the bound of the question; with another number it may mean that one.
    other_bound = asked.bound and asked.bound not in clause and re.search("[0-9]", clause)
    if len(relations) != 1 or negations > 1 or other_bound:
        return None
    if asked.axis == "presence" and "X" not in symbols and "it" not in symbols:
        return None
    same = (relations == {"+"}) is asked.positive
    if asked.axis not in _SYMMETRIC and _turned_round(symbols):
        same = not same
    if negations:
        return False if same else None  # "not below" does not say above
    return same


def _turned_round(symbols: Sequence[str]) -> bool:
    """Whether the question's object is the subject of the clause ("the stomach lies below it")."""
    at = next(index for index, symbol in enumerate(symbols) if symbol in {"+", "-"})
    before = [symbol for symbol in symbols[:at] if symbol in {"X", "Y", "it"}]
    return bool(before) and before[-1] == "Y"


def _compared(clause: str, asked: _Asked) -> bool | None:
    """A measure against the bound of the question: "it is 32 mm away" answers "within 50 mm?"."""
    bound, found = (
        tokens(asked.bound),
        [token for token in tokens(clause) if token.units != (None,)],
    )
    if len(bound) != 1 or len(found) != 1 or found[0].kind is not Kind.VALUE:
        return None
    value, unit, limit, limit_unit = (
        found[0].parts[0],
        found[0].units[0],
        bound[0].parts[0],
        bound[0].units[0],
    )
    factor = (
        unit.to(limit_unit) if isinstance(unit, Unit) and isinstance(limit_unit, Unit) else None
    )
    words = clause[: found[0].start] + " " + clause[found[0].end :]
    symbols = _symbols(words, asked)
    if (
        factor is None
        or value is None
        or limit is None
        or symbols is None
        or set(symbols) & {"+", "-", "not"}
    ):
        return None
    if value * factor == limit or (
        asked.axis == "reach" and _SIZED.search(words) and "Y" not in symbols
    ):
        return None
    smaller = value * factor < limit
    return smaller if asked.axis == "reach" else smaller is not asked.positive


def _symbols(clause: str, asked: _Asked) -> list[str] | None:
    """The clause as structures (X, Y), relations (+, -) and negations; None if a word of it is not explained."""
    words = _WORD.findall(clause.lower())
    plain, negations = frozenset(_words()["plain"]), frozenset(_words()["negations"])
    names = _names(asked)
    result: list[str] = []
    at = 0
    while at < len(words):
        name = next(
            (
                pair
                for pair in names
                if tuple(_noun(w) for w in words[at : at + len(pair[0])]) == pair[0]
            ),
            None,
        )
        if name is not None:
            result.append(name[1])
            at += len(name[0])
            continue
        phrase = _relation_at(words, at, asked.axis)
        if phrase is not None:
            result.append(phrase[0])
            at += phrase[1]
            continue
        word = words[at]
        if word in negations:
            result.append("not")
        elif word in {"it", "they", "one"}:
            result.append("it")
        elif word not in plain and not word[0].isdigit() and word not in {"mm", "cm", "ml"}:
            return None
        at += 1
    return result


@lru_cache(maxsize=1024)
def _names(asked: _Asked) -> tuple[tuple[tuple[str, ...], str], ...]:
    """How the two structures may be called, longest first: with or without their attributes, if that is unambiguous."""
    found: dict[tuple[str, ...], str] = {}
    ends = {
        symbol: _endings(words) for symbol, words in (("X", asked.subject), ("Y", asked.object))
    }
    for symbol, other in (("X", "Y"), ("Y", "X")):
        for name in ends[symbol] - ends[other]:
            found[name] = symbol
    return tuple(sorted(found.items(), key=lambda pair: -len(pair[0])))


def _endings(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    """A name and what is left of it without its first words, and without those in its middle."""
    if not words:
        return set()
    found = {words[start:] for start in range(len(words))}
    return found | {(words[0], words[-1])}


@lru_cache(maxsize=1024)
def _nouns(phrase: str) -> tuple[str, ...]:
    words = [word for word in _WORD.findall(phrase.lower()) if word not in {"the", "a", "an", "of"}]
    return tuple(_noun(word) for word in words)


def _noun(word: str) -> str:
    word = word.removesuffix("'s")
    return _adjectives().get(
        word, word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
    )


@lru_cache(maxsize=1)
def _adjectives() -> dict[str, str]:
    """ "Hepatic" is said of the liver."""
    pairs = (pair.split() for pair in language_file("en")["yes_no"]["adjectives"])
    return {adjective: noun.removesuffix("s") for adjective, noun in pairs}


def _relation_at(words: Sequence[str], at: int, axis: str) -> tuple[str, int] | None:
    for phrase, sign in _by_length(axis):
        if tuple(words[at : at + len(phrase)]) == phrase:
            return sign, len(phrase)
    return None


@lru_cache(maxsize=16)
def _by_length(axis: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    pairs = [
        (tuple(phrase.split()), "+" if end else "-")
        for end in (True, False)
        for phrase in _phrases(axis, end)
    ]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=32)
def _phrases(axis: str, positive: bool) -> tuple[str, ...]:
    line = _words()[axis][0 if positive else 1]
    return tuple(phrase.strip() for phrase in line.split("|"))


@lru_cache(maxsize=1)
def _words() -> dict[str, list[str]]:
    return language_file("en")["relations"]
