"""Things that a reply only turns to ("First I locate the spleen", "The question is about the
liver"), as in one that was cut off before its answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from situs.score.read.prose.beside import just_before
from situs.score.read.prose.claims import Certainty, Role, Statement

__all__ = ["set_aside_plans"]

_TURNING_TO = (
    r"(?:look(?:ing)? (?:for|at|closely at)|locat(?:e|ing)|trac(?:e|ing)|examin(?:e|ing)"
    r"|inspect(?:ing)?|focus(?:ing)? on|concentrat(?:e|ing) on|turn(?:ing)? to|consider(?:ing)?)"
)
_PLANNED = (
    r"(?:let(?: me| us|'s)|(?:i|we)(?:'ll| will| need to| should| must| have to| shall|"
    r" am going to| are going to|'m going to| want to| first| start by| begin by)|"
    r"first,? (?:i|we)|i(?:'m| am) (?:first|now))"
)
# "Look at the liver", "let me find the liver and measure it", "I was asked about the liver".
_PLAN = re.compile(
    r"(?:(?:^|[.,;:!\n] ?)(?:first,? |now,? |so,? )?"
    rf"(?:{_PLANNED} (?:[a-z]+ ){{0,2}})?{_TURNING_TO}"
    rf"|\b{_PLANNED} (?:[a-z]+ ){{0,2}}(?:find(?:ing)?|see|identify(?:ing)?|measur(?:e|ing)"
    r"|check(?:ing)?|compar(?:e|ing)|start(?:ing)? (?:with|at)|begin(?:ning)? (?:with|at))"
    r"|\b(?:the question (?:is|asks)|(?:i was|i am|i'm|you) ask(?:ed|ing)?) (?:me )?(?:about|for))"
    r"(?: the| both the| this| each of the)? ?$",
    re.IGNORECASE,
)
_AND_THEN = re.compile(
    r"(?: (?:first|next|now|itself|here))?(?: (?:on|in) (?:the|this|all|each) [a-z ]{1,30}?)?"
    r"(?:,? (?:and|then|to)(?: then)? (?:measure|compare|check|see|follow|trace|look at|determine"
    r"|assess)\b[^.;!?\n]*)?(?: ?[.;,:!…\n]|\.\.\.|$)",
    re.IGNORECASE,
)
# "I can see the liver" answers only what is seen.
_SEEN = re.compile(
    r"(?:^|[.;:!\n] ?)(?:yes, |so,? |here,? )?i (?:can |do |could )?(?:clearly )?"
    r"(?:see|recogni[sz]e|make out)(?: the| both the| a)? ?$",
    re.IGNORECASE,
)
_ASKS_SIGHT = re.compile(
    r"\b(?:see|seen|shown?|shows|visible|present|annotated|mark(?:ed|s)?|there|cut|crossed)\b",
    re.IGNORECASE,
)
_FAR, _LETTER = 80, 3


def set_aside_plans(found: Sequence[Statement], plain: str, question: str) -> None:
    """Set aside what is named only as seen, or as the next thing to look at."""
    asks_sight = _ASKS_SIGHT.search(question) is not None
    for statement in found:
        for claim in statement.claims:
            before = just_before(plain, claim.start, _FAR)
            named = claim.end - claim.start > _LETTER and not asks_sight
            turned_to = _PLAN.search(before) or (named and _SEEN.search(before))
            planned = turned_to and _AND_THEN.match(plain, claim.end)
            if planned and claim.role <= Role.PLAIN:
                claim.certainty = Certainty.ASIDE
