"""Debiasing drops whole texts that need no sight, and leaves the rest as it was."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from situs.bench import check_bench, open_bench
from situs.build import debias
from situs.run import Spec, make_baseline
from situs.score import binomial_interval_999


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
    assert all(len(kept) == 1 for kept in by_text.values()), "a text leaves as a whole or stays as a whole"
    assert bench.info.not_asked["predictable without looking"] == len(before) - len(after)
    assert not any(item.stratum == "textbook" and item.task == "direction" for item in after.values())
    prior = make_baseline(bench, Spec("prior"))
    yes_no = [item for item in after.values() if item.form == "yes_no" and item.stratum == "headline"]
    right = sum((prior.answer(item) == "yes") == item.answer.value for item in yes_no)  # type: ignore[union-attr]
    low, high = binomial_interval_999(len(yes_no), 0.5)
    assert low <= right <= high


def test_a_debiased_bench_checks_clean(bench: Path, tmp_path: Path) -> None:
    debias(bench, tmp_path / "debiased")
    assert check_bench(tmp_path / "debiased").errors == 0
