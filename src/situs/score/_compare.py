"""Which of several runs is better: paired on shared items, clustered by patient, corrected for many looks."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.score._sources import OverSources, over_sources
from situs.score._statistics import TOO_FEW_CLUSTERS, paired_difference
from situs.score._statistics_resample import ClusterSums

__all__ = [
    "CHANCE_ADJUSTED",
    "Comparison",
    "Contestant",
    "Pair",
    "SightGain",
    "Standing",
    "Suspect",
    "average_seeds",
    "compare",
    "holm",
    "sight_gain",
    "sign_flip_p",
    "tied_groups",
]

LEVEL = 0.05
CHANCE_ADJUSTED = "accuracy.chance-adjusted"
_POWER_Z = 0.8416212335729143
"""The 80 % quantile of the normal distribution: the power at which a difference counts as detectable."""
_EXACT_CLUSTERS = 14
"""Up to so many differing patients all sign patterns are tried."""
_FLIPS = 9999
_RANK_DRAWS = 2000


class Contestant(msgspec.Struct, frozen=True):
    """One run as a comparison sees it."""

    name: str
    values: dict[str, float]
    """Item → its value (1 right, 0 not); items not answerable under the run's profile are absent."""
    said: dict[str, str] = {}
    """Item → what was read from the answer."""
    ranked: bool = True
    """False for an incomplete run: it is compared, but has no rank."""
    baseline: bool = False
    """Whether it answers without a model; such runs say nothing about the keys."""


class SightGain(msgspec.Struct, frozen=True):
    """A model minus its own run without pictures, on the items of both."""

    name: str
    blind: str
    gain: Pair
    credited: Pair | None = None
    """The same, where the blind run gets a guess's chance for every answer it refused or left unclear."""


class Pair(msgspec.Struct, frozen=True):
    """Two runs on the items both answered."""

    a: str
    b: str
    metric: str
    difference: float | None
    """a − b."""
    ci95: tuple[float, float] | None
    p: float | None
    p_holm: float | None
    n: int
    clusters: int
    detectable: float | None
    """The smallest true difference that this pair would show in four of five such benches."""
    note: str = ""


class Standing(msgspec.Struct, frozen=True):
    """A run's place among the ranked ones, on the items all of them share."""

    name: str
    value: float
    rank: int
    rank95: tuple[int, int] | None


class Suspect(msgspec.Struct, frozen=True):
    """An item whose key most runs contradict in the same way."""

    item_id: str
    said: str
    runs: int
    of: int


class Comparison(msgspec.Struct, frozen=True):
    """Everything `situs compare` says."""

    pairs: list[Pair]
    tied_groups: list[list[str]]
    """Runs that cannot be told apart, best first; a run may stand in two groups that overlap."""
    detectable: float | None
    """The smallest difference that every pair here would show in four of five such benches."""
    standings: list[Standing]
    nobody: list[str]
    """Items no model gets (baselines do not count)."""
    everybody: list[str]
    suspects: list[Suspect]
    warnings: list[str]
    sight: list[SightGain] = []
    """Models beside their own runs without pictures, where these were given."""
    sources: dict[str, OverSources] = {}
    """Run → its mean over sources of data and without each, on the shared items; empty with one source."""


