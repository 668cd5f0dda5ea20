"""Intervals against simulation, scipy and closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import special, stats

from situs.errors import SitusError
from situs.items.record import Item, YesNo
from situs.score.stats.estimates import (
    Difference,
    cluster_bootstrap_of,
    cluster_function,
    cluster_mean,
    cluster_means,
    cluster_of,
    paired_difference,
)
from situs.score.stats.exact import binomial_interval_999, clopper_pearson
from situs.score.stats.limits import ShareLimits, degrees_of_freedom
from situs.score.stats.sums import ClusterSums, distinct_codes


def clustered(generator, patients, *, spread=1.0, mean=0.5):
    """Right or wrong on 1 to 12 items a patient,
    patients differing in ability (a beta distribution)."""
    ability = generator.beta(mean * 2 / spread, (1 - mean) * 2 / spread, patients)
    counts = generator.integers(1, 13, patients)
    names = np.repeat([f"p{i:04d}" for i in range(patients)], counts)
    values = (generator.random(len(names)) < np.repeat(ability, counts)).astype(float)
    return values, names.tolist()


def test_ignoring_patients_would_be_too_narrow():
    values, names = clustered(np.random.default_rng(3), 200)
    by_patient = cluster_mean(values, names).ci95
    by_item = cluster_mean(values, [str(i) for i in range(len(values))]).ci95
    assert by_patient[1] - by_patient[0] > 1.3 * (by_item[1] - by_item[0])


@pytest.mark.parametrize("patients", [12, 50])
def test_order_of_rows_does_not_matter(patients):
    generator = np.random.default_rng(1)
    values, names = clustered(generator, patients)
    weights = generator.random(len(values))
    order = generator.permutation(len(values))
    first = cluster_mean(values, names, weights)
    assert first == cluster_mean(values[order], [names[i] for i in order], weights[order])


@pytest.mark.parametrize("patients", [20, 400])
def test_one_item_a_patient_agrees_with_textbook_intervals(patients):
    generator = np.random.default_rng(5)
    values = generator.random(patients)
    values[0] = 1.0
    values[1] = 0.0
    names = [str(i) for i in range(patients)]
    expected = stats.t.interval(0.95, patients - 1, values.mean(), stats.sem(values))
    estimate = cluster_mean(values, names, bounds=None)
    assert estimate.ci95 == pytest.approx(expected)
    assert estimate.method == "cluster-t"
    assert ("20 patients" in estimate.note) == (patients == 20)
    mean = values.mean()
    logit = stats.t.interval(
        0.95, patients - 1, special.logit(mean), stats.sem(values) / (mean * (1 - mean))
    )
    share = cluster_mean(values, names)
    assert share.ci95 == pytest.approx(special.expit(logit))
    assert share.method == "cluster-t-logit"
    sums = np.stack([values, np.ones(patients)], axis=1)
    jackknife = cluster_function(sums, lambda totals: totals[:, 0] / totals[:, 1], patients)
    assert jackknife.ci95 == pytest.approx(expected)


def test_a_patient_of_many_items_that_share_one_fate_counts_once():
    """All-or-nothing patients of equal size: the textbook's intervals of as many single outcomes,
    of which the narrower limit is taken."""
    fates = np.array([1.0] * 14 + [0.0] * 6)
    names = [str(i) for i in range(20)]
    once = cluster_mean(fates, names)
    many = cluster_mean(np.repeat(fates, 7), np.repeat(names, 7).tolist())
    assert many.ci95 == pytest.approx(once.ci95)
    logit = stats.t.interval(0.95, 19, special.logit(0.7), stats.sem(fates) / (0.7 * 0.3))
    student = special.expit(logit)
    exact = stats.binomtest(14, 20).proportion_ci(0.95, "exact")
    expected = max(student[0], exact.low), min(student[1], exact.high)
    assert once.ci95 == pytest.approx(expected)


@pytest.mark.parametrize("wrong", [False, True])
def test_one_patient_who_differs_does_not_leave_the_others_unheard(wrong):
    """17 of 18 patients have one outcome throughout: the mean is at least (at most) the share of
    such patients, whose limit is Clopper and Pearson's whatever the last patient's items are."""
    outcomes = np.ones((18, 3))
    outcomes[0, 0] = 0.0
    values = (1.0 - outcomes if wrong else outcomes).ravel()
    names = np.repeat([str(i) for i in range(18)], 3).tolist()
    low, high = cluster_mean(values, names).ci95
    exact = stats.binomtest(17, 18).proportion_ci(0.95, "exact").low
    assert (1.0 - high if wrong else low) == pytest.approx(exact)
    assert low < values.mean() < high


def test_patients_of_unequal_size_count_as_kish_says():
    """The share of patients who are right throughout is weighted by items, out of (Σw)² / Σw²."""
    items = np.array([3] * 12 + [2] * 6)
    values = np.ones(items.sum())
    values[0] = 0.0
    names = np.repeat([str(i) for i in range(18)], items).tolist()
    effective = items.sum() ** 2 / (items**2).sum()
    whole = (items.sum() - items[0]) / items.sum() * effective
    expected = stats.beta.ppf(0.025, whole, effective - whole + 1)
    assert cluster_mean(values, names).ci95[0] == pytest.approx(expected)


@pytest.mark.parametrize(("deviating", "expected"), [(40, 39.0), (10, 29.0), (4, 11.0), (1, 3.0)])
def test_the_degrees_of_freedom_are_those_of_the_patients_who_tell(deviating, expected):
    """Residuals of one size: (Σe²)² / Σe⁴ = k, so 3 k − 1,
    from 3 to one less than there are patients."""
    residuals = np.zeros(40)
    residuals[:deviating] = 0.2 * (-1.0) ** np.arange(deviating)
    assert degrees_of_freedom(residuals) == pytest.approx(expected)
    assert degrees_of_freedom(1000.0 * residuals) == pytest.approx(expected)


@pytest.mark.parametrize(("patients", "mean", "correlation"), [(60, 0.97, 0.3), (200, 0.99, 0.6)])
def test_few_failing_patients_of_many_items_are_allowed_for(patients, mean, correlation):
    """With a t of n − 1 degrees these cells were held in 91 to 92 % (docs/coverage.md)."""
    rng, runs, weight = np.random.default_rng(11), 2000, (1 - correlation) / correlation
    ability = rng.beta(mean * weight, (1 - mean) * weight, (runs, patients))
    counts = np.full((runs, patients), 40.0)
    right = rng.binomial(40, ability).astype(float)
    low, high = ShareLimits(ClusterSums(right, counts, right, counts)).at(0.025)
    assert np.mean((low <= mean) & (mean <= high)) >= 0.93


def test_a_weighted_mean_is_a_ratio():
    estimate = cluster_mean([1, 0, 0], ["a", "a", "b"], [2, 1, 1])
    assert estimate.value == 0.5
    assert (estimate.n, estimate.clusters, estimate.ci95) == (3, 2, None)
    assert "2 patients" in estimate.note


def test_no_items_give_no_value():
    estimate = cluster_mean([], [])
    assert (estimate.value, estimate.ci95, estimate.note) == (None, None, "no items")
    assert cluster_bootstrap_of(lambda rows: 1.0, []).value is None


@pytest.mark.parametrize("outcome", [0.0, 1.0])
@pytest.mark.parametrize("patients", [10, 40])
def test_equal_outcomes_use_the_exact_interval_on_patients(outcome, patients):
    names = [f"p{i}" for i in range(patients)] * 5
    estimate = cluster_mean([outcome] * len(names), names)
    assert estimate.ci95 == pytest.approx(clopper_pearson(int(outcome) * patients, patients))
    assert estimate.method == "exact-on-patients"
    assert cluster_mean([outcome] * 9, [str(i) for i in range(9)]).ci95 is None


def test_equal_differences_have_an_interval_as_well():
    """With 20 patients at most a share u differs, where (1 − u)^20 = 0.025:
    by as much as bounds allow, both ways."""
    u = 1 - 0.025 ** (1 / 20)
    names = [str(i) for i in range(20)]
    half = paired_difference([1.0] * 20, [0.5] * 20, names)
    assert half.ci95 == (pytest.approx(0.5 - np.hypot(0.5 * u, u)), pytest.approx(0.5 + 0.5 * u))
    none = paired_difference([1.0] * 20, [1.0] * 20, names)
    assert none.ci95 == (pytest.approx(-u), pytest.approx(u))
    assert none.p == 1.0


def test_patients_who_are_all_alike_but_not_their_items_have_an_interval():
    """Forty patients, each right on one of two items: the spread is that between items."""
    names = [f"p{i}" for i in range(40)] * 2
    low, high = cluster_mean([0.0] * 40 + [1.0] * 40, names).ci95
    assert low == pytest.approx(1 - high)
    assert 0.02 < high - low < 0.25
    note = cluster_mean([0.5] * 40, names[:40], bounds=None).note
    assert "same mean" in note


@pytest.mark.parametrize("patients", [10, 15, 40, 200])
@pytest.mark.parametrize("value", [0.0, 1e-6, 0.5, 1 - 1e-6, 1.0])
def test_no_interval_is_without_width(patients, value):
    """Nearly the same outcome in all patients does not show that every patient has it."""
    names = [f"p{i}" for i in range(patients)]
    values = np.full(patients, value)
    for odd in (value, min(1.0, value + 1e-7)):
        values[0] = odd
        low, high = cluster_mean(values, names).ci95
        assert high - low > 0.5 * (1 - 0.025 ** (1 / patients)) * max(value, 1 - value)
        low, high = paired_difference(values, np.full(patients, value), names).ci95
        assert high - low > 0.01
        rows = cluster_bootstrap_of(
            lambda rows: float(np.median(values[rows])), names, bounds=(0.0, 1.0), n_boot=50
        )
        assert rows.ci95 is None or rows.ci95[1] - rows.ci95[0] > 1e-9


def test_p_is_the_inverse_of_the_interval():
    generator = np.random.default_rng(9)
    for patients, gap in itertools.product((12, 40), (0.0, 0.02, 0.1, 0.4)):
        a, names = clustered(generator, patients)
        b = np.where(generator.random(len(a)) < gap, 0.0, a)
        found = paired_difference(a, b, names)
        assert (found.ci95[0] <= 0 <= found.ci95[1]) == (found.p >= 0.05)
        if 1e-6 < found.p < 1:
            low, high = Difference(a - b, names).interval(found.p / 2)
            assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-9)
        assert paired_difference(b, a, names).p == pytest.approx(found.p)


def test_p_of_one_outcome_a_patient_comes_near_the_sign_test():
    """30 patients better, 12 worse, one item each: McNemar's exact p is a referee of the size."""
    gaps = np.array([1.0] * 30 + [-1.0] * 12 + [0.0] * 18)
    found = cluster_mean(gaps, [str(i) for i in range(60)], bounds=(-1.0, 1.0))
    exact = stats.binomtest(30, 42).pvalue
    assert found.p == pytest.approx(exact, rel=0.5)


