"""Scores of free-text answers: judges, jury, wording,
and the rows that show what wording alone is worth."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.base.text import counted
from situs.bench import Bench
from situs.errors import SitusError, did_you_mean
from situs.items import Item, Text
from situs.run import AnswerRow, Spec, blind_rows, make_baseline
from situs.score.blind.beside import BaselineScores
from situs.score.outcomes import Outcome
from situs.score.published.ct_spatialvqa import PublishedScores, published_scores
from situs.score.stats.agreement import spearman
from situs.score.stats.calibration import calibrate
from situs.score.stats.estimates import Estimate, cluster_mean, cluster_of
from situs.score.table import NotComputed, Scores
from situs.score.table_entries import Entry
from situs.score.text.facts import flip_sides
from situs.score.text.jury import JudgeSummary, JurySummary, majority, summarize
from situs.score.text.metrics import ON_REQUEST, TEXT_METRICS, TextTable, text_table
from situs.score.text.verdicts import (
    JoinedVerdicts,
    VerdictFile,
    join_verdicts,
    read_verdicts,
    repeated,
)

__all__ = ["PROTOCOLS", "OpenScores", "Verdicts", "open_scores", "with_open"]

PROTOCOLS = ("ct-spatialvqa", "sgmri-vqa")
IntArray = NDArray[np.int64]


class Verdicts(msgspec.Struct, frozen=True):
    """What the user gave beside the answers."""

    files: tuple[tuple[str, Path], ...] = ()
    """(judge, file)."""
    protocol: str | None = None
    human: Path | None = None
    contestant: str = ""
    """What the model that answered is called."""
    models: dict[str, str] = {}
    """Judge → the model it is, where its name does not say so."""


class OpenScores(msgspec.Struct, frozen=True):
    """The part of a score table that free-text answers have."""

    overall: list[Entry]
    by_task: dict[str, list[Entry]]
    by_stratum: dict[str, list[Entry]]
    by_tag: dict[str, list[Entry]]
    baselines: dict[str, list[Entry]]
    not_computed: list[NotComputed]
    warnings: list[str]
    outcomes: dict[str, Outcome]
    """What the jury says of each answer."""
    jury: JurySummary | None
    published: PublishedScores | None


def open_scores(
    bench: Bench,
    items: Iterable[Item],
    rows: Mapping[str, AnswerRow],
    verdicts: Verdicts,
    *,
    metrics: Sequence[str] | None,
    seed: int,
) -> OpenScores | None:
    """Score the free-text items among these; None if there are none and no verdict was given."""
    free_texts = [item for item in items if isinstance(item.answer, Text)]
    if verdicts.protocol is not None and verdicts.protocol not in PROTOCOLS:
        raise SitusError(
            f"unknown protocol {verdicts.protocol!r}",
            where="--protocol",
            fix=did_you_mean(verdicts.protocol, PROTOCOLS),
        )
    if not free_texts:
        if verdicts.files or verdicts.protocol == PROTOCOLS[0]:
            raise SitusError(
                "the bench has no free-text answers to judge",
                where=bench.folder,
                fix="drop --verdicts",
            )
        return None
    return _Scoring(bench, free_texts, rows, verdicts, metrics, seed).scores()


def with_open(scores: Scores, texts: OpenScores) -> Scores:
    """The whole table: the free-text part beside what else was scored."""
    baselines = dict(scores.baselines)
    for name, held in texts.baselines.items():
        before = baselines.get(name, BaselineScores([], {}, {}))
        baselines[name] = msgspec.structs.replace(before, overall=before.overall + held)
    return msgspec.structs.replace(
        scores,
        overall=scores.overall + texts.overall,
        by_task=_joined_tables(scores.by_task, texts.by_task),
        by_stratum=_joined_tables(scores.by_stratum, texts.by_stratum),
        by_tag=_joined_tables(scores.by_tag, texts.by_tag),
        baselines=baselines,
        not_computed=scores.not_computed + texts.not_computed,
        warnings=scores.warnings + texts.warnings + (texts.jury.warnings if texts.jury else []),
        jury=texts.jury,
        published=texts.published,
    )


def _joined_tables(
    first: dict[str, list[Entry]], second: dict[str, list[Entry]]
) -> dict[str, list[Entry]]:
    return {key: first.get(key, []) + second.get(key, []) for key in sorted({*first, *second})}


class _Scoring:
    """One pass over the free-text items of a run."""

    def __init__(
        self,
        bench: Bench,
        items: list[Item],
        rows: Mapping[str, AnswerRow],
        verdicts: Verdicts,
        metrics: Sequence[str] | None,
        seed: int,
    ) -> None:
        self._bench, self._items, self._rows, self._seed = bench, items, rows, seed
        self._given = verdicts
        self._names = [
            name
            for name in TEXT_METRICS
            if (name in metrics if metrics is not None else name not in ON_REQUEST)
        ]
        self._clusters = [cluster_of(item) for item in items]
        self._references = [_references(item) for item in items]
        self._said = [_said(rows.get(item.item_id)) for item in items]
        self._everything = np.arange(len(items), dtype=np.int64)
        self._files = self._read_files()
        self._joined = [join_verdicts(file, items, rows) for file in self._files]
        self._votes = np.array(
            [
                [_vote(joined.verdicts.get(item.item_id)) for joined in self._joined]
                for item in items
            ],
            dtype=np.float64,
        ).reshape(len(items), len(self._files))
        self._right, self._tied, self._undecided = majority(self._votes)

    def _read_files(self) -> list[VerdictFile]:
        twice = repeated(name for name, _ in self._given.files)
        if twice is not None:
            raise SitusError(
                f"judge {twice!r} is given twice",
                where="--verdicts",
                fix="give each a name of its own",
            )
        return [read_verdicts(name, path) for name, path in self._given.files]

    def scores(self) -> OpenScores:
        """Everything."""
        table = self._table(self._said, self._names)
        published = self._published()
        human = self._human()
        groups = {kind: _groups(self._items, kind) for kind in ("task", "stratum", "tag")}
        return OpenScores(
            overall=self._entries(table, self._everything, published, None, intervals=True),
            by_task=self._grouped(table, groups["task"], None),
            by_stratum=self._grouped(table, groups["stratum"], None),
            by_tag=self._grouped(table, groups["tag"], published),
            baselines=self._controls(),
            not_computed=[
                *(NotComputed(name, e.problem, e.fix) for name, e in table.missing.items()),
                *self._not_judged(),
            ],
            warnings=self._warnings(table, published),
            outcomes=self._outcomes(),
            jury=self._summary(human),
            published=published,
        )

    def _table(self, said: Sequence[str], names: Sequence[str]) -> TextTable:
        return text_table(said, self._references, [item.question for item in self._items], names)

    def _grouped(
        self, table: TextTable, groups: dict[str, IntArray], published: PublishedScores | None
    ) -> dict[str, list[Entry]]:
        return {
            name: self._entries(table, rows, published, name, intervals=False)
            for name, rows in sorted(groups.items())
        }

    def _entries(
        self,
        table: TextTable,
        rows: IntArray,
        published: PublishedScores | None,
        group: str | None,
        *,
        intervals: bool,
    ) -> list[Entry]:
        """Judges, jury and wording over some of the items; a group's wording has no interval."""
        result = []
        clusters = [self._clusters[row] for row in rows]
        for column, file in enumerate(self._files):
            votes = self._votes[rows, column]
            has_verdict = ~np.isnan(votes)
            judged_clusters = [name for name, keep in zip(clusters, has_verdict) if keep]
            states = {
                "true": int(np.nansum(votes)),
                "false": int((votes == 0).sum()),
                "unjudged": int((~has_verdict).sum()),
            }
            estimate = (
                cluster_mean(votes[has_verdict], judged_clusters) if has_verdict.any() else None
            )
            result += _entry(f"judge.{file.judge}", estimate, states) or [
                _silent(f"judge.{file.judge}", states)
            ]
            if published is not None and group is None:
                verdict_count = sum(row.correct is not None for row in file.rows)
                result += [
                    _published_entry(
                        f"judge.{file.judge}.published", published.judges[file.judge], verdict_count
                    )
                ]
        if self._files:
            right = self._right[rows]
            states = {
                "right": int(right.sum()),
                "not right": int((~right).sum()),
                "tied": int(self._tied[rows].sum()),
                "undecided": int(self._undecided[rows].sum()),
            }
            estimate = cluster_mean(right.astype(np.float64), clusters)
            result += (
                [_silent("jury", states)]
                if self._jury_is_silent()
                else _entry("jury", estimate, states)
            )
        if published is not None:
            value = published.jury if group is None else published.by_category.get(group)
            result += [
                _published_entry(
                    "jury.published", value, published.cells if group is None else len(rows)
                )
            ]
        empty = int(len(rows) - np.isin(table.kept, rows).sum())
        for name in self._names:
            estimate = table.estimate(name, rows, self._clusters, self._seed if intervals else None)
            result += _entry(name, estimate, {"scored": len(rows) - empty, "empty": empty})
        return result

    def _silent_judges(self) -> list[str]:
        """Judges without a verdict on any answer."""
        return [
            file.judge
            for place, file in enumerate(self._files)
            if np.isnan(self._votes[:, place]).all()
        ]

    def _jury_is_silent(self) -> bool:
        """Whether so many judges are silent that nothing could be called right."""
        return 2 * len(self._silent_judges()) >= len(self._files)

    def _not_judged(self) -> list[NotComputed]:
        silent = self._silent_judges()
        fix = "ask or give a judge whose verdicts are about this run's answers"
        result = [
            NotComputed(f"judge.{name}", "it gives no verdict on any answer of this run", fix)
            for name in silent
        ]
        if silent and self._jury_is_silent():
            reason = (
                f"{len(silent)} of {len(self._files)} judges give no verdict: no majority is"
                " possible"
            )
            result.append(NotComputed("jury", reason, fix))
        return result

    def _controls(self) -> dict[str, list[Entry]]:
        """Rows that never saw the scan or are wrong on purpose;
        what they reach is what wording is worth."""
        names = [name for name in self._names if name not in ON_REQUEST]
        if not names:
            return {}
        rows: dict[str, list[str]] = {}
        for name in blind_rows("text"):
            baseline = make_baseline(self._bench, Spec(name))
            rows[name] = [baseline.answer(item) or "" for item in self._items]
        rows["other-patient"] = _other_patients(self._items, self._clusters)
        # Where no side is named there is nothing to flip, and the row has no answer.
        flipped = [(texts[0], flip_sides(texts[0])) for texts in self._references]
        rows["side-flipped"] = [after if after != before else "" for before, after in flipped]
        result = {}
        for row, said in rows.items():
            table = self._table(said, names)
            empty = len(said) - len(table.kept)
            states = {"scored": len(table.kept), "empty": empty}
            result[row] = [
                entry
                for name in names
                for entry in _entry(
                    name, table.estimate(name, self._everything, self._clusters, None), states
                )
            ]
        return result

    def _published(self) -> PublishedScores | None:
        if self._given.protocol != PROTOCOLS[0]:
            return None
        right = {item.item_id: bool(value) for item, value in zip(self._items, self._right)}
        return published_scores(self._files, self._joined, self._items, right)

    def _human(self) -> NDArray[np.float64] | None:
        if self._given.human is None:
            return None
        joined = join_verdicts(read_verdicts("human", self._given.human), self._items, self._rows)
        if not joined.verdicts:
            raise SitusError(
                "no human verdict is about an answer of this run",
                where=self._given.human,
                fix="check it",
            )
        return np.array(
            [_vote(joined.verdicts.get(item.item_id)) for item in self._items], dtype=np.float64
        )

    def _summary(self, human: NDArray[np.float64] | None) -> JurySummary | None:
        if not self._files:
            return None
        words = np.array(
            [len(re.findall(r"\b\w+\b", text)) for text in self._said], dtype=np.float64
        )
        judges = [
            _judge_summary(file, joined, self._votes[:, place], words)
            for place, (file, joined) in enumerate(zip(self._files, self._joined))
        ]
        calibration = []
        if human is not None:
            calibration = [
                calibrate(file.judge, self._votes[:, number], human, self._clusters)
                for number, file in enumerate(self._files)
            ]
            calibration.append(
                calibrate("jury", self._right.astype(np.float64), human, self._clusters)
            )
        return summarize(
            self._votes,
            judges,
            self._clusters,
            words,
            calibration=calibration,
            contestant=self._given.contestant,
            models=self._given.models,
            seed=self._seed,
        )

    def _outcomes(self) -> dict[str, Outcome]:
        """The jury's word on every answer, instead of `unjudged`."""
        if not self._files or self._jury_is_silent():
            return {}
        result = {}
        for place, item in enumerate(self._items):
            votes = self._votes[place]
            row = self._rows.get(item.item_id)
            if row is None or row.state != "answered" or np.isnan(votes).all():
                continue
            state = "unjudged" if self._undecided[place] else "answered"
            text = f"{int(np.nansum(votes))} of {len(votes)} judges say right"
            result[item.item_id] = Outcome(item.item_id, state, bool(self._right[place]), text)
        return result

    def _warnings(self, table: TextTable, published: PublishedScores | None) -> list[str]:
        result = []
        empty = len(self._items) - len(table.kept)
        if empty and self._names:
            result.append(
                f"{empty} empty or missing answers are left out of the text metrics (as released)"
            )
        result += [
            f"{name}: no verdict on any answer of this run" for name in self._silent_judges()
        ]
        for joined in self._joined:
            if joined.strangers:
                count, first = len(joined.strangers), joined.strangers[0]
                result.append(
                    f"{joined.judge}: {count} verdicts are about no answer of this run, e.g."
                    f" {first}"
                )
            if joined.contradicted:
                count, first = len(joined.contradicted), joined.contradicted[0]
                result.append(
                    f"{joined.judge}: says both true and false of {counted(count, 'answer')},"
                    f" e.g. {first}:"
                    " unjudged"
                )
            if joined.unjudged:
                result.append(
                    f"{joined.judge}: {counted(len(joined.unjudged), 'answer')} without a verdict"
                )
        if published is not None:
            result += published.notes
        return result


