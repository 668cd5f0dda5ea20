"""Whose number it is: that of the structure the question asks about, or of another."""

from __future__ import annotations

import re
from functools import lru_cache

from situs.score.read.numbers.tokens import Token
from situs.score.read.prose.beside import just_after, just_before
from situs.score.read.prose.lexicon import language_file

__all__ = ["labelled", "of_another"]

_MOST = frozenset(
    {
        "largest",
        "larger",
        "longest",
        "longer",
        "biggest",
        "maximum",
        "maximal",
        "max",
        "greatest",
        "thickest",
        "widest",
        "deepest",
    }
)
_LEAST = frozenset(
    {"shortest", "shorter", "smallest", "smaller", "minimum", "minimal", "min", "closest"}
)
_LABELLED = re.compile(
    r"(?:^|[.;,\n]|\b(?:and|but|with))\W*(?:(?:so|thus|hence) )?(?:the |an? )?(?P<word>[a-z]+)"
    r"(?: (?:one|of (?:them|these|the two)|value|lesion|distance|gap|separation|diameter|length"
    r"|axis|dimension))?"
    r" ?(?:[:=]|is|measures|measuring|being|was|of|at|with)?"
    r"(?:,? (?:thus|therefore|hence|then|here|so),?)?"
    r" ?(?:about |approximately |~ ?)?$",
    re.IGNORECASE,
)


def labelled(plain: str, token: Token, question: str) -> bool:
    """Whether a clause calls its number by the superlative
    that the question asks for ("largest: 41 mm")."""
    label = _LABELLED.search(just_before(plain, token.start, 60))
    asked = set(re.findall(r"[a-z]+", question.lower()))
    superlative = label is not None and any(
        label["word"].lower() in kind and kind & asked for kind in (_MOST, _LEAST)
    )
    return superlative and not _lies_in_another(plain, token, asked)


def _lies_in_another(plain: str, token: Token, asked: set[str]) -> bool:
    """Whether what has the size lies in a structure that is not asked about ("34 mm in the
    spleen")."""
    behind = _STRUCTURE_BETWEEN.split(just_after(plain, token.end, 60))[0]
    named = {_organ(word) for word in re.findall(r"[a-z]+", behind.lower())} & _structures()
    return bool(named) and named.isdisjoint(_organ(word) for word in asked)


_STRUCTURE_BETWEEN = re.compile(r"[.;\n]|\b(?:than|but|which|so|makes|total)\b", re.IGNORECASE)
_LESION_OF = re.compile(r"\b([a-z]+) (?:lesion|mass|nodule|cyst|tumou?r)\b", re.IGNORECASE)
# The organ itself as the subject of a measure; "the kidney lesion is" has another subject.
_ORGAN_SUBJECT = re.compile(
    r"(?:^|[.;,\n]|\band\b) ?(?:the |this |its )?(?:left |right )?(?P<organ>[a-z]+)(?: itself|'s)?"
    r"(?: (?:length|volume|size|diameter|width|height))?"
    r" (?:is|measures|has|spans|holds)(?: (?:about|approximately|roughly|around|some|a|an|total"
    r"|length|volume|size|diameter|width|height|of))* ?$"
)
_COUNTED_AFTER = re.compile(
    r"((?: [a-z-]+){1,3}?) (?:lesions?|masses|mass|cysts?|nodules?|tumou?rs?|metastas[ei]s)\b",
    re.IGNORECASE,
)


def of_another(plain: str, token: Token, question: str) -> bool:
    """Whether a number is said of a structure that the question does not name ("the liver is 15 cm
    long").

    The structure is the last one named before the number in its sentence, or stands between it and
    what it counts.
    """
    asked = {_organ(word) for word in re.findall(r"[a-z]+", question.lower())} & _structures()
    if not asked:
        return False
    counted = _COUNTED_AFTER.match(plain, token.end, token.end + 60)
    before = just_before(plain, token.start, 80).lower()
    if _measures_organ(before, question):
        return True
    cut = max((match.end() for match in _STRUCTURE_BETWEEN.finditer(before)), default=0)
    for words in (counted[1] if counted else "", before[cut:]):
        named = [
            organ
            for word in re.findall(r"[a-z]+", words.lower())
            if (organ := _organ(word)) in _structures()
        ]
        if named:
            return named[-1] not in asked
    return False


def _measures_organ(before: str, question: str) -> bool:
    """Whether a clause measures an organ ("the kidney is 110 mm long"),
    where its lesion is asked about."""
    subject = _ORGAN_SUBJECT.search(before)
    lesion_of = {_organ(match[1].lower()) for match in _LESION_OF.finditer(question)}
    return subject is not None and _organ(subject["organ"]) in lesion_of & _structures()


def _organ(word: str) -> str:
    return _adjectives().get(
        word, word.removesuffix("s") if word.endswith(("eys", "lungs")) else word
    )


@lru_cache(maxsize=1)
def _adjectives() -> dict[str, str]:
    return {
        pair.split()[0]: pair.split()[1] for pair in language_file("en")["yes_no"]["adjectives"]
    }


@lru_cache(maxsize=1)
def _structures() -> frozenset[str]:
    return frozenset(_organ(word) for word in language_file("en")["numbers"]["structures"])
