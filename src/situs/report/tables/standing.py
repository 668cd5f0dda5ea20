"""Who stands where: groups that cannot be told apart,
rank intervals, and how much of a score is sight."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec
import numpy as np

from situs.report.covered import CoveredItem
from situs.report.scored import ReportedRun
from situs.score import (
    HEADLINE,
    Comparison,
    Contestant,
    Estimate,
    Selection,
    compare,
    paired_difference,
    select,
)

__all__ = ["Gain", "Place", "Standings", "shortcut_gain", "standings_of"]

V = TypeVar("V")

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Gain(msgspec.Struct, frozen=True):
    """A model minus its own text-only run, or minus the best blind row, in percentage points."""

    value: float
    low: float | None
    high: float | None
    n: int
    against: str

    @property
    def points(self) -> str:
        """The gain alone."""
        return f"{self.value:+.1f}".replace("-", "−")

    @property
    def bounds(self) -> str:
        """Its interval; nothing where there is none."""
        if self.low is None or self.high is None:
            return ""
        return f"{self.low:+.1f} to {self.high:+.1f}".replace("-", "−")

    @property
    def text(self) -> str:
        """As it is read out."""
        return f"{self.points} ({self.bounds})" if self.bounds else self.points


class Place(msgspec.Struct, frozen=True):
    """Where a ranked run stands."""

    rank: int
    rank95: tuple[int, int] | None
    groups: str
    """A letter per group of runs it cannot be told apart from."""


class Standings(msgspec.Struct, frozen=True):
    """All of it, by run name."""

    places: dict[str, Place]
    gains: dict[str, Gain]
    detectable: float | None
    """The smallest difference, in points, that this bench would show in four of five repeats."""
    warnings: list[str]
    comparison: Comparison | None = None


def standings_of(
    runs: Sequence[ReportedRun],
    items: Sequence[CoveredItem],
    strata: Iterable[str],
    stratum: str = HEADLINE,
) -> Standings:
    """Ranks over the models that compete, and sight gain wherever a text-only run of the same model
    is given.

    Both are about what the leaderboard is sorted by: the headline. `strata` are those of the bench.
    """
    clusters = {item.item_id: item.cluster for item in items}
    selection = select([run.columns for run in runs], stratum, strata)
    values = {run.name: _values(run, selection) for run in runs}
    ranked = [run for run in runs if run.ranked and values[run.name]]
    gains = {
        run.name: gain
        for run in runs
        if run.kind == "model" and (gain := _gain(run, runs, clusters, values))
    }
    if len(ranked) < 2:
        return Standings({run.name: Place(1, None, "") for run in ranked}, gains, None, [])
    comparison = compare(
        [
            Contestant(run.name, values[run.name], _only(_parsed(run), values[run.name]))
            for run in ranked
        ],
        clusters,
    )
    letters: dict[str, str] = {run.name: "" for run in ranked}
    for letter, group in zip(_LETTERS, comparison.tied_groups):
        for name in group:
            letters[name] += letter
    places = {
        s.name: Place(s.rank, s.rank95, letters.get(s.name, "")) for s in comparison.standings
    }
    reach = None if comparison.detectable is None else 100.0 * comparison.detectable
    return Standings(places, gains, reach, comparison.warnings, comparison)


def shortcut_gain(run: ReportedRun) -> Gain | None:
    """A run minus the best blind row that learns from other patients, on the same items."""
    margin = run.scores.over_best_shortcut
    if margin is None or margin.value is None:
        return None
    low, high = (100.0 * v for v in margin.ci95) if margin.ci95 else (None, None)
    return Gain(100.0 * margin.value, low, high, margin.n, margin.best)


def _only(values: Mapping[str, V], keys: Container[str]) -> dict[str, V]:
    return {key: value for key, value in values.items() if key in keys}


def _parsed(run: ReportedRun) -> dict[str, str]:
    return dict(zip(run.columns.item_ids, run.columns.table["parsed"].to_pylist()))


def _values(run: ReportedRun, selection: Selection) -> dict[str, float]:
    columns = run.columns
    rows = np.flatnonzero(selection.mask(columns))
    return {columns.item_ids[row]: float(columns.right[row]) for row in rows}


def _gain(
    run: ReportedRun,
    runs: Sequence[ReportedRun],
    clusters: Mapping[str, str],
    values: Mapping[str, Mapping[str, float]],
) -> Gain | None:
    """Paired by patient on the items both answered; None without a text-only run of the same model
    and words.

    Of two such runs (told that there is no picture, and silently without) the better one counts,
    with the lower of both lower limits: which one is better is not known for sure.
    """
    gains = [
        gain
        for other in runs
        if _is_without_pictures(other, run)
        and (gain := _gain_over(values[run.name], values[other.name], clusters, other.name))
        is not None
    ]
    if not gains:
        return None
    least = min(gains, key=lambda gain: gain.value)
    lows = [gain.low for gain in gains if gain.low is not None]
    return msgspec.structs.replace(least, low=min(lows) if least.low is not None else None)


def _is_without_pictures(other: ReportedRun, run: ReportedRun) -> bool:
    same = other.info.client == run.info.client and other.info.profile_hash == run.info.profile_hash
    return other.kind == "text" and same


def _gain_over(
    scores: Mapping[str, float], blind: Mapping[str, float], clusters: Mapping[str, str], name: str
) -> Gain | None:
    shared = sorted(scores.keys() & blind.keys())
    if not shared:
        return None
    patients = [clusters[k] for k in shared]
    estimate: Estimate = paired_difference(
        [scores[k] for k in shared], [blind[k] for k in shared], patients
    )
    if estimate.value is None:
        return None
    low, high = (100.0 * v for v in estimate.ci95) if estimate.ci95 else (None, None)
    return Gain(100.0 * estimate.value, low, high, len(shared), name)
