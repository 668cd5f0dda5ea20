"""What the blind rows reach beside a run: worked out once, and kept in the run as its own scores
are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from situs.base.files import canonical_json, digest, read_text, write_atomic
from situs.errors import SitusError
from situs.score.blind.rows import BlindRow, blind_rows_of
from situs.score.blind.shortcut_gain import ShortcutGain, gain_over_best
from situs.score.columns import Columns
from situs.score.headline import Headline, Selection, headline_of, select
from situs.score.metrics.registry import known_metrics
from situs.score.scored_run import ScoredRun
from situs.score.table_entries import (
    Entry,
    entries,
    grouped_entries,
    sub_score_entries,
    tag_entries,
)

__all__ = ["BaselineScores", "BlindTables", "blind_tables", "kept_blind_tables"]

STORED = "scores.blind.json"
_LARGEST = 256 << 20
_CHANCE = "random"


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

    def of_metrics(self, metrics: Iterable[str]) -> BaselineScores:
        """With these metrics only."""
        wanted = frozenset(metrics)

        def chosen(of: Sequence[Entry]) -> list[Entry]:
            return [entry for entry in of if entry.metric in wanted]

        def grouped(of: dict[str, list[Entry]]) -> dict[str, list[Entry]]:
            return {name: chosen(own) for name, own in of.items()}

        return BaselineScores(
            chosen(self.overall),
            grouped(self.by_task),
            grouped(self.by_stratum),
            grouped(self.by_subscore),
            grouped(self.by_tag),
            self.headline,
        )


class BlindTables(msgspec.Struct, frozen=True):
    """All blind rows beside a run."""

    baselines: dict[str, BaselineScores]
    over_best: ShortcutGain | None
    """What the run gains over the best row that learns from other patients."""
    note: str
    """What a reader of the table must know; empty if nothing was left out."""


class _Stored(msgspec.Struct, frozen=True):
    made_of: str
    metrics: list[str]
    tables: BlindTables


def blind_tables(run: ScoredRun, metrics: Sequence[str], *, seed: int, stratum: str) -> BlindTables:
    """The tables, as they are kept in the run if they are still true, else worked out and kept."""
    kept = kept_blind_tables(run, metrics, seed=seed, stratum=stratum)
    if kept is not None:
        return kept
    answers, columns = run.replies, run.final
    selection = select([columns], stratum, answers.bench.info.by_stratum)
    blind = blind_rows_of(answers)
    tables = BlindTables(
        {row.name: _baseline_scores(row, metrics, seed, selection) for row in blind.rows},
        _over_best(columns, blind.rows, selection, seed),
        blind.note,
    )
    path = _place(run)
    if path is not None:
        stored = _Stored(_made_of(run, seed, stratum), list(metrics), tables)
        with suppress(SitusError):  # where nothing can be written, they are worked out each time
            write_atomic(path, msgspec.json.encode(stored))
    return tables


def kept_blind_tables(
    run: ScoredRun, metrics: Sequence[str], *, seed: int, stratum: str
) -> BlindTables | None:
    """What an earlier command kept in the run, with these metrics;
    None if it was made of something else."""
    path = _place(run)
    if path is None or not path.is_file():
        return None
    try:
        stored = msgspec.json.decode(read_text(path, limit_bytes=_LARGEST), type=_Stored)
    except (msgspec.DecodeError, RecursionError, SitusError):
        return None
    if stored.made_of != _made_of(run, seed, stratum) or not set(metrics) <= set(stored.metrics):
        return None
    names = _blind_metrics(metrics)
    of_rows = {name: row.of_metrics(names) for name, row in stored.tables.baselines.items()}
    return msgspec.structs.replace(stored.tables, baselines=of_rows)


def _place(run: ScoredRun) -> Path | None:
    """Where the tables are kept; nowhere if the answers are no run's,
    or a jury's word, which may change, counts in them."""
    folder = run.replies.folder
    return None if folder is None or run.judged else folder / STORED


def _made_of(run: ScoredRun, seed: int, stratum: str) -> str:
    """Names all that the tables depend on: what the run's own scores do, and the whole bench,
    from which the rows learn."""
    answers, bench = run.replies, run.bench
    names = sorted([*(path.name for path in bench.folder.glob("*.parquet")), "bench.json"])
    files = {name: bench.digest_of(name) for name in names}
    return digest(answers.made_of, canonical_json([files, seed, stratum]))


def _blind_metrics(metrics: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in metrics if known_metrics()[name].blind)


def _baseline_scores(
    row: BlindRow, metrics: Sequence[str], seed: int, selection: Selection
) -> BaselineScores:
    names = _blind_metrics(metrics)
    make: Callable[[], BaselineScores] = partial(_tables_of, row, names, seed)
    known: BaselineScores = row.remembered((*names, seed), make)
    # A grid of boxes says nothing about questions with options.
    headline = None if row.boxes_only else headline_of(row.columns, selection)
    return msgspec.structs.replace(known, headline=headline)


def _tables_of(row: BlindRow, names: Sequence[str], seed: int) -> BaselineScores:
    columns = row.columns
    graded = row.name == "majority" and len(columns.grades.rows) > 0
    return BaselineScores(
        entries(columns.all, names, seed),
        grouped_entries(columns, "task", names, seed),
        grouped_entries(columns, "stratum", names, seed),
        sub_score_entries(columns, names, seed),
        tag_entries(columns, names, seed, graded=True) if graded else {},
    )


def _over_best(
    columns: Columns, blind: Sequence[BlindRow], selection: Selection, seed: int
) -> ShortcutGain | None:
    """On the selected items that all of them answered and a rule can judge."""
    # A grid of boxes only guesses at questions with options: chance, not a shortcut.
    learners = {
        row.name: row.columns
        for row in blind
        if row.name != _CHANCE and not (row.boxes_only and selection.closed)
    }
    chosen = selection.mask(columns)
    for other in learners.values():
        judged = other.tri_state("right") >= 0
        there = {other.item_ids[place] for place in np.flatnonzero(judged)}
        chosen &= np.fromiter((one in there for one in columns.item_ids), bool, len(columns))
    if not chosen.any():
        return None
    rows = np.flatnonzero(chosen)
    ids = [columns.item_ids[row] for row in rows]
    others = {
        name: other.right[[other.places[one] for one in ids]] for name, other in learners.items()
    }
    return gain_over_best(columns.right[rows], others, columns.clusters[rows], seed=seed)
