"""What leads to a statement without being part of it:
"I regret to inform you that …", "I don't think that …"."""

from __future__ import annotations

import re
from functools import lru_cache

from situs.score.read.prose.lexicon import language_file

__all__ = ["without_asides", "without_frame"]

# Any few words up to "that" lead to a statement, unless one of them bends it.
_LED = re.compile(
    r"(?:and |so |thus |therefore )*"
    r"(?P<frame>(?:i|we|it|this|one|you|the|my|everything|all|evidence|"
    r"measurements?)\b[^,.;:]{0,70}?)"
    r" that "
)
_SURE = re.compile(
    r"i(?:'m| am) (?:(?!not\b|less\b|hardly\b)[a-z]+ )?"
    r"(?:confident|sure|certain|convinced|positive)(?: that)? (?=[a-z])"
)
_MOST_WORDS = 10
# "Based on the provided slice, I believe …": what was looked at, before what is said of it. "On the
# next slice, …" says where.
_PICTURES = (
    r"(?:(?:the|this|these|all|all the|all of the|your) )?(?:(?:given|provided|present|current"
    r"|shown|displayed|uploaded|available|attached|whole|entire|mri?|ct|axial|sagittal|coronal"
    r"|imaging) ){0,3}(?:images?|slices?|scans?|pictures?|study|series|volume|stack|mri|ct|data"
    r"|findings|appearances?|features)"
)
_LOOKED_AT = re.compile(
    r"(?:(?:so|well|now|ok|okay|thus|therefore|but|yet|however),? )?"
    rf"(?:(?:(?:based on|looking at|judging (?:from|by)|going by|according to|given|from|on|in|as"
    r" seen on|after (?:carefully |a review of )?(?:reviewing|looking at|examining|checking"
    r"|viewing)|having (?:carefully )?(?:reviewed|looked at|examined|checked|viewed|seen)"
    rf"|(?:up)?on (?:careful )?(?:review|inspection|examination) of) {_PICTURES}"
    r"(?: (?:provided|shown|given|above|alone|carefully))?)"
    r"|(?:up)?on (?:an? )?(?:second|closer|careful|repeated) (?:look|glance|inspection|review)"
    r"|from what i (?:can )?see(?: here)?|as far as i can (?:tell|see|judge)|overall|in summary"
    r"|to summari[sz]e|to conclude|in short|all in all|on balance),? (?=[a-z])"
)
# "The lateral one, in contrast, is torn": its verb belongs to what stands before the comma.
_ASIDE = re.compile(
    r", (?:in contrast|by contrast|on the other hand|on the contrary|conversely|meanwhile|in turn"
    r"|however|though|instead"
    r"|in comparison|by comparison|for its part|respectively|too|also),(?= [a-z])",
    re.IGNORECASE,
)


def without_asides(sentence: str) -> str:
    """A sentence without the words between commas that only set it against another."""
    return _ASIDE.sub("", sentence)


def without_lead_in(clause: str) -> str:
    """A clause in lower case without what was looked at, where a statement of its own follows."""
    looked = _LOOKED_AT.match(clause)
    return clause[looked.end() :] if looked else clause


def without_frame(clause: str) -> tuple[str, bool]:
    """A clause in lower case without what leads to it,
    and whether that turns it into its opposite."""
    clause = without_lead_in(clause)
    for phrase, turned in _frames():
        if clause.startswith(phrase):
            return clause[len(phrase) :], turned
    sure = _SURE.match(clause)
    if sure:
        return clause[sure.end() :], False
    led = _LED.match(clause)
    frame = led["frame"].split() if led else []
    if led and len(frame) <= _MOST_WORDS and _leading() & set(frame) and not _bends(led["frame"]):
        return clause[led.end() :], False
    return clause, False


def _bends(words: str) -> bool:
    """Whether words deny, doubt, condition or report what they lead to."""
    tokens = re.findall(r"[a-z]+(?:'[a-z]+)?", words)
    return any(word in _bending() or word.endswith("n't") for word in tokens)


@lru_cache(maxsize=1)
def _bending() -> frozenset[str]:
    words = language_file("en")
    return frozenset(
        [
            *words["relations"]["unsettled"],
            *words["relations"]["negations"],
            *words["yes_no"]["bending"],
        ]
    )


@lru_cache(maxsize=1)
def _leading() -> frozenset[str]:
    return frozenset(language_file("en")["yes_no"]["leading"])


@lru_cache(maxsize=1)
def _frames() -> tuple[tuple[str, bool], ...]:
    words = language_file("en")["yes_no"]
    frames = [(f"{phrase} ", True) for phrase in words["denying"]]
    frames += [(f"{phrase} ", False) for phrase in words["affirming"]]
    return tuple(sorted(frames, key=lambda frame: -len(frame[0])))
