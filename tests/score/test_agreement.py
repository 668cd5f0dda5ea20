"""Agreement statistics against tables worked out in the literature."""

from __future__ import annotations

import numpy as np
import pytest

from situs.score.stats.agreement import (
    agreement,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    spearman,
)
from situs.score.stats.calibration import calibrate

NAN = np.nan


def table(counts: dict[tuple[int, int], int]) -> np.ndarray:
    return np.array(
        [pair for pair, count in counts.items() for _ in range(count)], dtype=np.float64
    )


# 50 grant proposals, two readers: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no.
PROPOSALS = table({(1, 1): 20, (1, 0): 5, (0, 1): 10, (0, 0): 15})


def test_kappa_of_two_readers() -> None:
    """p_o = 35/50, p_e = ½·0.6 + ½·0.4 = 0.5, κ = 0.4."""
    assert percent_agreement(PROPOSALS) == pytest.approx(0.7)
    assert cohen_kappa(PROPOSALS) == pytest.approx(0.4)


def test_ac1_of_two_readers() -> None:
    """π = (0.5 + 0.6) / 2 = 0.55, chance = 2·π(1 − π) = 0.495, AC1 = (0.7 − 0.495) / 0.505."""
    assert gwet_ac1(PROPOSALS) == pytest.approx((0.7 - 0.495) / 0.505)


def test_the_kappa_paradox() -> None:
    """Feinstein and Cicchetti: 85 % agreement at 90 % prevalence.
    80, 10, 5, 5 of 100: κ = 0.32, AC1 = 0.81."""
    skewed = table({(1, 1): 80, (1, 0): 10, (0, 1): 5, (0, 0): 5})
    assert cohen_kappa(skewed) == pytest.approx((0.85 - 0.78) / 0.22)
    pi = (0.90 + 0.85) / 2
    assert gwet_ac1(skewed) == pytest.approx((0.85 - 2 * pi * (1 - pi)) / (1 - 2 * pi * (1 - pi)))


def test_alpha_of_binary_data() -> None:
    """Krippendorff (2011), section A: two observers, ten units, α = 0.095."""
    meg = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    owen = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha(np.array([meg, owen], dtype=np.float64).T) == pytest.approx(
        0.095, abs=5e-4
    )


def test_alpha_with_missing_ratings() -> None:
    """Krippendorff (2011), section C: four observers, twelve units, five categories, α = 0.743."""
    a = [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN]
    b = [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3]
    c = [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN]
    d = [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN]
    assert krippendorff_alpha(np.array([a, b, c, d], dtype=np.float64).T) == pytest.approx(
        0.743, abs=5e-4
    )


def test_undefined_is_none() -> None:
    same = np.ones((5, 2))
    assert cohen_kappa(same) is None
    assert krippendorff_alpha(same) is None
    assert percent_agreement(np.array([[1.0, NAN]])) is None
    assert spearman([1, 2, 3], [1, 1, 1]) is None


def test_one_answer_throughout_is_no_chance() -> None:
    """One category: π(1 − π) = 0, so nothing of the agreement is by chance and AC1 = p_o = 1."""
    assert gwet_ac1(np.ones((5, 2))) == 1.0
    assert gwet_ac1(np.array([[1.0, NAN]])) is None


def test_full_agreement_has_an_exact_interval() -> None:
    """40 patients of 40 agree: Clopper and Pearson's lower limit is 0.025^(1/40); over the chance e
    of each statistic.

    Half say yes: AC1's e = 2·½·½, κ's e = ½² + ½², α's expected disagreement is 2·40·40 / (80·79).
    """
    ratings = table({(1, 1): 20, (0, 0): 20})
    patients = [f"p{n}" for n in range(40)]
    low = 0.025 ** (1 / 40)
    lows = dict.fromkeys(("kappa", "ac1"), (low - 0.5) / 0.5)
    lows |= {"percent": low, "alpha": 1 - (1 - low) / (2 * 40 * 40 / (80 * 79))}
    for name, lower in lows.items():
        found = agreement(name, ratings, patients)
        assert (found.value, found.method) == (1.0, "exact-on-patients")
        assert found.ci95 == pytest.approx((lower, 1.0))
    assert agreement("ac1", np.ones((40, 2)), patients).ci95 == pytest.approx((low, 1.0))
    assert agreement("percent", ratings[:9], patients[:9]).ci95 is None
    mixed = table({(1, 1): 20, (1, 0): 20})
    assert agreement("percent", mixed, [f"p{n % 20}" for n in range(40)]).ci95 is None, (
        "no patient differs from another"
    )


@pytest.mark.parametrize("name", ["percent", "kappa", "ac1", "alpha"])
def test_counting_equal_rows_changes_nothing(name: str) -> None:
    """The estimate over weighted patterns equals the statistic of the rows;
    NaN is a missing rating in both."""
    from situs.score.stats.agreement import STATISTICS

    rng = np.random.default_rng(3)
    ratings = rng.integers(0, 3, (60, 2)).astype(np.float64)
    ratings[rng.random((60, 2)) < 0.1] = NAN
    clusters = [f"p{n % 40}" for n in range(60)]
    estimate = agreement(name, ratings, clusters, n_boot=200)
    assert estimate.value == pytest.approx(STATISTICS[name](ratings))
    assert estimate.ci95 is not None
    assert estimate.ci95[0] < estimate.value < estimate.ci95[1]


def test_spearman_with_ties() -> None:
    """Mean ranks: x = 1.5, 1.5, 3, 4 and y = 1, 2, 3, 4."""
    from scipy.stats import spearmanr

    assert spearman([1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(
        spearmanr([1, 1, 2, 3], [1, 2, 3, 4]).statistic
    )


def test_rogan_gladen() -> None:
    """Sensitivity 0.8, specificity 0.9, apparent 0.38: true (0.38 + 0.9 − 1) / 0.7 = 0.4."""
    human = np.array([1.0] * 10 + [0.0] * 10 + [NAN] * 80)
    verdicts = np.array([1.0] * 8 + [0.0] * 2 + [1.0] + [0.0] * 9 + [1.0] * 29 + [0.0] * 51)
    result = calibrate("judge", verdicts, human, [str(i) for i in range(len(human))])
    assert (result.n, result.sensitivity, result.specificity) == (20, 0.8, 0.9)
    assert result.accuracy == pytest.approx(0.38)
    assert result.corrected_accuracy == pytest.approx(0.4)
    assert result.corrected_ci95 is not None
    assert result.corrected_ci95[0] < 0.4 < result.corrected_ci95[1]


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    result = calibrate(
        "coin", np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0, 0.0]), list("abcd")
    )
    assert result.corrected_accuracy is None
    assert "chance" in result.note
