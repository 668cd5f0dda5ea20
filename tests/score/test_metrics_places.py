"""Scores of boxes, sets and grades against brute force and formulas written another way."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from situs.items import Boxes, Item
from situs.score import (
    centre_f1,
    ends_within_one,
    f1_at,
    frame_f1,
    frame_iou,
    macro_f1,
    mean_iou,
    panoptic_quality,
    presence_sensitivity,
    presence_specificity,
    quadratic_kappa,
    same_labels,
    set_f1,
    set_iou,
    tube_iou,
)
from situs.score.metrics.grades import GradeTables
from situs.score.metrics.registry import Given, metrics_of
from situs.score.stats.resamples import Samples, every
from situs.space import FrameBox

SIDE = 24


def grade_table(truths: list[int], said: list[int | None]) -> np.ndarray:
    """Counts by true grade (rows) and said grade (columns); the last column holds the unanswered."""
    none = np.zeros(len(said), dtype=np.int64)
    told = np.array([-1 if one is None else one for one in said], dtype=np.int64)
    return GradeTables(none, np.array(truths, dtype=np.int64), told, none, 1).counts(every(1))[0, 0]


def some_boxes(rng: random.Random, count: int) -> list[FrameBox]:
    result = []
    for _ in range(count):
        x0, x1 = sorted(rng.sample(range(SIDE + 1), 2))
        y0, y1 = sorted(rng.sample(range(SIDE + 1), 2))
        result.append(FrameBox(rng.randrange(2), x0, y0, x1, y1, rng.choice("ab")))
    return result


def test_boxes_are_laid_out_anew_when_their_list_has_changed() -> None:
    true = some_boxes(random.Random(0), 3)
    many = some_boxes(random.Random(1), 40)
    tube_iou(true, many)
    many[:20] = some_boxes(random.Random(2), 20)
    assert tube_iou(true, many) == tube_iou(true, list(many))


def raster(boxes: list[FrameBox]) -> np.ndarray:
    """Label × frame × y × x: what the boxes cover, pixel by pixel."""
    covered = np.zeros((2, 2, SIDE, SIDE), dtype=bool)
    for box in boxes:
        covered[
            "ab".index(box.label), box.frame, int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)
        ] = True
    return covered


def raster_iou(a: FrameBox, b: FrameBox) -> float:
    one, other = raster([a]), raster([b])
    return (one & other).sum() / (one | other).sum()


CASES = [(seed, seed % 4, (seed * 7) % 5) for seed in range(60)]


@pytest.mark.parametrize(("seed", "true", "said"), CASES)
def test_tube_iou_is_that_of_the_pixels(seed, true, said) -> None:
    rng = random.Random(seed)
    truth, told = some_boxes(rng, true + 1), some_boxes(rng, said)
    one, other = raster(truth), raster(told)
    assert tube_iou(truth, told) == pytest.approx(
        (one & other).sum() / (one | other).sum(), abs=1e-12
    )


def matchings(true: int, said: int):
    """Every one-to-one matching of as many pairs as possible."""
    if true <= said:
        yield from ([*enumerate(picked)] for picked in itertools.permutations(range(said), true))
    else:
        yield from (
            [(t, s) for s, t in enumerate(picked)]
            for picked in itertools.permutations(range(true), said)
        )


@pytest.mark.parametrize(("seed", "true", "said"), CASES)
def test_matching_is_the_best_of_all(seed, true, said) -> None:
    rng = random.Random(seed)
    truth, told = some_boxes(rng, true + 1), some_boxes(rng, said)
    overlaps = [[raster_iou(t, s) for s in told] for t in truth]
    every = [[overlaps[t][s] for t, s in pairs] for pairs in matchings(len(truth), len(told))]
    for at in (0.1, 0.25, 0.5):
        best = max((sum(value >= at for value in values) for values in every), default=0)
        assert f1_at(truth, told, at) == pytest.approx(2 * best / (len(truth) + len(told)))
    best = max((sum(values) for values in every), default=0.0)
    assert mean_iou(truth, told) == pytest.approx(best / len(truth))
    # The most pairs from .5 up, and among these the largest sum.
    ranked = max(
        ((sum(v >= 0.5 for v in vs), sum(v for v in vs if v >= 0.5)) for vs in every),
        default=(0, 0.0),
    )
    hits, total = ranked
    parts = hits + 0.5 * (len(told) - hits) + 0.5 * (len(truth) - hits)
    assert panoptic_quality(truth, told) == pytest.approx(total / parts)


def test_by_hand() -> None:
    truth = [FrameBox(0, 0, 0, 10, 10), FrameBox(1, 0, 0, 10, 10)]
    told = [FrameBox(0, 0, 0, 10, 5), FrameBox(2, 0, 0, 10, 10)]
    assert f1_at(truth, told, 0.5) == 0.5
    assert f1_at(truth, told, 0.51) == 0.0
    assert panoptic_quality(truth, told) == 0.25
    assert frame_f1(truth, told) == 0.5
    assert frame_iou(truth, told) == pytest.approx(1 / 3)
    assert tube_iou(truth, told) == pytest.approx(50 / 300)
    assert centre_f1(truth, told) == 0.5
    assert mean_iou(truth, told) == 0.25


def box_metrics(truth: list[FrameBox], said: list[FrameBox]) -> dict[str, float]:
    """Every metric of boxes on pictures, as an answer gets them."""
    item = Item("i", "s", "mr", "p", "localization", "boxes", "?", Boxes(()))
    given = Given(item, item.answer, said, boxes=(truth, said))
    solid = ("box.iou-3d@1", "box.hit-3d", "box.centre-hit-3d@1")
    own = [one for one in metrics_of(Boxes) if not one.id.startswith(solid)]
    return {one.id: one.of_answer(given) for one in own if one.of_answer is not None}


def test_nothing_to_be_found() -> None:
    box = [FrameBox(0, 0, 0, 5, 5)]
    assert set(box_metrics([], []).values()) == {1.0}
    assert set(box_metrics([], box).values()) == {0.0}
    assert set(box_metrics(box, []).values()) == {0.0}
    assert set(box_metrics(box, box).values()) == {1.0}


def test_a_grid_wins_only_where_precision_does_not_count() -> None:
    truth = [FrameBox(0, 40, 40, 60, 60)]
    grid = [FrameBox(0, x, y, x + 20, y + 20) for x in range(0, 200, 20) for y in range(0, 200, 20)]
    scores = box_metrics(truth, grid)
    assert scores.pop("box.mean-iou@1") == 1.0
    assert (
        scores.pop("box.frame-f1@1") == scores.pop("box.frame-iou@1") == 1.0
    )  # where on the frame does not count
    assert max(scores.values()) == pytest.approx(2 / 101)


def test_labels_are_compared_where_several_are_asked_for() -> None:
    edema, mass = FrameBox(0, 0, 0, 5, 5, "Edema"), FrameBox(0, 9, 9, 12, 12, "Mass lesion")
    said = [FrameBox(0, 0, 0, 5, 5, "edema."), FrameBox(0, 9, 9, 12, 12, "mass")]
    assert f1_at(*same_labels([edema, mass], said), 0.5) == 1.0
    swapped = [FrameBox(0, 0, 0, 5, 5, "mass"), FrameBox(0, 9, 9, 12, 12, "edema")]
    assert f1_at(*same_labels([edema, mass], swapped), 0.5) == 0.0
    bare = [FrameBox(0, 0, 0, 5, 5), FrameBox(0, 9, 9, 12, 12)]
    assert f1_at(*same_labels([edema, mass], bare), 0.5) == 0.0
    assert f1_at(*same_labels([edema], [FrameBox(0, 0, 0, 5, 5, "bright spot")]), 0.5) == 1.0


def test_sets() -> None:
    assert set_f1({1, 2, 3}, {2, 3, 4, 5}) == pytest.approx(4 / 7)
    assert set_iou({1, 2, 3}, {2, 3, 4, 5}) == pytest.approx(2 / 5)
    assert set_f1((), ()) == set_iou((), ()) == 1.0
    assert ends_within_one((3, 4, 5), (2, 3, 4, 5, 6))
    assert not ends_within_one((3, 4, 5), (1, 2, 3, 4, 5))
    assert not ends_within_one((3,), ())


def sklearn_kappa(truths: list[int], said: list[int]) -> float:
    """As scikit-learn writes it: confusion, expected from its margins, weights (i - j)²."""
    grades = sorted({*truths, *said})
    confusion = np.array(
        [[sum(t == a and s == b for t, s in zip(truths, said)) for b in grades] for a in grades]
    )
    expected = np.outer(confusion.sum(axis=1), confusion.sum(axis=0)) / confusion.sum()
    weights = np.array([[(a - b) ** 2 for b in grades] for a in grades])
    return 1 - (weights * confusion).sum() / (weights * expected).sum()


@pytest.mark.parametrize("seed", range(20))
def test_quadratic_kappa_and_macro_f1(seed: int) -> None:
    rng = random.Random(seed)
    truths = [rng.choice((0, 0, 0, 1, 2, 3)) for _ in range(30)]
    said = [min(3, max(0, t + rng.choice((-1, 0, 0, 0, 1)))) for t in truths]
    assert quadratic_kappa(grade_table(truths, said)) == pytest.approx(sklearn_kappa(truths, said))
    scores = []
    for grade in {*truths, *said}:
        hits = sum(t == s == grade for t, s in zip(truths, said))
        precision = hits / max(1, said.count(grade))
        recall = hits / max(1, truths.count(grade))
        scores.append(2 * precision * recall / (precision + recall) if hits else 0.0)
    assert macro_f1(grade_table(truths, said)) == pytest.approx(sum(scores) / len(scores))


def test_grades_by_hand() -> None:
    truths, said = [0, 0, 0, 1, 2, 3], [0, 1, None, 1, None, 0]
    table = grade_table(truths, said)
    assert presence_sensitivity(table) == pytest.approx(1 / 3)
    assert presence_specificity(table) == pytest.approx(1 / 3)
    assert quadratic_kappa(table) == pytest.approx(sklearn_kappa([0, 0, 1, 3], [0, 1, 1, 0]))
    assert np.isnan(quadratic_kappa(grade_table([1, 1], [1, 1])))
    assert np.isnan(quadratic_kappa(grade_table([1], [None])))
    assert quadratic_kappa(grade_table([0, 3], [0, 3])) == 1.0
    assert np.isnan(presence_sensitivity(grade_table([0], [0])))


def tables_of(
    answers: list[list[tuple[str, int, int | None]]], patients: list[list[int]]
) -> GradeTables:
    """From the grades of each answer, and the answers of each patient."""
    flat = [
        (ord(name), truth, -1 if told is None else told, patient)
        for patient, rows in enumerate(patients)
        for row in rows
        for name, truth, told in answers[row]
    ]
    return GradeTables(*(np.array(column) for column in zip(*flat)), len(patients))


def test_sub_scores_are_not_pooled() -> None:
    """Within each sub-score the answers are a constant:
    no agreement, though together they would look perfect."""
    answers = [[("a", truth, 0), ("b", truth + 5, 5)] for truth in (0, 1, 0, 1)]
    tables = tables_of(answers, [[row] for row in range(4)])
    assert tables.means(quadratic_kappa, every(4)) == pytest.approx(0.0)


def test_tables_of_a_resample_count_repeats() -> None:
    answers = [[("a", 0, 0)], [("a", 1, 0)], [("a", 2, None)]]
    tables = tables_of(answers, [[0], [1, 2]])
    (counts,) = tables.counts(Samples(2, 1, lambda: iter([np.array([0, 0, 1])])))
    assert counts[0].sum() == 4
    assert counts[0][0, 0] == 2
