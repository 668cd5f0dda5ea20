"""The text a model is taught to reply with: the answer, with boxes and reasoning as asked for."""

from __future__ import annotations

import json
from typing import Any, Literal, get_args

import msgspec

from situs.errors import SitusError, did_you_mean
from situs.items import (
    Answer,
    Box,
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
    boxes_in,
    letter_of,
    parts_of,
)
from situs.run import Viewing
from situs.space import FrameBox
from situs.tune.forms import BoxForm

__all__ = [
    "ANSWER_MARK",
    "TARGETS",
    "LeftOut",
    "Target",
    "Written",
    "check_target",
    "evidence_boxes",
    "is_negative",
    "write_target",
]

Target = Literal["answer", "boxes+answer", "answer+boxes", "reasoning+boxes+answer", "boxes"]
TARGETS: tuple[str, ...] = get_args(Target)
ANSWER_MARK = "Answer: "
"""Stands before the answer wherever something else stands beside it; every reader knows it."""


class LeftOut(msgspec.Struct, frozen=True):
    """Why an item makes no example."""

    reason: str


class Written(msgspec.Struct, frozen=True):
    """A completion, and the boxes in it, in pixels of the pictures shown."""

    text: str
    boxes: tuple[FrameBox, ...] = ()


def check_target(name: str) -> str:
    """The target's name, if it is one."""
    if name not in TARGETS:
        raise SitusError(
            f"unknown target {name!r}", where="--target", fix=did_you_mean(name, TARGETS)
        )
    return name


def evidence_boxes(item: Item) -> tuple[Box, ...]:
    """Where the answer lies: the boxes that are asked for,
    else those the question is about; never a mark."""
    asked = boxes_in(item.answer)
    if asked or any(isinstance(part, Boxes) for part in parts_of(item.answer).values()):
        return tuple(asked)
    return tuple(box for box in item.boxes if not box.label.startswith("mark:"))


def is_negative(item: Item) -> bool:
    """Whether there is nothing to be found: then no box is the right box."""
    if evidence_boxes(item):
        return False
    match item.answer:
        case YesNo(value):
            return not value
        case Number(value):
            return value == 0
        case Boxes() | Frames(frames=()) | Choices(values=()):
            return True
        case _:
            return False


def write_target(item: Item, target: str, form: BoxForm, viewing: Viewing) -> Written | LeftOut:
    """The completion of an item."""
    if target == "answer":
        return _answer_alone(item, viewing)
    if isinstance(item.answer, Grades):
        return LeftOut("grades alone, whose prompt asks for no box")
    true = evidence_boxes(item)
    if not true and not is_negative(item):
        return LeftOut("no box is known for it")
    if obstacle := viewing.obstacle(item):
        return LeftOut(obstacle)
    boxes = list(viewing.boxes(item, true))
    if true and not boxes:
        return LeftOut("no picture shows it")
    if _vanishes(boxes, form, viewing, item):
        return LeftOut("a box is thinner than a unit of the box form")
    lines = [step.text for step in item.steps] if target.startswith("reasoning") else []
    if target.startswith("reasoning") and not lines:
        return LeftOut("it has no reasoning")
    text = _grounded(item, target, boxes, form, viewing)
    return Written("\n".join([*filter(None, [" ".join(lines)]), text]), tuple(boxes))


def _answer_alone(item: Item, viewing: Viewing) -> Written | LeftOut:
    parts = parts_of(item.answer)
    others: dict[str, Simple] = {
        name: part for name, part in parts.items() if not isinstance(part, Boxes)
    }
    if not others:
        return LeftOut("its answer is a box, which this target leaves out")
    if isinstance(item.answer, Compound):
        return Written(json.dumps(_spoken(item, others, viewing)))
    return Written(say_answer(item, item.answer, viewing))


def _grounded(
    item: Item, target: str, boxes: list[FrameBox], form: BoxForm, viewing: Viewing
) -> str:
    space, sizes = viewing.space, viewing.sizes(item)
    if isinstance(item.answer, Compound):
        return _compound(item, item.answer, target, boxes, form, viewing)
    listed = form.write(boxes, space, sizes)
    if isinstance(item.answer, Boxes) or target == "boxes":
        return listed
    answer = ANSWER_MARK + say_answer(item, item.answer, viewing)
    return f"{answer}\n{listed}" if target == "answer+boxes" else f"{listed}\n{answer}"


def _compound(
    item: Item,
    answer: Compound,
    target: str,
    boxes: list[FrameBox],
    form: BoxForm,
    viewing: Viewing,
) -> str:
    """One JSON object, its keys in the order of the target:
    a model decides in the order it writes."""
    objects: Any = form.objects(boxes, viewing.space, viewing.sizes(item))
    if viewing.space.box_form == "volume" and len(objects) == 1:
        objects = objects[0]["bbox"]
    where = {name: objects for name, part in answer.parts.items() if isinstance(part, Boxes)}
    others: dict[str, Simple] = {
        name: part for name, part in answer.parts.items() if not isinstance(part, Boxes)
    }
    what = {} if target == "boxes" else _spoken(item, others, viewing)
    if not where:
        where = {"boxes": objects}
    ordered = {**what, **where} if target == "answer+boxes" else {**where, **what}
    return json.dumps(ordered)


def _spoken(item: Item, parts: dict[str, Simple], viewing: Viewing) -> dict[str, Any]:
    return {
        name: part.grades if isinstance(part, Grades) else say_answer(item, part, viewing)
        for name, part in parts.items()
    }


def say_answer(item: Item, answer: Answer, viewing: Viewing) -> str:
    """The answer in the plainest words that the prompt asks for."""
    match answer:
        case YesNo(value):
            return "Yes" if value else "No"
        case Choice(value):
            return f"({letter_of(item, value)})"
        case Choices(values):
            return ", ".join(f"({letter_of(item, value)})" for value in values) or "None"
        case Number():
            return _say_number(answer)
        case Frames(contiguous=contiguous, frames=frames):
            return _say_frames(viewing.frames(item, frames), viewing.space.frame_base, contiguous)
        case Grades(grades):
            return json.dumps(grades)
        case Text(references):
            return references[0]
        case _:
            raise AssertionError(answer)


def _say_number(answer: Number) -> str:
    """As few digits as the interval allows: finer ones would teach what nobody can see."""
    low, high = answer.interval or (answer.value, answer.value)
    texts = (f"{answer.value:.{digits}g}" for digits in range(2, 8))
    plain = (text for text in texts if "e" not in text and low <= float(text) <= high)
    return f"{next(plain, repr(answer.value))} {answer.unit}".strip()


def _say_frames(frames: list[int], base: int, contiguous: bool) -> str:
    numbers = [frame + base for frame in sorted(frames)]
    if not numbers:
        return "None"
    if contiguous and len(numbers) > 1:
        return f"{numbers[0]}-{numbers[-1]}"
    return ", ".join(map(str, numbers))


def _vanishes(boxes: list[FrameBox], form: BoxForm, viewing: Viewing, item: Item) -> bool:
    """Whether a side is shorter than the form can write."""
    if form.name == "json":
        return False
    sizes, space = viewing.sizes(item), viewing.space
    full_scale = {"thousand": 1000.0, "unit": 1.0, "pixel": 0.0}[space.box_scale]
    for box in boxes:
        width, height = sizes[box.frame]
        factors = (full_scale / width, full_scale / height) if full_scale else (1.0, 1.0)
        sides = ((box.x1 - box.x0) * factors[0], (box.y1 - box.y0) * factors[1])
        if min(sides) < form.step(space):
            return True
    return False
