"""The whole table of a run, with what one gets without looking beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from situs.bench import Bench
from situs.errors import SitusError, did_you_mean
from situs.items import Item
from situs.run import AnswerRow, Spec, make_baseline
from situs.score._entries import METRICS, Entry, entries
from situs.score._jury import JurySummary
from situs.score._metrics_numbers import SPEARMAN_WITHIN_STRUCTURE
from situs.score._outcomes import Outcome, Scored, judge
from situs.score._protocol_ct_spatialvqa import PublishedScores
from situs.score._text_metrics import TEXT_METRICS

__all__ = ["BaselineScores", "NotComputed", "Scores", "blind_scores", "choose_metrics", "score_rows"]

_BLIND = ("random", "majority", "prior")
"""Rows that see no image; always beside a model's."""


class BaselineScores(msgspec.Struct, frozen=True):
    """A baseline on the same items."""

    overall: list[Entry]
    by_task: dict[str, list[Entry]]
    by_stratum: dict[str, list[Entry]]


class NotComputed(msgspec.Struct, frozen=True):
    """A metric that was asked for and could not be computed."""

    metric: str
    reason: str
    fix: str


class Scores(msgspec.Struct, frozen=True):
    """Everything `situs score` says."""

    overall: list[Entry]
    by_task: dict[str, list[Entry]]
    by_stratum: dict[str, list[Entry]]
    by_tag: dict[str, list[Entry]]
    baselines: dict[str, BaselineScores]
    not_computed: list[NotComputed]
    warnings: list[str]
    outcomes: dict[str, Outcome]
    jury: JurySummary | None = None
    """With verdicts: what the jury's word rests on."""
    published: PublishedScores | None = None
    """With a protocol: the numbers by its released rules."""


def choose_metrics(names: str | None) -> list[str] | None:
    """Metrics by comma-separated name; None for all that are not computed on request only."""
    if names is None:
        return None
    chosen = [name.strip() for name in names.split(",")]
    for name in chosen:
        if name not in METRICS and name not in TEXT_METRICS:
            known = [*METRICS, *TEXT_METRICS]
            raise SitusError(f"unknown metric {name!r}", where="--metrics", fix=did_you_mean(name, known))
    return chosen


def score_rows(
    bench: Bench,
    items: Callable[[], Iterable[Item]],
    rows: Mapping[str, AnswerRow],
    *,
    gives: tuple[str, ...] | None,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    judged: Mapping[str, Outcome] | None = None,
) -> Scores:
    """Score answers to the items; `items` is called once per pass over them. `judged` is what a jury found."""
    names = [name for name in METRICS if metrics is None or name in metrics]
    scored = [_judged(judge(item, rows.get(item.item_id), gives), judged or {}) for item in items()]
    if not scored:
        raise SitusError("no item to score", where=bench.folder, fix="check the split")
    known = {row.outcome.item_id for row in scored}
    strangers = sum(item_id not in known for item_id in rows)
    if strangers == len(rows):
        raise SitusError("no answer belongs to an item of this bench", fix="give the answers of a run on this bench")
    tags = _grouped(scored, lambda row: row.tags)
    return Scores(
        overall=entries(scored, names, seed),
        by_task=_tables(scored, lambda row: (row.task,), names, seed),
        by_stratum=_tables(scored, lambda row: (row.stratum,), names, seed),
        by_tag={
            tag: entries(group, [n for n in names if n == "accuracy"], seed) for tag, group in sorted(tags.items())
        },
        baselines=blind_scores(bench, items, gives=gives, metrics=names, seed=seed),
        not_computed=_missing(scored, names, seed),
        warnings=_warnings(scored, strangers),
        outcomes={row.outcome.item_id: row.outcome for row in scored},
    )


def _judged(row: Scored, judged: Mapping[str, Outcome]) -> Scored:
    """The row with the jury's word on it, if it waits for one."""
    found = judged.get(row.outcome.item_id)
    return row if found is None or row.outcome.state != "unjudged" else msgspec.structs.replace(row, outcome=found)


def blind_scores(
    bench: Bench,
    items: Callable[[], Iterable[Item]],
    *,
    gives: tuple[str, ...] | None,
    metrics: Sequence[str],
    seed: int = 0,
) -> dict[str, BaselineScores]:
    """What one gets without looking: every blind baseline on the items."""
    return {name: _baseline(bench, items, name, gives, list(metrics), seed) for name in _BLIND}


def _baseline(
    bench: Bench,
    items: Callable[[], Iterable[Item]],
    name: str,
    gives: tuple[str, ...] | None,
    names: list[str],
    seed: int,
) -> BaselineScores:
    # A leave-one-out mean falls as the left-out truth rises, so its rank correlation is an artefact near -1.
    names = [metric for metric in names if metric != SPEARMAN_WITHIN_STRUCTURE]
    baseline = make_baseline(bench, Spec(name))
    answers = (judge(i, AnswerRow(i.item_id, response=baseline.answer(i) or ""), gives) for i in items())
    # Nobody judges a baseline's free text: it is compared by its wording elsewhere, not counted as wrong here.
    scored = [row for row in answers if row.outcome.state != "unjudged"]
    return BaselineScores(
        entries(scored, names, seed),
        _tables(scored, lambda row: (row.task,), names, seed),
        _tables(scored, lambda row: (row.stratum,), names, seed),
    )


def _grouped(scored: list[Scored], keys: Callable[[Scored], tuple[str, ...]]) -> dict[str, list[Scored]]:
    groups: dict[str, list[Scored]] = defaultdict(list)
    for row in scored:
        for key in keys(row):
            groups[key].append(row)
    return groups


def _tables(
    scored: list[Scored], keys: Callable[[Scored], tuple[str, ...]], names: list[str], seed: int
) -> dict[str, list[Entry]]:
    return {key: entries(group, names, seed) for key, group in sorted(_grouped(scored, keys).items())}


def _missing(scored: list[Scored], names: list[str], seed: int) -> list[NotComputed]:
    there = {entry.metric for entry in entries(scored, names, seed) if entry.value is not None}
    reason = "no item in this selection has an answer of its kind"
    return [NotComputed(name, reason, "score a bench with such items") for name in names if name not in there]


def _warnings(scored: list[Scored], strangers: int) -> list[str]:
    result = []
    lost = sum(row.outcome.state in ("failed", "missing", "unjudged") for row in scored)
    if lost > 0.01 * len(scored):
        result.append(f"incomplete: {lost} of {len(scored)} items have no answer; do not rank this run")
    patients = len({row.cluster for row in scored})
    if patients < 30:
        result.append(
            f"only {patients} patients: intervals are rough"
            if patients >= 10
            else f"only {patients} patients: no intervals (at least 10 needed)"
        )
    if strangers:
        result.append(f"{strangers} answers belong to no item of this selection")
    return result
