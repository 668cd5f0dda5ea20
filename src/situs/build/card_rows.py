"""What the card says about guessing:
collected while a bench is written, so that nothing is read back."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from situs.base.files import digest
from situs.bench import Bench, BenchInfo, SamePatient, StudyRecord
from situs.facts import Fact, Measured
from situs.items import AverageAnatomy, Choice, Choices, Item, YesNo, all_tasks
from situs.score import blind_headlines, option_tricks, told_by_other_answers

__all__ = ["CardRows"]

_BLIND_ITEMS = 12_000
"""Of a bench with more closed questions than this,
blind rows are worked out on a sample, drawn by id."""
_CLOSED = (YesNo, Choice, Choices)
_BATCH = 512
_UNSAID = Measured("", {}, ())

T = TypeVar("T")
Rows = dict[str, dict[str, str]]
"""Stratum → name of a row → what it reaches there."""


class _Packed(Generic[T]):
    """Records in little memory (about a tenth):
    encoded and compressed as they come, decoded as they are read."""

    def __init__(self, kind: type[T]) -> None:
        self._decoder = msgspec.msgpack.Decoder(list[kind])  # type: ignore[valid-type]
        self._batches: list[bytes] = []
        self._waiting: list[T] = []
        self.count = 0

    def add(self, record: T) -> None:
        self._waiting.append(record)
        self.count += 1
        if len(self._waiting) == _BATCH:
            # Level 1: texts repeat so much that a higher one saves little and costs more time than
            # the encoding.
            self._batches.append(zlib.compress(msgspec.msgpack.encode(self._waiting), 1))
            self._waiting = []

    def __iter__(self) -> Iterator[T]:
        for batch in self._batches:
            yield from self._decoder.decode(zlib.decompress(batch))
        yield from self._waiting


class CardRows:
    """The closed questions of a bench, and what blind rows learn from:
    pictures, steps and other facts are left out."""

    def __init__(self) -> None:
        self._studies = _Packed(StudyRecord)
        self._facts = _Packed(Fact)
        self._items = _Packed(Item)

    def add(self, study: StudyRecord, facts: Iterable[Fact], items: Iterable[Item]) -> None:
        """One study with its facts and items."""
        self._studies.add(study)
        # Tasks about masks alone learn the average anatomy; what came with other evidence is not
        # their ground.
        for fact in () if study.evidence else facts:
            if fact.kind in self._learnt:
                self._facts.add(msgspec.structs.replace(fact, derivation=_UNSAID))
        for item in items:
            if isinstance(item.answer, _CLOSED):
                self._items.add(msgspec.structs.replace(item, steps=(), boxes=(), fact_ids=()))

    @cached_property
    def _learnt(self) -> frozenset[str]:
        """Kinds of facts that any task may learn from:
        which tasks are asked is known at the end only."""
        return frozenset(AverageAnatomy.kinds(all_tasks()))

    def blind(self, folder: Path, info: BenchInfo) -> Rows:
        """What each blind baseline reaches on yes/no and choice questions,
        as `situs score` shows it."""
        if not self._items.count:
            return {}
        every = -(-self._items.count // _BLIND_ITEMS)

        def sample() -> Iterator[Item]:
            for item in self._items:
                if every == 1 or int(digest(item.item_id, size=4), 16) % every == 0:
                    yield item

        in_hand = _BenchInHand(folder, info, self._studies, self._facts, self._items)
        result: Rows = defaultdict(dict)
        for stratum, rows in blind_headlines(in_hand, sample).items():
            for name, row in rows.items():
                bounds = f" ({row.ci95[0]:.3f}–{row.ci95[1]:.3f})" if row.ci95 else ""
                result[stratum][name] = "–" if row.value is None else f"{row.value:.3f}{bounds}"
                result[stratum]["chance"] = "–" if row.chance is None else f"{row.chance:.3f}"
                result[stratum]["n (a sample)" if every > 1 else "n"] = f"{row.n:,}"
        return dict(result)

    def tricks(self) -> Rows:
        """What each option trick reaches."""
        return {
            stratum: {name: f"{right / asked:.2f}" for name, (right, asked) in table.items()}
            for stratum, table in sorted(option_tricks(self._items).items())
        }

    def same_patient(self) -> SamePatient | None:
        """What a patient's other answers tell; None if nobody is asked two things."""
        return told_by_other_answers(self._items)


class _BenchInHand(Bench):
    """A bench as blind rows learn from it, from memory."""

    def __init__(
        self,
        folder: Path,
        info: BenchInfo,
        studies: Iterable[StudyRecord],
        facts: Iterable[Fact],
        items: Iterable[Item],
    ) -> None:
        super().__init__(folder, info)
        self._study_rows = studies
        self._fact_rows = facts
        self._item_rows = items

    def studies(self) -> Iterator[StudyRecord]:
        """Every study."""
        return iter(self._study_rows)

    @cached_property
    def study_ids(self) -> frozenset[str]:
        """The id of every study."""
        return frozenset(study.study_id for study in self._study_rows)

    def facts(self, *, checked: bool = True, **where: str | Collection[str]) -> Iterator[Fact]:
        """Facts about the average anatomy; no others are kept."""
        wanted = {name: {v} if isinstance(v, str) else set(v) for name, v in where.items()}
        for fact in self._fact_rows:
            if all(getattr(fact, name) in values for name, values in wanted.items()):
                yield fact

    def items(
        self,
        split: str | None = None,
        *,
        steps: bool = True,
        checked: bool = True,
        ids: Collection[str] | None = None,
    ) -> Iterator[Item]:
        """Closed questions, without their steps."""
        wanted = None if ids is None else frozenset(ids)
        for item in self._item_rows:
            if split in (None, item.split) and (wanted is None or item.item_id in wanted):
                yield item
