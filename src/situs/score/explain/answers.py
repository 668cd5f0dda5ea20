"""What a run answered, read back item by item."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType

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


_OF_ITEM = ("task", "form", "stratum", "tags", "question", "twin_group")
"""What a score repeats of its item; the longest of it by far are the words of the question."""


class Answered(msgspec.Struct, frozen=True):
    """One item with its answer and what became of it."""

    item: Item
    reply: AnswerRow | Mapping[str, AnswerRow] | None
    """The reply, or all of the run, in which it is looked up when asked for: those of a large run
    stay on disk."""
    scored: Scored

    @property
    def row(self) -> AnswerRow | None:
        """The reply; None if there is none."""
        reply = self.reply
        return reply.get(self.item.item_id) if isinstance(reply, Mapping) else reply

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


_NONE: Mapping[str, Answered] = MappingProxyType({})


def read_answers(
    run: Path,
    bench: Path,
    *,
    hidden: Mapping[str, tuple[str, ...]] | None = None,
    beside: Answers | None = None,
) -> Answers:
    """The scored answers of a run. With `hidden` given, those items are set aside and no others.

    Many runs are held at once: of items that are in the run `beside` it, both hold the same record.
    """
    replies = open_replies(run, bench)
    if hidden is None:
        scored = read_run(replies)
    else:
        replies = dataclasses.replace(replies, hidden=hidden)
        scored = ScoredRun.of(replies)
    known = {} if beside is None else beside.by_id
    by_id = {one.item.item_id: one for one in answered_in(scored, known)}
    replies.let_items_go()
    return Answers(by_id, replies.viewing, replies.hidden)


def answered_in(run: ScoredRun, known: Mapping[str, Answered] = _NONE) -> Iterator[Answered]:
    """Every item of a run with its reply and its score by rule, in the order of the bench.

    Items that are `known` already are not held a second time.
    """
    rows = run.replies.rows
    for item, own in zip(run.replies.items(), records_of(run.columns), strict=True):
        before = known.get(item.item_id)
        if before is not None and before.item == item:
            item = before.item
        for name in _OF_ITEM:  # each row of a table comes with words of its own
            if getattr(own, name) == getattr(item, name):
                msgspec.structs.force_setattr(own, name, getattr(item, name))
        yield Answered(item, rows, own)


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
