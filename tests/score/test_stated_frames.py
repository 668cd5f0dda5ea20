"""Plainly stated frames are read at once; whatever is read so, the full reader reads too."""

from __future__ import annotations

import json
import random

import pytest

from situs.score import parse_frames
from situs.score.read import frames as full_reader
from situs.score.read.stated_frames import stated_frames

QUESTIONS = (
    "",
    "On which frames is the meniscus tear seen?",
    "From which slice to which slice is the left kidney visible?",
    "Which frames show the largest liver lesion?",
)
WORDS = ("not ", "no ", "about ", ", ", "-", "5", " mm", "?", "(", "Final answer: ", "or ")


def _reply(rng: random.Random) -> str:
    low = rng.randint(0, 40)
    numbers = list(range(low, low + rng.randint(1, 9)))
    if rng.random() < 0.2:
        numbers = sorted(rng.sample(range(60), 4))
    if rng.random() < 0.1:
        numbers.reverse()
    listed = ", ".join(map(str, numbers))
    word, ends = rng.choice(["Frames", "Slices", "frames", "slices"]), (numbers[0], numbers[-1])
    text = rng.choice(
        [
            f"{ends[0]}-{ends[1]}",
            f"{ends[0]}–{ends[1]}",
            f"{word} {ends[0]} to {ends[1]}.",
            "It is seen from frame {} to frame {}.".format(*ends),
            "It is seen from slice {} to slice {}.".format(*ends),
            f"{word} {listed}.",
            json.dumps({"frames": numbers}),
        ]
    )
    while rng.random() < 0.25:  # as nobody would write it
        at = rng.randrange(len(text) + 1)
        text = rng.choice(
            [text[:at] + rng.choice(WORDS) + text[at:], text[:at] + text[at + rng.randint(1, 3) :]]
        )
    return text


def test_stated_frames_are_those_of_the_full_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(9)
    cases = [
        (_reply(rng), rng.randint(0, 1), rng.randint(1, 60), rng.random() < 0.7, rng.random() < 0.3)
        for _ in range(500)
    ]
    stated = [stated_frames(text) is not None for text, *_ in cases]
    assert 150 < sum(stated) < 450  # both ways are tried

    # Without the memory of short replies, in which both ways would find the first one's answer.
    parse = parse_frames.__wrapped__

    def read(number: int) -> object:
        text, first, count, contiguous, open_end = cases[number]
        question = QUESTIONS[number % len(QUESTIONS)]
        how = {"contiguous": contiguous, "question": question, "open_end": open_end}
        return parse(text, first, count, **how)

    fast = [read(number) for number in range(len(cases))]
    monkeypatch.setattr(full_reader, "stated_frames", lambda _: None)
    for number, is_stated in enumerate(stated):
        if is_stated:
            assert fast[number] == read(number), cases[number]
