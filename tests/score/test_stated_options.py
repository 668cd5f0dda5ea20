"""Plainly stated letters are read at once; whatever is read so, the full readers read too."""

from __future__ import annotations

import json
import random
from collections import Counter

from situs.items import Option
from situs.score.read import choice, choices, parse_choice, parse_choices
from situs.score.read.result import Parsed
from situs.score.read.stated_options import stated_option, stated_options

WORDS = (
    "liver", "left kidney", "right kidney", "L1", "T12", "yes", "no", "cannot be told",
    "none of these", "all of the above", "the same size", "hepatitis B", "vitamin A deficiency",
    "mark A", "12 mm", "3 cm", "a", "L5", "left", "right", "in front of X", "bone lesion",
    "spleen, liver, stomach", "below the liver", "between L1 and L2", "two", "first",
)  # fmt: skip
QUESTIONS = (
    "",
    "Which is larger?",
    "Which of these is smaller, the spleen or the left kidney?",
    "Which mark lies on the same structure as mark X?",
    "In which order do they lie, from head to foot?",
    "Choose every one of these findings that the reader marked in this volume.",
    "Is there a tear?",
    "On which side of the patient is the mark?",
    "How many lesions are there?",
    "Which of these is NOT visible?",
)
LETTERS = "AAABBBCCCDDEFGHIX"


def _options(rng: random.Random) -> tuple[Option, ...]:
    texts = rng.sample(WORDS, rng.randint(2, 6))
    return tuple(Option(f"value of {text}", text) for text in texts)


def test_a_letter_is_what_the_full_reader_reads() -> None:
    rng, read = random.Random(3), 0
    for _ in range(500):
        options, question = _options(rng), rng.choice(QUESTIONS)
        letter = rng.choice(LETTERS)
        text = rng.choice([letter, letter, f"{letter}.", f"({letter})", f" {letter}", f"{letter}:"])
        stated = stated_option(text, options, "en")
        read += stated is not None
        if stated is not None:
            full = choice._read_choice(text, options, question, "en")
            assert full == Parsed(stated.value), (text, options, question)
            assert parse_choice(text, options, question) == full
    assert 100 < read < 450  # both ways are tried


def test_letters_are_what_the_full_reader_reads() -> None:
    rng, read = random.Random(4), 0
    forms: Counter[str] = Counter()
    for _ in range(500):
        options, question = _options(rng), rng.choice(QUESTIONS)
        drawn = rng.sample(LETTERS, rng.randint(1, 3))
        listed = rng.choice([", ", ", ", ", ", ",", " and ", " or "]).join(drawn)
        bracketed = "".join(f"({letter})" for letter in drawn)
        text = rng.choice([listed, listed, bracketed, json.dumps({"answer": drawn})])
        forms[text[:1]] += stated_options(text, options, "en") is not None
        stated = stated_options(text, options, "en")
        read += stated is not None
        if stated is not None:
            full = choices._read_choices(text, options, question, "en")
            assert full == Parsed(tuple(one.value for one in stated)), (text, options, question)
            assert parse_choices(text, options, question) == full
    assert 30 < read < 450
    assert min(forms["("], forms["{"]) > 20


def test_what_departs_from_the_plain_form_is_left_to_the_full_reader() -> None:
    options = tuple(Option(name, name) for name in ("liver", "spleen", "stomach"))
    assert stated_option("B", options, "en") == options[1]
    assert stated_options("C, A", options, "en") == (options[0], options[2])
    for text in ("b", "B?", "not B", "D", "A, A", "", "A\n", "A,B", "A, D", "(A)(A)", "(A) (B)"):
        assert stated_option(text, options, "en") is None
        assert stated_options(text, options, "en") is None
    assert stated_option("B", options, "de") is None
    lettered = (*options, Option("letter", "B"))
    assert stated_option("B", lettered, "en") is None
