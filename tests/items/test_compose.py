"""Composed questions: recomputed by a second program, proved step by step, asked under one id."""

from __future__ import annotations

import itertools
import re
import shutil
from collections import Counter
from pathlib import Path

import nibabel
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _studies import ledger_of, phantom_labels
from scipy.spatial import cKDTree

from situs.anatomy import term
from situs.bench import open_bench
from situs.build.authoring.arms import _holm, _p_above, keys_hold
from situs.facts import (
    Ledger,
    MaskedSeries,
    load_recipe,
)
from situs.items import TASKS, Item, NotAsked, Number, YesNo, candidates
from situs.items.programs import as_question, parse, program_of, read_program
from situs.items.subjects import subjects
from situs.score import KeyErrors
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

AXES = {"left": (0, -1), "right": (0, 1), "posterior": (1, -1), "anterior": (1, 1)}
AXES |= {"inferior": (2, -1), "superior": (2, 1)}


class Patient:
    """Masks of one patient, measured with numpy alone."""

    def __init__(self, masks: dict[str, np.ndarray], affine: np.ndarray) -> None:
        self.points = {
            name: np.argwhere(mask) @ affine[:3, :3].T + affine[:3, 3]
            for name, mask in masks.items()
            if mask.any()
        }
        self.ml_per_voxel = abs(np.linalg.det(affine[:3, :3])) / 1000.0
        self.voxel_mm = float(np.linalg.norm(affine[:3, :3], axis=0).max())

    @classmethod
    def of_files(cls, folder: Path) -> Patient:
        images = {
            path.name.removesuffix(".nii.gz"): nibabel.load(path)
            for path in sorted((folder / "segmentations").glob("*.nii.gz"))
        }
        masks = {name: np.asarray(image.dataobj) > 0 for name, image in images.items()}
        return cls(masks, next(iter(images.values())).affine)

    def centre(self, name: str) -> np.ndarray:
        return self.points[name].mean(axis=0)

    def gap(self, a: str, b: str) -> float:
        """Between voxel centres, less a voxel: near enough for what is asked."""
        return float(cKDTree(self.points[a]).query(self.points[b])[0].min()) - self.voxel_mm

    def end(self, name: str, *, upwards: bool) -> float:
        heights = self.points[name][:, 2]
        return float(heights.max() if upwards else heights.min())

    def volume(self, name: str) -> float:
        return len(self.points[name]) * self.ml_per_voxel


def tree(text: str):
    """A program as nested lists, read by splitting at brackets alone."""
    match = re.fullmatch(r"(\w+)\((.*)\)", text)
    if not match:
        return text
    depth, parts, last = 0, [], 0
    for place, character in enumerate(match[2]):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(match[2][last:place])
            last = place + 1
    return [match[1], *(tree(part) for part in (*parts, match[2][last:]) if part)]


class Second:
    """The second program: plain values, no intervals."""

    def __init__(self, patient: Patient, options: list[str]) -> None:
        self.of, self.options = patient, options

    def group(self, expr) -> list[str]:
        if expr == "structures":
            return self.options
        op, *args = expr
        if op == "lesions":
            return [n for n in self.of.points if re.fullmatch(rf"{args[0]}_\d+", n)]
        if op == "touching":
            return [n for n in self.group(args[0]) if self.of.gap(n, self.thing(args[1])) <= 0]
        if op == "within":
            against, limit = self.thing(args[1]), float(args[2])
            return [n for n in self.group(args[0]) if self.of.gap(n, against) < limit]
        if op == "beyond":
            axis, sign = AXES[args[0]]
            line = self.of.centre(self.thing(args[2]))[axis]
            return [n for n in self.group(args[1]) if sign * (self.of.centre(n)[axis] - line) > 0]
        spine = np.concatenate([p for n, p in self.of.points.items() if n.startswith("vertebrae")])
        middle, sign = spine[:, 0].mean(), AXES[args[0]][1]
        return [n for n in self.group(args[1]) if sign * (self.of.centre(n)[0] - middle) > 0]

    def thing(self, expr) -> str:
        if isinstance(expr, str):
            return expr
        op, *args = expr
        members = self.group(args[1] if op == "most" else args[0])
        if op == "most":
            axis, sign = AXES[args[0]]
            return max(members, key=lambda n: sign * self.of.centre(n)[axis])
        if op == "nearest":
            return min(members, key=lambda n: self.of.gap(n, self.thing(args[1])))
        return sorted(members, key=self.of.volume)[-1 if op == "largest" else -2]

    def answer(self, expr):
        op, *args = expr
        if op == "which":
            return self.thing(args[0])
        if op in ("any", "count"):
            members = self.group(args[0])
            return bool(members) if op == "any" else len(members)
        if op == "is_within":
            return self.of.gap(self.thing(args[0]), self.thing(args[1])) < float(args[2])
        if op == "is_touching":
            return self.of.gap(self.thing(args[0]), self.thing(args[1])) <= 0
        if op in ("reaches_higher", "reaches_lower"):
            upwards = op == "reaches_higher"
            ends = {one: self.of.end(self.thing(one), upwards=upwards) for one in args}
            return (max if upwards else min)(ends, key=lambda one: ends[one])
        if op == "same":
            return self.thing(args[0]) == self.thing(args[1])
        if op == "closer":
            return min(args[1:], key=lambda n: self.of.gap(self.thing(args[0]), n))
        if op == "larger":
            return max(args, key=lambda one: self.of.volume(self.thing(one)))
        if op == "volume":
            return self.of.volume(self.thing(args[0]))
        return None


