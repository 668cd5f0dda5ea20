"""Questions about boxes: balanced answers, fair options, wording, and the reasoning as text."""

from __future__ import annotations

import json

import msgspec
import pytest
from scipy.stats import binom

from frame_make import FRAMES, HEIGHT, WIDTH, make_cohort
from situs.anatomy import finding_name, finding_of, known_findings
from situs.errors import SitusError
from situs.facts import BoxLedger, load_recipe
from situs.items import (
    Boxes,
    Choice,
    Choices,
    Frames,
    Item,
    NotAsked,
    Option,
    Question,
    Step,
    Twins,
    YesNo,
    marks_of,
    place,
)
from situs.items.findings import (
    Draft,
    arrange_findings,
    choose_finding_tasks,
    draft,
    pose_finding,
    questions_of,
    right_by_position,
    trace_text,
)
from situs.space import FrameBox, PixelGrid
from situs.volumes import FrameAnnotation

RECIPE = load_recipe()
RULES = RECIPE.boxes


def ledgers(count: int = 40) -> list[BoxLedger]:
    cohort = make_cohort(5, count)
    found = []
    for organ, volumes in cohort.lists.items():
        names = {finding_name(str(row[7]))[0] for row in cohort.rows[organ] if row[2] == "No"}
        for volume in volumes:
            rows = cohort.boxes(volume)
            boxes = tuple(
                FrameBox(f, x, y, x + w, y + h, finding_name(label)[0])
                for f, x, y, w, h, label in rows
            )
            own = FrameAnnotation(volume, organ, boxes, () if boxes else ("normal_for_age",), True)
            given = {"series": "mr", "recipe": RECIPE, "grid": PixelGrid(FRAMES, WIDTH, HEIGHT)}
            found.append(BoxLedger(own, study_id=volume, kinds=tuple(sorted(names)), **given))  # type: ignore[arg-type]
    return found


def arranged(seed: int) -> list[Item]:
    posed: dict[str, Item] = {}
    for own in ledgers():
        for question in questions_of(own, choose_finding_tasks(None), RULES.mix, seed)[0]:
            item = pose_finding(own, question, own.study_id, seed)
            if isinstance(item, Item):
                posed[item.item_id] = item
    placements = arrange_findings(
        [draft(item, "train") for item in posed.values()], seed, RULES, RECIPE.twins
    )
    return [place(posed[own], placement, "train") for own, placement in placements.items()]


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return arranged(0)


def test_wrong_options_are_not_like_the_right_ones(items: list[Item]) -> None:
    checked = 0
    for item in items:
        if item.task == "classification":
            right = (
                {item.answer.value} if isinstance(item.answer, Choice) else set(item.answer.values)
            )  # type: ignore[union-attr]
            for option in item.options:
                if option.value not in right:
                    assert not any(
                        finding_of(option.value).confusable_with(finding_of(name)) for name in right
                    )
                    checked += 1
    assert checked > 50


@pytest.mark.parametrize("total", [40, 1100, 60_000])
def test_answers_are_uneven_where_the_binomial_tail_says_so(items: list[Item], total: int) -> None:
    """Also in cohorts so large that a single binomial coefficient is beyond a float."""
    item = next(
        one for one in items if one.twin_group and isinstance(one.answer, YesNo) and not one.options
    )

    def far_too_often(yes: int) -> bool:
        twins = Twins()
        for number in range(total):
            twins.add(
                msgspec.structs.replace(item, patient_id=f"p{number}", answer=YesNo(number < yes))
            )
        return any("far too often" in text for _, text in twins.problems())

    # Two answers are looked at, hence half of the 1e-9.
    last = int(binom.isf(5e-10, total, 0.5))
    assert binom.sf(last - 1, total, 0.5) > 5e-10 > binom.sf(last, total, 0.5)
    assert not far_too_often(last)
    assert far_too_often(last + 1)


def test_twins_hold_and_a_changed_answer_breaks_them(items: list[Item]) -> None:
    def problems(of: list[Item]) -> list[tuple[str, str]]:
        twins = Twins()
        for item in of:
            twins.add(item)
        return list(twins.problems())

    assert problems(items) == []
    all_yes = [
        (
            msgspec.structs.replace(item, answer=YesNo(True))
            if isinstance(item.answer, YesNo)
            else item
        )
        for item in items
    ]
    assert any("far too often" in text for _, text in problems(all_yes))
    place = next(n for n, item in enumerate(items) if item.twin_group)
    other = msgspec.structs.replace(items[place], split="test")
    assert any(
        "split" in text for _, text in problems([*items[:place], other, *items[place + 1 :]])
    )
    alone = msgspec.structs.replace(items[place], twin_group="")
    assert any(
        "no twins" in text for _, text in problems([*items[:place], alone, *items[place + 1 :]])
    )


