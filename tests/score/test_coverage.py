"""Intervals over patients hold the truth as often as they say: the hardest cells of
benchmarks/interval_coverage.py.

Fixed seeds; bounds are the 99.9 % region of the binomial distribution around 93 %, so that only a
wrong method fails. A method that is too wide passes here: docs/statistics.md says in which cells it
is.
"""

from __future__ import annotations

import numpy as np
import pytest

from situs.score import binomial_interval_999, cluster_mean, paired_difference, prediction_powered
from situs.score.stats.limits import ShareLimits, SignedLimits
from situs.score.stats.sums import ClusterSums

RUNS = 600
LEAST = binomial_interval_999(RUNS, 0.93)[0]


def counts(rng, patients, items, geometric, runs=RUNS):
    shape = (runs, patients)
    return (
        rng.geometric(1 / items, shape).astype(float) if geometric else np.full(shape, float(items))
    )


def abilities(rng, shape, mean, correlation):
    """Beta, so that two items of one patient correlate as said;
    1: each patient is all right or all wrong."""
    if correlation in (0, 1):
        return (
            np.full(shape, mean) if correlation == 0 else (rng.random(shape) < mean).astype(float)
        )
    weight = (1 - correlation) / correlation
    return rng.beta(mean * weight, (1 - mean) * weight, shape)


@pytest.mark.parametrize("geometric", [False, True])
@pytest.mark.parametrize("correlation", [0, 0.3, 0.6, 1])
@pytest.mark.parametrize(
    ("patients", "mean"), [(10, 0.3), (10, 0.97), (20, 0.9), (30, 0.97), (60, 0.97), (200, 0.99)]
)
def test_a_mean(patients, mean, correlation, geometric):
    rng = np.random.default_rng(patients)
    asked = counts(rng, patients, 8, geometric)
    right = rng.binomial(asked.astype(int), abilities(rng, asked.shape, mean, correlation)).astype(
        float
    )
    low, high = ShareLimits(ClusterSums(right, asked, right, asked)).at(0.025)
    assert np.count_nonzero((low <= mean) & (mean <= high)) >= LEAST


@pytest.mark.parametrize("patients", [60, 200])
def test_a_mean_that_is_neither_near_0_nor_near_1_is_not_too_wide(patients):
    rng = np.random.default_rng(patients)
    asked = counts(rng, patients, 8, False)
    right = rng.binomial(asked.astype(int), abilities(rng, asked.shape, 0.6, 0.3)).astype(float)
    low, high = ShareLimits(ClusterSums(right, asked, right, asked)).at(0.025)
    assert np.count_nonzero((low <= 0.6) & (high >= 0.6)) <= binomial_interval_999(RUNS, 0.97)[1]


@pytest.mark.parametrize("geometric", [False, True])
@pytest.mark.parametrize("correlation", [0.2, 0.6, 1])
@pytest.mark.parametrize(("a", "b"), [(0.6, 0.6), (0.9, 0.8), (0.99, 0.95), (0.97, 0.3)])
@pytest.mark.parametrize("patients", [10, 30])
def test_a_paired_difference(patients, a, b, correlation, geometric):
    """Of equal means it is the level of the test as well,
    also where patients are all or nothing."""
    rng = np.random.default_rng(patients)
    asked = counts(rng, patients, 6, geometric)
    first, second = (abilities(rng, asked.shape, mean, correlation) for mean in (a, b))
    number = asked.astype(int)
    # Only a, only b, both or neither right: independent given the patient.
    only_a = rng.binomial(number, first * (1 - second))
    left = 1 - first * (1 - second)
    share = np.divide(second * (1 - first), left, out=np.zeros_like(left), where=left > 0)
    only_b = rng.binomial(number - only_a, np.clip(share, 0, 1)).astype(float)
    above, below = only_a.astype(float), only_b
    low, high = SignedLimits(
        ClusterSums(above, asked, above, asked), ClusterSums(below, asked, below, asked)
    ).at(0.025)
    assert np.count_nonzero((low <= a - b + 1e-9) & (a - b - 1e-9 <= high)) >= LEAST


def test_the_stacked_form_is_what_users_get():
    rng = np.random.default_rng(4)
    asked = counts(rng, 14, 5, True, runs=3)
    first, second = (rng.binomial(asked.astype(int), 0.7).astype(float) for _ in range(2))
    low, high = ShareLimits(ClusterSums(first, asked, first, asked)).at(0.025)
    for run in range(3):
        names = np.repeat([f"p{i:02d}" for i in range(14)], asked[run].astype(int)).tolist()
        rows = [
            np.concatenate([np.arange(n) < k for n, k in zip(asked[run], one[run])])
            for one in (first, second)
        ]
        assert cluster_mean(rows[0].astype(float), names).ci95 == pytest.approx(
            (low[run], high[run])
        )
        above = [np.add.reduceat(part, np.cumsum([0, *asked[run][:-1].astype(int)])).astype(float)
                 for part in (rows[0] & ~rows[1], rows[1] & ~rows[0])]  # fmt: skip
        limits = SignedLimits(
            *(ClusterSums(part, asked[run], part, asked[run]) for part in above)
        ).at(0.025)
        assert paired_difference(*(row.astype(float) for row in rows), names).ci95 == pytest.approx(
            limits
        )


@pytest.mark.parametrize(
    ("accuracy", "correlation", "sensitivity"), [(0.7, 0.2, 0.9), (0.95, 0.8, 0.98)]
)
def test_prediction_powered_accuracy(accuracy, correlation, sensitivity):
    """30 patients of 10 answers, 3 of 10 with a human verdict,
    a judge who calls 20 % of wrong answers right."""
    rng = np.random.default_rng(7)
    names = np.repeat([f"p{i}" for i in range(30)], 10)
    runs, held, narrower = 200, 0, 0
    for _ in range(runs):
        able = abilities(rng, 30, accuracy, correlation)
        human = (rng.random(300) < np.repeat(able, 10)).astype(float)
        judge = (rng.random(300) < np.where(human == 1, sensitivity, 0.2)).astype(float)
        human[rng.random(300) >= 0.3] = np.nan
        found = prediction_powered(judge, human, names)
        held += found.ci95[0] <= accuracy <= found.ci95[1]
        read = ~np.isnan(human)
        alone = cluster_mean(human[read], names[read].tolist()).ci95
        narrower += found.ci95[1] - found.ci95[0] < alone[1] - alone[0]
    assert held >= binomial_interval_999(runs, 0.93)[0]
    if accuracy < 0.9:
        assert narrower > runs / 2
