"""Which mirrored questions stay within what a body may look like,
and which override everything known of it."""

from __future__ import annotations

from collections.abc import Mapping

from situs.anatomy import Naming, Term, is_head, term
from situs.items import Item

__all__ = ["PAIRED", "TORSO", "mirror_group"]

PAIRED = "brain, limbs and pairs"
"""Mirrored, it could be another patient."""
TORSO = "torso"
"""Mirrored, it is out of distribution:
what is asked is whether the picture overrides the textbook."""


def mirror_group(item: Item, own_terms: Mapping[str, Term]) -> str:
    """By the structures an item must see:
    all of them in the head, of a limb or one of a pair, or not."""
    names = [
        need.removeprefix("sees:").rpartition(":")[2]
        for need in item.needs
        if need.startswith("sees:")
    ]
    return PAIRED if names and all(_is_symmetric(name, own_terms) for name in names) else TORSO


def _is_symmetric(name: str, own_terms: Mapping[str, Term]) -> bool:
    entry = term(name, own_terms)
    holder = entry.part_of if entry.kind == "lesion" else None
    if holder is not None and holder != name:
        return _is_symmetric(holder, own_terms)
    return is_head(name, own_terms) or entry.naming is Naming.POSITIONAL