def test_all_tasks_forms_and_levels_are_there(items: list[Item]) -> None:
    kinds = {(item.task, item.level) for item in items}
    both = {"detection", "localization", "classification", "diagnosis", "captioning"}
    assert {(task, level) for task in both for level in ("slice", "volume")} <= kinds
    assert {item.form for item in items} >= {
        "yes_no",
        "choice",
        "choices",
        "boxes",
        "frames",
        "text",
    }


def test_the_seed_changes_wording_but_neither_meaning_nor_id(items: list[Item]) -> None:
    own, *_ = ledgers(4)
    question = Question("localization", "boxes", {"ask": "boxes", "finding": own.labels[0]})
    posed = [pose_finding(own, question, "p", seed) for seed in range(12)]
    assert len({item.question for item in posed}) > 1  # type: ignore[union-attr]
    assert len({(item.item_id, str(item.answer), item.fact_ids, item.steps) for item in posed}) == 1  # type: ignore[union-attr]


def test_the_steps_go_from_looking_to_the_conclusion(items: list[Item]) -> None:
    for item in items:
        kinds = [step.kind for step in item.steps]
        assert kinds[0] == "look"
        assert kinds[-1] == "conclude"
        assert kinds[1:-1] == ["sign", "place"][: len(kinds) - 2]
        if isinstance(item.answer, Boxes):
            assert item.steps[-2].boxes == item.answer.boxes
        assert "present in" not in " ".join([item.question, *(step.text for step in item.steps)])


def test_counting_is_left_out_where_rules_disagree() -> None:
    apart = (FrameBox(3, 10, 10, 20, 20, "mass"), FrameBox(5, 10, 10, 20, 20, "mass"))
    own = FrameAnnotation("v", "brain", apart, (), True)
    given = {
        "study_id": "s",
        "series": "mr",
        "recipe": RECIPE,
        "grid": PixelGrid(0),
        "kinds": ("mass",),
    }
    posed = pose_finding(
        BoxLedger(own, **given), Question("counting", "number", {"finding": "mass"}), "p", 0
    )  # type: ignore[arg-type]
    assert posed == NotAsked("the number of findings depends on how boxes are linked")


def test_nobody_describes_a_slice_on_which_only_an_artifact_is_marked() -> None:
    boxes = (
        FrameBox(3, 10, 10, 20, 20, "possible_artifact"),
        FrameBox(5, 10, 10, 20, 20, "possible_artifact"),
        FrameBox(5, 30, 10, 40, 20, "mass"),
    )
    own = BoxLedger(
        FrameAnnotation("v", "brain", boxes, (), True),
        study_id="s",
        series="mr",
        recipe=RECIPE,
        grid=PixelGrid(0),
        kinds=("mass",),
    )
    alone, beside = (
        pose_finding(own, Question("captioning", "text", {"frame": frame}), "p", 0)
        for frame in ("3", "5")
    )
    assert isinstance(alone, NotAsked)
    assert isinstance(beside, Item)


def test_no_side_is_claimed_without_its_basis() -> None:
    asked = {
        q.parameters.get("ask")
        for own in ledgers(4)
        for q in choose_finding_tasks("localization")[0].questions(own)
    }
    assert "compartment" not in asked
    own = next(own for own in ledgers(4) if own.organ == "brain" and own.labels)
    question = Question("localization", "choice", {"ask": "side", "finding": own.labels[0]})
    posed = pose_finding(own, question, "p", 0)
    assert isinstance(posed, NotAsked)
    assert "side is not known" in posed.reason


def test_a_mark_lies_in_the_box_it_asks_about(items: list[Item]) -> None:
    marked = [item for item in items if marks_of(item)]
    assert marked
    for item in marked:
        (mark,) = marks_of(item).values()
        around = item.boxes[0]
        assert isinstance(mark, FrameBox)
        assert isinstance(around, FrameBox)
        assert around.frame == mark.frame == item.frames[0]
        assert around.x0 < mark.x0 == mark.x1 < around.x1
        assert around.y0 < mark.y0 == mark.y1 < around.y1


BOX = FrameBox(6, 32.0, 16.0, 64.0, 48.0, "mass")


def traced(level: str = "volume", **given: object) -> Item:
    answer = given.pop("answer", Boxes((BOX,)))
    frames = (6,) if level == "slice" else ()
    steps = (Step("look", "Look."), Step("place", "Here.", (), (BOX,)), Step("conclude", "So."))
    fields = {
        "study_id": "s",
        "series": "mr",
        "patient_id": "p",
        "task": "localization",
        "form": "boxes",
    }
    return Item(
        "i", **fields, question="?", answer=answer, level=level, frames=frames, steps=steps, **given
    )  # type: ignore[arg-type]


