"""Answers that only repeat the question's verb ("It does not."), and verdicts on the question as a
whole ("That statement is accurate")."""

from __future__ import annotations

import re
from functools import lru_cache

from situs.score.read.framing import without_frame
from situs.score.read.prose.lexicon import language_file

__all__ = ["echoed"]

# "It is.", "It does not.", "There isn't one.": an answer that only repeats the question's verb.
_ECHOED = re.compile(
    r"(?:it|they|this|that|there|he|she|one)"
    r" (?P<verb>is|are|was|were|does|do|did|has|have|can|will)(?P<not> not|n't)?"
    r"(?: (?:indeed|so|really|one|any|that|it|in fact))?",
    re.IGNORECASE,
)
_NOT_ECHOED = re.compile(
    r"(?:it|they|this|that|there)(?:'s|'re| is| are) not(?: one| any| so)?|i (?:do not|don't)"
    r" (?:think|"
    r"believe) (?:that )?"
    r"(?:it|they|there|this|that) (?:is|does|are|do|has)|it(?:'s| is) (?:very |"
    r"highly )?unlikely that it (?:is|does)(?: (?!not\b|n't)[a-z]+){0,6}",
    re.IGNORECASE,
)
# "That statement is accurate", "This is certainly not the case": a verdict on the question as a
# whole.
_VERDICT = re.compile(
    r"(?:(?:that|this|it)|(?:that|this|the|your) "
    r"(?:statement|claim|proposition|description|assertion|assessment|suggestion|premise))"
    r"(?:'s| is| was| would be| seems| appears| looks)(?P<not> not|n't)?(?: to be)?(?: [a-z]+ly|"
    r" quite| indeed)?"
    r" (?:(?P<true>correct|right|true|accurate|valid|the case|so)"
    r"|(?P<false>incorrect|wrong|untrue|false|inaccurate|invalid))"
    r"|(?:that|this|the) (?:statement|claim|proposition|description|assertion)"
    r"(?: (?P<no>does not|doesn't))? holds?(?: true)?",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def _adverbs() -> re.Pattern[str]:
    phrases = sorted(language_file("en")["yes_no"]["adverbs"], key=len, reverse=True)
    return re.compile(rf",? ?\b(?:{'|'.join(phrases)})\b,?")


def echoed(words: str) -> bool | None:
    """Yes or no, where words only repeat the question's verb, or judge it as a whole; else None."""
    inner, turned = without_frame(words)
    if inner != words:
        value = echoed(inner)
        return value if value is None or not turned else not value
    words = " ".join(_adverbs().sub(" ", words).split())
    if words in {"it is right", "it's right", "it is not right"}:
        return None  # which may be a side
    verdict = _VERDICT.fullmatch(words)
    if verdict:
        return (verdict["false"] is None) is (verdict["not"] is None and verdict["no"] is None)
    if _NOT_ECHOED.fullmatch(words):
        return False
    match = _ECHOED.fullmatch(words)
    return None if match is None else match["not"] is None
