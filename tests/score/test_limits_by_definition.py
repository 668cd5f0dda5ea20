"""The intervals of docs/statistics.md once more, item by item and pair by pair in plain Python: no sums
by patient, no arrays, the distributions from scipy.stats."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from situs.score.stats.estimates import Difference, cluster_mean, cluster_means, paired_difference
from situs.score.stats.limits import joined_limits


@dataclass(frozen=True)
class Answer:
    """One item's value, and how much it counts."""

    patient: str
    value: float
    weight: float = 1.0


def by_patient(answers):
    patients = {answer.patient: [] for answer in sorted(answers, key=lambda one: one.patient)}
    for answer in answers:
        patients[answer.patient].append(answer)
    return list(patients.values())


def mean(answers):
    return sum(one.weight * one.value for one in answers) / sum(one.weight for one in answers)


def half_squared_difference(pairs):
    """Of two items on average; 0 without pairs."""
    weight = sum(a.weight * b.weight for a, b in pairs)
    squares = sum(a.weight * b.weight * (a.value - b.value) ** 2 for a, b in pairs)
    return squares / weight / 2 if weight else 0.0


def within(answers):
    return half_squared_difference(
        [pair for own in by_patient(answers) for pair in itertools.combinations(own, 2)]
    )


def between(answers):
    pairs = itertools.combinations(answers, 2)
    return half_squared_difference([(a, b) for a, b in pairs if a.patient != b.patient])


def how_alike(parts):
    """How alike the answers of a patient are, and how far that is in doubt."""
    other = sum(between(part) for part in parts)
    alike = min(max(1 - sum(within(part) for part in parts) / other, 0), 1) if other else 1.0
    whole = Counter()
    patients = [by_patient(part) for part in parts]
    for same in zip(*patients):  # one patient's answers in each part
        if all(len({one.value for one in own}) == 1 for own in same):
            whole[tuple(own[0].value for own in same)] += 1
    telling = len(patients[0]) - max(whole.values(), default=0)
    doubt = 1 / (1 + telling**2)
    return alike + (1 - alike) * doubt, doubt


def residuals(answers):
    """How far each patient's answers lie from the mean."""
    return [
        sum(one.weight * (one.value - mean(answers)) for one in own) for own in by_patient(answers)
    ]


def variance_of_mean(answers, alike):
    """Half of it robust (Bell and McCaffrey's CR2), half as Kish's design effect has it."""
    total = sum(one.weight for one in answers)
    robust = modelled = 0.0
    for own, residual in zip(by_patient(answers), residuals(answers)):
        robust += residual**2 / (1 - sum(one.weight for one in own) / total)
        modelled += sum(one.weight**2 for one in own)
        modelled += alike * sum(a.weight * b.weight for a, b in itertools.permutations(own, 2))
    return (robust + between(answers) * modelled) / 2 / total**2


def degrees(deviations):
    """Satterthwaite's, from the kurtosis."""
    squares = sum(one**2 for one in deviations)
    telling = squares**2 / sum(one**4 for one in deviations) if squares else 0.0
    most = len(deviations) - 1
    return min(max(3 * telling - 1, min(3, most)), most)


def exact_lower(share, tries, tail):
    successes = share * tries
    return stats.beta.ppf(tail, successes, tries - successes + 1) if successes > 1e-9 else 0.0


