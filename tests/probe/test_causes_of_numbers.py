"""Parts of the error budget worked out by hand: windows of numbers, tails, neighbours, held facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from situs.facts import Fact, Measured
from situs.items import Number
from situs.score.explain import Cause, budget_of
from situs.score.explain.closed import _touching
from situs.score.explain.numbers import _joined, _moved, chance_in, holds, windows_of
from situs.score.explain.steps import _held
from situs.score.explain.tails import upper_tail
from situs.score.scored_run import open_replies, read_run


def fact(kind: str, value: float, interval: tuple[float, float] | None, unit: str = "mm") -> Fact:
    return Fact(
        "f1", "s1", "ct", kind, ("liver", "stomach"), value, unit, interval, Measured("", {}, ())
    )


def test_the_budget_does_not_hang_on_how_many_answers_are_looked_at_together(
    bench: Path, tmp_path: Path, situs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert situs("run", bench, "--model", "random", "--out", tmp_path / "run").code == 0
    run = read_run(open_replies(tmp_path / "run", bench))
    whole = budget_of(run)
    assert whole.wrong > 20
    for module in ("answers", "gathering"):
        monkeypatch.setattr(f"situs.score.explain.{module}._BATCH", 7)
    assert budget_of(run) == whole


def test_a_window_holds_its_ends_and_nothing_below_zero() -> None:
    window = [(0.0, 1.0)]
    assert [holds(window, said) for said in (0.99, 1.0, 5.0, 10.0, 10.1)] == [
        False, True, True, True, False,
    ]  # fmt: skip
    assert not holds([(-math.inf, 1.0)], 0.0)
    assert not holds(window, -5.0)
    assert holds([(0.0, 1.0), (2.0, 3.0)], 500.0)
    # What rounding takes is forgiven: a billionth of a power of ten, and no more.
    assert holds(window, 10 ** (1.0 + 0.9e-9))
    assert not holds(window, 10 ** (1.0 + 1.2e-9))
    assert holds(window, 10**-0.9e-9)
    assert not holds(window, 10**-1.2e-9)


def test_stretches_that_meet_are_one() -> None:
    assert _joined([(2.0, 3.0), (0.0, 1.0), (2.5, 4.0), (4.0, 5.0), (6.0, 7.0)]) == [
        (0.0, 1.0), (2.0, 5.0), (6.0, 7.0),
    ]  # fmt: skip
    assert _joined([(0.0, 9.0), (1.0, 2.0)]) == [(0.0, 9.0)]


def test_a_factor_moves_both_ends_the_same_way() -> None:
    assert _moved((0.5, 1.5), 100.0) == (2.5, 3.5)
    assert _moved((0.5, 1.5), 0.1) == (-0.5, 0.5)


@pytest.mark.parametrize("count", [10, 4000])
def test_the_tail_of_what_is_certain(count: int) -> None:
    """Of tries that always succeed all are seen, of those that never do none is."""
    assert upper_tail(np.ones(count), count) == 1.0
    assert upper_tail(np.ones(count), count + 1) == 0.0
    assert upper_tail(np.zeros(count), 0) == 1.0
    assert upper_tail(np.zeros(count), 1) == 0.0


@pytest.mark.parametrize(
    ("kind", "interval", "near"),
    [
        ("main_gap", (0.0, 3.0), True),
        ("surface_gap", (-1.0, 2.0), True),
        ("surface_gap", (0.1, 2.0), False),
        ("surface_gap", None, False),
        ("centre_distance", (0.0, 3.0), False),
    ],
)
def test_structures_touch_where_no_gap_is_proved(
    kind: str, interval: tuple[float, float] | None, near: bool
) -> None:
    known = [fact(kind, 1.0, interval)]
    assert _touching("liver", known) == ({"stomach"} if near else set())
    assert _touching("spleen", known) == set()


def test_a_stated_length_is_held_within_its_interval_and_half_a_millimetre() -> None:
    gap = fact("surface_gap", 20.0, (19.0, 22.0))
    stated = [18.4, 18.5, 22.5, 22.6]
    assert [_held(gap, value, "length") for value in stated] == [False, True, True, False]
    assert _held(gap, 20.0, "volume") is None


def test_a_fact_without_an_interval_is_held_within_a_tenth() -> None:
    gap = fact("surface_gap", 20.0, None)
    stated = [17.4, 17.5, 22.5, 22.6]
    assert [_held(gap, value, "length") for value in stated] == [False, True, True, False]


GRID = np.arange(-3000, 8000) / 1000.0 + 0.00025
"""Powers of ten, a thousandth apart."""


def _inside(windows: list[tuple[float, float]]) -> np.ndarray:
    return np.any([(low <= GRID) & (high >= GRID) for low, high in windows] or [GRID > 9], axis=0)


def test_windows_and_their_chance_on_a_grid() -> None:
    """Slips of 10 and 1/10, voxels of 2 mm and a prior of 70 mm, each as a set of powers of ten; chance
    is the density of wrong numbers beside the windows or across the truth, whichever is denser."""
    truth = Number(50.0, "mm", (40.0, 60.0))
    windows = windows_of(truth, [2.0], [], 70.0)
    own = _inside([(math.log10(40), math.log10(60))])
    expected = {
        Cause.UNIT_SLIP: [(400, 600), (4, 6)],
        Cause.VOXEL_AS_MM: [(20, 30)],
        Cause.PRIOR: [(66.5, 73.5)],
    }
    rng = np.random.default_rng(3)
    said = 10 ** rng.uniform(0.2, 3.4, 60)
    for cause, stretches in expected.items():
        logs = [(math.log10(low), math.log10(high)) for low, high in stretches]
        there = _inside(logs) & ~own
        assert _inside(windows[cause]).sum() == pytest.approx(there.sum(), abs=3)
        beside = _inside([(low - 0.5, high + 0.5) for low, high in logs]) & ~there & ~own
        twice = math.log10(40) + math.log10(60)
        opposite = _inside([(twice - high, twice - low) for low, high in logs]) & ~there & ~own
        places = np.searchsorted(GRID, np.log10(said))
        density = max(
            (0.5 + around[places].sum()) / (len(said) * around.sum() / 1000)
            for around in (beside, opposite)
            if around.any()  # two slips that are each other's mirror image have nothing there
        )
        chances = chance_in([(truth, windows[cause], one) for one in said])
        assert chances == pytest.approx([min(1.0, density * there.sum() / 1000)] * 60, rel=0.03)
