"""Classes of replies that a list by a new author showed to be misread."""

import pytest

from situs.items import Option
from situs.score.read import Parsed, parse_choice, parse_choices, parse_number, parse_yes_no

GAP = "What is the shortest distance between the largest liver lesion and the gallbladder, in mm?"
LEVELS = [Option(letter, f"L{k}") for k, letter in enumerate("ABCD", start=1)]
FINDINGS = [
    Option("A", "meniscus tear"),
    Option("B", "joint effusion"),
    Option("C", "low-grade ACL sprain"),
    Option("D", "periarticular cyst"),
]


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("With slices 5 mm apart.", None),
        ("three slices of 5 mm", None),
        ("The lesion is 30 mm wide and the gallbladder 25 mm.", None),
        ("pixel spacing = 0.75\npixels = 20\ndistance = 15 mm", 15),
        ("First pass: 12 mm. Second pass: 9 mm. Average: 10.5 mm.", 10.5),
        ("My measurements were 10 mm, 14 mm; on average 12 mm.", 12),
    ],
)
def test_what_describes_the_scan_is_no_answer(reply, value):
    result = parse_number(reply, "mm", question=GAP)
    assert (float(result.value) if isinstance(result, Parsed) else None) == value


def test_both_together_are_not_the_one_asked_about():
    question = "What is the volume of the left kidney, in mL?"
    assert not isinstance(
        parse_number("Both kidneys together: 320 mL.", "mL", question=question), Parsed
    )
    each = parse_number(
        "Both kidneys together have 320 mL, so 160 mL each.", "mL", question=question
    )
    assert isinstance(each, Parsed)
    assert each.value == 160


def test_a_multiple_of_the_usual_is_no_ratio():
    question = "By volume, how many times as large as the spleen is the liver?"
    reply = "The liver is twice as large as usual, and about 9 times the size of the spleen."
    result = parse_number(reply, "ratio", question=question)
    assert isinstance(result, Parsed)
    assert result.value == 9


@pytest.mark.parametrize(
    ("reply", "letters"),
    [
        ("meniscus tear: 0\njoint effusion: 1\nlow-grade ACL sprain: 1\nperiarticular cyst: 0", "BC"),
        ("Meniscus tear (1), joint effusion (0), low-grade ACL sprain (0), periarticular cyst (1)", "AD"),
        ('{"A": 1, "B": 0, "C": 0, "D": 1}', "AD"),
        ("☑ A ☐ B ☐ C ☑ D", "AD"),
        ("A through C", "ABC"),
        ("A–C", "ABC"),
        ("A plus D", "AD"),
        ("No tear, no effusion, no sprain, no cyst.", ""),
    ],
)  # fmt: skip
def test_verdicts_and_runs_of_letters(reply, letters):
    result = parse_choices(reply, FINDINGS, "Choose every one that the reader marked.")
    assert isinstance(result, Parsed)
    chosen = [letter for letter, one in zip("ABCD", FINDINGS) if one.value in result.value]
    assert "".join(chosen) == letters


@pytest.mark.parametrize(
    "reply",
    [
        "The L1 vertebral body is at the renal hilum. The lower pole is two levels below that.",
        "L3/4 disc",
    ],
)
def test_a_level_that_is_only_counted_from_is_no_answer(reply):
    question = "At which vertebral level does the lower pole of the right kidney lie?"
    assert not isinstance(parse_choice(reply, LEVELS, question), Parsed)


LOBE = "Is there any liver lesion in the left lobe?"
TEAR = "Is a meniscus tear annotated on this slice?"
BONE = "Is there a bone fracture?"


