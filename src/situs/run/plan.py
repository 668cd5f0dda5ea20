"""Which items a run covers, and in which order they are asked: study by study."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice, pairwise

import msgspec

from situs.base.shard import Shard
from situs.bench import Bench, read_table
from situs.errors import SitusError
from situs.items import Item
from situs.run.folder import RunInfo

__all__ = ["Plan", "items_of", "plan_run", "selected_items"]


class _Key(msgspec.Struct, frozen=True):
    item_id: str
    study_id: str
    series: str
    split: str


class Plan(msgspec.Struct, frozen=True):
    """The items of a run by their ids; the items themselves are read when they are asked."""

    bench: Bench
    split: str | None
    item_ids: tuple[str, ...]
    grouped: bool
    """Whether the bench already lists items study by study."""
    without_scan: int = 0
    """Items that came without a series, as imported questions do."""
    study_ids: tuple[str, ...] = ()
    """Of each item."""
    shard: Shard | None = None
    """The part of them that is asked."""

    def part(self) -> set[str]:
        """The items of the part that is asked; those of a study are in the same."""
        if self.shard is None:
            return set(self.item_ids)
        studies = list(dict.fromkeys(self.study_ids))
        chosen = {studies[number] for number in self.shard.of_jobs(len(studies))}
        return {item for item, study in zip(self.item_ids, self.study_ids) if study in chosen}

    def read_through(self) -> None:
        """Read every item once, so that a damaged bench
        is refused before anything is written or asked."""
        for _ in islice(self.bench.items(self.split), len(self.item_ids)):
            pass

    def items(self, wanted: Callable[[str], bool]) -> Iterator[Item]:
        """The wanted items, those of one study and series together."""
        wanted_items = (
            item
            for item in islice(self.bench.items(self.split), len(self.item_ids))
            if wanted(item.item_id)
        )
        if self.grouped:
            return wanted_items
        groups: dict[tuple[str, str], list[Item]] = {}
        for item in wanted_items:
            groups.setdefault((item.study_id, item.series), []).append(item)
        return (item for group in groups.values() for item in group)


def plan_run(
    bench: Bench, split: str | None, limit: int | None, shard: Shard | None = None
) -> Plan:
    """Read the ids only: a run with nothing left to ask starts at once."""
    where = {"split": split} if split is not None else None
    keys = list(
        islice(read_table(bench.folder / "items.parquet", _Key, where=where), _count(limit))
    )
    if not keys:
        raise SitusError(
            "no item to ask",
            where=f"--split {split}",
            fix="leave --split out, or name one the bench has",
        )
    volumes = [(key.study_id, key.series) for key in keys]
    changes = 1 + sum(one != other for one, other in pairwise(volumes))
    without = sum(not key.series for key in keys)
    return Plan(
        bench,
        split,
        tuple(key.item_id for key in keys),
        changes == len(set(volumes)),
        without,
        tuple(key.study_id for key in keys),
        shard,
    )


def selected_items(
    bench: Bench, split: str | None, limit: int | None, *, steps: bool = True
) -> Iterator[Item]:
    """The items a run covers."""
    return islice(bench.items(split, steps=steps), _count(limit))


def items_of(bench: Bench, info: RunInfo, *, steps: bool = True) -> Iterator[Item]:
    """The items that a run on disk covers: those of its split, or the sample that was drawn."""
    selected = selected_items(bench, info.split, info.limit, steps=steps)
    if not info.sample:
        return selected
    wanted = set(info.sample)
    return (item for item in selected if item.item_id in wanted)


def _count(limit: int | None) -> int | None:
    """A limit beyond what Python can count is none."""
    return None if limit is None or limit > sys.maxsize else limit
