"""When what other patients answered counts as knowledge."""

from __future__ import annotations

import math
from collections import Counter

__all__ = ["standing_out"]

_CLEAR_Z = 2.0
"""How far a majority must stand out from an even split
before it counts as knowledge (standard errors)."""


def standing_out(counts: Counter[str], offered: list[str]) -> list[str]:
    """The most frequent answer if it clearly stands out, else all that are offered.

    Leaving one patient out of a balanced group makes the *other* answer the majority; without this
    bar the baseline would sit below chance instead of at it.
    """
    total = sum(counts.values())
    if not total:
        return offered
    best, count = max(sorted(counts.items()), key=lambda pair: pair[1])
    share = 1.0 / len(offered)
    clear = count - total * share > _CLEAR_Z * math.sqrt(total * share * (1.0 - share))
    return [best] if clear else offered
