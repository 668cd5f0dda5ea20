"""An item: one question with a typed answer, made from facts."""

from __future__ import annotations

import msgspec

from situs.base.files import canonical_json, digest
from situs.space import FrameBox, WorldBox

__all__ = [
    "Answer",
    "Box",
    "Boxes",
    "Choice",
    "Choices",
    "Compound",
    "Frames",
    "Grades",
    "Item",
    "Measurement",
    "Number",
    "Option",
    "Simple",
    "Step",
    "Text",
    "YesNo",
    "imported_item_id",
    "item_id",
    "letter_of",
    "mark_label",
    "marks_of",
]

Box = FrameBox | WorldBox

# Records hold plain values and never each other, so that the collector of cycles need not look at
# millions of them (`gc=False`).


class YesNo(msgspec.Struct, frozen=True, gc=False, tag="yes_no"):
    """Yes or no."""

    value: bool


class Choice(msgspec.Struct, frozen=True, gc=False, tag="choice"):
    """One of the item's options, named by its value,
    so that the order of options does not matter."""

    value: str
    also_right: tuple[str, ...] = ()
    """Other option values that are right as well."""


class Choices(msgspec.Struct, frozen=True, gc=False, tag="choices"):
    """A set of the item's options, all of which must be named."""

    values: tuple[str, ...]


class Number(msgspec.Struct, frozen=True, gc=False, tag="number"):
    """A number with its unit (empty for a count)."""

    value: float
    unit: str
    interval: tuple[float, float] | None = None
    """Answers inside are exact."""


class Boxes(msgspec.Struct, frozen=True, gc=False, tag="boxes"):
    """Boxes on frames or in millimetres."""

    boxes: tuple[Box, ...]


class Frames(msgspec.Struct, frozen=True, gc=False, tag="frames"):
    """A set of 0-based frames; `contiguous` if it is asked for as a range."""

    frames: tuple[int, ...]
    contiguous: bool = True


class Grades(msgspec.Struct, frozen=True, gc=False, tag="grades"):
    """One grade per sub-score."""

    grades: dict[str, int]


class Text(msgspec.Struct, frozen=True, gc=False, tag="text"):
    """Free text; any of the references is right."""

    references: tuple[str, ...]


Simple = YesNo | Choice | Choices | Number | Boxes | Frames | Grades | Text


class Compound(msgspec.Struct, frozen=True, gc=False, tag="compound"):
    """Several answers to one question, by name (e.g. `box`, `grades`)."""

    parts: dict[str, Simple]


Answer = Simple | Compound


class Option(msgspec.Struct, frozen=True, gc=False):
    """One option: what it means, and how it reads."""

    value: str
    text: str


class Measurement(msgspec.Struct, frozen=True):
    """A number a step speaks of, with how sure it is and the threshold it is compared with."""

    value: float
    unit: str
    interval: tuple[float, float] | None = None
    threshold: float | None = None


class Step(msgspec.Struct, frozen=True):
    """One step of the reasoning; every number in `text` is the value of one of `fact_ids`."""

    kind: str
    """`find`, `describe`, `measure`, `compare`, `conclude` or `grade`."""
    text: str
    fact_ids: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    value: Measurement | None = None


class Item(msgspec.Struct, frozen=True, gc=False):
    """One question. Its answer follows from `fact_ids`,
    or is asserted by its source (then there are none)."""

    item_id: str
    study_id: str
    series: str
    patient_id: str
    task: str
    form: str
    """`yes_no`, `choice`, `number`, `boxes`, `frames`, `grades`, `text`, …"""
    question: str
    answer: Answer
    source_id: str = ""
    """The id a published set gave it."""
    split: str = ""
    stratum: str = ""
    level: str = "volume"
    """`volume` or `slice`."""
    frames: tuple[int, ...] = ()
    """The 0-based frames a slice-level item is about."""
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()
    """What a profile must give: `side_convention`,
    `scale`, `slice_order`, …, and `sees:<structure>`."""
    tags: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    boxes: tuple[Box, ...] = ()
    """Where the things asked about lie, and the marks to be drawn (`marks_of`)."""
    difficulty: float | None = None
    """Margin over half-width of the interval: 1 is barely provable, large is easy."""
    twin_group: str = ""
    """Items of different patients with the same text and options but,
    about equally often, each answer."""
    twin_of: str = ""
    """For a probe's item: the item it was made from."""
    parameters: dict[str, str] = {}
    """The canonical parameters `item_id` is made from;
    with them `check` poses the question anew."""


def item_id(study_id: str, task: str, form: str, parameters: dict[str, str]) -> str:
    """A built item's id: independent of wording, option order, seed, path and version."""
    return "i" + digest(canonical_json([study_id, task, form, parameters]), size=8)


def imported_item_id(source_volume: str, question: str, repeat: int) -> str:
    """An imported item's id: the n-th time this question is asked of this volume (from 0)."""
    return "i" + digest(canonical_json([source_volume, question, repeat]), size=8)


def letter_of(item: Item, value: str) -> str:
    """The letter under which an option value stands in this item."""
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[[option.value for option in item.options].index(value)]


_MARK = "mark:"


def mark_label(letter: str) -> str:
    """The label of the box that says where a mark is to be drawn."""
    return _MARK + letter


def marks_of(item: Item) -> dict[str, Box]:
    """Letter → the point (a box without extent) at which it is drawn into the pictures;
    never put into words."""
    return {box.label.removeprefix(_MARK): box for box in item.boxes if box.label.startswith(_MARK)}
