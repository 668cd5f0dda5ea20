"""Law 6, the oracle: its prose, letters and JSON pass the public parsers and are all right;
a guess sits at chance."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from situs.bench import Bench, open_bench
from situs.items import Choice, Item, YesNo
from situs.run import AnswerRow, Spec, Viewing, make_baseline, parse_spec
from situs.score import Replies, ScoredRun, binomial_interval_999, score_answer, score_table


def answers(bench: Bench, spec: Spec) -> list[tuple[Item, AnswerRow]]:
    """What a baseline says to every item."""
    baseline = make_baseline(bench, spec)
    return [
        (item, AnswerRow(item.item_id, response=baseline.answer(item))) for item in bench.items()
    ]


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(6))
def test_the_oracle_is_always_right(cohort: Path, seed: int) -> None:
    """Each seed says the same answers in other words."""
    said = answers(open_bench(cohort), parse_spec(f"oracle?seed={seed}"))
    shown = Viewing(open_bench(cohort))
    wrong = [
        (item.question, row.response)
        for item, row in said
        if not score_answer(item, row, None, shown=shown).outcome.right
    ]
    assert {item.form for item, _ in said} >= {"yes_no", "choice", "number", "frames", "boxes"}
    assert wrong == []


def test_the_oracle_says_it_in_several_ways(cohort: Path) -> None:
    """Otherwise the test above would exercise one path of each parser only."""
    ways = defaultdict(set)
    for seed in range(6):
        for item, row in answers(open_bench(cohort), parse_spec(f"oracle?seed={seed}")):
            shape = (
                "json"
                if row.response.startswith("{")
                else "word"
                if len(row.response.split()) == 1
                else "prose"
            )
            ways[item.form].add(shape)
    assert all(ways[form] == {"json", "word", "prose"} for form in ("yes_no", "choice"))
    assert ways["number"] >= {"json", "prose"}


def test_the_oracle_scores_one_on_every_row_of_the_table(cohort: Path) -> None:
    bench = open_bench(cohort)
    rows = {row.item_id: row for _, row in answers(bench, Spec("oracle"))}
    metrics = ["accuracy", "accuracy.answered", "accuracy.closed", "accuracy.chance-adjusted"]
    scores = score_table(ScoredRun.of(Replies(bench, rows)), metrics=metrics)
    tables = [
        scores.overall,
        *scores.by_task.values(),
        *scores.by_stratum.values(),
        *scores.by_tag.values(),
    ]
    values = {
        entry.value for table in tables for entry in table if entry.metric.startswith("accuracy")
    }
    assert values == {1.0}
    assert scores.overall[0].states == {"answered": len(list(bench.items()))}


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(8))
def test_random_sits_inside_chance(cohort: Path, seed: int) -> None:
    """Per task, stratum and number of options, within the exact 99.9 % binomial interval."""
    tried, right = Counter(), Counter()
    for item, row in answers(open_bench(cohort), parse_spec(f"random?seed={seed}")):
        if isinstance(item.answer, YesNo | Choice):
            for group in (
                (item.task, item.stratum, len(item.options) or 2),
                ("all", "all", len(item.options) or 2),
            ):
                tried[group] += 1
                right[group] += bool(score_answer(item, row, None).outcome.right)
    for group, count in tried.items():
        low, high = binomial_interval_999(count, 1.0 / group[2])
        assert low <= right[group] <= high, (group, right[group], count)


def test_another_seed_guesses_otherwise(cohort: Path) -> None:
    bench = open_bench(cohort)
    first, again, other = (answers(bench, parse_spec(f"random?seed={seed}")) for seed in (1, 1, 2))
    assert first == again
    assert [row for _, row in first] != [row for _, row in other]