def test_small_sample_intervals_stay_within_bounds():
    values = [1.0] * 11 + [0.0]
    low, high = cluster_mean(values, [str(i) for i in range(12)]).ci95
    assert 0 < low < 11 / 12 < high < 1
    assert cluster_mean(values, [str(i) for i in range(12)], bounds=(-1.0, 1.0)).ci95[1] < 1.0
    with pytest.raises(SitusError, match="leave"):
        cluster_mean([2.0], ["a"])
    assert cluster_mean([2.0], ["a"], bounds=None).value == 2


def test_bad_rows_are_refused():
    for values, names, weights in [
        ([np.nan], ["a"], None),
        ([1.0], ["a"], [-1.0]),
        ([1.0], ["a", "b"], None),
        ([1.0], ["a"], [1.0, 2.0]),
    ]:
        with pytest.raises(SitusError):
            cluster_mean(values, names, weights)


def test_paired_differences():
    generator = np.random.default_rng(2)
    a, names = clustered(generator, 100)
    b = np.where(generator.random(len(a)) < 0.2, 0.0, a)
    difference = paired_difference(a, b, names)
    assert difference.value == pytest.approx(a.mean() - b.mean())
    assert difference.ci95[0] > 0
    opposite = paired_difference(b, a, names)
    assert opposite.ci95 == pytest.approx((-difference.ci95[1], -difference.ci95[0]))
    u = clopper_pearson(0, 100)[1]
    assert paired_difference(a, a, names).ci95 == pytest.approx((-u, u))
    with pytest.raises(SitusError, match="not pairs"):
        paired_difference(a, b[:-1], names)


