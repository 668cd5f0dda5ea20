"""Who stands where: groups that cannot be told apart, rank intervals, and how much of a score is sight."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from situs.items import Item
from situs.report._scored import ScoredRun
from situs.score import (
    HEADLINE,
    Comparison,
    Contestant,
    Estimate,
    Selection,
    cluster_of,
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
    def text(self) -> str:
        """As it is read out."""
        bounds = "" if self.low is None or self.high is None else f" ({self.low:+.1f} to {self.high:+.1f})"
        return f"{self.value:+.1f}{bounds}".replace("-", "−")


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
    runs: Sequence[ScoredRun], items: Sequence[Item], strata: Iterable[str], stratum: str = HEADLINE
) -> Standings:
    """Ranks over the models that compete, and sight gain wherever a text-only run of the same model is given.

    Both are about what the leaderboard is sorted by: the headline. `strata` are those of the bench.
    """
    clusters = {item.item_id: cluster_of(item) for item in items}
    selection = select((row for run in runs for row in run.scored.values()), stratum, strata)
    values = {run.name: _values(run, selection) for run in runs}
    ranked = [run for run in runs if run.ranked and values[run.name]]
    gains = {run.name: gain for run in runs if run.kind == "model" and (gain := _gain(run, runs, clusters, values))}
    if len(ranked) < 2:
        return Standings({run.name: Place(1, None, "") for run in ranked}, gains, None, [])
    comparison = compare(
        [Contestant(run.name, values[run.name], _only(_parsed(run), values[run.name])) for run in ranked],
        clusters,
    )
    letters: dict[str, str] = {run.name: "" for run in ranked}
    for letter, group in zip(_LETTERS, comparison.tied_groups):
        for name in group:
            letters[name] += letter
    places = {s.name: Place(s.rank, s.rank95, letters.get(s.name, "")) for s in comparison.standings}
    reach = None if comparison.detectable is None else 100.0 * comparison.detectable
    return Standings(places, gains, reach, comparison.warnings, comparison)


def shortcut_gain(run: ScoredRun) -> Gain | None:
    """A run minus the best blind row that learns from other patients, on the same items."""
    found = run.scores.over_best_shortcut
    if found is None or found.value is None:
        return None
    low, high = (100.0 * v for v in found.ci95) if found.ci95 else (None, None)
    return Gain(100.0 * found.value, low, high, found.n, found.best)


def _only(values: Mapping[str, V], keys: Container[str]) -> dict[str, V]:
    return {key: value for key, value in values.items() if key in keys}


def _parsed(run: ScoredRun) -> dict[str, str]:
    return {key: outcome.parsed for key, outcome in run.scores.outcomes.items()}


def _values(run: ScoredRun, selection: Selection) -> dict[str, float]:
    return {row.outcome.item_id: float(bool(row.outcome.right)) for row in selection.rows(run.scored.values())}


def _gain(
    run: ScoredRun, runs: Sequence[ScoredRun], clusters: Mapping[str, str], values: Mapping[str, Mapping[str, float]]
) -> Gain | None:
    """Paired by patient on the items both answered; None without a text-only run of the same model and words."""
    for other in runs:
        same = other.info.client == run.info.client and other.info.profile_hash == run.info.profile_hash
        if other.kind != "text" or not same:
            continue
        a, b = values[run.name], values[other.name]
        shared = sorted(a.keys() & b.keys())
        if not shared:
            continue
        estimate: Estimate = paired_difference(
            [a[k] for k in shared], [b[k] for k in shared], [clusters[k] for k in shared]
        )
        if estimate.value is None:
            continue
        low, high = (100.0 * v for v in estimate.ci95) if estimate.ci95 else (None, None)
        return Gain(100.0 * estimate.value, low, high, len(shared), other.name)
    return None
