"""Boxes in JSON objects, whatever their fields are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from situs.score.read.box_forms.lines import boxes_in_lines
from situs.score.read.box_forms.record import (
    FRAME_WORD,
    NUMBER,
    Mention,
    Order,
    on_frames,
    slices_between,
)
from situs.score.read.numbers.whole_numbers import listed_numbers
from situs.score.read.prose.loose_json import Loose

__all__ = ["boxes_in_object", "number_spans", "says_none"]

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
    ("startslice", "endslice"), ("startframe", "endframe"), ("firstslice", "lastslice"),
    ("firstframe", "lastframe"),
    ("slicestart", "sliceend"), ("framestart", "frameend"), ("zmin", "zmax"),
    ("minslice", "maxslice"),
    ("start", "end"), ("minframe", "maxframe"), ("slicemin", "slicemax"), ("z0", "z1"),
    ("z1", "z2"),
)  # fmt: skip
_CORNER_KEYS = (
    ("topleft", "bottomright"),
    ("upperleft", "lowerright"),
    ("start", "end"),
    ("min", "max"),
)
_FRAME_KEY = re.compile(
    rf"^\W*(?:{FRAME_WORD})?[\s_#:]*([0-9]{{1,5}}(?:\s*[-–—]\s*[0-9]{{1,5}})?)\W*$", re.IGNORECASE
)


def boxes_in_object(value: Loose, labels: Sequence[str], *, volume: bool) -> Iterator[Mention]:
    """All boxes of a JSON value, with the frames and labels that its fields tell."""
    return _walk(value, Mention((0.0, 0.0, 0.0, 0.0)), labels, volume, 0)


def says_none(value: Loose) -> bool:
    fields = value if isinstance(value, dict) else {}
    lists = [v for k, v in fields.items() if _key(k) in _LIST_KEYS - {"answer", "finalanswer"}]
    return bool(lists) and all(v in ([], {}, None) for v in lists)


def _walk(
    value: Loose, context: Mention, labels: Sequence[str], volume: bool, depth: int
) -> Iterator[Mention]:
    if depth > 8:
        return
    if isinstance(value, dict):
        yield from _walk_object(value, context, labels, volume, depth)
    elif isinstance(value, str) and _FOUR_NUMBERS.search(value):
        for box in boxes_in_lines(value, labels, volume=volume):
            yield replace(
                on_frames(box, context.frames, context.ordinal), label=box.label or context.label
            )
    elif isinstance(value, list):
        numbers = [part for part in value if isinstance(part, float)]
        if len(numbers) == len(value) == 4:
            yield replace(context, numbers=(numbers[0], numbers[1], numbers[2], numbers[3]))
        elif len(numbers) == len(value) == 6 and volume:
            a, b, c, d = numbers[2:]
            yield replace(
                context,
                numbers=(a, b, c, d),
                frames=slices_between(numbers[0], numbers[1]),
                order="xxyy",
            )
        elif volume and (spans := number_spans(value)):
            (first, last), (a, b), (c, d) = spans
            yield replace(
                context, numbers=(a, b, c, d), frames=slices_between(first, last), order="xxyy"
            )
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
            or (key in _FRAME_KEYS and not _holds_objects(part))
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


def _holds_objects(value: Loose) -> bool:
    """Whether "frames" are not numbers but records of their own."""
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(part, dict) for part in value)
    )


def _context(fields: dict[str, Loose], context: Mention, *, volume: bool) -> Mention:
    label = next(
        (v for k in _LABEL_KEYS if isinstance(v := fields.get(k), str) and v.strip()), context.label
    )
    frames = context.frames
    for key in _FRAME_KEYS & fields.keys():
        ends = _pair(fields[key]) if volume else None
        frames = (slices_between(*ends) if ends is not None else _frames_of(fields[key])) or frames
    for first, last in _SPAN_KEYS:
        a, b = fields.get(first), fields.get(last)
        if isinstance(a, float) and isinstance(b, float):
            frames = slices_between(a, b)
            break
    return replace(context, label=label.strip(), frames=frames)


def _named_numbers(
    fields: dict[str, Loose],
) -> tuple[Order | None, tuple[float, float, float, float] | None]:
    for order, names in _NAMED if not _SIDES.isdisjoint(fields) else ():
        sides = [
            next((v for k in keys if (v := _number(fields.get(k))) is not None), None)
            for keys in names
        ]
        a, b, c, d = sides
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
        match = re.fullmatch(NUMBER, value)
        return float(match[1]) if match else None
    return value if isinstance(value, float) else None


def _pair(value: Loose) -> tuple[float, float] | None:
    """Two numbers."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    first, last = value
    return (first, last) if isinstance(first, float) and isinstance(last, float) else None


def number_spans(value: list[Loose]) -> list[tuple[float, float]]:
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


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
