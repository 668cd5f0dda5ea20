"""The blind rows of a table: baselines that never see a picture,
scored on the items of the run beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from situs.items import Item, Text
from situs.run import AnswerRow, Baseline, Spec, blind_rows, make_baseline
from situs.score.blind.memory import Memory, asked_key
from situs.score.columns import Columns
from situs.score.outcomes import Asked, ReadAnswer, judge_answers
from situs.score.records import JudgedArrays, asked_arrays, columns_of, judged_table

if TYPE_CHECKING:
    import pyarrow as pa

    from situs.score.scored_run import Replies

__all__ = ["BlindRow", "BlindRows", "blind_rows_of"]

_MOST_REMEMBERED = 50_000
"""Replies of blind rows that are kept at a time, about 1 kB each;
those of a larger bench are not."""
_BATCH = 2000
"""Items whose answers are scored at a time: the columns of a few cost as much as those of many."""
_COLUMNS: Memory[dict[str, Columns]] = Memory(_MOST_REMEMBERED)
_TABLES: Memory[Any] = Memory(_MOST_REMEMBERED)


@dataclass(frozen=True)
class BlindRow:
    """One blind row."""

    name: str
    columns: Columns
    boxes_only: bool
    """It stands here for its boxes alone, and only guesses at all else."""
    key: tuple[str, str]
    items: int

    def remembered(self, what: tuple[object, ...], make: Callable[[], Any]) -> Any:
        """What was made of this row before, for another run of the same bench."""
        return _TABLES.get((*self.key, *what), self.items, make)


@dataclass(frozen=True)
class BlindRows:
    """All of them."""

    rows: list[BlindRow]
    note: str
    """What a reader of the table must know; empty if nothing was left out."""


def blind_rows_of(answers: Replies) -> BlindRows:
    """The blind rows beside a run, each on the items of the
    run that are drawn for them (`Replies.blind_sample`)."""
    sample = answers.blind_sample
    key = ""
    if sample.items <= _MOST_REMEMBERED:
        shown = answers.gives, answers.profile, answers.hidden
        key = asked_key(answers.bench, sample, *shown)
    everywhere = blind_rows("all")
    names = [*everywhere, *blind_rows("boxes")] if sample.boxed else list(everywhere)
    made = _COLUMNS.get((key, *names), sample.items, partial(_columns, answers, sample, names))
    rows = [
        BlindRow(name, made[name], name not in everywhere, (key, name), sample.items)
        for name in names
    ]
    return BlindRows(rows, sample.note)


def _columns(answers: Replies, asked: Iterable[Item], names: Sequence[str]) -> dict[str, Columns]:
    """The answers of all blind rows, item by item,
    so that all share what is shown of it, scored in batches."""
    bench, shown = answers.bench, answers.viewing
    baselines = {name: make_baseline(bench, Spec(name), viewing=shown) for name in names}
    tables = {name: [judged_table(asked_arrays([]), JudgedArrays.of([]))] for name in names}
    stream = iter(asked)
    while batch := list(islice(stream, _BATCH)):
        shown.look_ahead(batch)
        hidden = (answers.hidden.get(item.item_id, ()) for item in batch)
        put = [
            Asked.of(item, answers.gives, shown=shown, hidden=reasons)
            for item, reasons in zip(batch, hidden)
        ]
        # Nobody judges a baseline's free text: it is compared by its wording elsewhere, not
        # counted as wrong here.
        put = [one for one in put if one.reasons or not isinstance(one.item.answer, Text)]
        read = {name: [_read(one, row) for one in put] for name, row in baselines.items()}
        _add_judged(tables, [one.item for one in put], read)
    return {name: columns_of(parts) for name, parts in tables.items()}


def _add_judged(
    tables: dict[str, list[pa.Table]], items: Sequence[Item], read: dict[str, list[ReadAnswer]]
) -> None:
    """Score what was read; the columns of the items are made once for all rows."""
    asked = asked_arrays(items)
    for name, answers in read.items():
        # Nobody looks at the boxes of a blind row, and a grid has hundreds.
        judged = JudgedArrays.of(judge_answers(answers, with_boxes=False))
        first = sum(map(len, tables[name]))
        tables[name].append(judged_table(asked, judged, first, unjudged=False))


def _read(asked: Asked, baseline: Baseline) -> ReadAnswer:
    item, meant = asked.item, getattr(baseline, "meant", None)
    if meant is not None:
        return asked.meant(meant(item))
    return asked.answered(AnswerRow(item.item_id, response=baseline.answer(item) or ""))
