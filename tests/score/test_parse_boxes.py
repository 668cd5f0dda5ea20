"""Boxes as models write them, read as a careful person would, or not at all."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situs.profiles import AnswerSpace
from situs.run.baselines.speech import say_boxes
from situs.score import INFERRED, Parsed, RefusedInWords, Unparsed, parse_boxes
from situs.space import FrameBox

STACK = [(320, 240)] * 20
ONE = [(320, 240)]
XYWH = AnswerSpace(box_order="xywh")
XYXY = AnswerSpace(box_order="xyxy")
UNIT = AnswerSpace(box_scale="unit")
THOUSAND = AnswerSpace(box_scale="thousand")
FROM_0 = AnswerSpace(frame_base=0, box_order="xywh")
VOLUME = AnswerSpace(box_form="volume")

B = (10.0, 20.0, 40.0, 60.0)
"""The box x 10–40, y 20–60; as x, y, w, h it is 10, 20, 30, 40."""


def places(result: Any) -> list[tuple[int, tuple[float, ...]]]:
    assert isinstance(result, Parsed), result
    return [
        (box.frame, tuple(round(v, 6) for v in (box.x0, box.y0, box.x1, box.y1)))
        for box in result.value
    ]


READ: list[tuple[str, AnswerSpace, list[tuple[int, tuple[float, ...]]]]] = [
    # The published forms.
    ("Frame 3: <bbx>[10, 20, 30, 40]</bbx>", XYWH, [(2, B)]),
    ("Frame 3: <bbx>[10, 20, 30, 40]<\\bbx>", XYWH, [(2, B)]),
    ("Frame 3: <bbox>[10, 20, 30, 40]</bbox>", XYWH, [(2, B)]),
    ("Frame 3: <bounding_box>[10, 20, 30, 40]</bounding_box>", XYWH, [(2, B)]),
    ("Frame 3: <bbx>10, 20, 30, 40</bbx>", XYWH, [(2, B)]),
    ("Frame 3: <bbx>[10 20 30 40]</bbx>", XYWH, [(2, B)]),
    ("Frame 3: <|box_start|>(100,250),(200,500)<|box_end|>", XYWH, [(2, (32, 60, 64, 120))]),
    ("Frame 3: bbox(10,20,40,60)", XYXY, [(2, B)]),
    ("Frame 3: (10,20),(40,60)", XYWH, [(2, B)]),
    ('Frame 3: {"bbox_2d": [10, 20, 40, 60]}', XYWH, [(2, B)]),
    ('Frame 3: {"x": 10, "y": 20, "width": 30, "height": 40}', XYXY, [(2, B)]),
    ("Frame 3: [10, 20, 40, 60]", XYXY, [(2, B)]),
    ("Frame 3: centre at (25, 40), width 30, height 40", XYXY, [(2, B)]),
    (
        '{"bboxes": [{"min_x": 0.1, "min_y": 0.25, "max_x": 0.2, "max_y": 0.5, "frame": 3}]}',
        UNIT,
        [(2, (32, 60, 64, 120))],
    ),
    # What its reader misses: x, y, w, h with large sides; ranges of frames; frames in JSON;
    # decimals.
    ("Frame 3: [20, 20, 50, 50]", XYWH, [(2, (20, 20, 70, 70))]),
    ("Frames 7-9: <bbx>[10, 20, 30, 40]</bbx>", XYWH, [(6, B), (7, B), (8, B)]),
    ("Frames 7 and 9: <bbx>[10, 20, 30, 40]</bbx>", XYWH, [(6, B), (8, B)]),
    ('{"frame": 3, "bbox": [10, 20, 30, 40], "label": "tear"}', XYWH, [(2, B)]),
    (
        '[{"frame": 3, "bbox": [10, 20, 30, 40]}, {"frame": 4, "bbox": [10, 20, 30, 40]}]',
        XYWH,
        [(2, B), (3, B)],
    ),
    ('{"bboxes": [{"frame": "3", "bbox": [10, 20, 30, 40]}]}', XYWH, [(2, B)]),
    ('{"frames": [3, 5], "bbox": [10, 20, 30, 40]}', XYWH, [(2, B), (4, B)]),
    ('{"frame": "3-4", "bbox": [10, 20, 30, 40]}', XYWH, [(2, B), (3, B)]),
    ('{"frame_3": [[10, 20, 30, 40]], "frame_4": [[10, 20, 30, 40]]}', XYWH, [(2, B), (3, B)]),
    ('{"Frame 3": {"bbox": [10, 20, 30, 40]}}', XYWH, [(2, B)]),
    ('{"3": [10, 20, 30, 40]}', XYWH, [(2, B)]),
    ("Frame 3: bbox(10.5, 20.5, 40.5, 60.5)", XYXY, [(2, (10.5, 20.5, 40.5, 60.5))]),
    # Broken JSON, markdown, fences, prose.
    ("```json\n{'frame': 3, 'bbox': [10, 20, 30, 40],}\n```", XYWH, [(2, B)]),
    ("{frame: 3, bbox: [10, 20, 30, 40]}", XYWH, [(2, B)]),
    ("{'label': 'patient's left tear', 'frame': 3, 'bbox': [10, 20, 30, 40]}", XYWH, [(2, B)]),
    ('{"bboxes": [{"frame": 3, "bbox": [10, 20, 30, 40]}, {"frame": 4, "bbox": [1', XYWH, [(2, B)]),
    ("**Frame 3**: `[10, 20, 30, 40]`", XYWH, [(2, B)]),
    (
        "1. **Frame 3:**\n   - [10, 20, 30, 40]\n2. **Frame 4:**\n   - [10, 20, 30, 40]",
        XYWH,
        [(2, B), (3, B)],
    ),
    ("The tear lies at [10, 20, 30, 40] on frame 3.", XYWH, [(2, B)]),
    ("On slice 3 it spans from (10, 20) to (40, 60).", XYWH, [(2, B)]),
    ("Frame 3: top-left (10, 20), bottom-right (40, 60)", XYWH, [(2, B)]),
    ("Slice #3: x: 10, y: 20, width: 30, height: 40", XYXY, [(2, B)]),
    ("Frame 3: x1=10, y1=20, x2=40, y2=60", XYWH, [(2, B)]),
    ("Frame 3: xmin=10 ymin=20 xmax=40 ymax=60", XYWH, [(2, B)]),
    ('{"frame": 3, "x_min": 10, "y_min": 20, "x_max": 40, "y_max": 60}', XYWH, [(2, B)]),
    ('{"frame": 3, "top_left": [10, 20], "bottom_right": [40, 60]}', XYWH, [(2, B)]),
    ('{"frame": 3, "box": [[10, 20], [40, 20], [40, 60], [10, 60]]}', XYWH, [(2, B)]),
    ('{"frame": 3, "bbox": {"x": "10", "y": "20", "w": "30", "h": "40"}}', XYXY, [(2, B)]),
    ("Frame 3: (40,60),(10,20)", XYWH, [(2, B)]),
    ("Frame 3: top left corner at (10,20), width 30, height 40", XYXY, [(2, B)]),
    (
        "Frame 3: upper-left corner (10, 20) with a width of 30 px and a height of 40 px",
        XYXY,
        [(2, B)],
    ),
    ("Frame 3: x from 10 to 40, y from 20 to 60", XYWH, [(2, B)]),
    ("The 3rd frame: [10, 20, 30, 40]", XYWH, [(2, B)]),
    ("The 3rd frame: [10, 20, 30, 40]", FROM_0, [(2, B)]),
    ("F3: [10, 20, 30, 40]\nF4: [10, 20, 30, 40]", XYWH, [(2, B), (3, B)]),
    (
        "| Frame | Box |\n|---|---|\n| 3 | [10,20,30,40] |\n| 4 | 10, 20, 30, 40 |",
        XYWH,
        [(2, B), (3, B)],
    ),
    (
        (
            "Boxes:\n\n| Slice # | x (px) | y | width | height |\n|:--|--:|--|--|--|\n| 3 | 10 | 20"
            " | 30 | 40 |\n"
        ),
        XYXY,
        [(2, B)],
    ),
    # Thinking and reasoning are no answers; the final answer is; the same box twice is one.
    ("<think>Frame 9: [1, 1, 5, 5]</think>Frame 3: [10, 20, 30, 40]", XYWH, [(2, B)]),
    ("Maybe frame 9: [1, 1, 5, 5].\nFinal answer: Frame 3: [10, 20, 30, 40]", XYWH, [(2, B)]),
    (
        (
            '{"reasoning": "On frame 9 [1, 1, 5, 5] is bright.", "bboxes": [{"frame": 3, "bbox":'
            " [10, 20, 30, 40]}]}"
        ),
        XYWH,
        [(2, B)],
    ),
    ('{"answer": "Frame 3: <bbx>[10, 20, 30, 40]</bbx>"}', XYWH, [(2, B)]),
    (
        (
            '{"answer": "Frame 3: <bbx>[10, 20, 30, 40]</bbx>", "bboxes": [{"frame": 3, "bbox":'
            " [10, 20, 30, 40]}]}"
        ),
        XYWH,
        [(2, B)],
    ),
    # By declaration.
    ("Frame 3: [10, 20, 30, 40]", FROM_0, [(3, B)]),
    ("Frame 3: [100, 250, 200, 500]", THOUSAND, [(2, (32, 60, 64, 120))]),
    ("Frame 3: [0.1, 0.25, 0.2, 0.5]", UNIT, [(2, (32, 60, 64, 120))]),
    ("[3, 5, 10, 40, 20, 60]", VOLUME, [(2, B), (3, B), (4, B)]),
    ('{"bounding_box": [3, 5, 10, 40, 20, 60]}', VOLUME, [(2, B), (3, B), (4, B)]),
    (
        '{"start_slice": 3, "end_slice": 4, "x_min": 10, "x_max": 40, "y_min": 20, "y_max": 60}',
        VOLUME,
        [(2, B), (3, B)],
    ),
    # Outside the picture it is cut; a picture that was not shown stays, as a box that meets none.
    ("Frame 3: [-5, -5, 15, 25]", XYWH, [(2, (0, 0, 10, 20))]),
    ("Frame 99: [10, 20, 30, 40]", XYWH, [(98, B)]),
]


@pytest.mark.parametrize(("text", "space", "expected"), READ, ids=lambda value: str(value)[:60])
def test_read_as_it_is_meant(
    text: str, space: AnswerSpace, expected: list[tuple[int, tuple[float, ...]]]
) -> None:
    result = parse_boxes(text, space, STACK)
    assert places(result) == [(frame, tuple(map(float, box))) for frame, box in expected]
    assert not INFERRED & set(result.flags)


INFERENCES = [
    ("Frame 3: [0.1, 0.25, 0.2, 0.5]", XYXY, "scale_inferred", (2, (32, 60, 64, 120))),
    ("Frame 3: [100, 250, 200, 900]", XYXY, "scale_inferred", (2, (32, 60, 64, 216))),
    ("Frame 3: [10, 20, 40, 60]", UNIT, "scale_inferred", (2, B)),
    ("Frame 3: [200, 200, 20, 20]", XYXY, "order_inferred", (2, (200, 200, 220, 220))),
    ("Frame 3: [200, 100, 300, 200]", XYWH, "order_inferred", (2, (200, 100, 300, 200))),
    ("Frame 0: [10, 20, 30, 40]", XYWH, "frame_base_inferred", (0, B)),
    ("Frame 20: [10, 20, 30, 40]", FROM_0, "frame_base_inferred", (19, B)),
]


@pytest.mark.parametrize(
    ("text", "space", "flag", "expected"), INFERENCES, ids=lambda value: str(value)[:40]
)
def test_read_otherwise_only_if_it_cannot_be_meant_so_and_flagged(
    text, space, flag, expected
) -> None:
    result = parse_boxes(text, space, STACK)
    assert places(result) == [(expected[0], tuple(map(float, expected[1])))]
    assert flag in result.flags


@pytest.mark.parametrize(
    "text", ["[]", '{"bboxes": []}', "No abnormality is seen.", "None.", "No bounding box"]
)
def test_no_box_is_an_answer(text: str) -> None:
    assert parse_boxes(text, XYWH, STACK) == Parsed([])


UNREAD = [
    ("", "empty"),
    ("The lesion is in the left lobe.", "no box given"),
    ("[10, 20, 30, 40]", "no frame given"),
    ("Frame 3: [10, 20, 0, 0]", "no box with an extent"),
    ("Frame 3: [10, 20]", "no box given"),
    ("Frame 3: centre at (25, 40)", "no box given"),
    (
        "| Frame | x | y | area | side |\n|--|--|--|--|--|\n| 3 | 10 | 20 | 30 | 40 |",
        "no box given",
    ),
    ("It measures 10 x 20 x 30 x 40 mm", "no box given"),
]


@pytest.mark.parametrize(("text", "reason"), UNREAD)
def test_what_is_not_sure_is_unparsed(text: str, reason: str) -> None:
    assert parse_boxes(text, XYWH, STACK) == Unparsed(reason)


def test_on_a_single_picture_no_frame_is_needed() -> None:
    for text in (
        "[10, 20, 30, 40]",
        "<bbx>[10, 20, 30, 40]</bbx>",
        "Frame 7: [10, 20, 30, 40]",
        "10, 20, 30, 40",
    ):
        assert places(parse_boxes(text, XYWH, ONE)) == [(0, B)]


def test_a_refusal_in_words_is_one() -> None:
    assert parse_boxes("I'm sorry, I cannot view images.", XYWH, STACK) == RefusedInWords()


def test_shares_of_a_picture_need_its_size() -> None:
    unknown = [(float("inf"), float("inf"))] * 3
    assert places(parse_boxes("Frame 1: [10, 20, 40, 60]", XYXY, unknown)) == [(0, B)]
    assert isinstance(parse_boxes("Frame 1: [0.1, 0.2, 0.3, 0.4]", UNIT, unknown), Unparsed)


LABELS = [
    ('{"frame": 3, "bbox": [10, 20, 30, 40], "label": "Edema"}', "Edema"),
    ('{"finding": "edema", "frame": 3, "bbox": [10, 20, 30, 40]}', "edema"),
    ('{"edema": {"frame": 3, "bbox": [10, 20, 30, 40]}}', "edema"),
    (
        (
            "| Frame | x | y | w | h | Finding |\n|--|--|--|--|--|--|\n| 3 | 10 | 20 | 30 | 40 |"
            " Edema |"
        ),
        "Edema",
    ),
    ("Frame 3:\n- Edema: [10, 20, 30, 40]", "Edema"),
    ("Edema\nFrame 3: [10, 20, 30, 40]", "Edema"),
    (
        "<|object_ref_start|>edema<|object_ref_end|> frame 3 <|box_start|>(1,2),(3,4)<|box_end|>",
        "edema",
    ),
    ("Frame 3: [10, 20, 30, 40]", ""),
]


@pytest.mark.parametrize(("text", "label"), LABELS)
def test_labels(text: str, label: str) -> None:
    result = parse_boxes(text, XYWH, STACK, ["Edema", "Mass"])
    assert [box.label for box in result.value] == [label]


BOX = st.builds(
    lambda f, x, y, w, h: FrameBox(f, x, y, x + w, y + h, "tear"),
    st.integers(0, 19),
    st.floats(0, 200),
    st.floats(0, 150),
    st.floats(2, 100),
    st.floats(2, 80),
)
SPACES = st.builds(
    AnswerSpace,
    frame_base=st.sampled_from([0, 1]),
    box_scale=st.sampled_from(["pixel", "unit", "thousand"]),
    box_order=st.sampled_from(["xyxy", "xywh"]),
)


@settings(max_examples=60, deadline=None)
@given(boxes=st.lists(BOX, min_size=1, max_size=4), space=SPACES, seed=st.integers(0, 20))
def test_what_is_said_in_a_profiles_coordinates_comes_back(boxes, space, seed) -> None:
    """Over every declared space and way of saying it, to the precision of what is written."""
    text = say_boxes(boxes, space, STACK, random.Random(seed))
    result = parse_boxes(text, space, STACK, ["tear"])
    assert isinstance(result, Parsed), text
    for one, others in ((result.value, boxes), (boxes, result.value)):
        for box in one:
            assert min(_apart(box, other) for other in others) < 0.02, text


def _apart(a: FrameBox, b: FrameBox) -> float:
    ends = zip((a.x0, a.y0, a.x1, a.y1), (b.x0, b.y0, b.x1, b.y1))
    return max(abs(p - q) for p, q in ends) if a.frame == b.frame else 999.0


def test_a_gap_of_any_length_is_a_gap() -> None:
    text = f"Frame 3: (10, 20){' ' * 50_000}(40, 60)"
    assert places(parse_boxes(text, XYWH, STACK)) == [(2, B)]


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="[](){}<>|,.:;0123456789 frame-bx\"'\n", max_size=120))
def test_any_text_ends_in_a_result(text: str) -> None:
    assert isinstance(parse_boxes(text, XYWH, STACK), Parsed | Unparsed | RefusedInWords)


def test_a_box_without_width_in_the_declared_order_is_read_in_the_other() -> None:
    """From (10, 20) to (10, 50) is no box; 10 wide and 30 high from there on is one."""
    reply = '[{"frame": 1, "bbox": [10, 20, 10, 30]}]'
    read = parse_boxes(reply, AnswerSpace(), [(320.0, 320.0)] * 2)
    assert read == Parsed([FrameBox(0, 10.0, 20.0, 20.0, 50.0)], ("order_inferred",))
