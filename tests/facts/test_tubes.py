"""Boxes on neighbouring frames become findings: overlap by counting pixels, links by following
them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from situs.facts.boxes.tubes import Tube, link, overlap, stable_count
from situs.space import FrameBox


def drawn(seed: int, count: int = 9) -> list[FrameBox]:
    rng = np.random.default_rng(seed)
    boxes = set()
    while len(boxes) < count:
        frame, x, y = (int(v) for v in rng.integers(0, 6, size=3))
        width, height = (int(v) for v in rng.integers(1, 6, size=2))
        boxes.add(FrameBox(frame, x, y, x + width, y + height, "tear"))
    return sorted(boxes, key=lambda b: (b.frame, b.x0, b.y0, b.x1, b.y1))


def pixels(box: FrameBox) -> set[tuple[int, int]]:
    return set(itertools.product(range(int(box.x0), int(box.x1)), range(int(box.y0), int(box.y1))))


def findings(boxes: list[FrameBox], iou: float, gap: int) -> list[list[FrameBox]]:
    """Groups grown box by box until nothing more is linked to them."""
    left, groups = list(boxes), []
    while left:
        group = [left.pop(0)]
        for own in group:
            for other in list(left):
                one, two = pixels(own), pixels(other)
                between = abs(own.frame - other.frame) - 1
                if 0 <= between <= gap and len(one & two) > iou * len(one | two):
                    group.append(other)
                    left.remove(other)
        groups.append(sorted(group, key=boxes.index))
    return groups


@pytest.mark.parametrize("seed", range(10))
def test_boxes_are_linked_by_overlap_over_few_frames(seed: int) -> None:
    boxes = drawn(seed)
    for a, b in itertools.combinations(boxes, 2):
        one, two = pixels(a), pixels(b)
        assert overlap(a, b) == overlap(b, a) == pytest.approx(len(one & two) / len(one | two))
    counts = []
    for iou, gap in itertools.product((0.0, 0.25), (0, 1)):
        expected = findings(boxes, iou, gap)
        tubes = link(boxes, iou, gap)
        assert [list(tube.boxes) for tube in tubes] == expected
        counts.append(len(expected))
        for tube in tubes:
            assert (tube.first, tube.last) == (tube.boxes[0].frame, tube.boxes[-1].frame)
            inside = set().union(*(pixels(box) for box in tube.boxes))
            xs, ys = zip(*inside)
            assert tube.hull == (min(xs), min(ys), max(xs) + 1, max(ys) + 1)
    assert stable_count(boxes, (0.0, 0.25), (0, 1)) == (min(counts), max(counts))


def test_an_overlap_of_just_the_limit_links_nothing() -> None:
    """Two of eight pixels are shared: a quarter."""
    a, b = FrameBox(0, 0, 0, 5, 1, "tear"), FrameBox(1, 3, 0, 8, 1, "tear")
    assert overlap(a, b) == 0.25
    assert [len(link([a, b], iou, 0)) for iou in (0.25, 0.2499)] == [2, 1]


def test_boxes_without_an_area_overlap_nothing() -> None:
    empty, box = FrameBox(0, 2, 2, 2, 5, "tear"), FrameBox(1, 0, 0, 5, 5, "tear")
    assert overlap(empty, empty) == overlap(empty, box) == 0.0
    assert isinstance(link([empty, box], 0.0, 0)[0], Tube)
