"""Where a reply is cut: marks between what is named, and numbers that are absurdly long."""

from __future__ import annotations

from fractions import Fraction

import pytest

from situs.items import Option
from situs.score.read.choice import parse_choice
from situs.score.read.frames import parse_frames
from situs.score.read.number import parse_number
from situs.score.read.numbers.literals import numeral
from situs.score.read.prose.lexicon import english
from situs.score.read.prose.tokens import Mention, tokenise
from situs.score.read.result import CONTRADICTION, Parsed


def kinds(text: str, *named: str) -> list[str]:
    """The kind of each piece of a text in which these words are mentions."""
    starts = [text.index(word) for word in named]
    mentions = [Mention(start, start + len(word), word) for start, word in zip(starts, named)]
    return [token.kind for token in tokenise(text, mentions, english())]


@pytest.mark.parametrize("mark", ["-", " - ", "- ", " -"])
def test_only_a_hyphen_without_spaces_joins_two_names(mark: str) -> None:
    """ "L2-L3" is one place; "L2 - L3" may be a thought that breaks off."""
    between = "quote" if mark == "-" else "dash"
    assert kinds(f"L2{mark}L3", "L2", "L3") == ["mention", between, "mention"]


def test_a_hyphen_at_the_end_joins_nothing() -> None:
    assert kinds("L2-", "L2") == ["mention", "dash"]
    assert kinds("L2-\nL3", "L2", "L3") == ["mention", "dash", "line", "mention"]
    assert kinds("-L2", "L2") == ["dash", "mention"]


@pytest.mark.parametrize("sign", ["", "-"])
def test_thirty_powers_of_ten_are_a_number_and_more_are_none(sign: str) -> None:
    assert numeral(f"2e{sign}30") == 2 * Fraction(10) ** int(f"{sign}30")
    assert numeral(f"2e{sign}31") is None
    assert numeral("9" * 30) == 10**30 - 1
    assert numeral("9" * 31) is None


@pytest.mark.parametrize(
    "text",
    ["15\n\nThe gap I see here is about 12 mm.", "7\nFrom the caliper one gets 12 mm"],
)
def test_a_bare_number_at_the_head_gives_way_to_one_with_its_unit(text: str) -> None:
    question = "How far apart are the liver and the spleen, in mm?"
    assert parse_number(text, "mm", question=question) == Parsed(Fraction(12))


@pytest.mark.parametrize(("depth", "is_read"), [(1, True), (4, True), (5, False)])
def test_frames_lie_at_most_four_objects_deep(depth: int, is_read: bool) -> None:
    reply = '{"answer": ' * depth + '{"frames": [3, 5, 9]}' + "}" * depth
    result = parse_frames(reply, 1, 20, contiguous=False)
    assert result == Parsed((2, 4, 8)) if is_read else not isinstance(result, Parsed)


def test_the_first_of_a_list_of_sizes_counts_nothing() -> None:
    """ "12 and 18 mm": both are sizes, though only the last has a unit."""
    question = "How many lesions are there?"
    for reply in (
        "There are 2 lesions of 12 and 18 mm.",
        "2 lesions, which measure 12, 15 and 18 mm",
        "They measure 12 and 18 mm, so there are 2.",
    ):
        assert parse_number(reply, "", question=question) == Parsed(Fraction(2)), reply


@pytest.mark.parametrize(
    "reply",
    [
        "The answer is A. The answer is not A.",
        "Answer: A. Answer: not A.",
        "The answer is not A. The answer is A.",
        "The answer is B, the answer is not B.",
    ],
)
def test_an_answer_that_is_given_and_denied_is_none(reply: str) -> None:
    options = (Option("left", "left"), Option("right", "right"), Option("both", "both"))
    assert parse_choice(reply, options, "Which side?") == CONTRADICTION
