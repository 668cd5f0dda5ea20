"""Comparing what several runs left on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from situs.clients import parse_spec
from situs.errors import SitusError, did_you_mean
from situs.run import BASELINES, open_run, read_journal, selected_items
from situs.score._compare import Comparison, Contestant, compare
from situs.score._outcomes import NOT_COUNTED, Scored, judge

__all__ = ["COMPARED", "compare_runs"]

COMPARED: dict[str, Callable[[Scored], float | None]] = {
    "accuracy": lambda row: float(bool(row.outcome.right)),
    "accuracy.closed": lambda row: None if row.chance is None else float(bool(row.outcome.right)),
    "mra.vsi-code@1": lambda row: row.mra_code,
    "mra.vsi-paper@1": lambda row: row.mra_paper,
    "relative-accuracy@1": lambda row: row.relative,
}
"""Metrics with a value per item, from 0 to 1."""

_INCOMPLETE = 0.01


def compare_runs(
    folders: Sequence[Path], bench: Path | None = None, *, metric: str = "accuracy", seed: int = 0
) -> Comparison:
    """Every pair of runs of one bench, on the items that both were asked and could answer."""
    if metric not in COMPARED:
        raise SitusError(f"unknown metric {metric!r}", where="--metric", fix=did_you_mean(metric, COMPARED))
    opened = [(folder, *open_run(folder, bench)) for folder in folders]
    clusters: dict[str, str] = {}
    runs: list[Contestant] = []
    for folder, info, its_bench in opened:
        if its_bench.info.content_hash != opened[0][2].info.content_hash:
            raise SitusError("is of another bench than the first run", where=folder, fix="compare runs of one bench")
        rows = read_journal(folder / "answers.jsonl")
        scored = [
            judge(item, rows.get(item.item_id), info.profile.gives)
            for item in selected_items(its_bench, info.split, info.limit)
        ]
        clusters.update((row.outcome.item_id, row.cluster) for row in scored)
        runs.append(_contestant(_name(folder, info.client, [run.name for run in runs]), info.client, scored, metric))
    return compare(runs, clusters, metric=metric, seed=seed)


def _name(folder: Path, client: str, taken: Sequence[str]) -> str:
    """The client's name; with the folder's where two runs share one."""
    return client if client not in taken else f"{client} ({folder.name})"


def _contestant(name: str, client: str, scored: Sequence[Scored], metric: str) -> Contestant:
    value_of = COMPARED[metric]
    counted = [row for row in scored if row.outcome.state != NOT_COUNTED]
    values = {row.outcome.item_id: value for row in counted if (value := value_of(row)) is not None}
    lost = sum(row.outcome.state in ("failed", "missing", "unjudged") for row in counted)
    complete = lost <= _INCOMPLETE * len(counted)
    said = {row.outcome.item_id: row.outcome.parsed for row in counted if row.outcome.state == "answered"}
    return Contestant(name, values, said, ranked=complete, baseline=parse_spec(client).kind in BASELINES)
