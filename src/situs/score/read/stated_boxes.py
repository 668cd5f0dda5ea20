"""Boxes in the plainest forms, which most replies have: read at once, without looking for anything else in them.

Whatever departs from these forms by a character is left to the full reader (`box_mentions`), and what is read here is
what the full reader reads: `tests/score/test_stated_boxes.py` compares the two on thousands of replies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from situs.score.read.box_mentions import Mention, label_before, meant_boxes

__all__ = ["stated_boxes", "stated_in_json"]

_LONGEST = 100_000
_LABEL = r"[A-Za-z]+(?:[ -][A-Za-z]+)*"
_NUMBER = r"(-?[0-9]{1,9}(?:\.[0-9]{1,12})?)"
_LINE = re.compile(
    rf"(?P<before>(?:{_LABEL}: )?Frame (?P<frame>[0-9]{{1,5}}): (?:{_LABEL} )?)"
    rf"(?:<bbx>)?\[{_NUMBER}, {_NUMBER}, {_NUMBER}, {_NUMBER}\](?:</bbx>)?"
)
"""`bone lesion: Frame 3: <bbx>[…]</bbx>`, `Frame 3: bone lesion <bbx>[…]</bbx>` or `Frame 3: […]`."""
_PLAIN_LABEL = re.compile(rf"(?:{_LABEL})?")
_FENCE = "```json\n", "\n```"
_LISTS = ("bboxes", "boxes")


def stated_boxes(text: str, labels: Sequence[str], *, volume: bool) -> list[Mention] | None:
    """The boxes of a reply that is nothing but a list of them; None if it is anything else."""
    if len(text) > _LONGEST or not text.isascii() or "inal" in text:
        return None
    if text[:1] in "[{`":
        return stated_in_json(text)
    # Where six numbers are a box, the lines are left to the full reader.
    return None if volume else _stated_in_lines(text, tuple(labels))


@lru_cache(maxsize=8)
def stated_in_json(text: str) -> list[Mention] | None:
    """`[{"frame": 3, "label": "bone lesion", "bbox": [4 numbers]}, …]`, maybe fenced or under `bboxes`."""
    if text.startswith(_FENCE[0]) and text.endswith(_FENCE[1]):
        text = text[len(_FENCE[0]) : -len(_FENCE[1])]
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    pairs = 0
    if isinstance(value, dict) and len(value) == 1:
        ((key, value),) = value.items()
        pairs = 1
        if key not in _LISTS:
            return None
    if not isinstance(value, list) or not value:
        return None
    found = []
    for one in value:
        mention = _mention(one)
        if mention is None:
            return None
        pairs += len(one)
        found.append(mention)
    # A key that is given twice is the full reader's affair; labels hold no colon.
    return found if text.count(":") == pairs and "\\" not in text else None


def _mention(one: Any) -> Mention | None:
    if type(one) is not dict or len(one) != (3 if "label" in one else 2):
        return None
    frame, numbers, label = one.get("frame"), one.get("bbox"), one.get("label", "")
    if type(frame) is not int or not 0 <= frame < 100_000 or type(numbers) is not list:
        return None
    if len(numbers) != 4 or type(label) is not str or not _is_plain(label):
        return None
    a, b, c, d = numbers
    for number in numbers:
        if type(number) is not float and type(number) is not int:
            return None
    return Mention((float(a), float(b), float(c), float(d)), (frame,), label=label)


@lru_cache(maxsize=4096)
def _is_plain(label: str) -> bool:
    return _PLAIN_LABEL.fullmatch(label) is not None


def _stated_in_lines(text: str, labels: tuple[str, ...]) -> list[Mention] | None:
    found = []
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
        found.append(Mention(numbers, (int(frame),), label=label))
    return found if len(found) == 1 or _all_meant(tuple(before)) else None


@lru_cache(maxsize=4096)
def _named(words: str, labels: tuple[str, ...]) -> str:
    return label_before(words, labels)


@lru_cache(maxsize=4096)
def _all_meant(before: tuple[str, ...]) -> bool:
    """Whether the words before the boxes are such that the grammar leaves none of them out."""
    spans = []
    text = ""
    for words in (*before, before[-1]):
        start = len(text) + len(words)
        text += f"{words}[1, 2, 3, 4]\n"
        spans.append(Mention((1.0, 2.0, 3.0, 4.0), span=(start, start + 12)))
    return len(spans) <= 60 and len(meant_boxes(text, spans)) == len(spans)
