"""Boxes as a reply writes them,
before anything is decided about their scale, order or frame base."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from situs.score.read.box_forms.lines import boxes_in_lines
from situs.score.read.box_forms.meaning import meant_boxes
from situs.score.read.box_forms.objects import boxes_in_object, number_spans, says_none
from situs.score.read.box_forms.record import FRAME, Mention, label_before, on_frames, told_frames
from situs.score.read.prose.loose_json import loose_values
from situs.score.read.prose.markup.tables import without_tables

__all__ = ["mentions"]

# "Top left: (40, 60)" and "Bottom right: (90, 100)" on two lines are one box. (Blanks are taken
# once and never given back: a reply may hold thousands of them in a row.)
_CORNER_BREAK = re.compile(
    r"(?<!\s)(?=[^\S\n]*+[;\n])\s*+;?\s*+[-*•]?\s*+(?=(?:the )?(?:lower|bottom)[- ]right\b)",
    re.IGNORECASE,
)
# "- x_min: 40" and "- y_min: 60" on lines of their own: so are the sides of a box.
_NAMED_CORNER = re.compile(
    r"\(\s*x_?(?:[0-2]|min|max)\s*,\s*y_?(?:[0-2]|min|max)\s*\)\s*[:=]\s*(?=\()", re.IGNORECASE
)
_SIDE_BREAK = re.compile(
    r"(?<=[0-9])(?:\s*+px)?[^\S\n]*+[;,]?[^\S\n]*+\n\s*+[-*•]?\s*+"
    r"(?=(?:[xy][_ ]?(?:min|max|[0-2])?|(?:min|max)[_ ]?[xy]|top|bottom|left|right|width|height|w"
    r"|h)\s*[:=])",
    re.IGNORECASE,
)


def mentions(text: str, labels: Sequence[str], *, volume: bool) -> tuple[list[Mention], bool]:
    """All boxes of a text, and whether it gives an explicitly empty list of them.

    Objects with named fields outweigh lists in prose, which then only explain. `labels` are names
    to look for in prose; `volume` says that six numbers are first and last slice, then x and y from
    – to.
    """
    found: list[tuple[int, int, list[Mention]]] = []
    empty = False
    for value, start, end in loose_values(text):
        listed = value if isinstance(value, list) else []
        if (
            isinstance(value, dict)
            or any(isinstance(part, dict) for part in listed)
            or (volume and number_spans(listed))
        ):
            boxes = list(boxes_in_object(value, labels, volume=volume))
            if boxes:
                found.append((start, end, boxes))
            elif says_none(value):
                empty = True
        elif value == [] and not text[:start].strip("`json \n") and not text[end:].strip("` \n."):
            empty = True
    if found:
        return list(_with_outer_context(text, found, labels)), False
    text = _NAMED_CORNER.sub("", text)
    prose = _SIDE_BREAK.sub(", ", _CORNER_BREAK.sub(", ", without_tables(text)))
    return meant_boxes(prose, list(boxes_in_lines(prose, labels, volume=volume)), labels), empty


def _with_outer_context(
    text: str, found: list[tuple[int, int, list[Mention]]], labels: Sequence[str]
) -> Iterator[Mention]:
    """Frame and label that stand in prose before an object without them ("Frame 3: {…}")."""
    position = 0
    frames: tuple[int, ...] = ()
    ordinal = False
    for start, end, boxes in found:
        before = text[position:start]
        last = None
        for last in FRAME.finditer(before):
            frames, ordinal = told_frames(last)
        label = label_before(before.rsplit("\n", 2)[-1], labels) if before.strip() else ""
        for box in boxes:
            yield replace(on_frames(box, frames, ordinal), label=box.label or label)
        position = end
