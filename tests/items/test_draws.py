"""Answers are drawn: how many, with what chances, and what the others tell."""

from __future__ import annotations

import itertools
from collections import Counter
from math import comb

import numpy as np
import pytest

from situs.items.arrangement.draws import drawn_answers, most_draws, share_that_fits
from situs.items.arrangement.engine import grouped


@pytest.mark.parametrize("sizes", [(3, 3), (2, 4), (1, 1, 1), (2, 2, 3), (2, 2, 2, 2)])
def test_the_chance_to_fit_is_that_of_all_sequences(sizes: tuple[int, ...]) -> None:
    """Every sequence of up to six draws, one by one."""
    options = range(len(sizes))
    for draws in range(7):
        sequences = list(itertools.product(options, repeat=draws))
        fitting = sum(
            all(own.count(place) <= sizes[place] for place in options) for own in sequences
        )
        assert share_that_fits(draws, sizes) == pytest.approx(fitting / len(sequences))


@pytest.mark.parametrize("size", [1, 5, 8, 40, 200])
def test_as_many_are_drawn_as_the_bound_allows(size: int) -> None:
    """Of two answers: P(one of them more than k times) is twice the binomial's tail."""

    def fails(draws: int) -> float:
        return 2 * sum(comb(draws, k) for k in range(size + 1, draws + 1)) / 2**draws

    draws = most_draws([size, size], 0.02)
    assert fails(draws) <= 0.02 < fails(draws + 1)


@pytest.mark.parametrize(("size", "options"), [(3, 2), (4, 2), (2, 3), (2, 4)])
@pytest.mark.parametrize("bound", [0.02, 0.2])
def test_whoever_knows_all_others_gains_no_more_than_stated(
    size: int, options: int, bound: float
) -> None:
    """By all sequences that fit: the best answer,
    given the others and the pool, against d / (m (1 − d))."""
    draws = most_draws([size] * options, bound)
    every = itertools.product(range(options), repeat=draws)
    fitting = [own for own in every if all(own.count(place) <= size for place in range(options))]
    given: dict[tuple[int, ...], Counter[int]] = {}
    for own in fitting:
        given.setdefault(own[1:], Counter())[own[0]] += 1
    right = sum(max(answers.values()) for answers in given.values()) / len(fitting)
    lost = 1.0 - share_that_fits(draws, [size] * options)
    assert right - 1.0 / options <= lost / (options * (1.0 - lost)) + 1e-12


def test_draws_are_uniform_and_fit() -> None:
    rng = np.random.default_rng(0)
    found: Counter[int] = Counter()
    for _ in range(400):
        answers = drawn_answers(7, [6, 6], rng)
        assert max(Counter(answers).values()) <= 6
        found.update(answers)
    # 2,800 draws of a half: 3.29 standard errors are 87.
    assert abs(found[0] - 1400) < 87


def test_groups_are_even() -> None:
    assert [len(group) for group in grouped(range(11), 4)] == [5, 6]
    assert [len(group) for group in grouped(range(3), 4)] == [3]
