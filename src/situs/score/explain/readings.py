"""What a reply says, part by part, before anyone asks whether it is right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from situs.items import (
    Boxes,
    Choice,
    Compound,
    Frames,
    Item,
    Number,
    Simple,
    Text,
    YesNo,
    letter_of,
)
from situs.run import AnswerRow, Viewing
from situs.score.compound.parts import Part, reading_of, score_reading
from situs.score.compound.split import split_response
from situs.score.judgements import Judgement, state_of_part
from situs.score.read.result import Parsed, Result, Unparsed
from situs.score.replies import read_reply

__all__ = ["JudgedAnswer", "Reading", "readings"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One simple answer of an item, as the scorer reads it."""

    name: str
    """Of the part; empty where the answer has one only."""
    truth: Simple
    part: Part
    """Its state, whether it is right, and its flags."""
    result: Result[Any]

    @property
    def said(self) -> Any:
        """The parsed value; None if nothing was read."""
        return self.result.value if isinstance(self.result, Parsed) else None


class JudgedAnswer(Protocol):
    """One item with what became of the answer to it."""

    @property
    def item(self) -> Item:
        """What was asked."""

    @property
    def judgement(self) -> Judgement:
        """What became of it."""

    @property
    def row(self) -> AnswerRow | None:
        """The reply."""


def readings(one: JudgedAnswer, shown: Viewing) -> list[Reading]:
    """Every part of an answer that was read and judged; free text is left to judges.

    Only the reply to a question of several parts is read again, unless they are boxes and grades.
    """
    item, judgement = one.item, one.judgement
    if not isinstance(item.answer, Compound):
        return [_reading_of(item, item.answer, judgement, shown)]
    parts = item.answer.parts
    if sorted(type(part).__name__ for part in parts.values()) == ["Boxes", "Grades"]:
        return [_part_of(name, truth, judgement) for name, truth in parts.items()]
    response = "" if one.row is None else one.row.response
    return _read(item, parts, split_response(response, dict(parts)), shown)


def _read(
    item: Item, parts: Mapping[str, Simple], texts: Mapping[str, str], shown: Viewing
) -> list[Reading]:
    readings = []
    for name, truth in parts.items():
        if not isinstance(truth, Text):
            result = read_reply(item, truth, texts[name], shown)
            part = score_reading(reading_of(item, truth, result, shown))
            readings.append(Reading(name, truth, part, result))
    return readings


def _part_of(name: str, truth: Simple, judgement: Judgement) -> Reading:
    """The boxes, or the grades, of an answer that has nothing else beside them. What the grades are
    is told by the score alone."""
    is_place = isinstance(truth, Boxes)
    right = judgement.place_right if is_place else judgement.answer_right
    state = state_of_part(judgement, name)
    part = Part(state, bool(right), judgement.parsed)
    if state != "answered":
        return Reading(name, truth, part, Unparsed(judgement.parsed))
    return Reading(name, truth, part, Parsed(judgement.boxes if is_place else None))


def _reading_of(item: Item, truth: Simple, judgement: Judgement, shown: Viewing) -> Reading:
    """The reading that a score was made of."""
    part = Part(judgement.state, bool(judgement.right), judgement.parsed, flags=judgement.flags)
    if judgement.state != "answered":
        return Reading("", truth, part, Unparsed(judgement.parsed))
    return Reading("", truth, part, Parsed(_said(item, truth, judgement, shown), judgement.flags))


def _said(item: Item, truth: Simple, judgement: Judgement, shown: Viewing) -> Any:
    parsed = judgement.parsed
    match truth:
        case YesNo():
            return parsed == "yes"
        case Choice():
            return next(o.value for o in item.options if letter_of(item, o.value) == parsed)
        case Number():
            return judgement.prediction
        case Boxes():
            return judgement.boxes
        case Frames():
            numbers = re.findall(r"[0-9]+", parsed)
            return tuple(int(number) - shown.space.frame_base for number in numbers)
        case _:
            return None
