"""What a reply says in passing of the things that a question names is no answer to it."""

import pytest

from situs.items import Option
from situs.score.read import (
    Parsed,
    parse_choice,
    parse_choices,
    parse_frames,
    parse_number,
    parse_yes_no,
)

TOUCHING = (
    "Is the gallbladder in contact with the liver?",
    "Is the spleen in contact with the left kidney?",
    "Does the gallbladder touch the liver?",
)


@pytest.mark.parametrize("question", TOUCHING)
@pytest.mark.parametrize(
    "said",
    [
        "The gallbladder was removed.", "The gallbladder is enlarged.",
        "The gallbladder is not enlarged.", "The spleen is on the left.",
        "It is on the left side.", "The left kidney is small.", "The gallbladder has stones.",
    ],
)  # fmt: skip
def test_a_property_of_a_structure_says_nothing_of_its_contacts(question: str, said: str) -> None:
    assert not isinstance(parse_yes_no(said, question), Parsed)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Yes, I can see both organs. They are not in contact.", False),
        ("Yes, both organs are visible. There is no contact between them, however.", False),
        ("Yes, the gallbladder is visible. It is in contact with the liver.", True),
        ("Yes, I understand the question. The answer is no.", False),
    ],
)
def test_a_yes_to_seeing_gives_way_to_what_follows(reply: str, expected: bool) -> None:
    result = parse_yes_no(reply, TOUCHING[0])
    assert isinstance(result, Parsed)
    assert result.value is expected


def test_a_yes_to_seeing_answers_whether_it_is_seen() -> None:
    for question in ("Is the spleen visible?", "Does the slice show the spleen?"):
        result = parse_yes_no("Yes, I can see the spleen. It is on the left.", question)
        assert isinstance(result, Parsed)
        assert result.value is True


@pytest.mark.parametrize(
    "reply",
    [
        "To answer yes I would need to see more than 12 cm.",
        "For a yes, I'd need to see more than 12 cm; it is 9.",
        "To be able to say no I would need all slices.",
    ],
)
def test_what_an_answer_would_need_is_no_answer(reply: str) -> None:
    assert not isinstance(parse_yes_no(reply, "Is the spleen longer than 12 cm?"), Parsed)


@pytest.mark.parametrize(
    "reply",
    [
        "Yes, but I would need more slices to be certain.",
        "Yes, although I'd need thinner slices to be certain.",
        "Yes. I'd need the coronal slices to confirm this.",
    ],
)
def test_what_would_confirm_an_answer_sets_no_condition(reply: str) -> None:
    result = parse_yes_no(reply, "Is the spleen longer than 12 cm?")
    assert isinstance(result, Parsed)
    assert result.value is True


PLACES = [
    Option(letter, words)
    for letter, words in zip(
        "ABCD", ("in front of the kidney", "behind the kidney", "above it", "below it")
    )
]


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Ranking: 1. B 2. A 3. D 4. C", "B"),
        ("From most to least likely: B, A, D, C", "B"),
        ("From least to most likely: B, A, D, C", "C"),
        ("Superior.", "C"),
        ("The lesion lies caudal to it.", "D"),
    ],
)
def test_rankings_and_directions_in_other_words(reply: str, letter: str) -> None:
    result = parse_choice(reply, PLACES, "Where does the lesion lie relative to the kidney?")
    assert isinstance(result, Parsed)
    assert result.value == PLACES["ABCD".index(letter)].value


ORGANS = [Option(a, b) for a, b in zip("ABCD", ("liver", "spleen", "pancreas", "bladder"))]


def test_letters_in_a_row_with_and() -> None:
    question = "Which organs does the slice show? Choose all that apply."
    result = parse_choices("A B and D", ORGANS, question)
    assert isinstance(result, Parsed)
    assert result.value == tuple(ORGANS[index].value for index in (0, 1, 3))


@pytest.mark.parametrize(
    "reply",
    ["The aorta is 22 mm wide, the lesion 12 mm.", "Vertical offset 30 mm, in-plane 40 mm."],
)
def test_sizes_and_components_are_no_distance(reply: str) -> None:
    question = "What is the shortest distance between the lesion and the aorta, in mm?"
    assert not isinstance(parse_number(reply, "mm", question=question), Parsed)


NEAREST = [
    Option(letter, words)
    for letter, words in zip("ABC", ("right kidney", "stomach", "urinary bladder"))
]


@pytest.mark.parametrize(
    "reply",
    [
        "First I locate the right kidney.", "Let me find the stomach and measure it.",
        "Look at the right kidney.", "I was asked about the stomach.", "I can see the stomach.",
        "The question is about the right kidney.", "The right kidney is well seen.",
        "We need to compare the stomach",
    ],
)  # fmt: skip
def test_what_a_reply_only_turns_to_is_not_chosen(reply: str) -> None:
    question = "Which of these lies nearest to the largest liver lesion?"
    assert not isinstance(parse_choice(reply, NEAREST, question), Parsed)


def test_what_is_seen_answers_what_is_seen() -> None:
    result = parse_choice("I can see the stomach.", NEAREST, "Which of these is seen here?")
    assert isinstance(result, Parsed)
    assert result.value == NEAREST[1].value


@pytest.mark.parametrize(
    ("question", "named", "answer"),
    [
        (
            "Is the aorta to the right of the left adrenal gland, from the patient's point of view?",
            "left adrenal gland",
            "The aorta is to the left of the left adrenal gland.",
        ),
        (
            "Is the left adrenal gland to the right of the spleen, from the patient's point of view?",
            "left adrenal gland",
            "The left adrenal gland is to the left of the spleen.",
        ),
    ],
)
def test_the_side_in_a_name_tells_no_direction(question: str, named: str, answer: str) -> None:
    for said in (f"The {named} is well seen.", f"I can see the {named}.", f"Look at the {named}."):
        assert not isinstance(parse_yes_no(said, question), Parsed)
    result = parse_yes_no(answer, question)
    assert isinstance(result, Parsed)
    assert result.value is False


@pytest.mark.parametrize(
    "reply",
    ["The slices are 5 mm thick.", "Slice thickness is 5 mm.", "The lesion is 12 mm in size."],
)
def test_measures_of_the_scan_and_of_the_lesion_are_no_distance(reply: str) -> None:
    question = "Is the largest kidney lesion within 30 mm of the spleen?"
    assert not isinstance(parse_yes_no(reply, question), Parsed)


@pytest.mark.parametrize(
    "reply",
    ["The scan is 512 x 512.", "Window level 40, width 400.", "I see 3 lesions on 12 slices."],
)
def test_numbers_of_other_things_are_no_frames(reply: str) -> None:
    question = "Over which range of frames is subchondral bone oedema seen?"
    assert not isinstance(parse_frames(reply, 1, 600, question=question), Parsed)


def test_what_a_reply_only_turns_to_is_not_among_its_choices() -> None:
    question = "Choose every one of these that the reader marked on this slice."
    for reply in (
        "Look at the spleen.",
        "I was asked about the liver.",
        "First I locate the liver.",
    ):
        assert not isinstance(parse_choices(reply, ORGANS, question), Parsed)
    result = parse_choices("I see the liver and the spleen.", ORGANS, question)
    assert isinstance(result, Parsed)
    assert result.value == tuple(option.value for option in ORGANS[:2])
