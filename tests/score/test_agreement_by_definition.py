"""Agreement of raters once more, pair of ratings by pair of ratings in exact fractions, as Gwet (2014) and
Krippendorff (2011) write the coefficients."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from situs.score.stats.agreement import STATISTICS, agreement, rating_table, spearman
from situs.score.stats.reliability import COEFFICIENTS, reliability, reliability_value

CATEGORIES = (0, 1, 2, 5)


def rated(seed, items, raters, *, missing, values=CATEGORIES):
    """Each item's ratings, None for none; raters keep to the item's own value half of the time."""
    generator = np.random.default_rng(seed)
    return [
        [
            None
            if generator.random() < missing
            else int(usual if generator.random() < 0.5 else generator.choice(values))
            for _ in range(raters)
        ]
        for usual in generator.choice(values, items)
    ]


def mean(values):
    known = list(values)
    return sum(known, Fraction(0)) / len(known)


def given(item):
    return [rating for rating in item if rating is not None]


def unlike_pairs(items, distance):
    """The mean over items of the mean distance of two of its ratings."""
    return mean(
        mean(distance(a, b) for a, b in itertools.permutations(given(item), 2))
        for item in items
        if len(given(item)) > 1
    )


def shares(items):
    """Of each category: the mean over rated items of the share of its ratings."""
    some = [given(item) for item in items if given(item)]
    return {
        one: mean(Fraction(item.count(one), len(item)) for item in some)
        for one in {rating for item in some for rating in item}
    }


def gwet(items, distance, categories):
    """AC1, and AC2 with distances between categories."""
    q = len(categories)
    alike = sum(1 - distance(a, b) for a, b in itertools.product(categories, repeat=2))
    chance = Fraction(alike, q * (q - 1)) * sum(p * (1 - p) for p in shares(items).values())
    return 1 - unlike_pairs(items, distance) / (1 - chance)


def conger(items, distance):
    """Conger's κ: chance is that of two different raters, each with their own habits."""
    raters = [given(column) for column in zip(*items)]
    chance = mean(
        mean(distance(x, y) for x, y in itertools.product(a, b))
        for a, b in itertools.permutations([ratings for ratings in raters if ratings], 2)
    )
    return 1 - unlike_pairs(items, distance) / chance


def fleiss(items, distance):
    share = shares(items)
    chance = sum(
        share[a] * share[b] * distance(a, b) for a, b in itertools.product(share, repeat=2)
    )
    return 1 - unlike_pairs(items, distance) / chance


def pairable(items):
    return [rating for item in items if len(given(item)) > 1 for rating in given(item)]


def krippendorff(items, distance):
    every = pairable(items)
    observed = Fraction(0)
    for item in items:
        own = given(item)
        for a, b in itertools.permutations(own, 2):
            observed += Fraction(distance(a, b)) / (len(own) - 1) / len(every)
    return 1 - observed / mean(distance(a, b) for a, b in itertools.permutations(every, 2))


def names(a, b):
    return Fraction(a != b)


def squared(a, b):
    return Fraction((a - b) ** 2, 25)


def ranks(items):
    """Krippendorff's ordinal distance: all ratings from the one to the other, half of each end's
    left out."""
    every = pairable(items)

    def distance(a, b):
        low, high = min(a, b), max(a, b)
        between = sum(low <= rating <= high for rating in every)
        return (between - Fraction(every.count(low) + every.count(high), 2)) ** 2 * (a != b)

    return distance


DEFINED = {
    "raw": lambda items: 1 - unlike_pairs(items, names),
    "ac1": lambda items: gwet(items, names, CATEGORIES),
    "ac2": lambda items: gwet(items, squared, CATEGORIES),
    "alpha": lambda items: krippendorff(items, names),
    "alpha_ordinal": lambda items: krippendorff(items, ranks(items)),
    "fleiss": lambda items: fleiss(items, names),
    "conger": lambda items: conger(items, names),
    "weighted_kappa": lambda items: conger(items, squared),
}
RATED = {
    "three raters": rated(1, 14, 3, missing=0.0),
    "five raters, some ratings missing": rated(2, 16, 5, missing=0.35),
    "two raters": rated(3, 20, 2, missing=0.0),
    "one category is never given": rated(4, 15, 3, missing=0.2, values=(1, 2, 5)),
    "most ratings missing": rated(6, 40, 3, missing=0.6),
    "one rater gave none": [[*item, None] for item in rated(5, 12, 3, missing=0.2)],
}


def table(items):
    return np.array(items, dtype=np.float64)  # None is NaN


@pytest.mark.parametrize("sample", RATED)
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_coefficients(name: str, sample: str) -> None:
    items = RATED[sample]
    expected = float(DEFINED[name](items))
    assert reliability_value(name, table(items), CATEGORIES) == pytest.approx(expected)
    # With an interval, from patterns and how often each occurs.
    twice = [*items, *items, *items[:5]]
    patients = [f"p{number}" for number in range(len(twice))]
    estimate = reliability(name, rating_table(table(twice), patients), CATEGORIES, n_boot=40)
    assert estimate.value == pytest.approx(float(DEFINED[name](twice)))


