"""Orders that a reply tells in a sentence:
"the liver is largest, followed by the stomach and then the spleen"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from situs.score.read.arrangement.orders import GREATER, LESSER, order_members
from situs.score.read.prose.tokens import Mention

__all__ = ["first_ranked", "likeliest_ranked", "ranked_option"]

_LINKS = frozenset(
    {
        "about", "after", "all", "and", "answer", "approximately", "are", "at", "being",
        "biggest", "by", "come", "comes", "finally", "first", "followed", "fourth", "from", "has",
        "in", "is", "it", "largest", "largest-to-smallest", "last", "lastly", "leads", "lowest",
        "ml", "next", "of", "order", "place", "ranking", "second", "smallest", "that", "the",
        "then", "third", "to", "volume", "with",
    }
)  # fmt: skip
"""Words that join the members of an order without changing it."""
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*|<", re.IGNORECASE)
# "From largest to smallest", "in descending order": which end of an order comes first.
_FROM_TO = re.compile(r"\b(?:from )?(?:the )?([a-z]+) to (?:the )?([a-z]+)\b", re.IGNORECASE)
_FALLING = re.compile(r"\b(?:descending|decreasing|falling)\b", re.IGNORECASE)
_RISING = re.compile(r"\b(?:ascending|increasing|rising)\b", re.IGNORECASE)
_RANKED = re.compile(r"\brank(?:ing|ed|s)?\b", re.IGNORECASE)
_GLUE = re.compile(
    r"[\s,;()*.:\d–—-]|\b(?:and|then|followed|by|first|second|third|fourth|last|finally|the)\b"
)
_OF_DISTANCE = frozenset({"nearest", "closest", "near"})
_STOP = re.compile(r"[.;!?\n]\s|\n")
_LONGEST = 400


def ranked_option(plain: str, cores: Sequence[str]) -> int | None:
    """The option whose order a reply tells, as a whole or in the only sentence that tells one."""
    of_reply = _ranked(plain, cores)
    if of_reply is not None:
        return of_reply
    of_sentences = {_ranked(part, cores) for part in _STOP.split(plain[-_LONGEST:])} - {None}
    return of_sentences.pop() if len(of_sentences) == 1 else None


# "Ranking: 1. B 2. A 3. D", "from most to least likely: B > A > D".
_BY_LIKELIHOOD = re.compile(
    r"\W*(?P<head>[^:\n]{0,60}\b(?i:rank(?:ing|ed)?|likel(?:y|ihood)|plausib(?:le|ility)"
    r"|probab(?:le|ility))\b[^:\n]{0,40}?):?\s*"
    r"(?P<letters>(?:(?:[1-9][.)] ?)?\(?\b[A-Z]\b\)?[\s,;>.]*(?:\b(?:then|and)\b[\s,]*)?){2,})",
)
_BY_ELSE = re.compile(
    r"\b(?:by|of|from|in) (?!(?:their |the )?(?:most|least|likel|plausib|probab"
    r"|options\b|answers\b))"
    r"|\border\b(?! of likel)",
    re.IGNORECASE,
)
_LEAST_FIRST = re.compile(r"\bleast\b.*\bmost\b", re.IGNORECASE)


def likeliest_ranked(plain: str, count: int) -> str | None:
    """The letter that heads a ranking of all options by how likely they are,
    where a reply is nothing else."""
    ranking = _BY_LIKELIHOOD.fullmatch(plain)
    letters: list[str] = re.findall(r"\b[A-Z]\b", ranking["letters"]) if ranking else []
    if (
        ranking is None
        or _BY_ELSE.search(ranking["head"])
        or len(letters) != count
        or len(set(letters)) != count
    ):
        return None
    return letters[-1 if _LEAST_FIRST.search(ranking["head"]) else 0]


def first_ranked(plain: str, mentions: Sequence[Mention], count: int, question: str) -> int | None:
    """The option at the asked end of an order of all options ("C > A > B > D", "from nearest to
    farthest: …").

    Only where nothing but the order is told behind its heading, and the heading or the signs tell
    which end is which.
    """
    if len(mentions) != count or len({mention.value for mention in mentions}) != count or count < 3:
        return None
    between = [plain[a.end : b.start].strip() for a, b in pairwise(mentions)]
    heading, rest = plain[: mentions[0].start], plain[mentions[-1].end :]
    # "Nearest to the largest lesion" asks for the nearest.
    ends = (word for word in _WORD.findall(question.lower()) if word in GREATER | LESSER)
    end = next(ends, None)
    if end is None or len(heading) > _LONGEST:
        return None
    greater = end in GREATER
    if end in _OF_DISTANCE and not {"<", ">"}.isdisjoint(between):
        return None  # "B > A" may rank them by distance or by how well they fit
    falling = _falls(between, f"{heading} {rest}", greater=greater)
    if falling is None:
        return None
    value = mentions[0 if falling is greater else -1].value
    return value if isinstance(value, int) else None


def _falls(between: Sequence[str], told: str, *, greater: bool) -> bool | None:
    """Whether an order begins with the greatest; None if that is not told."""
    signs = set(between)
    if signs in ({">"}, {"<"}):
        return signs == {">"}
    if any(_GLUE.sub("", part) for part in between):
        return None
    ends = _FROM_TO.search(told)
    first = {ends[1].lower()} if ends else set()
    if first & GREATER or _FALLING.search(told):
        return True
    if first & LESSER or _RISING.search(told):
        return False
    return (
        greater if _RANKED.search(told) else None
    )  # "Ranking: D, A, B, C" begins with what is asked for


def _ranked(plain: str, cores: Sequence[str]) -> int | None:
    """The option whose list has the order in which a reply names all its members, each once;
    None if none is sure."""
    orders = [tuple(part.strip() for part in words.split(",")) for words in cores]
    members = order_members(cores)
    if not members or len(plain) > _LONGEST:
        return None
    text = plain.lower()
    places = {
        member: [match.span() for match in re.finditer(rf"\b{re.escape(member)}\b", text)]
        for member in members
    }
    if any(len(spans) != 1 for spans in places.values()):
        return None
    ordered = tuple(sorted(members, key=lambda member: places[member][0]))
    for member in members:
        text = text.replace(member, " ", 1)
    words = [word.lower() for word in _WORD.findall(text)]
    if (
        "<" in words
        or not set(words) <= _LINKS
        or ("smallest" in words and "smallest" not in words[-4:])
    ):
        return None
    return orders.index(ordered) if ordered in orders else None
