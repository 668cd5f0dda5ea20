"""SGMRI-VQA's scores once more: every matching tried in exact fractions, every way to write a box on a
picture of 500 × 400 pixels, and the weights of its parts."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from situs.score import sgmri

SIZE = (500, 400)


def iou(one, other):
    sides = [
        max(0, min(one[k] + one[k + 2], other[k] + other[k + 2]) - max(one[k], other[k]))
        for k in (0, 1)
    ]
    shared = sides[0] * sides[1]
    union = one[2] * one[3] + other[2] * other[3] - shared
    return Fraction(shared, union) if union else Fraction(0)


@pytest.mark.parametrize("seed", range(25))
def test_the_v_score_is_that_of_the_best_matching(seed: int) -> None:
    rng = random.Random(seed)

    def drawn():
        corner = rng.randrange(6), rng.randrange(6)
        return [*corner, rng.randrange(1, 6), rng.randrange(1, 6)], rng.choice([None, 1, 2])

    truth = [drawn() for _ in range(rng.randrange(1, 4))]
    said = [drawn() for _ in range(rng.randrange(1, 4))]
    framed = any(frame is not None for _, frame in truth)

    def overlap(true, other):
        apart = framed and None not in (true[1], other[1]) and true[1] != other[1]
        return Fraction(0) if apart else iou(true[0], other[0])

    table = [[overlap(true, other) for other in said] + [0] * len(truth) for true in truth]
    places = itertools.permutations(range(len(table[0])), len(truth))
    best = max(sum(table[row][column] for row, column in enumerate(own)) for own in places)
    found = sgmri.visual(
        "",
        [dict(zip(("x", "y", "width", "height"), box), frame=frame) for box, frame in truth],
        pred_boxes=[{"bbox": box, "frame": frame} for box, frame in said],
    )
    assert found.v_score == pytest.approx(float(best / len(truth)))
    assert found.map == pytest.approx(sum(found.f1.values()) / 3)


@pytest.mark.parametrize(
    ("width", "f1"),
    [(50, (1, 1, 1)), (49, (1, 1, 0)), (25, (1, 1, 0)), (10, (1, 0, 0)), (9, (0, 0, 0))],
)
def test_f1_counts_pairs_from_each_threshold_on(width: int, f1: tuple[int, ...]) -> None:
    """A box of 100 × 1, of which so much is marked: 2 hits of 3 boxes in all."""
    truth = [{"x": 0, "y": 0, "width": 100, "height": 1}]
    said = [{"bbox": [0, 0, width, 1]}, {"bbox": [300, 0, 5, 5]}]
    found = sgmri.visual("", truth, pred_boxes=said)
    assert list(found.f1.values()) == [pytest.approx(2 * hit / 3) for hit in f1]
    assert found.v_score == width / 100


@pytest.mark.parametrize(
    ("reply", "boxes"),
    [
        ("<bbox>[10, 20, 30, 40]</bbox>", [[None, [10, 20, 30, 40]]]),
        ("Frame 3: <bbox>[10, 20, 30, 40]</bbox>", [[3, [10, 20, 30, 40]]]),
        ("<|box_start|>(100,200),(300,400)<|box_end|>", [[None, [50, 80, 100, 80]]]),
        ("bbox(10, 20, 40, 60)", [[None, [10, 20, 30, 40]]]),
        ("(10, 20), (40, 60)", [[None, [10, 20, 30, 40]]]),
        ('{"bbox_2d": [100, 200, 500, 400]}', [[None, [100, 200, 400, 200]]]),
        ('{"bbox_2d": [100, 200, 501, 400]}', [[None, [50, 80, 200.5, 80]]]),
        ('{"x": 1, "y": 2, "width": 3, "height": 4, "frame": 5}', [[5, [1, 2, 3, 4]]]),
        ('{"x": 1, "y": 2, "width": 0, "height": 4}', []),
        ('{"x": 1, "y": 2, "width": 3, "height": 0}', []),
        (
            '{"bboxes": [{"min_x": 0.1, "min_y": 0.2, "max_x": 0.5, "max_y": 1.0, "frame": 3}]}',
            [[3, [50, 80, 200, 320]]],
        ),
        (
            '{"bboxes": [{"min_x": 0.1, "min_y": 0.2, "max_x": 0.5, "max_y": 1.1}]}',
            [[None, [0.1, 0.2, 0.4, 0.9]]],
        ),
        ("[10, 20, 40, 60]", [[None, [10, 20, 30, 40]]]),
        ("[40, 60, 20, 10]", [[None, [40, 60, 20, 10]]]),
        ("[10, 20, 10, 60]", [[None, [10, 20, 10, 60]]]),
        ("[10, 20, 30, 20]", [[None, [10, 20, 30, 20]]]),
        ("[0, 0, 500, 10]", [[None, [0, 0, 500, 10]]]),
        ("[0, 0, 1000, 10]", [[None, [0, 0, 500, 4]]]),
        ("[0, 0, 10000, 10]", [[None, [0, 0, 5000, 4]]]),
        ("[0, 0, 10001, 10]", []),
        ("[10, 20, 0, 60]", []),
        ("[10, 20, 30]", []),
    ],
)
def test_boxes_in_every_form(reply: str, boxes: list) -> None:
    found = sgmri.parse_boxes(reply, *SIZE)
    assert [frame for frame, _ in found] == [frame for frame, _ in boxes]
    assert [box for _, box in found] == [pytest.approx(box) for _, box in boxes]


def test_the_weights_of_the_ar_score() -> None:
    """Four tenths are the judge's; wording is shared equally. Equal texts have BLEU and ROUGE of 1."""
    same = "the left kidney is larger than the right one"
    assert sgmri.ar_score(same, same).ar_score == pytest.approx(1.0)
    assert sgmri.ar_score(same, same, gpt=0.5).ar_score == pytest.approx(0.4 * 0.5 + 0.6)
    with_all = sgmri.ar_score(same, same, gpt=0.0, bertscore=0.4)
    assert with_all.ar_score == pytest.approx(0.6 * (1 + 1 + 0.4) / 3)
    assert sgmri.ar_score(" ", same, gpt=1.0).ar_score == 0.0


@pytest.mark.parametrize(
    ("rates", "reference", "part"),
    [((6, 8, 7), (10, 10, 8), 0.75), ((9, 9, 9), (6, 6, 6), 1.0), ((6, 6, 6), (0, 0, 0), 0.6)],
)
def test_a_judges_part_is_a_share_of_its_rate_of_the_reference(rates, reference, part) -> None:
    assert sgmri.gpt_part(rates, reference) == pytest.approx(part)
