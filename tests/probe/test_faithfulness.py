"""Steps stated in a reply are checked against the facts;
what is planted right or wrong is found so."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from situs.bench import Bench, open_bench
from situs.facts import Fact, Measured
from situs.items import Item, Number
from situs.run import AnswerRow, Spec, Viewing, make_baseline
from situs.score import Replies, ScoredRun
from situs.score.explain import Faithfulness, StudyFacts, faithfulness_of, statements
from situs.space import FrameBox


@pytest.fixture(scope="module")
def phantoms(cohort: Path) -> Bench:
    return open_bench(cohort)


def _faithful(bench: Bench, say: Callable[[Item, str], str]) -> Faithfulness:
    """Replies made of the item's own steps and the answer."""
    oracle = make_baseline(bench, Spec("oracle"))
    items = [
        item
        for item in bench.items()
        if item.task in ("comparison", "distance", "extent", "volume")
    ]
    rows = {
        item.item_id: AnswerRow(item.item_id, response=say(item, oracle.answer(item) or ""))
        for item in items
    }
    return faithfulness_of(ScoredRun.of(Replies(bench, rows, chosen=lambda: items)))


def _cells(result: Faithfulness) -> dict[tuple[str, str], int]:
    return {(cell.answer, cell.steps): cell.n for cell in result.table if cell.n}


def _steps(item: Item, kinds: tuple[str, ...] = ("measure",)) -> list[str]:
    return [step.text for step in item.steps if step.kind in kinds]


def test_true_steps_hold(phantoms: Bench) -> None:
    result = _faithful(
        phantoms, lambda item, answer: " ".join([*_steps(item), f"\nAnswer: {answer}"])
    )
    assert {steps for _, steps in _cells(result)} == {"right", "none"}
    assert sum(one.checked for one in result.kinds) > 100
    assert all(one.right == one.checked for one in result.kinds)


def test_numbers_three_times_too_large_are_wrong_though_the_answer_is_right(
    phantoms: Bench,
) -> None:
    def tripled(text: str) -> str:
        return re.sub(r"(\d+(?:\.\d+)?)(?= (?:mm|mL|cm)\b)", lambda m: f"{3 * float(m[1]):g}", text)

    result = _faithful(
        phantoms,
        lambda item, answer: " ".join([*map(tripled, _steps(item)), f"\nAnswer: {answer}"]),
    )
    assert _cells(result)["right", "wrong"] > 50
    assert ("right", "right") not in _cells(result)
    wrong = next(cell for cell in result.table if (cell.answer, cell.steps) == ("right", "wrong"))
    assert wrong.ci95 is not None
    assert wrong.ci95[0] <= (wrong.share or 0) <= wrong.ci95[1]


def test_true_steps_and_another_answer(phantoms: Bench) -> None:
    def say(item: Item, answer: str) -> str:
        return (
            " ".join([*_steps(item), "\nAnswer: 1000000"])
            if isinstance(item.answer, Number)
            else answer
        )

    cells = _cells(_faithful(phantoms, say))
    assert cells["wrong", "right"] > 10
    assert ("wrong", "wrong") not in cells


def test_an_answer_alone_states_no_step(phantoms: Bench) -> None:
    cells = _cells(_faithful(phantoms, lambda item, answer: answer))
    assert set(cells) == {("right", "none")}


def _fact(
    kind: str, subjects: tuple[str, ...], value: object, unit: str = "", interval: object = None
) -> Fact:
    return Fact(
        f"f-{kind}-{subjects}",
        "s",
        "ct",
        kind,
        subjects,
        value,
        unit,
        interval,
        Measured("x@1", {}, ()),
    )


FACTS = StudyFacts(
    [
        *(
            _fact("box", (name,), None)
            for name in ("liver", "spleen", "kidney_left", "kidney_lesion_1")
        ),
        _fact("volume", ("liver",), 1500.0, "mL", (1400.0, 1600.0)),
        _fact("volume", ("spleen",), 200.0, "mL", (180.0, 220.0)),
        _fact("centroid", ("liver",), (60.0, 0.0, 0.0), "mm"),
        _fact("centroid", ("spleen",), (-60.0, -30.0, 5.0), "mm"),
        _fact("extent.superior_inferior", ("liver",), 160.0, "mm", (155.0, 165.0)),
        _fact("extent.left_right", ("liver",), 200.0, "mm", (195.0, 205.0)),
        _fact("main_gap", ("liver", "spleen"), 40.0, "mm", (36.0, 44.0)),
        _fact("side", ("kidney_lesion_1",), "left"),
        _fact("largest", ("kidney_lesion",), "kidney_lesion_1"),
        _fact("level.bottom", ("spleen",), 19.1, "level", (19.0, 19.2)),
    ]
)
_TRUE = {
    "The liver has a volume of 1.5 L.": "measurement",
    "The spleen fills about 190 cc.": "measurement",
    "The liver is 16 cm in craniocaudal length.": "measurement",
    "The liver is 20 cm wide.": "measurement",
    "The liver lies 4 cm from the spleen.": "measurement",
    "The spleen lies 4 cm from the liver.": "measurement",
    "The liver is clearly larger than the spleen.": "comparison",
    "The spleen is not larger than the liver.": "comparison",
    "The spleen lies to the left of the liver.": "direction",
    "The spleen is behind the liver.": "direction",
    "The largest kidney lesion is on the left side.": "side",
    "The spleen ends at L1.": "level",
}
_FALSE = {
    "The liver has a volume of 15 L.": "measurement",
    "The liver is 20 cm in craniocaudal length.": "measurement",
    "The liver lies 4 mm from the spleen.": "measurement",
    "The spleen lies 4 mm from the liver.": "measurement",
    "The liver is smaller than the spleen.": "comparison",
    "The spleen lies to the right of the liver.": "direction",
    "The largest kidney lesion is on the right.": "side",
    "The spleen ends at L3.": "level",
}
_SILENT = (
    "The spleen is above the liver.",  # 5 mm apart: too close to call
    "The left kidney has a volume of 150 mL.",  # no fact
    "It is 3 cm.",  # of what?
    "Answer: the liver is smaller than the spleen.",  # the answer, not a step
    "The liver measures 10 to 20 cm.",  # a range
)


