"""Replies that name an answer by what it leaves out, by its place, or beside another measure."""

from __future__ import annotations

import pytest

from situs.items import Option
from situs.score import (
    Parsed,
    parse_choice,
    parse_choices,
    parse_frames,
    parse_number,
    parse_yes_no,
)

FINDINGS = tuple(
    Option(letter, words)
    for letter, words in {
        "A": "meniscus tear",
        "B": "partial-thickness cartilage loss",
        "C": "muscle strain",
        "D": "subchondral bone oedema",
        "E": "joint effusion",
    }.items()
)
MARKED = "Which of these findings did the reader mark on this slice? Name all that apply."


@pytest.mark.parametrize(
    ("reply", "letters"),
    [
        ("All of these findings except muscle strain were marked.", "ABDE"),
        ("All of the findings were marked except for joint effusion.", "ABCD"),
        ("Every option apart from A applies.", "BCDE"),
        ("The reader marked everything except muscle strain.", "ABDE"),
        ("None except D.", "D"),
        ("Nothing except D.", "D"),
        ("All five of them apply.", "ABCDE"),
        ("All 5 findings apply.", "ABCDE"),
        ("Each of the five findings is marked.", "ABCDE"),
        ("Everything on the list is marked.", "ABCDE"),
    ],
)
def test_options_named_by_those_left_out(reply, letters):
    assert parse_choices(reply, FINDINGS, MARKED) == Parsed(tuple(letters))


@pytest.mark.parametrize(
    "reply",
    [
        # Without a verb it may be the beginning of what is not said.
        "All except C.",
        "All of them but A and B.",
        "**All except C**",
        "Everything except muscle strain.",
        "All options except (C) muscle strain.",
        "Not all except C.",
        "All except maybe C.",
        "All except C and possibly D.",
        "All three of them apply.",
        "All but C can be ruled out, or maybe not.",
    ],
)
def test_what_is_left_out_in_doubt_is_not_read(reply):
    assert not isinstance(parse_choices(reply, FINDINGS, MARKED), Parsed)


PAIR = (Option("A", "the right adrenal gland"), Option("B", "the inferior vena cava"))
CLOSER = (
    "Is the largest liver lesion closer to the right adrenal gland or to the inferior vena cava?"
)
REACH = (Option("A", "the left kidney"), Option("B", "the spleen"))
LESIONS = (
    Option("A", "the largest splenic lesion"),
    Option("B", "the largest kidney lesion"),
)
LARGER = "Which is larger by volume: the largest splenic lesion or the largest kidney lesion?"
PARTS = (
    Option("A", "the middle third"),
    Option("B", "the upper pole"),
    Option("C", "the lower pole"),
)
FURTHER = "Which reaches further down: the spleen or the left kidney?"


@pytest.mark.parametrize(
    ("reply", "options", "question", "letter"),
    [
        ("The former is closer.", PAIR, CLOSER, "A"),
        ("The latter.", PAIR, CLOSER, "B"),
        (
            "The lesion is further from the right adrenal gland than from the inferior vena cava.",
            PAIR,
            CLOSER,
            "B",
        ),
        ("It is farther from the IVC than from the adrenal gland.", PAIR, CLOSER, "A"),
        ("The left kidney extends more inferiorly than the spleen.", REACH, FURTHER, "A"),
        (
            "The left kidney lies more inferiorly, but the spleen reaches further down.",
            REACH,
            FURTHER,
            "B",
        ),
        ("The renal one.", LESIONS, LARGER, "B"),
        ("It's the lesion in the spleen.", LESIONS, LARGER, "A"),
        ("The kidney lesion is clearly bigger.", LESIONS, LARGER, "B"),
        (
            "The kidney lesion is around six times the volume of the splenic lesion.",
            LESIONS,
            LARGER,
            "B",
        ),
        ("The splenic lesion is twice as large as the kidney lesion.", LESIONS, LARGER, "A"),
        ("The splenic lesion is about half the size of the kidney lesion.", LESIONS, LARGER, "B"),
        ("At the inferior pole.", PARTS, "In which part of the left kidney is the cyst?", "C"),
    ],
)
def test_options_named_by_comparison_or_place(reply, options, question, letter):
    assert parse_choice(reply, options, question) == Parsed(letter)


@pytest.mark.parametrize(
    "reply",
    [
        # The question names the two in another order than the options have.
        "The former.",
        "The latter reaches further down.",
        # How far up it reaches says nothing of how far down.
        "The left kidney extends more superiorly.",
        "The spleen is further up than the kidney.",
    ],
)
def test_what_may_be_either_of_two_is_not_read(reply):
    assert not isinstance(parse_choice(reply, REACH, FURTHER), Parsed)


