"""Scores of boxes once more, by counting pixels and trying every matching, for small boxes on whole
pixels: edges that touch, centres on an edge and thresholds that are just reached occur there all the
time."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from situs.items import Boxes, Item
from situs.score.metrics.box_batch import match_boxes
from situs.score.metrics.box_layers import union_area
from situs.score.metrics.boxes import (
    BOX_CENTRE_HIT,
    BOX_F1,
    BOX_FRAME_F1,
    BOX_FRAME_IOU,
    BOX_MEAN_IOU,
    BOX_PANOPTIC,
    BOX_PRICED_IOU,
    BOX_TUBE_IOU,
    Matches,
)
from situs.score.metrics.registry import Given
from situs.space import FrameBox


def pixels(boxes):
    """The unit squares that boxes cover, picture by picture and label by label."""
    return {
        (box.frame, box.label, x, y)
        for box in boxes
        for x in range(int(box.x0), int(box.x1))
        for y in range(int(box.y0), int(box.y1))
    }


def share(some, of):
    return Fraction(len(some), len(of)) if of else Fraction(0)


def iou(one, other):
    return share(pixels([one]) & pixels([other]), pixels([one]) | pixels([other]))


def holds_centre(true, said):
    x, y = (said.x0 + said.x1) / 2, (said.y0 + said.y1) / 2
    same = (true.frame, true.label) == (said.frame, said.label)
    return same and true.x0 <= x <= true.x1 and true.y0 <= y <= true.y1


def matchings(truth, said):
    """Every way to give true boxes different said ones, or none."""
    padded = [*said, *[None] * len(truth)]
    for chosen in set(itertools.permutations(range(len(padded)), len(truth))):
        pairs = [(true, padded[k]) for true, k in zip(truth, chosen)]
        yield [(true, other) for true, other in pairs if other is not None]


def f1(shared, truth, said):
    return 2 * Fraction(shared) / (len(truth) + len(said)) if truth or said else Fraction(1)


def defined(truth, said):
    """Every score of one answer."""
    sums = [[iou(*pair) for pair in pairs] for pairs in matchings(truth, said)]
    reached = {
        t: max(
            (len(over), sum(over))
            for one in sums
            for over in [[value for value in one if value >= Fraction(t) and value > 0]]
        )
        for t in BOX_F1
    }
    best = max(map(sum, sums))
    inside = max(sum(holds_centre(*pair) for pair in pairs) for pairs in matchings(truth, said))
    true_places, said_places = ({(box.frame, box.label) for box in own} for own in (truth, said))
    either = pixels(truth) | pixels(said)
    empty = Fraction(not said)
    return {
        BOX_TUBE_IOU: share(pixels(truth) & pixels(said), either) if truth or said else 1,
        BOX_PANOPTIC: 2 * reached[0.5][1] / Fraction(len(truth) + len(said))
        if truth or said
        else 1,
        BOX_MEAN_IOU: best / len(truth) if truth else empty,
        BOX_PRICED_IOU: Fraction(best) / max(len(truth), len(said)) if truth else empty,
        BOX_CENTRE_HIT: f1(inside, truth, said),
        BOX_FRAME_F1: f1(len(true_places & said_places), true_places, said_places),
        BOX_FRAME_IOU: share(true_places & said_places, true_places | said_places)
        if truth or said
        else 1,
        **{name: f1(reached[t][0], truth, said) for t, name in BOX_F1.items()},
    }


def scored(truth, said):
    alone = Matches(truth, said)
    return {
        BOX_TUBE_IOU: alone.tube_iou,
        BOX_PANOPTIC: alone.panoptic_quality(),
        BOX_MEAN_IOU: alone.mean_iou(),
        BOX_PRICED_IOU: alone.priced_iou(),
        BOX_CENTRE_HIT: alone.centre_f1(),
        BOX_FRAME_F1: alone.frame_f1(),
        BOX_FRAME_IOU: alone.frame_iou(),
        **{name: alone.f1_at(t) for t, name in BOX_F1.items()},
    }


def drawn(rng, most, labels):
    boxes = []
    for _ in range(rng.randint(0, most)):
        x, y = rng.randrange(4), rng.randrange(4)
        sides = rng.choice([0, 1, 2, 2, 4, 4]), rng.choice([1, 2, 2, 4])
        boxes.append(
            FrameBox(rng.randrange(2), x, y, x + sides[0], y + sides[1], rng.choice(labels))
        )
    return boxes


def cases(seed, count, most):
    rng = random.Random(seed)
    labels = [["tear"], ["effusion", "tear"]]
    return [(drawn(rng, most, own), drawn(rng, most, own)) for own in rng.choices(labels, k=count)]


@pytest.mark.parametrize(("most", "count"), [(1, 60), (2, 80), (3, 60)])
def test_an_answer_by_itself(most: int, count: int) -> None:
    for truth, said in cases(most, count, most):
        assert scored(truth, said) == pytest.approx(
            {name: float(value) for name, value in defined(truth, said).items()}
        ), (truth, said)


class OnFrames:
    """Boxes that are given on their pictures."""

    def boxes(self, item, boxes):
        return list(boxes)


def test_many_answers_at_once() -> None:
    """Those with two boxes on one picture are left alone; labels are compared by name, where several
    are asked for."""
    rows = cases(9, 150, 2)
    given = []
    for number, (truth, said) in enumerate(rows):
        answer = Boxes(tuple(truth))
        item = Item(f"i{number}", "s", "mr", "p", "t", "boxes", "?", answer)
        given.append(Given(item, answer, said, OnFrames()))
    values = match_boxes(given, [0.5] * len(given)).values
    compared = 0
    for row, one in enumerate(given):
        if math.isnan(values[BOX_TUBE_IOU][row]):
            continue
        compared += 1
        true, told = list(one.true_boxes), list(one.said_boxes)
        expected = {name: float(value) for name, value in defined(true, told).items()}
        assert {name: values[name][row] for name in expected} == pytest.approx(expected)
    assert compared > 60


def test_the_area_of_a_union_is_what_its_pixels_count() -> None:
    rng = random.Random(4)
    for _ in range(60):
        boxes = [FrameBox(0, b.x0, b.y0, b.x1, b.y1, "") for b in drawn(rng, 6, [""])]
        sides = np.array([(b.x0, b.y0, b.x1, b.y1) for b in boxes], dtype=float).reshape(-1, 4)
        assert union_area(sides) == len(pixels(boxes))


@pytest.mark.parametrize("step", [(2, 0), (-2, 0), (0, 2), (0, -2)])
def test_a_centre_on_any_side_lies_inside(step: tuple[int, int]) -> None:
    truth = [FrameBox(0, 4, 4, 8, 8, "")]
    said = [FrameBox(0, 4 + step[0], 4 + step[1], 8 + step[0], 8 + step[1], "")]
    answer = Boxes(tuple(truth))
    item = Item("i", "s", "mr", "p", "t", "boxes", "?", answer)
    values = match_boxes([Given(item, answer, said, OnFrames())], [0.5]).values
    assert values[BOX_CENTRE_HIT].tolist() == [1.0] == [scored(truth, said)[BOX_CENTRE_HIT]]
