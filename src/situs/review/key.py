"""A key in words, for the reader who verifies it."""

from __future__ import annotations

from collections.abc import Mapping

from situs.base.text import short
from situs.items import (
    Boxes,
    Choice,
    Choices,
    Frames,
    Item,
    Number,
    Simple,
    letter_of,
    parts_of,
    plain_words,
)

__all__ = ["key_words"]


def key_words(item: Item, slices: Mapping[str, str] = {}) -> str:
    """The right answer; a compound one part by part. Boxes and frames are drawn, not told, unless
    `slices` has words for a part."""
    words = {
        name: slices.get(name) or _words(item, part) for name, part in parts_of(item.answer).items()
    }
    return "\n".join(f"{name}: {text}" if name else text for name, text in words.items())


def _words(item: Item, answer: Simple) -> str:
    match answer:
        case Number(value, unit, interval):
            spread = (
                f", {short(interval[0])} to {short(interval[1])} count as right"
                if interval and interval[0] < interval[1]
                else ""
            )
            is_count = not unit and float(value).is_integer()
            return (f"{value:.0f}" if is_count else f"{short(value)} {unit}".strip()) + spread
        case Choice(value, also_right):
            return " or ".join(_option(item, one) for one in (value, *also_right))
        case Choices(values):
            return "; ".join(_option(item, one) for one in values)
        case Frames(frames):
            return f"the {len(frames)} pictures marked below" if frames else "on no picture"
        case Boxes(boxes) if boxes:
            return "as drawn"
        case _:
            return plain_words(item, answer)


def _option(item: Item, value: str) -> str:
    letter = letter_of(item, value)
    return f"{letter}. {next(option.text for option in item.options if option.value == value)}"
