"""Which mirrored questions stay within what a body may look like, and which override everything known of it."""

from __future__ import annotations

from collections.abc import Mapping

from situs.anatomy import Naming, Term, is_head, term
from situs.items import Item

__all__ = ["PAIRED", "TORSO", "mirror_group"]

PAIRED = "brain, limbs and pairs"
"""Mirrored, it could be another patient."""
TORSO = "torso"
"""Mirrored, it is out of distribution: what is asked is whether the picture overrides the textbook."""


def mirror_group(item: Item, own: Mapping[str, Term]) -> str:
    """By the structures an item must see: all of them in the head, of a limb or one of a pair, or not."""
    names = [
        need.removeprefix("sees:").rpartition(":")[2]
        for need in item.needs
        if need.startswith("sees:")
    ]
    return PAIRED if names and all(_is_symmetric(name, own) for name in names) else TORSO


def _is_symmetric(name: str, own: Mapping[str, Term]) -> bool:
    found = term(name, own)
    whole = found.part_of if found.kind == "lesion" else None
    if whole is not None and whole != name:
        return _is_symmetric(whole, own)
    return is_head(name, own) or found.naming is Naming.POSITIONAL
