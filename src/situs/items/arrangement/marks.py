"""Which letter each drawn mark gets."""

from __future__ import annotations

import math
import re

import msgspec

from situs.base.files import digest
from situs.items.record import Box, Choice, Item, Step, mark_label, marks_of
from situs.space import WorldBox

__all__ = ["drawn_letter", "has_lettered_marks", "lettered"]

_LETTERS = "ABCD"


def has_lettered_marks(item: Item) -> bool:
    """Whether its options are the letters of marks in its pictures:
    the right one can be given any letter."""
    marks = marks_of(item)
    return any(option.value in marks for option in item.options)


def drawn_letter(item: Item) -> str:
    """The letter of the right mark, which is posed as A.

    The marks are put in the order of their places and dealt letters by a hash of the item: what is
    drawn depends on where they lie, not on which of them is right.
    """
    marks = {letter: box for letter, box in marks_of(item).items() if letter in _LETTERS}
    offered = [option.value for option in item.options]
    order = sorted(
        (letter for letter in marks if letter in offered),
        key=lambda letter: _reading_order(marks, letter),
    )
    dealt = sorted(offered, key=lambda letter: digest("letter", item.item_id, letter))
    return dealt[order.index(_LETTERS[0])]


def _reading_order(marks: dict[str, Box], letter: str) -> tuple[float, ...]:
    """Front to back, then by how far from the others:
    as far as it goes, an order that no mirror changes."""
    at = _point(marks[letter])
    far = sum(math.dist(at, _point(other)) for other in marks.values())
    return (round(at[1], 3), round(far, 3), round(at[0], 3))


def _point(box: Box) -> tuple[float, ...]:
    return box.lo_mm if isinstance(box, WorldBox) else (box.x0, box.y0, float(box.frame))


def lettered(item: Item, letter: str) -> Item:
    """The item with its right mark, posed as A, at another letter;
    the others take the rest in a fixed disorder."""
    letters = [option.value for option in item.options]
    others = sorted(
        (v for v in letters if v != letter), key=lambda v: digest("mark", item.item_id, letter, v)
    )
    new = dict(zip(_LETTERS, (letter, *others)))
    boxes = {mark_label(old): mark_label(now) for old, now in new.items()}

    def relabelled(labelled: tuple[Box, ...]) -> tuple[Box, ...]:
        hidden = {mark_label(old) for old in _LETTERS} - boxes.keys()
        visible = [box for box in labelled if box.label not in hidden]
        moved = [
            msgspec.structs.replace(box, label=boxes.get(box.label, box.label)) for box in visible
        ]
        return tuple(
            sorted(moved, key=lambda box: box.label if box.label.startswith(mark_label("")) else "")
        )

    def relettered(step: Step) -> Step:
        text = re.sub(r"\bmark ([A-D])\b", lambda labelled: f"mark {new[labelled[1]]}", step.text)
        return msgspec.structs.replace(step, text=text, boxes=relabelled(step.boxes))

    steps = tuple(relettered(step) for step in item.steps)
    return msgspec.structs.replace(
        item, answer=Choice(letter), boxes=relabelled(item.boxes), steps=steps
    )
