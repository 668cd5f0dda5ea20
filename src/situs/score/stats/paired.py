"""Which of several runs is better:
paired on shared items, clustered by patient, corrected for many looks."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from situs.base.text import counted
from situs.errors import SitusError
from situs.score.stats.estimates import TOO_FEW_CLUSTERS, Difference, paired_difference
from situs.score.stats.sources import OverSources, over_sources
from situs.score.stats.sums import t_quantile

__all__ = [
    "CHANCE_ADJUSTED",
    "FEWEST_AGAINST",
    "Comparison",
    "Contestant",
    "Pair",
    "SightGain",
    "Standing",
    "Suspect",
    "against_better",
    "average_seeds",
    "compare",
    "holm",
    "sight_gain",
    "tied_groups",
]

LEVEL = 0.05
FEWEST_AGAINST = 3
"""So many runs that say the same against a key make it suspect."""
CHANCE_ADJUSTED = "accuracy.chance-adjusted"
_EQUAL = 1e-12
"""Means that differ by less share a rank."""
_POWER_Z = 0.8416212335729143
"""The 80 % quantile of the normal distribution:
the power at which a difference counts as detectable."""


class Contestant(msgspec.Struct, frozen=True):
    """One run as a comparison sees it."""

    name: str
    values: dict[str, float]
    """Item → its value (1 right, 0 not);
    items not answerable under the run's profile are absent."""
    said: dict[str, str] = {}
    """Item → what was read from the answer."""
    ranked: bool = True
    """False for an incomplete run: it is compared, but has no rank."""
    baseline: bool = False
    """Whether it answers without a model; such runs say nothing about the keys."""
    credited: dict[str, float] = {}
    """Item → its value, where what was refused or left unclear counts as a guess.

    Empty for metrics that know no guess.
    """


class SightGain(msgspec.Struct, frozen=True):
    """A model minus the better of its own runs without pictures, on the items of both.

    Which one is better is not known for sure: lower limit and p are the least favourable of those
    against each.
    """

    name: str
    blind: str
    """The better of the blind runs."""
    gain: Pair
    credited: Pair | None = None
    """The same, where both runs get a guess's chance for what they refused or left unclear.

    Whether a model looks is decided by this: who refuses without pictures gains nothing by it.
    """


class Pair(msgspec.Struct, frozen=True):
    """Two runs on the items both answered."""

    a: str
    b: str
    metric: str
    difference: float | None
    """a − b."""
    ci95: tuple[float, float] | None
    p: float | None
    """By the method of the interval: `ci95` holds 0 exactly if p is over .05."""
    p_holm: float | None
    n: int
    clusters: int
    detectable: float | None
    """The smallest true difference that this pair would show in four of five such benches."""
    note: str = ""
    ci_joint: tuple[float, float] | None = None
    """At the level at which Holm's correction tests this pair:
    it holds 0 exactly if the pair is not told apart."""


class Standing(msgspec.Struct, frozen=True):
    """A run's place among the ranked ones, on the items all of them share."""

    name: str
    value: float
    rank: int
    rank95: tuple[int, int] | None
    """From one more than the runs that are told to be better,
    to one for every run that is not told to be worse."""


class Suspect(msgspec.Struct, frozen=True):
    """An item whose key most runs contradict in the same way."""

    item_id: str
    said: str
    runs: int
    of: int


class Comparison(msgspec.Struct, frozen=True):
    """Everything `situs compare` says."""

    pairs: list[Pair] = []
    """None where a single model stands beside its own blind runs."""
    tied_groups: list[list[str]] = []
    """Runs that cannot be told apart, best first; a run may stand in two groups that overlap."""
    detectable: float | None = None
    """The smallest difference that every pair here would show in four of five such benches."""
    standings: list[Standing] = []
    nobody: list[str] = []
    """Items no model gets (baselines do not count)."""
    everybody: list[str] = []
    suspects: list[Suspect] = []
    warnings: list[str] = []
    sight: list[SightGain] = []
    """Models beside their own runs without pictures, where these were given."""
    items: str = ""
    """Which items were compared, in words."""
    sources: dict[str, OverSources] = {}
    """Run → its mean over sources of data and without each,
    on the shared items; empty with one source."""