def as_text(expr) -> str:
    return expr if isinstance(expr, str) else f"{expr[0]}({','.join(map(as_text, expr[1:]))})"


def agree(item, patient: Patient) -> bool:
    """Whether the second program was able to answer; an error if it says something else."""
    options = [option.value for option in item.options]
    answer = Second(patient, options).answer(tree(str(program_of(item))))
    if answer is None:
        return False
    if isinstance(item.answer, Number) and item.answer.unit:
        low, high = item.answer.interval
        assert low <= answer <= high, item.parameters
    else:
        said = as_text(answer) if isinstance(answer, list) else answer
        assert item.answer.value == said, item.parameters
    return True


def test_a_second_program_gives_the_same_answers(composed):
    bench = open_bench(composed / "bench")
    patients: dict[str, Patient] = {}
    compared = 0
    for item in bench.items():
        if item.study_id not in patients:
            patients[item.study_id] = Patient.of_files(composed / "data" / item.study_id)
        compared += agree(item, patients[item.study_id])
    assert compared > 8


SHAPE, MM = (90, 70, 64), 3.0
BLOCKS = {
    "liver": ((48, 14, 16), (84, 60, 54)),
    "stomach": ((16, 34, 30), (40, 58, 50)),
    "spleen": ((6, 12, 28), (24, 30, 48)),
    "gallbladder": ((56, 56, 8), (64, 64, 15)),
    "inferior_vena_cava": ((46, 20, 4), (50, 26, 60)),
    "aorta": ((38, 16, 4), (43, 22, 60)),
    "kidney_right": ((54, 6, 4), (66, 13, 26)),
    "kidney_left": ((22, 6, 4), (34, 16, 26)),
    "duodenum": ((50, 34, 4), (58, 48, 14)),
    **{f"vertebrae_L{n}": ((40, 6, 40 - 8 * n), (48, 14, 46 - 8 * n)) for n in range(1, 5)},
}
BALLS = {1: ((60, 50, 44), 9), 2: ((72, 22, 28), 4), 3: ((54, 24, 21), 3), 4: ((77, 46, 23), 6)}


def masks_of_a_liver_with_lesions() -> dict[str, np.ndarray]:
    grid = np.indices(SHAPE)
    masks = {}
    for name, (low, high) in BLOCKS.items():
        masks[name] = np.zeros(SHAPE, dtype=bool)
        masks[name][tuple(slice(a, b) for a, b in zip(low, high))] = True
    for number, (centre, radius) in BALLS.items():
        away = grid - np.array(centre)[:, None, None, None]
        masks[f"liver_lesion_{number}"] = (away**2).sum(axis=0) <= radius**2
    return masks


