"""A true answer in words."""

from __future__ import annotations

from collections.abc import Iterable

from situs.base.text import short
from situs.items.kinds import parts_of, plain_words, right_options
from situs.items.record import Boxes, Choice, Choices, Frames, Item, Number, Simple
from situs.space import FrameBox

__all__ = ["answer_words", "option_rows"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST_BOXES = 12


def option_rows(item: Item) -> list[tuple[str, str, bool]]:
    """Letter, text, and whether it is right, of every option."""
    right = right_options(item.answer)
    return [
        (letter, option.text, option.value in right)
        for letter, option in zip(_LETTERS, item.options)
    ]


def answer_words(item: Item) -> str:
    """The key as a reader wants it: short numbers, options with letter and text; a compound
    answer part by part."""
    words = {name: _words(item, part) for name, part in parts_of(item.answer).items()}
    return "\n".join(f"{name}: {text}" if name else text for name, text in words.items())


def _words(item: Item, answer: Simple) -> str:
    """More than the plain words, where a reader of the report wants more."""
    match answer:
        case Number(value, unit, interval):
            wide = interval is not None and interval[0] < interval[1]
            spread = (
                f" ({short(interval[0])} to {short(interval[1])} count as right)"
                if interval and wide
                else ""
            )
            is_count = not unit and float(value).is_integer()
            return (f"{value:.0f}" if is_count else f"{short(value)} {unit}".strip()) + spread
        case Choice() | Choices():
            return "; ".join(
                f"{letter}. {text}" for letter, text, right in option_rows(item) if right
            )
        case Frames(frames) if frames:
            return f"frames {_ranges(frames)} (stored frames, counted from 1)"
        case Boxes(boxes) if boxes:
            listed = [_box_words(box) for box in boxes[:_MOST_BOXES]]
            more = f" and {len(boxes) - _MOST_BOXES} more" if len(boxes) > _MOST_BOXES else ""
            return "; ".join(listed) + more
        case _:
            return plain_words(item, answer)


def _box_words(box: object) -> str:
    if isinstance(box, FrameBox):
        label = f"{box.label.replace('_', ' ')}, " if box.label else ""
        return f"{label}frame {box.frame + 1}: x {box.x0:g}–{box.x1:g}, y {box.y0:g}–{box.y1:g}"
    low, high = getattr(box, "lo_mm", ()), getattr(box, "hi_mm", ())
    sides = " × ".join(f"{b - a:.0f}" for a, b in zip(low, high))
    return f"{getattr(box, 'label', '').replace('_', ' ')} box of {sides} mm".strip()


def _ranges(frames: Iterable[int]) -> str:
    """`3–7, 9`, counted from 1."""
    runs: list[list[int]] = []
    for frame in sorted(set(frames)):
        if runs and frame == runs[-1][1] + 1:
            runs[-1][1] = frame
        else:
            runs.append([frame, frame])
    return ", ".join(f"{a + 1}" if a == b else f"{a + 1}–{b + 1}" for a, b in runs)
