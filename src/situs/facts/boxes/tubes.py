"""Findings in three dimensions: boxes of one label on neighbouring frames,
linked into tubes by stated rules."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from situs.space import FrameBox

__all__ = ["Tube", "link", "overlap", "stable_count"]


class Tube(msgspec.Struct, frozen=True):
    """One finding: its boxes, frame by frame."""

    boxes: tuple[FrameBox, ...]

    @property
    def first(self) -> int:
        """The first frame it is on."""
        return min(box.frame for box in self.boxes)

    @property
    def last(self) -> int:
        """The last frame it is on."""
        return max(box.frame for box in self.boxes)

    @property
    def hull(self) -> tuple[float, float, float, float]:
        """The smallest box around all its boxes: x0, y0, x1, y1."""
        return (
            min(box.x0 for box in self.boxes),
            min(box.y0 for box in self.boxes),
            max(box.x1 for box in self.boxes),
            max(box.y1 for box in self.boxes),
        )


def overlap(a: FrameBox, b: FrameBox) -> float:
    """Intersection over union of two boxes, whatever their frames."""
    return a.iou(msgspec.structs.replace(b, frame=a.frame))


def link(boxes: Iterable[FrameBox], iou: float, gap: int) -> list[Tube]:
    """Tubes of one label: two boxes belong together if at most `gap` frames lie between theirs and
    they overlap by more than `iou`, or if a chain of such pairs joins them. Boxes of one frame are
    never linked directly.

    The rule is symmetric in the order of frames: a reversed volume gives the reversed tubes.
    """
    by_frame: dict[int, list[FrameBox]] = defaultdict(list)
    for box in boxes:
        by_frame[box.frame].append(box)
    root: dict[FrameBox, FrameBox] = {box: box for members in by_frame.values() for box in members}

    def find(box: FrameBox) -> FrameBox:
        while root[box] != box:
            root[box] = root[root[box]]
            box = root[box]
        return box

    for frame, members in by_frame.items():
        for step in range(1, gap + 2):
            for a, b in itertools.product(members, by_frame.get(frame + step, ())):
                if overlap(a, b) > iou:
                    root[find(b)] = find(a)
    tubes: dict[FrameBox, list[FrameBox]] = defaultdict(list)
    for box in root:
        tubes[find(box)].append(box)
    ordered = [tuple(sorted(tube_boxes, key=_key)) for tube_boxes in tubes.values()]
    return [
        Tube(tube_boxes)
        for tube_boxes in sorted(ordered, key=lambda tube_boxes: _key(tube_boxes[0]))
    ]


def _key(box: FrameBox) -> tuple[float, ...]:
    return box.frame, box.x0, box.y0, box.x1, box.y1


def stable_count(
    boxes: Sequence[FrameBox], ious: Sequence[float], gaps: Sequence[int]
) -> tuple[int, int]:
    """Fewest and most findings over the whole family of rules;
    equal if the count does not depend on the rule."""
    counts = [len(link(boxes, iou, gap)) for iou in ious for gap in gaps]
    return min(counts), max(counts)
