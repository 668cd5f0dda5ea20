"""Classes of replies that the night shift's lists brought up: negation by symbols, what an option
is said to claim, superlatives, parts of a whole, and questions on the annotation."""

from __future__ import annotations

import pytest

from situs.items import Option
from situs.score import Parsed, parse_choice, parse_choices, parse_number, parse_yes_no

KIDNEYS = [
    Option("A", "the left"),
    Option("B", "the right"),
    Option("C", "they differ by less than 5 %"),
]
WHICH = "Which kidney is larger by volume?"
FINDINGS = [
    Option("A", "joint effusion"),
    Option("B", "meniscus tear"),
    Option("C", "bone oedema"),
]
NEAREST = "Which of these lies nearest to the largest liver lesion?"
ORGANS = [
    Option("A", "the gallbladder"),
    Option("B", "the inferior vena cava"),
    Option("C", "the stomach"),
    Option("D", "the right kidney"),
]


@pytest.mark.parametrize("sign", ["≠", "!=", "=/=", "<>"])
def test_a_sign_of_inequality_joins_two_answers_and_chooses_neither(sign) -> None:
    """ "yes ≠ no" was read as yes, "A ≠ B, since A > B" as A in any question."""
    assert not isinstance(parse_yes_no(f"yes {sign} no"), Parsed)
    for reply in (f"A {sign} B, since they differ", f"left {sign} right", f"(A) {sign} (B)."):
        assert not isinstance(parse_choice(reply, KIDNEYS, WHICH), Parsed)
    assert not isinstance(parse_choice(f"A {sign} B, as B {sign} C", ORGANS, NEAREST), Parsed)
    assert not isinstance(parse_choices(f"A {sign} B", FINDINGS), Parsed)
    assert parse_choice(f"A {sign} B. Final answer: B", KIDNEYS, WHICH) == Parsed("B")
    assert parse_yes_no(f"yes {sign} no, and my answer is no") == Parsed(False)


@pytest.mark.parametrize("sign", ["!", "¬"])
def test_an_answer_behind_a_sign_of_negation_is_denied(sign) -> None:
    """ "!C" was read as C."""
    for letter in "ABC":
        for reply in (f"{sign}{letter}", f"Answer: {sign}{letter}", f"({sign}{letter})"):
            assert not isinstance(parse_choice(reply, [*KIDNEYS, Option("D", "none")]), Parsed)
    assert parse_choice(f"{sign}A, so B", KIDNEYS, WHICH) == Parsed("B")
    assert parse_choices(f"{sign}A, B", FINDINGS) in (Parsed(("B",)), parse_choices("?", FINDINGS))


@pytest.mark.parametrize("reply", ["Great! A", "Found it!\nA", "Sure! A is my answer.", "Done!A"])
def test_an_exclamation_mark_that_ends_a_sentence_denies_nothing(reply) -> None:
    assert parse_choice(reply, KIDNEYS, WHICH) == Parsed("A")


def test_what_an_option_is_said_to_claim_is_not_chosen() -> None:
    """ "Option A claims that the left is larger. That contradicts …" was read as A."""
    for verb in ("claims that", "says that", "states that", "suggests that"):
        reply = f"Option A {verb} the left is larger. That contradicts my measurement."
        assert not isinstance(parse_choice(reply, KIDNEYS, WHICH), Parsed)
        assert parse_choice(f"{reply} The answer is B.", KIDNEYS, WHICH) == Parsed("B")


def test_what_is_nearest_of_all_outdoes_what_is_nearer_than_another() -> None:
    reply = "The stomach is nearer than the gallbladder, but the right kidney is nearest of all."
    assert parse_choice(reply, ORGANS, NEAREST) == Parsed("D")


@pytest.mark.parametrize(
    ("part", "times"),
    [("one eighth", 8), ("an eighth", 8), ("a third", 3), ("about half", 2), ("1/7", 7)],
)
def test_a_part_of_the_whole_is_a_ratio(part, times) -> None:
    question = "By volume, how many times as large as the spleen is the liver?"
    for reply in (
        f"The spleen is {part} of the liver.",
        f"The spleen is {part} the size of the liver.",
    ):
        result = parse_number(reply, "ratio", question=question)
        assert isinstance(result, Parsed)
        assert float(result.value) == times


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("The left kidney has the greater volume.", True),
        ("The right kidney has a larger volume.", False),
        ("The left kidney has the smaller volume of the two.", False),
        ("At first I thought yes, but on a second look the right one is larger.", False),
    ],
)
def test_who_has_the_greater_volume_is_larger(reply, meant) -> None:
    question = "Is the left kidney larger than the right kidney by volume?"
    assert parse_yes_no(reply, question) == Parsed(meant)


@pytest.mark.parametrize(
    "question",
    [
        "Does the reader's annotation show a meniscus tear on this slice?",
        "Do the annotations contain a meniscus tear on this slice?",
    ],
)
def test_questions_on_the_annotation_are_answered_by_statements(question) -> None:
    assert parse_yes_no("The menisci look intact.", question) == Parsed(False)
    assert parse_yes_no("A tear of the meniscus is present.", question) == Parsed(True)


