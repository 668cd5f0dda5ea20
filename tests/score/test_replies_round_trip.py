"""Answers put into words, numbers, lists and JSON by a few lines of grammar, and read back: whatever was
put in comes out, for every arrangement."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from situs.items import Option
from situs.score import Parsed, parse_choice, parse_frames
from situs.score.read.numbers.words import digits_for_words
from situs.score.read.prose.loose_json import loose_values

ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["?", "?", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelled(number: int, joint: str = " and ") -> str:
    """A whole number under a million in English words."""
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + (f"-{ONES[number % 10]}" if number % 10 else "")
    if number < 1000:
        rest = number % 100
        return f"{ONES[number // 100]} hundred" + (f"{joint}{spelled(rest)}" if rest else "")
    rest = number % 1000
    small = joint if rest < 100 else " "
    tail = f"{small}{spelled(rest, joint)}" if rest else ""
    return f"{spelled(number // 1000, joint)} thousand{tail}"


@pytest.mark.parametrize("joint", [" and ", " "])
def test_numbers_in_words(joint: str) -> None:
    rng = random.Random(1)
    numbers = [
        *range(21, 130),
        *(rng.randrange(130, 10**k) for k in (3, 4, 5, 6) for _ in range(60)),
    ]
    for number in numbers:
        words = spelled(number, joint)
        # A single word stays: the tokeniser knows it.
        read = number if " " in words or "-" in words else words
        assert digits_for_words(f"It has {words} mm.") == f"It has {read} mm."
    assert digits_for_words("a hundred") == "100"
    assert digits_for_words("one hundred and five and a half") == "105.5"


# JSON.


def drawn(rng: random.Random, depth: int = 0):
    """A JSON value; numbers are read as floats."""
    kind = rng.randrange(4 if depth < 3 else 2)
    if kind == 0:
        return rng.choice([0.0, 1.0, -2.5, 12.0, 300.0, 0.125, True, False, None])
    if kind == 1:
        return rng.choice(["yes", "the liver", "patient's left", "A", ""])
    if kind == 2:
        return [drawn(rng, depth + 1) for _ in range(rng.randrange(1, 4))]
    keys = rng.sample(["answer", "box", "frame", "label", "why"], rng.randrange(1, 4))
    return {key: drawn(rng, depth + 1) for key in keys}


def bare(value) -> str:
    """As a model writes it that never saw JSON: bare keys, single quotes, signs for commas."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {bare(part)}" for key, part in value.items()) + " ,}"
    if isinstance(value, list):
        return "[" + ",\n".join(map(bare, value)) + " , ]"
    return "'" + value.replace("'", "\\'") + "'" if isinstance(value, str) else str(value)


@pytest.mark.parametrize("seed", range(40))
def test_json_however_it_is_written(seed: int) -> None:
    rng = random.Random(seed)
    values = [[drawn(rng, 1)], {"answer": drawn(rng, 1), "more": drawn(rng, 1)}]
    for value in values:
        proper = json.dumps(value)
        written = {
            "proper": proper,
            "indented": json.dumps(value, indent=2),
            "bare": bare(value),
            "with a comment": proper[:1] + " // so it is\n /* really */ " + proper[1:],
            "with commas behind": proper[:-1] + " , " + proper[-1],
        }
        if proper[-2] in '"]}':
            written["cut off"] = proper[:-1]
        for way, text in written.items():
            found = list(
                loose_values(
                    f"So: {text} and that is all."[: None if way != "cut off" else 4 + len(text)]
                )
            )
            assert [one.value for one in found] == [value], (way, text)
            assert found[0].start == 4
            assert found[0].end == 4 + len(text)


def test_json_that_is_nested_too_deeply_is_passed_over() -> None:
    """Thirteen lists in one another are no answer, if they are not proper JSON either."""
    deep, deeper = ("[" * n + "'x'" + "]" * n for n in (12, 13))
    assert next(loose_values(deep)).start == 0
    assert next(loose_values(deeper)).start == 1, "the outermost is passed over"


def test_a_repeated_key_keeps_both_values() -> None:
    found = next(loose_values('{"a": 1, "a": 2, "b": 3, "b": 3}')).value
    assert found == {"a": [1.0, 2.0], "b": 3.0}


# Orders and comparisons.