@pytest.mark.parametrize(
    ("question", "reply", "value"),
    [
        (LOBE, "Two lesions are seen, both in the right lobe.", None),
        (LOBE, "There is one lesion, in the right lobe.", None),
        (LOBE, "There are two lesions, both in the left lobe.", True),
        (LOBE, "The left lobe is clear.", False),
        (LOBE, "The left lobe is of normal size.", None),
        (LOBE, "None in the left lobe; one in the right.", False),
        (TEAR, "Both menisci look normal.", False),
        (TEAR, "Impression: meniscal tear.", True),
        (TEAR, "Impression: possible meniscal tear.", None),
        (TEAR, "There is a horizontal radial meniscal tear.", True),
        (TEAR, "There is a potential meniscal tear.", None),
        (TEAR, "The only finding is a joint effusion.", False),
        (TEAR, "The only abnormality here is a meniscal tear.", True),
        (TEAR, "The knee looks normal here.", False),
        (TEAR, "I believe a meniscal tear was annotated.", True),
        (TEAR, "Neither an effusion nor a meniscus tear is annotated.", False),
        (BONE, "Intact menisci.", None),
        (BONE, "The bone is intact.", False),
    ],
)
def test_a_finding_is_where_it_is_said_to_be(question, reply, value):
    result = parse_yes_no(reply, question)
    assert (result.value if isinstance(result, Parsed) else None) is value


DIAMETER = "What is the longest diameter of the largest liver lesion on any axial slice, in mm?"
VERTEBRAE = "How many vertebrae are fully visible in this volume?"
DISTANCE = (
    "What is the shortest distance between the largest kidney lesion and the renal pelvis, in mm?"
)
KIDNEY = "What is the volume of the left kidney, in mL?"


@pytest.mark.parametrize(
    ("question", "unit", "reply", "value"),
    [
        (DIAMETER, "mm", "One of 18 mm in segment 4 and a larger one of 34 mm in segment 8.", 34),
        (DIAMETER, "mm", "A liver lesion of 18 mm and a larger one of 34 mm in the spleen.", None),
        (DIAMETER, "mm", "The lesion of 18 mm in segment 4 and one of 34 mm in segment 8.", None),
        (DIAMETER, "mm", "I'd say 18 mm, maybe 19 mm. Let's go with 18.5.", 18.5),
        (VERTEBRAE, "", "8 vertebrae are in the field of view, 6 of which are fully visible.", 6),
        (VERTEBRAE, "", "Of 8 vertebrae, 6 are fully visible.", 6),
        (DISTANCE, "mm", "The lesion (22 mm in diameter) lies 13 mm from the renal pelvis.", 13),
        (DISTANCE, "mm", "Shortest distance: 7 mm (centre to centre it's 25 mm)", 7),
        (KIDNEY, "mL", "Right and left kidney have 150 and 160 mL.", 160),
        (KIDNEY, "mL", "About 150 mL, more precisely 158 mL.", 158),
    ],
)
def test_the_number_of_what_is_asked_about(question, unit, reply, value):
    result = parse_number(reply, unit, question=question)
    assert (float(result.value) if isinstance(result, Parsed) else None) == value


def test_a_side_of_the_picture_beside_a_structure_is_no_answer():
    options = [Option("A", "to the patient's left"), Option("B", "below")]
    question = "Seen from the spleen, in which direction does the left kidney mainly lie?"
    reply = "On the image the kidney lies to the left of the spleen, which is the patient's right."
    assert not isinstance(parse_choice(reply, options, question), Parsed)


def test_the_last_heading_before_an_order_tells_its_direction():
    options = [
        Option("A", "spleen, left kidney, bladder"),
        Option("B", "left kidney, spleen, bladder"),
        Option("C", "bladder, left kidney, spleen"),
    ]
    reply = (
        "From bottom to top it is bladder, left kidney, spleen, "
        "so from top to bottom: spleen, left kidney, bladder."
    )
    result = parse_choice(reply, options, "Which order is right, from top to bottom?")
    assert isinstance(result, Parsed)
    assert result.value == "A"


def test_all_options_of_a_final_answer_count_whatever_parts_them():
    result = parse_choices("I see two. <answer>B;D</answer>", FINDINGS)
    assert isinstance(result, Parsed)
    assert result.value == ("B", "D")
