"""Scores as DEFINITIONS has them:
states, denominators, intervals over patients, answers of other tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from situs.bench import open_bench
from situs.items import Boxes, Frames, Item, Number, YesNo
from situs.run import Spec, make_baseline

FAST = (
    "--metrics",
    "accuracy,accuracy.answered,accuracy.closed,coverage,chance,within-interval@1,mra.vsi-code@1",
)


@pytest.fixture(scope="module")
def items(bench: Path) -> list[Item]:
    return list(open_bench(bench).items())


@pytest.fixture(scope="module")
def right(bench: Path, items: list[Item]) -> dict[str, str]:
    """What the oracle says to every item."""
    oracle = make_baseline(open_bench(bench), Spec("oracle"))
    return {item.item_id: oracle.answer(item) for item in items}


@pytest.fixture
def score(situs: Callable[..., Any], bench: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Scores rows given as dicts, as another tool would write them."""

    def call(rows: list[dict[str, Any]]) -> dict[str, Any]:
        path = tmp_path / "answers.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        ran = situs("score", bench, path, "--json", *FAST)
        assert ran.code == 0, ran.err
        return ran.json

    return call


def entry(scores: dict[str, Any], metric: str = "accuracy") -> dict[str, Any]:
    return next(e for e in scores["overall"] if e["metric"] == metric)


def rows_of(right: dict[str, str], **changed: Any) -> list[dict[str, Any]]:
    return [
        {"item_id": item_id, "response": said} | changed.get(item_id, {})
        for item_id, said in right.items()
    ]


def test_another_tools_answers_need_an_id_and_a_response_only(score, right) -> None:
    scores = score(rows_of(right))
    assert entry(scores)["value"] == 1.0
    assert entry(scores)["n"] == len(right)
    assert entry(scores)["states"] == {"answered": len(right)}
    blind = {name: row["value"] for name, row in scores["baselines_headline"].items()}
    gain, best = (
        scores["over_best_shortcut"],
        max(value for name, value in blind.items() if name != "random"),
    )
    assert gain["value"] == pytest.approx(1.0 - best)
    assert blind[gain["best"]] == best
    assert not [text for text in scores["warnings"] if "incomplete" in text]


STATES: dict[str, tuple[dict[str, Any], str]] = {
    "unparsed": ({"response": "Lorem ipsum."}, "unparsed"),
    "empty": ({"response": ""}, "unparsed"),
    "refused in words": ({"response": "I'm sorry, but I can't help with that."}, "refused"),
    "refused by the provider": ({"state": "refused", "response": ""}, "refused"),
    "failed": ({"state": "failed", "response": "", "error": "timeout"}, "failed"),
}


@pytest.mark.parametrize("name", STATES)
def test_no_answer_counts_as_not_right_and_is_counted(score, right, name) -> None:
    """In accuracy they stay in the denominator;
    among the answered they are left out; coverage tells."""
    change, state = STATES[name]
    lost = list(right)[::4]
    scores = score(rows_of(right, **dict.fromkeys(lost, change)))
    n = len(right)
    assert entry(scores)["states"] == {"answered": n - len(lost), state: len(lost)}
    assert (entry(scores)["value"], entry(scores)["n"]) == (pytest.approx((n - len(lost)) / n), n)
    assert (
        entry(scores, "accuracy.answered")["value"],
        entry(scores, "accuracy.answered")["n"],
    ) == (
        1.0,
        n - len(lost),
    )
    assert entry(scores, "coverage")["value"] == pytest.approx((n - len(lost)) / n)
    assert bool([t for t in scores["warnings"] if t.startswith("incomplete")]) == (
        state == "failed"
    )


def test_missing_answers_count_as_not_right_and_make_the_run_incomplete(score, right) -> None:
    kept = dict(list(right.items())[:-3])
    scores = score(rows_of(kept))
    assert entry(scores)["states"] == {"answered": len(kept), "missing": 3}
    assert entry(scores)["value"] == pytest.approx(len(kept) / len(right))
    assert any(
        text.startswith(f"incomplete: of {len(right)} items 3 have no answer")
        for text in scores["warnings"]
    )


