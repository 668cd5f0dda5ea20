"""Replies made to mislead a parser, each with the reading that a colleague would give it;
None is "not sure"."""

from __future__ import annotations

from fractions import Fraction

import pytest

from situs.items.record import Option
from situs.score import Parsed, parse_choice, parse_number, parse_yes_no

SIDES = (Option("left", "the left"), Option("right", "the right"), Option("same", "they are equal"))
ORGANS = (
    Option("liver", "liver"),
    Option("spleen", "spleen"),
    Option("left_kidney", "left kidney"),
    Option("unsure", "cannot be told"),
)


def said(result):
    return result.value if isinstance(result, Parsed) else None


@pytest.mark.parametrize(
    ("reply", "unit", "expected"),
    [
        ("2.5x", "ratio", "5/2"),
        ("2.5-fold", "ratio", "5/2"),
        ("It is about 2.5 times the size of the spleen.", "ratio", "5/2"),
        ("twice", "ratio", 2),
        ("The left one is twice as large.", "ratio", 2),
        ("three times as large", "ratio", 3),
        ("Answer: threefold", "ratio", 3),
        ("half as large", "ratio", "1/2"),
        ("one and a half times", "ratio", "3/2"),
        ("5:2", "ratio", "5/2"),
        ("a third of its volume", "ratio", "1/3"),
        ("20% larger", "ratio", None),
        ("3 times smaller", "ratio", None),
        ("between 2x and 3x", "ratio", None),
        ("a single lesion", "", 1),
        ("There is a solitary hypodense nodule in segment 4.", "", 1),
        ("None.", "", 0),
        ("No lesions are seen.", "", 0),
        ("There are no focal lesions in the liver", "", 0),
        ("not a single lesion", "", 0),
        ("Final answer: none", "", 0),
        ("No other lesions are seen.", "", None),
        ("No lesions larger than 1 cm.", "", None),
        ("multiple lesions", "", None),
        ("a few", "", None),
        ("seen on a single slice", "", None),
        ("There is a single lesion and a second one.", "", None),
        ("no significant lesions", "", None),
        ("more than twice as large", "ratio", None),
        ("one-half", "ratio", "1/2"),
        ("3 x 2 cm", "ratio", None),
        ("There are two lesions. No other lesions are seen.", "", 2),
        ("I count 3: one in the left lobe, two in the right.", "", 3),
        ("On slice 14 there are 2 lesions.", "", 2),
        ("No lesion in the left lobe, but three in the right.", "", 3),
        ("The volume is 1.2 L, i.e. 1200 mL.", "mL", 1200),
        ("1,200 mL", "mL", 1200),
        ("about 12 cm³ (3 x 2 x 2 cm)", "mL", 12),
        ("between 30 and 40 mL", "mL", None),
        ("3.5 x 2 cm", "cm", None),
        ("The kidney spans from z = 40 to z = 150, that is 11 cm.", "cm", 11),
        ("0.11 m", "cm", 11),
        ("110", "mm", 110),
        ("Less than 10 mm", "mm", None),
        ("Not 12 cm but 15 cm. Answer: 15 cm", "cm", 15),
    ],
)
def test_numbers(reply, unit, expected):
    assert said(parse_number(reply, unit)) == (None if expected is None else Fraction(expected))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("In the image, it is on the left.", None),
        ("It lies on the left side of the image.", None),
        ("In the image it is on the left, so it is the patient's right.", "right"),
        ("On the image's left, which is the patient's right side.", "right"),
        ("In the image, the left kidney is larger.", "left"),
        ("In this slice the larger one lies to the right.", None),
        ("Answer: A", "left"),
        ("Viewer's left; patient's right. (B)", "right"),
        ("The right one, not the left.", "right"),
        ("Neither is larger; they are equal.", "same"),
        ("You are right that both are visible. The left is larger.", "left"),
        ("The left is smaller than the right, so the right is larger. Answer: B", "right"),
        ("All right, let me look. The left.", "left"),
        ("Left or right? I would say the left.", "left"),
        ("B? No, A.", "left"),
    ],
)
def test_sides(reply, expected):
    assert said(parse_choice(reply, SIDES)) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Based on the image, the answer is C", "left_kidney"),
        ("(A) is unlikely. The answer is (C).", "left_kidney"),
        ("A meniscus tear", None),
        ("Cannot determine", "unsure"),
        ("The liver is larger than the spleen, hence A.", "liver"),
        ("It is not the liver; it is the spleen.", "spleen"),
        ("Spleen (option B)", "spleen"),
        ("B) liver", None),
        ("Either A or B", None),
        ("The spleen touches it, while the liver does not.", "spleen"),
    ],
)
def test_organs(reply, expected):
    assert said(parse_choice(reply, ORGANS)) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Yes, but only barely.", True),
        ("There is an abnormality", None),
        ("Not enough information", None),
        ("10 mm above", None),
        ("I notice a lesion", None),
        ("No doubt: yes.", True),
        ("Yes and no.", None),
        ("The answer is no, although the left kidney yes.", False),
        ("Nope, it is 14 mm away.", False),
        ("No. 5 is the lesion in question; yes, it is within 10 mm.", True),
        ("Is it within 10 mm? No.", False),
        ("It is not that the answer is no; yes.", True),
    ],
)
def test_yes_no(reply, expected):
    assert said(parse_yes_no(reply)) == expected
