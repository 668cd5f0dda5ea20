"""How far one who counts the answers of other patients is from chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import pytest

from situs.items import AskedQuestion, shares_of_limit
from situs.items.arrangement.evenness import surprises


def asked(patient: str, answer: str, text: str = "Q?", **more: str) -> AskedQuestion:
    about = {"task": "t", "kind": "k", "split": "test"} | more
    return AskedQuestion(patient, answer, ("yes", "no"), text, **about)


def test_four_patients_who_come_out_even_give_each_other_away() -> None:
    """The rarest answer of the others is always right: 4 × ½ more than chance, σ = √(4 · ¼) = 1."""
    questions = [asked(f"p{n}", "yes" if n < 2 else "no") for n in range(4)]
    assert surprises(questions)["all", ""] == pytest.approx(2.0)
    assert shares_of_limit(questions, 1.0) == pytest.approx(
        {("all", ""): 2.0, ("task", "t"): 1.0, ("kind", "k"): 1.0, ("split", "test"): 1.0}
    )


def test_a_patient_tells_nothing_of_itself() -> None:
    """Two items of one patient: nobody else is known, so that every answer is a guess."""
    assert surprises([asked("p", "yes"), asked("p", "no")])["all", ""] == 0.0


def test_what_offers_one_answer_counts_nowhere() -> None:
    lone = AskedQuestion("p", "a", ("a",), "Q?", "t", "k", "test")
    assert surprises([lone]) == {}
    assert shares_of_limit([], 1.0) == {}


def test_splits_are_counted_apart_as_well() -> None:
    """Both splits are even and their answers together are not: one yes is missing in the second."""
    first = [asked(f"a{n}", "yes" if n < 3 else "no", split="train") for n in range(6)]
    second = [asked(f"b{n}", "yes" if n < 6 else "no", split="test") for n in range(7)]
    by_split = surprises([*first, *second])
    # Within the first split the rarest is right 6 times of 6: 3 / √1.5 standard errors.
    assert by_split["split", "train"] == pytest.approx(3.0 / math.sqrt(1.5))


def referee(
    questions: Sequence[AskedQuestion], name: Callable[[AskedQuestion], Hashable], sign: int
) -> float:
    """Standard errors from chance, one question at a time."""
    excess = variance = 0.0
    for question in questions:
        others = Counter(
            other.answer
            for other in questions
            if name(other) == name(question) and other.patient != question.patient
        )
        counts = {value: sign * others[value] for value in question.options}
        best = [value for value, count in counts.items() if count == max(counts.values())]
        chance = 1.0 / len(question.options)
        excess += (question.answer in best) / len(best) - chance
        variance += chance * (1.0 - chance)
    return abs(excess) / math.sqrt(variance)


@pytest.mark.parametrize("seed", range(4))
def test_counting_agrees_with_a_referee(seed: int) -> None:
    rng = np.random.default_rng(seed)
    questions = []
    for _ in range(90):
        options = ("a", "b", "c", "d")[: rng.integers(2, 5)]
        questions.append(
            AskedQuestion(
                f"p{rng.integers(12)}",
                options[rng.integers(len(options))],
                tuple(rng.permutation(options).tolist()),
                f"Q{rng.integers(5)}?",
                f"t{rng.integers(2)}",
                f"k{rng.integers(3)}",
                f"s{rng.integers(2)}",
            )
        )
    ways: list[Callable[[AskedQuestion], Hashable]] = [
        lambda q: (q.text, q.option_set),
        lambda q: q.text,
        lambda q: (q.split, q.text, q.option_set),
        lambda q: (q.kind, q.option_set),
        lambda q: q.option_set,
    ]
    furthest = max(referee(questions, way, sign) for way in ways for sign in (1, -1))
    assert surprises(questions)["all", ""] == pytest.approx(furthest)