def share_limits(answers, tail, known=None, df=None):
    alike, doubt = known or how_alike([answers])
    share, patients = mean(answers), by_patient(answers)
    sizes = [sum(one.weight for one in own) for own in patients]
    variance = variance_of_mean(answers, alike)
    low = high = share
    if variance > 1e-20:
        t = stats.t.isf(tail, degrees(residuals(answers)) if df is None else df)
        centre, step = math.log(share / (1 - share)), t * math.sqrt(variance) / share / (1 - share)
        low, high = (1 / (1 + math.exp(-one)) for one in (centre - step, centre + step))
    else:
        doubt = 1.0
    items = sum(sizes) ** 2 / sum(one.weight**2 for one in answers)
    tries = items / (1 + (items / len(patients) - 1) * alike)
    unseen = doubt * (1 - tail ** (1 / tries))
    # A patient's mean of v, weighted by v or by 1 − v.
    most = max(
        mean([Answer("", one.value, one.weight * one.value) for one in own])
        if any(one.value for one in own)
        else 0.0
        for own in patients
    )
    least = min(
        mean([Answer("", one.value, one.weight * (1 - one.value)) for one in own])
        if any(one.value < 1 for one in own)
        else 1.0
        for own in patients
    )
    ones, zeros = (
        sum(size for own, size in zip(patients, sizes) if all(one.value == v for one in own))
        for v in (1.0, 0.0)
    )
    effective = sum(sizes) ** 2 / sum(size**2 for size in sizes)
    low = max(low - unseen * least, exact_lower(ones / sum(sizes), effective, tail), 0.0)
    high = min(high + unseen * (1 - most), 1 - exact_lower(zeros / sum(sizes), effective, tail), 1)
    return low, high


def joined(a, b, correlation):
    return math.sqrt(max(a**2 + b**2 - 2 * correlation * a * b, 0.0))


def signed_limits(answers, tail):
    """Zou and Donner (2008), of the means of what lies above and below 0."""
    above = [Answer(one.patient, max(one.value, 0.0), one.weight) for one in answers]
    below = [Answer(one.patient, max(-one.value, 0.0), one.weight) for one in answers]
    known, df = how_alike([above, below]), degrees(residuals(answers))
    (up_low, up_high), (down_low, down_high) = (
        share_limits(part, tail, known, df) for part in (above, below)
    )
    up, down = residuals(above), residuals(below)
    scale = math.sqrt(sum(one**2 for one in up) * sum(one**2 for one in down))
    together = sum(a * b for a, b in zip(up, down)) / scale if scale else 0.0
    low = mean(answers) - joined(mean(above) - up_low, down_high - mean(below), together)
    high = mean(answers) + joined(up_high - mean(above), mean(below) - down_low, together)
    return max(low, -1.0), min(high, 1.0)


def drawn(seed, values, *, weighted=False, patients=12, most=5):
    """Answers of patients who keep to their first value half of the time."""
    generator = np.random.default_rng(seed)
    answers = []
    for number in range(patients):
        usual = generator.choice(values)
        for _ in range(generator.integers(1, most + 1)):
            value = usual if generator.random() < 0.5 else generator.choice(values)
            weight = float(generator.choice([0.5, 1.0, 2.5])) if weighted else 1.0
            answers.append(Answer(f"p{number:02d}", float(value), weight))
    return answers


def columns(answers):
    return (
        [one.value for one in answers],
        [one.patient for one in answers],
        [one.weight for one in answers],
    )


def one_who_differs(value, other, *, items=2):
    """Eleven patients of one and the same value, and one with another."""
    answers = [Answer(f"p{number:02d}", value) for number in range(11) for _ in range(items)]
    return [*answers, *(Answer("p11", other) for _ in range(items))]


SHARES = {
    "right or wrong": drawn(1, [0, 1]),
    "one item a patient": drawn(2, [0, 1], most=1),
    "parts of right": drawn(3, [0, 0.3, 0.5, 1]),
    "never 0 nor 1": drawn(4, [0.2, 0.4, 0.9]),
    "weighted": drawn(5, [0, 0.25, 1], weighted=True),
    "weighted, one item a patient": drawn(6, [0, 0.5, 1], weighted=True, most=1),
    "mostly right": drawn(7, [0, 1, 1, 1, 1, 1, 1]),
    "hardly ever right": drawn(8, [0, 0, 0, 0, 0, 0, 1]),
    "many patients": drawn(9, [0, 1, 1], patients=40),
    "one patient wrong": one_who_differs(1.0, 0.0),
    "one patient right": one_who_differs(0.0, 1.0),
    "one patient less right": one_who_differs(0.75, 0.25),
    "all right": one_who_differs(1.0, 1.0),
    "all half right": one_who_differs(0.5, 0.5),
    "every patient half right": [Answer(f"p{k // 2:02d}", k % 2) for k in range(24)],
}


