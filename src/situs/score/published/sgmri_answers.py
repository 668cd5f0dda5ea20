"""How SGMRI-VQA's released code reads yes and no, counts and letters, its oddities included."""

from __future__ import annotations

import re

from situs.score.published.sgmri_text import LONGEST, squeezed
from situs.score.read import without_spans

__all__ = ["count", "letters", "without_thinking", "yes_no"]

_STATED = re.compile(r"(?:my answer is|the answer is)[:\s]*\**\s*(yes|no)\b")
_CONCLUDED = re.compile(r"[Tt]herefore,?\s+the\s+final\s+answer\s+is:\s*\*{0,2}(\d+)\*{0,2}")
_NO, _FOUND = (
    re.compile(r"\bno\b", re.IGNORECASE),
    re.compile(r"\b(?:abnormal|finding)", re.IGNORECASE),
)
_NONE = re.compile(r"\bnone\b|\bzero\b", re.IGNORECASE)
_MOST_DIGITS = 4000
"""Python refuses to read longer numbers; a reply of only digits must not end the scoring."""
_DENIED = re.compile(r"[Ii]t\s+is\s+not\s+\([A-Da-d]\)[^.]*\.?")


def without_thinking(text: str) -> str:
    """The reply without closed think tags; an unclosed one stays."""
    return without_spans(text, "<think>", "</think>").strip()


def yes_no(text: str) -> bool | None:
    """First word, else "the answer is yes",
    else whichever of the two is a part of the text, also inside a word."""
    lower = squeezed(text[:LONGEST]).strip().lower()
    words = lower.split()
    first = words[0].strip(".,!;:") if words else ""
    if first in {"yes", "y", "no", "n"}:
        return first.startswith("y")
    stated = _STATED.search(lower)
    if stated:
        return stated[1] == "yes"
    there = "yes" in lower, "no" in lower
    return there[0] if there[0] != there[1] else None


def count(text: str) -> int | None:
    """The whole text, else the final answer, else the last number of all,
    else 0 where nothing is said to be there."""
    text = squeezed(text[:LONGEST]).strip()
    try:
        return int(text)
    except ValueError:
        pass
    concluded = _CONCLUDED.search(text)
    numbers = [concluded[1]] if concluded else re.findall(r"\b(\d+)\b", text)
    if numbers:
        return int(numbers[-1][-_MOST_DIGITS:])
    return 0 if _NONE.search(text) or any(_is_nothing(line) for line in text.split("\n")) else None


def _is_nothing(line: str) -> bool:
    """Whether a "no" stands anywhere before "abnormal…" or "finding…"."""
    no = _NO.search(line)
    return no is not None and _FOUND.search(line, no.end()) is not None


def letters(text: str) -> set[str]:
    """Letters in parentheses that no "It is not (X)" denies;
    without any, every lone letter, the article "a" too."""
    affirmed = _DENIED.sub("", squeezed(text[:LONGEST]))
    named = re.findall(r"\(([A-Da-d])\)", affirmed) or re.findall(r"\b([A-Da-d])\b", affirmed)
    return {letter.upper() for letter in named}
