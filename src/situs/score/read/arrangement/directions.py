"""Directions told from the other end.

Asked where the kidney lies as seen from the spleen, a reply may say that the spleen lies above the
kidney, which places the kidney below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.content import content_words, opposites

__all__ = ["turn_directions"]

_ASKED = (
    re.compile(
        r"seen from (?P<from>.+?), in which direction (?:does|do|is|are) (?P<what>.+?)"
        r"(?: mainly| mostly)?(?: lie| located| situated)?\?"
    ),
    re.compile(
        r"in (?:which|what) direction (?:from|of|relative to) (?P<from>.+?) (?:does|do|is|are) "
        r"(?P<what>.+?)"
        r"(?: mainly| mostly)?(?: lie| located| situated)?\?"
    ),
    re.compile(
        r"where (?:does|do|is|are) (?P<what>.+?) (?:mainly |mostly )?(?:lie |located )?"
        r"(?:relative to|with respect to|in relation to|compared (?:with|to)) (?P<from>.+?)"
        r"(?: lie)?\?"
    ),
)
_CLAUSE = re.compile(
    r"[,;:()]|\b(?:and|but|while|whereas|so|because|since|meaning|means|therefore|hence|thus|that"
    r"|which)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:from|to|of|than|with|by|for|behind|above|below|beneath|under|against|near|in|on|at"
    r"|towards?|beyond)"
    r"(?: the| this| that| its)? ?$",
    re.IGNORECASE,
)
_GOVERNING = re.compile(r"\b(?:above|below|behind|beneath|under|underneath)$", re.IGNORECASE)
_OF = re.compile(r" (?:of|to|from|than)(?: the| this| that)? ", re.IGNORECASE)
_OPTIONAL_OF = re.compile(r"(?: (?:of|to|from|than))?(?: the| this| that)? ", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|an?) ")


def turn_directions(
    found: Sequence[Statement], plain: str, question: str, cores: Sequence[str]
) -> None:
    """Turn round the claims that place what the question looks from, not what it asks about."""
    asked = _asked(question)
    if asked is None:
        return
    reference, target = asked
    for statement in found:
        for claim in statement.claims:
            if len(claim.values) == 1 and _is_turned(plain, claim, statement, reference, target):
                _turn(claim, cores)


@lru_cache(maxsize=1024)
def _asked(question: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """What names the structure looked from, and the one asked about."""
    text = " ".join(question.lower().split())
    match = next((match for pattern in _ASKED if (match := pattern.search(text))), None)
    if match is None:
        return None
    reference, target = (_ARTICLE.sub("", match[group].strip()) for group in ("from", "what"))
    return _named(reference, target), _named(target, reference)


def _named(name: str, other: str) -> re.Pattern[str]:
    """A structure by its name, or by its last word where the other has another."""
    words = [name]
    last = name.split()[-1]
    if last not in other.split():
        words.append(last)
    spelled = "|".join(re.escape(word) for word in words)
    return re.compile(rf"(?<!\w)(?:{spelled})(?!\w)", re.IGNORECASE)


def _is_turned(
    plain: str,
    claim: Claim,
    statement: Statement,
    reference: re.Pattern[str],
    target: re.Pattern[str],
) -> bool:
    # "Above the kidney" places what was named before; "left-sided kidney" places the kidney.
    governs = _GOVERNING.search(plain, claim.start, claim.end) is not None
    behind = (_OPTIONAL_OF if governs else _OF).match(plain, claim.end)
    if behind and target.match(plain, behind.end()):
        return True
    before = plain[statement.start : claim.start]
    breaks = list(_CLAUSE.finditer(before))
    clause = before[breaks[-1].end() :] if breaks else before
    subject = max(reference.finditer(clause), key=re.Match.start, default=None)
    if subject is None or target.search(clause, subject.end()):
        return False
    return _PREPOSITION.search(clause, 0, subject.start()) is None


def _turn(claim: Claim, cores: Sequence[str]) -> None:
    value = claim.values[0]
    against = frozenset[str]()
    if isinstance(value, int) and value < len(cores):
        against = frozenset().union(
            *(opposites().get(word, frozenset()) for word in content_words(cores[value]))
        )
    turned = [index for index, words in enumerate(cores) if against & set(content_words(words))]
    if len(turned) == 1 and claim.role < Role.STATED:
        claim.values = (turned[0],)
    else:
        claim.certainty = Certainty.DOUBTED