@pytest.mark.parametrize("name", SHARES)
def test_shares(name: str) -> None:
    answers = SHARES[name]
    values, clusters, weights = columns(answers)
    given = None if set(weights) == {1.0} else weights
    expected = share_limits(answers, 0.025)
    assert cluster_mean(values, clusters, given).ci95 == pytest.approx(expected, abs=1e-9)
    # On a scale of −3 to 5 and of 2 to 4 they are the same, stretched.
    stretched = cluster_mean([2 + 2 * v for v in values], clusters, given, bounds=(2.0, 4.0))
    assert stretched.ci95 == pytest.approx([2 + 2 * v for v in expected], abs=1e-8)
    if given is None:
        first, again = cluster_means(np.array([values, [1 - v for v in values]]), clusters)
        assert first.ci95 == pytest.approx(expected, abs=1e-9)
        assert again.ci95 == pytest.approx([1 - v for v in reversed(expected)], abs=1e-9)


DIFFERENCES = {
    "better or worse": drawn(11, [-1, 0, 1]),
    "one item a patient": drawn(12, [-1, 0, 0, 1], most=1),
    "parts": drawn(13, [-0.6, -0.2, 0, 0.5]),
    "weighted": drawn(14, [-1, 0, 0.5, 1], weighted=True),
    "mostly equal": drawn(15, [0, 0, 0, 0, 0, 0, 1, -1]),
    "never worse": drawn(16, [0, 0, 1]),
    "never better": drawn(17, [0, 0, -0.5]),
    "one patient better": one_who_differs(0.0, 1.0),
    "one patient the other way": one_who_differs(0.5, -0.5),
    "all better": one_who_differs(1.0, 1.0),
    "all a little worse": one_who_differs(-0.25, -0.25),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences(name: str) -> None:
    answers = DIFFERENCES[name]
    values, clusters, weights = columns(answers)
    given = None if set(weights) == {1.0} else weights
    expected = signed_limits(answers, 0.025)
    estimate = paired_difference(values, np.zeros(len(values)), clusters, given)
    assert estimate.ci95 == pytest.approx(expected, abs=1e-9)
    twice = Difference([2 * v for v in values], clusters, given, bounds=(-2.0, 1.0))
    assert twice.interval(0.1) == pytest.approx(
        [2 * v for v in signed_limits(answers, 0.1)], abs=1e-9
    )
    # The p is twice the tail of which a limit is 0.
    tail = estimate.p / 2
    if 1e-9 < tail < 0.5:
        nearest = min(signed_limits(answers, tail), key=abs)
        assert nearest == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("correlation", [-1.0, -0.4, 0.0, 0.7, 1.0])
def test_limits_of_a_sum_join_those_of_its_terms(correlation: float) -> None:
    """Zou and Donner (2008), equations for a sum; the first term counts by a factor."""
    low, high = joined_limits((0.5, 0.3, 0.6), (0.1, -0.05, 0.4), 0.5, correlation)
    a, b, c, d = 0.5 * 0.2, 0.15, 0.5 * 0.1, 0.3
    assert low == pytest.approx(0.35 - math.sqrt(a * a + b * b + 2 * correlation * a * b))
    assert high == pytest.approx(0.35 + math.sqrt(c * c + d * d + 2 * correlation * c * d))


def test_a_mean_without_bounds_is_students_t() -> None:
    answers = drawn(21, [-40.0, 3.0, 7.5, 120.0], weighted=True)
    values, clusters, weights = columns(answers)
    estimate = cluster_mean(values, clusters, weights, bounds=None)
    alike, _ = how_alike([answers])
    half = stats.t.isf(0.025, degrees(residuals(answers))) * math.sqrt(
        variance_of_mean(answers, alike)
    )
    assert estimate.ci95 == pytest.approx((mean(answers) - half, mean(answers) + half))


def test_means_are_those_of_the_standard_library() -> None:
    values, clusters, _ = columns(drawn(22, [0.1, 0.7, 0.9]))
    assert cluster_mean(values, clusters).value == pytest.approx(fmean(values))
