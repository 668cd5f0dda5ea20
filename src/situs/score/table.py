"""The whole table of a run, with what one gets without looking beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from situs.base.text import counted
from situs.bench import Bench, SamePatient
from situs.errors import SitusError, did_you_mean
from situs.items import Item
from situs.score.blind.beside import BaselineScores, blind_tables
from situs.score.blind.rows import blind_rows_of
from situs.score.blind.shortcut_gain import ShortcutGain
from situs.score.columns import Columns
from situs.score.headline import HEADLINE, Headline, Selection, headline_of, select
from situs.score.metrics.registry import known_metrics
from situs.score.outcomes import NOT_COUNTED, Outcome
from situs.score.published.ct_spatialvqa import PublishedScores
from situs.score.published.sgmri_tables import SgmriTable
from situs.score.read.result import INFERRED
from situs.score.scored_run import Replies, ScoredRun
from situs.score.table_entries import (
    Entry,
    entries,
    grouped_entries,
    sub_score_entries,
    tag_entries,
)
from situs.score.text.jury import JurySummary
from situs.score.text.metrics import TEXT_METRICS
from situs.score.unread import UnreadReplies, unread_replies

__all__ = [
    "NotComputed",
    "Scores",
    "blind_headlines",
    "choose_metrics",
    "score_table",
]


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
    by_subscore: dict[str, list[Entry]]
    """Of grades only."""
    baselines: dict[str, BaselineScores]
    not_computed: list[NotComputed]
    warnings: list[str]
    outcomes: dict[str, Outcome] = {}
    """What 0.1 kept here; now every answer is a row of `scores.parquet`."""
    jury: JurySummary | None = None
    """With verdicts: what the jury's word rests on."""
    published: PublishedScores | None = None
    """With a protocol: the numbers by its released rules."""
    sgmri: list[SgmriTable] = []
    """The same for SGMRI-VQA."""
    unread: UnreadReplies | None = None
    """Replies that could not be read, with samples."""
    over_best_shortcut: ShortcutGain | None = None
    """Headline accuracy minus that of the best blind row that learns from other patients; None
    where no item is judged by rule."""
    headline: Headline | None = None
    """The one number that is shown first everywhere."""
    same_patient: SamePatient | None = None
    """What the bench's card says a patient's other answers tell,
    where the headline is what is shown."""


def choose_metrics(names: str | None) -> list[str] | None:
    """Metrics by comma-separated name; None for all that are not computed on request only."""
    if names is None:
        return None
    chosen = [name.strip() for name in names.split(",")]
    known = [*known_metrics(), *TEXT_METRICS]
    for name in chosen:
        if name not in known:
            fix = did_you_mean(name, known)
            raise SitusError(f"unknown metric {name!r}", where="--metrics", fix=fix)
    return chosen


def score_table(
    run: ScoredRun,
    *,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    stratum: str = HEADLINE,
) -> Scores:
    """The tables of a run. `stratum` is what the headline is about."""
    names = [name for name in known_metrics() if metrics is None or name in metrics]
    columns, answers = run.final, run.replies
    strangers = sum(item_id not in columns.places for item_id in answers.rows)
    if strangers == len(answers.rows):
        fix = "give the answers of a run on this bench"
        raise SitusError("no answer belongs to an item of this bench", fix=fix)
    blind = blind_tables(run, names, seed=seed, stratum=stratum)
    unread = unread_replies(columns, answers.rows)
    warnings = [*_warnings(columns, strangers), unread.warning, blind.note]
    overall = entries(columns.all, names, seed)
    selection = select([columns], stratum, answers.bench.info.by_stratum)
    return Scores(
        overall=overall,
        by_task=grouped_entries(columns, "task", names, seed),
        by_stratum=grouped_entries(columns, "stratum", names, seed),
        by_tag=tag_entries(columns, names, seed),
        by_subscore=sub_score_entries(columns, names, seed),
        baselines=blind.baselines,
        not_computed=_missing(overall, metrics),
        warnings=[text for text in warnings if text],
        unread=unread,
        over_best_shortcut=blind.over_best,
        headline=headline_of(columns, selection),
        same_patient=answers.bench.info.same_patient if selection.stratum == HEADLINE else None,
    )


def blind_headlines(
    bench: Bench, items: Callable[[], Iterable[Item]]
) -> dict[str, dict[str, Headline]]:
    """What one gets without looking: stratum → blind baseline → its headline there, as `situs
    score` shows it.

    Of all items: no profile hides any.
    """
    rows = blind_rows_of(Replies(bench, {}, chosen=items)).rows
    strata = sorted({item.stratum for item in items()})
    return {
        stratum: {
            row.name: headline_of(row.columns, Selection(stratum, closed=True))
            for row in rows
            if not row.boxes_only
        }
        for stratum in strata
    }


def _missing(computed: Sequence[Entry], asked: Sequence[str] | None) -> list[NotComputed]:
    """What was asked for and has no value; unasked, only what its items were there for."""
    there = {entry.metric for entry in computed if entry.value is not None}
    if asked is None:
        names = [entry.metric for entry in computed if entry.n]
    else:
        names = [name for name in asked if name in known_metrics()]
    reason = "no item in this selection has an answer of its kind"
    return [
        NotComputed(name, reason, "score a bench with such items")
        for name in names
        if name not in there
    ]


def _warnings(columns: Columns, strangers: int) -> list[str]:
    result = []
    count = len(columns)
    lost = int(columns.has_state("failed", "missing").sum())
    unjudged = int(columns.has_state("unjudged").sum())
    if lost + unjudged > 0.01 * count:
        lacking = [
            f"{number} {what}"
            for number, what in ((lost, "have no answer"), (unjudged, "are unjudged"))
            if number
        ]
        result.append(f"incomplete: of {count} items {' and '.join(lacking)}; do not rank this run")
    inferred = int(columns.flagged(INFERRED).sum())
    if inferred:
        result.append(
            f"{inferred} answers were read in another scale, order or frame base "
            "than the profile declares"
        )
    result += _hidden_warning(columns)
    patients = len(np.unique(columns.clusters))
    if patients < 10:
        result.append(f"only {counted(patients, 'patient')}: no intervals (at least 10 needed)")
    elif patients < 30:
        result.append(f"only {counted(patients, 'patient')}: intervals are rough")
    if strangers:
        result.append(f"{counted(strangers, 'answer')} to no item of this selection")
    return result


def _hidden_warning(columns: Columns) -> list[str]:
    """How many items the profile hides, and the commonest reason."""
    hidden = columns.reasons(NOT_COUNTED)
    if not hidden:
        return []
    reason, number = hidden.most_common(1)[0]
    total = f"{sum(hidden.values()):,} of {len(columns):,} items"
    remedy = ""
    if "not known" in reason:
        remedy = "; build with --images, or run with --profile sgmri-frames"
    where = f"{total} are not answerable under this profile"
    return [f"{where}, {number:,} because {reason}{remedy}"]
