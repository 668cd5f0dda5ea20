"""Boxes as a reply writes them, before anything is decided about their scale, order or frame base."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from situs.score.read.prose.claims import Certainty, Claim, Role
from situs.score.read.prose.folding import fold
from situs.score.read.prose.grammar import statements
from situs.score.read.prose.lexicon import english
from situs.score.read.prose.loose_json import Loose, loose_values
from situs.score.read.prose.tables import without_tables
from situs.score.read.prose.tokens import Mention as TextMention
from situs.score.read.prose.whole_numbers import listed_numbers

__all__ = ["Mention", "label_before", "meant_boxes", "mentions"]

Order = Literal["xyxy", "xywh", "xxyy"]


@dataclass(frozen=True, slots=True)
class Mention:
    """Four numbers that a reply gives as a box."""

    numbers: tuple[float, float, float, float]
    frames: tuple[int, ...] = ()
    """As the reply counts them; empty if it names none."""
    ordinal: bool = False
    """The frames are told by rank ("the 3rd frame"), which is from 1 however frames are numbered."""
    label: str = ""
    order: Order | None = None
    """What the form itself says; None where it does not (a bare list)."""
    thousand: bool = False
    """The form itself means thousandths (Qwen's box tokens)."""
    span: tuple[int, int] = (0, 0)
    """Where it stands in prose."""


_N = r"\s*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?)\s*(?:px)?\s*"
_PAIR = rf"\({_N},{_N}\)"
_AXES = re.compile(
    rf"\b(?P<k0>x|x0|x1|xmin|x_min|min_x|left)\s*[:=]{_N}[,;]?\s*(?:and\s+)?"
    rf"(?P<k1>y|y0|y1|ymin|y_min|min_y|top)\s*[:=]{_N}[,;]?\s*(?:and\s+)?"
    rf"(?P<k2>w|width|x1|x2|xmax|x_max|max_x|right)\s*[:=]{_N}[,;]?\s*(?:and\s+)?"
    rf"(?P<k3>h|height|y1|y2|ymax|y_max|max_y|bottom)\s*[:=]{_N}",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    rf"<\|box_start\|>\s*\(?{_PAIR}\s*,?\s*{_PAIR}\s*\)?\s*<\|box_end\|>", re.IGNORECASE
)
_TWO_CORNERS = re.compile(
    rf"[\[(]?\s*{_PAIR}\s*(?:,|;|to|and|-|–|—|→|->|/)?\s*"
    rf"(?:(?:the\s+)?(?:lower|bottom)[- ]right(?:\s+corner)?(?:\s+(?:at|is))?\s*[:=]?\s*)?{_PAIR}\s*[\])]?",
    re.IGNORECASE,
)
_CORNER_AND_SIZE = re.compile(
    rf"\b(?:top|upper)[- ]left(?:\s+corner)?(?:\s+(?:at|is|is at))?\s*[:=]?\s*{_PAIR}\s*[,;]?\s*(?:(?:and|with)\s+)?"
    rf"(?:an?\s+)?(?:width|w)\s*(?:of|is|[:=])?{_N}[,;]?\s*(?:and\s+)?(?:an?\s+)?(?:height|h)\s*(?:of|is|[:=])?{_N}",
    re.IGNORECASE,
)
_LISTED = re.compile(
    rf"(?:\b(?:bbox|box|bounding[ _]box|rect|bb)\s*)?[\[(]{_N}[,;\s]{_N}[,;\s]{_N}[,;\s]{_N}[,;]?\s*[\])]",
    re.IGNORECASE,
)
_SIX = re.compile(rf"[\[(]{_N}[,;]{_N}[,;]{_N}[,;]{_N}[,;]{_N}[,;]{_N}[,;]?\s*[\])]")
_TAGGED = re.compile(
    rf"<(?:bb\w*|box|bounding_?box|loc)>\s*{_N}[,;\s]{_N}[,;\s]{_N}[,;\s]{_N}\s*<", re.IGNORECASE
)
_SIX_LINE = re.compile(
    rf"^(?:[\w ]{{1,40}}:)?{_N}[,;]{_N}[,;]{_N}[,;]{_N}[,;]{_N}[,;]{_N}\.?\s*$", re.MULTILINE
)
_SIX_NAMED = re.compile(
    r"[,;]?\s*".join(
        rf"\b{name}\s*[:=]{_N}"
        for name in ("start_?slice", "end_?slice", "x_?min", "x_?max", "y_?min", "y_?max")
    ),
    re.IGNORECASE,
)
_OF_SIX = (_SIX, _SIX_LINE, _SIX_NAMED)
_TO = r"(?:-|–|—|to|until|,)"
_SPANS = re.compile(
    rf"\bx\s*(?:range|axis)?\s*[:=]?\s*(?:from\s*)?[\[(]?{_N}{_TO}{_N}[\])]?[,;]?\s*(?:and\s+)?"
    rf"y\s*(?:range|axis)?\s*[:=]?\s*(?:from\s*)?[\[(]?{_N}{_TO}{_N}[\])]?",
    re.IGNORECASE,
)
_BARE_LINE = re.compile(
    rf"^(?:[\w ]{{1,40}}:)?{_N}[,;\s]{_N}[,;\s]{_N}[,;\s]{_N}\.?\s*$", re.MULTILINE
)

_FRAME_WORD = (
    r"\b(?:frame|slice|image|img|picture)(?:s|_?(?:number|no|num|index|id|idx))?"
    r"(?:\s+(?:number|no\.?|index))?"
)
_FRAME = re.compile(
    rf"(?:{_FRAME_WORD}[\s_#:=*]{{0,4}}|\b(?-i:F)(?=[0-9]{{1,5}}\s*[:=]))(?P<list>[0-9]{{1,5}}(?![0-9.]*[0-9])"
    r"(?:\s*(?:-|–|—|to|through|until|,|;|&|and|\+|,\s*and)\s*(?:(?:frame|slice|image)s?\s*)?[0-9]{1,5}(?![0-9]))*)"
    r"|\b(?P<rank>[0-9]{1,4})(?:st|nd|rd|th)\s+(?:frame|slice|image|picture)\b",
    re.IGNORECASE,
)
_REF = re.compile(
    r"<\|object_ref_start\|>([^<]{1,80})<\|object_ref_end\|>|<ref>([^<]{1,80})</ref>", re.IGNORECASE
)
_BREAK = re.compile(r"\n|;(?!\s*[0-9])|(?<=[\])>.])\.?\s+(?=[A-Z])")

_FRAME_KEYS = {
    *(
        "frame",
        "frames",
        "frameindex",
        "frameidx",
        "frameid",
        "framenumber",
        "frameno",
        "framenum",
        "framerange",
    ),
    *(
        "slice",
        "slices",
        "slicenum",
        "slicenumber",
        "sliceindex",
        "sliceno",
        "sliceid",
        "slicerange",
        "z",
    ),
    *("image", "images", "imageindex", "imagenumber", "imageid", "picture", "pictures", "page"),
}
_LABEL_KEYS = (
    *(
        "label",
        "name",
        "finding",
        "class",
        "classname",
        "category",
        "structure",
        "abnormality",
        "lesion",
    ),
    *("diagnosis", "object", "type", "description", "region", "title", "ref"),
)
_LIST_KEYS = {
    *(
        "bbox",
        "bboxes",
        "box",
        "boxes",
        "bbox2d",
        "box2d",
        "bndbox",
        "boundingbox",
        "boundingboxes",
        "coordinates",
    ),
    *(
        "coords",
        "coordinate",
        "rect",
        "rectangle",
        "bbx",
        "bb",
        "points",
        "location",
        "position",
        "xyxy",
        "xywh",
    ),
    *(
        "bbox3d",
        "box3d",
        "answer",
        "finalanswer",
        "findings",
        "lesions",
        "annotations",
        "objects",
        "predictions",
    ),
    *("detections", "results", "result", "roi"),
}
_ASIDE_KEYS = {
    "reasoning",
    "thought",
    "thoughts",
    "explanation",
    "rationale",
    "thinking",
    "analysis",
    "steps",
}
_NAMED: tuple[tuple[Order, tuple[tuple[str, ...], ...]], ...] = (
    (
        "xywh",
        (("x", "left", "x0", "xmin"), ("y", "top", "y0", "ymin"), ("width", "w"), ("height", "h")),
    ),
    ("xyxy", (("x1", "x0"), ("y1", "y0"), ("x2", "x1"), ("y2", "y1"))),
    ("xyxy", (("xmin", "minx"), ("ymin", "miny"), ("xmax", "maxx"), ("ymax", "maxy"))),
    ("xyxy", (("left",), ("top",), ("right",), ("bottom",))),
    ("xyxy", (("xstart", "startx"), ("ystart", "starty"), ("xend", "endx"), ("yend", "endy"))),
)
_SIDES = frozenset(key for _, names in _NAMED for keys in names for key in keys)
_FOUR_NUMBERS = re.compile(r"(?:[0-9][^0-9]+){3}[0-9]")
_SPAN_KEYS = (
    ("startslice", "endslice"), ("startframe", "endframe"), ("firstslice", "lastslice"), ("firstframe", "lastframe"),
    ("slicestart", "sliceend"), ("framestart", "frameend"), ("zmin", "zmax"), ("minslice", "maxslice"),
    ("start", "end"), ("minframe", "maxframe"), ("slicemin", "slicemax"), ("z0", "z1"), ("z1", "z2"),
)  # fmt: skip
_CORNER_KEYS = (
    ("topleft", "bottomright"),
    ("upperleft", "lowerright"),
    ("start", "end"),
    ("min", "max"),
)
_FRAME_KEY = re.compile(
    rf"^\W*(?:{_FRAME_WORD})?[\s_#:]*([0-9]{{1,5}}(?:\s*[-–—]\s*[0-9]{{1,5}})?)\W*$", re.IGNORECASE
)


def mentions(text: str, labels: Sequence[str], *, volume: bool) -> tuple[list[Mention], bool]:
    """All boxes of a text, and whether it gives an explicitly empty list of them.

    Objects with named fields outweigh lists in prose, which then only explain. `labels` are names to look for in
    prose; `volume` says that six numbers are first and last slice, then x and y from – to.
    """
    found: list[tuple[int, int, list[Mention]]] = []
    empty = False
    for value, start, end in loose_values(text):
        listed = value if isinstance(value, list) else []
        if (
            isinstance(value, dict)
            or any(isinstance(part, dict) for part in listed)
            or (volume and _spans(listed))
        ):
            boxes = list(_walk(value, Mention((0.0, 0.0, 0.0, 0.0)), labels, volume, 0))
            if boxes:
                found.append((start, end, boxes))
            elif _says_none(value):
                empty = True
        elif value == [] and not text[:start].strip("`json \n") and not text[end:].strip("` \n."):
            empty = True
    if found:
        return list(_with_outer_context(text, found, labels)), False
    prose = without_tables(text)
    return meant_boxes(prose, list(_in_prose(prose, labels, volume=volume))), empty


_MOST_JUDGED = 60
"""Boxes of a reply whose sentences are read; longer lists are no prose."""


def meant_boxes(prose: str, found: list[Mention]) -> list[Mention]:
    """The boxes without those that the reply denies, asks about or leaves again ("not [..] but [..]", "at first [..]").

    If none would be left, all stay: what is then meant is not for the grammar to say.
    """
    if not 1 < len(found) <= _MOST_JUDGED:
        return found
    named = [TextMention(*box.span, index) for index, box in enumerate(found)]
    claims = [
        claim for one in statements(prose, named, english(), apart=True) for claim in one.claims
    ]
    left = {int(str(claim.values[0])) for claim in claims if _is_left(claim)}
    return (
        [box for index, box in enumerate(found) if index not in left]
        if len(left) < len(found)
        else found
    )


def _is_left(claim: Claim) -> bool:
    return (
        claim.denied
        or claim.retracted
        or claim.role is Role.WEAK
        or claim.certainty is Certainty.ASKED
    )


def _says_none(value: Loose) -> bool:
    fields = value if isinstance(value, dict) else {}
    lists = [v for k, v in fields.items() if _key(k) in _LIST_KEYS - {"answer", "finalanswer"}]
    return bool(lists) and all(v in ([], {}, None) for v in lists)


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
        for last in _FRAME.finditer(before):
            frames, ordinal = _told(last)
        label = label_before(before.rsplit("\n", 2)[-1], labels) if before.strip() else ""
        for box in boxes:
            yield replace(_on(box, frames, ordinal), label=box.label or label)
        position = end


def _told(mark: re.Match[str]) -> tuple[tuple[int, ...], bool]:
    """The frames that a mark names, and whether by rank."""
    return (listed_numbers(mark["list"]), False) if mark["list"] else ((int(mark["rank"]),), True)


def _on(box: Mention, frames: tuple[int, ...], ordinal: bool) -> Mention:
    """The box on these frames, if it names none itself."""
    return box if box.frames else replace(box, frames=frames, ordinal=ordinal)


def _in_prose(text: str, labels: Sequence[str], *, volume: bool) -> Iterator[Mention]:
    frames: tuple[int, ...] = ()
    ordinal = False
    label = ""
    start = 0
    for stop in [*(match.span() for match in _BREAK.finditer(text)), (len(text), len(text))]:
        line, offset = text[start : stop[0]], start
        start = stop[1]
        taken = bytearray(len(line))
        boxes = sorted(_listed(line, taken, volume=volume), key=lambda pair: pair[0])
        marks = [mark for mark in _FRAME.finditer(line) if not taken[mark.start()]]
        starts, ends = [mark.start() for mark in marks], [mark.end() for mark in marks]
        trailing = bool(boxes and marks and starts[0] > boxes[0][0][0])
        refs = [(match.end(), (match[1] or match[2]).strip()) for match in _REF.finditer(line)]
        previous = 0
        for (begin, end), box in boxes:
            at = bisect_left(starts, end) if trailing else bisect_right(ends, begin) - 1
            own = marks[at] if 0 <= at < len(marks) else None
            if own is not None:
                frames, ordinal = _told(own)
            ref = next((name for at, name in reversed(refs) if at <= begin), "")
            label = ref or label_before(line[previous:begin], labels) or label
            yield replace(
                _on(box, frames, ordinal), label=label, span=(offset + begin, offset + end)
            )
            previous = end
        if marks and not trailing:
            frames, ordinal = _told(marks[-1])
        if not boxes:
            label = label_before(line, labels) or (label if line.strip() else "")


def _listed(
    line: str, taken: bytearray, *, volume: bool
) -> Iterator[tuple[tuple[int, int], Mention]]:
    """The boxes of a line with where they stand; each stretch of text is read once, by the most telling form.

    `taken` has a byte for every character, which is set where a box was read.
    """
    for pattern, order, thousand in (
        (_TOKEN, "xyxy", True),
        (_AXES, None, False),
        (_CORNER_AND_SIZE, "xywh", False),
        (_TWO_CORNERS, "xyxy", False),
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
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\x01" * (end - start)
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
        return Mention((a, b, c, d), _span(first, last), order=order)
    a, b, c, d = values[:4]
    return Mention((a, b, c, d), order=order, thousand=thousand)


def _walk(
    value: Loose, context: Mention, labels: Sequence[str], volume: bool, depth: int
) -> Iterator[Mention]:
    if depth > 8:
        return
    if isinstance(value, dict):
        yield from _walk_object(value, context, labels, volume, depth)
    elif isinstance(value, str) and _FOUR_NUMBERS.search(value):
        for box in _in_prose(value, labels, volume=volume):
            yield replace(
                _on(box, context.frames, context.ordinal), label=box.label or context.label
            )
    elif isinstance(value, list):
        numbers = [part for part in value if isinstance(part, float)]
        if len(numbers) == len(value) == 4:
            yield replace(context, numbers=(numbers[0], numbers[1], numbers[2], numbers[3]))
        elif len(numbers) == len(value) == 6 and volume:
            a, b, c, d = numbers[2:]
            yield replace(
                context, numbers=(a, b, c, d), frames=_span(numbers[0], numbers[1]), order="xxyy"
            )
        elif volume and (spans := _spans(value)):
            (first, last), (a, b), (c, d) = spans
            yield replace(context, numbers=(a, b, c, d), frames=_span(first, last), order="xxyy")
        elif (hull := _hull(value)) is not None:
            yield replace(context, numbers=hull, order="xyxy")
        else:
            for part in value:
                yield from _walk(part, context, labels, volume, depth + 1)


def _walk_object(
    record: dict[str, Loose], context: Mention, labels: Sequence[str], volume: bool, depth: int
) -> Iterator[Mention]:
    fields = {_key(name): value for name, value in record.items()}
    context = _context(fields, context, volume=volume)
    order, numbers = _named_numbers(fields)
    if numbers is not None:
        yield replace(context, numbers=numbers, order=order)
        return
    for name, part in record.items():
        key = _key(name)
        if (
            key in _ASIDE_KEYS
            or key in _FRAME_KEYS
            or (key in _LABEL_KEYS and not isinstance(part, dict | list))
        ):
            continue
        inner = context
        if key in {"xyxy", "bbox2d"}:
            inner = replace(context, order="xyxy")
        elif key == "xywh":
            inner = replace(context, order="xywh")
        elif (frame := _FRAME_KEY.match(name)) is not None and isinstance(part, dict | list):
            inner = replace(context, frames=listed_numbers(frame[1]))
        elif (
            key not in _LIST_KEYS
            and key not in _LABEL_KEYS
            and not context.label
            and isinstance(part, dict | list)
        ):
            inner = replace(context, label=name.strip())
        yield from _walk(part, inner, labels, volume, depth + 1)


def _context(fields: dict[str, Loose], context: Mention, *, volume: bool) -> Mention:
    label = next(
        (v for k in _LABEL_KEYS if isinstance(v := fields.get(k), str) and v.strip()), context.label
    )
    frames = context.frames
    for key in _FRAME_KEYS & fields.keys():
        ends = _pair(fields[key]) if volume else None
        frames = (_span(*ends) if ends is not None else _frames_of(fields[key])) or frames
    for first, last in _SPAN_KEYS:
        a, b = fields.get(first), fields.get(last)
        if isinstance(a, float) and isinstance(b, float):
            frames = _span(a, b)
            break
    return replace(context, label=label.strip(), frames=frames)


def _named_numbers(
    fields: dict[str, Loose],
) -> tuple[Order | None, tuple[float, float, float, float] | None]:
    for order, names in _NAMED if not _SIDES.isdisjoint(fields) else ():
        found = [
            next((v for k in keys if (v := _number(fields.get(k))) is not None), None)
            for keys in names
        ]
        a, b, c, d = found
        if a is not None and b is not None and c is not None and d is not None:
            if order == "xyxy" and names[0] == ("x1", "x0") and "x0" in fields:  # x0, y0, x1, y1
                a, b, c, d = (_number(fields[key]) or 0.0 for key in ("x0", "y0", "x1", "y1"))
            return order, (a, b, c, d)
    x, y = (_pair(fields.get(key) or fields.get(f"{key}range")) for key in ("x", "y"))
    if x is not None and y is not None:
        return "xxyy", (*x, *y)
    for first, last in _CORNER_KEYS:
        hull = _hull([fields.get(first), fields.get(last)])
        if hull is not None:
            return "xyxy", hull
    return None, None


def _number(value: Loose) -> float | None:
    if isinstance(value, str):
        match = re.fullmatch(_N, value)
        return float(match[1]) if match else None
    return value if isinstance(value, float) else None


def _pair(value: Loose) -> tuple[float, float] | None:
    """Two numbers."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    first, last = value
    return (first, last) if isinstance(first, float) and isinstance(last, float) else None


def _spans(value: list[Loose]) -> list[tuple[float, float]]:
    """Three pairs, from – to; none if it is anything else."""
    pairs = [pair for part in value if (pair := _pair(part)) is not None]
    return pairs if len(pairs) == len(value) == 3 else []


def _hull(value: Loose) -> tuple[float, float, float, float] | None:
    """The box around two corners or the four of a polygon."""
    if not isinstance(value, list) or len(value) not in {2, 4}:
        return None
    points: list[tuple[float, float]] = []
    for part in value:
        if isinstance(part, dict) and {_key(k) for k in part} == {"x", "y"}:
            part = list(part.values())
        if not isinstance(part, list) or len(part) != 2:
            return None
        x, y = part
        if not isinstance(x, float) or not isinstance(y, float):
            return None
        points.append((x, y))
    xs, ys = zip(*points)
    return min(xs), min(ys), max(xs), max(ys)


def _frames_of(value: Loose) -> tuple[int, ...]:
    if isinstance(value, float) and value == int(value):
        return (int(value),)
    if isinstance(value, str):
        return listed_numbers(value)
    if isinstance(value, list):
        return tuple(frame for part in value for frame in _frames_of(part))
    return ()


def _span(first: float, last: float) -> tuple[int, ...]:
    low, high = sorted((int(first), int(last)))
    return tuple(range(low, min(high, low + 2000) + 1))


def label_before(words: str, labels: Sequence[str]) -> str:
    """The label that is named last before a box."""
    folded = _folded(words)
    found = [(folded.rfind(_folded(label)), len(label), label) for label in labels if label]
    at, _, label = max(found, default=(-1, 0, ""))
    return label if at >= 0 else ""


@lru_cache(maxsize=1024)
def _folded(words: str) -> str:
    """`fold`, which a long list of boxes asks for the same few words again and again."""
    return fold(words)


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
