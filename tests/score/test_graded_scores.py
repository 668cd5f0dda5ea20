"""Scores of graded answers with boxes,
from the table of grades to the entries, against formulas on the numbers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from situs.bench import Bench, open_bench
from situs.items import Compound, Item
from situs.profiles import load_profile
from situs.run import AnswerRow
from situs.score import Replies, ScoredRun, score_table
from situs.score.compound.parts import read_part, score_reading

AFFINE = "0.7 0 0 -56 0 0.36 0 -70 0 0 0.36 -70 0 0 0 1"
ASKED = {
    "44": ["grade"],
    "48": ["morphology"],
    "54": ["presence", "tear_location"],
    "42": ["grade"],
}
LEVELS = {
    "grade": range(4),
    "morphology": (0, 1, 2, 3, 4, 5, 6, 8),
    "presence": range(2),
    "tear_location": range(4),
}
BOXED = {"44": "medial_meniscus", "48": "medial_meniscus_anterior", "54": "medial_meniscus"}
ROUGH = "48"
"""Its box is a third of the meniscus, by rule."""
STUDIES = 14
SHAPE = "30 60 50"


@pytest.fixture(scope="module")
def bench(situs: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Random grades and boxes of whole voxels; one sub-score has one grade only."""
    rng = random.Random(4)
    folder = tmp_path_factory.mktemp("graded")
    rows, boxes = [], []
    for study in range(STUDIES):
        for question, keys in ASKED.items():
            for key in keys:
                grade = 0 if question == "42" else rng.choice(LEVELS[key])
                rows.append(f"k{study},p{study},left,{SHAPE},{AFFINE},{question},{key},{grade}")
        for region in ("medial_meniscus", "medial_meniscus_anterior"):
            low = [rng.randrange(2, 9) for _ in range(3)]
            numbers = [value for n in low for value in (n, n + rng.randrange(6, 18))]
            boxes.append(f"k{study},{region},{','.join(map(str, numbers))}")
    table, places = folder / "grades.csv", folder / "boxes.csv"
    table.write_text(
        "\n".join(["study,patient,side,shape,affine,question,sub_score,grade", *rows, ""])
    )
    places.write_text(
        "\n".join(["study,region,start_slice,end_slice,x_min,x_max,y_min,y_max", *boxes, ""])
    )
    ran = situs("build", "grades", table, "--boxes", places, "--out", folder / "bench")
    assert ran.code == 0, ran.err
    return open_bench(folder / "bench")


def true_box(item: Item) -> np.ndarray | None:
    """(3, 2) voxel faces along x, z and y; from the mm of the answer."""
    if not isinstance(item.answer, Compound):
        return None
    (box,) = item.answer.parts["box"].boxes
    ends = (np.array([box.lo_mm, box.hi_mm]).T - [[-56], [-70], [-70]]) / [
        [0.7],
        [0.36],
        [0.36],
    ] + 0.5
    return np.round(ends)[[0, 2, 1]]


def grades_of(item: Item) -> dict[str, int]:
    answer = item.answer.parts["grades"] if isinstance(item.answer, Compound) else item.answer
    return dict(answer.grades)


