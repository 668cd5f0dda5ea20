"""Kinds of answers: what all packages know of each, and tables of what one does with each.

A kind is one of the simple answers (`yes_no`, `choice`, …); a compound is made of them. What is
general about a kind stands here, in `KINDS`. What a package does with it (ask for it, say it, read
it) stands in that package, in a table `ByKind`. A test holds every table to the kinds there are, so
that a new kind is missing nowhere in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar, get_args

import msgspec

from situs.base.numbers import LARGEST, number_problems
from situs.errors import SitusError
from situs.items.record import (
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
)
from situs.space import WorldBox

__all__ = [
    "KINDS",
    "ByKind",
    "KindRules",
    "answer_key",
    "answer_problem",
    "boxes_in",
    "frames_in",
    "has_places",
    "kind_of",
    "parts_of",
    "plain_words",
    "right_options",
    "stays_right",
]

T = TypeVar("T")
SIMPLE: tuple[type, ...] = get_args(Simple)
"""The classes of all simple answers."""


def kind_of(answer: Answer) -> str:
    """The name of an answer's kind, as files have it."""
    return str(type(answer).__struct_config__.tag)


class ByKind(Generic[T]):
    """What one package does with each kind of answer.

    An unknown kind is an error, never another kind's way.
    """

    tables: ClassVar[dict[str, ByKind[Any]]] = {}

    def __init__(self, doing: str, entries: Mapping[type, T]) -> None:
        """`doing` says what for: "reading a reply"."""
        self.doing = doing
        self._entries = dict(entries)
        ByKind.tables[doing] = self

    def __getitem__(self, answer: Simple) -> T:
        """The entry for an answer's kind."""
        try:
            return self._entries[type(answer)]
        except KeyError:
            problem = f"nothing is declared for {self.doing} of the kind {kind_of(answer)!r}"
            raise SitusError(problem, fix="add the kind to that table") from None

    def missing(self) -> list[str]:
        """Kinds that the table lacks."""
        return [kind.__name__ for kind in SIMPLE if kind not in self._entries]


class KindRules(msgspec.Struct, frozen=True, kw_only=True):
    """What is general about a kind of answer."""

    key: Callable[[Any], str | None]
    """The answer as a value that can be counted and balanced; None where it is not discrete."""
    words: Callable[[Item, Any], str]
    """The true answer in plain words."""
    problem: Callable[[Any, Sequence[str]], str | None]
    """What is wrong with an answer beside these option values; None if nothing is."""
    right_options: Callable[[Any], tuple[str, ...]] = lambda answer: ()
    """Values of the options that are right."""
    boxes: Callable[[Any], tuple[Box, ...]] = lambda answer: ()
    """Boxes that it asks for."""
    frames: Callable[[Any], tuple[int, ...]] = lambda answer: ()
    """0-based frames that it asks for."""
    stays_right: Callable[[Any, Any], bool] = lambda before, after: bool(before == after)
    """Whether an answer that was right is right after a change of the patient."""
    is_place: bool = False
    """Whether it says where, rather than what: it is spoken in a profile's coordinates."""


def _nothing(answer: object) -> None:
    return None


def _no_problem(answer: object, values: Sequence[str]) -> None:
    return None


def _finite(answer: object, values: Sequence[str]) -> str | None:
    return next(number_problems(answer, "$.answer"), None)


def _boxes_problem(answer: Boxes, values: Sequence[str]) -> str | None:
    """As `_finite`: a box is finite and not inside out by itself,
    so that two of its corners tell."""
    for box in answer.boxes:
        low, high = (
            (box.lo_mm, box.hi_mm)
            if isinstance(box, WorldBox)
            else ((box.x0, box.y0), (box.x1, box.y1, box.frame))
        )
        if min(low) < -LARGEST or max(high) > LARGEST:
            return _finite(answer, values)
    return None


def _not_offered(wanted: Iterable[str], values: Sequence[str]) -> str | None:
    if not values:
        return "has no options to choose from"
    stranger = next((value for value in wanted if value not in values), None)
    return None if stranger is None else f"its answer {stranger[:40]!r} is none of its options"


def _option_text(item: Item, value: str) -> str:
    return next((option.text for option in item.options if option.value == value), value)


def _count_key(answer: Number) -> str | None:
    """A count is discrete; a measured number is not."""
    is_count = answer.unit == "" and answer.interval == (answer.value, answer.value)
    return f"{answer.value:.0f}" if is_count else None


