"""Boxes of many answers at once score what each scores by itself, to the last bit."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from situs.items import Box, Boxes, Item
from situs.profiles import Layout, layout_of, load_profile
from situs.score.compound.parts import boxes_right, least_overlap
from situs.score.metrics.box_batch import match_boxes
from situs.score.metrics.boxes import (
    BOX_CENTRE_HIT,
    BOX_CENTRE_HIT_3D,
    BOX_F1,
    BOX_FRAME_F1,
    BOX_FRAME_IOU,
    BOX_HIT_3D,
    BOX_IOU_3D,
    BOX_MEAN_IOU,
    BOX_PANOPTIC,
    BOX_PRICED_IOU,
    BOX_TUBE_IOU,
    Matches,
    Solids,
)
from situs.score.metrics.registry import Given
from situs.space import Affine, FrameBox, Grid, WorldBox

LABELS = ("bone lesion", "joint effusion", "meniscus tear")


class Shown:
    """The pictures of one series."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def layout(self, item: Item) -> Layout:
        return self._layout

    def boxes(self, item: Item, boxes: Sequence[Box]) -> list[FrameBox]:
        return [box for box in self._layout.shown_boxes(boxes) if box.area > 0]


def series(rng: random.Random, *, oblique: bool = False) -> Shown:
    """Pictures along the patient's axes in any order and direction, or oblique to them."""
    matrix = np.zeros((4, 4))
    for column, axis in enumerate(rng.sample(range(3), 3)):
        matrix[axis, column] = rng.choice([-1, 1]) * rng.uniform(0.3, 4.0)
    matrix[:3, 3] = [rng.uniform(-90, 90) for _ in range(3)]
    matrix[3, 3] = 1.0
    if oblique:
        turn = np.eye(4)
        turn[:2, :2] = [[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]]
        matrix = turn @ matrix
    return Shown(layout_of(load_profile("full-stack"), Grid((24, 30, 18), Affine(matrix))))


def boxes_on(rng: random.Random, count: int, labels: Sequence[str]) -> list[FrameBox]:
    """Boxes with sides of many digits,
    some of them without extent or on pictures that were not shown."""
    found = []
    for _ in range(count):
        x0, y0 = rng.uniform(0, 15), rng.uniform(0, 15)
        x1, y1 = x0 + rng.choice([0.0, rng.uniform(0, 9)]), y0 + rng.uniform(0, 9)
        found.append(FrameBox(rng.randrange(60), x0, y0, x1, y1, rng.choice(labels)))
    return found


def near(rng: random.Random, boxes: Sequence[FrameBox]) -> list[FrameBox]:
    """About where others lie: some left out, some moved."""
    return [
        FrameBox(b.frame, b.x0, b.y0, b.x1 + rng.choice([0.0, 0.7]), b.y1, b.label)
        for b in boxes
        if rng.random() < 0.8
    ]


def answers(rng: random.Random, count: int, *, solid: bool, oblique: bool = False) -> list[Given]:
    given = []
    for number in range(count):
        labels = LABELS[: rng.randint(1, 3)]
        shown = series(rng, oblique=oblique)
        truth: list[Box] = [*boxes_on(rng, rng.randint(0, 7), labels)]
        if solid:
            corner = shown.layout(None).lattice.affine @ [12.0, 15.0, 9.0, 1.0]
            truth = []
            for label in labels[: rng.randint(1, 3)]:
                low = corner[:3] + [rng.uniform(-9, 3) for _ in range(3)]
                high = low + [rng.uniform(0, 12) for _ in range(3)]
                truth.append(WorldBox(tuple(low), tuple(high), label))
        tags = ("approximate",) if rng.random() < 0.3 else ()
        answer = Boxes(tuple(truth))
        item = Item(f"i{number}", "s", "mr", "p", "t", "boxes", "?", answer, tags=tags)
        close = near(rng, shown.boxes(item, truth))
        said = [*close, *boxes_on(rng, rng.choice([0, 0, 2]), labels)]
        given.append(Given(item, answer, said, shown))
    return given


@pytest.mark.parametrize("kind", ["on frames", "in mm", "oblique"])
def test_many_answers_score_what_each_does(kind: str) -> None:
    rng = random.Random(kind)
    batch = answers(rng, 120, solid=kind != "on frames", oblique=kind == "oblique")
    found = match_boxes(batch, [least_overlap(given.item) for given in batch])
    matched = [row for row, right in enumerate(found.right) if right is not None]
    assert 60 < len(matched) < 120, "some have two boxes on one picture, and are left alone"
    values = {name: column.tolist() for name, column in found.values.items()}
    for row, (given, right) in enumerate(zip(batch, found.right)):
        if right is None:
            assert math.isnan(values[BOX_TUBE_IOU][row])
            continue
        true, said = list(given.true_boxes), list(given.said_boxes)
        alone = Matches(true, said)
        assert right is boxes_right(given.item, true, said)
        expected = {
            BOX_TUBE_IOU: alone.tube_iou,
            BOX_PANOPTIC: alone.panoptic_quality(),
            BOX_MEAN_IOU: alone.mean_iou(),
            BOX_PRICED_IOU: alone.priced_iou(),
            BOX_CENTRE_HIT: alone.centre_f1(),
            BOX_FRAME_F1: alone.frame_f1(),
            BOX_FRAME_IOU: alone.frame_iou(),
            **{name: alone.f1_at(threshold) for threshold, name in BOX_F1.items()},
        }
        assert {name: values[name][row] for name in expected} == expected
    assert (BOX_IOU_3D in values) == (kind == "in mm")
    for row, given in enumerate(batch if kind == "in mm" else []):
        solid = Solids(given)
        expected = {
            BOX_IOU_3D: solid.iou(),
            BOX_CENTRE_HIT_3D: solid.centre_hit(),
            **{name: solid.hit_at(threshold) for threshold, name in BOX_HIT_3D.items()},
        }
        assert {name: values[name][row] for name in expected} == expected
    assert len({values[BOX_TUBE_IOU][row] for row in matched}) > 30, "the cases differ"


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("direction", [-1, 1])
def test_a_centre_on_the_border_lies_inside(axis: int, direction: int) -> None:
    """Cubes of 4 mm on voxels of 1 mm: moved by 2 mm they overlap by half, a third of the union.

    The second answer says nothing of what is asked about.
    """
    shown = Shown(layout_of(load_profile("full-stack"), Grid((16, 16, 16), Affine(np.eye(4)))))
    step = direction * 2.0 * np.eye(3)[axis]
    low, high = np.full(3, 5.5), np.full(3, 9.5)
    truth = Boxes((WorldBox(tuple(low), tuple(high), "tear"),))
    item = Item("i", "s", "mr", "p", "t", "boxes", "?", truth)
    moved = shown.boxes(item, [WorldBox(tuple(low + step), tuple(high + step), "tear")])
    given = [Given(item, truth, said, shown) for said in (moved, [], moved[:0])]
    values = match_boxes(given, [0.5] * 3).values
    assert values[BOX_CENTRE_HIT_3D].tolist() == [1.0, 0.0, 0.0]
    assert values[BOX_IOU_3D].tolist() == pytest.approx([1 / 3, 0.0, 0.0])
    assert (Solids(given[0]).centre_hit(), Solids(given[0]).iou()) == (1.0, pytest.approx(1 / 3))
    assert [values[name].tolist() for name in BOX_HIT_3D.values()] == [
        [float(threshold <= 1 / 3), 0.0, 0.0] for threshold in BOX_HIT_3D
    ]
