"""The whole table of a run, with what one gets without looking beside it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from situs.bench import Bench
from situs.errors import SitusError, did_you_mean
from situs.items import Item
from situs.profiles import Profile
from situs.run import BLIND, AnswerRow, Spec, Viewing, make_baseline
from situs.score.blind.memory import Memory, asked_key
from situs.score.blind.sample import BlindSample
from situs.score.blind.shortcut_gain import ShortcutGain, gain_over_best
from situs.score.headline import HEADLINE, Headline, Selection, headline_of, select
from situs.score.metrics.boxes import (
    BOX_CENTRE_HIT_3D,
    BOX_FRAME_IOU,
    BOX_HIT_3D,
    BOX_IOU_3D,
    BOX_TUBE_IOU,
)
from situs.score.metrics.grades import (
    GRADE_EXACT,
    GRADE_KAPPA,
    GRADE_MACRO_F1,
    GRADE_WITHIN_ONE,
    PRESENCE_SENSITIVITY,
    PRESENCE_SPECIFICITY,
)
from situs.score.metrics.numbers import SPEARMAN_WITHIN_STRUCTURE
from situs.score.outcomes import NOT_COUNTED, Outcome, Scored, judge
from situs.score.published.ct_spatialvqa import PublishedScores
from situs.score.published.sgmri_tables import SgmriTable
from situs.score.read.boxes import INFERRED
from situs.score.table_entries import METRICS, Entry, entries
from situs.score.text.jury import JurySummary
from situs.score.text.metrics import TEXT_METRICS
from situs.score.unread import UnreadReplies, unread_replies

__all__ = [
    "BaselineScores",
    "NotComputed",
    "Scores",
    "blind_headlines",
    "choose_metrics",
    "score_rows",
]

_CHANCE = "random"
_BLIND_BOXES = "grid"
"""One more where boxes are asked for: a fixed grid, which shows a score that only rewards more boxes."""
_SCALE_TAGS = ("nominal:", "absent:")
"""Tags that tell how grades are scored; no groups of their own."""
_BY_TAG = (
    "accuracy",
    BOX_TUBE_IOU,
    BOX_FRAME_IOU,
    BOX_IOU_3D,
    BOX_CENTRE_HIT_3D,
    *BOX_HIT_3D.values(),
    GRADE_EXACT,
    GRADE_WITHIN_ONE,
    GRADE_KAPPA,
    GRADE_MACRO_F1,
    PRESENCE_SENSITIVITY,
    PRESENCE_SPECIFICITY,
    "grounded.accuracy",
)
_BY_SUBSCORE = (
    GRADE_EXACT,
    GRADE_WITHIN_ONE,
    GRADE_KAPPA,
    GRADE_MACRO_F1,
    PRESENCE_SENSITIVITY,
    PRESENCE_SPECIFICITY,
)


class BaselineScores(msgspec.Struct, frozen=True):
    """A baseline on the same items."""

    overall: list[Entry]
    by_task: dict[str, list[Entry]]
    by_stratum: dict[str, list[Entry]]
    by_subscore: dict[str, list[Entry]] = {}
    by_tag: dict[str, list[Entry]] = {}
    """Of the majority, where grades are asked for: beside each region and family."""
    headline: Headline | None = None
    """On the very items of the row it stands beside."""


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
    outcomes: dict[str, Outcome]
    jury: JurySummary | None = None
    """With verdicts: what the jury's word rests on."""
    published: PublishedScores | None = None
    """With a protocol: the numbers by its released rules."""
    sgmri: list[SgmriTable] = []
    """The same for SGMRI-VQA."""
    unread: UnreadReplies | None = None
    """Replies that could not be read, with samples."""
    over_best_shortcut: ShortcutGain | None = None
    """Headline accuracy minus that of the best blind row that learns from other patients; None where no item is
    judged by rule."""
    headline: Headline | None = None
    """The one number that is shown first everywhere."""


def choose_metrics(names: str | None) -> list[str] | None:
    """Metrics by comma-separated name; None for all that are not computed on request only."""
    if names is None:
        return None
    chosen = [name.strip() for name in names.split(",")]
    for name in chosen:
        if name not in METRICS and name not in TEXT_METRICS:
            known = [*METRICS, *TEXT_METRICS]
            raise SitusError(
                f"unknown metric {name!r}", where="--metrics", fix=did_you_mean(name, known)
            )
    return chosen


