"""Classes of replies that a fresh author's lists brought up: verdicts in a row, parts that are
counted, what is looked at before it is said, and a side that is taken back."""

from __future__ import annotations

import pytest

from situs.anatomy.banks import levels_in
from situs.items import Option
from situs.score import (
    Offered,
    Parsed,
    parse_choice,
    parse_choices,
    parse_grades,
    parse_number,
    parse_yes_no,
)

FINDINGS = [
    Option("A", "joint effusion"),
    Option("B", "joint body"),
    Option("C", "partial-thickness cartilage loss"),
    Option("D", "subchondral bone oedema"),
    Option("E", "meniscus tear"),
]
DIRECTIONS = [
    Option("A", "behind"),
    Option("B", "to the patient's right"),
    Option("C", "to the patient's left"),
    Option("D", "in front"),
]


def row(style: str, verdicts: str, words: tuple[str, str], joint: str) -> str:
    """A verdict on each letter: `y` and `n` as the two words."""
    said = {"y": words[0], "n": words[1]}
    return joint.join(
        style.format(letter, said[verdict])
        for letter, verdict in zip("ABCDE", verdicts, strict=False)
    )


STYLES = ("{}) {}", "({}) {}", "{}: {}", "{}. {}", "{}={}", "{} - {}", "{} {}")
PAIRS = (("yes", "no"), ("Yes", "No"), ("true", "false"), ("present", "absent"))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("words", PAIRS)
@pytest.mark.parametrize("joint", [" ", ", ", "; ", "\n"])
def test_verdicts_in_a_row_judge_the_letter_before_them(style, words, joint) -> None:
    """ "A) yes B) no C) yes" was read as A and B, "A. No B. Yes" as A."""
    for verdicts in ("ynynn", "nynyy", "nnnny"):
        told = parse_choices(row(style, verdicts, words, joint), FINDINGS)
        meant = tuple(
            letter for letter, verdict in zip("ABCDE", verdicts, strict=True) if verdict == "y"
        )
        assert told == Parsed(meant)
    single = row(style, "nnyn", words, joint)
    assert parse_choice(single, DIRECTIONS, "In which direction?") == Parsed("C")


@pytest.mark.parametrize(
    "reply",
    [
        "A) behind - no; B) right - no; C) left - yes; D) front - partially",
        "A: wrong B: wrong C: correct D: wrong",
        "Answer: (A) no (B) no (C) yes (D) no",
    ],
)
def test_verdicts_in_a_row_choose_one_option(reply) -> None:
    assert parse_choice(reply, DIRECTIONS, "In which direction?") == Parsed("C")


@pytest.mark.parametrize(
    "reply", ["All options but B", "All of them but A.", "Every finding but D.", "All five but E"]
)
def test_what_is_left_out_is_not_chosen(reply) -> None:
    assert not isinstance(parse_choices(reply, FINDINGS), Parsed)


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        ("I count one large and two small lesions.", 3),
        ("Two large lesions and one small lesion.", 3),
        ("One lesion in segment 4 and another one in segment 8.", 2),
        ("One in segment 2, another in segment 5 and a third in segment 8.", 3),
        ("The liver contains one 14 mm lesion.", 1),
        ("There are two 10 mm lesions.", 2),
        ("The liver contains one lesion.", 1),
        ("Answer: 6 (not counting cysts)", 6),
        ("There are five cysts and two solid lesions, seven lesions in all.", 7),
        ("Three lesions, one large and two small.", 3),
        ("One large cyst and two small lesions.", None),
        ("One cyst and two lesions.", None),
    ],
)
def test_parts_and_sizes_of_what_is_counted(reply, count) -> None:
    told = parse_number(reply, "", question="How many liver lesions are there?")
    assert (int(told.value) if isinstance(told, Parsed) else None) == count


OPENINGS = (
    "Based on the image, ", "Based on the provided MRI slice, ", "Looking at the images, ",
    "Judging from the scan, ", "On this slice, ", "Having looked at all slices, ", "Overall, ",
    "From what I can see, ", "In summary, ",
)  # fmt: skip


