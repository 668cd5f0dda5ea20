"""When is an answer with places, grades or parts right, and what is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forms import write_bench
from situs.bench import Bench
from situs.items import Boxes, Choices, Compound, Frames, Item, Text
from situs.run import AnswerRow, Viewing, make_baseline, parse_spec
from situs.score import (
    Entry,
    Replies,
    Scored,
    ScoredRun,
    columns_of,
    entries,
    score_answer,
    score_table,
    scored_table,
)
from situs.space import FrameBox


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return write_bench(tmp_path_factory.mktemp("made") / "bench", 12)


@pytest.fixture(scope="module")
def viewing(made: Bench) -> Viewing:
    return Viewing(made)


def item_of(bench: Bench, task: str, patient: str = "p000") -> Item:
    return next(item for item in bench.items() if item.task == task and item.patient_id == patient)


def say(viewing: Viewing, item: Item, response: str, **rest: Any) -> Scored:
    return score_answer(
        item, AnswerRow(item.item_id, response=response), None, shown=viewing, **rest
    )


def listed(boxes: list[FrameBox]) -> str:
    """In the coordinates of stored frames: from 1, corners, pixels."""
    return json.dumps(
        [{"frame": b.frame + 1, "label": b.label, "bbox": [b.x0, b.y0, b.x1, b.y1]} for b in boxes]
    )


def test_boxes_are_right_from_half_an_overlap_on(made, viewing) -> None:
    item = item_of(made, "slice box")
    (box,) = viewing.boxes(item, item.answer.boxes)
    for share, right in ((1.0, True), (0.51, True), (0.49, False)):
        part = FrameBox(box.frame, box.x0, box.y0, box.x0 + share * (box.x1 - box.x0), box.y1)
        scored = say(viewing, item, listed([part]))
        assert scored.outcome.right is right
        assert scored.values["box.tube-iou@1"] == pytest.approx(share, abs=1e-6)


def test_every_label_asked_for_and_no_other(made, viewing) -> None:
    item = item_of(made, "slice boxes")
    edema, mass = viewing.boxes(item, item.answer.boxes)
    assert say(viewing, item, listed([mass, edema])).outcome.right
    assert not say(viewing, item, listed([edema])).outcome.right
    spare = FrameBox(0, 1, 1, 20, 20, "Cyst")
    assert not say(viewing, item, listed([edema, mass, spare])).outcome.right


def test_approximate_boxes_stay_out_of_an_iou_of_half(made, viewing) -> None:
    item = msgspec.structs.replace(item_of(made, "slice box"), tags=("approximate",))
    (box,) = viewing.boxes(item, item.answer.boxes)
    part = FrameBox(box.frame, box.x0, box.y0, box.x0 + 0.3 * (box.x1 - box.x0), box.y1)
    scored = say(viewing, item, listed([part]))
    assert scored.outcome.right
    assert "box.f1-at-0.5@1" not in scored.values
    assert "box.panoptic-quality@1" not in scored.values
    assert "box.f1-at-0.25@1" in scored.values


def test_frames_are_right_within_one_at_both_ends_and_sets_exactly(made, viewing) -> None:
    item = item_of(made, "range")
    first, last = min(item.answer.frames) + 1, max(item.answer.frames) + 1
    assert say(viewing, item, f"{first - 1}-{last + 1}").outcome.right
    assert not say(viewing, item, f"{first - 2}-{last}").outcome.right
    chosen = item_of(made, "set")
    frames = [frame + 1 for frame in chosen.answer.frames]
    assert say(viewing, chosen, str(frames)).outcome.right
    assert not say(viewing, chosen, str(frames[:2])).outcome.right


def test_partial_grades_count_their_parts(made, viewing) -> None:
    item = item_of(made, "grades")
    size = item.answer.grades["size"]
    scored = say(viewing, item, json.dumps({"size": size}))
    assert scored.outcome.state == "answered"
    assert not scored.outcome.right
    assert scored.values["grade.exact@1"] == pytest.approx(1 / 3)
    assert {name: told for name, _, told in scored.grades} == {
        "size": size,
        "number": None,
        "percent": None,
    }


def test_compound_answers_are_right_if_all_parts_are(made, viewing) -> None:
    item = item_of(made, "where and how many")
    boxes = viewing.boxes(item, item.answer.parts["boxes"].boxes)
    where = json.loads(listed(boxes))
    both = say(viewing, item, json.dumps({"boxes": where, "count": 2}))
    assert (both.outcome.right, both.answer_right, both.place_right) == (True, True, True)
    wrong = say(viewing, item, json.dumps({"boxes": where, "count": 3}))
    assert (wrong.outcome.right, wrong.answer_right, wrong.place_right) == (False, False, True)
    lost = say(viewing, item, json.dumps({"count": 2}))
    assert (lost.outcome.state, lost.answer_right, lost.place_right) == ("answered", True, False)
    assert "boxes:unparsed" in lost.outcome.flags
    assert lost.values["box.tube-iou@1"] == 0.0
    prose = "\n".join(f"Frame {b.frame + 1}: [{b.x0}, {b.y0}, {b.x1}, {b.y1}]" for b in boxes)
    assert say(viewing, item, f"boxes:\n{prose}\ncount: 2").outcome.right


@pytest.mark.sweep
def test_four_way_table_adds_up(made) -> None:
    baseline = make_baseline(made, parse_spec("majority"))
    rows = {
        item.item_id: AnswerRow(item.item_id, response=baseline.answer(item) or "")
        for item in made.items()
    }
    scores = score_table(ScoredRun.of(Replies(made, rows)))
    parts = [entry.value for entry in scores.overall if entry.metric.startswith("grounded.")]
    assert len(parts) == 4
    assert sum(parts) == pytest.approx(1.0)


def test_unread_answers_score_nothing_and_are_counted(made, viewing) -> None:
    for task in ("slice box", "range", "several", "grades", "grounded"):
        item = item_of(made, task)
        whole = say(viewing, item, make_baseline(made, parse_spec("oracle")).answer(item))
        lost = say(viewing, item, "Lorem ipsum.")
        assert lost.outcome.state == "unparsed"
        assert set(lost.values) == set(whole.values)
        assert set(lost.values.values()) == {0.0}
        assert len(lost.grades) == len(whole.grades)


def entries_of(scored: list[Scored], metrics: list[str], seed: int) -> list[Entry]:
    return entries(columns_of([scored_table(scored)]).all, metrics, seed)


@pytest.mark.parametrize("model", ["majority", "random"])
def test_columns_of_shared_judgements_are_those_of_single_answers(made, viewing, model) -> None:
    baseline = make_baseline(made, parse_spec(model))
    said = {item.item_id: baseline.answer(item) or "" for item in made.items()}
    rows = {item_id: AnswerRow(item_id, response=text) for item_id, text in said.items()}
    one_by_one = [say(viewing, item, said[item.item_id]) for item in made.items()]
    together = ScoredRun.of(Replies(made, rows)).columns.table
    assert together.to_pylist() == columns_of([scored_table(one_by_one)]).table.to_pylist()


def test_hidden_items_are_scored_apart(made, viewing) -> None:
    item = item_of(made, "seen")
    scored = [
        say(viewing, item, "yes", hidden=("the liver is not visible",)),
        say(viewing, item, "yes"),
    ]
    assert scored[0].outcome.state == "not answerable"
    assert scored[0].outcome.right is None
    assert "liver" in scored[0].outcome.parsed
    found = {
        entry.metric: (entry.value, entry.n)
        for entry in entries_of(scored, ["accuracy", "accuracy.not-answerable"], 0)
    }
    assert found == {"accuracy": (1.0, 1), "accuracy.not-answerable": (1.0, 1)}


def test_several_options_have_a_chance(made, viewing) -> None:
    item = item_of(made, "several")
    assert isinstance(item.answer, Choices)
    assert say(viewing, item, "A").chance == pytest.approx(1 / 15)
    assert say(viewing, item_of(made, "range"), "1-2").chance is None
    assert say(viewing, item_of(made, "tube"), "[]").chance is None


def test_always_yes_is_half_balanced(made, viewing) -> None:
    rows = [say(viewing, item, "yes") for item in made.items() if item.task == "seen"]
    found = {
        entry.metric: entry.value
        for entry in entries_of(rows[:-1], ["accuracy", "accuracy.balanced"], 0)
    }
    assert found["accuracy.balanced"] == 0.5
    assert found["accuracy"] != 0.5


def test_twin_groups_need_all_twins(made, viewing) -> None:
    rows = [say(viewing, item, "yes" if item.answer.value or place > 3 else "no") for place, item in
            enumerate(item for item in made.items() if item.task == "seen")]  # fmt: skip
    (entry,) = entries_of(rows, ["accuracy.twin-groups"], 0)
    groups: dict[str, list[bool]] = {}
    for row in rows:
        groups.setdefault(row.twin_group, []).append(bool(row.outcome.right))
    assert entry.n == 6
    assert entry.value == pytest.approx(sum(map(all, groups.values())) / 6)
    assert entry.value == pytest.approx(2 / 6)


def test_levels_count_within_one(made, viewing) -> None:
    item = item_of(made, "level", "p001")
    letters = dict(zip((option.value for option in item.options), "ABCD"))
    assert item.answer.value == "L2"
    for said, near in (("L2", 1.0), ("L1", 1.0), ("L4", 0.0), ("T12", 0.0)):
        assert say(viewing, item, letters[said]).values["accuracy.within-one"] == near


def test_a_place_that_no_picture_shows_is_not_asked_of_anyone(made) -> None:
    profile = msgspec.convert(
        {
            "name": "first",
            "view": {"index_range": [0, 0]},
            "window": {"any": {"low": 0.0, "high": 1.0}},
        },
        type(Viewing(made).profile),
    )
    item = item_of(made, "tube")
    assert isinstance(item.answer, Boxes)
    scored = score_answer(
        item, AnswerRow(item.item_id, response="[]"), None, shown=Viewing(made, profile)
    )
    assert (scored.outcome.state, scored.outcome.parsed) == (
        "not answerable",
        "no picture shows it",
    )


def test_without_the_pictures_a_place_is_unjudged(made) -> None:
    for task in ("tube", "range", "grounded"):
        item = item_of(made, task)
        assert isinstance(item.answer, Boxes | Frames | Compound)
        assert (
            score_answer(item, AnswerRow(item.item_id, response="[]"), None).outcome.state
            == "unjudged"
        )


def test_inferred_answers_are_counted(made, tmp_path: Path) -> None:
    items = [item for item in made.items() if item.task == "slice box"]
    rows = {
        item.item_id: AnswerRow(item.item_id, response="[0.1, 0.1, 0.3, 0.3]") for item in items
    }
    scores = score_table(
        ScoredRun.of(Replies(made, rows, chosen=lambda: items)),
        metrics=["box.tube-iou@1", "places.inferred"],
    )
    assert {entry.metric: entry.value for entry in scores.overall}["places.inferred"] == 1.0
    assert any(text.startswith("12 answers were read in another scale") for text in scores.warnings)


def test_hits_of_a_3d_box(made, viewing) -> None:
    """A box cut to 30 % of its width has an IoU of .3: a hit at .1 and .25, none at .5."""
    item = item_of(made, "world box")
    true = viewing.boxes(item, item.answer.boxes)
    assert len({box.label for box in true}) == 1
    part = [FrameBox(b.frame, b.x0, b.y0, b.x0 + 0.3 * (b.x1 - b.x0), b.y1, b.label) for b in true]
    scored = say(viewing, item, listed(part))
    assert scored.values["box.iou-3d@1"] == pytest.approx(0.3, abs=0.01)
    hits = [scored.values[f"box.hit-3d-at-{threshold}@1"] for threshold in ("0.1", "0.25", "0.5")]
    assert hits == [1.0, 1.0, 0.0]
    assert say(viewing, item, listed(true)).values["box.hit-3d-at-0.5@1"] == 1.0
    rough = msgspec.structs.replace(item, tags=("approximate",))
    assert "box.hit-3d-at-0.5@1" not in say(viewing, rough, listed(part)).values


def test_kinds_are_not_steps(made, viewing) -> None:
    """One off is near for a step, and as wrong as any other for a kind."""
    item = item_of(made, "grades")
    said = json.dumps({name: grade + 1 for name, grade in item.answer.grades.items()})
    assert say(viewing, item, said).values["grade.within-one@1"] == 1.0
    tags = tuple(f"nominal:{name}" for name in item.answer.grades)
    nominal = say(viewing, msgspec.structs.replace(item, tags=tags), said)
    assert "grade.within-one@1" not in nominal.values
    assert nominal.nominal == set(item.answer.grades)
    (kappa,) = entries_of([say(viewing, item, said)], ["grade.quadratic-kappa@1"], 0)
    assert kappa.n == 1
    assert entries_of([nominal], ["grade.quadratic-kappa@1"], 0) == []


def test_sub_scores_of_a_bank_are_told_apart_by_question(made, viewing) -> None:
    item = msgspec.structs.replace(
        item_of(made, "grades"), parameters={"question": "7"}, task="grade.bml"
    )
    said = json.dumps(item.answer.grades)
    assert {name for name, _, _ in say(viewing, item, said).grades} == {
        f"7.{name}" for name in item.answer.grades
    }
    measured = msgspec.structs.replace(item, task="geometry.bml")
    assert all(name.startswith("geometry 7.") for name, _, _ in say(viewing, measured, said).grades)


@pytest.mark.parametrize(
    ("said", "state"), [("", "unparsed"), (" \n", "unparsed"), ("-", "unjudged")]
)
def test_an_empty_text_waits_for_no_judge(made, said: str, state: str) -> None:
    item = msgspec.structs.replace(item_of(made, "tube"), form="text", answer=Text(("a tear",)))
    scored = score_answer(item, AnswerRow(item.item_id, response=said), None)
    assert scored.outcome.state == state
