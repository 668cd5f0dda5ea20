"""What a run answered, read back item by item.

Probing holds many runs at once, of half a million answers each. So the items of a bench are held
once for all its runs, without what nobody asks of an answered item and with one copy of what they
have in common; the scores stay columns, and replies stay on disk. A record of an answer is made
when it is asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import numpy as np

from situs.base.collecting import give_memory_back
from situs.items import Answer, Choice, Compound, Grades, Item, Simple
from situs.run import AnswerRow, Viewing
from situs.score.columns import UNANSWERED, Coded, Columns
from situs.score.judgements import Judgement
from situs.score.outcomes import Score, Scored
from situs.score.records import columns_of, judgements_of, scored_table
from situs.score.scored_run import ScoredRun, open_replies, read_run

__all__ = [
    "Answered",
    "Answers",
    "Judged",
    "answers_of",
    "judged_in",
    "read_answers",
    "said_by",
    "scored_answers",
]

T = TypeVar("T")
_BATCH = 2000
"""Items looked at together; of no more is what is seen of their pictures remembered."""


class KeptScores:
    """The scores of a run, as far as somebody asks for one of them."""

    COLUMNS = ("item_id", "stratum", "state", "right", "parsed", "prediction", "chance")

    def __init__(self, columns: Columns) -> None:
        own = Columns(columns.table.select(self.COLUMNS))
        self.columns = Columns(own.table)  # without what is only looked at here
        self.states, self.strata = _small(own.coded("state")), _small(own.coded("stratum"))
        self.right, self.chance = own.tri_state("right"), own.chance
        self.parsed = own.table["parsed"].combine_chunks()
        self.prediction = own.table["prediction"].combine_chunks()

    def forget_open_words(self) -> None:
        """Of answers without options, nobody asks any more what was read."""
        import pyarrow as pa
        import pyarrow.compute as pc

        is_closed = pa.array(~np.isnan(self.chance))
        words = pc.if_else(is_closed, self.parsed, "").dictionary_encode()
        numbers = pa.nulls(len(is_closed), pa.string())
        table = self.columns.table
        for name, column in (("parsed", words), ("prediction", numbers)):
            table = table.set_column(table.column_names.index(name), name, column)
        self.columns, self.parsed, self.prediction = Columns(table), words, numbers


def _small(words: Coded) -> Coded:
    """With the smallest codes that tell its few words apart."""
    return Coded(words.codes.astype(np.min_scalar_type(len(words.names))), words.names)


@dataclass(frozen=True, slots=True)
class KeptScore:
    """The score in one row."""

    kept: KeptScores
    row: int

    @property
    def state(self) -> str:
        """See `Score`."""
        return self.kept.states.at(self.row)

    @property
    def right(self) -> bool | None:
        """See `Score`."""
        right = self.kept.right[self.row]
        return None if right < 0 else bool(right)

    @property
    def parsed(self) -> str:
        """See `Score`."""
        return str(self.kept.parsed[self.row].as_py())

    @property
    def stratum(self) -> str:
        """See `Score`."""
        return self.kept.strata.at(self.row)

    @property
    def chance(self) -> float | None:
        """See `Score`."""
        chance = float(self.kept.chance[self.row])
        return None if chance != chance else chance

    @property
    def prediction(self) -> Fraction | None:
        """See `Score`."""
        text = self.kept.prediction[self.row].as_py()
        return None if text is None else Fraction(text)

    @property
    def credit(self) -> float:
        """See `Score`."""
        if self.state in UNANSWERED and self.chance is not None:
            return self.chance
        return float(bool(self.right))


class Answered(msgspec.Struct, frozen=True, gc=False):
    """One item with its answer and what became of it."""

    item: Item
    reply: AnswerRow | Mapping[str, AnswerRow] | None
    """The reply, or all of the run, in which it is looked up when asked for: those of a large run
    stay on disk."""
    scored: Score

    @property
    def row(self) -> AnswerRow | None:
        """The reply; None if there is none."""
        reply = self.reply
        return reply.get(self.item.item_id) if isinstance(reply, Mapping) else reply

    @property
    def right(self) -> bool:
        """Whether it counts as right."""
        return bool(self.scored.right)

    @property
    def counts(self) -> bool:
        """Whether it is inside accuracy: answerable, and judged by rule."""
        return self.scored.state not in ("not answerable", "unjudged")

    @property
    def credit(self) -> float:
        """1 if right, else 0; a reply that was not read counts as a guess (`Scored.credit`)."""
        return self.scored.credit


@dataclass(frozen=True, slots=True)
class Judged:
    """An item with all that became of the answer to it; the reply is looked up when asked for."""

    item: Item
    judgement: Judgement
    """Mostly without the scores of metrics and grades."""
    replies: Mapping[str, AnswerRow]

    @property
    def row(self) -> AnswerRow | None:
        """The reply."""
        return self.replies.get(self.item.item_id)


class AskedItems:
    """The items of a run by their rows among its scores."""

    def __init__(self, run: ScoredRun) -> None:
        self._ids = run.columns.table["item_id"].combine_chunks()
        self._bench_hash = run.bench.info.content_hash
        shared = _Shared()
        in_bench = [shared.once(item) for item in run.replies.items()]
        places = np.argsort(np.argsort(run.columns.numbers("position"), kind="stable"))
        self.items = [in_bench[place] for place in places.tolist()]
        self.places = {item.item_id: row for row, item in enumerate(self.items)}

    def are_of(self, run: ScoredRun) -> bool:
        """Whether another run was asked the same items."""
        ids = run.columns.table["item_id"].combine_chunks()
        is_same_bench = self._bench_hash == run.bench.info.content_hash
        return is_same_bench and bool(self._ids.equals(ids))


class _Shared:
    """What many items have in common, held once."""

    _MOST = 200_000
    """Different values that are remembered."""
    _FIELDS = tuple(
        field.name
        for field in msgspec.structs.fields(Item)
        if field.name not in ("item_id", "answer", "parameters", "steps", "fact_ids", "difficulty")
    )

    def __init__(self) -> None:
        self._known: dict[object, object] = {}

    def once(self, item: Item) -> Item:
        """The item with the earlier copy of everything that came before. Its reasoning and the
        facts behind it are left out."""
        if len(self._known) >= self._MOST:
            self._known.clear()
        own = {name: self._first(name, getattr(item, name)) for name in self._FIELDS}
        return msgspec.structs.replace(
            item,
            **own,
            parameters=self._first(tuple(item.parameters.items()), item.parameters),
            answer=self._answer(item.answer),
            steps=(),
            fact_ids=(),
        )

    def _answer(self, answer: Answer) -> Answer:
        match answer:
            case Compound(parts):
                return Compound({self._first("part", k): self._part(v) for k, v in parts.items()})
            case _:
                return self._part(answer)

    def _part(self, answer: Simple) -> Simple:
        """Tables of grades have no hash."""
        of_kind = tuple(answer.grades.items()) if isinstance(answer, Grades) else answer
        return self._first((type(answer), of_kind), answer)

    def _first(self, key: object, value: T) -> T:
        """The first value with this key; its own kind stands beside a key that may equal others."""
        known: Any = self._known.setdefault((key, value) if isinstance(key, str) else key, value)
        return cast(T, known)


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
        rows = (one.scored for one in self.by_id.values())
        return columns_of([scored_table([one for one in rows if isinstance(one, Scored)])])

    def forget_words(self) -> None:
        """Nobody asks any more what was replied, nor, without options, what was read."""


class KeptAnswers(Answers):
    """Those of a run on disk, of which no more is held than what is asked for."""

    by_id: _ByID

    def __init__(self, run: ScoredRun, asked: AskedItems) -> None:
        replies = run.replies
        by_id = _ByID(asked, KeptScores(run.columns), replies.rows)
        super().__init__(by_id, replies.viewing, replies.hidden)

    @property
    def asked(self) -> AskedItems:
        """The items."""
        return self.by_id.asked

    @cached_property
    def columns(self) -> Columns:
        """The scores as columns."""
        return self.by_id.scores.columns

    def forget_words(self) -> None:
        """Nobody asks any more what was replied, nor, without options, what was read."""
        self.by_id.replies = {}
        self.by_id.scores.forget_open_words()
        give_memory_back()


class _ByID(Mapping[str, Answered]):
    """Answers by item id, in the order of ids."""

    def __init__(
        self, asked: AskedItems, scores: KeptScores, replies: Mapping[str, AnswerRow]
    ) -> None:
        self.asked, self.scores, self.replies = asked, scores, replies

    def __getitem__(self, item_id: str) -> Answered:
        return self._at(self.asked.places[item_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self.asked.places)

    def __len__(self) -> int:
        return len(self.asked.items)

    def __contains__(self, item_id: object) -> bool:
        return item_id in self.asked.places

    def _at(self, row: int) -> Answered:
        return Answered(self.asked.items[row], self.replies, KeptScore(self.scores, row))


def scored_answers(
    run: Path, bench: Path, *, hidden: Mapping[str, tuple[str, ...]] | None = None
) -> ScoredRun:
    """A run, scored. With `hidden` given, those items are set aside and no others."""
    replies = open_replies(run, bench)
    if hidden is None:
        return read_run(replies)
    return ScoredRun.of(dataclasses.replace(replies, hidden=hidden))


def answers_of(run: ScoredRun, beside: Answers | None = None) -> KeptAnswers:
    """The answers of a scored run; its items are those of the run `beside` it, if these were asked
    there, too."""
    asked = beside.asked if isinstance(beside, KeptAnswers) else None
    if asked is None or not asked.are_of(run):
        asked = AskedItems(run)
    run.replies.let_items_go()
    return KeptAnswers(run, asked)


def read_answers(run: Path, bench: Path, *, beside: Answers | None = None) -> KeptAnswers:
    """The scored answers of a run folder."""
    return answers_of(scored_answers(run, bench), beside)


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
    if answered.scored.state != "answered":
        return None
    parsed = answered.scored.parsed
    if isinstance(answered.item.answer, Choice):
        number = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".find(parsed)
        options = answered.item.options
        return options[number].value if 0 <= number < len(options) else parsed
    return parsed