@pytest.mark.parametrize(
    "reply",
    [
        "The latter scan shows both.",
        "I compared the former scan with the latter.",
        "Neither the former nor the latter.",
    ],
)
def test_the_former_of_other_things_is_no_option(reply):
    assert not isinstance(parse_choice(reply, PAIR, CLOSER), Parsed)


def test_the_level_a_reply_counts_from_is_not_its_answer():
    levels = tuple(Option(level, level) for level in ("T12", "T11", "L2", "L1"))
    question = "At which vertebral level does the upper pole of the left kidney lie?"
    reply = "Counting down from the last rib (T12), the upper pole is one level lower, at L1."
    assert parse_choice(reply, levels, question) == Parsed("L1")


@pytest.mark.parametrize(
    "reply",
    [
        "The lesion spans 24 mm and the gallbladder 30 mm across; the gap between them is 9 mm.",
        "The gap between them is 9 mm, while the lesion measures 24 mm.",
        "The gap between them is 9 mm, while the lesion spans 24 mm.",
    ],
)
def test_a_measure_of_the_lesion_is_not_its_distance(reply):
    question = (
        "What is the shortest distance between the largest liver lesion and the gallbladder, in mm?"
    )
    read = parse_number(reply, "mm", question=question)
    assert isinstance(read, Parsed)
    assert read.value == 9
    assert not isinstance(parse_number("The lesion spans 24 mm.", "mm", question=question), Parsed)


@pytest.mark.parametrize(
    ("reply", "first", "last"),
    [
        ("From the eighth to the fourteenth slice.", 8, 14),
        ("The twenty-first through the thirtieth slice.", 21, 30),
        ("First seen on the third slice and last seen on the twelfth slice.", 3, 12),
        ("It starts on the fifth slice and ends on the ninth.", 5, 9),
    ],
)
def test_slices_as_ordinals_in_words(reply, first, last):
    question = "On which slices is the largest liver lesion visible? Give the first and the last."
    read = parse_frames(reply, 1, 40, question=question)
    assert isinstance(read, Parsed)
    assert (read.value[0] + 1, read.value[-1] + 1) == (first, last)


def test_a_slice_counted_from_the_end_is_not_read():
    question = "On which slices is the largest liver lesion visible? Give the first and the last."
    reply = "Up to the second to last slice."
    assert not isinstance(parse_frames(reply, 1, 40, question=question), Parsed)


def test_no_findings_marked_by_the_reader():
    question = "Did the reader mark any finding on this slice?"
    assert parse_yes_no("No findings were marked by the reader on this slice.", question) == Parsed(
        False
    )
    reply = "No findings were marked by the reader on this slice except an effusion."
    assert parse_yes_no(reply, question) != Parsed(False)


@pytest.mark.parametrize(
    "reply",
    [
        "The splenic lesion is twice the size of a walnut.",
        "The splenic lesion is 1 times the volume of the kidney lesion.",
        "The splenic lesion is 0.2 times the volume of the kidney lesion.",
    ],
)
def test_a_size_that_settles_nothing_is_not_read(reply):
    assert parse_choice(reply, LESIONS, LARGER) != Parsed("A")


@pytest.mark.parametrize(
    ("offered", "reply", "chosen"),
    [
        (("L1", "L2", "L3", "L4"), "L2 through L4.", "BCD"),
        (("L1", "L2", "L3", "L4"), "The levels L2–L4 are shown.", "BCD"),
        (("L1", "L2", "L3", "L4"), "L3 up to L1", "ABC"),
        (("T11", "T12", "L1", "L2"), "From T11 to L1.", "ABC"),
        (("L4", "L1", "L3", "L2"), "L1 to L3", "BCD"),
        (("segment 2", "segment 3", "segment 4"), "segment 2 through segment 4", "ABC"),
        (("L1", "L2", "L3", "L4"), "L1 to L2", "AB"),
    ],
)
def test_a_range_of_options_holds_what_lies_between_its_ends(offered, reply, chosen):
    """ "L2 through L4" was read as L2 and L4."""
    options = tuple(Option(letter, words) for letter, words in zip("ABCD", offered, strict=False))
    question = "Which levels are shown? Choose all that apply."
    assert parse_choices(reply, options, question) == Parsed(tuple(chosen))
