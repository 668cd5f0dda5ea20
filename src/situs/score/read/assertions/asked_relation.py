"""A yes/no question as a relation: a subject, what is asked of it, and an object or a bound
("the left kidney", above, "the stomach"; "the lesion", within, "50 mm")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from situs.score.read.prose.lexicon import language_file

__all__ = [
    "MEASURES",
    "WORD",
    "AskedRelation",
    "asked_relation",
    "nouns_of",
    "phrases_of_axis",
    "relates",
    "relation_words",
    "singular",
]

_DIRECTION = re.compile(
    r"(?:is|are|does|do) (?P<subject>.+?) (?:(?:lie|sit|located|lying) )?"
    r"(?P<relation>above|below|in front of|behind|to the left of|to the right of) "
    r"(?P<object>[^,?]+)(?:, from the patient's point of view)?\?"
)
_WITHIN = re.compile(
    r"(?:is|are) (?P<subject>.+?) (?P<relation>within) (?P<bound>[0-9][^?]*?) of"
    r" (?P<object>[^,?]+)\?"
)
_BEYOND = re.compile(
    r"(?:is|are) (?P<subject>.+?) (?P<relation>more than|farther than|further than|less than"
    r"|closer than)"
    r" (?P<bound>[0-9][^?]*?)(?: away)? from (?P<object>[^,?]+)\?"
)
_SIZE = re.compile(
    r"(?:is|are) (?P<subject>.+?) (?P<relation>[a-z]+er than|more than|less than)"
    r" (?P<bound>[0-9][^?]*?)(?: (?:in|across) ?[a-z]*)?\?"
)
_COMPARED = re.compile(
    r"(?:is|are) (?P<subject>.+?) (?P<relation>[a-z]+er than) (?P<object>[^,?]+?)"
    r"(?: (?:by|in) (?:volume|size|length|height|width))?\?"
)
_CONTACT = re.compile(
    r"(?:is|are|does|do) (?P<subject>.+?) (?P<relation>touch|touching|in contact with|in direct"
    r" contact with)"
    r" (?P<object>[^,?]+)\?"
)
_PLACE = r"(?: anywhere)?(?: (?:on|in) (?:this|any|the) [a-z ]+)?"
_PRESENCE = re.compile(
    rf"(?:(?:did|has) the reader (?P<relation>marke?d?) (?P<subject>[^,?]+?){_PLACE}"
    rf"|according to the reader, does this (?:slice|volume) show (?P<shown>[^,?]+)"
    r"|(?:is|are) (?:there )?(?P<there>[^,?]+?)(?:"
    rf" (?:annotated|present|visible|marked|seen)){_PLACE}"
    rf"|(?:is|are) there (?:an? |any )?(?P<exists>[^,?]+?){_PLACE})\?"
)
_FORMS = (_WITHIN, _BEYOND, _SIZE, _DIRECTION, _COMPARED, _CONTACT, _PRESENCE)
MEASURES = ("size", "length", "width", "thickness", "vertical")
"""Axes on which two structures are compared."""
_NORMAL = re.compile(
    r"\b(?:no|not|normal|absent|free|without|unremarkable|intact|lacks?|none)\b|n't"
)
"""A question that speaks of absence itself: what "no" would mean is not clear."""
WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|[0-9]+(?:[.,][0-9]+)?|%")


@dataclass(frozen=True, slots=True)
class AskedRelation:
    subject: tuple[str, ...]
    object: tuple[str, ...]
    axis: str
    positive: bool
    """At which end of its axis the question places its subject."""
    bound: str = ""


def relates(question: str) -> bool:
    """Whether a question sets one structure or measure against another."""
    asked = asked_relation(question)
    return asked is not None and asked.axis not in {"presence", "contact"}


@lru_cache(maxsize=1024)
def asked_relation(question: str) -> AskedRelation | None:
    text = " ".join(question.lower().split())
    for pattern in _FORMS:
        match = pattern.fullmatch(text) or pattern.match(text)
        if match is None:
            continue
        groups = match.groupdict()
        subject = (
            groups.get("subject")
            or groups.get("shown")
            or groups.get("there")
            or groups.get("exists")
            or ""
        )
        if pattern is _PRESENCE:
            return (
                None
                if _NORMAL.search(text)
                else AskedRelation(nouns_of(subject), (), "presence", True)
            )
        axis = {_WITHIN: "reach", _BEYOND: "reach", _SIZE: "size", _CONTACT: "contact"}.get(
            pattern
        ) or _axis(groups["relation"])
        if axis is None:
            return None
        positive = groups["relation"] in phrases_of_axis(axis, True)
        if not positive and groups["relation"] not in phrases_of_axis(axis, False):
            return None
        return AskedRelation(
            nouns_of(subject),
            nouns_of(groups.get("object") or ""),
            axis,
            positive,
            groups.get("bound") or "",
        )
    return None


def _axis(relation: str) -> str | None:
    axes = ("vertical", "depth", "side", *MEASURES)
    ends = ((axis, end) for axis in axes for end in (True, False))
    return next((axis for axis, end in ends if relation in phrases_of_axis(axis, end)), None)


@lru_cache(maxsize=1024)
def nouns_of(phrase: str) -> tuple[str, ...]:
    words = [word for word in WORD.findall(phrase.lower()) if word not in {"the", "a", "an", "of"}]
    return tuple(singular(word) for word in words)


def _spelling(word: str) -> str:
    """American spelling, and the singular of Latin plurals."""
    word = re.sub(r"our(s?)$", r"or\1", word).replace("oe", "e").replace("ae", "e")
    return {"menisci": "meniscus"}.get(word, word)


def singular(word: str) -> str:
    word = _spelling(word.removesuffix("'s"))
    return _adjectives().get(
        word, word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
    )


@lru_cache(maxsize=1)
def _adjectives() -> dict[str, str]:
    """ "Hepatic" is said of the liver."""
    pairs = (pair.split() for pair in language_file("en")["yes_no"]["adjectives"])
    return {adjective: noun.removesuffix("s") for adjective, noun in pairs}


@lru_cache(maxsize=32)
def phrases_of_axis(axis: str, positive: bool) -> tuple[str, ...]:
    line = relation_words()[axis][0 if positive else 1]
    return tuple(phrase.strip() for phrase in line.split("|"))


@lru_cache(maxsize=1)
def relation_words() -> dict[str, list[str]]:
    return language_file("en")["relations"]
