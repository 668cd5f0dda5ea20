"""Places that readers point at: boxes they draw on axial slices, and slices they name.

Slices and pixels are those of the station's axial plane: every slice in patient order (or as
stored), pixels that are voxels, seen radiologically. As a profile this is `STATION_PROFILE`, so
that a reader's places are read and scored like a model's.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.items import Item, Simple, boxes_in, frames_in, kind_of, parts_of
from situs.profiles import Profile
from situs.review.answers import Said, SaidBox
from situs.run import Viewing
from situs.space import WorldBox

__all__ = [
    "SAME_PLACE",
    "STATION_PROFILE",
    "KeyPlace",
    "is_solid",
    "key_places",
    "overlap",
    "place_problem",
    "read_boxes",
    "read_frames",
    "said_of",
    "slice_words",
    "solid_boxes",
]

STATION_PROFILE = msgspec.convert(
    {
        "name": "reading station",
        "about": "every axial slice from the feet to the head, pixels are voxels",
        "view": {"plane": "axial", "slices": "all"},
        "window": {"any": {"low_percentile": 1.0, "high_percentile": 99.0}},
        "gives": ["side_convention", "view_convention", "scale", "slice_order", "axial_slices",
                  "frame_count", "anchor"],
    },
    Profile,
)  # fmt: skip
SAME_PLACE = 0.5
"""Places that overlap by less (intersection over union) are different answers."""
_MOST_BOXES = 40
_RANGE = re.compile(r"\s*(\d{1,5})\s*(?:[-–]\s*(\d{1,5})\s*)?")
_NONE = ("none", "none.", "-")


class KeyPlace(msgspec.Struct, frozen=True):
    """Where the key is, for one part of an answer."""

    form: str
    key: str
    """As a reader would say it."""
    solid: bool = False
    """One box in the volume: what is drawn on single slices counts as the box around all of it."""


def read_boxes(text: str) -> tuple[SaidBox, ...]:
    """Boxes as the page sends them: a JSON list; empty where there is nothing to box."""
    try:
        boxes = msgspec.json.decode(text.encode(), type=tuple[SaidBox, ...])
    except msgspec.DecodeError as error:
        raise SitusError("boxes are not in the expected form", fix="draw them again") from error
    for box in boxes:
        edges = (box.x0, box.y0, box.x1, box.y1)
        if not all(map(math.isfinite, edges)) or box.x1 <= box.x0 or box.y1 <= box.y0:
            raise SitusError("a box has no area", fix="draw it again")
    if len(boxes) > _MOST_BOXES:
        raise SitusError(f"{len(boxes)} boxes, at most {_MOST_BOXES}", fix="remove some")
    return boxes


def read_frames(text: str) -> frozenset[int]:
    """Slices as people write them, from 1 (`12-18, 20`), as 0-based frames; empty for `none`."""
    if text.strip().lower() in _NONE:
        return frozenset()
    frames: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None or int(match[1]) < 1:
            raise SitusError("slices are numbers from 1", fix="e.g. 12-18, or 12, 14; or none")
        last = int(match[2] or match[1])
        frames.update(range(int(match[1]) - 1, last))
        if last < int(match[1]):
            raise SitusError("the last slice comes before the first", fix="e.g. 12-18")
    return frozenset(frames)


def place_problem(form: str, text: str, size: tuple[int, int, int]) -> str:
    """Why a place is no answer on a scan of so many columns, rows and slices;
    empty if it is one."""
    columns, rows, slices = size
    try:
        if form == "frames":
            beyond = any(frame >= slices for frame in read_frames(text))
            return f"the scan has {slices} slices" if beyond else ""
        for box in read_boxes(text):
            inside = box.x0 >= 0 and box.x1 <= columns and box.y0 >= 0 and box.y1 <= rows
            if not inside or not 0 <= box.frame < slices:
                return "a box lies outside the scan"
    except SitusError as error:
        return error.problem
    return ""


def solid_boxes(boxes: Iterable[SaidBox]) -> list[SaidBox]:
    """One box in the volume for each label:
    the hull of what was drawn, on every slice from the first to the last."""
    by_label: dict[str, list[SaidBox]] = defaultdict(list)
    for box in boxes:
        by_label[box.label].append(box)
    result = []
    for label, drawn in by_label.items():
        x0, y0 = min(box.x0 for box in drawn), min(box.y0 for box in drawn)
        x1, y1 = max(box.x1 for box in drawn), max(box.y1 for box in drawn)
        first, last = min(box.frame for box in drawn), max(box.frame for box in drawn)
        result += [SaidBox(frame, x0, y0, x1, y1, label) for frame in range(first, last + 1)]
    return result


def overlap(key_place: KeyPlace, first: str, second: str) -> float:
    """Intersection over union of two readers' places: of slices, or of drawn areas over all slices.

    Labels are free text and do not count. 1 where both say that there is nothing.
    """
    if key_place.form == "frames":
        a, b = read_frames(first), read_frames(second)
        return len(a & b) / len(a | b) if a | b else 1.0
    boxes = [read_boxes(text) for text in (first, second)]
    hulls = [solid_boxes(drawn) if key_place.solid else drawn for drawn in boxes]
    common = total = 0.0
    for frame in {box.frame for drawn in hulls for box in drawn}:
        here = [[box for box in drawn if box.frame == frame] for drawn in hulls]
        both, either = _areas(*here)
        common, total = common + both, total + either
    return common / total if total else 1.0


def _areas(first: Sequence[SaidBox], second: Sequence[SaidBox]) -> tuple[float, float]:
    """Areas of the intersection and the union of two sets of rectangles, exactly:
    on the cells between all edges."""
    every = [*first, *second]
    xs = np.unique([edge for box in every for edge in (box.x0, box.x1)])
    ys = np.unique([edge for box in every for edge in (box.y0, box.y1)])
    cells = np.outer(np.diff(ys), np.diff(xs))

    def covered(boxes: Sequence[SaidBox]) -> NDArray[np.bool_]:
        result = np.zeros(cells.shape, dtype=bool)
        for box in boxes:
            rows, columns = (
                np.searchsorted(ys, (box.y0, box.y1)),
                np.searchsorted(xs, (box.x0, box.x1)),
            )
            result[rows[0] : rows[1], columns[0] : columns[1]] = True
        return result

    a, b = covered(first), covered(second)
    return float(cells[a & b].sum()), float(cells[a | b].sum())


def key_places(item: Item, viewing: Viewing) -> dict[str, KeyPlace]:
    """The key's places by part, written as a reader would; `viewing` is of `STATION_PROFILE`."""
    result = {}
    for name, part in parts_of(item.answer).items():
        if kind_of(part) == "boxes":
            drawn = [
                SaidBox(
                    b.frame, round(b.x0, 2), round(b.y0, 2), round(b.x1, 2), round(b.y1, 2), b.label
                )
                for b in viewing.boxes(item, boxes_in(part))
            ]
            words = json.dumps(msgspec.to_builtins(drawn))
            result[name] = KeyPlace("boxes", words, is_solid(part))
        elif kind_of(part) == "frames":
            numbers = sorted(frame + 1 for frame in viewing.frames(item, frames_in(part)))
            result[name] = KeyPlace("frames", ", ".join(map(str, numbers)) or "none")
    return result


