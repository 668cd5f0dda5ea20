"""Options named by their parts, sides and numerals; counts that are the sum of their parts."""

from __future__ import annotations

import pytest

from situs.items import Option
from situs.score import Parsed, Unparsed, parse_choice, parse_number

LOBES = ("right upper lobe", "right middle lobe", "right lower lobe", "left upper lobe",
         "left lower lobe")  # fmt: skip
MUSCLES = ("left psoas", "right psoas", "left erector spinae", "right erector spinae")
SEGMENTS = ("segment II", "segment IV", "segment VII", "segment VIII")
SIDES = ("right", "left", "both sides")
WAYS = ("to the left", "to the right", "forward", "backward")
VEINS = ("left renal vein", "splenic vein", "portal vein")
LETTERS = ("mark A", "mark B", "mark C")
NEAR = ("the gallbladder", "the kidney", "the pancreas", "the stomach")
NEAREST = "Which of these lies nearest to the largest liver lesion?"
HALVES = ("left hemisphere", "right hemisphere", "both hemispheres")
KIDNEYS = ("the left kidney", "the right kidney")


def chosen(reply, words, question):
    options = [Option("ABCDEF"[index], text) for index, text in enumerate(words)]
    result = parse_choice(reply, options, question)
    return result.value if isinstance(result, Parsed) else None


@pytest.mark.parametrize(
    ("words", "question", "reply", "letter"),
    [
        (LOBES, "Which lobe contains the mass?", "In the lower lobe on the right.", "C"),
        (LOBES, "Which lobe contains the mass?", "Left, upper.", "D"),
        (
            LOBES,
            "Which lobe contains the mass?",
            "Having gone through every one of the pictures twice I believe that it lies in the"
            " lower lobe on the right.",
            "C",
        ),
        (LOBES, "Which lobe contains the mass?", "On the right, not the upper lobe.", None),
        (LOBES, "Which lobe contains the mass?", "On the right, upper or lower.", None),
        (MUSCLES, "Which muscle is atrophic?", "Psoas left side atrophy, others normal", "A"),
        (SEGMENTS, "Which segment is it in?", "That makes it segment 8.", "D"),
        (SIDES, "Which side has the effusion?", "on the R", "A"),
        (WAYS, "In which direction is the trachea pushed?", "It is deviated anteriorly.", "C"),
        (
            WAYS,
            "In which direction is the trachea pushed?",
            "The mass on the left pushes it over to the right.",
            "B",
        ),
        (
            VEINS,
            "Which vessel runs behind the artery?",
            "The structure there is the left renal vein, (A). The splenic vein passes in front.",
            "A",
        ),
        (
            LETTERS,
            "Which mark lies in the liver?",
            "At first sight B, but after scrolling up one slice I am convinced that it is A.",
            "A",
        ),
        (LETTERS, "Which mark lies in the liver?", "the one labelled c is in the liver", "C"),
        (
            LETTERS,
            "Which mark lies in the liver?",
            "I was about to answer B, then noticed the marker: it's A.",
            "A",
        ),
        (
            KIDNEYS,
            "Which kidney lies lower?",
            "Usually the right, and this patient is no exception.",
            "B",
        ),
        (KIDNEYS, "Which kidney lies lower?", "Usually the right.", None),
        (NEAR, NEAREST, "Gallbladder – 12 mm; kidney – 30 mm; pancreas – 45 mm.", "A"),
        (NEAR, NEAREST, "The kidney is 45 mm away, the gallbladder 12 mm.", None),
        (LETTERS, "Which mark lies in the portal vein?", "A = artery, C = portal vein", "C"),
        (HALVES, "Which hemisphere contains the bleed?", "left cerebral hemisphere", "A"),
        (HALVES, "Which hemisphere contains the bleed?", "Bilateral haemorrhage.", "C"),
        (
            KIDNEYS,
            "Which kidney lies lower?",
            "Well, if I look at it, I think it's the right one.",
            "B",
        ),
    ],
)
def test_an_option_in_other_words(words, question, reply, letter):
    assert chosen(reply, words, question) == letter


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        ("Two on the right plus one on the left.", 3),
        ("Two in the right lobe and one in the left, three in total.", 3),
        ("Both kidneys are free of cysts.", 0),
        ("Neither kidney holds a cyst.", 0),
        ("No renal cysts on either side.", 0),
    ],
)
def test_a_count_from_its_parts(reply, count):
    assert parse_number(reply, "", question="How many renal cysts are there?") == Parsed(count)


def test_a_number_that_is_said_to_be_rough():
    question = "How wide is the ventricle, in mm?"
    roughly = parse_number(
        "I'd say, uh, maybe fourteen millimetres or so.", "mm", question=question
    )
    assert roughly == Parsed(14)
    assert isinstance(parse_number("Maybe 14 mm.", "mm", question=question), Unparsed)
    assert parse_number("About a centimetre.", "mm", question=question) == Parsed(10)
    near = "What is the distance to the vein, in mm?"
    assert parse_number("It comes within 8.5 mm of it.", "mm", question=near) == Parsed(8.5)
    assert isinstance(parse_number("Within 8.5 mm of it.", "mm", question=near), Unparsed)


def test_marks_of_a_list_are_no_numbers():
    question = "What is the largest diameter of the thyroid nodule, in mm?"
    reply = "IMPRESSION: 1. Thyroid nodule, 16 mm. 2. Normal isthmus."
    assert parse_number(reply, "mm", question=question) == Parsed(16)
    counted = "How many liver lesions are there?"
    assert parse_number("With respect: 4. The largest is 27 mm.", "", question=counted) == Parsed(4)