def test_traces_in_the_forms_models_speak() -> None:
    assert "Frame 7: <bbx>[32,16,32,32]</bbx>" in trace_text(traced(), "bbx")
    assert "Frame 1: <bbx>[32,16,32,32]</bbx>" in trace_text(traced("slice"), "bbx")
    assert "Frame 6: <bbx>" in trace_text(traced(), "bbx", frame_base=0)
    spoken = trace_text(traced(), "qwen", size=(128, 64))
    line = next(line for line in spoken.splitlines() if line.startswith("Here."))
    assert json.loads(line.removeprefix("Here. ")) == [
        {"bbox_2d": [250, 250, 500, 750], "label": "mass", "frame": 7}
    ]
    whole = json.loads(trace_text(traced(), "json"))
    assert whole["bboxes"] == [{"frame": 7, "label": "mass", "bbox": [32, 16, 32, 32]}]
    assert set(whole) == {"reasoning", "answer", "bboxes"}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (YesNo(True), "Yes"),
        (Choice("b"), "(B)"),
        (Choices(("b", "a")), "(A), (B)"),
        (Frames((3, 4)), "4, 5"),
    ],
)
def test_answers_in_a_trace(answer: object, text: str) -> None:
    item = traced(answer=answer, options=(Option("a", "a"), Option("b", "b")))
    assert trace_text(item).splitlines()[-1] == f"Answer: {text}"


def test_a_trace_says_what_it_lacks() -> None:
    with pytest.raises(SitusError, match="size"):
        trace_text(traced(), "qwen")
    with pytest.raises(SitusError, match="json"):
        trace_text(traced(), "jsn")


def _slices(frames: dict[str, list[int]]) -> list[Draft]:
    """Yes/no drafts about one finding, each of its own patient."""
    return [
        Draft(
            f"{key}{n}",
            f"p-{key}-{n}",
            "detection",
            "yes_no",
            "slice",
            "Is it there?",
            key,
            (key,),
            (),
            False,
            frame,
        )
        for key, held in frames.items()
        for n, frame in enumerate(held)
    ]


def test_twins_lie_alike_in_their_stacks_as_far_as_there_are_such_slices() -> None:
    """Fifty negatives, of which ten lie where the ten positives do: of each pair one is asked."""
    drafts = _slices({"yes": [*range(10, 20)], "no": [*range(50)]})
    placed = arrange_findings(drafts, 0, RULES, RECIPE.twins)
    frames = {entry.item_id: entry.frame for entry in drafts if entry.item_id in placed}
    assert sorted(frames.values()) == [*range(10, 20)]


def test_the_place_of_a_slice_is_worth_nothing_where_both_answers_lie_alike_and_all_where_they_lie_apart() -> (
    None
):
    alike = _slices({"yes": [*range(20)], "no": [*range(20)]})
    apart = _slices({"yes": [*range(20)], "no": [*range(40, 60)]})
    assert right_by_position(apart) == (1.0, 40)
    share, count = right_by_position(alike)
    assert count == 40
    assert abs(share - 0.5) < 0.25
    assert right_by_position([]) == (0.0, 0)


def test_no_option_is_a_kind_of_another() -> None:
    """A resection cavity is post-treatment change, a displaced flap a meniscus tear:
    both names would be right."""
    by_name = {entry.name: entry for entry in known_findings()}
    assert {name for entry in by_name.values() for name in entry.includes} <= set(by_name)
    assert by_name["resection_cavity"].overlaps(by_name["posttreatment_change"])
    posed = 0
    for organ, marked in (
        ("brain", "craniotomy"),
        ("brain", "resection_cavity"),
        ("knee", "meniscus_tear"),
    ):
        own = FrameAnnotation("v", organ, (FrameBox(3, 10, 10, 40, 40, marked),), (), True)
        kinds = tuple(entry.name for entry in known_findings(organ) if entry.plural)
        given = {"series": "mr", "recipe": RECIPE, "grid": PixelGrid(FRAMES, WIDTH, HEIGHT)}
        ledger = BoxLedger(own, study_id="v", kinds=kinds, **given)  # type: ignore[arg-type]
        for question in questions_of(
            ledger, choose_finding_tasks("classification,diagnosis"), RULES.mix, 0
        )[0]:
            item = pose_finding(ledger, question, "p", 0)
            names = {option.value for option in item.options} if isinstance(item, Item) else set()
            posed += bool(names)
            offered = [by_name[name] for name in names]
            assert not any(entry.overlaps(by_name[marked]) for entry in offered), question
            assert all(entry.asked for entry in offered)
            if question.task == "diagnosis":
                assert not any(a.overlaps(b) for a in offered for b in offered)
    assert posed >= 6