@pytest.mark.parametrize("reply", ["[]", '{"answer": []}', "```json\n[ ]\n```"])
def test_an_empty_list_chooses_nothing(reply) -> None:
    assert parse_choices(reply, FINDINGS) == Parsed(())
    assert parse_choices('{"notes": []}', FINDINGS) != Parsed(())


def test_a_mark_beside_the_lesion_shares_its_organ() -> None:
    marks = [Option(letter, f"mark {letter}") for letter in "ABCD"]
    question = "Which marked point lies in the same organ as the lesion?"
    reply = "The lesion is in the liver, and mark D is in the liver as well."
    assert parse_choice(reply, marks, question) == Parsed("D")
    other = "The lesion is in the liver, and mark D is in the spleen."
    assert parse_choice(other, marks, question) != Parsed("D")


def test_what_turns_out_otherwise_is_not_chosen() -> None:
    reply = "At first I saw A and B, but A turns out to be normal fluid. Only B remains."
    assert parse_choices(reply, FINDINGS) != Parsed(("A", "B"))


REACHES = "Does the tip of the liver reach below the lower pole of the right kidney?"


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("The liver tip ends two slices above the lower pole.", False),
        ("The liver reaches 15 mm below the lower pole of the kidney.", True),
        ("The liver ends about 12 mm above the lower pole of the right kidney.", False),
        ("The lower pole of the right kidney lies 3 slices below the liver.", False),
        ("The liver does not reach that far down.", False),
        ("It reaches that far down.", True),
        ("It does reach below.", True),
    ],
)
def test_how_far_above_or_below_does_not_matter(reply, meant) -> None:
    assert parse_yes_no(reply, REACHES) == Parsed(meant)


def test_a_bracket_that_denies_ends_with_the_bracket() -> None:
    """ "A, B (not C), D" was read as A and B."""
    options = [*FINDINGS, Option("D", "ligament sprain")]
    assert parse_choices("A, B (not C), D", options) == Parsed(("A", "B", "D"))
    assert parse_choices("(A), (B)", options) == Parsed(("A", "B"))


def test_no_such_finding_is_none_of_what_is_asked_for() -> None:
    question = "Did the reader mark a white matter lesion on this slice?"
    assert parse_yes_no("No such lesion was marked.", question) == Parsed(False)
    assert parse_yes_no("Such a finding was marked.", question) == Parsed(True)
    assert not isinstance(parse_yes_no("No such artefact was marked.", question), Parsed)


def test_some_thirty_is_thirty() -> None:
    result = parse_number("About 130-ish mm.", "mm")
    assert isinstance(result, Parsed)
    assert float(result.value) == 130


def test_how_far_off_a_place_is_does_not_matter() -> None:
    question = "Is the spleen below the left kidney?"
    assert parse_yes_no("The spleen lies 20 mm below the left kidney.", question) == Parsed(True)
    assert parse_yes_no("The spleen is two slices above the left kidney.", question) == Parsed(
        False
    )


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("The stomach lies only 4 mm away, closer than any of the others.", "C"),
        ("The right kidney is 9 mm away, nearer than the rest.", "D"),
        ("The stomach is 80 mm away, farther than any of the others.", None),
    ],
)
def test_what_is_closer_than_any_of_the_others_is_nearest(reply, meant) -> None:
    result = parse_choice(reply, ORGANS, NEAREST)
    assert result == Parsed(meant) if meant else not isinstance(result, Parsed)


HILUM = "Does the largest kidney lesion reach the renal hilum?"


@pytest.mark.parametrize(
    "reply",
    [
        "Sure, happy to help! The lesion stops well before that.",
        "Of course, I'm glad to assist. The lesion stops well before that.",
        "Yes, I have looked at all the slices. The lesion stops well before that.",
        "Yes, we've reviewed the images carefully. The lesion stops well before that.",
    ],
)
def test_a_yes_to_having_looked_or_to_helping_is_no_answer(reply) -> None:
    assert not isinstance(parse_yes_no(reply, HILUM), Parsed)
    assert parse_yes_no(f"{reply} So: no.", HILUM) == Parsed(False)


def test_not_only_denies_nothing() -> None:
    """ "Not only does it reach the hilum, …" was read as no."""
    for reply in (
        "Not only does it reach the hilum, it also invades it.",
        "It not only reaches the hilum but invades it.",
    ):
        assert parse_yes_no(reply, HILUM) in (Parsed(True), parse_yes_no("?", HILUM))


@pytest.mark.parametrize("reply", ["2.5 (in cm)", "2.5 (cm)", "Distance: 2.5 (centimetres)"])
def test_a_unit_in_brackets_is_the_number_s(reply) -> None:
    result = parse_number(reply, "mm")
    assert isinstance(result, Parsed)
    assert float(result.value) == 25
