"""A box as a reply writes it, and the marks that tell its frame and label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import msgspec
from msgspec.structs import replace

from situs.score.read.numbers.whole_numbers import listed_numbers
from situs.score.read.prose.content import fold

__all__ = [
    "FRAME",
    "FRAME_WORD",
    "NUMBER",
    "Mention",
    "Order",
    "label_before",
    "on_frames",
    "slices_between",
    "told_frames",
]

Order = Literal["xyxy", "xywh", "xxyy"]


class Mention(msgspec.Struct, frozen=True, gc=False):
    """Four numbers that a reply gives as a box."""

    numbers: tuple[float, float, float, float]
    frames: tuple[int, ...] = ()
    """As the reply counts them; empty if it names none."""
    ordinal: bool = False
    """The frames are told by rank ("the 3rd frame"),
    which is from 1 however frames are numbered."""
    label: str = ""
    order: Order | None = None
    """What the form itself says; None where it does not (a bare list)."""
    thousand: bool = False
    """The form itself means thousandths (Qwen's box tokens)."""
    span: tuple[int, int] = (0, 0)
    """Where it stands in prose."""


# A coordinate, with or without "px" behind it.
NUMBER = r"\s*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?)\s*(?:px)?\s*"
FRAME_WORD = (
    r"\b(?:frame|slice|image|img|picture)(?:s|_?(?:number|no|num|index|id|idx))?"
    r"(?:\s+(?:number|no\.?|index))?"
)
FRAME = re.compile(
    rf"(?:{FRAME_WORD}[\s_#:=*]{{0,4}}|\b(?-i:F)(?=[0-9]{{1,5}}\s*[:=]))(?P<list>[0-9]{{1,5}}(?![0-9.]*[0-9])"
    r"(?:\s*(?:-|–|—|to|through|until|,|;|&|and|\+|,\s*and)\s*(?:(?:frame|slice|"
    r"image)s?\s*)?[0-9]{1,5}(?![0-9]))*)"
    r"|\b(?P<rank>[0-9]{1,4})(?:st|nd|rd|th)\s+(?:frame|slice|image|picture)\b"
    r"|\b(?P<ordinal>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)"
    r"\s+(?:frame|slice|image|picture)\b"
    r"|^\s*(?P<heading>[0-9]{1,4})\s*:(?=\s*[\[(])",
    re.IGNORECASE,
)


_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip


def told_frames(mark: re.Match[str]) -> tuple[tuple[int, ...], bool]:
    """The frames that a mark names, and whether by rank."""
    if mark["list"]:
        return listed_numbers(mark["list"]), False
    if mark["heading"]:
        return (int(mark["heading"]),), False
    if mark["ordinal"]:
        return (_ORDINALS.index(mark["ordinal"].lower()) + 1,), True
    return (int(mark["rank"]),), True


def on_frames(box: Mention, frames: tuple[int, ...], ordinal: bool) -> Mention:
    """The box on these frames, if it names none itself."""
    return box if box.frames else replace(box, frames=frames, ordinal=ordinal)


def slices_between(first: float, last: float) -> tuple[int, ...]:
    """All slices from the one to the other, at most 2,001 of them."""
    low, high = sorted((int(first), int(last)))
    return tuple(range(low, min(high, low + 2000) + 1))


def label_before(words: str, labels: Sequence[str]) -> str:
    """The label that is named last before a box."""
    folded = _folded(words)
    positions = [(folded.rfind(_folded(label)), len(label), label) for label in labels if label]
    at, _, label = max(positions, default=(-1, 0, ""))
    return label if at >= 0 else ""


@lru_cache(maxsize=1024)
def _folded(words: str) -> str:
    """`fold`, which a long list of boxes asks for the same few words again and again."""
    return fold(words)
