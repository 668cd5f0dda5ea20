"""Which structures may not be marked together: whoever points at one might mean the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import are_akin, is_part

if TYPE_CHECKING:
    from situs.facts.masks.ledger import Ledger

__all__ = ["kin", "kin_table", "nested"]


def nested(ledger: Ledger, a: str, b: str) -> bool:
    """Whether one is part of the other, by its name or because their masks overlap."""
    pair = (a, b) if a < b else (b, a)
    if pair not in ledger.nested_pairs:
        ledger.nested_pairs[pair] = _nested(ledger, a, b)
    return ledger.nested_pairs[pair]


def _nested(ledger: Ledger, a: str, b: str) -> bool:
    shared = ledger.contacts.shared_voxels(a, b)
    smaller = min(ledger.regions[a].voxels, ledger.regions[b].voxels)
    overlap = shared > ledger.recipe.truth.mark_overlap_share * smaller
    return overlap or is_part(ledger.terms[a], ledger.terms[b], ledger.terms)


def kin(ledger: Ledger, a: str, b: str) -> bool:
    """Whether one is part of the other, or both of one whole:
    two lobes of a lung, two vertebrae, two kidneys."""
    return nested(ledger, a, b) or are_akin(ledger.terms[a], ledger.terms[b], ledger.terms)


def kin_table(ledger: Ledger, names: list[str]) -> NDArray[np.bool_]:
    """`kin` of every pair of names."""
    return np.array([[kin(ledger, a, b) for b in names] for a in names], dtype=np.bool_)
