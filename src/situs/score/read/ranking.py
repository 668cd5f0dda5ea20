"""Orders that a reply tells in a sentence: "the liver is largest, followed by the stomach and then the spleen"."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["ranked_option"]

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
_STOP = re.compile(r"[.;!?\n]\s|\n")
_LONGEST = 400


def ranked_option(plain: str, cores: Sequence[str]) -> int | None:
    """The option whose order a reply tells, as a whole or in the only sentence that tells one."""
    whole = _ranked(plain, cores)
    if whole is not None:
        return whole
    told = {_ranked(part, cores) for part in _STOP.split(plain[-_LONGEST:])} - {None}
    return told.pop() if len(told) == 1 else None


def _ranked(plain: str, cores: Sequence[str]) -> int | None:
    """The option whose list has the order in which a reply names all its members, each once; None if none is sure."""
    orders = [tuple(part.strip() for part in words.split(",")) for words in cores]
    lists = [order for order in orders if len(order) > 2]
    members = set(lists[0]) if lists else set()
    if not members or any(set(order) != members for order in lists) or len(plain) > _LONGEST:
        return None
    text = plain.lower()
    places = {
        member: [match.span() for match in re.finditer(rf"\b{re.escape(member)}\b", text)]
        for member in members
    }
    if any(len(spans) != 1 for spans in places.values()):
        return None
    told = tuple(sorted(members, key=lambda member: places[member][0]))
    for member in members:
        text = text.replace(member, " ", 1)
    words = [word.lower() for word in _WORD.findall(text)]
    if (
        "<" in words
        or not set(words) <= _LINKS
        or ("smallest" in words and "smallest" not in words[-4:])
    ):
        return None
    return orders.index(told) if told in orders else None
