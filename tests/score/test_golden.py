"""Golden vectors: small sets of answers whose scores were worked out by hand, put through `situs
score`.

Each vector is a bench, what a model says, and what every metric of it must then be, with the sum
written beside it. A metric without a vector fails `test_every_metric_has_a_vector`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from situs.bench import SeriesRecord, StudyRecord, open_bench
from situs.build.writer import BenchWriter, BuildOptions
from situs.facts import load_recipe
from situs.items import Answer, Boxes, Compound, Frames, Grades, Item, Number, YesNo
from situs.score import known_metrics
from situs.space import FrameBox, WorldBox

ORGANS = ("liver", "spleen", "kidney", "lung")
LUMBAR = ("L1", "L2", "L3", "L4")


@dataclass(frozen=True)
class Given:
    """A question for `situs import items`, and what is answered."""

    answer: object
    says: str
    more: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """An item as a builder writes it, and what is answered."""

    answer: Answer
    says: str
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Vector:
    """Answers, and what each metric makes of them."""

    answers: Sequence[Given | Made]
    scores: Mapping[str, float]
    series: str = ""
    """Of items that are made: `frames` (pixels only) or `volume` (millimetres)."""
    profile: str = ""


def volume(truth: float, says: str) -> Given:
    """The same question of every patient; within a tenth is right."""
    return Given(truth, says, {"unit": "mL", "tolerance": [0.9 * truth, 1.1 * truth]})


def box(frame: int, x0: float, y0: float, x1: float, y1: float) -> FrameBox:
    return FrameBox(frame, x0, y0, x1, y1, "Edema")


def listed(*boxes: FrameBox) -> str:
    """As a model says boxes: pictures from 1, corners in pixels."""
    return json.dumps(
        [{"frame": b.frame + 1, "label": "Edema", "bbox": [b.x0, b.y0, b.x1, b.y1]} for b in boxes]
    )


WHERE = box(3, 40, 40, 140, 140)
ELSEWHERE = box(3, 200, 200, 300, 300)


def grounded(count: int, where: FrameBox) -> Made:
    """Where and how many; one on the fourth picture is the truth."""
    truth = Compound({"boxes": Boxes((WHERE,)), "count": Number(1.0, "", (1.0, 1.0))})
    return Made(truth, json.dumps({"boxes": json.loads(listed(where)), "count": count}))


# Voxels of 2 × 2 × 4 mm from (-48, -56, -80) mm on: voxels 10–19 along x, 10–19 along y, 5–7 along
# z. On the picture the patient's right is on the left, and 48 voxels lie along x: voxel i is pixel
# 47 - i; along y it is 55 - j.
SOLID = Boxes((WorldBox((-29.0, -37.0, -62.0), (-9.0, -17.0, -50.0), "cyst"),))


def solid(x1: float, frames: Sequence[int], x0: float = 28) -> Made:
    """What is said of it: from pixel 28 to x1 (38 is the
    truth) on so many pictures (6 to 8 are the truth)."""
    said = [{"frame": frame, "label": "cyst", "bbox": [x0, 36, x1, 46]} for frame in frames]
    return Made(SOLID, json.dumps(said))


VECTORS = {
    "numbers": Vector(
        [volume(10, "10 mL"), volume(20, "25 mL"), volume(30, "20 mL"), volume(40, "80 mL")],
        {
            "within-interval@1": 1 / 4,
            "accuracy": 1 / 4,
            # Relative errors 0, 1/4, 1/3, 1.
            "relative-accuracy@1": (1 + 3 / 4 + 2 / 3 + 0) / 4,
            # Of the tolerances .50, .45, …, .05: at least 1/4 are six (and one is 1/4 itself), at
            # least 1/3 four.
            "mra.vsi-code@1": (1.0 + 0.6 + 0.4 + 0.0) / 4,
            "mra.vsi-paper@1": (1.0 + 0.5 + 0.4 + 0.0) / 4,
            # The others' means are 30, 80/3, 70/3, 20: off by 20, 20/3, 20/3, 20. The answers are
            # off by 0, 5, 10, 40.
            "skill-over-mean@1": 1 - 55 / (160 / 3),
            # Their medians are 30, 30, 20, 20: off by 20, 10, 10, 20, more than the means.
            "skill-over-prior@1": 1 - 55 / (160 / 3),
            # Ratios 1, 5/4, 2/3, 2: the middle two are 5/4 and 3/2.
            "median-abs-log-ratio@1": (math.log(5 / 4) + math.log(3 / 2)) / 2,
            # Ranks 1, 3, 2, 4 for 1, 2, 3, 4: 1 - 6 · 2 / (4 · 15).
            "spearman-within-structure@1": 0.8,
        },
    ),
    "closed": Vector(
        [
            Given(True, "yes"),
            Given(True, "Yes."),
            Given(True, "no"),
            Given(False, "no"),
            Given(False, "Lorem ipsum dolor."),
            Given("B", "B", {"options": ORGANS}),
            Given("C", "A", {"options": ORGANS}),
            Given(["A", "C"], "A, C", {"options": ORGANS}),
            Given(["A", "B"], "A, C", {"options": ORGANS}),
        ],
        {
            "accuracy": 5 / 9,
            "accuracy.closed": 5 / 9,
            "accuracy.answered": 5 / 8,
            "coverage": 8 / 9,
            # A set of four options that is not empty: one of 15.
            "chance": (5 / 2 + 2 / 4 + 2 / 15) / 9,
            # Right 1, wrong -chance / (1 - chance): -1 twice, -1/3, -1/14.
            "accuracy.chance-adjusted": (5 - 1 - 1 - 1 / 3 - 1 / 14) / 9,
            # Two of three with a yes, one of two with a no.
            "accuracy.balanced": (2 / 3 + 1 / 2) / 2,
            "choices.exact@1": 1 / 2,
            "choices.f1@1": (1 + 2 * 1 / (2 + 2)) / 2,
        },
    ),
    "levels": Vector(
        [Given("L2", says, {"options": LUMBAR}) for says in ("L2", "L3", "L4")],
        {"accuracy.within-one": 2 / 3, "accuracy": 1 / 3},
    ),
    "boxes": Vector(
        [
            # IoU 1/2.
            Made(Boxes((box(0, 0, 0, 100, 100),)), listed(box(0, 0, 0, 100, 50))),
            # Of two pictures one, with IoU 1/5.
            Made(
                Boxes((box(0, 0, 0, 100, 100), box(1, 0, 0, 100, 100))),
                listed(box(0, 0, 0, 100, 20)),
            ),
        ],
        {
            "accuracy": 1 / 2,
            "box.f1-at-0.1@1": (1 + 2 / 3) / 2,
            "box.f1-at-0.25@1": (1 + 0) / 2,
            "box.f1-at-0.5@1": (1 + 0) / 2,
            # Σ IoU / (TP + ½ FP + ½ FN) = .5 / 1, and no pair of at least .5.
            "box.panoptic-quality@1": (0.5 + 0) / 2,
            "box.tube-iou@1": (5_000 / 10_000 + 2_000 / 20_000) / 2,
            "box.centre-hit@1": (1 + 2 / 3) / 2,
            "box.frame-f1@1": (1 + 2 / 3) / 2,
            "box.frame-iou@1": (1 + 1 / 2) / 2,
            "box.mean-iou@1": (0.5 + 0.2 / 2) / 2,
            "box.priced-iou@1": (0.5 + 0.2 / 2) / 2,
            "places.inferred": 0.0,
        },
        "frames",
    ),
    "box prices": Vector(
        [
            # A box too many halves what the right one earns.
            Made(
                Boxes((box(0, 0, 0, 100, 100),)),
                listed(box(0, 0, 0, 100, 100), box(1, 0, 0, 50, 50)),
            ),
            # Two on one picture, three said: IoU 1 and 1/2.
            Made(
                Boxes((box(0, 0, 0, 100, 100), box(0, 200, 200, 300, 300))),
                listed(
                    box(0, 200, 200, 300, 250), box(0, 0, 0, 100, 100), box(0, 120, 0, 180, 100)
                ),
            ),
            # Nothing is to be found.
            Made(Boxes(()), "[]"),
            Made(Boxes(()), listed(box(0, 0, 0, 100, 100))),
        ],
        {
            "box.priced-iou@1": (1 / 2 + (1 + 1 / 2) / 3 + 1 + 0) / 4,
            "box.mean-iou@1": (1 + (1 + 1 / 2) / 2 + 1 + 0) / 4,
        },
        "frames",
    ),
    "box centres": Vector(
        # Centres at (190, 190), in the true box, and at (210, 210), outside; 20 × 20 and 10 × 10
        # pixels are shared.
        [
            Made(Boxes((box(0, 100, 100, 200, 200),)), listed(box(0, 180, 180, 200, 200))),
            Made(Boxes((box(0, 100, 100, 200, 200),)), listed(box(0, 190, 190, 230, 230))),
        ],
        {
            "box.centre-hit@1": 1 / 2,
            "box.mean-iou@1": (400 / 10_000 + 100 / (10_000 + 1_600 - 100)) / 2,
            "box.tube-iou@1": (400 / 10_000 + 100 / (10_000 + 1_600 - 100)) / 2,
        },
        "frames",
    ),
    "another scale": Vector(
        [
            Made(Boxes((box(0, 32, 32, 160, 160),)), listed(box(0, 32, 32, 160, 160))),
            # Shares of a side of 320 pixels.
            Made(Boxes((box(0, 32, 32, 160, 160),)), listed(box(0, 0.1, 0.1, 0.5, 0.5))),
        ],
        {"places.inferred": 1 / 2},
        "frames",
    ),
    "frames": Vector(
        [
            Made(Frames((3, 4)), "4 to 6"),
            Made(Frames((3, 4)), "4 to 7"),
            Made(Frames((0, 2), contiguous=False), "[1, 2]"),
        ],
        {
            "accuracy": 1 / 3,
            "frames.iou@1": (2 / 3 + 2 / 4 + 1 / 3) / 3,
            "frames.f1@1": (4 / 5 + 4 / 6 + 2 / 4) / 3,
            "frames.ends-within-one@1": 1 / 2,
        },
        "frames",
    ),
    "frames without images": Vector(
        # The last frame that anything names is the fifth; that more are said is a mistake all the
        # same.
        [Made(Frames((3, 4)), "4 to 6"), Made(Frames((3, 4)), "4 to 7")],
        {"accuracy": 1 / 2, "frames.iou@1": (2 / 3 + 2 / 4) / 2, "frames.ends-within-one@1": 1 / 2},
        "unknown",
    ),
    "solid boxes": Vector(
        # Six tenths of it; two of three slices; a fifth of it; beside it.
        [
            solid(34, (6, 7, 8)),
            solid(38, (6, 7)),
            solid(30, (6, 7, 8)),
            solid(48, (6, 7, 8), x0=38),
        ],
        {
            "accuracy": 2 / 4,
            "box.iou-3d@1": (6 / 10 + 2 / 3 + 1 / 5 + 0) / 4,
            "box.hit-3d-at-0.1@1": 3 / 4,
            "box.hit-3d-at-0.25@1": 2 / 4,
            "box.hit-3d-at-0.5@1": 2 / 4,
            "box.centre-hit-3d@1": 3 / 4,
        },
        "volume",
    ),
    "grades": Vector(
        [
            Made(Grades({"size": truth}), json.dumps({"size": said}))
            for truth, said in ((0, 0), (1, 2), (2, 2), (3, 1), (0, 1), (2, 0))
        ],
        {
            "accuracy": 2 / 6,
            "grade.exact@1": 2 / 6,
            "grade.within-one@1": 4 / 6,
            # Squared differences 0 + 1 + 0 + 4 + 1 + 4 = 10; of all 36 pairs 72, a sixth of it 12.
            "grade.quadratic-kappa@1": 1 - 10 / 12,
            # Grades 0 and 2: one hit of two true and two said; 1 and 3: none.
            "grade.macro-f1@1": (0.5 + 0 + 0.5 + 0) / 4,
            "grade.presence-sensitivity@1": 3 / 4,
            "grade.presence-specificity@1": 1 / 2,
        },
        "frames",
    ),
    "what and where": Vector(
        [
            *[grounded(1, WHERE)] * 1,
            *[grounded(1, ELSEWHERE)] * 2,
            *[grounded(2, WHERE)] * 3,
            *[grounded(2, ELSEWHERE)] * 4,
        ],
        {
            "grounded.accuracy": 1 / 10,
            "grounded.answer-only": 2 / 10,
            "grounded.place-only": 3 / 10,
            "grounded.neither": 4 / 10,
        },
        "frames",
    ),
    "twins": Vector(
        # Of three groups of two one is all right; a group of one is none.
        [
            Made(YesNo(True), says, {"twin_group": group})
            for group, says in zip("aabbccd", ("yes", "yes", "yes", "no", "no", "no", "yes"))
        ],
        {"accuracy.twin-groups": 1 / 3, "accuracy": 4 / 7},
        "frames",
    ),
    "not answerable": Vector(
        # The default profile tells no such thing: two of three hidden ones are right, and none of
        # them counts.
        [
            *(
                Made(YesNo(True), says, {"needs": ("a thing that no profile gives",)})
                for says in ("yes", "yes", "no")
            ),
            Made(YesNo(True), "no"),
        ],
        {"accuracy.not-answerable": 2 / 3, "accuracy": 0.0},
        "volume",
        profile="default",
    ),
}


def test_every_metric_has_a_vector() -> None:
    told = {metric for vector in VECTORS.values() for metric in vector.scores}
    assert [
        name for name, one in known_metrics().items() if name not in told and not one.golden
    ] == []


@pytest.mark.parametrize("name", VECTORS)
def test_golden_vector(name: str, situs: Callable[..., Any], tmp_path: Path) -> None:
    vector, bench = VECTORS[name], tmp_path / "bench"
    if isinstance(vector.answers[0], Given):
        write_given(vector, tmp_path / "given.jsonl")
        done = situs("import", "items", tmp_path / "given.jsonl", "--ids", "table", "--out", bench)
        assert done.code == 0, done.err
    else:
        write_made(vector, bench)
    asked = (
        {item.question: item.item_id for item in open_bench(bench).items()} if vector.series else {}
    )
    asked = asked or ids_by_patient(bench)
    rows = [
        {"item_id": asked[key], "response": one.says}
        for key, one in zip(keys_of(vector), vector.answers)
    ]
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ("--profile", vector.profile) if vector.profile else ()
    ran = situs("score", bench, tmp_path / "said.jsonl", *given, "--json")
    assert ran.code == 0, ran.err
    values = {entry["metric"]: entry["value"] for entry in ran.json["overall"]}
    assert {metric: values.get(metric) for metric in vector.scores} == pytest.approx(
        dict(vector.scores), abs=1e-12
    )


def keys_of(vector: Vector) -> list[str]:
    """What tells the items of a bench apart:
    their question, or (all ask the same) their patient."""
    return [
        f"{number}?" if vector.series else f"p{number}" for number in range(len(vector.answers))
    ]


def ids_by_patient(bench: Path) -> dict[str, str]:
    """Each patient has one item; its source id names the patient."""
    return {item.source_id: item.item_id for item in open_bench(bench).items()}


def write_given(vector: Vector, path: Path) -> None:
    lines = []
    for number, one in enumerate(vector.answers):
        assert isinstance(one, Given)
        row = {
            "study": f"s{number}",
            "patient": f"p{number}",
            "question": "What is it?",
            "answer": one.answer,
        }
        lines.append(json.dumps(row | {"id": f"p{number}"} | one.more))
    path.write_text("\n".join(lines))


SERIES = {
    "frames": SeriesRecord("frames", "mr", "", "", (20, 320, 320), (), "undeclared", "manual", {}),
    "unknown": SeriesRecord("unknown", "mr", "", "", (0, 0, 0), (), "undeclared", "manual", {}),
    "volume": SeriesRecord(
        "volume",
        "mr",
        "",
        "",
        (48, 56, 40),
        (2.0, 0, 0, -48, 0, 2.0, 0, -56, 0, 0, 4.0, -80, 0, 0, 0, 1),
        "affine",
        "manual",
        {},
    ),
}


def write_made(vector: Vector, folder: Path) -> None:
    folder.mkdir()
    with BenchWriter(
        folder, "made", BuildOptions(name="golden", recipe=load_recipe(None)), {}
    ) as writer:
        for number, one in enumerate(vector.answers):
            assert isinstance(one, Made)
            study, patient, form = (
                f"s{number}",
                f"p{number}",
                str(type(one.answer).__struct_config__.tag),
            )
            item = Item(
                f"i{number}",
                study,
                vector.series,
                patient,
                "golden",
                form,
                question=f"{number}?",
                answer=one.answer,
                stratum="made",
                split="test",
                **one.more,
            )
            record = StudyRecord(study, patient, "test", (SERIES[vector.series],))
            writer.add(record, [], [item], {}, {})
    writer.finish([])
