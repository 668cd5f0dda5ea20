"""What is reached without looking, counted by hand and in exact fractions."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from situs.items import Choice, Item, Option
from situs.score import told_by_other_answers
from situs.score.blind.option_tricks import option_tricks
from situs.score.blind.shortcut_gain import gain_over_best
from situs.score.stats.estimates import paired_difference


def asked(name, patient, options, answer, *, question="Where?", stratum="headline"):
    return Item(
        item_id=name,
        study_id=f"s{patient}",
        series="mr",
        patient_id=f"p{patient}",
        task="t",
        form="choice",
        question=question,
        answer=Choice(answer),
        options=tuple(Option(value, text) for value, text in options.items()),
        split="test",
        stratum=stratum,
    )


def test_tricks_with_options() -> None:
    three = {"l": "left", "m": "in the middle", "r": "right of it"}
    two = {"a": "liver", "b": "spleen, enlarged"}
    items = [
        asked("1", 1, three, "l"),
        asked("2", 2, three, "m"),
        asked("3", 3, three, "m"),
        asked("4", 4, two, "a"),
    ]
    # The most frequent answer: two of the three, and chance where a set is offered once.
    expected = {
        "first option": (2.0, 4),
        "last option": (0.0, 4),
        "longest option": (2.0, 4),
        "shortest option": (2.0, 4),
        "middle option": (2.0, 4),
        "chance": (3 * Fraction(1, 3) + Fraction(1, 2), 4),
        "most frequent answer": (2 + Fraction(1, 2), 4),
    }
    found = option_tricks(items)["headline"]
    assert {
        name: (pytest.approx(float(right)), n) for name, (right, n) in expected.items()
    } == found


def test_other_answers_of_the_patient_by_exact_counts() -> None:
    """Naive Bayes as the module says it, each count made anew from all other patients."""
    rng = random.Random(5)
    pairs = {"yes": "yes, there is one", "no": "no, there is none"}
    levels = {"a": "the first", "b": "the second", "c": "the third"}
    patients = []
    for number in range(40):
        size = rng.choice("abc")
        kinds = [("Which?", levels, size), ("Any?", pairs, "yes" if size != "a" else "no")]
        kinds.append(("More?", pairs, rng.choice(["yes", "no"]) if size == "b" else "no"))
        kinds = [one for one in kinds if rng.random() < 0.9]
        patients.append(
            [
                asked(f"{number}{text}", number, options, answer, question=text)
                for text, options, answer in kinds
            ]
        )

    def score(one, option, others, elsewhere):
        total = Fraction(1)
        for other in others:
            beside = pair = 0
            for items in elsewhere:
                for x, y in itertools.permutations(items, 2):
                    same = (x.question, x.answer.value, y.question) == (
                        one.question,
                        option,
                        other.question,
                    )
                    beside += same
                    pair += same and y.answer == other.answer
            total *= Fraction(pair + 1, beside + len(other.options))
        return total

    right = n = 0
    chance = Fraction(0)
    for items in patients:
        elsewhere = [those for those in patients if those is not items]
        for one in items if len(items) > 1 else ():
            others = [other for other in items if other is not one]
            scores = {
                option.value: score(one, option.value, others, elsewhere) for option in one.options
            }
            best = [value for value, own in scores.items() if own == max(scores.values())]
            assert len(best) == 1, "a tie would be drawn by hash"
            right += best == [one.answer.value]
            chance += Fraction(1, len(one.options))
            n += 1
    told = told_by_other_answers([item for items in patients for item in items])
    assert (told.right, told.n) == (right, n)
    assert told.chance == pytest.approx(float(chance / n))


def test_the_gain_over_the_best_shortcut() -> None:
    """The lower limit is the least against any of them; the upper one is nearly that of the difference
    to the better one, where it is far ahead of the other."""
    generator = np.random.default_rng(6)
    n = 200
    names = [f"p{k:03d}" for k in range(n)]
    model, good = (generator.random((2, n)) < [[0.8], [0.6]]).astype(float)
    bad = (generator.random(n) < 0.1).astype(float)
    found = gain_over_best(model, {"bad": bad, "good": good}, names)
    assert (found.best, found.n, found.patients) == ("good", n, n)
    assert found.value == pytest.approx(model.mean() - good.mean())
    half = 1.96 * (model - good).std() / n**0.5
    assert found.ci95 == pytest.approx((found.value - half, found.value + half), abs=0.015)
    alone = gain_over_best(model, {"good": good}, names)
    assert alone.ci95 == paired_difference(model, good, names).ci95
    assert found.ci95[0] == alone.ci95[0]
