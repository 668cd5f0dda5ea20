"""Reading a reply as an answer of one kind: which reader each kind has, and what it is told."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from situs.anatomy.banks import levels_in
from situs.items import (
    Boxes,
    ByKind,
    Choice,
    Choices,
    Frames,
    Grades,
    Item,
    Number,
    Simple,
    Text,
    YesNo,
)
from situs.run import Viewing
from situs.score import read
from situs.score.metrics.grades import absent_grade
from situs.score.read.result import Parsed, Result, Unparsed

if TYPE_CHECKING:
    from situs.score.read import Offered

__all__ = ["READERS", "offered_grades", "read_grades", "read_reply", "read_words"]

_UNSHOWN = Unparsed("places are read in a profile's coordinates, and none is known")
_SHORT = 200
"""Characters of a reply that is remembered with its grades."""
_FREE = Unparsed("free text is not read by rule")


def read_words(item: Item, answer: Simple, response: str, shown: Viewing | None) -> Result[Any]:
    """What a reply says, as an answer of this kind; `shown` is needed for places only.

    Boxes are as the reply gives them: those of many replies are placed on the pictures at once
    (`read.boxes.place_boxes`).
    """
    return READERS[answer](item, answer, response, shown)


def read_reply(item: Item, answer: Simple, response: str, shown: Viewing | None) -> Result[Any]:
    """The same with boxes on the pictures."""
    result = read_words(item, answer, response, shown)
    if isinstance(answer, Boxes) and isinstance(result, Parsed) and shown is not None:
        return read.place_boxes([(result.value, shown.space, shown.sizes(item))])[0]
    return result


def offered_grades(item: Item) -> dict[str, Offered]:
    """The scales that the question states; none where its words are not a bank's."""
    return _scales(item.question, item.tags)


@lru_cache(maxsize=1024)
def _scales(question: str, tags: tuple[str, ...]) -> dict[str, Offered]:
    scales = levels_in(question).items()
    return {name: read.Offered(levels, absent_grade(tags, name)) for name, levels in scales}


def _language(shown: Viewing | None) -> str:
    return "en" if shown is None else shown.profile.reply_language


def _yes_no(item: Item, answer: YesNo, response: str, shown: Viewing | None) -> Result[Any]:
    return read.parse_yes_no(response, item.question, language=_language(shown))


def _choice(item: Item, answer: Choice, response: str, shown: Viewing | None) -> Result[Any]:
    return read.parse_choice(response, item.options, item.question, language=_language(shown))


def _choices(item: Item, answer: Choices, response: str, shown: Viewing | None) -> Result[Any]:
    return read.parse_choices(response, item.options, item.question, language=_language(shown))


def _number(item: Item, answer: Number, response: str, shown: Viewing | None) -> Result[Any]:
    return read.parse_number(
        response, answer.unit, question=item.question, language=_language(shown)
    )


def _grades(item: Item, answer: Grades, response: str, shown: Viewing | None) -> Result[Any]:
    names, tags = tuple(sorted(answer.grades)), item.tags
    if len(response) > _SHORT:
        return read.parse_grades(response, names, offered_grades(item))
    return read_grades(response, names, item.question, tags)


@lru_cache(maxsize=1 << 14)
def read_grades(
    response: str, names: tuple[str, ...], question: str, tags: tuple[str, ...]
) -> Result[Any]:
    """The sub-scores' grades in a reply.

    Short replies come again and again, and scales depend on the question and its tags alone.
    """
    return read.parse_grades(response, names, _scales(question, tags))


def _frames(item: Item, answer: Frames, response: str, shown: Viewing | None) -> Result[Any]:
    if shown is None:
        return _UNSHOWN
    return read.parse_frames(
        response,
        shown.space.frame_base,
        len(shown.layout(item).frames),
        contiguous=answer.contiguous,
        question=item.question,
        language=_language(shown),
        open_end=shown.has_open_end(item),
    )


def _boxes(item: Item, answer: Boxes, response: str, shown: Viewing | None) -> Result[Any]:
    if shown is None:
        return _UNSHOWN
    labels = sorted({box.label for box in answer.boxes})
    return read.mentioned_boxes(response, shown.space, labels)


def _text(item: Item, answer: Text, response: str, shown: Viewing | None) -> Result[Any]:
    return _FREE


READERS: ByKind[Callable[[Item, Any, str, Viewing | None], Result[Any]]] = ByKind(
    "reading a reply",
    {
        YesNo: _yes_no,
        Choice: _choice,
        Choices: _choices,
        Number: _number,
        Grades: _grades,
        Frames: _frames,
        Boxes: _boxes,
        Text: _text,
    },
)
