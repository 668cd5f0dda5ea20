"""What a run answered, read back item by item."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np

from situs.items import Choice, Item
from situs.run import AnswerRow, Viewing
from situs.score.columns import Columns
from situs.score.judgements import Judgement
from situs.score.outcomes import Scored
from situs.score.records import columns_of, judgements_of, records_of, scored_table
from situs.score.scored_run import ScoredRun, open_replies, read_run

__all__ = ["Answered", "Answers", "Judged", "answered_in", "judged_in", "read_answers", "said_by"]

_BATCH = 2000
"""Items looked at together; of no more is what is seen of their pictures remembered."""


class Answered(msgspec.Struct, frozen=True):
    """One item with its answer and what became of it."""

    item: Item
    row: AnswerRow | None
    scored: Scored

    @property
    def right(self) -> bool:
        """Whether it counts as right."""
        return bool(self.scored.outcome.right)

    @property
    def counts(self) -> bool:
        """Whether it is inside accuracy: answerable, and judged by rule."""
        return self.scored.outcome.state not in ("not answerable", "unjudged")

    @property
    def judgement(self) -> Judgement:
        """What became of the answer, apart from whose it is."""
        return self.scored.judgement

    @property
    def credit(self) -> float:
        """1 if right, else 0; a reply that was not read counts as a guess (`Scored.credit`)."""
        return self.scored.credit


@dataclass(frozen=True, slots=True)
class Judged:
    """The same without what tables group answers by; the reply is looked up when asked for."""

    item: Item
    judgement: Judgement
    """Without the scores of metrics and grades."""
    replies: Mapping[str, AnswerRow]

    @property
    def row(self) -> AnswerRow | None:
        """The reply."""
        return self.replies.get(self.item.item_id)


class Answers:
    """The answers of a run by item id, and what was shown."""

    def __init__(
        self, by_id: Mapping[str, Answered], shown: Viewing, hidden: Mapping[str, tuple[str, ...]]
    ) -> None:
        self.by_id = by_id
        self.shown = shown
        self.hidden = hidden

    @cached_property
    def columns(self) -> Columns:
        """The scores as columns."""
        return columns_of([scored_table([one.scored for one in self.by_id.values()])])


def read_answers(
    run: Path, bench: Path, *, hidden: Mapping[str, tuple[str, ...]] | None = None
) -> Answers:
    """The scored answers of a run. With `hidden` given, those items are set aside and no others."""
    replies = open_replies(run, bench)
    if hidden is None:
        scored = read_run(replies)
    else:
        replies = dataclasses.replace(replies, hidden=hidden)
        scored = ScoredRun.of(replies)
    by_id = {one.item.item_id: one for one in answered_in(scored)}
    return Answers(by_id, replies.viewing, replies.hidden)


def answered_in(run: ScoredRun) -> Iterator[Answered]:
    """Every item of a run with its reply and its score by rule, in the order of the bench."""
    scored = records_of(run.columns)
    for item, own in zip(run.replies.items(), scored, strict=True):
        yield Answered(item, run.replies.rows.get(item.item_id), own)


def judged_in(run: ScoredRun, wanted: Callable[[Item, bool], bool]) -> Iterator[Judged]:
    """The wanted items of a run, told by the item and whether its answer is right, in the order of
    the bench: what of nobody is asked about never becomes a record."""
    columns, items = run.columns, iter(run.replies.items())
    order = np.argsort(columns.numbers("position"), kind="stable")
    right = columns.right[order].tolist()
    for start in range(0, len(order), _BATCH):
        batch = list(islice(items, _BATCH))
        chosen = [row for row, item in enumerate(batch, start) if wanted(item, right[row])]
        judged = judgements_of(columns, order[chosen])
        run.replies.viewing.look_ahead([batch[row - start] for row in chosen])
        for row, judgement in zip(chosen, judged):
            yield Judged(batch[row - start], judgement, run.replies.rows)


def said_by(answered: Answered) -> str | None:
    """The answer as a value that can be compared across orders of options;
    None where none was read."""
    outcome = answered.scored.outcome
    if outcome.state != "answered":
        return None
    if isinstance(answered.item.answer, Choice):
        number = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".find(outcome.parsed)
        options = answered.item.options
        return options[number].value if 0 <= number < len(options) else outcome.parsed
    return outcome.parsed