def test_any_statistic_of_rows():
    generator = np.random.default_rng(4)
    x = generator.normal(size=600)
    names = np.repeat([f"p{i}" for i in range(200)], 3).tolist()
    estimate = cluster_bootstrap_of(
        lambda rows: float(np.median(x[rows])), names, n_boot=300, seed=1
    )
    half = 1.96 * np.sqrt(np.pi / 2 / 600)
    assert estimate.value == np.median(x)
    assert estimate.ci95 == pytest.approx((estimate.value - half, estimate.value + half), abs=0.04)
    assert estimate == cluster_bootstrap_of(
        lambda rows: float(np.median(x[rows])), names, n_boot=300, seed=1
    )
    same = cluster_bootstrap_of(lambda rows: float(x[rows].mean()), names, n_boot=2000).ci95
    assert same == pytest.approx(cluster_mean(x, names, bounds=None).ci95, abs=0.02)


def test_a_statistic_that_is_often_undefined_has_no_interval():
    names = [str(i) for i in range(40)]
    estimate = cluster_bootstrap_of(lambda rows: 1.0 if 0 in rows else None, names, n_boot=100)
    assert estimate.value == 1.0
    assert estimate.ci95 is None
    assert "undefined" in estimate.note
    assert cluster_bootstrap_of(lambda rows: None, names).value is None
    assert (
        "without some"
        in cluster_bootstrap_of(lambda rows: 1.0 if 0 in rows else None, names[:12]).note
    )