ORGANS = ("liver", "spleen", "stomach")
FALLING = "Order these structures by volume, from largest to smallest."
RISING = "Order these structures by volume, from smallest to largest."
ORDERS = {
    "{0} > {1} > {2}": True,
    "{0} < {1} < {2}": False,
    "From largest to smallest: {0}, {1}, {2}": True,
    "From smallest to largest: {0}, {1}, {2}.": False,
    "In descending order: {0}, {1}, {2}": True,
    "In ascending order: {0}, {1}, {2}": False,
    "Descending order: {0}, {1}, {2}.": True,
    "Ascending order: {0}, {1}, {2}.": False,
    "The largest is the {0} and the smallest is the {2}.": True,
    "The smallest is the {0} and the largest is the {2}.": False,
}


@pytest.mark.parametrize("question", [FALLING, RISING])
@pytest.mark.parametrize("template", ORDERS)
def test_an_order_is_read_in_the_direction_that_is_asked(template: str, question: str) -> None:
    every = list(itertools.permutations(ORGANS))
    options = [Option(str(n), ", ".join(order)) for n, order in enumerate(every)]
    for told in every:
        as_asked = told if ORDERS[template] is (question == FALLING) else told[::-1]
        result = parse_choice(template.format(*told), options, question)
        assert result == Parsed(str(every.index(as_asked))), (told, result)


PAIRS = {
    "Which is larger, the {0} or the {1}?": {
        "The {a} is larger than the {b}.": "a",
        "The {a} is larger.": "a",
        "The {b} is smaller than the {a}.": "a",
        "The {b} is smaller.": "a",
        "{a} > {b}": "a",
        "{b} < {a}": "a",
        "Larger: {a}": "a",
        "Compared with the {b}, the {a} is larger.": "a",
        "The {a} exceeds the {b}.": "a",
        "The {a} (210 mL) > the {b} (150 mL)": "a",
    },
    "Which is smaller, the {0} or the {1}?": {
        "The {a} is larger than the {b}.": "b",
        "The {a} is larger.": "b",
        "The {b} is smaller than the {a}.": "b",
        "The {b} is smaller.": "b",
        "{a} > {b}": "b",
        "{b} < {a}": "b",
        "Compared with the {a}, the {b} is smaller.": "b",
    },
}


@pytest.mark.parametrize(
    ("question", "reply"), [(question, reply) for question, own in PAIRS.items() for reply in own]
)
def test_a_comparison_of_two(question: str, reply: str) -> None:
    for first, second in itertools.permutations(["spleen", "left kidney"]):
        options = [Option("x", f"the {first}"), Option("y", f"the {second}")]
        for a, b in itertools.permutations([first, second]):
            named = {"a": a, "b": b}[PAIRS[question][reply]]
            expected = "x" if named == first else "y"
            said = reply.format(a=a, b=b)
            result = parse_choice(
                said[0].upper() + said[1:], options, question.format(first, second)
            )
            assert result == Parsed(expected), said


MEASURED = ("gallbladder", "right kidney", "stomach", "spleen")


@pytest.mark.parametrize("seed", range(6))
def test_the_least_and_the_most_of_measures(seed: int) -> None:
    rng = random.Random(seed)
    lengths = dict(zip(MEASURED, rng.sample([4, 9, 12, 30, 41, 75], 4)))
    options = [Option(name, f"the {name}") for name in MEASURED]
    order = rng.sample(MEASURED, 4)
    said = "; ".join(
        f"{name} – {lengths[name] / 10:g} cm"
        if rng.random() < 0.5
        else f"{name} – {lengths[name]} mm"
        for name in order
    )
    for end, choose in (("nearest to", min), ("farthest from", max)):
        question = f"Which of these lies {end} the largest liver lesion?"
        expected = choose(MEASURED, key=lengths.__getitem__)
        assert parse_choice(said, options, question) == Parsed(expected), said


# Pictures.


@pytest.mark.parametrize("base", [0, 1])
def test_pictures_however_they_are_listed(base: int) -> None:
    rng = random.Random(base)
    for _ in range(40):
        count = rng.randrange(12, 60)
        low = rng.randrange(base, count - 5 + base)
        high = rng.randrange(low + 1, min(low + 9, count - 1 + base) + 1)
        run = range(low, high + 1)
        expected = Parsed(tuple(number - base for number in run))
        for said in (
            f"slices {low}-{high}",
            f"slices {low} to {high}",
            f"frames {low} through {high}",
            f"It is seen on images {low}–{high}.",
            f"between slice {low} and slice {high}",
            ", ".join(map(str, run)),
            "slices " + ", ".join(map(str, run)),
            f"[{low}, {high}]",
            json.dumps({"frames": list(run)}),
        ):
            assert parse_frames(said, base, count) == expected, said
