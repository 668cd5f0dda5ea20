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


def without_frame(clause: str) -> tuple[str, bool]:
    """A clause in lower case without what leads to it,
    and whether that turns it into its opposite."""
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
