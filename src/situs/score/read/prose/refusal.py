"""Refusals in words: "I cannot determine", "As an AI", "not enough information"."""

from __future__ import annotations

import re

__all__ = ["cannot_tell", "could_not_see", "declines", "refuses", "says_untold"]

_NOT_ABLE = (
    r"(?:can(?:not| not|'t)|could(?: not|n't)|(?:un|not )able to|not been able to|not possible"
    r" to|impossible to|"
    r"do(?: not|n't) have the (?:ability|capability) to|won't|will not)"
)
_CANNOT_TELL = re.compile(
    rf"\b{_NOT_ABLE} (?:[a-z]+ ){{0,2}}?(?:be )?(?:[a-z]+ly"
    r" )?(?:determine|tell|told|say|said|know|assess|answer|"
    r"evaluat|identif|ascertain|judge|measure|estimate|conclude|decide|establish|infer|discern|"
    r"confirm|"
    r"make out|delineate|give a number|put a number)"
    r"|\b(?:not enough|insufficient|inadequate|lack of|no) (?:[a-z]+"
    r" )?(?:information|data|detail|context|evidence to)"
    r"|\bnot in a position to (?:say|tell|judge|answer|determine)"
    r"|\b(?:beyond|outside) my (?:ability|abilities|capabilit)"
    r"|\bi (?:would|'d) rather not (?:say|guess|answer)|\bi (?:must |will |have to |'ll"
    r" )?(?:abstain|pass on this)\b"
    r"|\btoo [a-z]+ to (?:tell|say|know|judge|decide|call|determine|be sure)\b"
    r"|\b(?:indeterminate|undeterminable|indeterminable|inconclusive|not"
    r" determinable|unanswerable)\b"
    r"|\bi (?:do not|don't) know\b|\bno way (?:to|of) (?:tell|know|determin|say)|^unknown\W*$",
    re.IGNORECASE,
)
# What the speaker cannot do, as against what cannot be told by anybody.
_UNABLE = re.compile(
    rf"\b(?:i|we)(?:'m| am| are|'re| was)? {_NOT_ABLE} (?:[a-z]+"
    r" ){0,2}?(?:determine|know|assess|answer|evaluat|"
    r"identif|ascertain|judge|measure|estimate|conclude|decide|establish|infer|discern|confirm|make"
    r" out|delineate|"
    r"give a number|put a number)\w*"
    r"|^unable to [a-z]+|\bi (?:would|'d) rather not (?:say|guess|answer)"
    r"|\bi (?:must |will |have to |'ll )?(?:abstain|pass on this)\b|\b(?:beyond|outside) my"
    r" (?:abilit|capabilit)\w*",
    re.IGNORECASE,
)
_DECLINES = re.compile(
    rf"\b{_NOT_ABLE} (?:[a-z]+ ){{0,3}}?(?:view|see|access|analy[sz]e|interpret|process|open|look"
    r" at|assist|help|"
    r"diagnose|provide|comply|offer|give|make|perform|read)\b"
    r"|\bas an? (?:ai|artificial|language|large language|text)\b|\bi(?:'m| am) (?:just |only )?an?"
    r" (?:ai|language)\b"
    r"|\bi(?:'m| am) (?:really |very |so )?sorry\b|\bi (?:(?:must|have to|need to)"
    r" )?(?:decline|refuse) to\b"
    r"|\bi (?:do not|don't) (?:see|have|have access to) (?:an?|any|the) (?:[a-z]+"
    r" )?(?:image|scan|picture|volume|file)"
    r"|\bno (?:image|scan|picture)s? (?:was|were|is|are|has|have|provided|attached|given)"
    r"|\bplease (?:consult|upload|provide|attach|share)\b",
    re.IGNORECASE,
)
_COULD_NOT_SEE = re.compile(
    r"\b(?:could not|couldn't|cannot|can't|was unable to|am unable to|were unable to|not able to)"
    r" (?:[a-z]+ )?"
    r"(?:follow|trace|make"
    r" out|visuali[sz]e|delineate|locate|verify|assess|evaluate|judge|confirm|check)\b"
    r"|\bnot (?:assessable|evaluable|well visuali[sz]ed|covered|included in the"
    r" (?:scan|volume|field))\b"
    r"|\boutside (?:of )?the (?:field of view|scan|volume)\b",
    re.IGNORECASE,
)


def cannot_tell(text: str) -> bool:
    """Whether the text says that the answer cannot be told: an option may say the same."""
    return _CANNOT_TELL.search(text) is not None


def says_untold(text: str) -> bool:
    """Whether the text says of the question, not of the speaker, that it cannot be told.

    "It cannot be determined" and "I can't tell" are what such an option says; "I'm unable to
    determine this" and "I can't answer" only refuse.
    """
    return cannot_tell(_UNABLE.sub(" ", text))


def declines(text: str) -> bool:
    """Whether the text declines to answer at all (sees no image, is only a program, …)."""
    return _DECLINES.search(text) is not None


def could_not_see(text: str) -> bool:
    """Whether the text says that something could not be made out, as against not being there."""
    return _COULD_NOT_SEE.search(text) is not None


def refuses(text: str) -> bool:
    """Either of the two."""
    return cannot_tell(text) or declines(text)
