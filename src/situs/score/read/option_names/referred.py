"""Options that a reply names by their place in what it said before: "the former", "the latter"."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from situs.score.read.prose.tokens import Mention

__all__ = ["former_and_latter"]

_REFERS = re.compile(r"\bthe (?:(?P<former>former)|latter)(?: one| option)?\b", re.IGNORECASE)
_PAIRED = re.compile(
    r"[)\]\"' ]*(?:\([^()\n]{0,30}\) ?)?(?:and|or|versus|vs\.?|&|from|to|with|than)"
    r"(?: (?:mark|option|the|also|possibly|perhaps))* ?[(\"'\[]*",
    re.IGNORECASE,
)
_FARTHEST = 300
"""Characters between a pair and what refers to it."""


def former_and_latter(plain: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """ "The aorta and the pancreas are close, and the latter is closer" names the pancreas twice.

    The pair is the last that stands before, joined by a word such as "and"; where more than two
    are joined, there is no latter.
    """
    pairs = list(_pairs(plain, sorted(mentions, key=lambda mention: mention.start)))
    ends = [pair[1].end for pair in pairs]
    for match in _REFERS.finditer(plain) if pairs else ():
        at = bisect_right(ends, match.start()) - 1
        if at >= 0 and match.start() - ends[at] <= _FARTHEST:
            named = pairs[at][0 if match["former"] else 1]
            yield Mention(match.start(), match.end(), named.value)


def _pairs(plain: str, mentions: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
    for at in range(1, len(mentions)):
        one, other = mentions[at - 1], mentions[at]
        listed = at > 1 and plain[mentions[at - 2].end : one.start].strip(" ") in {",", "and", "or"}
        joined = _PAIRED.fullmatch(plain, one.end, other.start) is not None
        if joined and not listed and one.value != other.value:
            yield one, other
