"""Boxes linked into findings by stated rules."""

from __future__ import annotations

import numpy as np
import pytest

from situs.facts import link, stable_count
from situs.facts.boxes.tubes import overlap
from situs.space import FrameBox


def box(frame: int, x: float, width: float = 10.0, y: float = 0.0) -> FrameBox:
    return FrameBox(frame, x, y, x + width, y + 10.0, "mass")


def test_overlap_is_the_union_formula() -> None:
    assert overlap(box(0, 0.0), box(1, 5.0)) == pytest.approx(50.0 / 150.0)
    assert overlap(box(0, 0.0), box(1, 10.0)) == 0.0


@pytest.mark.parametrize(
    ("boxes", "iou", "gap", "count"),
    [
        ([box(0, 0.0), box(1, 5.0)], 0.0, 0, 1),
        ([box(0, 0.0), box(1, 5.0)], 0.33, 0, 1),
        ([box(0, 0.0), box(1, 5.0)], 1.0 / 3.0, 0, 2),  # more than the threshold, not equal to it
        ([box(0, 0.0), box(1, 10.0)], 0.0, 0, 2),  # edges touch: no area is shared
        ([box(0, 0.0), box(2, 0.0)], 0.0, 0, 2),
        ([box(0, 0.0), box(2, 0.0)], 0.0, 1, 1),
        ([box(0, 0.0), box(3, 0.0)], 0.0, 1, 2),
        ([box(0, 0.0), box(0, 5.0)], 0.0, 1, 2),  # one frame: never linked directly
        ([box(0, 0.0), box(0, 12.0), box(1, 6.0)], 0.0, 0, 1),  # but through a neighbour
        (
            [box(0, 0.0), box(1, 8.0), box(2, 16.0)],
            0.0,
            0,
            1,
        ),  # a chain that drifts away from its start
    ],
)
def test_rules(boxes: list[FrameBox], iou: float, gap: int, count: int) -> None:
    assert len(link(boxes, iou, gap)) == count


def test_a_tube_knows_its_extent_and_hull() -> None:
    (tube,) = link([box(4, 0.0), box(5, 5.0), box(6, 8.0, y=2.0)], 0.0, 0)
    assert (tube.first, tube.last, tube.hull) == (4, 6, (0.0, 0.0, 18.0, 12.0))


def test_a_count_is_stable_only_if_every_rule_gives_it() -> None:
    rules = ((0.0, 0.1, 0.25), (0, 1))
    assert stable_count([box(0, 0.0), box(1, 1.0)], *rules) == (1, 1)
    assert stable_count([box(0, 0.0), box(2, 0.0)], *rules) == (1, 2)
    assert stable_count([box(0, 0.0), box(1, 9.0)], *rules) == (1, 2)  # IoU 1/19, between 0 and 0.1


def test_a_reversed_volume_gives_reversed_tubes() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        boxes = {
            box(int(f), float(x), float(w))
            for f, x, w in rng.integers((0, 0, 3), (9, 60, 25), size=(20, 3))
        }
        back = {b: FrameBox(8 - b.frame, b.x0, b.y0, b.x1, b.y1, b.label) for b in boxes}
        for iou, gap in ((0.0, 0), (0.1, 1)):
            forward = {frozenset(back[b] for b in tube.boxes) for tube in link(boxes, iou, gap)}
            assert forward == {frozenset(tube.boxes) for tube in link(back.values(), iou, gap)}
