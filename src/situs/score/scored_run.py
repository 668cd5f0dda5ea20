"""A run with every answer read and scored once: what tables, comparisons, breakdowns and the report
start from.

The columns are kept in the run as `scores.parquet`, and read back as long as they are of this
bench, these answers and this version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

import msgspec

from situs import __version__
from situs.base.collecting import give_memory_back
from situs.base.files import canonical_json, digest, file_digest
from situs.bench import Bench, open_bench
from situs.errors import SitusError
from situs.items import Item
from situs.profiles import Profile
from situs.run import (
    NATIVE,
    AnswerRow,
    RunInfo,
    StoredRows,
    Viewing,
    items_of,
    open_run,
    read_hidden,
    surveyed,
)
from situs.score.blind.sample import BlindSample
from situs.score.columns import Columns
from situs.score.metrics.registry import known_metrics
from situs.score.outcomes import Asked, Outcome, Scored
from situs.score.plain_answers import judged_replies
from situs.score.read import known_language
from situs.score.records import (
    JudgedArrays,
    asked_arrays,
    columns_of,
    judged_table,
    outcomes_of,
    records_of,
    with_outcomes,
)
from situs.score.stored_columns import COLUMNS_VERSION, STORED, read_scores, write_scores

__all__ = [
    "Replies",
    "ScoredRun",
    "keep_run",
    "open_replies",
    "read_run",
    "replies_of_run",
    "score_columns",
]

_BATCH = 2000
"""Replies scored at a time."""


@dataclass(frozen=True)
class Replies:
    """What was replied to the items of a bench, and what was shown."""

    bench: Bench
    rows: Mapping[str, AnswerRow]
    info: RunInfo | None = None
    """None for a file of answers by another tool."""
    profile: Profile | None = None
    """Without one, places are told in stored frames and pixels."""
    hidden: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Item → why the pictures do not hold what it needs."""
    folder: Path | None = None
    needs_checked: bool = True
    """Whether items that need more than the profile promises are left out."""
    chosen: Callable[[], Iterable[Item]] | None = None
    """The items that are asked about; without, those of the run, or of the bench."""

    def items(self) -> Iterator[Item]:
        """What was asked, in the order of the bench, without the steps of reasoning."""
        if self.chosen is not None:
            return iter(self.chosen())
        self.bench.hold_items()
        if self.info is None:
            return self.bench.items(steps=False)
        return items_of(self.bench, self.info, steps=False)

    @property
    def gives(self) -> tuple[str, ...] | None:
        """What the profile promises; None if none is known, or nobody asks."""
        if self.profile is None or not self.needs_checked:
            return None
        return self.profile.gives

    @cached_property
    def viewing(self) -> Viewing:
        """The pictures."""
        return Viewing(self.bench, self.profile)

    @cached_property
    def blind_sample(self) -> BlindSample:
        """The items that the blind rows answer."""
        return BlindSample(self.items)

    @cached_property
    def made_of(self) -> bytes:
        """Names all that the scores of a run depend on:
        bench, answers, what was shown, the version and its metrics."""
        info, folder = self.info, self.folder
        assert info is not None
        assert folder is not None
        return canonical_json(
            {
                "version": __version__,
                "columns": COLUMNS_VERSION,
                "bench": self.bench.info.content_hash,
                # What stands in the file, too: a bench that was changed by hand keeps its hash.
                "items": self.bench.digest_of("items.parquet"),
                "answers": file_digest(folder / "answers.jsonl"),
                "hidden": digest(canonical_json(dict(sorted(self.hidden.items())))),
                "profile": info.profile_hash,
                "asked": [info.split, info.limit, list(info.sample)],
                "metrics": list(known_metrics()),
            }
        )

    def let_items_go(self) -> None:
        """They are not gone through several times any more: who does is read to again."""
        self.bench.let_items_go()
        self.blind_sample.let_go()
        give_memory_back()

    def items_once(self) -> Iterator[Item]:
        """As `items`, taken down on the way for the blind rows,
        who then need not go through them again; once that was done, it is not done again."""
        if self.blind_sample.is_complete:
            return self.items()
        items = self.blind_sample.passing(self.items())
        info = self.info
        is_whole = info is None or (info.split is None and info.limit is None and not info.sample)
        return surveyed(self.viewing, items) if is_whole and self.chosen is None else items


