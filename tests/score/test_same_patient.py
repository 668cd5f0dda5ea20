"""What a patient's other answers tell:
everything where they hang together, nothing where they do not."""

from __future__ import annotations

import random

import pytest

from situs.items import Item, YesNo
from situs.score import told_by_other_answers


def items(patients: int, coupled: bool) -> list[Item]:
    """Two questions a patient; the second has the first one's answer, or one of its own."""
    generator = random.Random(4)
    found = []
    for patient in range(patients):
        first = generator.random() < 0.5
        second = first if coupled else generator.random() < 0.5
        for text, answer in (("Is there a tear?", first), ("Is the tear on slice 12?", second)):
            found.append(
                Item(
                    item_id=f"{text}{patient}",
                    study_id=f"s{patient}",
                    series="mr",
                    patient_id=f"p{patient}",
                    task="detection",
                    form="yes_no",
                    question=text,
                    answer=YesNo(answer),
                    split="test",
                    stratum="headline",
                )
            )
    return found


def test_answers_that_hang_together_tell_each_other() -> None:
    told = told_by_other_answers(items(100, coupled=True))
    assert told is not None
    assert (told.right, told.n, told.chance) == (200, 200, 0.5)


def test_independent_answers_tell_nothing() -> None:
    told = told_by_other_answers(items(400, coupled=False))
    assert told is not None
    # 800 guesses in pairs: 99.9 % of a binomial with the variance doubled.
    assert told.right / told.n == pytest.approx(0.5, abs=3.29 * 0.5 * (2 / told.n) ** 0.5)


def test_one_question_a_patient_has_nothing_beside_it() -> None:
    assert told_by_other_answers(items(20, coupled=True)[::2]) is None