def test_the_cluster_is_the_patient_and_a_missing_one_names_the_item():
    def item(patient):
        return Item("i12", "s1", "ct", patient, "side", "yes_no", "Left?", YesNo(True))

    assert cluster_of(item("p1")) == "p1"
    with pytest.raises(SitusError, match="i12: item without patient_id"):
        cluster_of(item(" "))


@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (50, 100), (999, 1000)]
)
def test_clopper_pearson_agrees_with_scipy(k, n):
    for confidence in (0.95, 0.999):
        expected = stats.binomtest(k, n).proportion_ci(confidence, method="exact")
        assert clopper_pearson(k, n, confidence) == pytest.approx(
            (expected.low, expected.high), abs=1e-12
        )
    with pytest.raises(SitusError):
        clopper_pearson(2, 1)


@pytest.mark.parametrize(
    ("n", "p"),
    [(1, 0.5), (10, 0.25), (100, 0.25), (1000, 1 / 3), (20_000, 0.5), (50, 0.001), (50, 0.999)],
)
def test_the_999_region_is_central_and_as_small_as_can_be(n, p):
    low, high = binomial_interval_999(n, p)
    law = stats.binom(n, p)
    assert law.cdf(low - 1) <= 0.0005 < law.cdf(low)
    assert law.sf(high) <= 0.0005 < law.sf(high - 1)


def test_the_999_region_at_its_edges():
    assert binomial_interval_999(0, 0.3) == (0, 0)
    assert binomial_interval_999(7, 0.0) == (0, 0)
    assert binomial_interval_999(7, 1.0) == (7, 7)
    with pytest.raises(SitusError):
        binomial_interval_999(7, 1.5)


def test_means_of_many_columns_are_those_of_each() -> None:
    """Worked out together or alone, an estimate is the same to the last bit."""
    generator = np.random.default_rng(5)
    for count in (4, 12, 39):
        patients = np.arange(231) % count
        columns = generator.integers(0, 4, (17, 231)) / 3
        columns[:3] = [np.ones(231), np.zeros(231), patients % 2]
        alone = [cluster_mean(column, patients, tested=False) for column in columns]
        assert cluster_means(columns, patients) == alone


def test_distinct_codes_are_those_of_numpy() -> None:
    for codes in ([], [3], [5, 0, 5, 2, 2, 9]):
        array = np.array(codes, dtype=np.int64)
        found = distinct_codes(array)
        for own, theirs in zip(found, np.unique(array, return_inverse=True), strict=True):
            np.testing.assert_array_equal(own, theirs)