def test_every_question_about_several_lesions_is_recomputed():
    masks = masks_of_a_liver_with_lesions()
    affine = np.diag([MM, MM, MM, 1.0])
    layers = [np.zeros(SHAPE, dtype=np.uint8) for _ in range(2)]
    structures = []
    for value, (name, mask) in enumerate(masks.items(), start=1):
        layer = int("lesion" in name)
        layers[layer][mask] = value
        structures.append(Structure(value, name, layer, value))
    labels = LabelMap(Grid(SHAPE, Affine(affine)), tuple(layers), tuple(structures))
    ledger = Ledger(
        labels,
        MaskedSeries(
            study_id="study",
            series="ct",
            labels_hash="unused",
            annotation="exact",
            side_basis="affine",
        ),
        recipe=load_recipe(),
        terms={name: term(name) for name in masks},
    )
    patient, task = Patient(masks, affine), TASKS["compose"]
    asked: Counter[str] = Counter()
    for question in task.questions(ledger, subjects(ledger)):
        posed = task.pose(ledger, question)
        if not isinstance(posed, NotAsked):
            item = posed.item(question, ledger, "patient")
            asked[program_of(item).op] += agree(item, patient)
    asked_for = {"which", "closer", "any", "count", "same", "is_within"}
    assert {ask for ask, n in asked.items() if n} >= asked_for
    assert sum(asked.values()) > 30


def test_what_another_task_asks_of_an_organ_is_composed_too_and_asked_once():
    """A scan without lesions gives little else: levels of ends, which of two reaches further."""
    ledger = ledger_of(phantom_labels(23, 0, (5.0, 5.0, 5.0)))

    def asked(*tasks: str) -> dict[str, Item]:
        found, _ = candidates(ledger, "patient", [TASKS[name] for name in tasks], seed=0)
        assert len({one.item.item_id for one in found}) == len(found)
        return {one.item.item_id: one.item for one in found}

    composed, others = asked("compose"), asked("reach", "volume", "level")
    shared = {id_: item for id_, item in composed.items() if item.task != "compose"}
    assert {item.task for item in shared.values()} >= {"reach", "volume"}
    assert shared.items() <= others.items()
    assert asked("compose", "reach", "volume", "level").keys() == composed.keys() | others.keys()


def test_check_recomputes_every_composed_answer(composed, situs):
    result = situs("check", composed / "bench", "--json").json
    assert result["problems"] == []
    assert result["recomputed"] == result["items"] > 8


def test_what_is_asked_reads_as_its_program(composed, bench):
    """Also the questions of the other tasks that the language has:
    their words mean their programs."""
    read = 0
    for item in itertools.chain(open_bench(composed / "bench").items(), open_bench(bench).items()):
        program = program_of(item)
        if program is not None and "including" not in item.question:
            assert parse(item.question) == {program}, item.question
            read += 1
    assert read > 50


def test_a_program_that_another_task_asks_is_that_task_s_question(bench):
    """The same id, whoever proposes it."""
    same = 0
    for item in open_bench(bench).items():
        program = program_of(item)
        if program is not None:
            question = as_question(program)
            assert (question.task, question.form, question.parameters) == (
                item.task,
                item.form,
                item.parameters,
            )
            same += 1
    assert same > 20
    nested = as_question(read_program("volume(nearest(lesions(liver_lesion),gallbladder))"))
    assert nested.task == "compose"


def test_steps_lead_from_finding_to_the_answer(composed):
    facts = {fact.fact_id: fact for fact in open_bench(composed / "bench").facts()}
    kinds = set()
    for item in open_bench(composed / "bench").items():
        kinds |= {step.kind for step in item.steps}
        assert item.steps[0].kind == "find"
        assert item.steps[-1].kind == "conclude"
        assert set(item.fact_ids) <= facts.keys()
        for step in item.steps:
            values = [
                abs(float(facts[f].value))
                for f in step.fact_ids
                if isinstance(facts[f].value, float)
            ]
            for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?= mm| mL| of)", step.text):
                if step.kind == "measure":
                    assert any(abs(v - float(number)) <= 0.51 for v in values), step
        if isinstance(item.answer, YesNo):
            assert item.options == ()
    assert kinds >= {"find", "measure", "conclude"}


def test_compose_is_asked_on_request_only(bench):
    assert "compose" not in open_bench(bench).info.by_task


