"""The interval of the sight gain holds the true value as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

from situs.items import Item, YesNo
from situs.probe.sight_gain import gain_between
from situs.run import AnswerRow
from situs.score import Selection, binomial_interval_999, gain_over_best, score_answer
from situs.score.explain import Answered, Answers

PATIENTS, EACH = 36, 8
SEEN, BLIND = 0.8, 0.5
EVERYTHING = Selection("all", closed=True)


def answered(item: Item, said: str) -> Answered:
    row = AnswerRow(item.item_id, response=said)
    return Answered(item, row, score_answer(item, row, None))


@pytest.fixture(scope="module")
def both() -> dict[str, dict[bool, Answered]]:
    """Every item with a right and a wrong answer."""
    result = {}
    for patient in range(PATIENTS):
        for number in range(EACH):
            name = f"i{patient}-{number}"
            item = Item(
                name,
                f"s{patient}",
                "ct",
                f"p{patient}",
                "t",
                "yes_no",
                f"Question {number}?",
                YesNo(True),
            )
            result[name] = {True: answered(item, "yes"), False: answered(item, "no")}
    return result


def simulated(
    both: dict[str, dict[bool, Answered]],
    mean: float,
    rng: np.random.Generator,
    patients: int = PATIENTS,
) -> Answers:
    """Patients differ: each has an ability of its own around the mean (beta,
    so that the mean is exact)."""
    ability = {f"p{p}": rng.beta(8 * mean, 8 * (1 - mean)) for p in range(patients)}
    asked = {i: pair for i, pair in both.items() if pair[True].item.patient_id in ability}
    drawn = {
        i: pair[bool(rng.random() < ability[pair[True].item.patient_id])]
        for i, pair in asked.items()
    }
    return Answers(drawn, None, {})  # type: ignore[arg-type]


@pytest.mark.parametrize("patients", [12, PATIENTS, pytest.param(30, marks=pytest.mark.sweep)])
def test_the_interval_holds_the_true_gain_as_often_as_it_says(both, patients: int) -> None:
    held = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        full, blind = (simulated(both, mean, rng, patients) for mean in (SEEN, BLIND))
        gain = gain_between(full, blind, EVERYTHING)
        held += gain.ci95[0] <= SEEN - BLIND <= gain.ci95[1]
    assert held >= binomial_interval_999(100, 0.95)[0]


def test_the_best_shortcut_is_chosen_anew_in_every_resample() -> None:
    """Two shortcuts that are right on one half each:
    the larger of their means is never under one half."""
    items = [f"i{n:03d}" for n in range(80)]
    clusters = [f"p{n // 2:03d}" for n, _ in enumerate(items)]
    model = [True for _ in items]
    halves = {
        "a": [n % 4 < 2 for n, _ in enumerate(items)],
        "b": [n % 4 >= 2 for n, _ in enumerate(items)],
    }
    found = gain_over_best(model, halves, clusters)
    assert found.value == pytest.approx(0.5)
    assert found.ci95[1] <= 0.5, (
        "the better half is taken each time, so the gain never exceeds one half"
    )
    same = gain_over_best(halves["a"], {"a": halves["a"]}, clusters)
    u = 1 - 0.025 ** (1 / 40)
    assert same.ci95 == (
        pytest.approx(-u),
        pytest.approx(u),
    ), "40 patients without a difference do not exclude one"
    fixed = gain_over_best(model, {"a": halves["a"]}, clusters)
    assert fixed.ci95[1] > 0.55


def test_shared_items_only(both) -> None:
    rng = np.random.default_rng(0)
    full, blind = simulated(both, SEEN, rng), simulated(both, BLIND, rng)
    fewer = Answers(dict(list(blind.by_id.items())[:100]), None, {})  # type: ignore[arg-type]
    assert gain_between(full, fewer, EVERYTHING).n == 100
    assert gain_between(full, Answers({}, None, {}), EVERYTHING).value is None  # type: ignore[arg-type]
