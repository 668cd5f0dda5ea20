"""A true answer in words."""

from __future__ import annotations

from collections.abc import Iterable

from situs.items import (
    Boxes,
    Choice,
    Choices,
    Compound,
    Frames,
    Grades,
    Item,
    Number,
    Simple,
    Text,
    YesNo,
)
from situs.report.viewer.fact_rows import short
from situs.space import FrameBox

__all__ = ["answer_words", "option_rows"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST_BOXES = 12


def option_rows(item: Item) -> list[tuple[str, str, bool]]:
    """Letter, text, and whether it is right, of every option."""
    right: set[str] = set()
    for part in _parts(item).values():
        match part:
            case Choice(value, also_right):
                right |= {value, *also_right}
            case Choices(values):
                right |= set(values)
    return [
        (letter, option.text, option.value in right)
        for letter, option in zip(_LETTERS, item.options)
    ]


def answer_words(item: Item) -> str:
    """The key as a reader wants it; a compound answer part by part."""
    parts = _parts(item)
    words = {name: _words(item, part) for name, part in parts.items()}
    return "\n".join(f"{name}: {said}" if name else said for name, said in words.items())


def _parts(item: Item) -> dict[str, Simple]:
    return dict(item.answer.parts) if isinstance(item.answer, Compound) else {"": item.answer}


def _words(item: Item, answer: Simple) -> str:
    match answer:
        case YesNo(value):
            return "yes" if value else "no"
        case Number(value, unit, interval):
            wide = interval is not None and interval[0] < interval[1]
            spread = (
                f" ({short(interval[0])} to {short(interval[1])} count as right)"
                if interval and wide
                else ""
            )
            return f"{short(value)} {unit}".strip() + spread
        case Choice() | Choices():
            return "; ".join(
                f"{letter}. {text}" for letter, text, right in option_rows(item) if right
            )
        case Text(references):
            return " / ".join(references)
        case Grades(grades):
            return ", ".join(f"{name} {grade}" for name, grade in grades.items())
        case Frames(frames):
            return (
                f"frames {_ranges(frames)} (stored frames, counted from 1)"
                if frames
                else "no frame"
            )
        case Boxes(boxes):
            said = [_box_words(box) for box in boxes[:_MOST_BOXES]]
            more = f" and {len(boxes) - _MOST_BOXES} more" if len(boxes) > _MOST_BOXES else ""
            return "; ".join(said) + more if said else "no box"


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