def _entry(metric: str, estimate: Estimate | None, states: dict[str, int]) -> list[Entry]:
    if estimate is None:
        return []
    note = estimate.note or estimate.method
    return [
        Entry(metric, estimate.value, estimate.n, estimate.ci95, states, estimate.clusters, note)
    ]


def _silent(metric: str, states: dict[str, int]) -> Entry:
    return Entry(metric, None, 0, None, states, 0, "no verdict")


def _published_entry(metric: str, value: float | None, n: int) -> Entry:
    return Entry(metric, value, n, None, {}, 0, "by the rules of the released code; see the notes")


def _judge_summary(
    file: VerdictFile,
    joined: JoinedVerdicts,
    votes: NDArray[np.float64],
    words: NDArray[np.float64],
) -> JudgeSummary:
    has_verdict = ~np.isnan(votes)
    counts = Counter(row.correct for row in file.rows)
    return JudgeSummary(
        judge=file.judge,
        rows=len(file.rows),
        true=counts[True],
        false=counts[False],
        no_verdict=counts[None],
        unjudged_items=int((~has_verdict).sum()),
        rows_without_item=joined.strangers,
        ambiguous_items=len(joined.ambiguous),
        length_correlation=spearman(words[has_verdict], votes[has_verdict]),
    )


def _groups(items: list[Item], kind: str) -> dict[str, IntArray]:
    groups: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        for key in item.tags if kind == "tag" else (getattr(item, kind),):
            groups[key].append(place)
    return {key: np.array(rows, dtype=np.int64) for key, rows in groups.items()}


def _references(item: Item) -> tuple[str, ...]:
    assert isinstance(item.answer, Text)
    return item.answer.references


def _said(row: AnswerRow | None) -> str:
    return row.response if row is not None and row.state == "answered" else ""


def _vote(verdict: bool | None) -> float:
    return np.nan if verdict is None else float(verdict)


def _other_patients(items: list[Item], clusters: list[str]) -> list[str]:
    """For every item the reference of the next item (by id) of another patient."""
    order = sorted(range(len(items)), key=lambda place: items[place].item_id)
    result = [""] * len(items)
    for rank, place in enumerate(order):
        for step in range(1, len(order)):
            other = order[(rank + step) % len(order)]
            if clusters[other] != clusters[place]:
                result[place] = _references(items[other])[0]
                break
    return result
