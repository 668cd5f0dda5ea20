"""Cleaning and hostile replies, shared by all parsers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situs.items.record import Option
from situs.score.read.choice import parse_choice
from situs.score.read.number import parse_number
from situs.score.read.prose.clean import FINAL_CLOSE, FINAL_OPEN, LONGEST_REPLY, clean
from situs.score.read.prose.refusal import refuses
from situs.score.read.result import Parsed, RefusedInWords, Unparsed
from situs.score.read.yes_no import parse_yes_no

SIDES = (Option("l", "left"), Option("r", "right"))


@pytest.mark.parametrize(
    ("reply", "plain"),
    [
        ("**bold** and `code`", "bold and code"),
        ("<think>hm</think> B", "B"),
        ("hm</think> B", "B"),
        ("<think>hm", ""),
        ("## Answer\nB", "Answer\nB"),
        ("3 * 4 * 5", "3 * 4 * 5"),
        ("~~A~~ B", "B"),
        ("\u200bB\u00a0", "B"),
        ("$12\\,\\text{mL}$", "12 mL"),
        ("12 cm<sup>3</sup>", "12 cm^3"),
        ("\\boxed{B}", f"{FINAL_OPEN}B{FINAL_CLOSE}"),
        (f"{FINAL_OPEN}B{FINAL_CLOSE}", "B"),
        ('{"answer": "B"}', f"{FINAL_OPEN}B{FINAL_CLOSE}"),
        ('{"box": [1, 2]}, {"x": 1}', '{"box": [1, 2]}, {"x": 1}'),
    ],
)
def test_clean(reply, plain):
    assert clean(reply) == plain


def test_a_long_reply_keeps_its_tail_and_says_so():
    plain = clean("start " + "word " * LONGEST_REPLY + "end")
    assert plain.startswith("[cut]\nword")
    assert plain.endswith("end")
    assert len(plain) <= LONGEST_REPLY + 6


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("I cannot determine this", True),
        ("It can't be reliably assessed", True),
        ("I am not able to view the scan", True),
        ("not enough information", True),
        ("As a language model, I …", True),
        ("No image was provided", True),
        ("The lesion cannot pass the fissure", False),
        ("There is no abnormality", False),
        ("It is left of the spleen", False),
    ],
)
def test_refusals(reply, expected):
    assert refuses(reply) is expected


HOSTILE = [
    "1 ",
    "1-",
    "1/",
    "1 x ",
    "9",
    "{",
    '{"answer": ',
    "\\boxed{",
    "answer: ",
    "(A) ",
    "* a",
    "~~",
    ". ",
    "cannot be ",
    "no. ",
    "two ",
    " ",
]


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_repetition_ends(piece):
    """Exponential or quadratic matching would not come back within the test run."""
    reply = "A" + piece * (60_000 // len(piece)) + "x"
    for result in (parse_choice(reply, SIDES), parse_yes_no(reply), parse_number(reply, "mL")):
        assert isinstance(result, Parsed | Unparsed | RefusedInWords)


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(), max_size=300))
def test_clean_takes_any_unicode_and_is_stable_in_its_marks(text):
    plain = clean(text)
    assert plain == plain.strip()
    assert "\n\n" not in plain