@pytest.mark.sweep
def test_incomplete_means_more_than_one_percent(situs, cohort, tmp_path) -> None:
    """The large bench has several hundred items, so that one is less than a hundredth."""
    oracle = make_baseline(open_bench(cohort), Spec("oracle"))
    said = [
        {"item_id": i.item_id, "response": oracle.answer(i)} for i in open_bench(cohort).items()
    ]
    assert len(said) >= 300
    for lost, incomplete in ((len(said) // 100, False), (len(said) // 100 + 1, True)):
        (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said[lost:]))
        scores = situs(
            "score", cohort, tmp_path / "a.jsonl", "--json", "--metrics", "accuracy"
        ).json
        assert any(text.startswith("incomplete") for text in scores["warnings"]) == incomplete


def test_wrong_answers_are_wrong(score, items, right) -> None:
    wrong = {}
    for item in items:
        match item.answer:
            case YesNo(value):
                wrong[item.item_id] = {"response": "no" if value else "yes"}
            case Number(value, unit):
                wrong[item.item_id] = {"response": f"{value * 9} {unit}"}
            case Frames(frames):
                wrong[item.item_id] = {
                    "response": f"slices {max(frames) + 40} to {max(frames) + 44}"
                }
            case Boxes():
                wrong[item.item_id] = {"response": "frame 1: [0, 0, 1, 1]"}
            case _:
                place = next(
                    n for n, option in enumerate(item.options) if option.value != item.answer.value
                )
                wrong[item.item_id] = {"response": "ABCDEF"[place]}
    scores = score(rows_of(right, **wrong))
    assert entry(scores)["value"] == 0.0
    places = sum(isinstance(item.answer, Frames | Boxes) for item in items)
    assert entry(scores)["states"]["answered"] >= len(items) - places


def test_a_number_is_right_inside_its_interval(score, items, right) -> None:
    number = next(item for item in items if isinstance(item.answer, Number))
    low, high = number.answer.interval
    for value, inside in ((low, True), (high, True), (low * 0.999, False), (high * 1.001, False)):
        scores = score(
            rows_of(right, **{number.item_id: {"response": f"{value!r} {number.answer.unit}"}})
        )
        assert (entry(scores)["value"] == 1.0) == inside


def test_what_the_profile_hides_stays_outside_accuracy(situs, bench, items, tmp_path) -> None:
    text = files("situs.profiles").joinpath("data", "default.toml").read_text("utf-8")
    (tmp_path / "blind.toml").write_text(text.replace('"scale", ', ""))
    run = tmp_path / "run"
    assert (
        situs(
            "run", bench, "--model", "oracle", "--profile", tmp_path / "blind.toml", "--out", run
        ).code
        == 0
    )
    scores = situs("score", bench, run, "--json", *FAST).json
    hidden = sum("scale" in item.needs for item in items)
    assert hidden > 0
    assert entry(scores)["n"] == len(items) - hidden
    assert entry(scores)["value"] == 1.0
    assert entry(scores)["states"] == {"answered": len(items) - hidden, "not answerable": hidden}
    assert not any(text.startswith("incomplete") for text in scores["warnings"])


def test_under_ten_patients_there_is_no_interval(score, right) -> None:
    scores = score(rows_of(right))
    tables = [scores["overall"], *scores["by_task"].values(), *scores["baselines"].values()]
    assert all(e["ci95"] is None for table in tables for e in table)
    assert "at least 10" in entry(scores)["note"]


def test_only_resampled_intervals_depend_on_the_seed(situs, cohort, tmp_path) -> None:
    """The interval of a share has a closed form;
    above the best shortcut, chosen anew each time, it is resampled."""
    assert situs("run", cohort, "--model", "random", "--out", tmp_path / "run").code == 0
    args = ("score", cohort, tmp_path / "run", "--json", "--metrics", "accuracy")
    first, again, *others = (situs(*args, "--seed", seed).json for seed in (1, 1, 2, 3))
    assert first == again
    low, high = entry(first)["ci95"]
    assert low < entry(first)["value"] < high
    assert entry(first)["clusters"] == 32
    gains = [scores.pop("over_best_shortcut") for scores in (first, *others)]
    limits = [gain.pop("ci95") for gain in gains]
    assert all(scores == first for scores in others)
    assert all(gain == gains[0] for gain in gains)
    assert len({low for low, _ in limits}) == 1
    assert len({high for _, high in limits}) > 1, (
        "two of three seeds may meet in one quantile, hardly all of them"
    )


def test_only_the_split_or_limit_that_was_run_is_scored(situs, bench, tmp_path) -> None:
    situs("run", bench, "--model", "oracle", "--limit", 7, "--out", tmp_path / "few")
    scores = situs("score", bench, tmp_path / "few", "--json", *FAST).json
    assert (entry(scores)["n"], entry(scores)["value"]) == (7, 1.0)


def test_strangers_are_counted_not_scored(score, right) -> None:
    scores = score([*rows_of(right), {"item_id": "i-of-another-bench", "response": "yes"}])
    assert entry(scores)["n"] == len(right)
    assert "1 answer to no item of this selection" in scores["warnings"]


def test_a_metric_that_cannot_be_computed_says_why(situs, bench, tmp_path, items) -> None:
    closed = [item for item in items if isinstance(item.answer, YesNo)][:1]
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"item_id": closed[0].item_id, "response": "maybe"}) + "\n"
    )
    scores = situs(
        "score", bench, tmp_path / "a.jsonl", "--json", "--metrics", "accuracy.answered"
    ).json
    assert [set(gap) for gap in scores["not_computed"]] == [{"metric", "reason", "fix"}]
