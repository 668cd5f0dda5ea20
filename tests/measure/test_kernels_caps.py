"""Which ways steps between two groups of points can go: the candidates a cap leaves."""

from __future__ import annotations

import numpy as np
import pytest

from situs.measure.kernels.caps import _between
from situs.measure.kernels.steps import ALL, DOWN, UP


def flat(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points as the kernel has them (four numbers each, the last their sides), and where each is.

    One of another group lies before them and one behind."""
    rows = np.full((len(points) + 2, 4), 99, dtype=np.int32)
    rows[0, :3], rows[-1, :3] = -50, 50
    rows[1:-1, :3] = points
    return rows.ravel(), 4 * np.arange(1, len(points) + 1)


@pytest.mark.parametrize("seed", range(40))
def test_ways_are_those_of_all_steps(seed):
    """A way along an axis is forced where every step goes it; else all stay open."""
    rng = np.random.default_rng(seed)
    shift = rng.integers(-4, 5, size=3)
    first = rng.integers(-2, 3, size=(rng.integers(1, 4), 3))
    second = rng.integers(-2, 3, size=(rng.integers(1, 4), 3)) + shift
    steps = (second[None] - first[:, None]).reshape(-1, 3)
    expected = ALL
    for axis in range(3):
        if (steps[:, axis] > 0).all():
            expected &= UP[axis]
        elif (steps[:, axis] < 0).all():
            expected &= DOWN[axis]
    (a, a_at), (b, b_at) = flat(first), flat(second)
    assert _between(a, a_at, len(first), b, b_at, len(second)) == expected