@pytest.mark.parametrize("sample", RATED)
def test_statistics_of_categories_as_names(sample: str) -> None:
    items = RATED[sample]
    used = sorted({rating for item in items for rating in given(item)})
    pairs = [pair for item in items for pair in itertools.permutations(given(item), 2)]
    expected = {
        "percent": mean(Fraction(a == b) for a, b in pairs),
        "ac1": gwet(items, names, used),
        "alpha": krippendorff(items, names),
    }
    for name, value in expected.items():
        assert STATISTICS[name](table(items)) == pytest.approx(float(value)), name
        weighed = agreement(name, table([*items, *items]), [str(n) for n in range(2 * len(items))])
        assert weighed.value == pytest.approx(
            float(value if name != "alpha" else krippendorff([*items, *items], names))
        )


def test_cohens_kappa_is_congers_of_two_raters_where_both_rated() -> None:
    items = rated(6, 30, 2, missing=0.2)
    both = [item for item in items if None not in item]
    assert STATISTICS["kappa"](table(items)) == pytest.approx(float(conger(both, names)))
    with pytest.raises(ValueError, match="two raters"):
        STATISTICS["kappa"](table(RATED["three raters"]))


def test_kappa_agrees_with_nltk() -> None:
    from nltk.metrics.agreement import AnnotationTask

    items = RATED["two raters"]
    told = AnnotationTask(
        [(rater, n, rating) for n, item in enumerate(items) for rater, rating in enumerate(item)]
    )
    assert STATISTICS["kappa"](table(items)) == pytest.approx(told.kappa())
    assert STATISTICS["alpha"](table(items)) == pytest.approx(told.alpha())


@pytest.mark.parametrize("name", [name for name in COEFFICIENTS if name != "raw"])
def test_what_cannot_be_estimated_is_none(name: str) -> None:
    assert reliability_value(name, table([[1, None], [None, 2]]), CATEGORIES) is None
    if not name.startswith("ac"):  # Gwet's chance is 0 there
        assert reliability_value(name, table([[1, 1], [1, 1]]), CATEGORIES) is None
    else:
        assert reliability_value(name, table([[1, 1], [1, 1]]), CATEGORIES) == 1.0


def test_intervals_of_agreement_stay_within_what_it_can_be() -> None:
    """Twelve patients of whom one differs: the jackknife's interval leaves the scale."""
    items = [[1, 1]] * 11 + [[1, 0]]
    patients = [f"p{number}" for number in range(12)]
    low, high = agreement("percent", table(items), patients).ci95
    # Jackknife: one value 1, eleven values 10/11; t of 11 degrees of freedom.
    from scipy import stats

    spread = 11 / 12 * sum((v - (1 + 10) / 12) ** 2 for v in [1.0] + [10 / 11] * 11)
    assert low == pytest.approx(11 / 12 - stats.t.isf(0.025, 11) * spread**0.5)
    assert high == 1.0
    reversed_ = agreement("percent", table([[1, 0]] * 11 + [[1, 1]]), patients)
    assert reversed_.ci95[0] == 0.0
    assert reversed_.ci95[1] == pytest.approx(1 - low)


def test_readers_who_never_agree() -> None:
    """Twelve patients, yes and no in turn: κ and Fleiss' κ are −1, and by 97.5 % at most a share u of
    patients would agree, (1 − u)^12 = 2.5 %, over the chance of a half; an item that one reader alone
    rated says nothing."""
    items = [[0, 1], [1, 0]] * 6
    names, u = [f"p{number:02d}" for number in range(14)], 1 - 0.025 ** (1 / 12)
    expected = (-1.0, pytest.approx(1 - (1 - u) / 0.5))
    assert agreement("kappa", table(items), names[:12]).ci95 == expected
    ratings = rating_table(table([*items, [0, None], [None, 1]]), names)
    assert reliability("fleiss", ratings, (0, 1)).ci95 == expected
    assert reliability("raw", ratings, (0, 1)).ci95 == (0.0, pytest.approx(u))


def test_less_agreement_than_by_chance_has_an_interval() -> None:
    items = [[0, 1], [1, 0], [0, 1], [1, 1], [1, 0], [0, 1]] * 3
    estimate = agreement("kappa", table(items), [str(number) for number in range(18)])
    assert estimate.value < -0.5
    low, high = estimate.ci95
    assert -1.0 <= low < estimate.value < high < 0


def test_spearman_is_that_of_scipy() -> None:
    from scipy import stats

    generator = np.random.default_rng(8)
    a = generator.integers(0, 6, 40)
    b = a + generator.integers(0, 9, 40)
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
    assert spearman([1, 2], [5, 3]) == -1.0
    assert spearman([1], [5]) is None
    assert spearman([2, 2], [5, 3]) is None
