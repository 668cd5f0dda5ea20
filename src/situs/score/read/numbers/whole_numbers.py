"""Whole numbers in a list or range: "3, 5 and 7", "3-7", "3 to 7 and 9"."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["LONGEST_RANGE", "listed_numbers"]

LONGEST_RANGE = 2000
"""Frames of the longest range that is spelled out; no picture series is longer."""

_PART = re.compile(
    r"([0-9]{1,5})(?:\s*(?:-|–|—|to|through|until|till|\.\.+|…|:)\s*(?:[a-z]+\s*)?([0-9]{1,5}))?",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def listed_numbers(text: str) -> tuple[int, ...]:
    """The numbers of a list, its ranges spelled out, each once and in order of size."""
    found: set[int] = set()
    for match in _PART.finditer(text):
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        low, high = sorted((first, last))
        found.update(range(low, min(high, low + LONGEST_RANGE) + 1))
    return tuple(sorted(found))
