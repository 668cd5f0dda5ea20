"""Paired, clustered comparison: level under the null,
referees for p and Holm, groups, ranks and suspects."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from situs.errors import SitusError
from situs.score import (
    Contestant,
    Pair,
    average_seeds,
    binomial_interval_999,
    compare,
    holm,
    sight_gain,
)
from situs.score.stats.paired import tied_groups


def _run(name: str, values: np.ndarray, **more: object) -> Contestant:
    return Contestant(name, {f"i{k:04d}": float(v) for k, v in enumerate(values)}, **more)


def _patients(clusters: int, each: int) -> dict[str, str]:
    return {f"i{k:04d}": f"p{k // each}" for k in range(clusters * each)}


def test_level_is_kept_where_a_plain_test_fails() -> None:
    """Twenty items per patient that share the patient's fate:
    the runs are equally good on average."""
    generator = np.random.default_rng(5)
    patients = _patients(20, 20)
    trials, found, plain = 150, 0, 0
    for _ in range(trials):
        fate = generator.normal(size=20)[:, None]
        a = generator.random((20, 20)) < 1 / (1 + np.exp(-2 * fate))
        b = generator.random((20, 20)) < 1 / (1 + np.exp(2 * fate))
        result = compare([_run("a", a.ravel()), _run("b", b.ravel())], patients)
        found += (result.pairs[0].p or 0.0) < 0.05
        first, second = int((a & ~b).sum()), int((b & ~a).sum())
        plain += abs(first - second) / np.sqrt(first + second) > 1.96
    high = binomial_interval_999(trials, 0.05)[1]
    assert found <= high
    assert plain > 3 * high


def test_interval_holds_the_true_difference() -> None:
    generator = np.random.default_rng(6)
    patients = _patients(40, 8)
    held = 0
    for _ in range(100):
        fate = generator.normal(size=40)[:, None]
        a = generator.random((40, 8)) < 1 / (1 + np.exp(-fate - 0.8))
        b = generator.random((40, 8)) < 1 / (1 + np.exp(-fate))
        low, high = compare([_run("a", a.ravel()), _run("b", b.ravel())], patients).pairs[
            0
        ].ci95 or (0, 0)
        held += low <= _TRUE_GAP <= high
    assert held >= binomial_interval_999(100, 0.93)[0]


def _mean_logistic(shift: float) -> float:
    """The mean of a logistic of a standard normal, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    return float((weights / (1 + np.exp(-nodes - shift))).sum() / weights.sum())


_TRUE_GAP = _mean_logistic(0.8) - _mean_logistic(0.0)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.06, None, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@pytest.mark.sweep
def test_detectable_difference_is_found_in_four_of_five(little_of: Callable[..., Any]) -> None:
    """A difference of the size called detectable, in fresh benches of the same kind."""
    generator = np.random.default_rng(8)
    patients = _patients(60, 5)

    def bench(gap: float) -> list[Contestant]:
        a = generator.random((60, 5)) < 0.5 + gap
        b = generator.random((60, 5)) < 0.5
        return [_run("a", a.ravel()), _run("b", b.ravel())]

    reach = float(np.mean([compare(bench(0.0), patients).detectable or 0.0 for _ in range(20)]))
    trials = len(little_of(range(200), 40))
    found = sum((compare(bench(reach), patients).pairs[0].p or 1.0) < 0.05 for _ in range(trials))
    low, high = binomial_interval_999(trials, 0.8)
    assert low <= found <= high


def test_groups_and_ranks() -> None:
    generator = np.random.default_rng(7)
    patients = _patients(50, 10)
    draws = generator.random((50 * 10,))
    good, close, bad = draws < 0.80, np.roll(draws, 3) < 0.79, np.roll(draws, 7) < 0.30
    result = compare([_run("bad", bad), _run("good", good), _run("close", close)], patients)
    assert [standing.name for standing in result.standings][-1] == "bad"
    assert sorted(sorted(group) for group in result.tied_groups) == [["bad"], ["close", "good"]]
    ranks = {standing.name: standing.rank95 for standing in result.standings}
    assert ranks["bad"] == (3, 3)
    assert ranks["good"] == ranks["close"] == (1, 2)


