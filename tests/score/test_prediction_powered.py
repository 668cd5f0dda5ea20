"""Prediction-powered accuracy against the closed form of the papers."""

from __future__ import annotations

import numpy as np
import pytest

from situs.score import cluster_mean, prediction_powered


def drawn(seed, labelled=400, unlabelled=4000, sensitivity=0.9, specificity=0.8):
    """One answer a patient."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(labelled + unlabelled) < 0.6).astype(float)
    judge = (rng.random(len(truth)) < np.where(truth == 1, sensitivity, 1 - specificity)).astype(
        float
    )
    human = truth.copy()
    human[labelled:] = np.nan
    return judge, human, [f"p{i}" for i in range(len(truth))]


@pytest.mark.parametrize("seed", range(3))
def test_one_answer_a_patient_is_the_estimate_of_the_papers(seed):
    judge, human, names = drawn(seed)
    read = ~np.isnan(human)
    found = prediction_powered(judge, human, names)
    # PPI++ (arXiv:2311.01453): λ = cov(Y, f) / ((1 + n / N) var(f)), here with each sample's own
    # variance of f.
    n, count = read.sum(), (~read).sum()
    covariance = np.cov(human[read], judge[read], ddof=0)[0, 1]
    power = covariance / n / (judge[read].var() / n + judge[~read].var() / count)
    assert found.power == pytest.approx(power)
    rectified = human[read] - power * judge[read]
    assert found.value == pytest.approx(power * judge[~read].mean() + rectified.mean())
    half = 1.96 * np.sqrt(power**2 * judge[~read].var() / count + rectified.var() / n)
    assert found.ci95 == pytest.approx((found.value - half, found.value + half), abs=0.004)
    assert (found.labelled, found.unlabelled, found.patients) == (n, count, n)


def test_a_judge_who_knows_nothing_is_not_relied_on():
    judge, human, names = drawn(1)
    judge = np.random.default_rng(2).permutation(judge)
    found = prediction_powered(judge, human, names)
    read = ~np.isnan(human)
    assert found.power < 0.2
    assert found.value == pytest.approx(human[read].mean(), abs=0.01)


def test_a_biased_judge_does_not_bias_the_estimate():
    """A judge who calls everything right half of the time when it is wrong:
    only the human verdicts say how much."""
    values = [prediction_powered(*drawn(seed, specificity=0.5)).value for seed in range(20)]
    assert np.mean(values) == pytest.approx(0.6, abs=0.02)
    assert np.mean([drawn(seed, specificity=0.5)[0].mean() for seed in range(20)]) > 0.7


def test_patients_count_not_answers():
    judge, human, names = drawn(3, labelled=40, unlabelled=160)
    wide = prediction_powered(
        np.repeat(judge, 5), np.repeat(human, 5), np.repeat(names, 5).tolist()
    )
    once = prediction_powered(judge, human, names)
    assert wide.value == pytest.approx(once.value)
    assert wide.ci95 == pytest.approx(once.ci95, abs=1e-9)


def test_edges():
    judge, human, names = drawn(4, labelled=60, unlabelled=100)
    few = prediction_powered(judge, human, ["p1", "p2"] * 80)
    assert few.ci95 is None
    assert "2 patients" in few.note
    assert prediction_powered(judge, np.full(160, np.nan), names).value is None
    every = prediction_powered(judge[:60], human[:60], names[:60])
    assert every.ci95 == cluster_mean(human[:60], names[:60]).ci95
    perfect = prediction_powered(np.ones(60), np.where(np.arange(60) < 20, 1.0, np.nan), names[:60])
    assert perfect.value == 1.0
    assert perfect.ci95[0] < 0.9, "twenty answers without an error do not show that there is none"


def in_clusters(seed, patients=150):
    """Unequal patients whose answers share a fate, each read by a human in part."""
    rng = np.random.default_rng(seed)
    sizes = rng.geometric(0.12, size=patients)
    fate = np.repeat(rng.normal(size=patients), sizes)
    truth = (rng.random(len(fate)) < 1 / (1 + np.exp(-fate - 0.5))).astype(float)
    judge = np.where(rng.random(len(fate)) < 0.85, truth, 1 - truth)
    human = np.where(rng.random(len(fate)) < 0.25, truth, np.nan)
    return judge, human, np.repeat([f"p{i}" for i in range(patients)], sizes).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_unequal_patients_against_the_sandwich_written_out(seed):
    """θ = ȳ + λ (f̄ elsewhere − f̄ on the labelled); its variance is that of each patient's share
    in it, summed.

    The formula of the papers with a patient's sum in place of an answer (Liang and Zeger 1986),
    written as loops. The interval of the software is no normal one, but with 150 patients nearly.
    """
    judge, human, names = in_clusters(seed)
    read = ~np.isnan(human)
    n, rest = read.sum(), (~read).sum()
    label, on, off = human[read].mean(), judge[read].mean(), judge[~read].mean()
    above = below = 0.0
    shares = {}
    for patient in set(names):
        rows = [i for i, name in enumerate(names) if name == patient]
        y = sum(human[i] - label for i in rows if read[i]) / n
        f = sum(judge[i] - on for i in rows if read[i]) / n
        f -= sum(judge[i] - off for i in rows if not read[i]) / rest
        shares[patient] = (y, f)
        above, below = above + y * f, below + f * f
    power = min(1.0, max(0.0, above / below))
    found = prediction_powered(judge, human, names)
    assert found.power == pytest.approx(power)
    assert found.value == pytest.approx(label + power * (off - on))
    half = 1.96 * np.sqrt(sum((y - power * f) ** 2 for y, f in shares.values()))
    low, high = found.ci95
    assert (high - low) / 2 == pytest.approx(half, rel=0.15)
    # Answers taken for independent would promise too much.
    alone = prediction_powered(judge, human, [f"a{i}" for i in range(len(names))])
    assert alone.ci95[1] - alone.ci95[0] < 0.9 * (high - low)
