"""Facts that a free answer states, read by rule: finding, side, level, size, and what is denied."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

__all__ = ["FACT_KINDS", "fact_counts", "facts_of", "flip_sides"]

FACT_KINDS = ("finding", "side", "level", "size", "negation")

_CLAUSE = re.compile(r"[.;!?](?:\s|$)|\n|,? (?:but|however|although|while|whereas) ")
_DENIAL = re.compile(
    r"\b(?:no|not|none|neither|nor|never|without|absent|absence of|negative for|free"
    r" of|cannot|isn't|aren't|"
    r"wasn't|weren't|doesn't|don't)\b"
)
_SIZE = re.compile(
    r"(?<![\w.])(\d+(?:[.,]\d+)?(?: ?[x×*] ?\d+(?:[.,]\d+)?){0,2})["
    r" -]?(mm|cm|millimet\w+|centimet\w+)\b"
)
_SPINE = re.compile(r"\b([ctls])(\d{1,2})\b")
_SIDE = re.compile(r"\b(left|right)", re.IGNORECASE)


@lru_cache(maxsize=1)
def _lexicon() -> list[tuple[str, str, re.Pattern[str]]]:
    """(kind, name, pattern) of every word of the data file."""
    text = files("situs.score").joinpath("data/report_words.toml").read_text("utf-8")
    return [
        (kind, name, re.compile(rf"\b(?:{pattern})\b"))
        for kind, words in tomllib.loads(text).items()
        for name, pattern in words.items()
    ]


@lru_cache(maxsize=1 << 16)
def facts_of(text: str) -> frozenset[tuple[str, str]]:
    """(kind, value) of everything stated; a denied finding is another fact than a stated one."""
    facts: set[tuple[str, str]] = set()
    for clause in _CLAUSE.split(text.lower()):
        denied = bool(_DENIAL.search(clause))
        if denied:
            facts.add(("negation", "no"))
        for kind, name, pattern in _lexicon():
            if pattern.search(clause):
                facts.add((kind, f"no {name}" if denied and kind == "finding" else name))
        facts.update(("level", f"{letter}{number}") for letter, number in _SPINE.findall(clause))
        for numbers, unit in _SIZE.findall(clause):
            factor = 10.0 if unit.startswith("c") else 1.0
            facts.update(
                ("size", f"{float(n.replace(',', '.')) * factor:g} mm")
                for n in re.split(r" ?[x×*] ?", numbers)
            )
    sides = {value for kind, value in facts if kind == "side"}
    if {"left", "right"} <= sides:
        facts = (facts - {("side", "left"), ("side", "right")}) | {("side", "both")}
    return frozenset(facts)


def fact_counts(
    predictions: Sequence[str], references: Sequence[Sequence[str]], questions: Sequence[str]
) -> dict[str, NDArray[np.float64]]:
    """For all kinds together (`all`) and for each: per row, facts in common and facts stated by
    both sides together.

    F1 = 2 · common / stated, summed over rows. Of several references the one with the most in
    common counts. A finding that the question names is no news, and not counted.
    """
    column_of = {kind: column for column, kind in enumerate(("all", *FACT_KINDS))}
    common, stated = np.zeros((2, len(column_of), len(predictions)))
    for row, (prediction, texts, question) in enumerate(zip(predictions, references, questions)):
        asked_findings = {fact for fact in facts_of(question) if fact[0] == "finding"}
        ours = facts_of(prediction) - asked_findings
        theirs = max(
            (facts_of(text) - asked_findings for text in texts), key=lambda facts: len(facts & ours)
        )
        for kind, _ in ours & theirs:
            common[column_of[kind], row] += 1
        for kind, _ in (*ours, *theirs):
            stated[column_of[kind], row] += 1
    common[0], stated[0] = common.sum(axis=0), stated.sum(axis=0)
    return {f"{kind}.common": common[n] for kind, n in column_of.items()} | {
        f"{kind}.stated": stated[n] for kind, n in column_of.items()
    }


def flip_sides(text: str) -> str:
    """Left for right and right for left, in whatever case they stand."""
    return _SIDE.sub(lambda match: _other(match[1]), text)


def _other(word: str) -> str:
    swapped = {"left": "right", "right": "left"}[word.lower()]
    return (
        swapped.upper()
        if word.isupper()
        else swapped.capitalize()
        if word[0].isupper()
        else swapped
    )
