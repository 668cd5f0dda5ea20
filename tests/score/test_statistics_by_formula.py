"""Statistics against closed forms, at the limits where their methods change, and comparisons against
every subset tried."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from situs.bench import KeyReading
from situs.score import Contestant, Pair, compare, key_errors
from situs.score.stats.calibration import calibrate
from situs.score.stats.estimates import (
    cluster_bootstrap_of,
    cluster_function,
    cluster_mean,
    cluster_means,
    paired_difference,
    too_few,
)
from situs.score.stats.exact import clopper_pearson
from situs.score.stats.limits import ShareLimits, SignedLimits, joined_limits, signed_parts
from situs.score.stats.paired import CHANCE_ADJUSTED, SightGain, against_better, tied_groups
from situs.score.stats.prediction_powered import prediction_powered
from situs.score.stats.sources import over_sources
from situs.score.stats.sums import sums_of


def ratio(sums):
    return sums[:, 0] / sums[:, 1]


def patients(count, each=1):
    return [f"p{number // each:03d}" for number in range(count * each)]


# Where the methods change: 10 and 30 patients.


@pytest.mark.parametrize(("count", "has_interval"), [(9, False), (10, True)])
def test_an_interval_needs_ten_patients(count: int, has_interval: bool) -> None:
    values = np.arange(count) % 2.0
    sums = np.column_stack([values + 1, np.full(count, 3.0)])
    found = [
        cluster_mean(values, patients(count)),
        *cluster_means(np.array([values, 1 - values]), patients(count)),
        cluster_function(sums, ratio, count),
        cluster_bootstrap_of(lambda rows: float(values[rows].mean()), patients(count)),
    ]
    assert bool(too_few(count)) is not has_interval
    for estimate in found:
        assert (estimate.ci95 is not None) == has_interval
        expected = "only 10 patients: rough" if has_interval else "no interval: 9 patients"
        assert estimate.note.startswith(expected)


@pytest.mark.parametrize("count", [29, 30])
def test_from_thirty_patients_on_intervals_are_not_rough(count: int) -> None:
    values = np.arange(count) % 3 / 2
    assert bool(cluster_mean(values, patients(count)).note) == (count == 29)
    drawn = cluster_bootstrap_of(lambda rows: float(values[rows].mean()), patients(count))
    assert (drawn.method == "cluster-jackknife-t") == (count == 29)


def test_the_bootstrap_is_the_quantiles_of_its_draws() -> None:
    """Of means over 40 patients: nearly normal, so nearly the mean ± 1.96 standard errors."""
    values = np.random.default_rng(3).normal(5.0, 2.0, 40)
    found = cluster_bootstrap_of(lambda rows: float(values[rows].mean()), patients(40), n_boot=4000)
    half = stats.norm.isf(0.025) * values.std() / math.sqrt(40)
    assert found.ci95 == pytest.approx((values.mean() - half, values.mean() + half), abs=0.06)


@pytest.mark.parametrize(("undefined", "note"), [(5, ""), (6, "undefined in 6 of 100 resamples")])
def test_one_resample_in_twenty_may_be_undefined(undefined: int, note: str) -> None:
    values = np.random.default_rng(4).random(40)
    calls = itertools.count()

    def statistic(rows):
        return None if 1 <= next(calls) <= undefined else float(values[rows].mean())

    found = cluster_bootstrap_of(statistic, patients(40), n_boot=100)
    assert found.note == note
    assert (found.ci95 is None) == bool(note)


def test_equal_patients_bound_a_function_by_the_share_that_may_differ() -> None:
    """Twelve patients with 3 of 4: with 97.5 % at most a share u of all is otherwise, (1 − u)^12 =
    2.5 %; and at most as far as the bounds."""
    sums = np.tile([12.0, 4.0], (12, 1))
    found = cluster_function(sums, ratio, 48, bounds=(2.0, 7.0))
    u = 1 - 0.025 ** (1 / 12)
    assert found.ci95 == pytest.approx((3 - u * 1, 3 + u * 4))
    assert cluster_function(sums, ratio, 48).ci95 is None
    assert cluster_function(sums, ratio, 48, bounds=(0.0, math.inf)).ci95 is None


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, 1.5), None])
def test_the_jackknife_of_a_ratio(bounds: tuple[float, float] | None) -> None:
    generator = np.random.default_rng(5)
    sums = np.column_stack([generator.integers(0, 3, 14), np.full(14, 2.0)]).astype(float)
    value = sums[:, 0].sum() / sums[:, 1].sum()
    without = [
        (sums[:, 0].sum() - a) / (sums[:, 1].sum() - b) for a, b in sums
    ]  # the ratio without each patient in turn
    variance = 13 / 14 * sum((one - np.mean(without)) ** 2 for one in without)
    half = stats.t.isf(0.025, 13) * math.sqrt(variance)
    expected = (value - half, value + half)
    if bounds == (0.0, 1.0):
        centre, step = math.log(value / (1 - value)), half / (value * (1 - value))
        expected = tuple(1 / (1 + math.exp(-one)) for one in (centre - step, centre + step))
    assert cluster_function(sums, ratio, 28, bounds=bounds).ci95 == pytest.approx(expected)


def test_the_jackknife_is_cut_at_its_bounds() -> None:
    sums = np.column_stack([[*[2.0] * 11, 1.0], np.full(12, 2.0)])
    low, high = cluster_function(sums, ratio, 24, bounds=(0.9, 1.01)).ci95
    assert (low, high) == (0.9, 1.01)


def test_items_without_weight_are_no_items() -> None:
    assert cluster_mean([1.0, 0.0], ["a", "b"], [0.0, 0.0]).note == "no items"
    some = cluster_mean([1.0, 0.0, 0.5], ["a", "b", "b"], [1.0, 0.0, 1.0])
    assert some.value == 0.75
    with pytest.raises(Exception, match="not negative"):
        cluster_mean([1.0, 0.0], ["a", "b"], [1.0, -1.0])


def test_the_central_interval_is_one_of_95_percent_unless_asked() -> None:
    assert clopper_pearson(3, 17) == pytest.approx(
        (stats.beta.ppf(0.025, 3, 15), stats.beta.ppf(0.975, 4, 14))
    )


# Judges.


@pytest.mark.parametrize(
    ("hits", "misses", "rejections", "alarms", "right", "wrong"),
    [(8, 2, 9, 1, 29, 51), (18, 3, 10, 4, 40, 35), (30, 10, 25, 15, 5, 60)],
)
def test_rogan_gladens_interval_is_the_delta_method(
    hits: int, misses: int, rejections: int, alarms: int, right: int, wrong: int
) -> None:
    """The variance of (a + s − 1) / (v + s − 1) by numeric derivatives in the apparent accuracy a, the
    sensitivity v and the specificity s, each a share of its own."""
    human = [1.0] * (hits + misses) + [0.0] * (rejections + alarms)
    human += [math.nan] * (right + wrong)
    verdicts = [1.0] * hits + [0.0] * misses + [0.0] * rejections + [1.0] * alarms
    verdicts += [1.0] * right + [0.0] * wrong
    shares = [
        (sum(verdicts) / len(verdicts), len(verdicts)),
        (hits / (hits + misses), hits + misses),
        (rejections / (rejections + alarms), rejections + alarms),
    ]

    def corrected(a: float, v: float, s: float) -> float:
        return (a + s - 1) / (v + s - 1)

    at, variance, step = [share for share, _ in shares], 0.0, 1e-6
    for place, (share, n) in enumerate(shares):
        up, down = list(at), list(at)
        up[place] += step
        down[place] -= step
        slope = (corrected(*up) - corrected(*down)) / (2 * step)
        variance += slope**2 * share * (1 - share) / n
    value, half = corrected(*at), stats.norm.isf(0.025) * math.sqrt(variance)
    found = calibrate("judge", np.array(verdicts), np.array(human), patients(len(human)))
    assert found.corrected_accuracy == pytest.approx(min(max(value, 0.0), 1.0))
    assert found.corrected_ci95 == pytest.approx((max(value - half, 0.0), min(value + half, 1.0)))


def test_prediction_powered_intervals_join_those_of_two_means() -> None:
    """λ · the judge elsewhere + what humans and λ · the judge differ by, which go together as far as
    patients with both tell."""
    generator = np.random.default_rng(6)
    truth = (generator.random(90) < 0.6).astype(float)
    judge = np.where(generator.random(90) < 0.85, truth, 1 - truth)
    human = np.where(np.arange(90) % 3 == 0, truth, np.nan)
    names = [f"p{number // 5}" for number in range(90)]
    found = prediction_powered(judge, human, names)
    both, alone = np.arange(90) % 3 == 0, np.arange(90) % 3 != 0

    def by_patient(values, rows):
        mean = values[rows].mean()
        return [
            sum(values[k] - mean for k in range(90) if rows[k] and names[k] == name) / rows.sum()
            for name in dict.fromkeys(names)
        ]

    left = human - found.power * judge
    a, b = np.array(by_patient(judge, alone)), np.array(by_patient(left, both))
    together = (a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum())
    own = [name for name, read in zip(names, both) if read]
    elsewhere = [name for name, read in zip(names, alone) if read]
    parts = [sums_of(part, own) for part in signed_parts(left[both])]
    low, high = joined_limits(
        (judge[alone].mean(), *ShareLimits(sums_of(judge[alone], elsewhere)).at(0.025)),
        (left[both].mean(), *SignedLimits(*parts).at(0.025)),
        found.power,
        together,
    )
    assert abs(together) > 0.05
    assert found.ci95 == pytest.approx((max(0.0, low), min(1.0, high)))


# Keys and sources.


def test_key_errors_in_words() -> None:
    """Three of twelve keys are wrong: 25 %, Clopper and Pearson 5.5 to 57.2 %."""
    verdicts = ["disagree"] * 3 + ["agree"] * 9 + ["unsure"] * 2 + ["not_visible"]
    read = {f"i{number}": verdict for number, verdict in enumerate(verdicts)}
    found = key_errors([KeyReading("r", "default", 1, 15, read)])
    assert (found.errors, found.decided, found.unsure, found.not_visible) == (3, 12, 2, 1)
    assert found.words == (
        "key-error rate 25.0 % (3 of 12 items drawn at random; exact 95 % interval 5.5–57.2 %), by"
        " 1 reader, profile default; 2 unsure and 1 not visible are left out."
    )


def test_the_mean_over_sources() -> None:
    """Ten patients of each of two sources, right half and all of the time but once: the jackknife of
    the mean of two shares, on the logit scale."""
    values = np.array([0.0, 1.0] * 5 + [1.0] * 9 + [0.0])
    names, sources = patients(20), ["a"] * 10 + ["b"] * 10
    found = over_sources(values, names, sources)
    assert (found.micro, found.macro) == (0.7, pytest.approx((0.5 + 0.9) / 2))
    without = []
    for left in range(20):
        means = [
            np.mean([v for k, v in enumerate(values) if k != left and sources[k] == name])
            for name in "ab"
        ]
        without.append(sum(means) / 2)
    variance = 19 / 20 * sum((one - np.mean(without)) ** 2 for one in without)
    half = stats.t.isf(0.025, 19) * math.sqrt(variance) / (0.7 * 0.3)
    logit = math.log(0.7 / 0.3)
    assert found.macro_ci95 == pytest.approx(
        [1 / (1 + math.exp(-one)) for one in (logit - half, logit + half)]
    )
    first, second = found.sources
    assert (first.value, first.without, first.macro_without) == (0.5, 0.9, 0.9)
    assert (second.value, second.without, second.n, second.clusters) == (0.9, 0.5, 10, 10)
    assert over_sources(values, names, ["a"] * 20) is None


def test_a_source_of_one_patient_has_no_mean_without_that_patient() -> None:
    values = np.array([0.0, 1.0] * 6)
    found = over_sources(values, patients(12), ["a"] * 11 + ["b"])
    assert found.macro == pytest.approx((5 / 11 + 1) / 2)
    assert found.macro_ci95 is None
    assert found.note == "undefined without some patients"


# Comparisons.


def run(name: str, values, **more) -> Contestant:
    return Contestant(name, {f"i{k:03d}": float(v) for k, v in enumerate(values)}, **more)


def test_the_difference_that_four_of_five_benches_show() -> None:
    """Found with 80 % power by a two-sided test at 5 %: t of 95 % and z of 80 %, in standard errors."""
    generator = np.random.default_rng(7)
    a, b = generator.integers(0, 2, (2, 15))
    clusters = {f"i{k:03d}": f"p{k}" for k in range(15)}
    pair = compare([run("a", a), run("b", b)], clusters).pairs[0]
    half = (pair.ci95[1] - pair.ci95[0]) / 2
    t, z = stats.t.isf(0.025, 14), stats.norm.isf(0.2)
    assert pair.detectable == pytest.approx(half * (t + z) / t)


def test_differences_beyond_chance_reach_from_minus_two_to_two() -> None:
    """A right answer is 1; a wrong one to a question with two options −1."""
    values = np.random.default_rng(8).choice([-1.0, 1.0, 0.0], (2, 24))
    clusters = {f"i{k:03d}": f"p{k // 2}" for k in range(24)}
    pair = compare([run("a", values[0]), run("b", values[1])], clusters, metric=CHANCE_ADJUSTED)
    expected = paired_difference(*values, patients(12, each=2), bounds=(-2.0, 2.0))
    assert pair.pairs[0].ci95 == pytest.approx(expected.ci95)
    assert pair.pairs[0].p == pytest.approx(expected.p)


@pytest.mark.parametrize("seed", range(12))
def test_tied_groups_are_the_largest_sets_without_a_difference(seed: int) -> None:
    generator = np.random.default_rng(seed)
    names = list("abcdef")
    chances = {
        pair: float(generator.choice([0.01, 0.05, 0.4]))
        for pair in itertools.combinations(names, 2)
    }
    pairs = [
        Pair(a, b, "accuracy", 0.1, None, p, p, 100, 20, None) for (a, b), p in chances.items()
    ]
    tied = [
        set(group)
        for size in range(1, 7)
        for group in itertools.combinations(names, size)
        if all(chances[pair] >= 0.05 for pair in itertools.combinations(group, 2))
    ]
    largest = [group for group in tied if not any(group < other for other in tied)]
    assert tied_groups(names, pairs) == sorted(sorted(group) for group in largest)


def test_a_key_is_suspect_if_three_runs_and_two_of_three_contradict_it_alike() -> None:
    """Item by item: how many of the runs that were read say x against the key."""
    against = [(3, 4), (3, 5), (2, 2), (4, 6), (3, 3), (6, 6), (4, 4)]
    runs = [
        Contestant(
            f"r{number}",
            {f"i{k}": 0.0 if number < wrong else 1.0 for k, (wrong, _) in enumerate(against)},
            {
                f"i{k}": "x" if number < wrong else "key"
                for k, (wrong, read) in enumerate(against)
                if number < read
            },
        )
        for number in range(6)
    ]
    clusters = {f"i{k}": f"p{k}" for k in range(len(against))}
    suspects = compare(runs, clusters).suspects
    assert [(one.item_id, one.said, one.runs, one.of) for one in suspects] == [
        ("i5", "x", 6, 6),
        ("i6", "x", 4, 4),
        ("i4", "x", 3, 3),
        ("i0", "x", 3, 4),
        ("i3", "x", 4, 6),
    ]


def test_warnings_of_comparisons() -> None:
    values = np.arange(12) % 2
    nine, ten = ({f"i{k:03d}": f"p{k % n}" for k in range(12)} for n in (9, 10))
    runs = [run("a", values), run("b", 1 - values)]
    assert compare(runs, ten).warnings == []
    assert compare(runs, nine).warnings[0].startswith("the runs share only 9 patients")
    shorter = compare([run("a", values), run("b", values[:11])], ten).warnings
    assert shorter == ["ranked runs are compared on the 11 items all of them share, of up to 12"]


def test_the_gain_over_the_best_of_several_blind_runs() -> None:
    """The smallest difference, with the lowest limit and the largest p of all; without an interval if
    one of them has none."""

    def gain(blind, difference, interval, p):
        pair = Pair("m", blind, "accuracy", difference, interval, p, None, 100, 20, None)
        return SightGain("m", blind, pair, None)

    small, wide = gain("u", 0.2, (0.1, 0.3), 0.001), gain("v", 0.25, (0.05, 0.45), 0.02)
    best = against_better([wide, small])
    assert (best.blind, best.gain.difference) == ("u", 0.2)
    assert (best.gain.ci95, best.gain.p) == ((0.05, 0.3), 0.02)
    unknown = gain("w", 0.5, None, None)
    assert against_better([small, unknown]).gain == small.gain
