"""Replies put together from templates mean what their parts say, for every form of answer."""

from __future__ import annotations

import random

import pytest
from written_replies import dressed, replies

from situs.items import Option
from situs.score import (
    Parsed,
    parse_choice,
    parse_choices,
    parse_frames,
    parse_number,
    parse_yes_no,
)

OPTIONS = (
    Option("A", "the right kidney"),
    Option("B", "the gallbladder"),
    Option("C", "the pancreas"),
)
NEAREST = "Which of these lies nearest to the largest liver lesion?"
ABOVE = "Is the left kidney above the stomach?"
DISTANCE = (
    "What is the shortest distance between the largest liver lesion and the right kidney, in mm?"
)
SLICES = "On which axial slices is the left kidney seen? Give the first and the last."
LEAST_READ, MOST_MISREAD = 0.99, 0.002
SAMPLE = 150
"""Replies of each form that are read each time; the sweep reads them all."""


def span(result):
    return (
        Parsed((result.value[0] + 1, result.value[-1] + 1))
        if isinstance(result, Parsed) and result.value
        else result
    )


READERS = {
    "choice": lambda text: parse_choice(text, OPTIONS, NEAREST),
    "yes_no": lambda text: parse_yes_no(text, ABOVE),
    "number": lambda text: parse_number(text, "mm", question=DISTANCE),
    "frames": lambda text: span(parse_frames(text, 1, 40, question=SLICES)),
    "choices": lambda text: parse_choices(text, OPTIONS),
}
ANSWERS = [
    ("choice", {"A": "A", "B": "B"}),
    ("choice", {"(B)": "B", "(C)": "C"}),
    ("choice", {"option B": "B", "option A": "A"}),
    ("choice", {"the pancreas": "C", "the gallbladder": "B"}),
    ("choice", {"B (the gallbladder)": "B", "A: the right kidney": "A"}),
    ("yes_no", {"yes": True, "no": False}),
    ("number", {"23 mm": 23, "4 cm": 40}),
    ("number", {"23": 23, "41": 41}),
    ("frames", {"slices 8-20": (8, 20), "5 to 12": (5, 12)}),
    ("choices", {"A and C": ("A", "C"), "B": ("B",)}),
]


def rates(form, rows):
    """Share of the replies with a meaning that are read so,
    share of all that are misread, and what went wrong."""
    wrong = []
    for row in rows:
        result = READERS[form](row.reply)
        found = result.value if isinstance(result, Parsed) else None
        if found != row.means:
            wrong.append((row.reply, row.means, found))
    meant = sum(row.means is not None for row in rows)
    unread = sum(means is not None and found is None for _, means, found in wrong)
    misread = sum(found is not None for _, _, found in wrong)
    return (
        1 - (unread + sum(m is not None and f is not None for _, m, f in wrong)) / meant,
        misread / len(rows),
        wrong,
    )


@pytest.mark.parametrize(("form", "answers"), ANSWERS, ids=lambda value: str(value)[:40])
def test_a_sample_of_replies_from_templates(form, answers):
    generator = random.Random(f"{form} {sorted(answers)}")
    rows = generator.sample(list(replies(answers, opposite=form == "yes_no")), SAMPLE)
    share, misread, wrong = rates(form, [dressed(row, generator) for row in rows])
    assert share >= LEAST_READ, wrong
    assert misread <= MOST_MISREAD, wrong


@pytest.mark.sweep(one_in=20)
@pytest.mark.parametrize(("form", "answers"), ANSWERS, ids=lambda value: str(value)[:40])
def test_all_replies_from_templates(form, answers):
    generator = random.Random(0)
    rows = list(replies(answers, opposite=form == "yes_no"))
    share, misread, wrong = rates(form, [*rows, *(dressed(row, generator) for row in rows)])
    assert share >= LEAST_READ, wrong[:20]
    assert misread <= MOST_MISREAD, wrong[:20]
