"""What a reply says, part by part, before anyone asks whether it is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from situs.items import Compound, Item, Simple
from situs.run import AnswerRow, Viewing
from situs.score.compound import split_response
from situs.score.parts import Part, read_part
from situs.score.read.result import Parsed, Result
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


def readings(item: Item, row: AnswerRow, shown: Viewing) -> list[Reading]:
    """Every part of a reply that reads as an answer, with what was read; free text is left to judges."""
    parts = item.answer.parts if isinstance(item.answer, Compound) else {"": item.answer}
    texts = (
        split_response(row.response, dict(parts))
        if isinstance(item.answer, Compound)
        else {"": row.response}
    )
    found = []
    for name, truth in parts.items():
        part = read_part(item, truth, texts[name], shown)
        if part.state != "unjudged":
            found.append(Reading(name, truth, part, read_reply(item, truth, texts[name], shown)))
    return found
