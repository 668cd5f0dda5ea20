"""The runs of a report, each read and scored on the items it covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from situs.bench import Bench
from situs.errors import SitusError
from situs.items import Item
from situs.report.causes import causes_of, find_causes
from situs.report.names import spec_of, unique_names
from situs.run import (
    AnswerRow,
    RunInfo,
    Viewing,
    is_baseline,
    items_of,
    open_run,
    read_hidden,
    read_journal,
)
from situs.score import HEADLINE, Entry, Outcome, Scored, Scores, judge, score_rows
from situs.score.explain import Budget

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
    scored: dict[str, Scored] = {}
    """Each item's score with what breakdowns group by."""
    causes: dict[str, str] = {}
    """Item → why the answer is wrong, where that can be told."""
    kept: Scores | None = None
    """What `situs score` last wrote into the run, with judges and text metrics."""
    budget: Budget | None = None

    @property
    def kind(self) -> str:
        """`model`, `baseline`, `reader` (a person) or `text` (a model from which the pictures were withheld)."""
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
        """`oracle`, `random`, …; empty for a model, also one whose answers of elsewhere are replayed."""
        kind = spec_of(self.info.client).kind
        return kind if is_baseline(kind) else ""

    @property
    def states(self) -> Counter[str]:
        """How many items ended in each state; what has no outcome is missing."""
        counts = Counter(
            outcome.state.replace("_", " ") for outcome in self.scores.outcomes.values()
        )
        absent = self.items - len(self.scores.outcomes)
        if absent > 0:
            counts["missing"] += absent
        return counts

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
) -> tuple[Bench, list[Item], list[ScoredRun]]:
    """Every run, the one bench they share, and the items any of them covers, in bench order.

    `names` are what the runs are called, in their order; without, each goes by its client. `stratum` is what the
    headline is about.
    """
    if not folders:
        raise SitusError("no run given", fix="give one or more run folders")
    opened = [(folder, *open_run(folder, bench)) for folder in folders]
    shared = opened[0][2]
    for folder, _, other in opened:
        if other.info.content_hash != shared.info.content_hash:
            raise SitusError(
                "is of another bench than the first run",
                where=folder,
                fix="report one bench at a time",
            )
    if names and (len(names) != len(opened) or len(set(names)) < len(names)):
        raise SitusError(
            "not one name of its own for each run",
            where="--names",
            fix="give as many as there are runs",
        )
    called = list(names) or unique_names(
        (info.client for _, info, _ in opened),
        (" (text only)" if info.withheld else "" for _, info, _ in opened),
    )
    runs = []
    covered: dict[str, Item] = {}
    for name, (folder, info, _) in zip(called, opened):
        items = list(items_of(shared, info))
        covered.update((item.item_id, item) for item in items)
        rows = read_journal(folder / "answers.jsonl")
        hidden, kept = read_hidden(folder / "hidden.jsonl"), _kept(folder / "scores.json")
        scores = score_rows(
            shared,
            items.copy,
            rows,
            gives=info.profile.gives,
            profile=info.profile,
            hidden=hidden,
            metrics=_METRICS,
            seed=seed,
            judged=kept.outcomes if kept is not None and kept.jury is not None else {},
            stratum=stratum,
        )
        shown = Viewing(shared, info.profile)
        scored = {}
        for item in items:
            own = judge(
                item,
                rows.get(item.item_id),
                info.profile.gives,
                shown=shown,
                hidden=hidden.get(item.item_id, ()),
            )
            scored[item.item_id] = msgspec.structs.replace(
                own, outcome=scores.outcomes[item.item_id]
            )
        budget = find_causes(shared, items, rows, info.profile, hidden)
        runs.append(
            ScoredRun(name, info, rows, scores, len(items), scored, causes_of(budget), kept, budget)
        )
    order = {
        item_id: place for place, item_id in enumerate(item.item_id for item in shared.items())
    }
    return shared, sorted(covered.values(), key=lambda item: order[item.item_id]), runs


def _kept(path: Path) -> Scores | None:
    """What `situs score` last found, if it was run."""
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Scores)
    except (msgspec.DecodeError, OSError) as error:
        fix = "run situs score again, or remove the file"
        raise SitusError("is not what situs score writes", where=path, fix=fix) from error


def entry_of(entries: Sequence[Entry] | None, metric: str) -> Entry | None:
    """The entry of one metric, if it was computed."""
    return next(
        (entry for entry in entries or () if entry.metric == metric and entry.value is not None),
        None,
    )


def mark_of(outcome: Outcome | None) -> str:
    """One letter for what became of an item: r right, w wrong, and the states that are neither."""
    if outcome is None:
        return "m"
    state = outcome.state.replace("_", " ")
    if state in _MARKS:
        return _MARKS[state]
    return "s" if outcome.right is None else "r" if outcome.right else "w"
