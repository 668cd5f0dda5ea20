"""Replies of several parts in the plainest form, which most have who are asked for JSON: boxes and
grades, each under its name, and nothing else. They are read in one go.

Whatever departs from this by a character is taken apart first (`compound.split_response`), and what
is read here is what is read so: `tests/score/test_stated_parts.py` compares the two.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from situs.items import Boxes, Grades, Item, Simple
from situs.run import Viewing
from situs.score.compound.parts import Reading, Unplaced, reading_of
from situs.score.compound.split import part_text, plain_names
from situs.score.read.box_forms.stated import StatedBox, as_stated, is_plain_text
from situs.score.read.result import Result
from situs.score.replies import read_grades

__all__ = ["StatedField", "stated_fields", "stated_grades", "stated_parts"]

_OBJECT = msgspec.json.Decoder(dict[str, list[StatedBox] | dict[str, int]])


def stated_parts(
    item: Item, parts: Mapping[str, Simple], response: str, shown: Viewing
) -> dict[str, Reading] | None:
    """What a reply says of each part, if it is one JSON object of boxes and grades under the names
    of the parts; None if it is anything else."""
    fields = stated_fields(parts, response)
    if fields is None:
        return None
    readings: dict[str, Reading] = {}
    for name, part in parts.items():
        own = fields[name]
        if isinstance(part, Boxes) and isinstance(own, list):
            boxes = as_stated(own)
            if boxes is None:
                return None
            readings[name] = Unplaced(item, part, boxes, shown)
        elif isinstance(part, Grades) and isinstance(own, dict):
            result = stated_grades(item, part, own)
            readings[name] = reading_of(item, part, result, shown)
        else:
            return None
    return readings


StatedField = list[StatedBox] | dict[str, int]


def stated_fields(parts: Mapping[str, Simple], response: str) -> dict[str, StatedField] | None:
    """The boxes and grades of each part; None if there is anything else in the reply.

    Whether the labels of the boxes are plain names is left to whoever reads them.
    """
    if response[:1] != "{" or response[-1:] != "}" or not is_plain_text(response):
        return None
    # Thinking stands in brackets, of which JSON has the square ones outside of names only; all else
    # that is put otherwise before replies are read (`clean.visible`) are these two.
    if "\\" in response or "\r" in response or "<" in response:
        return None
    quoted = plain_names(tuple(parts))
    # A name that stands in the text twice may be a key that is given twice.
    if quoted is None or any(response.count(name) != 1 for name in quoted):
        return None
    try:
        fields = _OBJECT.decode(response)
    except (msgspec.DecodeError, RecursionError):
        return None
    if fields.keys() != parts.keys():
        return None
    colons = len(fields)
    for own in fields.values():
        if isinstance(own, dict):
            if any("[" in name for name in own):
                return None
            colons += len(own)
        else:
            colons += 3 * len(own) - sum([one.label is None for one in own])
    # A key that is given twice is looked at by whoever takes the reply apart; labels hold no colon.
    return fields if response.count(":") == colons else None


def stated_grades(item: Item, part: Grades, stated: Mapping[str, int]) -> Result[Any]:
    """The grades that are stated, as the reader of all replies reads them."""
    names = tuple(sorted(part.grades))
    return _read_grades(tuple(stated.items()), names, item.question, item.tags)


@lru_cache(maxsize=1 << 14)
def _read_grades(
    grades: tuple[tuple[str, int], ...],
    names: tuple[str, ...],
    question: str,
    tags: tuple[str, ...],
) -> Result[Any]:
    """Thousands of items ask in the same words and are answered alike."""
    return read_grades(part_text(json.dumps(dict(grades))), names, question, tags)
