"""Frames in the plainest forms, which most replies have: read at once, without a grammar.

Whatever departs from these forms by a character is left to the full reader (`frames`), and what is
read here is what the full reader reads: `tests/score/test_stated_frames.py` compares the two.
"""

from __future__ import annotations

import re
from itertools import pairwise

__all__ = ["stated_frames"]

_NUMBER = r"([0-9]{1,4})"
_RANGES = (
    re.compile(rf"(?:(?:Frames|Slices|frames|slices) )?{_NUMBER}(?:-|–| to ){_NUMBER}\.?"),
    re.compile(rf"It is seen from (?:frame|slice) {_NUMBER} to (?:frame|slice) {_NUMBER}\."),
)
"""`7-21`, `Frames 7 to 21.`, `It is seen from frame 7 to frame 21.`"""
_LISTS = (
    re.compile(r"(?:Frames|Slices) ([0-9]{1,4}(?:, [0-9]{1,4}){2,})\.?"),
    re.compile(r'\{"frames": \[([0-9]{1,4}(?:, [0-9]{1,4}){2,})\]\}'),
)
"""`Frames 3, 4, 5.`, `{"frames": [3, 4, 5]}`"""


def stated_frames(text: str) -> set[int] | None:
    """The numbers of a reply that is nothing but a range, or a list without gaps of three frames
    or more; None if it is anything else."""
    for form in _RANGES:
        match = form.fullmatch(text)
        if match is not None:
            low, high = int(match[1]), int(match[2])
            return set(range(low, high + 1)) if low < high else None
    for form in _LISTS:
        match = form.fullmatch(text)
        if match is not None:
            numbers = [int(number) for number in match[1].split(", ")]
            # What a list with gaps means depends on what is asked for.
            follows = all(later == number + 1 for number, later in pairwise(numbers))
            return set(numbers) if follows else None
    return None
