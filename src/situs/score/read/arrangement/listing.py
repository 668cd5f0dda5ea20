"""Replies that list what they found of each option, and leave the choice to the reader.

"Gallbladder – 12 mm; right kidney – 30 mm" answers which is nearest, "A = artery, B = portal vein"
which mark lies in the portal vein. Read only where nothing is said to be the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from situs.score.read.arrangement.comparisons import words_of_comparison
from situs.score.read.option_names import ALPHABET
from situs.score.read.prose.claims import Certainty, Role, Statement
from situs.score.read.prose.content import content_words

__all__ = ["best_measured", "rightly_labelled"]

_MEASURE = re.compile(r"(?<![\w.,])([0-9]+(?:\.[0-9]+)?) ?(mm|cm|ml|cc|l)\b", re.IGNORECASE)
_IN_MM_OR_ML = {"mm": 1.0, "cm": 10.0, "ml": 1.0, "cc": 1.0, "l": 1000.0}
_LENGTHS = frozenset({"mm", "cm"})
_LEAST = frozenset({"nearest", "smaller", "shorter"})
_MOST = frozenset({"largest", "larger", "longer", "farthest"})
"""A word of each kind of comparison that a measure decides."""
_OF_VOLUME = re.compile(r"\bvolume\b|\bby size\b")
_LABELLED = re.compile(
    r"(?<!\w)\(?([A-Z])\)? ?(?:=|:|→|->|(?:is|lies|sits)(?= (?:in|at|on|the)\b))"
    r" ?(?:(?:in|at|on|inside|within) )?(?:the )?(?P<label>[a-z][^,;.\n]*)"
)
_SEVERAL = 3
_DENIES = re.compile(r"\b(?:not|no|none|neither)\b|n't\b|\?")


def best_measured(
    found: Sequence[Statement], plain: str, question: str, candidates: int
) -> int | None:
    """The option of the least or greatest measure, where each that is named has one of its own.

    Of two `candidates` a reply would rather say which it is than give their measures.
    """
    if candidates < _SEVERAL:
        return None
    asked, _ = words_of_comparison(question)
    least = not asked.isdisjoint(_LEAST)
    if least is not asked.isdisjoint(_MOST) or "?" in plain:
        return None
    measures: dict[int, float] = {}
    for statement in found:
        claims = sorted(statement.claims, key=lambda claim: claim.start)
        ends = [*(claim.start for claim in claims[1:]), statement.end]
        for claim, end in zip(claims, ends, strict=False):
            told = _MEASURE.findall(plain[claim.end : end])
            plainly = claim.certainty is Certainty.ASSERTED and claim.role in {
                Role.PLAIN,
                Role.LEAD,
            }
            if len(told) != 1 or not plainly or claim.negated or len(claim.values) != 1:
                return None
            value, unit = float(told[0][0]), told[0][1].lower()
            if (unit in _LENGTHS) is bool(_OF_VOLUME.search(question.lower())):
                return None
            index = int(str(claim.values[0]))
            if index in measures:
                return None
            measures[index] = value * _IN_MM_OR_ML[unit]
    if len(measures) < 2 or len(set(measures.values())) < len(measures):
        return None
    choose = min if least else max
    best = choose(measures, key=lambda index: measures[index])
    # Where only some are measured, it is the one that the reply names first.
    return best if len(measures) >= candidates or best == next(iter(measures)) else None


def rightly_labelled(plain: str, question: str, count: int) -> int | None:
    """The letter whose label is what the question asks for, or the label of mark X."""
    labels: dict[str, frozenset[str]] = {}
    for match in _LABELLED.finditer(plain):
        if match[1] in labels or _DENIES.search(match["label"]):
            return None
        labels[match[1]] = frozenset(content_words(match["label"]))
    asked = frozenset(content_words(question))
    if "mark X" in question:
        asked = labels.pop("X", frozenset())
    right = [letter for letter, label in labels.items() if label and label <= asked]
    if len(labels) < 2 or len(right) != 1 or ALPHABET.index(right[0]) >= count:
        return None
    return ALPHABET.index(right[0])