@pytest.fixture(scope="module")
def about_nothing(phantoms: Bench) -> tuple[Item, Viewing]:
    item = next(iter(phantoms.items()))
    return Item("i", item.study_id, item.series, "p", "made", "yes_no", "?", item.answer), Viewing(
        phantoms
    )


@pytest.mark.parametrize(("text", "kind"), [*_TRUE.items(), *_FALSE.items()])
def test_single_statements(text: str, kind: str, about_nothing: tuple[Item, Viewing]) -> None:
    item, shown = about_nothing
    assert [(one.kind, one.right) for one in statements(item, text, FACTS, shown)] == [
        (kind, text in _TRUE)
    ]


@pytest.mark.parametrize("text", _SILENT)
def test_what_no_fact_decides_is_passed_over(
    text: str, about_nothing: tuple[Item, Viewing]
) -> None:
    item, shown = about_nothing
    assert statements(item, text, FACTS, shown) == []


def test_a_statement_that_is_the_answer_is_no_step(about_nothing: tuple[Item, Viewing]) -> None:
    item, shown = about_nothing
    asked = Item(
        "i", item.study_id, item.series, "p", "direction", "yes_no", "?", item.answer,
        tags=("structure:liver", "structure:spleen"),
    )  # fmt: skip
    text = "The spleen lies to the left of the liver. The liver is larger than the spleen."
    assert [one.kind for one in statements(asked, text, FACTS, shown)] == ["comparison"]


@pytest.fixture(scope="module")
def placed(phantoms: Bench) -> tuple[Item, StudyFacts, Viewing, list[FrameBox]]:
    """An item whose record says where the spleen is, and the spleen's boxes on the frames."""
    shown = Viewing(phantoms)
    item = next(
        i
        for i in phantoms.items()
        if i.task in ("comparison", "extent", "volume") and "spleen" in {b.label for b in i.boxes}
    )
    own = [box for box in item.boxes if box.label == "spleen"]
    return (
        item,
        StudyFacts(list(phantoms.facts(study_id=item.study_id))),
        shown,
        list(shown.boxes(item, own)),
    )


def test_frames_that_are_stated(placed: tuple[Item, StudyFacts, Viewing, list[FrameBox]]) -> None:
    item, facts, shown, boxes = placed
    base, frames = shown.space.frame_base, sorted(box.frame for box in boxes)
    count = len(shown.layout(item).frames)
    elsewhere = frames[-1] + 4 if frames[-1] + 6 < count else frames[0] - 6
    for first, last, right in ((frames[0], frames[-1], True), (elsewhere, elsewhere + 2, False)):
        text = f"The spleen is seen on slices {first + base}-{last + base}."
        assert [(one.kind, one.right) for one in statements(item, text, facts, shown)] == [
            ("frames", right)
        ]
    assert (
        statements(item, f"The spleen is not seen on slice {frames[0] + base}.", facts, shown) == []
    )


@pytest.mark.parametrize(("shift", "right"), [(0.0, True), (1.0, False)])
def test_a_box_that_is_stated(
    placed: tuple[Item, StudyFacts, Viewing, list[FrameBox]], shift: float, right: bool
) -> None:
    """The true box; and the one beside it, which it does not meet."""
    item, facts, shown, boxes = placed
    box = boxes[len(boxes) // 2]
    step = shift * (box.x1 - box.x0)
    numbers = ", ".join(f"{v:.2f}" for v in (box.x0 + step, box.y0, box.x1 + step, box.y1))
    text = f"The spleen lies here: Frame {box.frame + shown.space.frame_base}: [{numbers}]"
    assert [(one.kind, one.right) for one in statements(item, text, facts, shown)] == [
        ("box", right)
    ]
