"""The runs of a report, each read and scored on the items it covers."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from situs.base.collecting import give_memory_back
from situs.base.files import read_text
from situs.errors import SitusError
from situs.report.causes import causes_of
from situs.report.covered import Covered
from situs.report.names import spec_of, unique_names
from situs.run import RunInfo, is_baseline
from situs.score import HEADLINE, Entry, Outcome, Scores
from situs.score.blind.beside import kept_blind_tables
from situs.score.columns import Columns
from situs.score.explain import Budget, budget_of
from situs.score.metrics.registry import Shown, shown_in
from situs.score.outcomes import Score
from situs.score.records import outcome_at
from situs.score.scored_run import ScoredRun, read_run, replies_of_run
from situs.score.table import score_table

__all__ = ["ReportedRun", "entry_of", "mark_of", "read_runs"]

_LARGEST_SCORES = 256 << 20
_INCOMPLETE = 0.01
"""More than this share failed, unjudged or missing: the run is not ranked (DEFINITIONS, Scores)."""

_MARKS = {
    "unparsed": "u",
    "refused": "f",
    "failed": "x",
    "missing": "m",
    "not answerable": "n",
    "unjudged": "j",
}


class ReportedRun(msgspec.Struct, frozen=True):
    """One run of a report, with its tables."""

    name: str
    run: ScoredRun
    scores: Scores
    causes: dict[str, str] = {}
    """Item → why the answer is wrong, where that can be told."""
    kept: Scores | None = None
    """What `situs score` last wrote into the run, with judges and text metrics."""
    budget: Budget | None = None

    @property
    def info(self) -> RunInfo:
        """What was asked of whom."""
        assert self.run.replies.info is not None
        return self.run.replies.info

    @property
    def columns(self) -> Columns:
        """Every answer, scored, with the jury's word."""
        return self.run.final

    @property
    def items(self) -> int:
        """How many items it covers."""
        return len(self.columns)

    def covers(self, item_id: str) -> bool:
        """Whether the item was asked."""
        return item_id in self.columns.places

    def outcome(self, item_id: str) -> Outcome:
        """What became of one answer."""
        return outcome_at(self.columns, self.columns.places[item_id])

    def mark(self, item_id: str) -> str:
        """See `mark_of`; a blank if it was not asked."""
        row = self.columns.places.get(item_id)
        if row is None:
            return " "
        return _mark(
            self.columns.state(row),
            {1: True, 0: False}.get(int(self.columns.tri_state("right")[row])),
        )

    def right(self, item_id: str) -> bool | None:
        """Whether it is right; None if it was not asked, does not count, or waits for a judge."""
        row = self.columns.places.get(item_id)
        if row is None or not self.columns.decided[row]:
            return None
        return bool(self.columns.right[row])

    @property
    def kind(self) -> str:
        """`model`, `baseline`, `reader` (a person) or `text`
        (a model from which the pictures were withheld)."""
        if self.baseline:
            return "baseline"
        if spec_of(self.info.client).kind == "human":
            return "reader"
        return "text" if self.info.withheld else "model"

    @property
    def ranked(self) -> bool:
        """Whether it competes: a model that was shown the pictures and answered nearly all."""
        return self.kind == "model" and not self.incomplete

    @property
    def baseline(self) -> str:
        """`oracle`, `random`, …; empty for a model,
        also one whose answers of elsewhere are replayed."""
        kind = spec_of(self.info.client).kind
        return kind if is_baseline(kind) else ""

    @property
    def states(self) -> Counter[str]:
        """How many items ended in each state."""
        column = self.columns.coded("state")
        counts = np.bincount(column.codes, minlength=len(column.names))
        return Counter({name: int(count) for name, count in zip(column.names, counts)})

    @property
    def incomplete(self) -> bool:
        """Whether too much is unanswered for a rank."""
        states = self.states
        return states["failed"] + states["unjudged"] + states["missing"] > _INCOMPLETE * self.items


def read_runs(
    folders: Sequence[Path],
    bench: Path | None,
    seed: int,
    names: Sequence[str] = (),
    stratum: str = HEADLINE,
) -> tuple[Covered, list[ReportedRun]]:
    """Every run, the one bench they share, and the items any of them covers, in bench order.

    `names` are what the runs are called, in their order; without, each goes by its client.
    `stratum` is what the headline is about.
    """
    if not folders:
        raise SitusError("no run given", fix="give one or more run folders")
    first = replies_of_run(folders[0], bench)
    shared = first.bench
    opened = [first, *(replies_of_run(folder, bench, known=shared) for folder in folders[1:])]
    for folder, replies in zip(folders, opened):
        if replies.bench.info.content_hash != shared.info.content_hash:
            raise SitusError(
                "was run on a different bench from the first run",
                where=folder,
                fix="report one bench at a time",
            )
    if names and (len(names) != len(opened) or len(set(names)) < len(names)):
        raise SitusError(
            "the runs do not have one distinct name each",
            where="--names",
            fix="give one name per run",
        )
    infos = [replies.info for replies in opened if replies.info is not None]
    called = list(names) or unique_names(
        (info.client for info in infos),
        (" (text only)" if info.withheld else "" for info in infos),
    )
    runs: list[ReportedRun] = []
    covered = Covered(shared)
    for name, folder, replies in zip(called, folders, opened):
        stored_scores, run = (
            _stored_scores(folder / "scores.json"),
            read_run(replies, beside_blind=not runs),
        )
        if not run.judged and stored_scores is not None and stored_scores.jury is not None:
            run = dataclasses.replace(run, judged=stored_scores.outcomes)
        metrics = shown_in(Shown.REPORT, Shown.LEADERBOARD)
        has_blind = kept_blind_tables(run, metrics, seed=seed, stratum=stratum) is not None
        # The items of the first run are taken down for the blind rows beside it as well.
        items = replies.items() if runs or has_blind else replies.items_once()
        covered.add(items, run.columns.item_ids)
        scores = score_table(run, metrics=metrics, seed=seed, stratum=stratum)
        give_memory_back()  # before causes are looked for, which takes more
        budget = budget_of(run)
        runs.append(ReportedRun(name, run, scores, causes_of(budget), stored_scores, budget))
    # What is shown of them is read in one pass; together they take a fifth of the memory.
    for one in runs:
        one.run.replies.let_items_go()
    return covered, runs


def _stored_scores(path: Path) -> Scores | None:
    """What `situs score` last found, if it was run."""
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(read_text(path, limit_bytes=_LARGEST_SCORES), type=Scores)
    except (msgspec.DecodeError, RecursionError, SitusError) as error:
        fix = "run situs score again, or remove the file"
        raise SitusError("is not what situs score writes", where=path, fix=fix) from error


def entry_of(entries: Sequence[Entry] | None, metric: str) -> Entry | None:
    """The entry of one metric, if it was computed."""
    return next(
        (entry for entry in entries or () if entry.metric == metric and entry.value is not None),
        None,
    )


def mark_of(outcome: Outcome | Score | None) -> str:
    """One letter for what became of an item: r right, w wrong, and the states that are neither."""
    return "m" if outcome is None else _mark(outcome.state, outcome.right)


def _mark(state: str, right: bool | None) -> str:
    if state in _MARKS:
        return _MARKS[state]
    return "s" if right is None else "r" if right else "w"