def test_overlapping_groups_are_both_told() -> None:
    def pair(a: str, b: str, p: float) -> Pair:
        return Pair(a, b, "accuracy", 0.1, None, p, p, 100, 20, None)

    pairs = [pair("a", "b", 0.4), pair("b", "c", 0.3), pair("a", "c", 0.01), pair("c", "d", 0.001)]
    pairs += [pair("a", "d", 0.001), pair("b", "d", 0.001)]
    assert tied_groups(["a", "b", "c", "d"], pairs) == [["a", "b"], ["b", "c"], ["d"]]


def test_runs_that_are_alike_need_not_be_neighbours() -> None:
    """The second is told from both others;
    the first and third, whose answers agree less, are not told apart."""

    def pair(a: str, b: str, p: float) -> Pair:
        return Pair(a, b, "accuracy", 0.1, None, p, p, 100, 20, None)

    pairs = [pair("a", "b", 0.01), pair("b", "c", 0.01), pair("a", "c", 0.3)]
    assert tied_groups(["a", "b", "c"], pairs) == [["a", "c"], ["b"]]
    assert tied_groups([], []) == []


def test_order_of_runs_only_turns_the_sign() -> None:
    generator = np.random.default_rng(3)
    patients = _patients(30, 4)
    a, b = _run("a", generator.random(120) < 0.6), _run("b", generator.random(120) < 0.5)
    one, other = compare([a, b], patients).pairs[0], compare([b, a], patients).pairs[0]
    assert one.difference == pytest.approx(-(other.difference or 0))
    assert one.p == pytest.approx(other.p)


def test_few_patients_have_no_test() -> None:
    patients = _patients(5, 10)
    pair = compare([_run("a", np.ones(50)), _run("b", np.zeros(50))], patients).pairs[0]
    assert (pair.difference, pair.ci95, pair.p) == (1.0, None, None)
    assert "5 patients" in pair.note


def test_only_shared_items_count() -> None:
    patients = _patients(12, 1)
    a = Contestant("a", {f"i{k:04d}": 1.0 for k in range(12)})
    b = Contestant("b", {f"i{k:04d}": 0.0 for k in range(10)})
    assert compare([a, b], patients).pairs[0].n == 10


def test_a_key_that_most_contradict_alike_is_suspect() -> None:
    items = [f"i{k:04d}" for k in range(12)]
    patients = _patients(12, 1)
    right = dict.fromkeys(items, 1.0) | {"i0004": 0.0, "i0007": 0.0}
    runs = [
        Contestant(f"m{k}", right, dict.fromkeys(items, "A") | {"i0004": "C", "i0007": "ABCD"[k]})
        for k in range(4)
    ]
    result = compare(runs, patients)
    assert [(s.item_id, s.said, s.runs, s.of) for s in result.suspects] == [("i0004", "C", 4, 4)]
    assert result.nobody == ["i0004", "i0007"]
    assert len(result.everybody) == 10


def test_one_run_is_nothing_to_compare() -> None:
    with pytest.raises(SitusError, match="two or more"):
        compare([_run("a", np.ones(3))], _patients(3, 1))


@pytest.mark.parametrize("count", [3, 4])
def test_all_pairs_are_there(count: int) -> None:
    patients = _patients(12, 2)
    runs = [_run(f"r{k}", np.random.default_rng(k).random(24) < 0.5) for k in range(count)]
    assert [(p.a, p.b) for p in compare(runs, patients).pairs] == list(
        itertools.combinations([run.name for run in runs], 2)
    )


def test_seeds_are_averaged_item_by_item() -> None:
    a = Contestant("m", {"i1": 1.0, "i2": 0.0, "i3": 1.0}, {"i1": "A", "i2": "B"})
    b = Contestant("m2", {"i1": 1.0, "i2": 1.0}, {"i1": "A", "i2": "C"}, ranked=False)
    merged = average_seeds("m (2 seeds)", [a, b])
    assert merged.values == {"i1": 1.0, "i2": 0.5}
    assert merged.said == {"i1": "A"}
    assert not merged.ranked


def _with_guesses(name: str, right: Any, unanswered: slice, chance: float) -> Contestant:
    run = _run(name, right)
    guessed = list(run.values)[unanswered]
    return msgspec.structs.replace(run, credited=run.values | dict.fromkeys(guessed, chance))


