"""How many tokens an example will have, estimated without any model.

Pictures are exact for each family (its own resize and patch size); words are an estimate, which
`situs tune check --model` replaces by a count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from situs.tune.forms import smart_resize
from situs.tune.record import Lengths

__all__ = ["FAMILIES", "Family", "LengthTally", "text_tokens"]

_PIECES = re.compile(r"\d|[^\W\d_]{1,7}|[^\w\s]|_")
"""Qwen's tokenizers give every digit a token of its own, words about one for seven letters."""
_CHAT_TOKENS = 12
"""Turn marks and role names around one question and one reply."""
_FRAME_TOKENS = 2
"""Start and end of each picture."""


class Family(msgspec.Struct, frozen=True):
    """How a family of models cuts pictures into tokens."""

    name: str
    factor: int
    """Pixels on a side for one token."""
    least: int
    most: int
    """Area in pixels to which its processor brings a picture by default."""


FAMILIES = (
    Family("qwen3-vl", 32, 65_536, 16_777_216),
    Family("qwen2.5-vl", 28, 3_136, 12_845_056),
)


def text_tokens(text: str) -> int:
    """An estimate."""
    return len(_PIECES.findall(text))


class LengthTally:
    """Lengths of many examples in little memory: how often each length occurs."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[int]] = {family.name: Counter() for family in FAMILIES}
        self._pictures: dict[tuple[str, float, float], int] = {}

    def add(self, texts: Iterable[str], sizes: Iterable[tuple[float, float]]) -> int:
        """Count one example; its length in the first family."""
        words = sum(map(text_tokens, texts)) + _CHAT_TOKENS
        shown = list(sizes)
        totals = []
        for family in FAMILIES:
            total = words + sum(self._picture(family, *size) + _FRAME_TOKENS for size in shown)
            self._counts[family.name][total] += 1
            totals.append(total)
        return totals[0]

    def _picture(self, family: Family, width: float, height: float) -> int:
        key = (family.name, width, height)
        if key not in self._pictures:
            resized = smart_resize(
                int(width), int(height), family.factor, family.least, family.most
            )
            self._pictures[key] = (resized[0] // family.factor) * (resized[1] // family.factor)
        return self._pictures[key]

    def lengths(self) -> tuple[Lengths, ...]:
        """The families' lengths."""
        found = []
        for family in FAMILIES:
            counts = self._counts[family.name]
            if counts:
                basis = (
                    f"pictures exact ({family.factor}-pixel tokens), "
                    "words estimated; tune check --model counts them"
                )
                found.append(
                    Lengths(
                        family.name,
                        _quantile(counts, 0.5),
                        _quantile(counts, 0.95),
                        max(counts),
                        basis,
                    )
                )
        return tuple(found)


def _quantile(counts: Counter[int], share: float) -> int:
    """The smallest length that at least this share of examples does not exceed."""
    wanted, passed = share * counts.total(), 0
    for length in sorted(counts):
        passed += counts[length]
        if passed >= wanted:
            return length
    return max(counts)
