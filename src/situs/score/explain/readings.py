"""What a reply says, part by part, before anyone asks whether it is right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
from situs.score.outcomes import Scored
from situs.score.read.result import Parsed, Result, Unparsed
from situs.score.replies import read_reply

__all__ = ["Reading", "readings"]


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


def readings(
    item: Item, row: AnswerRow, shown: Viewing, scored: Scored | None = None
) -> list[Reading]:
    """Every part of a reply that reads as an answer, with what was read; free text is left to
    judges.

    Of an answer that was scored already (`scored`), only one of several parts is read again.
    """
    if not isinstance(item.answer, Compound):
        if scored is not None:
            return [_reading_of(item, item.answer, scored, shown)]
        return _read(item, {"": item.answer}, {"": row.response}, shown)
    parts = item.answer.parts
    if scored is not None and (known := _boxes_and_grades(parts, scored)):
        return known
    return _read(item, parts, split_response(row.response, dict(parts)), shown)


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


def _boxes_and_grades(parts: Mapping[str, Simple], scored: Scored) -> list[Reading]:
    """The readings of boxes with grades that were scored, if both were read without anything to be
    said about it; else none. What the grades are is told by the score alone."""
    kinds = sorted(type(part).__name__ for part in parts.values())
    outcome = scored.outcome
    if kinds != ["Boxes", "Grades"] or outcome.state != "answered" or outcome.flags:
        return []
    right = {True: bool(scored.place_right), False: bool(scored.answer_right)}
    return [
        Reading(
            name,
            truth,
            Part("answered", right[isinstance(truth, Boxes)], outcome.parsed),
            Parsed(list(outcome.boxes) if isinstance(truth, Boxes) else None),
        )
        for name, truth in parts.items()
    ]


def _reading_of(item: Item, truth: Simple, scored: Scored, shown: Viewing) -> Reading:
    """The reading that a score was made of."""
    outcome = scored.outcome
    part = Part(outcome.state, bool(outcome.right), outcome.parsed, flags=outcome.flags)
    if outcome.state != "answered":
        return Reading("", truth, part, Unparsed(outcome.parsed))
    return Reading("", truth, part, Parsed(_said(item, truth, scored, shown), outcome.flags))


def _said(item: Item, truth: Simple, scored: Scored, shown: Viewing) -> Any:
    parsed = scored.outcome.parsed
    match truth:
        case YesNo():
            return parsed == "yes"
        case Choice():
            return next(o.value for o in item.options if letter_of(item, o.value) == parsed)
        case Number():
            return scored.prediction
        case Boxes():
            return list(scored.outcome.boxes)
        case Frames():
            numbers = re.findall(r"[0-9]+", parsed)
            return tuple(int(number) - shown.space.frame_base for number in numbers)
        case _:
            return None
