"""Classes of replies that were unread or misread at a first look, each in words of its own."""

import pytest

from situs.items import Option
from situs.score import Offered
from situs.score.read import (
    Parsed,
    parse_choice,
    parse_frames,
    parse_grades,
    parse_number,
    parse_yes_no,
)

SLICES = "On which axial slices is the gallbladder seen? Give the first and the last."
NEAREST = "Which of these lies nearest to the largest kidney lesion?"
ORGANS = [
    Option("A", "the spleen"),
    Option("B", "the aorta"),
    Option("C", "the pancreas"),
    Option("D", "the liver"),
]
SIDE = "On which side of the patient is the largest lung lesion?"
SIDES = [Option("A", "the left"), Option("B", "the right")]
EFFUSION = "Is a joint effusion annotated in this volume?"
TIMES = "By volume, how many times as large as the left kidney is the spleen?"
COUNT = "How many kidney lesions are there?"


def value(result):
    return result.value if isinstance(result, Parsed) else None


@pytest.mark.parametrize(
    ("reply", "ends"),
    [
        ("up to slice 21", None),
        ("Until frame number 21.", None),
        ("Down to image #21", None),
        ("from 12 up to slice 21", (12, 21)),
        ("9-12 and 15-21", None),
        ("Slices 9 to 12 and slices 15 to 21.", None),
        ("9-12 and 13-21", (9, 21)),
        ("9-12 and 15-21, so overall 9 to 21.", (9, 21)),
    ],
)
def test_one_end_or_a_gap_is_no_range(reply, ends):
    found = value(parse_frames(reply, 1, 40, question=SLICES))
    assert (found and (found[0] + 1, found[-1] + 1)) == ends


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("The image's left is the patient's right. The lesion is on the image's right.", None),
        ("Image left corresponds to the patient's right, and it is on image right.", None),
        ("Image left = patient right. It is image left, thus patient right.", "B"),
        ("The lesion is patient left.", "A"),
        ("It is on the left of the image, which is the patient's right.", "B"),
        ("It is anatomically left.", "A"),
    ],
)
def test_how_pictures_are_shown_is_no_answer(reply, letter):
    assert value(parse_choice(reply, SIDES, SIDE)) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Between the aorta and the pancreas, the latter is closer.", "C"),
        ("Of the aorta and the pancreas, the former is nearer.", "B"),
        ("It is either (B) or (C), and I think the former.", "B"),
        ("It is either B or C, and I think C.", "C"),
        ("The pancreas and the aorta are near. Not the latter.", None),
        ("The latter.", None),
        ("the answer's b", "B"),
    ],
)
def test_former_and_latter(reply, letter):
    assert value(parse_choice(reply, ORGANS, NEAREST)) == letter


@pytest.mark.parametrize(
    ("reply", "there"),
    [
        ("High signal in the recess consistent with a joint effusion.", True),
        ("There is fluid in the joint, in keeping with an effusion.", True),
        ("The bright fluid represents a joint effusion.", True),
        ("The appearance is not consistent with an effusion.", False),
        ("Nothing to suggest a joint effusion.", False),
        ("Fluid signal, which could be consistent with an effusion.", None),
        ("High signal here is consistent with a Baker cyst.", None),
        ("Signal consistent with effusion is absent.", None),
        ("Whether it is consistent with an effusion is unclear.", None),
    ],
)
def test_what_is_seen_and_what_it_is_evidence_of(reply, there):
    assert value(parse_yes_no(reply, EFFUSION)) is there


@pytest.mark.parametrize(
    ("reply", "times"),
    [
        ("The left kidney is twice as large as the spleen.", None),
        ("The kidney is 1.5 times the volume of the spleen.", None),
        ("The kidney-to-spleen ratio is 0.7.", None),
        ("The kidney is twice as large as the spleen, so the ratio is 0.5.", 0.5),
        ("Compared with the left kidney, the spleen is 1.4 times as large.", 1.4),
        ("The spleen is 30 % larger, i.e. a factor of 1.3.", 1.3),
        ("1.3 times (30 % larger)", 1.3),
        ("The spleen is 20 to 30 % larger than the kidney.", None),
    ],
)
def test_a_ratio_the_other_way_round_or_a_difference_is_none(reply, times):
    found = value(parse_number(reply, "ratio", question=TIMES))
    assert found == (None if times is None else pytest.approx(times))


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        ("I see one on slice 12. That makes three.", 3),
        ("One in the dome and three in segment VI, which adds up to four lesions.", 4),
        ("Two on the left and two on the right, adding up to four.", 4),
        ("up to four", None),
    ],
)
def test_what_parts_add_up_to(reply, count):
    assert value(parse_number(reply, "", question=COUNT)) == count


VOLUME = "What is the volume of the largest liver lesion, in mL?"
DIRECTION = "Seen from the spleen, in which direction does the left kidney mainly lie?"
DIRECTIONS = [
    Option("A", "below"),
    Option("B", "above"),
    Option("C", "in front"),
    Option("D", "to the patient's left"),
]
GRADES = {"size": Offered({0: "", 1: "", 2: ""}), "depth": Offered({0: "", 1: "", 2: ""})}


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("The left kidney lies below the spleen.", "A"),
        ("The left kidney is in front of the spleen.", "C"),
        ("It lies to the left.", "D"),
    ],
)
def test_a_side_in_a_name_of_the_question_is_no_direction(reply, letter):
    assert value(parse_choice(reply, DIRECTIONS, DIRECTION)) == letter


@pytest.mark.parametrize(
    ("reply", "unit", "question", "number"),
    [
        ("The liver has a volume of 1500 mL and the lesion of 20 mL.", "mL", VOLUME, 20),
        ("The answer, rounded to the nearest 5 mL, is 145 mL.", "mL", VOLUME, 145),
        (
            "The ratio of the spleen volume to the left kidney volume is about 1.4.",
            "ratio",
            TIMES,
            1.4,
        ),
    ],
)
def test_a_measure_has_the_dimension_of_its_unit(reply, unit, question, number):
    assert value(parse_number(reply, unit, question=question)) == pytest.approx(number)


@pytest.mark.parametrize(
    ("reply", "there"),
    [
        ("No effusion, but there's a tear.", False),
        ("No effusion, only a tear.", False),
        ("No effusion, but there may be one on another slice.", None),
    ],
)
def test_a_denial_beside_another_finding(reply, there):
    assert value(parse_yes_no(reply, EFFUSION)) is there


@pytest.mark.parametrize(
    ("reply", "grades"),
    [
        ("Both size and depth are 0.", {"size": 0, "depth": 0}),
        ("2 for size, 1 for depth", {"size": 2, "depth": 1}),
        ("Size and depth are 2 and 1.", {"size": 2, "depth": 1}),
        ("Size and depth: 2, 1", {"size": 2, "depth": 1}),
        ("Depth/size: 1/2", {"size": 2, "depth": 1}),
    ],
)
def test_grades_of_several_sub_scores_told_together(reply, grades):
    assert value(parse_grades(reply, ["depth", "size"], GRADES)) == grades
