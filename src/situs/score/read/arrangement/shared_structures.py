"""Which mark a reply places in the structure that it places mark X in.

"X is in the liver; A is in the stomach, B in the liver": every mark is said to lie somewhere, and
the answer is the only one that lies where X does. A reply that denies, doubts or leaves a mark in
two structures says nothing in this way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from situs.score.read.prose.claims import Role, Statement
from situs.score.read.prose.content import content_words

__all__ = ["conclude_shared", "mark_beside_x"]

_PLACED = re.compile(
    r"(?:\b(?:mark|point|marker|letter) )?\b(?P<mark>[A-FX])\b\)?"
    r" ?(?:(?:is|lies|sits|falls)(?: also| likewise| clearly)?(?: located| situated)?(?: too)? "
    r"(?:in|inside|within)|in|[:–—=-]|→)"
    r" (?:the )?(?P<structure>[a-z]+(?: [a-z]+){0,2}?)(?: (?:too|also|as well))?(?=[.,;\n]| and |$)"
)
_UNSURE = re.compile(
    r"\b(?:not|no|or|if|unless|maybe|perhaps|possibly|might|may|could|wait|actually|but)\b|n't|\?",
    re.IGNORECASE,
)
_PAIRED = re.compile(
    r"(?:\bX and (?:mark |point )?[A-Z]|\b[A-Z] and (?:mark |point )?X),? [a-z]+\b"
)
# "Mark D in the spleen, as is X": what shares its place with X.
_AS_X = re.compile(
    r"\b(?:as is|as does|as are|like|just like|together with|along with|alongside|same as|same"
    r" (?:organ|structure) as|"
    r"shared? with|shares (?:it|that|its \w+) with|also holds|also contains|where|with) (?:mark"
    r" |point )?X\b"
)
_LIKE_X = re.compile(
    r"(?:like|together with|along with|just like) (?:mark |point )?X,", re.IGNORECASE
)
# "X is in the liver, like C."
_X_LIKE = re.compile(
    r"\bX\b[^.;\n]{0,60}?,? (?:just like|like|as is|as does|together with|along with)"
    r" (?:mark |point )?([A-F])\b"
)
_AS_LESION = re.compile(
    r"\b(?:as does|as is|like|just like|together with) the lesion\b", re.IGNORECASE
)
_PARTED = re.compile(
    r"\b(?:not|different|separate|distinct|apart|neither|whereas|while|but)\b|n't", re.IGNORECASE
)
_LONGEST = 600
"""Characters of a reply that is read so."""


def mark_beside_x(plain: str) -> str | None:
    """The letter of the mark that lies where X does; None if that is not said plainly."""
    if len(plain) > _LONGEST or _UNSURE.search(plain):
        return None
    structures: dict[str, frozenset[str]] = {}
    for match in _PLACED.finditer(plain):
        words = frozenset(content_words(match["structure"]))
        if structures.setdefault(match["mark"], words) != words:
            return None
    named = _X_LIKE.findall(plain)
    if len(set(named)) == 1:
        return str(named[0])
    asked = structures.pop("X", None)
    beside = [mark for mark, words in structures.items() if words == asked]
    return beside[0] if asked and len(beside) == 1 else None


def conclude_shared(found: Sequence[Statement], plain: str) -> None:
    """ "X and D are in the liver" names the mark that shares a structure with mark X."""
    for statement in found:
        for claim in statement.claims:
            pair = _PAIRED.search(plain, max(0, claim.start - 20), claim.end + 30)
            plain_claim = claim.role <= Role.LEAD and claim.asserted and len(claim.values) == 1
            shared = (
                _AS_X.search(plain, claim.end, statement.end)
                if len(statement.claims) == 1
                else None
            )
            if len(statement.claims) == 1 and shared is None:
                shared = _LIKE_X.match(plain, statement.start) or _AS_LESION.search(
                    plain, claim.end, statement.end
                )
            parted = _PARTED.search(plain, statement.start, statement.end)
            paired = pair and pair.start() <= claim.start and pair.end() >= claim.end
            if plain_claim and not parted and (paired or shared):
                claim.role, claim.licensed = Role.CONCLUDED, True
