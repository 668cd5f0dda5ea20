"""Number metrics against values from spec/metrics.md, closed forms and scipy."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from situs.errors import SitusError
from situs.score.metrics import number as one
from situs.score.metrics import numbers as many

PER_ANSWER = [one.mra_vsi_code, one.mra_vsi_paper, one.relative_accuracy]
POSITIVE = st.fractions(min_value=Fraction(1, 100), max_value=1000, max_denominator=100)


@pytest.mark.parametrize(
    ("metric", "expected"), zip(PER_ANSWER, [Fraction(1, 10), Fraction(0), Fraction(1, 2)])
)
def test_the_spec_s_golden_value_truth_2_prediction_1(metric, expected):
    assert metric(1, 2) == expected


def test_ids_name_variant_and_version():
    assert (one.MRA_VSI_CODE, one.MRA_VSI_PAPER, one.RELATIVE_ACCURACY) == (
        "mra.vsi-code@1",
        "mra.vsi-paper@1",
        "relative-accuracy@1",
    )


@pytest.mark.parametrize("step", range(1, 11))
def test_ties_are_decided_exactly(step):
    """An error of exactly k/20 meets k..10 twentieths with ≤,
    and one fewer with <; floats get some of these wrong."""
    prediction = repr(100 + 5 * step)
    assert one.mra_vsi_code(prediction, 100) == Fraction(11 - step, 10)
    assert one.mra_vsi_paper(prediction, 100) == Fraction(10 - step, 10)
    assert one.mra_vsi_code(float(Decimal(1) + Decimal(step) / 20), 1.0) == Fraction(11 - step, 10)


@pytest.mark.parametrize("metric", PER_ANSWER)
def test_perfect_is_1_far_off_is_0_and_truth_0_is_undefined(metric):
    assert metric("0.1", 0.1) == 1
    assert metric(1000, 1) == 0
    assert metric(3, 0) is None


@given(POSITIVE, POSITIVE, POSITIVE)
def test_relative_metrics_do_not_depend_on_the_unit(prediction, truth, scale):
    for metric in PER_ANSWER:
        assert metric(prediction * scale, truth * scale) == metric(prediction, truth)
    assert one.mra_vsi_paper(prediction, truth) <= one.mra_vsi_code(prediction, truth)


def test_numbers_that_are_none_are_refused():
    for bad in (math.nan, math.inf, "abc", "1/0", ""):
        with pytest.raises(SitusError, match="not a finite number"):
            one.mra_vsi_code(bad, 1)


def test_within_interval_is_closed_and_exact():
    assert one.within_interval(Fraction(3, 10), (0.1, 0.3))
    assert one.within_interval("0.1", (0.1, 0.3))
    assert not one.within_interval("0.30000001", (0.1, 0.3))
    with pytest.raises(SitusError, match="empty"):
        one.within_interval(1, (2, 1))


@pytest.mark.parametrize("seed", range(5))
def test_spearman_agrees_with_scipy_with_ties(seed):
    generator = np.random.default_rng(seed)
    x, y = generator.integers(0, 6, 30).astype(float), generator.integers(0, 6, 30).astype(float)
    assert many.spearman(x.tolist(), y.tolist()) == pytest.approx(
        stats.spearmanr(x, y).statistic, abs=1e-12
    )


def test_spearman_within_structure_weighs_by_answers_and_leaves_out_small_and_constant_groups():
    predictions = [1, 2, 3, 4, 3, 2, 1, 1, 2, 5, 6, 7, 9, 9, 9]
    truths = [1, 2, 3, 4, 1, 2, 3, 1, 2, 8, 8, 8, 1, 2, 3]
    structures = list("aaaa") + list("bbb") + list("cc") + list("ddd") + list("eee")
    result = many.spearman_within_structure(predictions, truths, structures)
    assert result == many.Aggregate(pytest.approx((4 * 1 + 3 * -1 + 3 * 0) / 10), 10, 5)
    assert many.spearman_within_structure([1], [1], ["a"]) == many.Aggregate(None, 0, 1)
    assert many.spearman([1.0], [1.0]) is None