@dataclass(frozen=True)
class ScoredRun:
    """A run, scored."""

    replies: Replies
    columns: Columns
    judged: Mapping[str, Outcome] = field(default_factory=dict)
    """What a jury found, where it was asked."""

    @classmethod
    def of(cls, answers: Replies) -> ScoredRun:
        """The answers, scored now."""
        return cls(answers, score_columns(answers))

    @property
    def bench(self) -> Bench:
        """What was asked of."""
        return self.replies.bench

    @cached_property
    def final(self) -> Columns:
        """The columns with the jury's word."""
        return with_outcomes(self.columns, self.judged)

    def outcomes(self) -> dict[str, Outcome]:
        """Item id → what became of its answer, in the order of the bench."""
        return outcomes_of(self.final)

    def pairs(self) -> Iterator[tuple[Item, Scored]]:
        """Every item with its score, in the order of the bench."""
        return zip(self.replies.items(), records_of(self.final), strict=True)


def open_replies(
    answers: Path,
    bench: Path | None = None,
    *,
    profile: Profile | None = None,
    reply_language: str | None = None,
) -> Replies:
    """A run folder, or a file of answers by another tool (then `bench` is needed).

    `profile` says what another tool showed; a run knows its own. `reply_language` is that of the
    replies, where it is not the profile's.
    """
    if not answers.is_dir() and bench is not None:
        replies = Replies(open_bench(bench), StoredRows(answers), profile=profile)
    else:
        replies = replies_of_run(answers, bench)
    if reply_language is not None:
        spoken = known_language(reply_language)
        shown = msgspec.structs.replace(replies.profile or NATIVE, reply_language=spoken)
        replies = Replies(replies.bench, replies.rows, replies.info, shown, replies.hidden)
    return replies


def replies_of_run(run: Path, bench: Path | None = None, *, known: Bench | None = None) -> Replies:
    """A run folder; `known` is a bench that is open already, for a run on it."""
    info, opened = open_run(run, bench, known=known)
    hidden = read_hidden(run / "hidden.jsonl")
    return Replies(opened, StoredRows(run / "answers.jsonl"), info, info.profile, hidden, run)


def read_run(answers: Replies, *, beside_blind: bool = False) -> ScoredRun:
    """The run's columns, as they are kept in it if they are still true, else scored anew and kept.

    `beside_blind` says that blind rows will be asked for, which take down what they need in the
    same pass.
    """
    path = None if answers.folder is None else answers.folder / STORED
    if path is not None and (kept := read_scores(path, answers.made_of)) is not None:
        return ScoredRun(answers, *kept)
    run = ScoredRun(answers, score_columns(answers, beside_blind=beside_blind))
    # Answers to nothing that was asked are refused by whoever reads them: nothing is left of them.
    if path is not None and not answers.rows.keys().isdisjoint(run.columns.item_ids):
        keep_run(run)
    return run


def keep_run(run: ScoredRun) -> None:
    """Keep the columns in the run's folder;
    where it cannot be written to, they are scored anew next time."""
    if run.replies.folder is not None:
        place = run.replies.folder / STORED
        write_scores(place, run.columns.table, run.judged, run.replies.made_of)


def score_columns(answers: Replies, *, beside_blind: bool = False) -> Columns:
    """Read and score every answer, once."""
    items = answers.items_once() if beside_blind else answers.items()
    tables = [
        judged_table(asked_arrays(batch), _judged(answers, batch), first)
        for first, batch in _batches(items)
    ]
    if not tables:
        raise SitusError("no item to score", where=answers.bench.folder, fix="check the split")
    return columns_of(tables)


def _judged(answers: Replies, items: Sequence[Item]) -> JudgedArrays:
    """What became of the answers to a batch of items."""
    gives, shown, hidden = answers.gives, answers.viewing, answers.hidden
    asked = [
        Asked.of(item, gives, shown=shown, hidden=hidden.get(item.item_id, ())) for item in items
    ]
    return judged_replies(asked, [answers.rows.get(item.item_id) for item in items])


def _batches(items: Iterable[Item], size: int = _BATCH) -> Iterator[tuple[int, list[Item]]]:
    """Items in pieces, each with the place of its first."""
    stream, first = iter(items), 0
    while batch := list(islice(stream, size)):
        yield first, batch
        first += len(batch)
