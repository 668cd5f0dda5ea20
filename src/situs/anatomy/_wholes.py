"""What a structure is part of: a lobe of its lung, S1 of the sacrum, a vertebra of the spine."""

from __future__ import annotations

from collections.abc import Mapping

from situs.anatomy._terms import Term, term

__all__ = ["are_akin", "is_part", "wholes"]


def wholes(entry: Term, named: Mapping[str, Term] | None = None) -> frozenset[str]:
    """The structure itself, what it is part of, what that is part of, and so on, each by its canonical name.

    `named` are the terms of a study; they come first, since a user's own map may say what is part of what.
    """
    chain: set[str] = set()
    current: Term | None = entry
    while current is not None and _identity(current) not in chain:
        chain.add(_identity(current))
        whole = current.part_of
        current = None if whole is None else (named or {}).get(whole) or term(whole)
    return frozenset(chain)


def is_part(a: Term, b: Term, named: Mapping[str, Term] | None = None) -> bool:
    """Whether one of the two is the other, or part of it."""
    return _identity(a) in wholes(b, named) or _identity(b) in wholes(a, named)


def are_akin(a: Term, b: Term, named: Mapping[str, Term] | None = None) -> bool:
    """Whether "the same structure" may mean both: parts of one whole, part and whole, left and right."""
    partners = a.partner == b.name or b.partner == a.name
    return partners or not wholes(a, named).isdisjoint(wholes(b, named))


def _identity(entry: Term) -> str:
    return entry.canonical or entry.name
