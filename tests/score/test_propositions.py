"""Yes/no questions answered by saying how things are, in words of the reply's own."""

from __future__ import annotations

import pytest

from situs.score import Parsed, Unparsed, parse_yes_no

ORBIT = "Does the lesion extend into the orbit?"
TEAR = "Is there a tear of the posterior horn of the medial meniscus?"
INTACT = "Is the ACL intact?"
GALLBLADDER = "Is the gallbladder distended?"
WIDE = "Is the aorta larger than 30 mm in diameter?"
SIDE = "Is the brain lesion in the right hemisphere?"


@pytest.mark.parametrize(
    ("question", "reply", "means"),
    [
        (ORBIT, "No orbital extension.", False),
        (ORBIT, "Orbital extension is present.", True),
        (ORBIT, "It breaches the orbital wall and extends into the orbit.", True),
        (ORBIT, "It is confined to the ethmoids; the orbit is spared.", False),
        (ORBIT, "Orbit: clear", False),
        (TEAR, "IMPRESSION: Tear of the posterior horn, medial meniscus.", True),
        (TEAR, "No fracture, tear or effusion.", False),
        (INTACT, "The ACL is completely torn.", False),
        (INTACT, "The ACL is not torn.", True),
        (GALLBLADDER, "It is my submission that the gallbladder is not distended.", False),
        (GALLBLADDER, "A distended gallbladder is exactly what we see here.", True),
        (SIDE, "It is left-sided.", False),
        (WIDE, "The aorta exceeds 30 mm at the hiatus.", True),
        (WIDE, "The diameter never reaches 30 mm.", False),
        ("Is the spleen larger than the left kidney?", "Spleen > left kidney", True),
        ("Is the heart enlarged?", "Cardiac enlargement is noted.", True),
        ("Is the tube correctly positioned?", "The position of the tube is correct.", True),
    ],
)
def test_what_is_said_answers_the_question(question, reply, means):
    assert parse_yes_no(reply, question) == Parsed(means)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        (ORBIT, "The catheter extends into the orbit."),
        (ORBIT, "It extends into the sinus."),
        (ORBIT, "I was looking for orbital extension."),
        (TEAR, "There is a tear of the lateral meniscus."),
        ("Is there a fracture of the distal radius?", "There's a fracture but it's in the ulna."),
        (TEAR, "A prior tear of the posterior horn is known."),
        (INTACT, "The PCL is torn."),
        (GALLBLADDER, "If the gallbladder is distended, call me."),
        (GALLBLADDER, "The stomach is distended."),
        (GALLBLADDER, "The gallbladder is reported to be distended."),
        (SIDE, "It is not left-sided."),
    ],
)
def test_what_is_said_of_something_else_or_with_doubt_does_not(question, reply):
    assert isinstance(parse_yes_no(reply, question), Unparsed)
