"""Golden table of replies to yes/no questions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situs.score.read.result import Parsed, RefusedInWords, Unparsed
from situs.score.read.yes_no import parse_yes_no

REFUSED, UNPARSED = "refused", "unparsed"

REPLIES = [
    # plain
    ("Yes", True), ("yes.", True), ("YES!", True), ("**Yes**", True),
    ("Yes, it lies left of the spleen.", True),
    ("No.", False), ("no", False),
    ("No, it is not", False), ("no, it is not", False), ("Nope", False), ("Nope.", False),
    ("Yeah", True),
    ("Yep, it is", True), ("True", True),
    ("False", False), ("False.", False), ('"No"', False), ("(Yes)", True), ("1. Yes", True),
    ("1) No", False),
    ("(a) Yes", True), ("- Yes", True),
    ("No - the spleen lies left", False), ("No – the spleen lies left", False),
    ("No—it does not", False),
    ("No: it is right", False),
    ("No it is not", False), ("No, there is no contact.", False),
    ("No because it is 12 mm away", False),
    ("No\n\nThe gap is 12 mm.", False),
    ("Yes it is", True), ("Yes there is no gap", True), ("Yes. No evidence of a gap.", True),
    ("Yes, no gap is seen", True), ("No. No contact.", False),
    ("The lesion lies left of the IVC. Yes.", True), ("The gap is 12 mm.\nNo", False),
    ("The gap is 12 mm, so no.", False), ("Therefore, yes.", True),
    # marked
    ("The answer is yes", True), ("Answer: **No**", False), ("Answer: no, it is not", False),
    ("The correct answer is No.", False), ("Answer:\nYes", True),
    ("The answer is therefore yes.", True), ("I would answer yes.", True),
    ("I would say no.", False),
    ("The answer is definitely yes", True),
    ("Final answer: No", False), ("Yes, … Final answer: No", False),
    ("The answer is yes. Final answer: no", False),
    ("\\boxed{Yes}", True),
    ("\\boxed{\\text{No}}", False), ('{"answer": "yes"}', True), ('{"answer": false}', False),
    ("{'answer': 'No'}", False), ("{'answer': True}", True),
    ('```json\n{"answer": "No", "reason": "yes it touches but"}\n```', False),
    ("<answer>yes</answer>", True),
    ("<think>No, no.</think>Yes", True),
    ("Answer: True", True), ("Answer: False.", False),
    # the question repeated
    ("Is the lesion left? Yes", True), ("Is the lesion on the left? No, right.", False),
    ("Yes or no? Yes.", True),
    ("Question: touching?\nAnswer: No", False),
    # traps
    ("There is an abnormality", UNPARSED), ("10 mm above", UNPARSED), ("notice", UNPARSED),
    ("Notice the liver", UNPARSED), ("Non", UNPARSED),
    ("None", UNPARSED), ("No abnormality is seen", UNPARSED), ("No evidence of a tear.", UNPARSED),
    ("No one", UNPARSED), ("No. 5 rib", UNPARSED),
    ("No-one can tell", UNPARSED), ("Nothing", UNPARSED), ("Now", UNPARSED),
    ("Yesterday", UNPARSED),
    ("eyes", UNPARSED), ("True north", UNPARSED),
    ("False positive", UNPARSED), ("Normal", UNPARSED), ("The answer is no abnormality", UNPARSED),
    ("know", UNPARSED),
    ("It is normal.", UNPARSED),
    ("", UNPARSED), (" ", UNPARSED), ("<think>yes", UNPARSED), ("Maybe", UNPARSED),
    # both
    ("Yes and no", UNPARSED), ("Yes/No", UNPARSED), ("yes or no", UNPARSED),
    ("It is not yes", False),
    ("No, it lies right. Actually yes.", True),
    ("Yes, but no", UNPARSED), ("No, the answer is yes", UNPARSED),
    ("No: 12 mm; yes within 20 mm", UNPARSED),
    ("Based on the scan, yes, it touches.", True), ("Based on the scan, no, it doesn't.", False),
    ("The lesion lies within 10 mm: yes", True),
    ("Based on the image, yes there is an abnormality", True),
    ("Looking at the scan: no it does not", False),
    ("Based on the scan, no tear is marked", UNPARSED),
    ("Yes, it would seem so, but in fact no", False),
    ("Final answer: Yes, it seems so, but in fact no", False),
    ("No, one would think, yet yes", True), ("Answer: 'no'", False),
    ("Options: yes, no", UNPARSED), ("No, so the final answer is yes", True),
    ("Yes. No.", UNPARSED), ("No, … Actually, yes", True), ("1. Yes\n2. No", UNPARSED),
    ("Answer: yes. Answer: no.", UNPARSED),
    ("The answer is yes or no", UNPARSED), ("No, I cannot determine this", UNPARSED),
    # refused
    ("Not enough information", REFUSED), ("I cannot determine this from the image.", REFUSED),
    ("I'm unable to view images", REFUSED),
    ("As an AI, I can't interpret scans.", REFUSED), ("Answer: cannot be determined", REFUSED),
    ("There is insufficient data.", REFUSED),
    ("I don't know.", REFUSED), ("It is impossible to tell whether it is left.", REFUSED),
    ("I cannot tell for sure. Yes.", True),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "expected"), REPLIES)
def test_replies(reply, expected):
    result = parse_yes_no(reply)
    if expected == UNPARSED and not isinstance(expected, bool):
        assert isinstance(result, Unparsed), result
    elif expected == REFUSED and not isinstance(expected, bool):
        assert result == RefusedInWords()
    else:
        assert result == Parsed(expected)


TEAR, ANYTHING = (
    "Is a meniscus tear annotated on this slice?",
    "Does the annotation of this slice include any finding?",
)


@pytest.mark.parametrize(
    ("reply", "question", "expected"),
    [
        ("No findings.", ANYTHING, False),
        ("No findings.", TEAR, False),
        ("No abnormality is seen.", "Is there an abnormality?", False),
        ("No meniscus tear is annotated on this slice.", TEAR, False),
        ("Based on the annotation, no meniscus tear is marked.", TEAR, False),
        ("There is no tear.", TEAR, False),
        ("No evidence of a meniscus tear", TEAR, False),
        # Another thing, a part of it, more than that, or a question the other way round.
        ("No effusion.", TEAR, UNPARSED),
        ("No large meniscus tear.", TEAR, UNPARSED),
        ("No meniscus tear is seen, but an effusion.", TEAR, UNPARSED),
        ("No meniscus tear can be excluded.", TEAR, UNPARSED),
        ("No abnormality is seen.", "Is this slice normal?", True),
        ("No abnormality is seen.", "Is the slice free of any abnormality?", UNPARSED),
        ("No abnormality is seen.", "Does the liver touch the stomach?", UNPARSED),
        ("Yes, no findings.", ANYTHING, True),
    ],
)
def test_no_such_thing_is_a_no_if_the_question_asks_for_it(reply, question, expected):
    result = parse_yes_no(reply, question)
    assert (
        isinstance(result, Unparsed)
        if expected == UNPARSED and expected is not False
        else result == Parsed(expected)
    )


PIECES = st.sampled_from(
    [
        "yes",
        "no",
        "No,",
        "Yes.",
        "answer:",
        "not",
        "final answer:",
        "\n",
        "?",
        "<think>",
        "</think>",
        "it is",
        "12 mm",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map(" ".join)))
def test_any_text_gives_a_result(text):
    result = parse_yes_no(text)
    assert isinstance(result, Parsed | Unparsed | RefusedInWords)
    if isinstance(result, Parsed):
        assert isinstance(result.value, bool)
