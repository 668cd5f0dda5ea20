"""Comparing what several runs left on disk."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from situs.clients import parse_spec
from situs.errors import SitusError, did_you_mean
from situs.run import RunInfo, is_baseline
from situs.score.columns import Columns
from situs.score.headline import HEADLINE, Selection, select
from situs.score.metrics.registry import Shown, known_metrics, shown_in
from situs.score.scored_run import ScoredRun, open_replies, read_run
from situs.score.stats.paired import (
    FEWEST_AGAINST,
    Comparison,
    Contestant,
    SightGain,
    against_better,
    average_seeds,
    compare,
    sight_gain,
)
from situs.score.stats.sources import SOURCE_PREFIXES
from situs.score.table_entries import values_of

__all__ = ["comparable_metrics", "compare_runs"]


def comparable_metrics() -> tuple[str, ...]:
    """Metrics with a value per item, from 0 to 1 (chance-adjusted accuracy: 0 is a guess)."""
    return shown_in(Shown.COMPARISON)


_KNOW_A_GUESS = ("accuracy", "accuracy.closed")
_INCOMPLETE = 0.01
_SEEDS = 3
"""At least so many where a model is sampled."""


def compare_runs(
    folders: Sequence[Path],
    bench: Path | None = None,
    *,
    metric: str = "accuracy",
    stratum: str = HEADLINE,
    blind: Sequence[Path] = (),
) -> Comparison:
    """Every pair of runs of one bench, on the items that both were asked and could answer.

    Runs that differ in their seed only are averaged item by item and count as one. `blind` are
    runs without pictures: the better of those of a model (told that there are none, or not told)
    is set against its run with them, and has no rank beside others. `stratum` is what the
    comparison is about; accuracy is that of the headline.
    """
    if metric not in comparable_metrics():
        fix = did_you_mean(metric, comparable_metrics())
        raise SitusError(f"unknown metric {metric!r}", where="--metric", fix=fix)
    clusters: dict[str, str] = {}
    sources: dict[str, str] = {}
    models, without = _Groups(), _Groups(blind=True)
    content = ""
    opened: list[tuple[_Groups, Path, ScoredRun]] = []
    for groups, folder in (
        (groups, folder)
        for groups, paths in ((models, folders), (without, blind))
        for folder in paths
    ):
        replies = open_replies(folder, bench)
        if replies.info is None:
            fix = "give the --out of situs run; situs score takes answers of other tools"
            raise SitusError("is a file of answers, not a run", where=folder, fix=fix)
        run = read_run(replies)
        # All runs are held at once, and boxes take half of the room.
        run = dataclasses.replace(run, columns=run.columns.without("boxes"))
        content = content or run.bench.info.content_hash
        if run.bench.info.content_hash != content:
            raise SitusError(
                "is of another bench than the first run",
                where=folder,
                fix="compare runs of one bench",
            )
        columns = run.columns
        patients = columns.coded("patient_id")
        clusters.update(zip(columns.item_ids, map(patients.names.__getitem__, patients.codes)))
        of_rows = zip(columns.item_ids, columns.first_tagged(SOURCE_PREFIXES))
        sources.update((item_id, source) for item_id, source in of_rows if source)
        opened.append((groups, folder, run))
    selection = select(
        [run.columns for _, _, run in opened],
        stratum,
        opened[0][2].bench.info.by_stratum,
    )
    # What hangs on what was said needs three runs, and what hangs on guesses a blind one.
    needs = _Needs(said=len(folders) >= FEWEST_AGAINST, credit=bool(blind))
    while opened:
        groups, folder, run = opened.pop(0)  # its columns are not held any longer
        groups.add(folder, run, _Asked(metric, selection, needs))
    runs = models.runs()
    # Beside its blind runs one model is enough. They are not ranked with it: the pairs would be
    # corrected for their number, and might deny the gain that is printed below them.
    if len(runs) == 1 and blind:
        result = Comparison()
    elif len(runs) == 1 and len(folders) > 1:
        fix = "give a run of another model too"
        raise SitusError("the runs are seeds of one model", where=folders[0], fix=fix)
    else:
        result = compare(runs, clusters, metric=metric, sources=sources)
    sight = _sight_gains(models, without, clusters, metric)
    warnings = result.warnings + models.warnings()
    words = (
        selection.words
        if metric == "accuracy"
        else msgspec.structs.replace(selection, closed=False).words
    )
    return msgspec.structs.replace(result, warnings=warnings, sight=sight, items=words)


class _Needs(NamedTuple):
    """What a comparison asks of each run beside the values of its answers."""

    said: bool
    credit: bool


class _Asked(NamedTuple):
    """What is compared."""

    metric: str
    selection: Selection
    needs: _Needs


class _Groups:
    """Runs by what they are apart from their seed."""

    def __init__(self, *, blind: bool = False) -> None:
        self._blind = blind
        self.members: dict[tuple[object, ...], list[tuple[str, RunInfo, Contestant]]] = {}
        self._names: list[str] = []

    def add(self, folder: Path, run: ScoredRun, asked: _Asked) -> None:
        """One more run; one with a seed that is there already stands alone."""
        info = run.replies.info
        assert info is not None
        key: tuple[object, ...] = _identity(info)
        if self._blind:
            key = (*key, info.silent)
        seeds = [_seed(other) for _, other, _ in self.members.get(key, [])]
        if seeds and (_seed(info) in seeds or None in (*seeds, _seed(info))):
            key = (*key, folder)
        name = info.client
        if self._blind:
            name += " without pictures, not told" if info.silent else " without pictures"
        name = name if name not in self._names else f"{name} ({folder.name})"
        self._names.append(name)
        contestant = _contestant(name, info.client, run.columns, asked)
        self.members.setdefault(key, []).append((name, info, contestant))

    def runs(self) -> list[Contestant]:
        """A contestant per group."""
        return [self.merged(key) for key in self.members]

    def merged(self, key: tuple[object, ...]) -> Contestant:
        """The group's contestant, averaged over its seeds."""
        contestants = [contestant for _, _, contestant in self.members[key]]
        return (
            contestants[0]
            if len(contestants) == 1
            else average_seeds(f"{contestants[0].name} ({len(contestants)} seeds)", contestants)
        )

    def warnings(self) -> list[str]:
        """Models that were sampled with too few seeds."""
        result = []
        for members in self.members.values():
            sampling = members[0][1].sampling
            if sampling is not None and sampling.temperature != 0.0 and len(members) < _SEEDS:
                result.append(
                    f"{members[0][0]} was sampled with {len(members)} seed(s): run at least"
                    f" {_SEEDS}"
                )
        return result


