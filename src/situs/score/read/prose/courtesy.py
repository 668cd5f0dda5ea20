"""Sentences that only greet, thank or offer help, left out before a reply is read."""

from __future__ import annotations

import re

__all__ = ["without_courtesies"]

# "Let me know if anything is unclear" would otherwise set a condition and a doubt. A sentence with a
# colon or a digit may hold the answer, and stays.
_COURTESY = re.compile(
    r"(?:^|(?<=[.!?] )|(?<=\n))"
    r"(?:thank you|thanks|many thanks|please (?:do not hesitate|don't hesitate|let me know|feel free|note|bear|"
    r"treat|consult|see|be aware)|feel free|do not hesitate|don't hesitate|let me know|"
    r"should you (?:need|require|have|wish|want)|"
    r"if you(?:'d| would| have| need| want| require| wish| like)|i hope (?:this|that|you|it)|i do hope|hope this|"
    r"i trust (?:this|that|you)|wishing you|best (?:wishes|regards)|kind regards|"
    r"have a (?:nice|great|good|lovely|wonderful)|"
    r"i(?:'d| would) be (?:glad|happy|delighted|honou?red|pleased) to|"
    r"i(?:'m| am) (?:glad|happy|pleased) to (?:help|assist)|"
    r"happy to (?:help|elaborate|explain|provide)|what an? [a-z]+ (?:question|case|scan|image)|"
    r"good question|great question|"
    r"it(?:'s| is) (?:my|always a) pleasure|with pleasure|my pleasure|how fun|you(?:'re| are) welcome|"
    r"any(?:thing)? (?:else|further)|i(?:'m| am) (?:always )?here (?:to|if))"
    r"[^.!?\n:0-9]*(?:[.!?]+(?= |$|\n)|$)",
    re.IGNORECASE,
)


def without_courtesies(text: str) -> str:
    """The text without such sentences; all of it if nothing else is left."""
    rest = _COURTESY.sub(" ", text)
    if rest == text:
        return text
    rest = re.sub(r" {2,}", " ", rest).strip()
    return rest if re.search(r"\w", rest) else text