def test_sight_gain_is_the_paired_difference_and_credits_refusals() -> None:
    generator = np.random.default_rng(11)
    patients = _patients(30, 10)
    model, blind = generator.random(300) < 0.8, generator.random(300) < 0.25
    model[::20] = blind[::10] = False
    gain = sight_gain(
        _with_guesses("m", model, slice(None, None, 20), 0.5),
        _with_guesses("b", blind, slice(None, None, 10), 0.5),
        patients,
    )
    assert gain.gain.difference == pytest.approx(model.mean() - blind.mean())
    assert gain.credited is not None
    # A twentieth of the model's replies count a half more, and a tenth of the blind run's.
    expected = model.mean() + 0.025 - blind.mean() - 0.05
    assert gain.credited.difference == pytest.approx(expected)
    assert gain.gain.ci95 is not None
    assert gain.gain.ci95[0] > 0


def test_a_coin_that_refuses_without_pictures_gains_nothing_with_chance_credit() -> None:
    patients = _patients(40, 8)
    coin = np.random.default_rng(3).random(320) < 0.5
    blind = _with_guesses("blind", np.zeros(320), slice(None), 0.5)
    gain = sight_gain(_with_guesses("coin", coin, slice(0, 0), 0.5), blind, patients)
    assert gain.gain.p is not None
    assert gain.gain.p < 0.001
    assert gain.credited is not None
    assert gain.credited.p is not None
    assert gain.credited.p > 0.05


def test_seeds_are_credited_one_by_one() -> None:
    """One of two seeds declines: half a guess and half of what the other got."""
    seeds = [
        Contestant("m", {"i": 0.0}, credited={"i": 0.25}),
        Contestant("m2", {"i": 1.0}, credited={"i": 1.0}),
    ]
    assert average_seeds("m (2 seeds)", seeds).credited == {"i": 0.625}


def test_a_lead_that_hangs_on_one_source_is_told() -> None:
    patients = _patients(30, 2)
    sources = {
        item: "a" if k < 20 else "b" if k < 40 else "c" for k, item in enumerate(sorted(patients))
    }
    one, other = np.zeros(60), np.zeros(60)
    one[:20], other[20:] = 1.0, 0.4
    result = compare([_run("one", one), _run("other", other)], patients, sources=sources)
    assert result.sources["one"].macro == pytest.approx(1 / 3)
    assert result.sources["other"].macro == pytest.approx(0.8 / 3)
    assert any("without a, other and not one" in text for text in result.warnings)
    assert compare([_run("one", one), _run("other", other)], patients).sources == {}


def test_chance_adjusted_differences_may_exceed_one() -> None:
    patients = _patients(12, 2)
    result = compare(
        [_run("a", np.ones(24)), _run("b", -np.ones(24))],
        patients,
        metric="accuracy.chance-adjusted",
    )
    assert result.pairs[0].difference == 2.0


@pytest.mark.parametrize("seed", range(12))
def test_interval_p_ranks_and_groups_never_contradict_each_other(seed: int) -> None:
    """Unequal all-or-nothing patients, near the edge of what can be told."""
    generator = np.random.default_rng(seed)
    sizes = generator.geometric(0.2, size=14)
    patients = {f"i{k:04d}": f"p{p}" for k, p in enumerate(np.repeat(np.arange(14), sizes))}
    runs = []
    for number, ability in enumerate((0.95, 0.75, 0.6, 0.2)):
        fate = generator.random(14) < ability
        runs.append(_run(f"r{number}", np.repeat(fate, sizes)))
    result = compare(runs, patients)
    ranks = {standing.name: standing for standing in result.standings}
    together = [set(group) for group in result.tied_groups]
    for pair in result.pairs:
        apart = pair.p_holm < 0.05
        assert (pair.ci95[0] <= 0 <= pair.ci95[1]) == (pair.p >= 0.05)
        assert (pair.ci_joint[0] <= 0 <= pair.ci_joint[1]) == (not apart)
        assert not (apart and any({pair.a, pair.b} <= group for group in together))
        better, worse = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
        if apart:
            assert ranks[better].rank95[0] < ranks[worse].rank95[0]
            assert ranks[better].rank95[1] < ranks[worse].rank95[1]
    for standing in result.standings:
        assert standing.rank95[0] <= standing.rank <= standing.rank95[1]


def test_ranked_runs_are_compared_on_the_items_all_of_them_share() -> None:
    patients = _patients(20, 4)
    generator = np.random.default_rng(1)
    runs = [_run(f"r{k}", generator.random(80) < 0.5) for k in range(3)]
    runs[2] = Contestant("r2", dict(list(runs[2].values.items())[:60]))
    result = compare(runs, patients)
    assert {pair.n for pair in result.pairs} == {60}
    assert any("60 items" in text for text in result.warnings)
