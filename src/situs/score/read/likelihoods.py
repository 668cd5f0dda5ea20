"""Replies that are nothing but how likely each answer is: "A: 0.1, B: 0.7, C: 0.2"."""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = ["likeliest"]

_NAME = r"(?:[Pp]r?(?:ob)? ?)?\(?(?P<{0}>yes|no|Yes|No|YES|NO|[A-Z])\)?"
_VALUE = r"\(?(?P<{0}>[01]?\.[0-9]+|[01](?![0-9.])|[0-9]{{1,3}}(?:\.[0-9]+)? ?%)\)?"
_SHARE = re.compile(
    rf"{_NAME.format('before')}(?: is)? ?[:=≈~]? ?(?:about )?{_VALUE.format('value')}"
    rf"|{_VALUE.format('leading')} (?:for |likely )?{_NAME.format('behind')}"
)
_HEADING = re.compile(
    r"(?:(?:my |the |estimated )*(?:probabilit(?:y|ies)|likelihoods?|confidences?|odds|shares?))"
    r"(?: (?:for|of) (?:each|the) (?:option|answer)s?)?[: ]+",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\s,;.|/-]*(?:and )?")
_LONGEST = 300
"""Characters of a reply that is read so."""
_SLACK = Fraction(6, 100)
"""How far shares may be from one in all: they are rounded."""


def likeliest(plain: str) -> str | None:
    """The answer that a reply gives the largest share, as it is written there.

    None unless the reply consists of shares that add up to one, or of that of a yes or no alone,
    and one of them is the largest.
    """
    if len(plain) > _LONGEST:
        return None
    heading = _HEADING.match(plain)
    at = heading.end() if heading else 0
    shares: dict[str, Fraction] = {}
    while at < len(plain):
        share = _SHARE.match(plain, at)
        if share is None:
            return None
        name = (share["before"] or share["behind"]).upper()
        if name in shares:
            return None
        shares[name] = _fraction(share["value"] or share["leading"])
        between = _BETWEEN.match(plain, share.end())
        at = between.end() if between else share.end()
    if len(shares) == 1 and (alone := {"YES": "NO", "NO": "YES"}.get(next(iter(shares)))):
        shares[alone] = Fraction(1) - next(iter(shares.values()))
    if len(shares) < 2 or abs(sum(shares.values(), Fraction(0)) - 1) > _SLACK:
        return None
    most = max(shares.values())
    largest = [name for name, value in shares.items() if value == most]
    return largest[0] if len(largest) == 1 else None


def _fraction(text: str) -> Fraction:
    number = Fraction(text.rstrip(" %"))
    return number / 100 if text.endswith("%") else number