def slice_words(places: Mapping[str, KeyPlace]) -> dict[str, str]:
    """The slices of a key in words, `slices 12–18, 20`, by part."""
    return {
        name: _slices(sorted(read_frames(place.key)))
        for name, place in places.items()
        if place.form == "frames"
    }


def _slices(frames: Sequence[int]) -> str:
    # Frames that follow each other differ from their places by the same number.
    runs = [
        [frame for _, frame in run]
        for _, run in itertools.groupby(enumerate(frames), key=lambda pair: pair[1] - pair[0])
    ]
    words = [f"{run[0] + 1}–{run[-1] + 1}" if run[1:] else f"{run[0] + 1}" for run in runs]
    return f"slice{'s' if len(frames) > 1 else ''} {', '.join(words)}" if words else "on no slice"


def is_solid(part: Simple) -> bool:
    """Whether a part asks for a box in the volume rather than on single slices."""
    return any(isinstance(box, WorldBox) for box in boxes_in(part))


def said_of(item: Item, answers: Mapping[str, Any]) -> dict[str, Said]:
    """A reader's answers by part, in the form in which a quiz gives them."""
    result = {}
    for name, part in parts_of(item.answer).items():
        text = str(answers.get(name, ""))
        match kind_of(part):
            case "boxes":
                boxes = read_boxes(text)
                result[name] = Said(boxes=tuple(solid_boxes(boxes) if is_solid(part) else boxes))
            case "grades":
                result[name] = Said(grades=msgspec.json.decode(text.encode(), type=dict[str, int]))
            case "frames" if text.strip().lower() in _NONE:
                result[name] = Said()
            case _:
                result[name] = Said(text=text)
    return result
