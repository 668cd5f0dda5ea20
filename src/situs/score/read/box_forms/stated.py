"""Boxes in the plainest forms, which most replies have: read at once, without looking for anything
else in them.

Whatever departs from these forms by a character is left to the full reader (`box_mentions`), and
what is read here is what the full reader reads: `tests/score/test_stated_boxes.py` compares the two
on thousands of replies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Annotated, overload

import msgspec

from situs.score.read.box_forms.meaning import meant_boxes
from situs.score.read.box_forms.record import Mention, label_before

__all__ = [
    "StatedBox",
    "StatedBoxes",
    "are_plain_labels",
    "as_stated",
    "is_plain_text",
    "stated_boxes",
    "stated_in_json",
]

_LONGEST = 100_000
_LABEL = r"[A-Za-z]+(?:[ -][A-Za-z]+)*"
_NUMBER = r"(-?[0-9]{1,9}(?:\.[0-9]{1,12})?)"
_LINE = re.compile(
    rf"(?P<before>(?:{_LABEL}: )?Frame (?P<frame>[0-9]{{1,5}}): (?:{_LABEL} )?)"
    rf"(?:<bbx>)?\[{_NUMBER}, {_NUMBER}, {_NUMBER}, {_NUMBER}\](?:</bbx>)?"
)
"""`bone lesion: Frame 3: <bbx>[…]</bbx>`,
`Frame 3: bone lesion <bbx>[…]</bbx>` or `Frame 3: […]`."""
_TRAILING_LINE = re.compile(
    rf"(?P<before>- {_LABEL} lies at )\[{_NUMBER}, {_NUMBER}, {_NUMBER}, {_NUMBER}\]"
    r" on frame (?P<frame>[0-9]{1,5})\."
)
"""`- bone lesion lies at […] on frame 3.`"""
_PLAIN_LABEL = re.compile(r"(?!.*  )(?:[A-Za-z(][A-Za-z(), -]*[A-Za-z)])?")
"""In JSON a name may hold brackets and commas:
"central (weight-bearing) part, in front of the tendon"; of blanks in a row one is left."""
_FENCE = "```json\n", "\n```"


class StatedBoxes(Sequence[Mention]):
    """Boxes of which each names one frame and four numbers, and nothing else, as columns."""

    __slots__ = ("frames", "labels", "numbers")

    def __init__(
        self,
        frames: list[int],
        numbers: list[tuple[float, float, float, float]],
        labels: list[str],
    ) -> None:
        self.frames = frames
        self.numbers = numbers
        self.labels = labels

    @classmethod
    def of(cls, mentions: Sequence[Mention]) -> StatedBoxes | None:
        """From boxes that were looked for; None if one of them says more, or names no frame."""
        if isinstance(mentions, StatedBoxes):
            return mentions
        for one in mentions:
            if one.order is not None or one.thousand or one.ordinal or len(one.frames) != 1:
                return None
        return cls(
            [one.frames[0] for one in mentions],
            [one.numbers for one in mentions],
            [one.label for one in mentions],
        )

    def __len__(self) -> int:
        return len(self.frames)

    def __iter__(self) -> Iterator[Mention]:
        for frame, numbers, label in zip(self.frames, self.numbers, self.labels):
            yield Mention(numbers, (frame,), label=label)

    @overload
    def __getitem__(self, index: int) -> Mention: ...

    @overload
    def __getitem__(self, index: slice) -> list[Mention]: ...

    def __getitem__(self, index: int | slice) -> Mention | list[Mention]:
        return list(self)[index]


def stated_boxes(text: str, labels: Sequence[str], *, volume: bool) -> StatedBoxes | None:
    """The boxes of a reply that is nothing but a list of them; None if it is anything else."""
    if not is_plain_text(text):
        return None
    if text[:1] in "[{`":
        return stated_in_json(text)
    # Where six numbers are a box, the lines are left to the full reader.
    return None if volume else _stated_in_lines(text, tuple(labels))


def is_plain_text(text: str) -> bool:
    """Whether a reply may be stated plainly: not too long, and without a "final" answer."""
    return len(text) <= _LONGEST and text.isascii() and "inal" not in text


class StatedBox(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A box as one object of a list."""

    frame: Annotated[int, msgspec.Meta(ge=0, lt=100_000)]
    bbox: tuple[float, float, float, float]
    label: str | None = None


class _Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A list of boxes under one of its names."""

    bboxes: list[StatedBox] | None = None
    boxes: list[StatedBox] | None = None


_LIST = msgspec.json.Decoder(list[StatedBox])
_OBJECT = msgspec.json.Decoder(_Listed)


@lru_cache(maxsize=8)
def stated_in_json(text: str) -> StatedBoxes | None:
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
    if "\\" in text:
        return None
    pairs = 3 * len(stated) - sum([one.label is None for one in stated]) + (not is_list)
    # A key that is given twice is the full reader's affair; labels hold no colon.
    return as_stated(stated) if text.count(":") == pairs else None


def as_stated(boxes: Sequence[StatedBox]) -> StatedBoxes | None:
    """Boxes that were read one by one; None if there are none, or a label is not a plain name."""
    rows = [msgspec.structs.astuple(one) for one in boxes]
    if not rows:
        return None
    frames, numbers, labels = zip(*rows)
    named = [label or "" for label in labels]
    if not are_plain_labels(named):
        return None
    return StatedBoxes(list(frames), list(numbers), named)


def are_plain_labels(labels: Iterable[str]) -> bool:
    """Whether each is the plain name of a thing, or nothing."""
    return all(map(_is_plain, set(labels)))


@lru_cache(maxsize=4096)
def _is_plain(label: str) -> bool:
    return _PLAIN_LABEL.fullmatch(label) is not None


def _stated_in_lines(text: str, labels: tuple[str, ...]) -> StatedBoxes | None:
    boxes = StatedBoxes([], [], [])
    label = ""
    around: list[tuple[str, str]] = []
    # All lines of a reply have one form: the frame before the box, or behind it.
    is_trailing = text[:2] == "- "
    form, behind = (_TRAILING_LINE, " on frame 1.") if is_trailing else (_LINE, "")
    for line in text.split("\n"):
        match = form.fullmatch(line)
        if match is None:
            return None
        if is_trailing:
            words, a, b, c, d, frame = match.groups()
        else:
            words, frame, a, b, c, d = match.groups()
            words = words.replace(frame, "")
        label = _named(words, labels) or label
        if not around or around[-1] != (words, behind):
            around.append((words, behind))
        boxes.frames.append(int(frame))
        boxes.numbers.append((float(a), float(b), float(c), float(d)))
        boxes.labels.append(label)
    return boxes if _all_meant(tuple(around), labels) else None


@lru_cache(maxsize=4096)
def _named(words: str, labels: tuple[str, ...]) -> str:
    return label_before(words, labels)


@lru_cache(maxsize=4096)
def _all_meant(around: tuple[tuple[str, str], ...], labels: tuple[str, ...]) -> bool:
    """Whether the words around the boxes are such that the grammar leaves none of them out."""
    spans = []
    text = ""
    for words, behind in (*around, around[-1]):
        start = len(text) + len(words)
        text += f"{words}[1, 2, 3, 4]{behind}\n"
        spans.append(Mention((1.0, 2.0, 3.0, 4.0), span=(start, start + 12)))
    return len(spans) <= 60 and len(meant_boxes(text, spans, labels)) == len(spans)
