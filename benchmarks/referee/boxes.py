"""Answers about readers' boxes (fastMRI+), worked out again from the published tables."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Reader", "judge"]

Item = dict[str, Any]
Box = tuple[int, float, float, float, float]
"""Frame, x0, y0, x1, y1."""
NOT_JUDGED = "not judged"
_LINKS = tuple(product((0.0, 0.1, 0.25), (0, 1)))
"""DEFINITIONS, count: the whole family of linking rules, IoU and gap."""
_NO_FINDINGS = ("artifact", "normal")


class Reader:
    """What one reader's tables say of each volume."""

    def __init__(self, tables: list[Path], names: dict[str, str]) -> None:
        self.boxes: dict[str, dict[str, list[Box]]] = defaultdict(lambda: defaultdict(list))
        self.labels: dict[str, set[str]] = defaultdict(set)
        for table in tables:
            with table.open(newline="", encoding="utf-8") as stream:
                for row in csv.DictReader(stream):
                    self._add(row, names)

    def _add(self, row: dict[str, str], names: dict[str, str]) -> None:
        name = names[row["label"].strip()]
        if row["study_level"].strip().lower() == "yes":
            self.labels[row["file"]].add(name)
            return
        x, y, width, height = (float(row[key]) for key in ("x", "y", "width", "height"))
        if width > 0 and height > 0:
            # Some boxes begin a pixel outside the picture; what counts is what lies in it.
            box = (int(row["slice"]), max(0.0, x), max(0.0, y), x + width, y + height)
            boxes = self.boxes[row["file"]][name]
            if box not in boxes:
                boxes.append(box)


def judge(item: Item, reader: Reader) -> str:
    """Empty: agrees. Else what the referee makes of it."""
    rule = _RULES.get((item["task"], item["parameters"].get("ask", "")))
    if rule is None:
        return NOT_JUDGED
    boxes = reader.boxes.get(item["study_id"], {})
    frame = item["parameters"].get("frame")
    if frame is not None:
        boxes = {
            name: on
            for name, all_ in boxes.items()
            if (on := [b for b in all_ if b[0] == int(frame)])
        }
    return rule(item, boxes, reader)


Boxes = dict[str, list[Box]]


def _same(told: object, ours: object) -> str:
    return "" if told == ours else f"{ours}, not {told}"


def _detection(item: Item, boxes: Boxes, reader: Reader) -> str:
    name = item["parameters"]["finding"]
    if name in ("any", "*"):
        seen = any(not any(word in label for word in _NO_FINDINGS) for label in boxes)
    else:
        seen = bool(boxes.get(name))
    return _same(item["answer"]["value"], seen)


def _boxes(item: Item, boxes: Boxes, reader: Reader) -> str:
    ours = sorted(boxes.get(item["parameters"]["finding"], []))
    told = sorted(
        (b["frame"]["frame"], *(b["frame"][key] for key in ("x0", "y0", "x1", "y1")))
        for b in item["answer"]["boxes"]
    )
    return "" if len(told) == len(ours) and np.allclose(told, ours) else f"{ours}, not {told}"


def _frames(item: Item, boxes: Boxes, reader: Reader) -> str:
    own = boxes.get(item["parameters"]["finding"], [])
    frames = sorted({box[0] for box in own})
    if item["parameters"]["ask"] == "largest":
        areas = {f: _area([box for box in own if box[0] == f]) for f in frames}
        frames = [max(areas, key=lambda f: areas[f])]
    return _same(list(item["answer"]["frames"]), frames)


def _area(boxes: list[Box]) -> float:
    """Pixels under at least one box, painted on a grid of their edges."""
    xs = sorted({edge for b in boxes for edge in (b[1], b[3])})
    ys = sorted({edge for b in boxes for edge in (b[2], b[4])})
    total = 0.0
    for x0, x1 in pairwise(xs):
        for y0, y1 in pairwise(ys):
            if any(b[1] <= x0 and x1 <= b[3] and b[2] <= y0 and y1 <= b[4] for b in boxes):
                total += (x1 - x0) * (y1 - y0)
    return total


def _counting(item: Item, boxes: Boxes, reader: Reader) -> str:
    own = boxes.get(item["parameters"]["finding"], [])
    counts = {_linked(own, iou, gap) for iou, gap in _LINKS}
    told = item["answer"]["value"]
    return "" if counts == {told} else f"{sorted(counts)}, not {told}"


def _linked(boxes: list[Box], iou: float, gap: int) -> int:
    group = list(range(len(boxes)))
    for i, a in enumerate(boxes):
        for j, b in enumerate(boxes):
            if 1 <= b[0] - a[0] <= gap + 1 and _iou(a, b) > iou:
                old, new = group[j], group[i]
                group = [new if number == old else number for number in group]
    return len(set(group))


def _iou(a: Box, b: Box) -> float:
    width = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    height = max(0.0, min(a[4], b[4]) - max(a[2], b[2]))
    both = (a[3] - a[1]) * (a[4] - a[2]) + (b[3] - b[1]) * (b[4] - b[2])
    return width * height / (both - width * height)


def _several(item: Item, boxes: Boxes, reader: Reader) -> str:
    offered = {option["value"] for option in item["options"]}
    return _same(set(item["answer"]["values"]), offered & set(boxes))


def _one(item: Item, boxes: Boxes, reader: Reader) -> str:
    offered = {option["value"] for option in item["options"]}
    return _same({item["answer"]["value"]}, offered & set(boxes))


def _at_mark(item: Item, boxes: Boxes, reader: Reader) -> str:
    mark = next(
        b["frame"] for b in item["boxes"] if (b["frame"] or {}).get("label", "").startswith("mark:")
    )
    x, y = mark["x0"], mark["y0"]
    here = {
        name
        for name, own in boxes.items()
        if any(b[0] == mark["frame"] and b[1] <= x <= b[3] and b[2] <= y <= b[4] for b in own)
    }
    offered = {option["value"] for option in item["options"]}
    return _same({item["answer"]["value"]}, offered & here)


def _study(item: Item, boxes: Boxes, reader: Reader) -> str:
    labels = reader.labels.get(item["study_id"], set())
    if item["form"] == "yes_no":
        return _same(item["answer"]["value"], item["parameters"]["finding"] in labels)
    offered = {option["value"] for option in item["options"]}
    return _same({item["answer"]["value"]}, offered & labels)


def _caption(item: Item, boxes: Boxes, reader: Reader) -> str:
    """Every number of frames or places that the reference gives."""
    ours: list[int] = []
    for own in boxes.values():
        ours.append(len(own) if "frame" in item["parameters"] else len({box[0] for box in own}))
    text = item["answer"]["references"][0]
    told = [int(number) for number in re.findall(r"(\d+) (?:frame|place)", text)]
    left = list(ours)
    for number in told:
        if number not in left:
            return f"{sorted(ours)}, not {told}"
        left.remove(number)
    return ""


_RULES: dict[tuple[str, str], Callable[[Item, Boxes, Reader], str]] = {
    ("detection", ""): _detection,
    ("localization", "boxes"): _boxes,
    ("localization", "frames"): _frames,
    ("localization", "range"): _frames,
    ("localization", "largest"): _frames,
    ("counting", ""): _counting,
    ("classification", "several"): _several,
    ("classification", "one"): _one,
    ("diagnosis", "kind"): _one,
    ("diagnosis", "mark"): _at_mark,
    ("diagnosis", "study"): _study,
    ("diagnosis", "study_yes_no"): _study,
    ("captioning", ""): _caption,
}
