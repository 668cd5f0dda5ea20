"""Ratios told the other way round.

Asked how many times as large as the kidney the spleen is, a reply may say that the kidney is twice
as large as the spleen. That is a ratio, but not the one asked for.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["without_turned_ratios"]

_ASKED = re.compile(
    r"how many times as [a-z]+ as (?:the |an? )?(?P<base>[^,?]+?) (?:is|are|was|were)"
    r" (?:the |an? )?(?P<subject>[^,?]+?)\?",
    re.IGNORECASE,
)
# Up to the end of a clause; the comma or point of a number ends none.
_CLAUSE = r"(?:(?!\b(?:and|but|so|while|whereas)\b)(?:[^.;,:\n]|[.,:](?=[0-9])))"
_OBJECT = r"(?: as| than| of|times)(?: the| that of the| the [a-z]+ of(?: the)?| an?)? "


_PARTS = {
    word: 2 + rank
    for rank, word in enumerate(
        ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    )
}
_PART = (
    rf"(?:about |around |roughly |approximately |only )*(?:(?:an?|one)[ -])?"
    rf"(?:(?P<part>{'|'.join(_PARTS)})|1/(?P<of>[0-9]{{1,2}}))"
)


def without_turned_ratios(plain: str, question: str) -> str:
    """The reply without clauses that say how many times as large as its subject its base is.

    A base that is a simple part of the subject gives the ratio: "the spleen is an eighth of the
    liver".
    """
    turned = _turned(question)
    if turned is None:
        return plain
    whole, clause = turned
    return clause.sub("", whole.sub(_as_times, plain))


def _as_times(match: re.Match[str]) -> str:
    times = int(match["of"]) if match["of"] else _PARTS[match["part"].lower()]
    return f"the ratio is {times}"


@lru_cache(maxsize=1024)
def _turned(question: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """The base as a part of the subject, and the base as so many times the subject."""
    asked = _ASKED.search(" ".join(question.split()))
    if asked is None:
        return None
    base, subject = (
        _named(asked["base"], asked["subject"]),
        _named(asked["subject"], asked["base"]),
    )
    clause = rf"\b{base} (?:is|are|was|were|has){_CLAUSE}{{0,80}}?{_OBJECT}{subject}\b"
    to = rf"\b{base}(?:[- ]to[- ]|/| ?: ?){subject}\b{_CLAUSE}{{0,40}}"
    part = (
        rf"\bthe {base} (?:is|has|measures) {_PART} (?:of )?(?:the (?:size|volume) of )?"
        rf"(?:as large as )?(?:that of )?(?:the )?{subject}\b(?: in (?:size|volume)| by volume)?"
    )
    return (
        re.compile(part, re.IGNORECASE),
        re.compile(f"{clause}|{to}", re.IGNORECASE),
    )


def _named(name: str, other: str) -> str:
    """A structure by its name, or by its last word where the other has another."""
    name, other = name.lower(), other.lower()
    last = name.split()[-1]
    short = "" if last in other.split() else f"|{re.escape(last)}"
    return f"(?:{re.escape(name)}{short})"
