"""What a structure is part of: a lobe of its lung, S1 of the sacrum, a vertebra of the spine."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from situs.anatomy.terms import Term, shipped_terms, term

__all__ = ["are_akin", "is_head", "is_part", "is_spine", "organs_in_parts", "wholes"]

_HEAD = frozenset(("skull", "brain", "cerebellum"))


def wholes(entry: Term, named: Mapping[str, Term] | None = None) -> frozenset[str]:
    """The structure itself, what it is part of, what that is part of, and so on, each by its
    canonical name.

    `named` are the terms of a study; they come first, since a user's own map may say what is part
    of what.
    """
    chain: set[str] = set()
    current: Term | None = entry
    while current is not None and _identity(current) not in chain:
        chain.add(_identity(current))
        parent = current.part_of
        current = None if parent is None else term(parent, named)
    return frozenset(chain)


def is_part(a: Term, b: Term, named: Mapping[str, Term] | None = None) -> bool:
    """Whether one of the two is the other, or part of it."""
    return _identity(a) in wholes(b, named) or _identity(b) in wholes(a, named)


def are_akin(a: Term, b: Term, named: Mapping[str, Term] | None = None) -> bool:
    """Whether "the same structure" may mean both:
    parts of one whole, part and whole, left and right."""
    partners = a.partner == b.name or b.partner == a.name
    return partners or not wholes(a, named).isdisjoint(wholes(b, named))


def is_head(name: str, named: Mapping[str, Term] | None = None) -> bool:
    """Whether the structure is the skull, the brain or a part of it, or a lesion in it."""
    return not _HEAD.isdisjoint(wholes(term(name, named), named))


def is_spine(name: str, named: Mapping[str, Term] | None = None) -> bool:
    """Whether the structure marks the midline: a vertebra, several of them, or the sacrum."""
    return term(name, named).kind in ("vertebra", "spine")


def organs_in_parts(named: Mapping[str, Term]) -> dict[str, tuple[str, ...]]:
    """Organs that are annotated in parts only, and in all of them: a lung in its lobes. Whole →
    names of the parts.

    Nobody calls a lobe an organ: what asks for a lesion's organ means the whole.
    """
    present = {_identity(entry): name for name, entry in named.items()}
    return {
        whole: tuple(sorted(present[part] for part in parts))
        for whole, parts in _parts_of_organs().items()
        if whole not in present and parts <= set(present)
    }


@functools.cache
def _parts_of_organs() -> dict[str, frozenset[str]]:
    parts: dict[str, set[str]] = {}
    organs = {name: entry for name, entry in shipped_terms().items() if entry.kind == "organ"}
    for name, entry in organs.items():
        if entry.part_of in organs:
            parts.setdefault(str(entry.part_of), set()).add(name)
    return {whole: frozenset(names) for whole, names in parts.items()}


def _identity(entry: Term) -> str:
    return entry.canonical or entry.name
