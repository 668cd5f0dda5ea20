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


def without_turned_ratios(plain: str, question: str) -> str:
    """The reply without clauses that say how many times as large as its subject its base is."""
    turned = _turned(question)
    return plain if turned is None else turned.sub("", plain)


@lru_cache(maxsize=1024)
def _turned(question: str) -> re.Pattern[str] | None:
    asked = _ASKED.search(" ".join(question.split()))
    if asked is None:
        return None
    base, subject = (
        _named(asked["base"], asked["subject"]),
        _named(asked["subject"], asked["base"]),
    )
    clause = rf"\b{base} (?:is|are|was|were|has){_CLAUSE}{{0,80}}?{_OBJECT}{subject}\b"
    to = rf"\b{base}(?:[- ]to[- ]|/| ?: ?){subject}\b{_CLAUSE}{{0,40}}"
    return re.compile(f"{clause}|{to}", re.IGNORECASE)


def _named(name: str, other: str) -> str:
    """A structure by its name, or by its last word where the other has another."""
    name, other = name.lower(), other.lower()
    last = name.split()[-1]
    short = "" if last in other.split() else f"|{re.escape(last)}"
    return f"(?:{re.escape(name)}{short})"