def _identity(info: RunInfo) -> tuple[object, ...]:
    settings = tuple(
        sorted((name, value) for name, value in info.settings.items() if name != "seed")
    )
    sampling = None if info.sampling is None else msgspec.structs.replace(info.sampling, seed=None)
    return (
        parse_spec(info.client).kind,
        info.client.partition("?")[0],
        settings,
        info.profile_hash,
        str(sampling),
    )


def _seed(info: RunInfo) -> object:
    return info.settings.get("seed") if info.seed is None else info.seed


def _sight_gains(
    models: _Groups, without: _Groups, clusters: dict[str, str], metric: str
) -> list[SightGain]:
    """The gain of every model over its own blind runs:
    over the better one, where it has several."""
    by_model: dict[tuple[object, ...], list[SightGain]] = {}
    for key in without.members:
        seeing = next((model for model in models.members if key[: len(model)] == model), None)
        if seeing is None:
            fix = "give the run of the same model, settings and profile with its pictures, too"
            raise SitusError(
                f"no run to set {without.members[key][0][0]} against", where="--blind", fix=fix
            )
        gain = sight_gain(models.merged(seeing), without.merged(key), clusters, metric=metric)
        by_model.setdefault(seeing, []).append(gain)
    return [gains[0] if len(gains) == 1 else against_better(gains) for gains in by_model.values()]


def _contestant(name: str, client: str, columns: Columns, asked: _Asked) -> Contestant:
    metric, selection = asked.metric, asked.selection
    # Other metrics tell by themselves which kinds of item they are about.
    chosen = selection if metric == "accuracy" else msgspec.structs.replace(selection, closed=False)
    scored = values_of(known_metrics()[metric], columns)
    ids = columns.item_ids
    there = np.flatnonzero(chosen.mask(columns) & ~np.isnan(scored)).tolist()
    credited, said = {}, {}
    if asked.needs.credit and metric in _KNOW_A_GUESS:
        credit = columns.credit
        credited = {ids[row]: float(credit[row]) for row in there}
    if asked.needs.said:
        parsed = columns.table["parsed"].to_pylist()
        said = {ids[row]: parsed[row] for row in np.flatnonzero(columns.has_state("answered"))}
    lost = int((columns.has_state("failed", "missing", "unjudged") & columns.counted).sum())
    return Contestant(
        name,
        {ids[row]: float(scored[row]) for row in there},
        said,
        ranked=lost <= _INCOMPLETE * int(columns.counted.sum()),
        baseline=is_baseline(parse_spec(client).kind),
        credited=credited,
    )
