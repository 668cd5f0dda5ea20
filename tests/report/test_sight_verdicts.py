"""The first screen of a report: whether a probed reader looked, with what shows it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from situs.probe import Diagnosis, Finding
from situs.report.tables import verdicts
from situs.report.tables.standing import Gain, Standings

SHOWN = "better with the pictures than without: sight gain +0.14 (95 % +0.08 to +0.19)"


@pytest.mark.parametrize(
    ("kind", "ci95", "is_told"),
    [
        ("looks", (-0.1, 0.4), True),
        ("looks", None, True),
        ("looks", (0.1, 0.4), False),
        ("guesses", (-0.1, 0.4), False),
    ],
)
def test_a_gain_that_shows_nothing_stands_beside_what_does(
    monkeypatch: pytest.MonkeyPatch, kind: str, ci95: Any, is_told: bool
) -> None:
    """Sight is decided on all questions: those of the headline may be too few to show it."""
    gain = SimpleNamespace(
        model=0.7, text=0.5, silent=0.5, against="text", value=0.2, ci95=ci95, n=45, patients=14
    )
    findings = {"looks_at_the_image": Finding("yes", SHOWN, "")}
    diagnosis = Diagnosis(kind, "Looks at the image: yes.", "all questions of all strata", findings)
    probed = SimpleNamespace(sight_gain=gain, diagnosis=diagnosis)
    monkeypatch.setattr(verdicts, "probed_beside", lambda folder: probed)
    run: Any = SimpleNamespace(name="m", kind="model")
    (told,) = verdicts.verdicts_of([None], [run])  # type: ignore[list-item]
    assert told.decided_on == (
        f"Decided on all questions of all strata: {SHOWN}." if is_told else ""
    )


@pytest.mark.parametrize(("n", "shown"), [(45, 5.0), (44, 20.0)])
def test_the_leaderboard_shows_the_gain_of_the_verdict(
    monkeypatch: pytest.MonkeyPatch, n: int, shown: float
) -> None:
    """A report of a probed run and *one* of its runs without pictures showed two sight gains: the
    probe's, over the better of both, and one over the run that was given. A gain over other
    questions than the board's headline is no such gain."""
    probed = SimpleNamespace(
        sight_gain=SimpleNamespace(
            model=0.7, text=0.5, silent=0.65, against="silent", value=0.05, ci95=None, n=45
        )
    )
    monkeypatch.setattr(verdicts, "probed_beside", lambda folder: probed)
    headline = SimpleNamespace(value=0.7, n=n)
    run: Any = SimpleNamespace(name="m", kind="model", scores=SimpleNamespace(headline=headline))
    over_one = Gain(20.0, None, None, 45, "m (text only)")
    board = Standings({}, {"m": over_one}, None, [])
    told = verdicts.with_probed_gains(board, [None], [run])  # type: ignore[list-item]
    assert told.gains["m"].value == pytest.approx(shown)