def test_every_score_is_its_formula(bench: Bench) -> None:
    rng = random.Random(8)
    rows, said, places = {}, {}, {}
    for item in bench.items():
        told = {key: rng.choice(LEVELS[key]) for key in grades_of(item) if rng.random() > 0.1}
        reply: dict[str, Any] = {"grades": told}
        truth = true_box(item)
        if truth is not None and rng.random() > 0.1:
            shift = [[rng.randrange(-2, 3) * rng.choice((0, 1, 2))] for _ in range(3)]
            moved = np.maximum(truth + shift + [[0, rng.randrange(4)] for _ in range(3)], 0)
            (first, end), (z0, z1), (y0, y1) = moved.astype(int).tolist()
            # Sagittal pictures have the front on the left and the head at the top: both axes count
            # down.
            reply["box"] = [first, end - 1, 60 - y1, 60 - y0, 50 - z1, 50 - z0]
            places[item.item_id] = moved
        rows[item.item_id] = AnswerRow(item.item_id, response=json.dumps(reply))
        said[item.item_id] = told
    shown = load_profile("3dreasonknee-qwen")
    scores = score_table(ScoredRun.of(Replies(bench, rows, profile=shown, needs_checked=False)))
    items = list(bench.items())

    def pairs(question: str, key: str) -> list[tuple[int, int | None]]:
        own = [item for item in items if item.parameters["question"] == question]
        return [(grades_of(item)[key], said[item.item_id].get(key)) for item in own]

    kappas, f1s, finds, clears, exact, near = [], [], [], [], [], []
    for question, keys in ASKED.items():
        for key in keys:
            told = pairs(question, key)
            entry = {e.metric: e.value for e in scores.by_subscore[f"{question}.{key}"]}
            absent = 3 if key == "tear_location" else 0
            there = [s is not None and s != absent for t, s in told if t != absent]
            clear = [s == absent for t, s in told if t == absent]
            finds.append(np.mean(there) if there else None)
            clears.append(np.mean(clear) if clear else None)
            f1s.append(macro_f1(told))
            for metric, value in (
                ("grade.exact@1", np.mean([t == s for t, s in told])),
                ("grade.presence-sensitivity@1", finds[-1]),
                ("grade.presence-specificity@1", clears[-1]),
                ("grade.macro-f1@1", f1s[-1]),
            ):
                assert entry.get(metric) == (None if value is None else pytest.approx(value)), (
                    question,
                    key,
                    metric,
                )
            if key in ("grade", "presence"):
                kappas.append(kappa([(t, s) for t, s in told if s is not None]))
                assert entry.get("grade.quadratic-kappa@1") == pytest.approx(kappas[-1])
            else:
                assert "grade.quadratic-kappa@1" not in entry, "kinds have no distance"
    for item in items:
        told = [(grades_of(item)[key], said[item.item_id].get(key), key) for key in grades_of(item)]
        exact.append(np.mean([t == s for t, s, _ in told]))
        steps = [
            s is not None and abs(t - s) <= 1 for t, s, key in told if key in ("grade", "presence")
        ]
        near += [np.mean(steps)] if steps else []
    overall = {e.metric: e.value for e in scores.overall}
    assert overall["grade.exact@1"] == pytest.approx(np.mean(exact))
    assert overall["grade.within-one@1"] == pytest.approx(np.mean(near))
    assert overall["grade.quadratic-kappa@1"] == pytest.approx(np.mean(kappas))
    assert overall["grade.macro-f1@1"] == pytest.approx(np.mean(f1s))
    assert overall["grade.presence-sensitivity@1"] == pytest.approx(
        np.mean([v for v in finds if v is not None])
    )
    assert overall["grade.presence-specificity@1"] == pytest.approx(
        np.mean([v for v in clears if v is not None])
    )

    boxed = [item for item in items if true_box(item) is not None]
    ious = {item.item_id: iou(true_box(item), places.get(item.item_id)) for item in boxed}
    spans = [
        iou(true_box(item)[:1], (p := places.get(item.item_id)) is not None and p[:1])
        for item in boxed
    ]
    centres = [
        (p := places.get(item.item_id)) is not None
        and bool(
            (
                (true_box(item)[:, 0] <= p.mean(axis=1)) & (p.mean(axis=1) <= true_box(item)[:, 1])
            ).all()
        )
        for item in boxed
    ]
    assert overall["box.iou-3d@1"] == pytest.approx(np.mean(list(ious.values())), abs=1e-6)
    assert overall["box.frame-iou@1"] == pytest.approx(np.mean(spans))
    assert overall["box.centre-hit-3d@1"] == pytest.approx(np.mean(centres))
    for least in (0.1, 0.25):
        assert overall[f"box.hit-3d-at-{least}@1"] == pytest.approx(
            np.mean([v >= least for v in ious.values()])
        )
    sharp = [ious[item.item_id] >= 0.5 for item in boxed if item.parameters["question"] != ROUGH]
    assert overall["box.hit-3d-at-0.5@1"] == pytest.approx(np.mean(sharp)), (
        "approximate boxes are kept out"
    )

    table = np.zeros((2, 2))
    for item in boxed:
        right = all(said[item.item_id].get(key) == grade for key, grade in grades_of(item).items())
        placed = ious[item.item_id] >= (0.25 if item.parameters["question"] == ROUGH else 0.5)
        table[int(right), int(placed)] += 1 / len(boxed)
    names = {(1, 1): "accuracy", (1, 0): "answer-only", (0, 1): "place-only", (0, 0): "neither"}
    for place, name in names.items():
        assert overall[f"grounded.{name}"] == pytest.approx(table[place]), name
    assert sum(overall[f"grounded.{name}"] for name in names.values()) == pytest.approx(1.0)

    region = {e.metric: e.value for e in scores.by_tag["region:medial_meniscus_anterior"]}
    own = [ious[item.item_id] for item in boxed if item.parameters["question"] == ROUGH]
    assert region["box.iou-3d@1"] == pytest.approx(np.mean(own), abs=1e-6)
    assert {"family:meniscal_cyst", "structure:medial_meniscus"} <= set(scores.by_tag)
    # The majority grade of the other patients, for each sub-score, in the same tables.
    blind = scores.baselines["majority"].by_subscore
    assert set(blind) == set(scores.by_subscore)
    assert {e.metric: e.value for e in blind["42.grade"]}["grade.exact@1"] == 1.0


def kappa(pairs: list[tuple[int, int]]) -> float | None:
    """Cohen's quadratic κ by moments:
    1 - E (x - y)² / the same of independent x and y (Fleiss and Cohen 1973)."""
    x, y = (np.array(side, dtype=float) for side in zip(*pairs))
    apart = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    return 1 - ((x - y) ** 2).mean() / apart if apart else None


def macro_f1(pairs: list[tuple[int, int | None]]) -> float:
    scores = []
    for grade in sorted({t for t, _ in pairs} | {s for _, s in pairs if s is not None}):
        both = sum(t == s == grade for t, s in pairs)
        scores.append(
            2 * both / (sum(t == grade for t, _ in pairs) + sum(s == grade for _, s in pairs))
        )
    return float(np.mean(scores))


def iou(one: np.ndarray | None, other: Any) -> float:
    """Of two blocks of whole voxels."""
    if one is None or other is None or other is False:
        return 0.0
    shared = np.prod(
        np.clip(np.minimum(one[:, 1], other[:, 1]) - np.maximum(one[:, 0], other[:, 0]), 0, None)
    )
    return float(shared / (np.prod(np.diff(one)) + np.prod(np.diff(other)) - shared))


@pytest.mark.parametrize(
    ("said", "presence", "location"),
    [
        ({"presence": 7, "tear_location": "none"}, None, 3),
        ({"presence": "no", "tear_location": 4}, 0, None),
        ({"presence": 1, "tear_location": "body"}, 1, 1),
    ],
)
def test_what_the_question_does_not_offer_is_no_grade(
    bench: Bench, said: Any, presence: Any, location: Any
) -> None:
    item = next(item for item in bench.items() if item.parameters["question"] == "54")
    truth = item.answer.parts["grades"]
    read = score_reading(read_part(item, truth, json.dumps(said), None))
    assert {name: told for name, _, told in read.grades} == {
        "presence": presence,
        "tear_location": location,
    }
