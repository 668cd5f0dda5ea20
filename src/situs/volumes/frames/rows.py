"""One row of an annotation file, and the dirt that such rows really carry."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from situs.errors import Problem, Severity
from situs.space import FrameBox
from situs.volumes.frames.annotations import Mark
from situs.volumes.limits import MAX_DIM

__all__ = ["SAME_BOX_IOU", "BadRow", "BoxRow", "box_of", "dirt", "volume_name"]

SAME_BOX_IOU = 0.8
"""Two boxes of one frame that overlap so much were drawn around the same thing."""
_IMAGES = (".h5", ".hdf5", ".nii.gz", ".nii")


class BoxRow(msgspec.Struct, frozen=True):
    """A row as it was read: a box on a frame,
    or a label of the whole study (then without frame and corner)."""

    where: str
    """File and line."""
    volume: str
    label: str
    """As it is spelt."""
    name: str
    frame: int | None = None
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    patient: str = ""

    @property
    def place(self) -> tuple[str, int | None, float, float, float, float]:
        """Volume, frame and box, whatever the label."""
        return self.volume, self.frame, self.x, self.y, self.width, self.height

    def fault(self) -> str:
        """What makes the row unreadable, if anything."""
        if self.frame is None:
            return ""
        if not 0 <= self.frame <= MAX_DIM:
            return f"frame {self.frame} is not between 0 and {MAX_DIM}"
        if not all(
            math.isfinite(v) and abs(v) <= MAX_DIM
            for v in (self.x, self.y, self.width, self.height)
        ):
            return f"a box that is not finite, or beyond {MAX_DIM} pixels"
        return ""

    @property
    def empty(self) -> bool:
        """Whether the box has no extent."""
        return self.frame is not None and (self.width <= 0 or self.height <= 0)

    @property
    def outside(self) -> bool:
        """Whether the box leaves the picture at its left or upper edge,
        which can be told without the image."""
        return self.frame is not None and (self.x < 0 or self.y < 0)


class BadRow(msgspec.Struct, frozen=True):
    """A row that cannot be read, and what can still be told of it."""

    where: str
    """File and line."""
    problem: str
    volume: str = ""
    """Empty if it names none: it may then be about any."""
    mark: Mark = Mark(-1, "")


def volume_name(text: str) -> str:
    """A volume's name, from that or from the name of its image file."""
    name = text.strip()
    suffix = next((suffix for suffix in _IMAGES if name.lower().endswith(suffix)), "")
    return name[: -len(suffix)] if 0 < len(suffix) < len(name) else name


def box_of(row: BoxRow) -> FrameBox | None:
    """The row's box, cut at the left and upper edge of the picture; None if nothing is left."""
    if row.frame is None or row.empty:
        return None
    x1, y1 = row.x + row.width, row.y + row.height
    if x1 <= 0 or y1 <= 0:
        return None
    return FrameBox(row.frame, max(0.0, row.x), max(0.0, row.y), x1, y1, row.name)


def dirt(rows: list[BoxRow], exact: Iterable[bool]) -> Iterator[Problem]:
    """Every piece of dirt, each with file and line;
    `exact` says of each row's label whether it is spelt as usual."""
    seen: dict[tuple[object, ...], str] = {}
    study_labels: dict[str, str] = {}
    on_frame: dict[tuple[str, int], list[tuple[BoxRow, FrameBox]]] = defaultdict(list)
    spelt: Counter[str] = Counter()
    first: dict[str, str] = {}
    for row, usual in zip(rows, exact):
        key = (*row.place, row.label)
        if key in seen:
            yield _warning("duplicate", row, f"the same row as {seen[key]}", "it is used once")
            continue
        seen[key] = row.where
        if not usual:
            spelt[row.label] += 1
            first.setdefault(row.label, row.where)
        if row.frame is None and row.volume in study_labels:
            text = (
                "a second label of the whole study, at the same (empty) place as"
                f" {study_labels[row.volume]}"
            )
            yield _warning("two-study-labels", row, text, "both labels are used")
        elif row.frame is None:
            study_labels[row.volume] = row.where
        if row.empty:
            yield _warning(
                "zero-size",
                row,
                f"a box of {row.width:g} × {row.height:g} pixels",
                "it is left out",
            )
            continue
        box = box_of(row)
        if row.outside:
            text = f"a box at {row.x:g}, {row.y:g} leaves the picture"
            yield _warning(
                "outside", row, text, "it is left out" if box is None else "it is cut at the edge"
            )
        if box is None or row.frame is None:
            continue
        for other, drawn in on_frame[row.volume, row.frame]:
            if other.name != row.name and box.iou(drawn) >= SAME_BOX_IOU:
                text = f"(nearly) the same box as {other.where} under another label"
                yield _warning("two-labels", row, text, "both labels are used")
        on_frame[row.volume, row.frame].append((row, box))
    for raw, count in spelt.items():
        text = f"label {raw!r} has odd spacing or punctuation ({count} rows)"
        yield Problem(Severity.WARNING, "label", first[raw], text, "it is cleaned up")


def _warning(code: str, row: BoxRow, problem: str, fix: str) -> Problem:
    return Problem(Severity.WARNING, code, row.where, problem, fix)
