"""How SGMRI-VQA's released code reads boxes, its oddities included. Our own reader is
`parse_boxes`.

Forms are tried in order, and the first that yields a box wins. A "Frame N" directly before a box
holds for the boxes behind it too, until the next one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from situs.score.published.sgmri_text import LONGEST, squeezed

__all__ = ["FoundBox", "Size", "published_boxes", "true_boxes"]

Size: TypeAlias = tuple[float, float] | None
"""Width and height of the picture in pixels, if known."""
FoundBox: TypeAlias = tuple[int | None, list[float]]
"""Frame, if one is named, and x, y, width, height."""
Form: TypeAlias = Callable[[re.Match[str], Size], list[float] | None]

# Never two runs of white space beside each other: where they part could be tried at every sign.
_FRAME = r"(?:[Ff]rame\s+(?P<frame>\d+)\s*(?:[:\-,]\s*)?)?"
_PAIR = r"\((\d+)\s*,\s*(\d+)\)"
_TAG = re.compile(_FRAME + r"<bb[ox]+>\s*\[(?P<list>[^\]]{1,2000})\]\s*<[/\\]bb[ox]+>")
_TOKEN = re.compile(
    _FRAME + r"<\|box_start\|>\s*" + _PAIR + r"\s*,\s*" + _PAIR + r"\s*<\|box_end\|>"
)
_CALL = re.compile(_FRAME + r"bbox\(\s*(\d+)" + 3 * r"\s*,\s*(\d+)" + r"\s*\)", re.IGNORECASE)
_CORNERS = re.compile(_FRAME + _PAIR + r"\s*(?:,\s*)?" + _PAIR)
_BBOX_2D = re.compile(_FRAME + r'(?P<object>\{[^{}]{0,2000}"bbox_2d"[^{}]{0,2000}\})')
_OBJECT = re.compile(r"\{[^{}]*\}")
_BRACKETS = re.compile(_FRAME + r"\[(?P<list>\d[\d.,\s]*)\]")

_MINIMA_AND_MAXIMA = ("min_x", "min_y", "max_x", "max_y")
_ORIGIN_AND_SIZE = ("x", "y", "width", "height")
_LARGEST_BRACKET = 10_000
_MOST_DIGITS = 4000
"""Python refuses to read longer numbers; a reply of only digits must not end the scoring."""


def published_boxes(text: str, size: Size) -> list[FoundBox]:
    """All boxes, as the released code finds them."""
    text = squeezed(text[:LONGEST])
    boxes, is_complete = _structured(text, size)
    if boxes and is_complete:
        return boxes
    for pattern, form in (
        (_TAG, _tag),
        (_TOKEN, _token),
        (_CALL, _corners),
        (_CORNERS, _corners),
        (_BBOX_2D, _bbox_2d),
    ):
        boxes += _framed(pattern, form, text, size)
        if boxes:
            return boxes
    return list(_objects(text)) or list(_framed(_BRACKETS, _brackets, text, size))


def _structured(text: str, size: Size) -> tuple[list[FoundBox], bool]:
    """Boxes of a reply that is nothing but Gemini's JSON,
    and whether it could be read to its end."""
    found: list[FoundBox] = []
    try:
        record = json.loads(text)
        if isinstance(record, dict) and "bboxes" in record:
            for entry in record["bboxes"]:
                if isinstance(entry, dict) and all(key in entry for key in _MINIMA_AND_MAXIMA):
                    ends = [float(entry[key]) for key in _MINIMA_AND_MAXIMA]
                    box = _between(_stretched(ends, size, 1.0) if max(ends) <= 1.0 else ends)
                    if box:
                        found.append((int(entry["frame"]) if "frame" in entry else None, box))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return found, False
    return found, True


def _framed(pattern: re.Pattern[str], form: Form, text: str, size: Size) -> Iterator[FoundBox]:
    frame = None
    for match in pattern.finditer(text):
        if match["frame"]:
            frame = int(match["frame"][-_MOST_DIGITS:])
        box = form(match, size)
        if box is not None:
            yield frame, box


def _tag(match: re.Match[str], size: Size) -> list[float] | None:
    return _four(match["list"])


def _token(match: re.Match[str], size: Size) -> list[float] | None:
    return _between(_stretched(_ends(match), size, 1000.0))


def _corners(match: re.Match[str], size: Size) -> list[float] | None:
    return _between(_ends(match))


def _bbox_2d(match: re.Match[str], size: Size) -> list[float] | None:
    try:
        ends = [float(value) for value in json.loads(match["object"])["bbox_2d"]]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return _between(_shrunk(ends, size)) if len(ends) == 4 else None


def _objects(text: str) -> Iterator[FoundBox]:
    for match in _OBJECT.finditer(text):
        try:
            record = json.loads(match[0])
            if all(key in record for key in _ORIGIN_AND_SIZE):
                box = [float(record[key]) for key in _ORIGIN_AND_SIZE]
                frame = int(record["frame"]) if "frame" in record else None
                if box[2] > 0 and box[3] > 0:
                    yield frame, box
        except (ValueError, TypeError, OverflowError, RecursionError):
            continue


def _brackets(match: re.Match[str], size: Size) -> list[float] | None:
    box = _four(match["list"])
    if box is None or not all(0 <= value <= _LARGEST_BRACKET for value in box) or min(box[2:]) <= 0:
        return None
    # Which order it is comes first, from the numbers as they stand; whether they are thousandths is
    # asked afterwards.
    return _shrunk(_between(box) or box, size)


def _four(listed: str) -> list[float] | None:
    try:
        values = [float(part) for part in listed.split(",")]
    except ValueError:
        return None
    return values if len(values) == 4 else None


def _ends(match: re.Match[str]) -> list[float]:
    frame = match.re.groupindex["frame"]
    return [float(match[group]) for group in range(frame + 1, frame + 5)]


def _between(ends: list[float]) -> list[float] | None:
    """Origin and size from two corners; None without extent."""
    x0, y0, x1, y1 = ends
    return [x0, y0, x1 - x0, y1 - y0] if x1 - x0 > 0 and y1 - y0 > 0 else None


def _shrunk(values: list[float], size: Size) -> list[float]:
    """Thousandths in pixels, which they are taken for if one exceeds the longer side."""
    return _stretched(values, size, 1000.0) if size and max(values) > max(size) else values


def _stretched(values: list[float], size: Size, whole: float) -> list[float]:
    """Shares of `whole` in pixels; as they are if the size is not known."""
    return [value / whole * side for value, side in zip(values, (*size, *size))] if size else values


def true_boxes(entries: list[dict[str, Any]]) -> tuple[list[list[float]], list[int | None]]:
    """The boxes of a sample, and its frames.

    A malformed box is left out but its frame is not, which shifts them.
    """
    boxes: list[list[float]] = []
    for entry in entries:
        try:
            boxes.append([float(entry[key]) for key in _ORIGIN_AND_SIZE])
        except (KeyError, ValueError, TypeError):
            continue
    frames = [entry.get("frame") or entry.get("slice_num") for entry in entries]
    return boxes, [None if frame is None else int(frame) for frame in frames]
