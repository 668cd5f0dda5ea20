"""Boxes in the lines of a reply: lists of four numbers, corners, spans along the axes, tokens."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from situs.score.read.box_forms.record import (
    FRAME,
    NUMBER,
    Mention,
    Order,
    label_before,
    on_frames,
    slices_between,
    told_frames,
)
from situs.score.read.prose.taken import Taken

__all__ = ["boxes_in_lines"]

_PAIR = rf"\({NUMBER},{NUMBER}\)"
_AXES = re.compile(
    rf"\b(?P<k0>x|x0|x1|xmin|x_min|min_x|left)\s*[:=]?{NUMBER}[,;]?\s*(?:and\s+)?"
    rf"(?P<k1>y|y0|y1|ymin|y_min|min_y|top)\s*[:=]?{NUMBER}[,;]?\s*(?:and\s+)?"
    rf"(?P<k2>w|width|x1|x2|xmax|x_max|max_x|right)\s*[:=]?{NUMBER}[,;]?\s*(?:and\s+)?"
    rf"(?P<k3>h|height|y1|y2|ymax|y_max|max_y|bottom)\s*[:=]?{NUMBER}",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    rf"<\|box_start\|>\s*\(?{_PAIR}\s*,?\s*{_PAIR}\s*\)?\s*<\|box_end\|>", re.IGNORECASE
)
_TWO_CORNERS = re.compile(
    rf"[\[(]?\s*{_PAIR}\s*(?:,|;|to|and|,? and|-|–|—|→|->|/)?\s*"
    rf"(?:(?:the\s+|its\s+)?(?:lower|bottom)[- ]right(?:\s+corner)?(?:\s+(?:at|is"
    rf"|is at))?\s*[:=]?\s*)?{_PAIR}\s*[\])]?",
    re.IGNORECASE,
)
_NESTED_CORNERS = re.compile(
    rf"\[\s*\[{NUMBER},{NUMBER}\]\s*,\s*\[{NUMBER},{NUMBER}\]\s*\]"
    rf"|(?<![\w/]){NUMBER}/{NUMBER}\s*(?:to|-|–|→)\s*{NUMBER}/{NUMBER}(?![\w/])"
)
_CORNER_AND_SIZE = re.compile(
    r"\b(?:top|upper)[- ]left(?:\s+corner)?(?:\s+(?:at|is|is"
    rf" at))?\s*[:=]?\s*{_PAIR}\s*[,;]?\s*(?:(?:and|with)\s+)?"
    rf"(?:an?\s+)?(?:width|w)\s*(?:of|is|[:=])?{NUMBER}[,;]?\s*(?:and\s+)?(?:an?\s+)?(?:height|"
    rf"h)\s*(?:of|is|[:=])?{NUMBER}",
    re.IGNORECASE,
)
_CENTRE_AND_SIZE = re.compile(
    rf"\bcent(?:re|er)(?:ed)?(?:\s+(?:point|of the box))?(?:\s+(?:at|is|is at|around"
    rf"|near))?\s*[:=]?\s*{_PAIR}\s*[,;]?\s*"
    rf"(?:(?:and|with)\s+)?(?:an?\s+)?(?:width|w)\s*(?:of|is|[:=])?{NUMBER}[,;]?\s*(?:and\s+)?"
    rf"(?:an?\s+)?"
    rf"(?:height|h)\s*(?:of|is|[:=])?{NUMBER}",
    re.IGNORECASE,
)
_LISTED = re.compile(
    rf"(?:\b(?:bbox|box|bounding[ _]box|rect|bb)\s*)?"
    rf"[\[(]{NUMBER}[,;\s]{NUMBER}[,;\s]{NUMBER}[,;\s]{NUMBER}[,;]?\s*[\])]",
    re.IGNORECASE,
)
_SIX = re.compile(
    rf"[\[(]{NUMBER}[,;]{NUMBER}[,;]{NUMBER}[,;]{NUMBER}[,;]{NUMBER}[,;]{NUMBER}[,;]?\s*[\])]"
)
_TAGGED = re.compile(
    rf"<(?:bb\w*|box|bounding_?box|loc)>\s*{NUMBER}[,;\s]{NUMBER}[,;\s]{NUMBER}[,;\s]{NUMBER}\s*<",
    re.IGNORECASE,
)
_SIX_LINE = re.compile(
    r"^(?:[\w"
    rf" ]{{1,40}}:)?{NUMBER}[,;]{NUMBER}[,;]{NUMBER}[,;]{NUMBER}[,;]{NUMBER}[,;]{NUMBER}\.?\s*$",
    re.MULTILINE,
)
_SIX_NAMED = re.compile(
    r"[,;]?\s*".join(
        rf"\b{name}\s*[:=]{NUMBER}"
        for name in ("start_?slice", "end_?slice", "x_?min", "x_?max", "y_?min", "y_?max")
    ),
    re.IGNORECASE,
)
_OF_SIX = (_SIX, _SIX_LINE, _SIX_NAMED)
_TO = r"(?:-|–|—|to|until|,|\.{2,3})"
_SPANS = re.compile(
    rf"\bx\s*(?:range|axis)?\s*[:=]?\s*(?:from\s*)?[\[(]?{NUMBER}{_TO}\s*(?:x\s*=)?{NUMBER}[\])]?[,;]?\s*(?:and\s+)?"
    rf"(?:from\s+)?y\s*(?:range|axis)?\s*[:=]?\s*(?:from\s*)?[\[(]?{NUMBER}{_TO}\s*(?:y\s*=)?{NUMBER}[\])]?",
    re.IGNORECASE,
)
_BARE_LINE = re.compile(
    rf"^(?:[\w ]{{1,40}}:)?{NUMBER}[,;\s]{NUMBER}[,;\s]{NUMBER}[,;\s]{NUMBER}\.?\s*$", re.MULTILINE
)
_REF = re.compile(
    r"<\|object_ref_start\|>([^<]{1,80})<\|object_ref_end\|>|<ref>([^<]{1,80})</ref>", re.IGNORECASE
)
_BREAK = re.compile(r"\n|;(?!\s*[0-9])|(?<=[\])>.])\.?\s+(?=[A-Z])")


def boxes_in_lines(text: str, labels: Sequence[str], *, volume: bool) -> Iterator[Mention]:
    frames: tuple[int, ...] = ()
    ordinal = False
    label = ""
    start = 0
    for stop in [*(match.span() for match in _BREAK.finditer(text)), (len(text), len(text))]:
        line, offset = text[start : stop[0]], start
        start = stop[1]
        taken = Taken(line)
        boxes = sorted(_listed(line, taken, volume=volume), key=lambda pair: pair[0])
        marks = [mark for mark in FRAME.finditer(line) if not taken.holds(mark.start())]
        starts, ends = [mark.start() for mark in marks], [mark.end() for mark in marks]
        trailing = bool(boxes and marks and starts[0] > boxes[0][0][0])
        refs = [(match.end(), (match[1] or match[2]).strip()) for match in _REF.finditer(line)]
        previous = 0
        for (begin, end), box in boxes:
            at = bisect_left(starts, end) if trailing else bisect_right(ends, begin) - 1
            nearest_mark = marks[at] if 0 <= at < len(marks) else None
            if nearest_mark is not None:
                frames, ordinal = told_frames(nearest_mark)
            ref = next((name for at, name in reversed(refs) if at <= begin), "")
            label = ref or label_before(line[previous:begin], labels) or label
            yield replace(
                on_frames(box, frames, ordinal), label=label, span=(offset + begin, offset + end)
            )
            previous = end
        if marks and not trailing:
            frames, ordinal = told_frames(marks[-1])
        if not boxes:
            label = label_before(line, labels) or (label if line.strip() else "")


def _listed(line: str, taken: Taken, *, volume: bool) -> Iterator[tuple[tuple[int, int], Mention]]:
    """The boxes of a line with where they stand; each stretch of text is read once, by the most
    telling form.

    `taken` are those in which a box was read.
    """
    for pattern, order, thousand in (
        (_TOKEN, "xyxy", True),
        (_AXES, None, False),
        (_CORNER_AND_SIZE, "xywh", False),
        (_CENTRE_AND_SIZE, "xyxy", False),
        (_TWO_CORNERS, "xyxy", False),
        (_NESTED_CORNERS, "xyxy", False),
        (_SPANS, "xxyy", False),
        *(
            ((_SIX, "xxyy", False), (_SIX_LINE, "xxyy", False), (_SIX_NAMED, "xxyy", False))
            if volume
            else ()
        ),
        (_LISTED, None, False),
        (_TAGGED, None, False),
        (_BARE_LINE, None, False),
    ):
        for match in pattern.finditer(line):
            start, end = match.span()
            if taken.take(start, end):
                yield (start, end), _mention(pattern, match, order, thousand)


def _mention(
    pattern: re.Pattern[str], match: re.Match[str], order: Order | None, thousand: bool
) -> Mention:
    if pattern is _AXES:
        a, b, c, d = (float(match[match.re.groupindex[f"k{k}"] + 1]) for k in range(4))
        return Mention(
            (a, b, c, d), order="xywh" if match["k2"].lower() in {"w", "width"} else "xyxy"
        )
    values = [float(group) for group in match.groups() if group is not None]
    if pattern in _OF_SIX:
        first, last, a, b, c, d = values
        return Mention((a, b, c, d), slices_between(first, last), order=order)
    a, b, c, d = values[:4]
    if pattern is _CENTRE_AND_SIZE:
        a, b, c, d = a - c / 2, b - d / 2, a + c / 2, b + d / 2
    return Mention((a, b, c, d), order=order, thousand=thousand)
