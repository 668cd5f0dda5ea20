"""Replies to a yes/no question that repeat it as a statement instead of saying yes or no."""

from __future__ import annotations

import re
from functools import lru_cache

from situs.score.read.prose.lexicon import language_file

__all__ = ["denies", "restates", "same_question"]

_ASKS = re.compile(
    r"\s*(?:is|are|was|were|does|do|did|has|have|can)\s+(?P<rest>[^?\n]{3,300})\?", re.IGNORECASE
)
_IDLE = frozenset(
    {
        "the", "a", "an", "is", "are", "was", "were", "does", "do", "did", "to", "of", "in", "on", "at", "it",
        "this", "that", "there", "from", "patient's", "point",
        "view", "any", "and", "as", "seen", "by", "be", "lie", "lies", "located", "sits", "has", "have", "one",
        "for", "side", "slice", "scan", "image", "with", "clearly",
        "positioned", "situated",
    }
)  # fmt: skip
_PRESENT = frozenset({"annotated", "present", "visible", "marked"})
_NEGATION = re.compile(
    r"\b(?:not|cannot|never|isn't|aren't|doesn't|don't|wasn't|no|without|neither|absent)\b|n't\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:if|whether|could|might|may|maybe|perhaps|possibly|unclear|unsure|not sure|doubt|would|should|"
    r"but|although|however|"
    r"while|partly|partially|slightly|more|less|than|except|unless|question|likely|unlikely|excluded|ruled|seems?|appears?)\b",
    re.IGNORECASE,
)
_NONE_OF = re.compile(
    r"(?:[^.,:;?]{1,60}, )?(?:there (?:is|are|was|were) |i (?:can )?see |i find )?no (?:(?:evidence|"
    r"signs?|indication) of )?(?:an? |any )?"
    r"(?P<noun>[a-z][a-z -]{1,60}?)"
    r"(?: (?:(?:is|are|was|were|has been|have been) )?(?:annotated|marked|seen|present|visible|found|identified|noted|"
    r"detected|there|shown|evident)\b)?(?: (?:on|in|within) (?:this|the|any) [a-z ]{1,40})?[.!]?",
    re.IGNORECASE,
)
_NOT_SEEN = re.compile(
    r"(?:i|we) (?:do not|don't|cannot|can't) (?:see|find|identify|detect) (?:an? |any )?(?P<noun>[a-z][a-z -]{1,60}?)"
    r"(?: (?:on|in|within) (?:this|the|any) [a-z ]{1,40})?[.!]?",
    re.IGNORECASE,
)
_ASKS_FOR = re.compile(
    r"\b(?:there|annotated|marked|includes?|present|seen|visible|found|identified|detected|evidence|shows?)\b",
    re.IGNORECASE,
)
_TURNED_ROUND = re.compile(
    r"\b(?:no|not|normal|absent|free|without|unremarkable|intact|lacks?|none)\b|n't", re.IGNORECASE
)
_ANYTHING = {"finding", "abnormality"}


_LEAD_IN = re.compile(
    r"(?:based on|looking at|judging (?:from|by)|according to|given|after reviewing|on|in|from|as seen on) "
    r"[a-z -]{0,40}, ",
    re.IGNORECASE,
)
"""What opens a statement without belonging to it ("Based on these images, …")."""


def denies(plain: str, question: str) -> bool:
    """Whether a reply is nothing but "No X" (or "there is no X") to a question that asks whether X is there.

    X must be named by the question, or be any finding at all; a question that itself speaks of absence or of what is
    normal is left alone.
    """
    match = _NONE_OF.fullmatch(plain) or _NOT_SEEN.fullmatch(plain)
    if not match or not _ASKS_FOR.search(question) or _TURNED_ROUND.search(question):
        return False
    named = [_singular(word) for word in re.findall("[a-z]+", match["noun"].lower())]
    asked = {_singular(word) for word in re.findall("[a-z]+", question.lower())}
    return set(named) <= asked or (len(named) == 1 and named[0] in _ANYTHING)


def same_question(asked: str, question: str) -> bool:
    """Whether a question in a reply is the one that was put to it."""
    words = set(_content(asked)) - {"q", "question"}
    theirs = set(_content(question))
    if not theirs or "answer" in words or words & {"yes", "no"}:
        return True
    return words <= theirs or len(words & theirs) >= 0.6 * len(theirs)


def restates(plain: str, question: str) -> bool | None:
    """True for a reply of one sentence that says what the question asks, False if it denies it or says the opposite."""
    match = _ASKS.match(question)
    sentence = _without_lead_in(plain.strip().rstrip(".!"))
    if (
        match is None
        or re.search(r"[.;!?:\n]", sentence)
        or _UNSURE.search(_without_asked(sentence, question))
    ):
        return None
    asked = [word for word in _content(match["rest"]) if word not in _PRESENT]
    stated = [word for word in _content(_NEGATION.sub(" ", sentence)) if word not in _PRESENT]
    denied = len(_NEGATION.findall(sentence)) == 1
    if _TURNED_ROUND.search(question) or len(_NEGATION.findall(sentence)) > 1:
        return None
    if sorted(asked) == sorted(stated) and asked[:1] == stated[:1]:
        return not denied
    # "Not below" does not say above: only the plain opposite denies.
    return False if _turned(asked, stated) and not denied else None


def _without_lead_in(sentence: str) -> str:
    match = _LEAD_IN.match(sentence)
    return sentence[match.end() :] if match else sentence


def _without_asked(sentence: str, question: str) -> str:
    """The sentence without words of the question, which may themselves be "more" or "than"."""
    asked = {word.lower() for word in re.findall(r"[a-z]+", question, re.IGNORECASE)}
    turned = {other for word in asked for other in _opposites().get(word, ())}
    return " ".join(
        word for word in sentence.split() if word.lower().strip(",") not in asked | turned
    )


def _turned(asked: list[str], stated: list[str]) -> bool:
    """Whether the two differ in one word, and that is turned into its opposite."""
    if len(asked) != len(stated):
        return False
    pairs = [(a, b) for a, b in zip(asked, stated) if a != b]
    return len(pairs) == 1 and pairs[0][1] in _opposites().get(pairs[0][0], ())


@lru_cache(maxsize=1)
def _opposites() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for pair in language_file("en")["yes_no"]["opposites"]:
        word, other = pair.split()
        found[word] = (*found.get(word, ()), other)
    return found


def _content(text: str) -> list[str]:
    text = re.sub(r"\bin front\b", "front", text.lower())
    words = [word for word in re.findall(r"[a-z0-9]+(?:'s)?", text) if word not in _IDLE]
    return [_nouns().get(word, _singular(word)) for word in words]


@lru_cache(maxsize=1)
def _nouns() -> dict[str, str]:
    """ "Hepatic" is said of the liver."""
    pairs = (pair.split() for pair in language_file("en")["yes_no"]["adjectives"])
    return {adjective: _singular(noun) for adjective, noun in pairs}


def _singular(word: str) -> str:
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
