"""The items of a report, of which there may be half a million: what its tables need of each is
taken down as they pass once, and the items themselves are read again where one is shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from situs.bench import Bench
from situs.items import Choice, Item, Number, boxes_in
from situs.score import cluster_of
from situs.score.facets import side_of_value, size_of, structures_of, volumes_ml

__all__ = ["Alike", "Covered", "CoveredItem", "series_key"]


class CoveredItem(NamedTuple):
    """What is kept of an item."""

    item_id: str
    task: str
    stratum: str
    cluster: str
    """Its patient."""
    study_id: str
    series: str
    has_boxes: bool
    twin_group: str
    twin_of: str


class Alike(NamedTuple):
    """Items that belong to the same groups of the charts."""

    task: str
    structures: tuple[str, ...]
    tags: tuple[str, ...]
    size: tuple[str, ...]
    """Of the first structure whose volume is known."""


class Covered(Sequence[CoveredItem]):
    """The items that any run of a report covers, in the order of the bench."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.alike: dict[Alike, list[str]] = {}
        """Groups of items, with the ids of their items."""
        self.units: dict[str, str] = {}
        """The unit of each item that asks for a number."""
        self.sided: list[Item] = []
        """Those that offer left and right."""
        self._rows: list[CoveredItem] = []
        self._volumes = volumes_ml(bench)
        # Thousands of items have the same words: each is kept once.
        self._words: dict[str, str] = {}

    def add(self, items: Iterable[Item], ids: Collection[str]) -> None:
        """Take down the items of a run, of which these are the ids; those that are known already
        are not even looked at."""
        known = {row.item_id for row in self._rows}
        if known.issuperset(ids):
            return
        for item in items:
            if item.item_id not in known:
                self._add(item)
        if known:
            order = self.bench.item_ids()
            place = {item_id: number for number, item_id in enumerate(order)}
            self._rows.sort(key=lambda row: place[row.item_id])

    def _add(self, item: Item) -> None:
        word = self._words.setdefault
        self._rows.append(
            CoveredItem(
                item.item_id,
                word(item.task, item.task),
                word(item.stratum, item.stratum),
                word(cluster := cluster_of(item), cluster),
                word(item.study_id, item.study_id),
                word(item.series, item.series),
                bool(boxes_in(item.answer)),
                word(item.twin_group, item.twin_group),
                item.twin_of,
            )
        )
        structures = structures_of(item)
        size = size_of(item, structures, self._volumes)
        self.alike.setdefault(Alike(item.task, structures, item.tags, size), []).append(
            item.item_id
        )
        if isinstance(item.answer, Number):
            self.units[item.item_id] = item.answer.unit
        if isinstance(item.answer, Choice):
            offered = {side_of_value(option.value) for option in item.options}
            if {"left", "right"} <= offered:
                self.sided.append(item)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[CoveredItem]:
        return iter(self._rows)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._rows[index]

    def items(self, ids: Collection[str]) -> dict[str, Item]:
        """Some of the items, with their steps of reasoning, in the order of the bench."""
        return {item.item_id: item for item in self.bench.items(ids=ids)} if ids else {}

    def others(self, ids: Collection[str]) -> Iterator[Item]:
        """All but these, without their steps, in the order of the bench, read as they are asked
        for."""
        covered = {row.item_id for row in self._rows}
        for item in self.bench.items(steps=False):
            if item.item_id in covered and item.item_id not in ids:
                yield item


def series_key(item: Item | CoveredItem) -> str:
    """How the page names a series."""
    return f"{item.study_id}/{item.series}"
