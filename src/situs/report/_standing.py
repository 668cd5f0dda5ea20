"""Who stands where: groups that cannot be told apart, rank intervals, and how much of a score is sight."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TypeVar

import msgspec

from situs.items import Item
from situs.report._scored import ScoredRun
from situs.score import Comparison, Contestant, Estimate, cluster_of, compare, paired_difference

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


def standings_of(runs: Sequence[ScoredRun], items: Sequence[Item], seed: int) -> Standings:
    """Ranks over the models that compete, and sight gain wherever a text-only run of the same model is given.

    Ranks are by what the leaderboard is sorted by: primary accuracy in the headline, if there is one.
    """
    headline = {item.item_id for item in items if item.stratum == "headline"}
    clusters = {item.item_id: cluster_of(item) for item in items}
    ranked = [run for run in runs if run.ranked and _values(run)]
    everywhere = all(not headline.isdisjoint(_values(run)) for run in ranked)
    ranked_on = headline if headline and everywhere else set(clusters)
    gains = {run.name: gain for run in runs if run.kind == "model" and (gain := _gain(run, runs, clusters, seed))}
    if len(ranked) < 2:
        return Standings({run.name: Place(1, None, "") for run in ranked}, gains, None, [])
    comparison = compare(
        [Contestant(run.name, _only(_values(run), ranked_on), _only(_parsed(run), ranked_on)) for run in ranked],
        clusters,
        seed=seed,
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


def _values(run: ScoredRun) -> dict[str, float]:
    return {key: float(bool(o.right)) for key, o in run.scores.outcomes.items() if o.right is not None}


def _gain(run: ScoredRun, runs: Sequence[ScoredRun], clusters: Mapping[str, str], seed: int) -> Gain | None:
    """Paired by patient on the items both answered; None without a text-only run of the same model and words."""
    for other in runs:
        same = other.info.client == run.info.client and other.info.profile_hash == run.info.profile_hash
        if other.kind != "text" or not same:
            continue
        a, b = _values(run), _values(other)
        shared = sorted(a.keys() & b.keys())
        if not shared:
            continue
        estimate: Estimate = paired_difference(
            [a[k] for k in shared], [b[k] for k in shared], [clusters[k] for k in shared], seed=seed, resample=False
        )
        if estimate.value is None:
            continue
        low, high = (100.0 * v for v in estimate.ci95) if estimate.ci95 else (None, None)
        return Gain(100.0 * estimate.value, low, high, len(shared), other.name)
    return None