def test_arms_are_compared_by_readers_or_not_at_all(composed, situs, tmp_path):
    """The same bench in two arms: nothing is shown without ratings;
    higher ratings of enough patients show it."""
    for name in ("T", "PW"):
        shutil.copytree(composed / "bench", tmp_path / "arms" / name)
    unrated = situs("compare-arms", tmp_path / "arms", "--json").json
    assert unrated["arms"]["PW"]["verdict"] == "not shown"
    assert "not shown" in unrated["statement"]
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("item,rating\nx,3\n")
    assert situs("compare-arms", tmp_path / "arms", "--ratings", ratings).code == 2
    items = list(open_bench(composed / "bench").items())
    rows = [f"{item.item_id},{n % 3}" for n, item in enumerate(items)]
    ratings.write_text("\n".join(["item,rating", *rows]) + "\n")
    rated = situs("compare-arms", tmp_path / "arms", "--ratings", ratings, "--json").json
    # Six patients are too few to say anything.
    assert rated["arms"]["PW"]["verdict"] == "not shown"
    assert rated["arms"]["PW"]["rating"] == rated["arms"]["T"]["rating"]


def test_a_rating_is_of_a_wording_not_of_an_item(composed, situs, tmp_path):
    """An item has one id in every arm: what W's words are worth is not what T's are."""
    arms = tmp_path / "arms"
    for name in ("T", "W"):
        shutil.copytree(composed / "bench", arms / name)
    table = pq.read_table(arms / "W" / "items.parquet")
    column = table.schema.get_field_index("question")
    reworded = [f"On this scan, {text}" for text in table["question"].to_pylist()]
    field = table.schema.field(column)
    pq.write_table(
        table.set_column(column, field, pa.array(reworded, field.type)),
        arms / "W" / "items.parquet",
    )
    ids = [item.item_id for item in open_bench(composed / "bench").items()]
    ratings = tmp_path / "ratings.csv"
    rows = [f"{arm},{id_},{rating}" for id_ in ids for arm, rating in (("T", 0), ("W", 2))]
    ratings.write_text("\n".join(["arm,item,rating", *rows]) + "\n")
    rated = situs("compare-arms", arms, "--ratings", ratings, "--json").json["arms"]
    assert (rated["T"]["rating"], rated["W"]["rating"]) == (0.0, 2.0)
    for text, problem in (
        (f"item,rating\n{ids[0]},2\n", "the arms word differently"),
        ("item,rating\nnone,2\n", "no arm asks"),
        (f"arm,item,rating\nPW,{ids[0]},2\n", "PW does not ask"),
    ):
        ratings.write_text(text)
        refused = situs("compare-arms", arms, "--ratings", ratings)
        assert refused.code == 2
        assert problem in refused.err


def test_better_is_said_only_of_clear_differences():
    patients = [f"p{n}" for n in range(20)]
    low = dict.fromkeys(patients, 1.0)
    high = {patient: 1.5 + 0.01 * n for n, patient in enumerate(patients)}
    assert _p_above(high, low) < 0.001
    assert _p_above(low, low) > 0.9
    mixed = {patient: 1.0 + (-1) ** n * 0.2 for n, patient in enumerate(patients)}
    assert _p_above(mixed, low) > 0.3
    assert _holm({"P": 0.01, "W": 0.04, "PW": 0.03}) == {"P": 0.03, "PW": 0.06, "W": 0.06}


@pytest.mark.parametrize(
    ("wrong", "read", "wrong_t", "read_t", "hold"),
    [
        # No error in n: the exact one-sided limit is 1 − 0.05^(1/n), 4.9 % at 59 and 5.0 % above at
        # 58.
        (0, 59, 0, 59, True),
        (0, 58, 0, 58, False),
        (10, 100, 2, 100, False),
        (10, 1000, 10, 1000, True),
        (0, 0, 0, 100, None),
        (0, 100, 0, 0, None),
    ],
)
def test_key_errors_must_be_shown_not_to_be_more(wrong, read, wrong_t, read_t, hold):
    one, reference = (
        KeyErrors(k, n, 0, 0, 2, None, ()) for k, n in ((wrong, read), (wrong_t, read_t))
    )
    assert keys_hold(one, reference) is hold
    assert keys_hold(one, None) is None