def _number_stays(before: Number, after: Number) -> bool:
    low, high = after.interval or (after.value, after.value)
    return low <= before.value <= high


def _text_problem(answer: Text, values: Sequence[str]) -> str | None:
    is_empty = not any(reference.strip() for reference in answer.references)
    return "its answer has no text" if is_empty else None


KINDS: ByKind[KindRules] = ByKind(
    "the rules",
    {
        YesNo: KindRules(
            key=lambda answer: "yes" if answer.value else "no",
            words=lambda item, answer: "yes" if answer.value else "no",
            problem=_no_problem,
        ),
        Choice: KindRules(
            key=lambda answer: answer.value,
            words=lambda item, answer: _option_text(item, answer.value),
            problem=lambda answer, values: _not_offered((answer.value, *answer.also_right), values),
            right_options=lambda answer: (answer.value, *answer.also_right),
        ),
        Choices: KindRules(
            key=lambda answer: "+".join(sorted(answer.values)),
            words=lambda item, answer: "; ".join(
                _option_text(item, value) for value in answer.values
            ),
            problem=lambda answer, values: _not_offered(answer.values, values),
            right_options=lambda answer: answer.values,
        ),
        Number: KindRules(
            key=_count_key,
            words=lambda item, answer: f"{answer.value:g} {answer.unit}".strip(),
            problem=_finite,
            stays_right=_number_stays,
        ),
        Boxes: KindRules(
            key=_nothing,
            words=lambda item, answer: f"{len(answer.boxes)} boxes" if answer.boxes else "no box",
            problem=_boxes_problem,
            boxes=lambda answer: answer.boxes,
            is_place=True,
        ),
        Frames: KindRules(
            key=_nothing,
            words=lambda item, answer: (
                f"frames {', '.join(str(f + 1) for f in answer.frames)}"
                if answer.frames
                else "no frame"
            ),
            problem=_no_problem,
            frames=lambda answer: answer.frames,
            is_place=True,
        ),
        Grades: KindRules(
            key=_nothing,
            words=lambda item, answer: ", ".join(
                f"{name} {grade}" for name, grade in answer.grades.items()
            ),
            problem=_no_problem,
        ),
        Text: KindRules(
            key=_nothing,
            words=lambda item, answer: " / ".join(answer.references),
            problem=_text_problem,
        ),
    },
)
"""Kind of answer → what is general about it."""


def parts_of(answer: Answer) -> dict[str, Simple]:
    """The simple answers of any answer by name; one that is simple itself has an empty name."""
    return dict(answer.parts) if isinstance(answer, Compound) else {"": answer}


def _rules(answer: Answer) -> Iterator[tuple[KindRules, Simple]]:
    for part in parts_of(answer).values():
        yield KINDS[part], part


def answer_key(answer: Answer) -> str | None:
    """The answer as a value that can be counted and balanced.

    None for answers that are not discrete.
    """
    return None if isinstance(answer, Compound) else KINDS[answer].key(answer)


def plain_words(item: Item, answer: Simple) -> str:
    """A true answer of an item in plain words."""
    return KINDS[answer].words(item, answer)


def answer_problem(answer: Answer, values: Sequence[str]) -> str | None:
    """What is wrong with an answer to a question with these options; None if nothing is."""
    for part in answer.parts.values() if isinstance(answer, Compound) else (answer,):
        problem = KINDS[part].problem(part, values)
        if problem is not None:
            return problem
    return None


def right_options(answer: Answer) -> set[str]:
    """Values of the options that are right."""
    return {value for rules, part in _rules(answer) for value in rules.right_options(part)}


def boxes_in(answer: Answer) -> list[Box]:
    """All boxes that an answer asks for, also as a part."""
    return [box for rules, part in _rules(answer) for box in rules.boxes(part)]


def frames_in(answer: Answer) -> list[int]:
    """All frames that an answer asks for by number, also as a part."""
    return [frame for rules, part in _rules(answer) for frame in rules.frames(part)]


def has_places(answer: Answer) -> bool:
    """Whether an answer speaks of pictures: boxes or frames, also as a part."""
    if not isinstance(answer, Compound):
        return KINDS[answer].is_place
    return any(KINDS[part].is_place for part in answer.parts.values())


def stays_right(before: Answer, after: Answer) -> bool:
    """Whether an answer that was right is right after a change of the patient."""
    if isinstance(before, Compound) or type(before) is not type(after):
        return before == after
    return KINDS[before].stays_right(before, after)