def compare(
    runs: Sequence[Contestant],
    clusters: Mapping[str, str],
    *,
    metric: str = "accuracy",
    sources: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare every pair of runs; `clusters` says which patient an item belongs to, `sources` which
    set of data.

    Ranked runs are compared on the items all of them share, so that pairs, groups and ranks never
    contradict each other; a run without a rank on the items it shares with the other of a pair.
    """
    if len(runs) < 2:
        raise SitusError("nothing to compare", fix="give two or more runs of one bench")
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        raise SitusError("two runs have the same name", fix="give each run once")
    ranked = [run for run in runs if run.ranked]
    shared = sorted(set.intersection(*(set(run.values) for run in ranked))) if ranked else []
    tested = [
        _Tested(
            a,
            b,
            shared if a.ranked and b.ranked else sorted(a.values.keys() & b.values.keys()),
            clusters,
            metric,
        )
        for a, b in itertools.combinations(runs, 2)
    ]
    pairs = _corrected(tested)
    standings = _standings(ranked, shared, pairs)
    models = [run for run in ranked if not run.baseline]
    over = _over_sources(ranked, shared, clusters, sources or {})
    reach = [pair.detectable for pair in pairs if pair.detectable is not None]
    return Comparison(
        pairs=pairs,
        tied_groups=tied_groups([s.name for s in standings], pairs),
        detectable=max(reach) if len(reach) == len(pairs) else None,
        standings=standings,
        nobody=[item for item in shared if models and all(run.values[item] == 0 for run in models)],
        everybody=[
            item for item in shared if models and all(run.values[item] == 1 for run in models)
        ],
        suspects=_suspects(models, shared),
        warnings=_warnings(runs, pairs, shared) + _hangs_on_one(over),
        sources=over,
    )


def average_seeds(name: str, runs: Sequence[Contestant]) -> Contestant:
    """Runs of one model that differ in their seed only, as one:
    each item's value is its mean over the seeds."""
    shared = set.intersection(*(set(run.values) for run in runs))
    values = _mean_values([run.values for run in runs])
    credited = _mean_values([run.credited for run in runs])
    alike = {item: {run.said.get(item, "") for run in runs} for item in shared}
    return Contestant(
        name,
        values,
        {
            item: words.pop()
            for item, words in sorted(alike.items())
            if len(words) == 1 and "" not in words
        },
        ranked=all(run.ranked for run in runs),
        baseline=all(run.baseline for run in runs),
        credited=credited,
    )


def _mean_values(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    shared = set.intersection(*(set(values) for values in runs))
    return {item: float(np.mean([values[item] for values in runs])) for item in sorted(shared)}


def sight_gain(
    model: Contestant, blind: Contestant, clusters: Mapping[str, str], *, metric: str = "accuracy"
) -> SightGain:
    """How much better a model is with pictures than without, on shared items, over patients."""
    items = sorted(model.values.keys() & blind.values.keys())
    gain = _Tested(model, blind, items, clusters, metric).pair
    credited = None
    if model.credited and blind.credited:
        both = [msgspec.structs.replace(run, values=run.credited) for run in (model, blind)]
        credited = _Tested(both[0], both[1], items, clusters, metric).pair
    return SightGain(model.name, blind.name, gain, credited)


def against_better(gains: Sequence[SightGain]) -> SightGain:
    """Of the gains over several blind runs of one model that over the best of them."""
    credited = [gain.credited or gain.gain for gain in gains]
    least = _least([gain.gain for gain in gains])
    name = next(gain.blind for gain in gains if gain.gain.b == least.b)
    return SightGain(
        gains[0].name,
        name,
        least,
        _least(credited) if any(gain.credited for gain in gains) else None,
    )


def _least(pairs: Sequence[Pair]) -> Pair:
    """The smallest difference, with the lowest limit and the largest p of all."""
    least = min(
        pairs, key=lambda pair: float("inf") if pair.difference is None else pair.difference
    )
    lows = [pair.ci95[0] for pair in pairs if pair.ci95 is not None]
    chances = [pair.p for pair in pairs if pair.p is not None]
    if least.ci95 is None or len(lows) < len(pairs):
        return least
    interval = (min(lows), least.ci95[1])
    return msgspec.structs.replace(
        least, ci95=interval, ci_joint=interval, p=max(chances, default=None)
    )


def _over_sources(
    runs: Sequence[Contestant],
    items: Sequence[str],
    clusters: Mapping[str, str],
    sources: Mapping[str, str],
) -> dict[str, OverSources]:
    patients, of = [clusters[item] for item in items], [sources.get(item, "") for item in items]
    found = {
        run.name: over_sources([run.values[item] for item in items], patients, of) for run in runs
    }
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
        without = best(
            {name: one.sources[place].macro_without or 0.0 for name, one in over.items()}
        )
        if without != leader:
            result.append(
                f"without {source.source}, {without} and not {leader} has the best mean over"
                " sources"
            )
    return result


class _Tested:
    """A pair with its test."""

    def __init__(
        self,
        a: Contestant,
        b: Contestant,
        items: Sequence[str],
        clusters: Mapping[str, str],
        metric: str,
    ) -> None:
        patients = [clusters[item] for item in items]
        gaps = np.array([a.values[item] - b.values[item] for item in items])
        # A guess scores 0 when adjusted for chance, and a wrong answer to a question with two
        # options −1.
        bounds = (-2.0, 2.0) if metric == CHANCE_ADJUSTED else (-1.0, 1.0)
        estimate = paired_difference(gaps, np.zeros_like(gaps), patients, bounds=bounds)
        self._difference = (
            None if estimate.ci95 is None else Difference(gaps, patients, bounds=bounds)
        )
        self.pair = Pair(
            a=a.name,
            b=b.name,
            metric=metric,
            difference=estimate.value,
            ci95=estimate.ci95,
            p=estimate.p,
            p_holm=None,
            n=len(items),
            clusters=estimate.clusters,
            detectable=_detectable(estimate.ci95, estimate.clusters),
            note=estimate.note if items else "the runs share no item",
        )

    def corrected(self, p_holm: float | None, level: float) -> Pair:
        """The pair with its corrected p, and its interval at the level of the correction."""
        interval = None if self._difference is None else self._difference.interval(level / 2)
        return msgspec.structs.replace(self.pair, p_holm=p_holm, ci_joint=interval)


def _corrected(tested: Sequence[_Tested]) -> list[Pair]:
    """Holm's p, and intervals that agree with it.

    The k-th smallest of m p is tested at 5 % / (m − k + 1), up to the first that fails; all after
    it are not told apart either, so they get the interval of that level.
    """
    p_values = [one.pair.p for one in tested]
    corrected = holm(p_values)
    known = sorted((p, number) for number, p in enumerate(p_values) if p is not None)
    levels = [LEVEL] * len(tested)
    level = LEVEL
    failed = False
    for step, (p, number) in enumerate(known):
        if not failed:
            level = LEVEL / (len(known) - step)
            failed = p >= level
        levels[number] = level
    return [one.corrected(p, level) for one, p, level in zip(tested, corrected, levels)]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction over the values that exist."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    result: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for step, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - step) * p))
        result[place] = highest
    return result


def _detectable(interval: tuple[float, float] | None, patients: int) -> float | None:
    """Half the interval and 0.84 standard errors more:
    found with 80 % power by a two-sided test at 5 %."""
    if interval is None:
        return None
    half = (interval[1] - interval[0]) / 2
    return half + _POWER_Z * half / float(t_quantile(patients - 1, LEVEL / 2))


def _standings(
    runs: Sequence[Contestant], items: Sequence[str], pairs: Sequence[Pair]
) -> list[Standing]:
    """Mean on the shared items, best first.

    The interval of a rank counts who is told to be better or worse after Holm's correction, so that
    all intervals hold together with 95 % (Mohamad, Goeman and van Zwet 2019).
    """
    if not items:
        return []
    means = {run.name: float(np.mean([run.values[item] for item in items])) for run in runs}
    lost: Counter[str] = Counter()
    won: Counter[str] = Counter()
    tested = set()
    for pair in pairs:
        if (
            pair.a not in means
            or pair.b not in means
            or pair.p_holm is None
            or pair.difference is None
        ):
            continue
        tested |= {pair.a, pair.b}
        if pair.p_holm < LEVEL:
            better, worse = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
            won[better] += 1
            lost[worse] += 1
    order = sorted(means, key=lambda name: (-means[name], name))
    return [
        Standing(
            name,
            means[name],
            1 + sum(other > means[name] + _EQUAL for other in means.values()),
            (1 + lost[name], len(means) - won[name]) if name in tested else None,
        )
        for name in order
    ]


def tied_groups(order: Sequence[str], pairs: Sequence[Pair]) -> list[list[str]]:
    """All largest sets of runs within which no pair differs at 5 % after Holm, in the order of the
    ranking.

    By insertion and absorption (Piepho 2004). Sets need not be stretches of the ranking: of three
    runs the first may be told from the second, and not from the third, whose answers agree less
    with its own.
    """
    places = {name: place for place, name in enumerate(order)}
    groups = [frozenset(order)] if order else []
    for pair in pairs:
        if pair.p_holm is None or pair.p_holm >= LEVEL:
            continue
        whole = [group for group in groups if pair.a in group and pair.b in group]
        if not whole:
            continue
        groups = [group for group in groups if group not in whole]
        # Larger parts first, so that a part of another is met after it.
        parts = sorted((group - {one} for group in whole for one in (pair.a, pair.b)), key=len)
        for part in reversed(parts):
            if not any(part <= group for group in groups):
                groups.append(part)
    ranked = [sorted(group, key=lambda name: places[name]) for group in groups]
    return sorted(ranked, key=lambda group: [places[name] for name in group])


def _suspects(runs: Sequence[Contestant], items: Sequence[str]) -> list[Suspect]:
    """Items that at least three runs, and two of three that were read,
    answer alike and against the key."""
    found = []
    for item in items:
        read = [run for run in runs if run.said.get(item)]
        wrong = Counter(run.said[item] for run in read if run.values[item] == 0)
        if not wrong:
            continue
        said, count = max(sorted(wrong.items()), key=lambda pair: pair[1])
        if count >= FEWEST_AGAINST and count * 3 >= len(read) * 2:
            found.append(Suspect(item, said, count, len(read)))
    return sorted(
        found, key=lambda suspect: (-suspect.runs / suspect.of, -suspect.runs, suspect.item_id)
    )


def _warnings(
    runs: Sequence[Contestant], pairs: Sequence[Pair], shared: Sequence[str]
) -> list[str]:
    result = []
    few = min(pair.clusters for pair in pairs)
    if few < TOO_FEW_CLUSTERS:
        result.append(
            f"the runs share only {counted(few, 'patient')}: no interval and no test (at least"
            f" {TOO_FEW_CLUSTERS}"
            " needed)"
        )
    left_out = [run.name for run in runs if not run.ranked]
    if left_out:
        result.append(f"not ranked, more than 1 % is missing: {', '.join(left_out)}")
    most = max((len(run.values) for run in runs if run.ranked), default=0)
    if len(shared) < most:
        result.append(
            f"ranked runs are compared on the {len(shared):,} items all of them share, of up to"
            f" {most:,}"
        )
    return result
