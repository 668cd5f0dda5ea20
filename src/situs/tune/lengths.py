"""How many tokens an example will have, estimated without any model or counted with its tokenizer.

Pictures are exact for each family (its own resize and patch size); words are an estimate unless a
model's folder is given.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from situs.errors import SitusError
from situs.tune.forms import smart_resize
from situs.tune.record import Lengths

__all__ = [
    "FAMILIES",
    "Family",
    "LengthTally",
    "family_for",
    "model_family",
    "picture_family",
    "text_tokens",
]

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


def family_for(box_form: str) -> str:
    """The family whose lengths are limited: the one that writes such boxes."""
    return "qwen2.5-vl" if box_form == "qwen2.5" else "qwen3-vl"


def picture_family(folder: Path) -> Family:
    """How a model's own folder cuts pictures."""
    try:
        settings = json.loads((folder / "preprocessor_config.json").read_text("utf-8"))
        size = settings.get("size") or {}
        return Family(
            folder.name,
            int(settings["patch_size"]) * int(settings["merge_size"]),
            int(settings.get("min_pixels") or size["shortest_edge"]),
            int(settings.get("max_pixels") or size["longest_edge"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SitusError(
            f"its preprocessor_config.json cannot be used ({error})",
            where=folder,
            fix="give a folder with all files of a Qwen-VL model",
        ) from error


def model_family(folder: Path) -> tuple[Family, Callable[[str], int]]:
    """How a model's own folder cuts pictures, and how many tokens its tokenizer makes of a text."""
    if importlib.util.find_spec("tokenizers") is None:
        raise SitusError(
            "needs tokenizers, which is not installed",
            where="--model",
            fix="pip install tokenizers",
        )
    from tokenizers import Tokenizer

    family = picture_family(folder)
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the tokenizer's reader raises nothing more special
        raise SitusError(
            f"its tokenizer.json cannot be used ({error})",
            where=folder,
            fix="give a folder with all files of a Qwen-VL model",
        ) from error
    return family, lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


class LengthTally:
    """Lengths of many examples in little memory: how often each length occurs."""

    def __init__(self, model: Path | None = None) -> None:
        self._families: tuple[Family, ...] = FAMILIES
        self._words: Callable[[str], int] = text_tokens
        if model is not None:
            family, self._words = model_family(model)
            self._families = (family,)
        self._counted = model is not None
        self._counts: dict[str, Counter[int]] = {
            family.name: Counter() for family in self._families
        }
        self._pictures: dict[tuple[str, float, float], int] = {}

    def measure(self, texts: Iterable[str], sizes: Iterable[tuple[float, float]]) -> dict[str, int]:
        """Family → tokens of one example; with a model, its folder's name → tokens."""
        words = sum(map(self._words, texts)) + _CHAT_TOKENS
        picture_sizes = list(sizes)
        return {
            family.name: words
            + sum(self._picture(family, *size) + _FRAME_TOKENS for size in picture_sizes)
            for family in self._families
        }

    def count(self, lengths: dict[str, int]) -> None:
        """Count one measured example."""
        for name, length in lengths.items():
            self._counts[name][length] += 1

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
        family_lengths = []
        words = (
            "words counted by its tokenizer"
            if self._counted
            else "words estimated; tune check --model counts them"
        )
        for family in self._families:
            counts = self._counts[family.name]
            if counts:
                basis = f"pictures exact ({family.factor}-pixel tokens), {words}"
                family_lengths.append(
                    Lengths(
                        family.name,
                        _quantile(counts, 0.5),
                        _quantile(counts, 0.95),
                        max(counts),
                        basis,
                    )
                )
        return tuple(family_lengths)


def _quantile(counts: Counter[int], share: float) -> int:
    """The smallest length that at least this share of examples does not exceed."""
    wanted, passed = share * counts.total(), 0
    for length in sorted(counts):
        passed += counts[length]
        if passed >= wanted:
            return length
    return max(counts)