def score_rows(
    bench: Bench,
    items: Callable[[], Iterable[Item]],
    rows: Mapping[str, AnswerRow],
    *,
    gives: tuple[str, ...] | None,
    profile: Profile | None = None,
    hidden: Mapping[str, tuple[str, ...]] | None = None,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    judged: Mapping[str, Outcome] | None = None,
    stratum: str = HEADLINE,
) -> Scores:
    """Score answers to the items; `items` is called once per pass over them.

    Boxes and frames are read in the profile's coordinates; without one, in those of the stored frames. `hidden` maps
    items to the reasons why the pictures do not hold what they need. `judged` is what a jury found. `stratum` is what
    the headline is about.
    """
    names = [name for name in METRICS if metrics is None or name in metrics]
    shown, away = Viewing(bench, profile), hidden or {}

    scored = []
    for item in items():
        own = judge(
            item, rows.get(item.item_id), gives, shown=shown, hidden=away.get(item.item_id, ())
        )
        scored.append(_judged(own, judged or {}))
    if not scored:
        raise SitusError("no item to score", where=bench.folder, fix="check the split")
    known = {row.outcome.item_id for row in scored}
    strangers = sum(item_id not in known for item_id in rows)
    if strangers == len(rows):
        raise SitusError(
            "no answer belongs to an item of this bench",
            fix="give the answers of a run on this bench",
        )
    warnings = _warnings(scored, strangers)
    unread = unread_replies(scored, rows)
    if unread.warning:
        warnings.append(unread.warning)
    if note := BlindSample(items()).note:
        warnings.append(note)
    overall = entries(scored, names, seed)
    selection = select(scored, stratum, bench.info.by_stratum)
    blind, hits = _blind(bench, items, gives, profile, away, names, seed, selection)
    return Scores(
        overall=overall,
        by_task=_tables(scored, lambda row: (row.task,), names, seed),
        by_stratum=_tables(scored, lambda row: (row.stratum,), names, seed),
        by_tag=_by_tag(scored, names, seed),
        by_subscore=_subscores(scored, names, seed),
        baselines=blind,
        not_computed=_missing(overall, metrics),
        warnings=warnings,
        outcomes={row.outcome.item_id: row.outcome for row in scored},
        unread=unread,
        over_best_shortcut=_over_best(scored, hits, selection, seed),
        headline=headline_of(scored, selection),
    )


def _over_best(
    scored: Sequence[Scored],
    hits: Mapping[str, Mapping[str, bool]],
    selection: Selection,
    seed: int,
) -> ShortcutGain | None:
    """On the selected items that all of them answered and a rule can judge."""
    # A grid of boxes only guesses at questions with options: chance, not a shortcut.
    chance = (_CHANCE, _BLIND_BOXES) if selection.closed else (_CHANCE,)
    learners = {name: right for name, right in hits.items() if name not in chance}
    shared = set.intersection(*(set(right) for right in learners.values()))
    chosen = selection.rows(scored)
    own = {
        row.outcome.item_id: bool(row.outcome.right)
        for row in chosen
        if row.outcome.item_id in shared
    }
    if not own:
        return None
    return gain_over_best(
        own, learners, {row.outcome.item_id: row.cluster for row in scored}, seed=seed
    )


def _judged(row: Scored, judged: Mapping[str, Outcome]) -> Scored:
    """The row with the jury's word on it, if it waits for one."""
    found = judged.get(row.outcome.item_id)
    return (
        row
        if found is None or row.outcome.state != "unjudged"
        else msgspec.structs.replace(row, outcome=found)
    )


def blind_headlines(
    bench: Bench, items: Callable[[], Iterable[Item]]
) -> dict[str, dict[str, Headline]]:
    """What one gets without looking: stratum → blind baseline → its headline there, as `situs score` shows it.

    Of all items: no profile hides any.
    """
    result: dict[str, dict[str, Headline]] = defaultdict(dict)
    for stratum in sorted({item.stratum for item in items()}):
        own = [item for item in items() if item.stratum == stratum]
        rows, _ = _blind(bench, own.copy, None, None, {}, (), 0, Selection(stratum, closed=True))
        result[stratum] = {
            name: row.headline for name, row in rows.items() if row.headline is not None
        }
    return dict(result)


def _blind(
    bench: Bench,
    items: Callable[[], Iterable[Item]],
    gives: tuple[str, ...] | None,
    profile: Profile | None,
    away: Mapping[str, tuple[str, ...]],
    metrics: Sequence[str],
    seed: int,
    selection: Selection,
) -> tuple[dict[str, BaselineScores], dict[str, dict[str, bool]]]:
    """The table of every blind baseline, and what it gets right of the items that count."""
    # A leave-one-out mean falls as the left-out truth rises, so its rank correlation is an artefact near -1.
    names = [metric for metric in metrics if metric != SPEARMAN_WITHIN_STRUCTURE]
    sample = BlindSample(items())

    def asked() -> Iterator[Item]:
        return (item for item in items() if item in sample)

    key = (
        asked_key(bench, asked(), gives, profile, away) if sample.items <= _MOST_REMEMBERED else ""
    )
    result, hits = {}, {}
    for name in (*BLIND, _BLIND_BOXES) if sample.boxed else BLIND:
        answer = partial(_blind_answers, bench, asked, name, gives, profile, away)
        scored = _ANSWERS.get((key, name), sample.items, answer)
        tabulate = partial(_blind_tables, scored, name, names, seed)
        tables = _TABLES.get((key, name, *names, seed), sample.items, tabulate)
        hits[name] = {
            row.outcome.item_id: row.outcome.right
            for row in scored
            if row.outcome.right is not None
        }
        # A grid of boxes says nothing about questions with options.
        headline = None if name == _BLIND_BOXES else headline_of(scored, selection)
        result[name] = msgspec.structs.replace(tables, headline=headline)
    return result, hits


