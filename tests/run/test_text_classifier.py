"""The learner of prompts finds what the words give away,
and guesses where they give nothing away."""

from __future__ import annotations

import numpy as np
import pytest

from situs.items import Choice, Item, Option, YesNo
from situs.run.baselines.text_classifier import CrossFitted
from situs.score import binomial_interval_999

OPTIONS = tuple(Option(value, value) for value in ("left", "right", "neither"))


def cohort(patients: int, texts: int, answer) -> list[Item]:
    items = []
    for patient in range(patients):
        for text in range(texts):
            name = f"i{patient}-{text}"
            given = answer(patient, text)
            form, options = ("yes_no", ()) if isinstance(given, YesNo) else ("choice", OPTIONS)
            items.append(
                Item(
                    name,
                    f"s{patient}",
                    "ct",
                    f"p{patient}",
                    "t",
                    form,
                    f"Is number{text} so?",
                    given,
                    options=options,
                )
            )
    return items


def right(items: list[Item], prompts: dict[str, str]) -> int:
    learner = CrossFitted(items, prompts)
    hits = 0
    for item in items:
        offered = [option.value for option in item.options] or ["yes", "no"]
        truth = (
            item.answer.value
            if isinstance(item.answer, Choice)
            else ("yes" if item.answer.value else "no")
        )
        hits += offered[learner.place(item)] == truth
    return hits


def test_it_finds_an_answer_that_stands_in_the_prompt() -> None:
    rng = np.random.default_rng(0)
    items = cohort(40, 5, lambda p, t: YesNo(bool(rng.random() < 0.5)))
    told = {
        i.item_id: f"{i.question} spacing {'0.7' if i.answer.value else '1.5'} mm" for i in items
    }
    assert right(items, told) > 0.95 * len(items)


def test_it_finds_a_text_with_one_answer() -> None:
    items = cohort(30, 6, lambda p, t: Choice(OPTIONS[t % 3].value))
    assert right(items, {i.item_id: i.question for i in items}) > 0.95 * len(items)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_at_chance_on_balanced_texts_and_not_below(seed: int) -> None:
    """Each text has yes and no equally often:
    leaving a patient out tilts the rest the other way."""
    rng = np.random.default_rng(seed)
    turns = [rng.permutation(40) for _ in range(10)]
    items = cohort(40, 10, lambda p, t: YesNo(bool(turns[t][p] % 2)))
    low, high = binomial_interval_999(len(items), 0.5)
    assert low <= right(items, {i.item_id: i.question for i in items}) <= high


def test_the_patient_asked_about_is_not_learnt_from() -> None:
    """A word that is this patient's own tells nothing,
    although the same word stands in all of his prompts."""
    rng = np.random.default_rng(1)
    side = {p: bool(rng.random() < 0.5) for p in range(60)}
    items = cohort(60, 6, lambda p, t: YesNo(side[p]))
    named = {i.item_id: f"{i.question} {i.patient_id}" for i in items}
    low, high = binomial_interval_999(60, 0.5)
    assert low * 6 <= right(items, named) <= high * 6
