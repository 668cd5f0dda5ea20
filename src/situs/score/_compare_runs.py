"""Comparing what several runs left on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from situs.clients import parse_spec
from situs.errors import SitusError, did_you_mean
from situs.run import Viewing, is_baseline, items_of, open_run, read_hidden, read_journal
from situs.score._compare import Comparison, Contestant, compare
from situs.score._entries import BOX_METRICS
from situs.score._metrics_grades import GRADE_EXACT, GRADE_WITHIN_ONE
from situs.score._metrics_number import MRA_VSI_CODE, MRA_VSI_PAPER, RELATIVE_ACCURACY
from situs.score._metrics_sets import CHOICES_F1, FRAMES_F1, FRAMES_IOU
from situs.score._outcomes import NOT_COUNTED, Scored, judge
from situs.score._parts import LEVEL_WITHIN_ONE

__all__ = ["PER_ITEM", "compare_runs"]

PER_ITEM = (
    "accuracy",
    "accuracy.closed",
    MRA_VSI_CODE,
    MRA_VSI_PAPER,
    RELATIVE_ACCURACY,
    LEVEL_WITHIN_ONE,
    *BOX_METRICS,
    FRAMES_IOU,
    FRAMES_F1,
    CHOICES_F1,
    GRADE_EXACT,
    GRADE_WITHIN_ONE,
)
"""Metrics with a value per item, from 0 to 1."""

_INCOMPLETE = 0.01


def compare_runs(
    folders: Sequence[Path], bench: Path | None = None, *, metric: str = "accuracy", seed: int = 0
) -> Comparison:
    """Every pair of runs of one bench, on the items that both were asked and could answer."""
    if metric not in PER_ITEM:
        raise SitusError(f"unknown metric {metric!r}", where="--metric", fix=did_you_mean(metric, PER_ITEM))
    opened = [(folder, *open_run(folder, bench)) for folder in folders]
    clusters: dict[str, str] = {}
    runs: list[Contestant] = []
    for folder, info, its_bench in opened:
        if its_bench.info.content_hash != opened[0][2].info.content_hash:
            raise SitusError("is of another bench than the first run", where=folder, fix="compare runs of one bench")
        rows = read_journal(folder / "answers.jsonl")
        hidden = read_hidden(folder / "hidden.jsonl")
        shown, gives = Viewing(its_bench, info.profile), info.profile.gives
        scored = [
            judge(item, rows.get(item.item_id), gives, shown=shown, hidden=hidden.get(item.item_id, ()))
            for item in items_of(its_bench, info)
        ]
        clusters.update((row.outcome.item_id, row.cluster) for row in scored)
        runs.append(_contestant(_name(folder, info.client, [run.name for run in runs]), info.client, scored, metric))
    return compare(runs, clusters, metric=metric, seed=seed)


def _name(folder: Path, client: str, taken: Sequence[str]) -> str:
    """The client's name; with the folder's where two runs share one."""
    return client if client not in taken else f"{client} ({folder.name})"


def _contestant(name: str, client: str, scored: Sequence[Scored], metric: str) -> Contestant:
    counted = [row for row in scored if row.outcome.state != NOT_COUNTED]
    values = {row.outcome.item_id: value for row in counted if (value := _value(row, metric)) is not None}
    lost = sum(row.outcome.state in ("failed", "missing", "unjudged") for row in counted)
    complete = lost <= _INCOMPLETE * len(counted)
    said = {row.outcome.item_id: row.outcome.parsed for row in counted if row.outcome.state == "answered"}
    return Contestant(name, values, said, ranked=complete, baseline=is_baseline(parse_spec(client).kind))


def _value(row: Scored, metric: str) -> float | None:
    if metric == "accuracy" or (metric == "accuracy.closed" and row.chance is not None):
        return float(bool(row.outcome.right))
    return row.values.get(metric)
