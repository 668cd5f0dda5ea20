"""Frames, several options and grades as models write them."""

from __future__ import annotations

import pytest

from situs.items import Option
from situs.score import Parsed, RefusedInWords, Unparsed, parse_choices, parse_frames, parse_grades

RANGE = (2, 3, 4, 5, 6)
"""Frames 3 to 7, counted from 1, as positions."""

FRAMES = [
    "3-7",
    "3–7",
    "3 to 7",
    "Frames 3 to 7",
    "frames 3, 4, 5, 6 and 7",
    "Slices 3–7.",
    "**Frames 3-7**",
    "It is seen from slice 3 through slice 7.",
    "It starts on frame 3 and ends on frame 7.",
    "Between frame 3 and frame 7.",
    "The 3rd to 7th frames.",
    "[3, 7]",
    "[3, 4, 5, 6, 7]",
    '{"frames": [3, 7]}',
    '{"frames": "3-7"}',
    '{"answer": "3-7"}',
    '{"frame_range": [3, 7]}',
    "{'start_frame': 3, 'end_frame': 7,}",
    '```json\n{"first": 3, "last": 7}\n```',
    "Of the 20 frames, frames 3-7 show the 12 mm lesion.",
    "Not visible on frame 2, but on frames 3-7.",
    "It could be frames 2-9. Final answer: 3-7",
    "<think>frames 1-2</think>Frames 3-7",
    "Answer: frames 3 through 7",
]


@pytest.mark.parametrize("text", FRAMES)
def test_a_range_of_frames(text: str) -> None:
    assert parse_frames(text, 1, 20) == Parsed(RANGE)


SETS = {
    "slices 3–7 and 9": (2, 3, 4, 5, 6, 8),
    "[3, 7]": (2, 6),
    "Frames 3, 7 and 9": (2, 6, 8),
    '{"slices": [3, 7, 9]}': (2, 6, 8),
    "Only frame 12.": (11,),
    "None": (),
    "All frames": tuple(range(20)),
}


@pytest.mark.parametrize("text", SETS)
def test_a_set_of_frames(text: str) -> None:
    assert parse_frames(text, 1, 20, contiguous=False) == Parsed(SETS[text])


def test_frames_count_from_what_is_declared() -> None:
    assert parse_frames("3-7", 0, 20) == Parsed((3, 4, 5, 6, 7))
    assert parse_frames("0-4", 1, 20) == Parsed((0, 1, 2, 3, 4), ("frame_base_inferred",))
    assert parse_frames("18-20", 0, 20) == Parsed((17, 18, 19), ("frame_base_inferred",))
    assert parse_frames("18-25", 1, 20) == Parsed((17, 18, 19), ("no_such_frame",))


@pytest.mark.parametrize("text", ["", "25-30", "The lesion is large.", "It is 5 mm wide."])
def test_frames_that_are_not_told(text: str) -> None:
    assert isinstance(parse_frames(text, 1, 20), Unparsed)


def test_a_refusal_to_name_frames() -> None:
    assert parse_frames("I cannot determine this.", 1, 20) == RefusedInWords()


OPTIONS = [
    Option("e", "Edema"),
    Option("m", "Mass"),
    Option("w", "Nonspecific white matter lesion"),
    Option("c", "Craniotomy"),
]
CHOSEN = [
    "A, C",
    "A and C",
    "A & C",
    "(A)(C)",
    "(A), (C)",
    "AC",
    "a, c",
    "**A** and **C**",
    "Options A and C.",
    "The answer is A and C.",
    "The correct options are A and C.",
    "Answer: (A) and (C)",
    '{"answer": ["A", "C"]}',
    '{"answer": "A, C"}',
    "```json\n{'answer': ['A', 'C'],}\n```",
    "\\boxed{A, C}",
    "A. Edema; C. Nonspecific white matter lesion",
    "(A) Edema\n(C) Nonspecific white matter lesion",
    "Edema and nonspecific white matter lesion.",
    "There is edema and a nonspecific white matter lesion, but no mass.",
    "It is not (B). The answer is (A) and (C).",
    "(A) Edema (B) Mass (C) Nonspecific white matter lesion (D) Craniotomy. Final answer: A, C",
]


@pytest.mark.parametrize("text", CHOSEN)
def test_several_options(text: str) -> None:
    assert parse_choices(text, OPTIONS) == Parsed(("e", "w"))


def test_all_none_and_one_option() -> None:
    assert parse_choices("All of the above", OPTIONS) == Parsed(("e", "m", "w", "c"))
    assert parse_choices("None of the above.", OPTIONS) == Parsed(())
    assert parse_choices("A large mass is seen.", OPTIONS) == Parsed(("m",))
    assert parse_choices("B", OPTIONS) == Parsed(("m",))


@pytest.mark.parametrize("before", ["", "There is ", "On all of these slices there is "])
def test_an_option_named_in_part_behind_another_leaves_the_reply_unread(before: str) -> None:
    options = [
        Option("e", "joint effusion"),
        Option("m", "meniscus tear"),
        Option("f", "fracture"),
    ]
    said = f"{before}a joint effusion with a torn meniscus."
    assert parse_choices(said, options) == Unparsed("an option is named in part")
    assert parse_choices(f"{before}a joint effusion.", options) == Parsed(("e",))


