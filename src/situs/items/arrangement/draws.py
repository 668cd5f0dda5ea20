"""Answers drawn with equal chances, so that nobody else's answer tells this one's.

The patients who could be asked one text are a *pool*: for each offered answer those who have it, no
patient twice. How many of them are asked, N, follows from the sizes of the pool alone. N answers
are drawn from the m options, each with the chance 1/m and independently, and the draw is repeated
if some answer is drawn oftener than the pool has patients for it. Then patients are drawn for the
answers.

What the answers of others tell. Let d be the chance that a draw does not fit. Given all other
answers, an answer is still uniform over the options that these have not used up, and only a solver
who knows the sizes of the pool can tell that one is. If s options are used up, the solver is right
with the chance 1 / (m − s) instead of 1 / m, and

    P(others use up s, draw fits) ≤ (m − s) / s · d

(a draw that others fill does not fit in s of m cases).

The product of both, (m − s) / s · d · s / (m (m − s)), is d / m. So whoever learns the answers of
other patients, of any or of all, and even knows the pool, is right at most d / (m (1 − d)) oftener
than chance. `bound` keeps d small.

Exact balance would not do: of n patients the answers of n − 1 then give the last one away.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["drawn_answers", "most_draws", "share_that_fits"]


def share_that_fits(draws: int, sizes: Sequence[int]) -> float:
    """The chance that so many uniform draws use no answer oftener than the pool has patients for
    it.

    Counts of a multinomial are independent Poisson counts, given their sum.
    """
    if draws > sum(sizes):
        return 0.0
    rate = draws / len(sizes)
    total = np.ones(1)
    for size in sizes:
        total = np.convolve(total, _poisson(rate, min(size, draws)))
    return float(min(1.0, total[draws] / _poisson(float(draws), draws)[draws]))


def _poisson(rate: float, most: int) -> NDArray[np.float64]:
    """The chances of 0 to `most` events; in logarithms, since k! overflows."""
    counts = np.arange(most + 1)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    chances: NDArray[np.float64] = (counts == 0).astype(np.float64)
    if rate > 0:
        chances = np.exp(counts * math.log(rate) - rate - factorials)
    return chances


def most_draws(sizes: Sequence[int], bound: float) -> int:
    """How many answers to draw from a pool of these sizes:
    the draw fails to fit with a chance of at most `bound`."""
    return _most_draws(tuple(sorted(sizes)), bound)


@lru_cache(maxsize=65536)
def _most_draws(sizes: tuple[int, ...], bound: float) -> int:
    # As many as the rarest answer has patients always fit; the chance falls with every draw more.
    fits, fails = sizes[0], sum(sizes) + 1
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if share_that_fits(middle, sizes) >= 1.0 - bound:
            fits = middle
        else:
            fails = middle
    return fits


def drawn_answers(draws: int, sizes: Sequence[int], rng: np.random.Generator) -> list[int]:
    """So many answers, as places in `sizes`: uniform and independent, given that they fit."""
    while True:
        answers = rng.integers(len(sizes), size=draws)
        if np.all(np.bincount(answers, minlength=len(sizes)) <= np.asarray(sizes)):
            return [int(answer) for answer in answers]