@pytest.mark.parametrize("opening", OPENINGS)
def test_what_was_looked_at_leads_to_what_is_believed(opening) -> None:
    tear, above = (
        "Is a meniscus tear annotated on this slice?",
        "Is the left kidney above the spleen?",
    )
    assert parse_yes_no(f"{opening}I believe there is a meniscus tear.", tear) == Parsed(True)
    assert parse_yes_no(f"{opening}I see no meniscus tear.", tear) == Parsed(False)
    assert parse_yes_no(f"{opening}I believe the left kidney lies below the spleen.", above) == (
        Parsed(False)
    )


def test_where_something_is_seen_is_no_opening() -> None:
    asked = "Is a meniscus tear annotated on this slice?"
    assert not isinstance(parse_yes_no("On the next slice, I believe there is one.", asked), Parsed)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Both menisci have normal morphology and signal.", False),
        ("The medial meniscus has normal shape but a tear in its horn.", True),
        ("The tear has normal shape", None),
        ("The bones have normal signal.", None),
        ("The slice shows only a joint effusion.", False),
        ("This slice shows only a meniscus tear.", True),
        ("Only part of the slice is visible.", None),
        ("Only on the left.", None),
        ("I can identify a bright line in keeping with a meniscus tear.", True),
        ("My assessment: affirmative.", True),
        ("My assessment is negative.", False),
    ],
)
def test_findings_said_in_other_words(reply, value) -> None:
    told = parse_yes_no(reply, "Is a meniscus tear annotated on this slice?")
    assert (told.value if isinstance(told, Parsed) else None) is value


def test_the_least_distance_is_the_distance() -> None:
    asked = "Is the largest liver lesion within 20 mm of the inferior vena cava?"
    assert parse_yes_no("The minimal distance appears to be less than 20 mm.", asked) == Parsed(
        True
    )
    assert parse_yes_no("The minimum distance is 33 mm.", asked) == Parsed(False)


SIDES = [Option("l", "the left"), Option("r", "the right")]
SIDE = "On which side of the patient is the largest kidney lesion?"


@pytest.mark.parametrize(
    ("reply", "side"),
    [
        ("Right. The lesion is on the left side.", None),
        ("Left. The lesion is on the right side.", None),
        ("Right. The lesion is in the right kidney.", "r"),
        ("Right, so the lesion is on the left.", "l"),
        ("Right: no. Left: yes.", "l"),
    ],
)
def test_a_side_that_the_next_sentence_takes_back(reply, side) -> None:
    told = parse_choice(reply, SIDES, SIDE)
    assert (told.value if isinstance(told, Parsed) else None) == side


@pytest.mark.parametrize(
    "reply",
    [
        "Nearest structure: pancreas. Second nearest: gallbladder.",
        "Closest: the pancreas; second closest: the gallbladder",
        "Second nearest is the gallbladder. Nearest is the pancreas.",
    ],
)
def test_what_is_labelled_second_is_not_first(reply) -> None:
    options = [Option("g", "the gallbladder"), Option("p", "the pancreas")]
    asked = "Which of these lies nearest to the largest liver lesion?"
    assert parse_choice(reply, options, asked) == Parsed("p")


GRADED = (
    "Is cartilage lost in the medial patella?\n"
    "size: share of the surface (0 = none; 1 = less than 10 %; 2 = 10 % to 75 %; 3 = more).\n"
    "depth: share down to bone (0 = none; 1 = less than 10 %; 2 = 10 % to 75 %; 3 = more)."
)


@pytest.mark.parametrize(
    ("reply", "grades"),
    [
        ("Size 0, depth 0 – the cartilage is normal.", (0, 0)),
        ("Size 0 and depth 0: the cartilage is normal.", (0, 0)),
        ("Much of the surface is affected (size 2); no full-thickness loss (depth 0).", (2, 0)),
        ("Size: 2? No, 1. Depth: 1.", (1, 1)),
        ("Size 2 or 3, depth 0.", None),
    ],
)
def test_a_grade_and_why(reply, grades) -> None:
    scales = {name: Offered(levels) for name, levels in levels_in(GRADED).items()}
    told = parse_grades(reply, ["depth", "size"], scales)
    value = told.value if isinstance(told, Parsed) else {}
    assert (value.get("size"), value.get("depth")) == (grades or (None, value.get("depth")))