def test_options_that_are_not_told() -> None:
    assert parse_choices("A, F", OPTIONS) == Unparsed("no such option")
    assert parse_choices("", OPTIONS) == Unparsed("empty")
    assert parse_choices("The scan is bright.", OPTIONS) == Unparsed("no option named")
    assert parse_choices("I cannot tell.", OPTIONS) == RefusedInWords()


SIZE, NUMBER, SHARE = (
    "Size of BML (including cyst)",
    "Number of BML within subregion",
    "% of lesion that is BML (excluding cyst)",
)
NAMES = (SIZE, NUMBER, SHARE)
GRADES = {SIZE: 2, NUMBER: 1, SHARE: 3}

GRADED = [
    (
        '{"MOAKS_scores": {"patella medial BML": {"Size of BML (including cyst)": 2, "Number of BML'
        ' within subregion": 1, "% of lesion that is BML (excluding cyst)": 3}}}'
    ),
    (
        "```json\n{'MOAKS_scores': {'patella medial BML': {'size': 2, 'number': 1, 'percent_bml':"
        " 3,},}}\n```"
    ),
    '{"moaks_scores": {"Patella Medial BML": {"SIZE": 2, "NUMBER": 1, "PERCENT": 3}}}',
    '{"size": 2, "number": 1, "percentage": 3}',
    '{"Size": "2", "Number": "1", "Percent of lesion": "3"}',
    '{"size": "Grade 2", "number": "grade 1 (one BML)", "percent": "3 (>66%)"}',
    '{"size": 2.0, "count": 1.0, "proportion": 3.0}',
    '{"size_grade": 2, "number_grade": 1, "percent_grade": 3}',
    '{"sizeOfBML": 2, "numberOfBML": 1, "percentOfLesion": 3}',
    (
        '{"scores": [{"name": "size", "grade": 2}, {"name": "number", "grade": 1}, {"name":'
        ' "percent", "grade": 3}]}'
    ),
    (
        '{"patella medial BML": {"size": {"grade": 2}, "number": {"grade": 1}, "percent": {"grade":'
        " 3}}}"
    ),
    "The BML is large. {'size': 2, 'number': 1, 'percent': 3} as described.",
    'Bright area of grade 1.\nFinal diagnosis: {"size": 2, "number": 1, "percent": 3}',
    (
        '{"size": 0, "number": 0, "percent": 0}\nOn second look:\n{"size": 2, "number": 1,'
        ' "percent": 3}'
    ),
    '{"reasoning": "size 1, number 2", "size": 2, "number": 1, "percent": 3, "confidence": 0.8}',
    '{"bbox": [1, 2, 3, 4, 5, 6], "grades": {"size": 2, "number": 1, "percent": 3}}',
    "Size: 2\nNumber: 1\nPercent: 3",
    "- **Size**: grade 2\n- **Number**: grade 1\n- **% of lesion**: grade 3",
    "Size = 2, number = 1, percentage = 3",
    "The size is grade 2, the number of BMLs is 1 and the percentage is 3.",
    "<think>size 0</think>{size: 2, number: 1, percent: 3}",
]


@pytest.mark.parametrize("text", GRADED)
def test_grades_however_they_are_written(text: str) -> None:
    assert parse_grades(text, NAMES, {}) == Parsed(GRADES)


PARTIAL = {
    '{"size": 2}': {SIZE: 2},
    '{"size": 2, "number": 1': {SIZE: 2, NUMBER: 1},
    '{"size": 2, "number": "unclear", "percent": 3}': {SIZE: 2, SHARE: 3},
    '{"Size": 2, "size": 3, "number": 1}': {NUMBER: 1},
    "Size: 2. The rest cannot be told.": {SIZE: 2},
}


@pytest.mark.parametrize("text", PARTIAL)
def test_the_parts_that_are_told_count(text: str) -> None:
    assert parse_grades(text, NAMES, {}) == Parsed(PARTIAL[text], ("partial",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "There is a lesion.",
        '{"size": (grade from 0-3), "number": (grade from 0-3)}',
        '{"size": "0 | 1", "number": "0-3"}',
        "It measures 12 mm and covers 40 %.",
    ],
)
def test_a_schema_or_a_measure_is_no_grade(text: str) -> None:
    assert isinstance(parse_grades(text, NAMES, {}), Unparsed)


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("1", 1),
        ("Grade 1", 1),
        ("The score is 1.", 1),
        ("Present", 1),
        ("absent", 0),
        ('{"medial_meniscal_cyst": {"presence": 1}}', 1),
        ('{"presence": true}', 1),
        ('{"popliteal_cyst_presence": {"presence": "0"}}', 0),
    ],
)
def test_a_single_grade(text: str, grade: int) -> None:
    assert parse_grades(text, ["presence"], {}) == Parsed({"presence": grade})


def test_a_refusal_to_grade() -> None:
    assert parse_grades("I am not able to assess this.", NAMES, {}) == RefusedInWords()