_MOST_REMEMBERED = 50_000
"""Answers of blind rows that are kept at a time, about 1 kB each; a larger bench is scored in a stream, as ever."""
_ANSWERS: Memory[list[Scored]] = Memory(_MOST_REMEMBERED)
_TABLES: Memory[BaselineScores] = Memory(_MOST_REMEMBERED)


def _blind_answers(
    bench: Bench,
    asked: Callable[[], Iterable[Item]],
    name: str,
    gives: tuple[str, ...] | None,
    profile: Profile | None,
    away: Mapping[str, tuple[str, ...]],
) -> list[Scored]:
    """The answers of one blind row, scored."""
    baseline, shown = make_baseline(bench, Spec(name), profile), Viewing(bench, profile)
    scored = []
    for item in asked():
        row = AnswerRow(item.item_id, response=baseline.answer(item) or "")
        own = judge(item, row, gives, shown=shown, hidden=away.get(item.item_id, ()))
        # Nobody judges a baseline's free text: it is compared by its wording elsewhere, not counted as wrong here.
        if own.outcome.state != "unjudged":
            scored.append(own)
    return scored


def _blind_tables(scored: list[Scored], name: str, names: list[str], seed: int) -> BaselineScores:
    return BaselineScores(
        entries(scored, names, seed),
        _tables(scored, lambda row: (row.task,), names, seed),
        _tables(scored, lambda row: (row.stratum,), names, seed),
        _subscores(scored, names, seed),
        _by_tag([row for row in scored if row.grades], names, seed) if name == "majority" else {},
    )


def _by_tag(scored: list[Scored], names: Sequence[str], seed: int) -> dict[str, list[Entry]]:
    groups = _grouped(
        scored, lambda row: tuple(tag for tag in row.tags if not tag.startswith(_SCALE_TAGS))
    )
    return {
        tag: entries(group, [n for n in names if n in _BY_TAG], seed)
        for tag, group in sorted(groups.items())
    }


def _subscores(scored: list[Scored], names: list[str], seed: int) -> dict[str, list[Entry]]:
    """The grade metrics of each sub-score apart."""
    groups: dict[str, list[Scored]] = defaultdict(list)
    for row in scored:
        for pair in row.grades:
            name, truth, told = pair
            values = {GRADE_EXACT: float(truth == told)}
            if name not in row.nominal:
                values[GRADE_WITHIN_ONE] = float(told is not None and abs(truth - told) <= 1)
            groups[name].append(msgspec.structs.replace(row, grades=(pair,), values=values))
    chosen = [name for name in names if name in _BY_SUBSCORE]
    return {name: entries(group, chosen, seed) for name, group in sorted(groups.items())}


def _grouped(
    scored: list[Scored], keys: Callable[[Scored], tuple[str, ...]]
) -> dict[str, list[Scored]]:
    groups: dict[str, list[Scored]] = defaultdict(list)
    for row in scored:
        for key in keys(row):
            groups[key].append(row)
    return groups


def _tables(
    scored: list[Scored], keys: Callable[[Scored], tuple[str, ...]], names: list[str], seed: int
) -> dict[str, list[Entry]]:
    return {
        key: entries(group, names, seed) for key, group in sorted(_grouped(scored, keys).items())
    }


def _missing(computed: list[Entry], asked: Sequence[str] | None) -> list[NotComputed]:
    """What was asked for and has no value; unasked, only what its items were there for."""
    there = {entry.metric for entry in computed if entry.value is not None}
    names = (
        [entry.metric for entry in computed if entry.n]
        if asked is None
        else [n for n in asked if n in METRICS]
    )
    reason = "no item in this selection has an answer of its kind"
    return [
        NotComputed(name, reason, "score a bench with such items")
        for name in names
        if name not in there
    ]


def _warnings(scored: list[Scored], strangers: int) -> list[str]:
    result = []
    lost = sum(row.outcome.state in ("failed", "missing") for row in scored)
    unjudged = sum(row.outcome.state == "unjudged" for row in scored)
    if lost + unjudged > 0.01 * len(scored):
        lacking = [
            f"{count} {what}"
            for count, what in ((lost, "have no answer"), (unjudged, "are unjudged"))
            if count
        ]
        result.append(
            f"incomplete: of {len(scored)} items {' and '.join(lacking)}; do not rank this run"
        )
    inferred = sum(bool(INFERRED & set(row.outcome.flags)) for row in scored)
    if inferred:
        result.append(
            f"{inferred} answers were read in another scale, order or frame base than the profile declares"
        )
    hidden = Counter(row.outcome.parsed for row in scored if row.outcome.state == NOT_COUNTED)
    for reason, count in hidden.most_common(1):
        where = f"{sum(hidden.values()):,} of {len(scored):,} items are not answerable under this profile"
        remedy = (
            "; build with --images, or run with --profile sgmri-frames"
            if "not known" in reason
            else ""
        )
        result.append(f"{where}, {count:,} because {reason}{remedy}")
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
