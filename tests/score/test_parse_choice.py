"""Golden table of replies to choice questions,
with the traps that public parsers fall into (spec/metrics.md)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situs.items.record import Option
from situs.score.read.choice import parse_choice
from situs.score.read.choices import parse_choices
from situs.score.read.result import Parsed, RefusedInWords, Unparsed

KIDNEYS = tuple(
    Option(value, text)
    for value, text in [
        ("left", "the left"),
        ("right", "the right"),
        ("same", "they differ by less than 5 %"),
        ("cut", "cannot be told, one is cut off"),
    ]
)
ORGANS = tuple(Option(text, text) for text in ["left kidney", "left", "liver", "spleen"])
SIDES = (Option("l", "left"), Option("r", "right"))
LESIONS = (Option("kidney", "the kidney lesion"), Option("liver", "the largest liver lesion"))
DIRECTIONS = tuple(Option(text, text) for text in ["above", "below"])
SIZES = tuple(Option(text, text) for text in ["5 cm", "1.5 cm", "15 cm", "less than 1 cm"])
YES_NO = (Option("y", "Yes"), Option("n", "No"))
NUMBERS = tuple(Option(text, text) for text in ["1", "2", "3", "4"])
SHUFFLED_MARKS = tuple(Option(f"mark-{letter}", letter) for letter in "BCA")
MARKS = tuple(Option(f"mark-{letter}", f"mark {letter}") for letter in "CAB")

REFUSED = RefusedInWords()
UNPARSED = None

A, B, C, D = "left", "right", "same", "cut"
KIDNEY_REPLIES = [
    # a letter, bare
    ("B", B), ("B.", B), ("(B)", B), ("**B**", B), ("`B`", B), ("*B*", B), ("[B]", B), ('"B"', B),
    ("b", B), ("(b)", B),
    ("b)", B), ("B)", B), ("B:", B), ("  B\n", B), ("Ｂ", B), ("Option B", B), ("option b", B), ("(B).", B), ("A", A),
    ("a", A),
    ("- B", B), ("B\n\nThe right kidney is bigger than the left kidney.", B),
    ("B because it is bigger", B),
    ("B, since it is longer.", B), ("B. It is larger.", B), ("B: it is larger", B),
    ("B - clearly larger", B),
    ("Reasoning about sizes.\n\nB", B), ("Reasoning about sizes.\n**B**", B),
    ("I looked at all slices.\n(B) the right", B),
    # a letter with its words
    ("B) the right", B), ("B. the right", B), ("(B) The right", B), ("B the right",
    B), ("**B. the right**", B),
    ("B (the right)", B),
    ("B) the left", UNPARSED), ("B. Left",
    UNPARSED), ("Answer: A) the right", UNPARSED), ("The right (A)", UNPARSED),
    ("the right (B)", B), ("The right kidney (B) is larger.", B),
    ("B. The left kidney is smaller.", B),
    ("b. the right", B), ("D) cannot be told, one is cut off", D),
    # marked
    ("Answer: B", B), ("answer: b", B), ("ANSWER: B", B), ("Answer:B", B), ("Answer: (B)", B),
    ("Answer: **B**", B),
    ("**Answer:** B", B),
    ("**Answer: B**", B), ("Answer is B", B), ("The answer is B.", B),
    ("The correct option is B because the right is longer", B),
    ("The correct answer is option B.", B), ("The best choice is (B).", B),
    ("The answer is B, not A.", B),
    ("Answer - B", B),
    ("My answer: B", B), ("Answer:\n\nB", B), ("Correct answer: B. the right", B),
    ("I choose B", B),
    ("I would select option B.", B),
    ("I'll go with B.", B), ("B is correct.", B), ("Option B is the correct answer", B),
    ("The answer would be B", B),
    ("The answer to the question is B.", B), ("The answer is the right.", B), ("Answer: right", B),
    ("Answer: The right kidney", B),
    ("Based on the image, the answer is C", C), ("(A) is unlikely. The answer is (C).", C),
    ("Between A and B I choose B", B),
    ("A large lesion is seen… so B", B), ("A large lesion is seen, therefore B.", B),
    ("It's B.", B),
    ("I think it is B", B),
    ("Hepatitis B is known. Answer: A", A), ("Vitamin C was given. The answer is B.", B),
    ("C7 vertebra seen; grade B. Answer: D", D),
    ("The answer is not A. It is B.", B), ("Is the answer A? No. The answer is B.", B),
    ("Option A is unlikely; option B fits.", B),
    ("The answer cannot be A. The answer is B.", B), ("Not A, so B", B), ("It is (B), not (A).", B),
    # final wins
    ("The answer is A. Wait. Final answer: B", B), ("Final answer: A\nHm.\nFinal answer: B", B),
    ("Final Answer\n\nB", B),
    ("**Final answer:** (B) the right", B), ("\\boxed{B}", B), ("$\\boxed{\\text{B}}$", B),
    ("The answer is \\boxed{B}.", B),
    ("Answer: A ... \\boxed{B}", B), ("Final answer: $\\boxed{B}$", B),
    ("\\boxed{\\text{the right}}", B),
    ("<answer>B</answer>", B),
    ("Answer: A\n<answer>B</answer>", B), ("<|begin_of_box|>B<|end_of_box|>", B),
    ("<|channel|>final<|message|>B", B),
    ('{"answer": "B"}', B), ("{'answer': 'B'}", B), ('```json\n{"answer": "B"}\n```', B),
    ('{"answer": "B) the right"}', B),
    ('{"reasoning": "A is unlikely, C too", "answer": "B"}', B), ('{"Answer": "right"}', B),
    ('{"choice": "B"}', B),
    ('Sure: {"answer": "B", "why": "cut of', B), ('{"answer": {"letter": "B", "text": "the right"}}', B),
    ('{"answer": B}', B),
    ('{"answer": ["B"]}', B), ('{"answer": ["A", "B"]}', UNPARSED), ('{"answer": null}', UNPARSED),
    ("{'answer': 'B', 'why': \"it's\"}", B),
    # thinking
    ("<think>A? no, C</think>B", B), ("<think>A", UNPARSED), ("thoughts: A, A, A</think>\nB", B),
    ("<think></think>", UNPARSED),
    ("<think>The answer is A</think>\n\nThe answer is B", B), ("B\n<think>or is it A", B),
    ("◁think▷A◁/think▷B", B),
    ("<think>x</think>A<think>y</think>B", B), ("<THINK>The answer is A</THINK> B", B),
    # the option's words
    ("the left", A), ("Left", A), ("LEFT.", A), ("The left kidney is larger.", A),
    ("They differ by less than 5%", C),
    ("It is the right one", B),
    ("It is not the left but the right", B), ("The right kidney, rather than the left.", B),
    ("Not the left", UNPARSED),
    ("The left is larger than the right", UNPARSED), ("left or right", UNPARSED),
    ("Left. The right kidney is smaller.", A),
    # the list of options repeated
    ("(A) the left (B) the right (C) they differ by less than 5 %\nB", B),
    ("A) the left\nB) the right\n\nAnswer: B", B),
    ("(A) the left (B) the right", UNPARSED),
    # not sure
    ("A meniscus tear", UNPARSED), ("not A", UNPARSED), ("I think it's a", UNPARSED),
    ("E", UNPARSED),
    ("Answer: F", UNPARSED), ("Z.", UNPARSED),
    ("A and C", UNPARSED), ("A or B", UNPARSED), ("A, B", UNPARSED), ("A/B", UNPARSED),
    ("Both A and B", UNPARSED),
    ("Answer: A and C", UNPARSED),
    ("Answer: A. Answer: B.", UNPARSED), ("\\boxed{A} and \\boxed{B}", UNPARSED),
    ("The answer is A meniscus tear", UNPARSED),
    ("C. difficile colitis", UNPARSED), ("B cell lymphoma", UNPARSED),
    ("B-cell lymphoma", UNPARSED),
    ("The answer is B-cell lymphoma", UNPARSED),
    ("The answer is C7", UNPARSED), ("hepatitis B", UNPARSED), ("vitamin C", UNPARSED),
    ("T1 C", UNPARSED), ("A", A),
    ("", UNPARSED), ("  \n ", UNPARSED),
    ("A kidney", UNPARSED), ("Blue", UNPARSED), ("Because", UNPARSED), ("Dear user", UNPARSED),
    ("A: it is cut", UNPARSED),
    ("The answer could be A or B", UNPARSED), ("None of the above", UNPARSED), ("?", UNPARSED),
    # No option holds a 2, so that the second is meant; one holds a 5.
    ("option 2", B), ("The last option.", D), ("option 5", UNPARSED), ("the second one", UNPARSED),
    # "cannot be told" is an option here, seeing nothing is not
    ("Cannot be told", D), ("It cannot be determined.", D),
    ("Answer: cannot be told, one is cut off", D),
    ("Not enough information", D),
    ("I'm unable to view images.", REFUSED), ("I'm sorry, but I can't assist with that.", REFUSED),
    ("As an AI, I cannot determine which is larger", REFUSED),
]  # fmt: skip

OTHER_REPLIES = [
    (SIDES, "Cannot determine", REFUSED),
    (SIDES, "I cannot tell whether the left one is larger.", REFUSED),
    (SIDES, "I cannot measure it exactly, but the left is larger.", "l"),
    (SIDES, "Answer: it cannot be determined", REFUSED),
    (SIDES, "Insufficient information to answer.", REFUSED),
    (SIDES, "I cannot tell for certain. Answer: A", "l"),
    (SIDES, "I can't see it well but B", "r"),
    (SIDES, "Stage (B)", UNPARSED),
    (SIDES, "A) B)", UNPARSED),
    (SIDES, "Neither. B.", "r"),
    (SIDES, "option 2", "r"),
    (SIDES, "Option 3", UNPARSED),
    (SIDES, "2", UNPARSED),
    (SIDES, "C", UNPARSED),
    (SIDES, "left-sided", "l"),
    (SIDES, "leftover", UNPARSED),
    (SIDES, "It isn't left", UNPARSED),
    (SIDES, "Left is unlikely; right.", "r"),
    (ORGANS, "left kidney", "left kidney"),
    (ORGANS, "The lesion is in the left kidney.", "left kidney"),
    (ORGANS, "It lies to the left", "left"),
    (ORGANS, "Left kidney and liver", UNPARSED),
    (ORGANS, "the spleen", "spleen"),
    (ORGANS, "splenic", UNPARSED),
    (SIZES, "1.5 cm", "1.5 cm"),
    (SIZES, "about 5 cm", "5 cm"),
    (SIZES, "It measures 15cm.", "15 cm"),
    (SIZES, "less than 1 cm", "less than 1 cm"),
    (SIZES, "more than 5 cm", UNPARSED),
    (SIZES, "0.5 cm", UNPARSED),
    (SIZES, "B) 1.5 cm", "1.5 cm"),
    (SIZES, "B) 5 cm", UNPARSED),
    (YES_NO, "No, it is not.", "n"),
    (YES_NO, "No abnormality is seen", UNPARSED),
    (YES_NO, "Yes", "y"),
    (YES_NO, "A", "y"),
    (YES_NO, "B) No", "n"),
    (NUMBERS, "3", "3"),
    (NUMBERS, "C", "3"),
    (NUMBERS, "Answer: 3", "3"),
    (NUMBERS, "On slice 3 it is seen", UNPARSED),
    (SHUFFLED_MARKS, "C", UNPARSED),
    (SHUFFLED_MARKS, "B) C", "mark-C"),
    (MARKS, "mark A", "mark-A"),
    (MARKS, "A", "mark-C"),
    # what something is compared with is not chosen
    (LESIONS, "the kidney lesion is larger than the largest liver lesion", UNPARSED),
    (LESIONS, "It is larger than the largest liver lesion.", UNPARSED),
    (LESIONS, "The kidney lesion. It is larger than the largest liver lesion.", "kidney"),
    (LESIONS, "Answer: the kidney lesion, which is larger than the largest liver lesion", "kidney"),
    (LESIONS, "Answer: the kidney lesion is smaller than the largest liver lesion", UNPARSED),
    (ORGANS, "It is larger than the liver.", UNPARSED),
    (ORGANS, "Larger than the spleen", UNPARSED),
    (ORGANS, "Large compared with the spleen", UNPARSED),
    (ORGANS, "Small relative to the liver", UNPARSED),
    (ORGANS, "The spleen. Its volume is small compared to the liver.", "spleen"),
    # the picture's side is not the patient's
    (KIDNEYS, "It appears on the left of the image.", UNPARSED),
    (KIDNEYS, "on the left side of the picture", UNPARSED),
    (SIDES, "It is on the left side of the screen.", UNPARSED),
    (SIDES, "on the right side of the slice", UNPARSED),
    (SIDES, "It is on the patient's left.", "l"),
    # corrected
    (KIDNEYS, "I think it's B. Wait, actually C.", "same"),
    (KIDNEYS, "The answer is A. No, B.", "right"),
    (KIDNEYS, "The answer is the left. No, the right.", "right"),
    (KIDNEYS, "The answer is A. Actually, it's B, or maybe C.", UNPARSED),
    (KIDNEYS, "The answer is A. Wait, no.", UNPARSED),
    (KIDNEYS, "The answer is B. Actually, the left is much smaller.", "right"),
    (KIDNEYS, "Wait, let me look. The answer is B.", "right"),
    # idioms
    (SIDES, "right behind the liver", UNPARSED),
    (SIDES, "It is right behind the liver", UNPARSED),
    (SIDES, "You are right", UNPARSED),
    (SIDES, "There is nothing left to see", UNPARSED),
    (SIDES, "nothing left to see", UNPARSED),
    (SIDES, "It lies left of the spleen", "l"),
    (SIDES, "Towards the right", "r"),
    (DIRECTIONS, "As I said above.", UNPARSED),
    (DIRECTIONS, "None of the above", UNPARSED),
    (DIRECTIONS, "It lies above the kidney", "above"),
    (DIRECTIONS, "The lesion is below the liver", "below"),
    ((), "A", UNPARSED),
]  # fmt: skip


def check(reply, options, expected):
    result = parse_choice(reply, options)
    if expected is UNPARSED:
        assert isinstance(result, Unparsed), result
    else:
        assert result == (expected if expected is REFUSED else Parsed(expected))


@pytest.mark.parametrize(("reply", "expected"), KIDNEY_REPLIES)
def test_replies_about_kidneys(reply, expected):
    check(reply, KIDNEYS, expected)


@pytest.mark.parametrize(("options", "reply", "expected"), OTHER_REPLIES)
def test_replies_to_other_options(options, reply, expected):
    check(reply, options, expected)


def test_reasons_are_said():
    assert parse_choice("B) the left", KIDNEYS) == Unparsed("letter and text disagree")
    assert parse_choice("", KIDNEYS) == Unparsed("empty")
    assert parse_choice("A and C", KIDNEYS) == Unparsed("several options named")
    assert parse_choice("Answer: A. Answer: B.", KIDNEYS) == Unparsed("contradictory answers")


@pytest.mark.parametrize("letter", "ABCDEFGHIJ")
@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "({})",
        "Answer: {}",
        "**{}**",
        "The answer is {}.",
        "\\boxed{{{}}}",
        '{{"answer": "{}"}}',
    ],
)
def test_every_letter_is_read_in_every_form(letter, form):
    options = tuple(Option(f"value {i}", f"region {i} of the lobe") for i in range(10))
    assert parse_choice(form.format(letter), options) == Parsed(
        f"value {'ABCDEFGHIJ'.index(letter)}"
    )


def test_the_tail_of_a_long_reply_is_read_and_its_first_words_are_not_the_lead():
    assert parse_choice("A\n" + "word " * 10_000 + "\nAnswer: B", KIDNEYS) == Parsed("right")
    assert isinstance(parse_choice("word " * 10_000, KIDNEYS), Unparsed)


PIECES = st.sampled_from(
    [
        "A",
        "B",
        "(C)",
        "answer",
        ":",
        "is",
        "not",
        "{",
        "}",
        '"answer"',
        "\\boxed{",
        "<think>",
        "</think>",
        "**",
        "\n",
        " ",
        "the left",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map(" ".join)))
def test_any_text_gives_a_result(text):
    result = parse_choice(text, KIDNEYS)
    assert isinstance(result, Parsed | Unparsed | RefusedInWords)
    if isinstance(result, Parsed):
        assert result.value in {option.value for option in KIDNEYS}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=30), st.text(max_size=60))
def test_any_options_give_a_result(texts, reply):
    options = tuple(Option(str(i), text) for i, text in enumerate(texts))
    assert isinstance(parse_choice(reply, options), Parsed | Unparsed | RefusedInWords)


@pytest.mark.parametrize("sign", ["≠", "!=", "! =", "=/=", "<>", "\\neq", "\\ne"])
@pytest.mark.parametrize(
    "form",
    [
        "A {} C", "(A) {} (C)", "**A** {} **C**", "Answer: A {} C", "The answer is A {} C.",
        "A {0} B {0} C", "liver {} left", "The liver {} the spleen.", "C. liver {} D. spleen",
        "C {} spleen",
    ],
)  # fmt: skip
def test_options_that_are_not_equal_are_no_answer(form, sign) -> None:
    for read in (parse_choice, parse_choices):
        assert isinstance(read(form.format(sign), ORGANS, "Which is larger?"), Unparsed)


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("B ≠ C. Answer: D", "spleen"),
        ("Since A ≠ C, the answer is D.", "spleen"),
        ("liver ≠ spleen, so the liver.", "liver"),
        ("A ≠ C, answer: C", "liver"),
        ("C (liver ≠ spleen)", "liver"),
        ("C > D", "liver"),
    ],
)
def test_an_answer_beside_what_is_not_equal_is_read(reply, chosen) -> None:
    assert parse_choice(reply, ORGANS, "Which is larger?") == Parsed(chosen)


def test_an_option_may_have_the_sign_in_its_words() -> None:
    options = (Option("x", "left ≠ right"), Option("y", "left = right"))
    assert parse_choice("left ≠ right", options) == Parsed("x")
