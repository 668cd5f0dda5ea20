"""Readers of text stay linear: a hostile reply costs a few steps a character,
and a very long one is not read."""

from __future__ import annotations

import sys
import time

import pytest

from situs.items import Option
from situs.profiles import AnswerSpace
from situs.score import (
    Unparsed,
    loose_values,
    parse_boxes,
    parse_choice,
    parse_choices,
    parse_frames,
    parse_grades,
    parse_number,
    parse_yes_no,
    sgmri,
)
from situs.score.read import without_spans

OPTIONS = (Option("a", "the left kidney"), Option("b", "the right kidney"))
READERS = {
    "yes_no": parse_yes_no,
    "affirmed": lambda text: parse_yes_no(text, "Does the lesion extend into the orbit?"),
    "present": lambda text: parse_yes_no(text, "Is a tear annotated on this slice?"),
    "choice": lambda text: parse_choice(text, OPTIONS),
    "choices": lambda text: parse_choices(text, OPTIONS),
    "compared": lambda text: parse_choice(text, OPTIONS, "Which kidney is larger by volume?"),
    "number": lambda text: parse_number(text, "mm"),
    "frames": lambda text: parse_frames(text, 1, 40),
    "boxes": lambda text: parse_boxes(text, AnswerSpace(), [(512.0, 512.0)], ["tear"]),
    "grades": lambda text: parse_grades(text, ["size"], {}),
    "json": lambda text: list(loose_values(text)),
    "sgmri": sgmri.parse_boxes,
    "thinking": lambda text: without_spans(text, "<think>", "</think>"),
}
SEEDS = [
    "[", '{"a":', "<think>", "<bbx>[", "Frame 1 ", "1 mm ", "A: no\n", "not A ", "no. ", '"', "wait A ",
    "B, but C, ", "1 to ", "A is ", "(A", "is not A or ",
    "one hundred and ", "between 1 and ", "3 = ", "size: 1, ", "| A ", "A or ", "yes, but no ", "(",
    "it extends, ", "1. It ", "no tear, but the ", "size and ", "left and right, the former ",
    "consistent with a ",
]  # fmt: skip


def calls(reader, text: str) -> int:
    """How many lines of Python the reader runs:
    a measure that no other load on the machine changes."""
    count = 0

    def step(frame, event, argument):
        nonlocal count
        count += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        reader(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.sampled
@pytest.mark.parametrize("name", READERS)
def test_four_times_the_text_is_about_four_times_the_work(name, little_of):
    """The square would be sixteen times; some thousand lines are the same for every reply."""
    for seed in little_of(SEEDS, 8):
        READERS[name](seed * 240)  # patterns are compiled once
        small = calls(READERS[name], seed * 60)
        large = calls(READERS[name], seed * 240)
        assert large <= 6 * small + 2_000, (seed, small, large)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["json", "sgmri", "thinking"])
@pytest.mark.parametrize("seed", ["[", "<think>", "<bbx>[", "[1", '{"bbox_2d"', " "])
def test_long_hostile_replies_end(name, seed):
    """With a cost of the square and more, 40 kB would not end within the test run."""
    READERS[name](seed * (40_000 // len(seed)))


@pytest.mark.parametrize("seed", ["é", "a", "1", "a "])
@pytest.mark.parametrize("name", ["number", "compared"])
def test_one_endless_word_ends(name, seed):
    """Patterns that are tried from every letter of a word cost the square:
    ten seconds and more, where this takes a moment."""
    before = time.process_time()
    READERS[name](seed * (200_000 // len(seed)))
    assert time.process_time() - before < 3.0


def test_long_grades_without_a_grade_end():
    """A pattern that looks for a hedge in all of a
    clause from each of its letters costs the square."""
    assert isinstance(READERS["grades"]("one hundred and " * 2_500), Unparsed)


def test_a_reply_beyond_the_limit_is_not_read_and_says_so():
    assert parse_yes_no("yes " * 1_000_000) == Unparsed("longer than 2,000,000 characters")


@pytest.mark.parametrize("seed", ["\n:", "not A:\n", "not:\n:::x", "not present:\nA\n", "A: "])
def test_many_headings_cost_what_they_are_long(seed):
    """Patterns that run in C show in seconds only: 20 kB took 31 s."""
    seconds = []
    for size in (4_000, 16_000):
        begun = time.thread_time()
        READERS["choices"](seed * (size // len(seed)))
        seconds.append(time.thread_time() - begun)
    assert seconds[1] <= max(0.7, 8 * seconds[0]), seconds
