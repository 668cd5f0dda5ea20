"""Options that a reply names by their place in what it said before: "the former", "the latter"."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from situs.score.read.prose.tokens import Mention

__all__ = ["former_and_latter"]

_REFERS = re.compile(
    r"(?:\bthe |\A\W*)(?:(?P<former>former)|latter)(?: one| option)?\b", re.IGNORECASE
)
# "The latter scan shows both" speaks of no option.
_NO_NOUN = re.compile(
    r" ?(?:$|[.,;:!?)(\]*\n\"'\ue001-])| (?:is|was|has|seems|appears|looks|lies|reaches|extends"
    r"|would|being|by|since|because|as|in)\b"
)
_PAIRED = re.compile(
    r"[)\]\"' ]*(?:\([^()\n]{0,30}\) ?)?(?:and|or|versus|vs\.?|&|from|to|with|than)"
    r"(?: (?:mark|option|the|also|possibly|perhaps))* ?[(\"'\[]*",
    re.IGNORECASE,
)
_FARTHEST = 300
"""Characters between a pair and what refers to it."""


def former_and_latter(
    plain: str, mentions: Sequence[Mention], cores: Sequence[str] = (), question: str = ""
) -> Iterator[Mention]:
    """ "The aorta and the pancreas are close, and the latter is closer" names the pancreas twice.

    The pair is the last that stands before, joined by a word such as "and"; where more than two
    are joined, there is no latter. Where nothing is named before, the two options are meant, unless
    the `question` names them in another order than they stand in.
    """
    pairs = list(_pairs(plain, sorted(mentions, key=lambda mention: mention.start)))
    ends = [pair[1].end for pair in pairs]
    first = min((mention.start for mention in mentions), default=len(plain))
    references = list(_REFERS.finditer(plain))
    offered = (
        len(cores) == 2
        and not _in_other_order(cores, question)
        and all(_NO_NOUN.match(plain, match.end()) for match in references)
    )
    for match in references:
        if offered and match.start() < first:
            yield Mention(match.start(), match.end(), 0 if match["former"] else 1)
            continue
        at = bisect_right(ends, match.start()) - 1
        if at >= 0 and match.start() - ends[at] <= _FARTHEST:
            named = pairs[at][0 if match["former"] else 1]
            yield Mention(match.start(), match.end(), named.value)


def _in_other_order(cores: Sequence[str], question: str) -> bool:
    one, other = (question.lower().rfind(core.lower()) for core in cores)
    return -1 < other < one


def _pairs(plain: str, mentions: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
    for at in range(1, len(mentions)):
        one, other = mentions[at - 1], mentions[at]
        listed = at > 1 and plain[mentions[at - 2].end : one.start].strip(" ") in {",", "and", "or"}
        joined = _PAIRED.fullmatch(plain, one.end, other.start) is not None
        if joined and not listed and one.value != other.value:
            yield one, other
