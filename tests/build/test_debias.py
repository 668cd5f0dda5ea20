"""Debiasing drops whole texts that need no sight, and leaves the rest as it was."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from situs.bench import Bench, StudyRecord, check_bench, open_bench
from situs.build import debias
from situs.build.debiasing import Predictable, predictable_templates
from situs.facts import Fact
from situs.items import Item
from situs.run import AnswerRow, Spec, make_baseline
from situs.score import binomial_interval_999, score_answer


def test_whole_texts_leave_and_the_rest_is_at_chance(cohort: Path, tmp_path: Path) -> None:
    before = {item.item_id: item for item in open_bench(cohort).items()}
    debias(cohort, tmp_path / "debiased")
    bench = open_bench(tmp_path / "debiased")
    after = {item.item_id: item for item in bench.items()}
    assert 0 < len(after) < len(before)
    assert all(before[item_id] == item for item_id, item in after.items())
    by_text: dict[tuple[str, ...], set[bool]] = defaultdict(set)
    for item_id, item in before.items():
        options = sorted(option.value for option in item.options)
        by_text[item.task, item.form, item.stratum, item.question, *options].add(item_id in after)
    assert all(len(kept) == 1 for kept in by_text.values()), (
        "a text leaves as a whole or stays as a whole"
    )
    assert bench.info.not_asked["predictable without looking"] == len(before) - len(after)
    assert not any(
        item.stratum == "textbook" and item.task == "direction" for item in after.values()
    )
    prior = make_baseline(bench, Spec("prior"))
    yes_no = [
        item for item in after.values() if item.form == "yes_no" and item.stratum == "headline"
    ]
    right = sum((prior.answer(item) == "yes") == item.answer.value for item in yes_no)  # type: ignore[union-attr]
    low, high = binomial_interval_999(len(yes_no), 0.5)
    assert low <= right <= high


class _Some(Bench):
    """A bench with some of its patients, and some of their questions."""

    def __init__(
        self, whole: Bench, patients: set[str], dropped: Predictable | None = None
    ) -> None:
        super().__init__(whole.folder, whole.info)
        self._patients = patients
        self._dropped = dropped

    def studies(self) -> Iterator[StudyRecord]:
        return (study for study in super().studies() if study.patient_id in self._patients)

    def facts(self, **where: str) -> Iterator[Fact]:
        known = {study.study_id for study in self.studies()}
        return (fact for fact in super().facts(checked=False, **where) if fact.study_id in known)

    def items(self, split: str | None = None, *, steps: bool = True) -> Iterator[Item]:
        own = (
            item
            for item in super().items(split, steps=steps, checked=False)
            if item.patient_id in self._patients
        )
        return (item for item in own if self._dropped is None or not self._dropped.holds(item))


def blind_on(bench: Bench, counts: Counter[str]) -> None:
    """Adds up what each blind method gets of the questions with two answers."""
    for name in METHODS:
        baseline = make_baseline(bench, Spec(name))
        for item in bench.items():
            row = score_answer(
                item, AnswerRow(item.item_id, response=baseline.answer(item) or ""), None
            )
            if row.chance == 0.5:
                counts[name] += bool(row.outcome.right)
                counts[f"{name} of"] += 1


METHODS = ("majority", "prior", "nearest", "text-classifier")


def test_held_out_patients_are_at_chance_and_not_below(cohort: Path) -> None:
    """Templates are chosen on one half of the patients;
    on the other half no blind method is outside chance."""
    assert_held_out_at_chance(open_bench(cohort))


@pytest.mark.sweep(one_in=20)
@pytest.mark.parametrize("seed", [21, 31, 41, 51, 61, 71])
def test_so_they_are_in_other_cohorts(
    seed: int, tmp_path: Path, situs: Callable[..., Any], label_phantoms: Callable[..., None]
) -> None:
    label_phantoms(tmp_path / "data", seed=seed, count=32)
    assert (
        situs(
            "build",
            "masks",
            tmp_path / "data",
            "--annotation",
            "exact",
            "--out",
            tmp_path / "bench",
        ).code
        == 0
    )
    assert_held_out_at_chance(open_bench(tmp_path / "bench"))


def assert_held_out_at_chance(whole: Bench) -> None:
    patients = sorted({study.patient_id for study in whole.studies()})
    first, second = set(patients[::2]), set(patients[1::2])
    before, after = Counter[str](), Counter[str]()
    for chosen_on, tried_on in ((first, second), (second, first)):
        dropped = predictable_templates(_Some(whole, chosen_on))
        blind_on(_Some(whole, tried_on), before)
        blind_on(_Some(whole, tried_on, dropped), after)
    assert before["prior"] > binomial_interval_999(before["prior of"], 0.5)[1], (
        "there was something to leave out"
    )
    for name in METHODS:
        low, high = binomial_interval_999(after[f"{name} of"], 0.5)
        assert low <= after[name] <= high, (name, after[name], after[f"{name} of"])


def test_a_debiased_bench_checks_clean(bench: Path, tmp_path: Path) -> None:
    debias(bench, tmp_path / "debiased")
    assert check_bench(tmp_path / "debiased").errors == 0
