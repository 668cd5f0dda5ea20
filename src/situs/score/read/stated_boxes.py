"""Boxes in the plainest forms, which most replies have: read at once, without looking for anything
else in them.

Whatever departs from these forms by a character is left to the full reader (`box_mentions`), and
what is read here is what the full reader reads: `tests/score/test_stated_boxes.py` compares the two
on thousands of replies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated

import msgspec

from situs.score.read.box_forms.meaning import meant_boxes
from situs.score.read.box_forms.record import Mention, label_before

__all__ = ["stated_boxes", "stated_in_json"]

_LONGEST = 100_000
_LABEL = r"[A-Za-z]+(?:[ -][A-Za-z]+)*"
_NUMBER = r"(-?[0-9]{1,9}(?:\.[0-9]{1,12})?)"
_LINE = re.compile(
    rf"(?P<before>(?:{_LABEL}: )?Frame (?P<frame>[0-9]{{1,5}}): (?:{_LABEL} )?)"
    rf"(?:<bbx>)?\[{_NUMBER}, {_NUMBER}, {_NUMBER}, {_NUMBER}\](?:</bbx>)?"
)
"""`bone lesion: Frame 3: <bbx>[…]</bbx>`,
`Frame 3: bone lesion <bbx>[…]</bbx>` or `Frame 3: […]`."""
_PLAIN_LABEL = re.compile(r"(?:[A-Za-z(][A-Za-z(), -]*[A-Za-z)])?")
"""In JSON a name may hold brackets and commas:
"central (weight-bearing) part, in front of the tendon"."""
_FENCE = "```json\n", "\n```"


def stated_boxes(text: str, labels: Sequence[str], *, volume: bool) -> list[Mention] | None:
    """The boxes of a reply that is nothing but a list of them; None if it is anything else."""
    if len(text) > _LONGEST or not text.isascii() or "inal" in text:
        return None
    if text[:1] in "[{`":
        return stated_in_json(text)
    # Where six numbers are a box, the lines are left to the full reader.
    return None if volume else _stated_in_lines(text, tuple(labels))


class _Stated(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A box as one object of a list."""

    frame: Annotated[int, msgspec.Meta(ge=0, lt=100_000)]
    bbox: tuple[float, float, float, float]
    label: str | None = None


class _Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A list of boxes under one of its names."""

    bboxes: list[_Stated] | None = None
    boxes: list[_Stated] | None = None


_LIST = msgspec.json.Decoder(list[_Stated])
_OBJECT = msgspec.json.Decoder(_Listed)


@lru_cache(maxsize=8)
def stated_in_json(text: str) -> list[Mention] | None:
    """`[{"frame": 3, "label": "bone lesion", "bbox": [4 numbers]}, …]`,
    maybe fenced or under `bboxes`."""
    if text.startswith(_FENCE[0]) and text.endswith(_FENCE[1]):
        text = text[len(_FENCE[0]) : -len(_FENCE[1])]
    is_list = text[:1] == "["
    try:
        if is_list:
            stated = _LIST.decode(text)
        else:
            listed = _OBJECT.decode(text)
            stated = listed.bboxes or listed.boxes or []
    except (msgspec.DecodeError, RecursionError):
        return None
    pairs = sum([2 if one.label is None else 3 for one in stated]) + (not is_list)
    # A key that is given twice is the full reader's affair; labels hold no colon.
    if not stated or text.count(":") != pairs or "\\" in text:
        return None
    if not all(_is_plain(label) for label in {one.label or "" for one in stated}):
        return None
    return [Mention(one.bbox, (one.frame,), label=one.label or "") for one in stated]


@lru_cache(maxsize=4096)
def _is_plain(label: str) -> bool:
    return _PLAIN_LABEL.fullmatch(label) is not None


def _stated_in_lines(text: str, labels: tuple[str, ...]) -> list[Mention] | None:
    box_mentions = []
    label = ""
    before: list[str] = []
    for line in text.split("\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        words, frame, a, b, c, d = match.groups()
        words = words.replace(frame, "")
        label = _named(words, labels) or label
        if not before or before[-1] != words:
            before.append(words)
        numbers = float(a), float(b), float(c), float(d)
        box_mentions.append(Mention(numbers, (int(frame),), label=label))
    return box_mentions if _all_meant(tuple(before), labels) else None


@lru_cache(maxsize=4096)
def _named(words: str, labels: tuple[str, ...]) -> str:
    return label_before(words, labels)


@lru_cache(maxsize=4096)
def _all_meant(before: tuple[str, ...], labels: tuple[str, ...]) -> bool:
    """Whether the words before the boxes are such that the grammar leaves none of them out."""
    spans = []
    text = ""
    for words in (*before, before[-1]):
        start = len(text) + len(words)
        text += f"{words}[1, 2, 3, 4]\n"
        spans.append(Mention((1.0, 2.0, 3.0, 4.0), span=(start, start + 12)))
    return len(spans) <= 60 and len(meant_boxes(text, spans, labels)) == len(spans)
