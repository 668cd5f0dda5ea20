"""What a run answered, read back item by item."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from situs.items import Choice, Item
from situs.run import AnswerRow, Viewing, open_run, read_hidden, read_journal, selected_items
from situs.score import Scored, judge

__all__ = ["Answered", "Answers", "read_answers", "said_by"]


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
    def credit(self) -> float:
        """1 if right, else 0; a reply that was not read counts as a guess (`Scored.credit`)."""
        return self.scored.credit


class Answers:
    """The answers of a run by item id, and what was shown."""

    def __init__(
        self, by_id: Mapping[str, Answered], shown: Viewing, hidden: Mapping[str, tuple[str, ...]]
    ) -> None:
        self.by_id = by_id
        self.shown = shown
        self.hidden = hidden


def read_answers(
    run: Path, bench: Path, *, hidden: Mapping[str, tuple[str, ...]] | None = None
) -> Answers:
    """Judge the answers of a run. With `hidden` given, those items are set aside and no others."""
    info, opened = open_run(run, bench)
    rows = read_journal(run / "answers.jsonl")
    away = read_hidden(run / "hidden.jsonl") if hidden is None else hidden
    shown = Viewing(opened, info.profile)
    found = {}
    for item in selected_items(opened, info.split, info.limit):
        row = rows.get(item.item_id)
        scored = judge(
            item, row, info.profile.gives, shown=shown, hidden=away.get(item.item_id, ())
        )
        found[item.item_id] = Answered(item, row, scored)
    return Answers(found, shown, away)


def said_by(answered: Answered) -> str | None:
    """The answer as a value that can be compared across orders of options; None where none was read."""
    outcome = answered.scored.outcome
    if outcome.state != "answered":
        return None
    if isinstance(answered.item.answer, Choice):
        place = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".find(outcome.parsed)
        options = answered.item.options
        return options[place].value if 0 <= place < len(options) else outcome.parsed
    return outcome.parsed
