"""Parts of the error budget worked out by hand: windows of numbers, tails, neighbours, held facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from situs.facts import Fact, Measured
from situs.score.explain import budget_of
from situs.score.explain.closed import _touching
from situs.score.explain.numbers import _joined, _moved, holds
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
