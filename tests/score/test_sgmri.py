"""The published scores of SGMRI-VQA: equal to the released code, its mistakes included."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from situs.score import sgmri

GOLDEN = json.loads(Path(__file__).with_name("sgmri_golden.json").read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_the_released_code_returns_the_same(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["output"]
    match case["kind"]:
        case "a_score":
            args = (given["prediction"], given["gt_answer"], given["qa_type"], given["gt_labels"])
            assert sgmri.a_score(*args) == pytest.approx(expected["a_score"], abs=1e-9)
        case "v_score":
            said = given["pred_bboxes_parsed"]
            size = (given["image_width"], given["image_height"])
            found = sgmri.visual(given["prediction"], given["gt_bboxes"], *size, pred_boxes=said)
            assert found.v_score == pytest.approx(expected["v_score"], abs=1e-9)
            assert found.map == (
                None if "map" not in expected else pytest.approx(expected["map"], abs=1e-9)
            )
            for at, value in found.f1.items():
                assert value == pytest.approx(
                    expected["details"]["detection_metrics"][f"F1@{at}"], abs=1e-9
                )
        case "parse_boxes":
            found = sgmri.parse_boxes(given["text"], given["image_width"], given["image_height"])
            assert found == [[frame, pytest.approx(box, abs=1e-9)] for frame, box in expected]
        case "video_answer":
            assert sgmri.video_answer(given["prediction"], given["qa_type"]) == expected


ANSWERS = {
    # Each from a sentence of the rules: first word; stated answer; substring; both or neither.
    ("No, nothing", "No", "closed_ended"): 1.0,
    ("There is an abnormality", "No", "closed_ended"): 1.0,
    ("Based on the scan the answer is: **Yes**, no doubt", "Yes", "closed_ended"): 1.0,
    ("<think>no</think> Yes", "Yes", "closed_ended"): 0.0,
    ("Maybe", "Yes", "closed_ended"): 0.0,
    # Numbers: whole text; the final answer; the last integer; wording of nothing.
    ("3", "3", "closed_ended"): 1.0,
    ("Therefore, the final answer is: 4. Seen on 12 slices", "4", "closed_ended"): 1.0,
    ("4 lesions on slice 12", "4", "closed_ended"): 0.0,
    ("zero", "0", "closed_ended"): 1.0,
    ("-2", "-2", "closed_ended"): 1.0,
    # Letters: parentheses before lone letters; the first of the alphabet.
    ("(A) is unlikely. The answer is (C).", "(C)", "single_choice"): 0.0,
    ("It is not (A) at all. (B)", "(B)", "single_choice"): 1.0,
    ("The answer is B, there is a lesion", "(B)", "single_choice"): 0.0,
    ("answer: d", "D", "single_choice"): 1.0,
    ("E", "(A)", "single_choice"): 0.0,
    ("(A)(B)(C)", "(A)(C)", "multiple_choice"): 0.8,
    ("(A)(B)(C)", "(A)(C)", "multi_choice"): 0.8,
    ("", "(A)", "multiple_choice"): 0.0,
    ("a tear", "tear of meniscus", "open_ended"): 1 / 3,
    ("yes", "yes", "another_type"): 0.0,
}


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: f"{case[0]} | {case[1]}")
def test_answers_by_the_published_rules(case: tuple[str, str, str]) -> None:
    assert sgmri.a_score(*case) == pytest.approx(ANSWERS[case], abs=1e-9)


BOXES: list[tuple[str, tuple[int, int] | None, list[Any]]] = [
    # The first form that yields a box wins; the frame named last holds on.
    (
        "Frame 3: <bbx>[1,2,3,4]</bbx> <bbx>[5,6,7,8]</bbx> [9,9,20,20]",
        None,
        [[3, [1, 2, 3, 4]], [3, [5, 6, 7, 8]]],
    ),
    ("Frames 7-9: <bbx>[1,2,3,4]</bbx>", None, [[None, [1, 2, 3, 4]]]),
    ("<bboox>[1,2,3,4]</bbx>", None, [[None, [1, 2, 3, 4]]]),
    ("<bx>[10,20,30,40]</bx>", None, [[None, [10, 20, 20, 20]]]),
    ("<bbox>[1, 2, 3, x]</bbox>", None, []),
    # Box tokens: always thousandths where the size is known; inverted ones are dropped.
    (
        "<|box_start|>(100,200),(300,400)<|box_end|>",
        (320, 640),
        [[None, [32.0, 128.0, 64.0, 128.0]]],
    ),
    ("<|box_start|>(100,200),(300,400)<|box_end|>", None, [[None, [100, 200, 200, 200]]]),
    ("<|box_start|>(300,200),(100,400)<|box_end|>", None, []),
    ("BBOX(10, 20, 30, 40)", None, [[None, [10, 20, 20, 20]]]),
    ("FRAME 4: bbox(10,20,30,40)", None, [[4, [10, 20, 20, 20]]]),
    ("(10,20) (30,40)", None, [[None, [10, 20, 20, 20]]]),
    ("frame 2, (10, 20),(30, 40)", None, [[2, [10, 20, 20, 20]]]),
    # Thousandths only if a coordinate exceeds the longer side.
    ('{"bbox_2d": [100, 100, 200, 200]}', (320, 320), [[None, [100, 100, 100, 100]]]),
    ('{"bbox_2d": [100, 100, 500, 200]}', (320, 320), [[None, [32.0, 32.0, 128.0, 32.0]]]),
    ('{"bbox_2d": [1, 2, 3]} [10, 20, 30, 40]', None, [[None, [10, 20, 20, 20]]]),
    ('{"x": 1, "y": 2, "width": 3, "height": 4, "frame": 6}', None, [[6, [1, 2, 3, 4]]]),
    ('{"x": 1, "y": 2, "width": 0, "height": 4}', None, []),
    # Bare brackets: corners if both ends are larger, decided before the rescaling.
    ("[100, 100, 120, 120]", None, [[None, [100, 100, 20, 20]]]),
    ("[100, 100, 20, 120]", None, [[None, [100, 100, 20, 120]]]),
    ("[400, 100, 500, 200]", (320, 320), [[None, [128.0, 32.0, 32.0, 32.0]]]),
    (
        "[0.5, 0.5, 0.6, 0.6]",
        (320, 320),
        [[None, [0.5, 0.5, pytest.approx(0.1), pytest.approx(0.1)]]],
    ),
    ("[-5, 5, 10, 10]", None, []),
    ("[1, 2, 20000, 4]", None, []),
    (
        '{"bboxes": [{"min_x": 0.1, "min_y": 0.1, "max_x": 0.2, "max_y": 0.3}]}',
        (100, 200),
        [[None, [10, 20, 10, 40]]],
    ),
    ('{"bboxes": [{"min_x": 0.3, "min_y": 0.1, "max_x": 0.2, "max_y": 0.3}]}', (100, 200), []),
]


@pytest.mark.parametrize(("text", "size", "expected"), BOXES, ids=lambda value: str(value)[:50])
def test_boxes_by_the_published_rules(
    text: str, size: tuple[int, int] | None, expected: list[Any]
) -> None:
    assert sgmri.parse_boxes(text, *(size or ())) == [
        [frame, pytest.approx(box)] for frame, box in expected
    ]


def test_no_true_box_is_no_score_and_no_predicted_box_is_none() -> None:
    box = {"x": 0, "y": 0, "width": 10, "height": 10}
    assert sgmri.v_score("<bbx>[0,0,10,10]</bbx>", []) is None
    assert sgmri.v_score("nothing", [box]) == 0.0
    assert sgmri.v_score("<think><bbx>[0,0,10,10]</bbx></think>", [box]) == 0.0
    assert sgmri.v_score("Frame 2: <bbx>[0,0,10,10]</bbx>", [box | {"slice_num": 3}]) == 0.0
    assert sgmri.v_score("Frame 3: <bbx>[0,0,10,10]</bbx>", [box | {"slice_num": 3}]) == 1.0


def test_more_boxes_never_cost() -> None:
    """The defect that the blind rows show: no precision term."""
    truth = [{"x": 40, "y": 40, "width": 20, "height": 20}]
    grid = " ".join(
        f"<bbx>[{x}, {y}, 20, 20]</bbx>" for x in range(0, 300, 20) for y in range(0, 300, 20)
    )
    assert sgmri.v_score(grid, truth) == 1.0


VIDEO = {
    ("Therefore the final answer is: **Yes**, clearly.", "closed_ended"): "Yes",
    ("therefore, the final answer is: C) cyst", "multiple_choice"): "C",
    ("Therefore, the final answer is: maybe", "closed_ended"): "maybe",
    ("Therefore, the final answer is: Both sides.", "single_choice"): "Both sides",
    ("Yes.", "closed_ended"): "Yes.",
}


@pytest.mark.parametrize("case", VIDEO, ids=str)
def test_video_answers(case: tuple[str, str]) -> None:
    assert sgmri.video_answer(*case) == VIDEO[case]


REFERENCE = (
    "A horizontal tear of the posterior horn of the medial meniscus is seen on the sagittal images."
)
SAID = "There is a tear in the posterior horn of the medial meniscus."


def test_wording_equals_nltk_and_rouge_score() -> None:
    bleu = pytest.importorskip("nltk.translate.bleu_score")
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(
        ["rougeL"], use_stemmer=True
    )
    smooth = bleu.SmoothingFunction().method1
    for said in (SAID, REFERENCE, "tear", "no", "A tear of the medial horn . seen"):
        parts = sgmri.ar_score(said, REFERENCE).parts
        words = said.lower().split()
        expected = bleu.sentence_bleu([REFERENCE.lower().split()], words, smoothing_function=smooth)
        assert parts["bleu"] == pytest.approx(expected, abs=1e-9)
        assert parts["rouge_l"] == pytest.approx(
            scorer.score(REFERENCE, said)["rougeL"].fmeasure, abs=1e-9
        )


def test_reasoning_says_which_parts_it_has() -> None:
    alone = sgmri.ar_score(SAID, REFERENCE)
    assert set(alone.parts) == {"bleu", "rouge_l"}
    assert alone.ar_score == pytest.approx((alone.parts["bleu"] + alone.parts["rouge_l"]) / 2)
    whole = sgmri.ar_score(SAID, REFERENCE, gpt=0.5, bertscore=0.3)
    wording = alone.parts["bleu"] + alone.parts["rouge_l"] + 0.3
    assert whole.ar_score == pytest.approx(0.4 * 0.5 + 0.2 * wording)
    assert sgmri.ar_score("  ", REFERENCE).ar_score == 0.0


def test_a_judges_part_is_relative_to_the_reference() -> None:
    assert sgmri.gpt_part((6, 7, 8), (10, 10, 8)) == pytest.approx(21 / 28)
    assert sgmri.gpt_part((9, 9, 9), (8, 8, 8)) == 1.0
    assert sgmri.gpt_part((3, 3, 3), (0, 0, 0)) == pytest.approx(0.3)


def test_boxes_and_frames_are_stripped_before_wording_is_compared() -> None:
    text = "A tear seen on Frame 3: <bbx>[1, 2, 3, 4]</bbx>, and [5, 6, 7, 8]."
    assert "[" not in sgmri.without_boxes(text)
    assert "Frame" not in sgmri.without_boxes(text)
    assert sgmri.without_boxes(text).startswith("A tear")


@pytest.mark.parametrize(
    "text",
    ["9" * 5000, "Frame " + "9" * 5000 + ": <bbx>[1,2,3,4]</bbx>", "<bbx>[nan,inf,1,2]</bbx>"],
)
def test_hostile_replies_end_in_a_score(text: str) -> None:
    truth = [{"x": 0, "y": 0, "width": 10, "height": 10, "frame": 2}]
    assert math.isfinite(sgmri.v_score(text, truth) or 0.0)
    assert sgmri.a_score(text, "3", "closed_ended") == 0.0
