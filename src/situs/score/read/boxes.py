"""Which boxes a reply gives, in pixels of the pictures that were shown."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from situs.profiles import AnswerSpace
from situs.score.read.box_forms.placed import TOLERANCE, Size, placed_as_asked
from situs.score.read.box_forms.record import Mention
from situs.score.read.box_forms.stated import stated_boxes
from situs.score.read.box_mentions import mentions
from situs.score.read.prose.clean import visible
from situs.score.read.prose.content import content_words
from situs.score.read.prose.refusal import refuses
from situs.score.read.result import Parsed, RefusedInWords, Result, Unparsed
from situs.score.read.yes_no import parse_yes_no
from situs.space import FrameBox, FrameBoxes

__all__ = ["Placing", "mentioned_boxes", "parse_boxes", "place_boxes"]

_LONGEST = 200_000
"""Characters kept of a reply: a box per finding and picture makes long ones."""
_NONE = re.compile(
    r"\W*(?:(?:the )?(?:answer|boxes|bounding boxes)(?: is| are)?:?\s*)?"
    r"(?:\[\s*\]|\{\s*\}|none|no (?:bounding )?box(?:es)?|no"
    r" (?:abnormality|abnormalities|findings?|lesions?)"
    r"(?: (?:is|are|was|were))?(?: (?:seen|present|found|visible|there))?)\W*",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"\b(?:final answer|final boxes|final bounding box(?:es)?|final result)\b[^\n:=]{0,30}[:=]?",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"```[a-z]*|\*\*|__|`|\\(?=[\[\]()_])", re.IGNORECASE)

_BLANKS = re.compile(r"[^\S\n]{2,}")


def parse_boxes(
    text: str, space: AnswerSpace, sizes: Sequence[Size], labels: Sequence[str] = ()
) -> Result[list[FrameBox]]:
    """The boxes that a reply gives, on the pictures shown (`frame` is a position among them).

    `sizes` are width and height of each picture, infinite if not known. Scale, order of numbers and
    the first frame's number are as the profile declares (`space`), unless the form itself says
    otherwise (Qwen's box tokens, named sides, two corners). Only numbers that cannot be meant as
    declared are read otherwise, and flagged (`INFERRED`). A final answer outweighs what stands
    before it. A box whose picture is not told, among several pictures, is left out and flagged.
    `labels` are names to look for in the words before a box.
    """
    found = mentioned_boxes(text, space, labels)
    if not isinstance(found, Parsed):
        return found
    placed = place_boxes([(found.value, space, sizes)])[0]
    return Parsed(list(placed.value), placed.flags) if isinstance(placed, Parsed) else placed


def mentioned_boxes(
    text: str, space: AnswerSpace, labels: Sequence[str] = ()
) -> Result[Sequence[Mention]]:
    """The boxes that a reply gives, as it gives them; `place_boxes` puts them on the pictures."""
    stated = stated_boxes(text, labels, volume=space.box_form == "volume")
    if stated is not None:
        return Parsed(stated)
    plain = _BLANKS.sub(" ", _MARKUP.sub("", visible(text, _LONGEST)))
    if not plain.strip():
        return Unparsed("empty")
    box_mentions, empty = _final_first(plain, labels, volume=space.box_form == "volume")
    if not box_mentions:
        if empty or _NONE.fullmatch(plain.strip()) or _denies_all(plain, labels):
            return Parsed([])
        return RefusedInWords() if refuses(plain) else Unparsed("no box given")
    return Parsed(box_mentions)


def _denies_all(plain: str, labels: Sequence[str]) -> bool:
    """Whether the reply denies all that it was to look for ("There is no tear on this slice")."""
    denied = Parsed(False)
    named = set(content_words(plain))
    return bool(labels) and all(
        named & set(content_words(label)) and parse_yes_no(plain, f"Is there {label}?") == denied
        for label in labels
    )


Placing = tuple[Sequence[Mention], AnswerSpace, Sequence[Size]]
"""Boxes as a reply gives them, how places are spoken of, and the sizes of the pictures shown."""


def place_boxes(replies: Sequence[Placing]) -> list[Result[Sequence[FrameBox]]]:
    """The boxes of many replies on the pictures shown; see `parse_boxes`.

    Most replies give them just as the profile asks: those are placed at once. For all others it is
    worked out how they can be meant.
    """
    return [
        Parsed(boxes)
        if boxes is not None
        else _as_meant(mentions, space, sizes)
        if mentions
        else Parsed([])
        for boxes, (mentions, space, sizes) in zip(placed_as_asked(replies), replies)
    ]


def _as_meant(
    found: Sequence[Mention], space: AnswerSpace, sizes: Sequence[Size]
) -> Result[Sequence[FrameBox]]:
    flags: list[str] = []
    framed = _placed(found, space.frame_base, len(sizes), flags)
    if not framed:
        return Unparsed("no frame given")
    scale = _scale(framed, space.box_scale, sizes, flags)
    if any(
        math.isinf(_sides(frame, sizes)[0]) and (scale != "pixel" or one.thousand)
        for frame, one in framed
    ):
        return Unparsed("the size of the picture is not known, so that shares of it cannot be read")
    order = _order(framed, space.box_order, scale, sizes, flags)
    boxes: list[_Placed] = []
    for frame, mention in framed:
        ends = _ends(mention, order)
        side = _sides(frame, sizes)
        factor = _factor(side, "thousand" if mention.thousand else scale)
        x0, y0, x1, y1 = (
            _clipped(v * f, s) for v, f, s in zip(ends, (*factor, *factor), (*side, *side))
        )
        boxes.append(((frame, x0, y0, x1, y1), mention.label))
    return _kept(boxes, flags)


_Placed = tuple[tuple[int, float, float, float, float], str]
"""A picture with the sides of a box on it, and the box's label."""


def _kept(placed: Sequence[_Placed], flags: list[str]) -> Result[Sequence[FrameBox]]:
    """The boxes that have an extent, each once."""
    boxes: dict[tuple[int, float, float, float, float], str] = {}
    for corners, label in placed:
        _, x0, y0, x1, y1 = corners
        if x1 > x0 and y1 > y0:
            boxes[corners] = boxes.get(corners) or label
    if not boxes:
        return Unparsed("no box with an extent")
    table = np.array(list(boxes), dtype=np.float64)
    return Parsed(FrameBoxes(table, list(boxes.values())), tuple(flags))


def _final_first(plain: str, labels: Sequence[str], *, volume: bool) -> tuple[list[Mention], bool]:
    """The boxes behind the last "final answer", if there are any; else all of them."""
    finals = list(_FINAL.finditer(plain))
    if finals:
        box_mentions, empty = mentions(plain[finals[-1].end() :], labels, volume=volume)
        if box_mentions or empty:
            return box_mentions, empty
    return mentions(plain, labels, volume=volume)


def _placed(
    box_mentions: Sequence[Mention], base: int, count: int, flags: list[str]
) -> list[tuple[int, Mention]]:
    """Each box with the position of its picture; one that spans several pictures stands on each."""
    named_frames = {
        frame for mention in box_mentions if not mention.ordinal for frame in mention.frames
    }
    if count > 1 and base == 1 and 0 in named_frames and max(named_frames) < count:
        base = 0
        flags.append("frame_base_inferred")
    elif (
        count > 1
        and base == 0
        and count in named_frames
        and 0 not in named_frames
        and max(named_frames) == count
    ):
        base = 1
        flags.append("frame_base_inferred")
    placed: list[tuple[int, Mention]] = []
    for mention in box_mentions:
        if count == 1:
            placed.append((0, mention))
        elif mention.frames:
            # A frame that was not shown stays, as a box that meets no true one.
            first = 1 if mention.ordinal else base
            placed += [
                (frame - first if frame >= first else count, mention) for frame in mention.frames
            ]
        elif "box_without_frame" not in flags:
            flags.append("box_without_frame")
    return placed


def _scale(
    framed: list[tuple[int, Mention]], declared: str, sizes: Sequence[Size], flags: list[str]
) -> str:
    """The declared scale, or the one the numbers can only be meant in."""
    open_ones = [(frame, mention) for frame, mention in framed if not mention.thousand]
    if not open_ones:
        return declared
    values = [abs(value) for _, mention in open_ones for value in mention.numbers]
    highest = max(values)
    sides = [_sides(frame, sizes) for frame, _ in open_ones]
    largest = max(max(side) for side in sides)
    shares = highest <= TOLERANCE and any(value != int(value) for value in values)
    if shares:
        actual = "unit"
    elif declared == "unit":
        actual = "thousand" if highest > largest * TOLERANCE else "pixel"
    elif declared == "pixel" and highest > largest * TOLERANCE and highest <= 1000 * TOLERANCE:
        actual = "thousand"
    elif declared == "thousand" and 1000 * TOLERANCE < highest <= largest * TOLERANCE:
        actual = "pixel"
    else:
        actual = declared
    if actual != declared:
        flags.append("scale_inferred")
    return actual


def _order(
    framed: list[tuple[int, Mention]],
    declared: str,
    scale: str,
    sizes: Sequence[Size],
    flags: list[str],
) -> str:
    """The declared order, unless some box is impossible in it and all are possible in the other."""
    open_ones = [(frame, mention) for frame, mention in framed if mention.order is None]
    other = "xywh" if declared == "xyxy" else "xyxy"
    if all(_possible(*one, declared, scale, sizes) for one in open_ones):
        return declared
    if not all(_possible(*one, other, scale, sizes) for one in open_ones):
        return declared
    flags.append("order_inferred")
    return other


def _possible(frame: int, mention: Mention, order: str, scale: str, sizes: Sequence[Size]) -> bool:
    a, b, c, d = mention.numbers
    if order == "xyxy":
        return c > a and d > b
    side = _sides(frame, sizes)
    factor = _factor(side, scale)
    return (
        c > 0
        and d > 0
        and all((v + w) * f <= s * TOLERANCE for v, w, f, s in zip((a, b), (c, d), factor, side))
    )


def _ends(mention: Mention, order: str) -> tuple[float, float, float, float]:
    a, b, c, d = mention.numbers
    if mention.order == "xxyy":
        a, b, c, d = a, c, b, d
    elif (mention.order or order) == "xywh":
        return a, b, a + max(c, 0.0), b + max(d, 0.0)
    elif mention.order is None and (c <= a or d <= b):
        return 0.0, 0.0, 0.0, 0.0
    return min(a, c), min(b, d), max(a, c), max(b, d)


def _sides(frame: int, sizes: Sequence[Size]) -> Size:
    return sizes[min(max(frame, 0), len(sizes) - 1)]


def _factor(side: Size, scale: str) -> tuple[float, float]:
    full_scale = {"unit": 1.0, "thousand": 1000.0}.get(scale)
    return (side[0] / full_scale, side[1] / full_scale) if full_scale else (1.0, 1.0)


def _clipped(value: float, side: float) -> float:
    return min(max(value, 0.0), float(side)) if math.isfinite(value) else 0.0
