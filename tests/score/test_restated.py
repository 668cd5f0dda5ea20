"""Clauses that say the question again, or deny it."""

from __future__ import annotations

import pytest

from situs.score import Parsed, parse_yes_no

LARGER = "Is the liver larger than the spleen?"
TORN = "Is the medial meniscus torn?"


@pytest.mark.parametrize(
    ("question", "reply", "said"),
    [
        # The whole subject and its verb alone.
        (LARGER, "The spleen is larger, the liver is not.", False),
        (LARGER, "The liver is.", True),
        (TORN, "The medial meniscus is not.", False),
        (TORN, "The medial meniscus isn't.", False),
        (TORN, "The medial meniscus is.", True),
        # A part of the subject.
        (TORN, "The medial is not.", False),
        # Another subject says nothing.
        (TORN, "The lateral meniscus is not.", None),
    ],
)
def test_a_subject_with_its_verb_answers(question, reply, said):
    result = parse_yes_no(reply, question)
    assert (result.value if isinstance(result, Parsed) else None) == said
