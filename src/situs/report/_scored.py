"""The runs of a report, each read and scored on the items it covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from situs.bench import Bench
from situs.errors import SitusError
from situs.items import Item
from situs.report._names import unique_names
from situs.run import AnswerRow, RunInfo, is_baseline, open_run, parse_spec, read_hidden, read_journal, selected_items
from situs.score import Entry, Outcome, Scores, score_rows

__all__ = ["ScoredRun", "entry_of", "mark_of", "read_runs"]

_INCOMPLETE = 0.01
"""More than this share failed, unjudged or missing: the run is not ranked (DEFINITIONS, Scores)."""

_METRICS = (
    "accuracy",
    "accuracy.closed",
    "accuracy.answered",
    "coverage",
    "chance",
    "mra.vsi-code@1",
    "within-interval@1",
    "skill-over-mean@1",
    "median-abs-log-ratio@1",
)

_MARKS = {
    "unparsed": "u",
    "refused": "f",
    "failed": "x",
    "missing": "m",
    "not answerable": "n",
    "unjudged": "j",
}


class ScoredRun(msgspec.Struct, frozen=True):
    """One run with its answers and scores."""

    name: str
    info: RunInfo
    rows: dict[str, AnswerRow]
    scores: Scores
    items: int

    @property
    def baseline(self) -> str:
        """`oracle`, `random`, …; empty for a model."""
        kind = parse_spec(self.info.client).kind
        return kind if is_baseline(kind) else ""

    @property
    def states(self) -> Counter[str]:
        """How many items ended in each state; what has no outcome is missing."""
        counts = Counter(outcome.state.replace("_", " ") for outcome in self.scores.outcomes.values())
        absent = self.items - len(self.scores.outcomes)
        if absent > 0:
            counts["missing"] += absent
        return counts

    @property
    def incomplete(self) -> bool:
        """Whether too much is unanswered for a rank."""
        states = self.states
        return states["failed"] + states["unjudged"] + states["missing"] > _INCOMPLETE * self.items


def read_runs(folders: Sequence[Path], bench: Path | None, seed: int) -> tuple[Bench, list[Item], list[ScoredRun]]:
    """Every run, the one bench they share, and the items any of them covers, in bench order."""
    if not folders:
        raise SitusError("no run given", fix="give one or more run folders")
    opened = [(folder, *open_run(folder, bench)) for folder in folders]
    shared = opened[0][2]
    for folder, _, other in opened:
        if other.info.content_hash != shared.info.content_hash:
            raise SitusError("is of another bench than the first run", where=folder, fix="report one bench at a time")
    names = unique_names(info.client for _, info, _ in opened)
    runs = []
    covered: dict[str, Item] = {}
    for name, (folder, info, _) in zip(names, opened):
        items = list(selected_items(shared, info.split, info.limit))
        covered.update((item.item_id, item) for item in items)
        rows = read_journal(folder / "answers.jsonl")
        scores = score_rows(
            shared,
            items.copy,
            rows,
            gives=info.profile.gives,
            profile=info.profile,
            hidden=read_hidden(folder / "hidden.jsonl"),
            metrics=_METRICS,
            seed=seed,
        )
        runs.append(ScoredRun(name, info, rows, scores, len(items)))
    order = {item_id: place for place, item_id in enumerate(item.item_id for item in shared.items())}
    return shared, sorted(covered.values(), key=lambda item: order[item.item_id]), runs


def entry_of(entries: Sequence[Entry] | None, metric: str) -> Entry | None:
    """The entry of one metric, if it was computed."""
    return next((entry for entry in entries or () if entry.metric == metric and entry.value is not None), None)


def mark_of(outcome: Outcome | None) -> str:
    """One letter for what became of an item: r right, w wrong, and the states that are neither."""
    if outcome is None:
        return "m"
    state = outcome.state.replace("_", " ")
    if state in _MARKS:
        return _MARKS[state]
    return "s" if outcome.right is None else "r" if outcome.right else "w"
