"""Numbers in the names of pictures: which frame each is, told only where it can be."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from pathlib import PurePath

__all__ = ["NUMBERED", "missing_numbers", "number_in"]

NUMBERED = re.compile(r"\A(.+?)[_-](?:slice|frame)[_-]?(\d+)")
"""The stem of a picture that says which slice of which volume it is."""


def number_in(name: str) -> int | None:
    """The last number in a picture's name, without its format."""
    digits = re.findall(r"\d+", PurePath(name.replace("\\", "/")).stem)
    return int(digits[-1][:18]) if digits else None


def missing_numbers(names: Iterable[str]) -> str:
    """What is lacking in the numbers of a volume's pictures, so that their frames cannot be told;
    empty if nothing.

    Numbers without a gap are frames in their order, from whatever they start; if the names say that
    they are slices or frames, they must start at 0 or 1. Names without numbers, or with one number
    for several, are frames in their order.
    """
    stems = [PurePath(name.replace("\\", "/")).stem for name in names]
    number_of_stem = [number_in(stem) for stem in stems]
    numbers = sorted(number for number in number_of_stem if number is not None)
    if not numbers or len(set(numbers)) != len(stems):
        return ""
    first = numbers[0]
    if first > 1 and all(NUMBERED.fullmatch(stem) for stem in stems):
        return f"the pictures are numbered from {first}"
    gap = next(
        (after for before, after in itertools.pairwise(numbers) if after != before + 1), None
    )
    return "" if gap is None else f"no picture is numbered {gap - 1}, but one is numbered {gap}"