def compare(
    runs: Sequence[Contestant],
    clusters: Mapping[str, str],
    *,
    metric: str = "accuracy",
    seed: int = 0,
    sources: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare every pair of runs; `clusters` says which patient an item belongs to, `sources` which set of data."""
    if len(runs) < 2:
        raise SitusError("nothing to compare", fix="give two or more runs of one bench")
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        raise SitusError("two runs have the same name", fix="give each run once")
    pairs = [_pair(a, b, clusters, metric, seed) for a, b in itertools.combinations(runs, 2)]
    corrected = holm([pair.p for pair in pairs])
    pairs = [msgspec.structs.replace(pair, p_holm=p) for pair, p in zip(pairs, corrected)]
    ranked = [run for run in runs if run.ranked]
    shared = sorted(set.intersection(*(set(run.values) for run in ranked))) if ranked else []
    standings = _standings(ranked, shared, clusters, seed)
    models = [run for run in ranked if not run.baseline]
    over = _over_sources(ranked, shared, clusters, sources or {}, seed)
    reach = [pair.detectable for pair in pairs if pair.detectable is not None]
    return Comparison(
        pairs=pairs,
        tied_groups=tied_groups([s.name for s in standings], pairs),
        detectable=max(reach) if len(reach) == len(pairs) else None,
        standings=standings,
        nobody=[item for item in shared if models and all(run.values[item] == 0 for run in models)],
        everybody=[item for item in shared if models and all(run.values[item] == 1 for run in models)],
        suspects=_suspects(models, shared),
        warnings=_warnings(runs, pairs) + _hangs_on_one(over),
        sources=over,
    )


def average_seeds(name: str, runs: Sequence[Contestant]) -> Contestant:
    """Runs of one model that differ in their seed only, as one: each item's value is its mean over the seeds."""
    shared = set.intersection(*(set(run.values) for run in runs))
    values = {item: float(np.mean([run.values[item] for run in runs])) for item in sorted(shared)}
    alike = {item: {run.said.get(item, "") for run in runs} for item in shared}
    return Contestant(
        name,
        values,
        {item: words.pop() for item, words in sorted(alike.items()) if len(words) == 1 and "" not in words},
        ranked=all(run.ranked for run in runs),
        baseline=all(run.baseline for run in runs),
    )


def sight_gain(
    model: Contestant,
    blind: Contestant,
    clusters: Mapping[str, str],
    *,
    chances: Mapping[str, float] | None = None,
    metric: str = "accuracy",
    seed: int = 0,
) -> SightGain:
    """How much better a model is with pictures than without, paired on shared items, over patients.

    `chances` are those of a guess, for the items that the blind run refused or left unclear. The interval is the
    cluster-robust t, as in `situs probe`.
    """
    gain = _pair(model, blind, clusters, metric, seed, resample=False)
    credited = None
    if chances:
        values = {item: max(value, chances.get(item, 0.0)) for item, value in blind.values.items()}
        credited = _pair(model, msgspec.structs.replace(blind, values=values), clusters, metric, seed, resample=False)
    return SightGain(model.name, blind.name, gain, credited)


def _over_sources(
    runs: Sequence[Contestant],
    items: Sequence[str],
    clusters: Mapping[str, str],
    sources: Mapping[str, str],
    seed: int,
) -> dict[str, OverSources]:
    patients, of = [clusters[item] for item in items], [sources.get(item, "") for item in items]
    found = {run.name: over_sources([run.values[item] for item in items], patients, of, seed) for run in runs}
    return {name: result for name, result in found.items() if result is not None}


def _hangs_on_one(over: Mapping[str, OverSources]) -> list[str]:
    """Sources without which another run would come out best."""
    if len(over) < 2:
        return []

    def best(values: Mapping[str, float]) -> str:
        return max(sorted(values), key=lambda name: values[name])

    leader = best({name: result.macro or 0.0 for name, result in over.items()})
    result = []
    for place, source in enumerate(next(iter(over.values())).sources):
        without = best({name: one.sources[place].macro_without or 0.0 for name, one in over.items()})
        if without != leader:
            result.append(f"without {source.source}, {without} and not {leader} has the best mean over sources")
    return result


def _pair(
    a: Contestant, b: Contestant, clusters: Mapping[str, str], metric: str, seed: int, *, resample: bool = True
) -> Pair:
    items = sorted(a.values.keys() & b.values.keys())
    patients = [clusters[item] for item in items]
    first, second = [a.values[item] for item in items], [b.values[item] for item in items]
    # Differences of chance-adjusted accuracy reach 2 with two options.
    bounds = None if metric == CHANCE_ADJUSTED else (-1.0, 1.0)
    estimate = paired_difference(first, second, patients, seed=seed, bounds=bounds, resample=resample)
    if estimate.value is None or estimate.clusters < TOO_FEW_CLUSTERS:
        note = estimate.note or "the runs share no item"
        return Pair(a.name, b.name, metric, estimate.value, None, None, None, len(items), estimate.clusters, None, note)
    sums = ClusterSums.of(np.subtract(first, second), patients, None)
    return Pair(
        a=a.name,
        b=b.name,
        metric=metric,
        difference=estimate.value,
        ci95=estimate.ci95,
        p=sign_flip_p(sums.weighted, seed),
        p_holm=None,
        n=len(items),
        clusters=estimate.clusters,
        detectable=_detectable(sums),
        note=estimate.note,
    )


def sign_flip_p(cluster_sums: NDArray[np.float64], seed: int = 0) -> float:
    """The probability of a sum this far from 0 if, patient by patient, the two runs could as well be exchanged.

    A patient's items keep together, so it holds its level whatever they have in common. All sign patterns are tried
    where at most 14 patients differ, else 9,999 random ones (the observed one counts as one more).
    """
    held = cluster_sums[cluster_sums != 0]
    if not len(held):
        return 1.0
    bar = abs(float(held.sum())) - 1e-9 * float(np.abs(held).sum())
    if len(held) <= _EXACT_CLUSTERS:
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(held))))
        return float(np.mean(np.abs(signs @ held) >= bar))
    generator = np.random.default_rng(seed)
    extreme, left = 0, _FLIPS
    while left:
        batch = min(left, max(1, 4_000_000 // len(held)))
        signs = generator.integers(0, 2, size=(batch, len(held)), dtype=np.int8) * 2 - 1
        extreme += int(np.count_nonzero(np.abs(signs @ held) >= bar))
        left -= batch
    return (extreme + 1) / (_FLIPS + 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction over the values that exist."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    result: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for step, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - step) * p))
        result[place] = highest
    return result


def _detectable(sums: ClusterSums) -> float:
    """(t + z) standard errors: found with 80 % power by a two-sided test at 5 %."""
    from scipy.special import stdtrit

    return float((stdtrit(len(sums.weights) - 1, 1 - LEVEL / 2) + _POWER_Z) * sums.linearised_error())


def _standings(
    runs: Sequence[Contestant], items: Sequence[str], clusters: Mapping[str, str], seed: int
) -> list[Standing]:
    """Mean on the shared items, best first; the rank's interval from resampled patients, jointly for all runs."""
    if not items:
        return []
    values = np.array([[run.values[item] for item in items] for run in runs])
    names, place = np.unique([clusters[item] for item in items], return_inverse=True)
    sums = np.array([np.bincount(place, row, minlength=len(names)) for row in values])
    counts = np.bincount(place, minlength=len(names)).astype(np.float64)
    means = sums.sum(axis=1) / counts.sum()
    ranks = _ranks(means[None])[0]
    intervals: list[tuple[int, int] | None] = [None] * len(runs)
    if len(names) >= TOO_FEW_CLUSTERS:
        generator = np.random.default_rng(seed)
        drawn = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=_RANK_DRAWS)
        resampled = _ranks((drawn @ sums.T) / (drawn @ counts)[:, None])
        low = np.quantile(resampled, 0.025, axis=0, method="lower")
        high = np.quantile(resampled, 0.975, axis=0, method="higher")
        intervals = [(int(a), int(b)) for a, b in zip(low, high)]
    order = sorted(range(len(runs)), key=lambda i: (-means[i], runs[i].name))
    return [Standing(runs[i].name, float(means[i]), int(ranks[i]), intervals[i]) for i in order]


def _ranks(means: NDArray[np.float64]) -> NDArray[np.intp]:
    """1 for the best of each row; equals share the better place."""
    better = means[:, None, :] > means[:, :, None] + 1e-12
    ranks: NDArray[np.intp] = 1 + better.sum(axis=2)
    return ranks


def tied_groups(order: Sequence[str], pairs: Sequence[Pair]) -> list[list[str]]:
    """Longest stretches of the ranking within which no pair differs at 5 % after Holm."""
    apart = {frozenset((p.a, p.b)) for p in pairs if p.p_holm is not None and p.p_holm < LEVEL}
    groups: list[list[str]] = []
    for start in range(len(order)):
        stretch: list[str] = []
        for name in order[start:]:
            if any(frozenset((name, other)) in apart for other in stretch):
                break
            stretch.append(name)
        if not any(set(stretch) <= set(group) for group in groups):
            groups.append(stretch)
    return groups


def _suspects(runs: Sequence[Contestant], items: Sequence[str]) -> list[Suspect]:
    """Items that at least three runs, and two of three that were read, answer alike and against the key."""
    found = []
    for item in items:
        read = [run for run in runs if run.said.get(item)]
        wrong = Counter(run.said[item] for run in read if run.values[item] == 0)
        if not wrong:
            continue
        said, count = max(sorted(wrong.items()), key=lambda pair: pair[1])
        if count >= 3 and count * 3 >= len(read) * 2:
            found.append(Suspect(item, said, count, len(read)))
    return sorted(found, key=lambda suspect: (-suspect.runs / suspect.of, -suspect.runs, suspect.item_id))


def _warnings(runs: Sequence[Contestant], pairs: Sequence[Pair]) -> list[str]:
    result = []
    few = min(pair.clusters for pair in pairs)
    if few < TOO_FEW_CLUSTERS:
        result.append(f"only {few} patients are shared: no interval and no test (at least {TOO_FEW_CLUSTERS} needed)")
    left_out = [run.name for run in runs if not run.ranked]
    if left_out:
        result.append(f"not ranked, more than 1 % is missing: {', '.join(left_out)}")
    return result
