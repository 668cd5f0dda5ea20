"""Classes of replies that a list by a new author showed to be misread."""

import pytest

from situs.items import Option
from situs.score.read import Parsed, parse_choice, parse_choices, parse_number

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
