"""Which items get pictures: those that a model got wrong first, task by task;
within a task by the draw of the seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import TypeVar

from situs.base.files import digest
from situs.items import Item
from situs.report.covered import CoveredItem
from situs.report.scored import ReportedRun

__all__ = ["in_picture_order", "worth"]


Asked = TypeVar("Asked", Item, CoveredItem)


def worth(item: Item | CoveredItem, runs: Sequence[ReportedRun]) -> int:
    """How much there is to see: 0 if a model got it wrong, 1 if all were right, 2 if nobody could
    answer it.

    Baselines count only where there is no model.
    """
    asked = [run for run in runs if not run.baseline] or runs
    rights = [run.right(item.item_id) for run in asked]
    if any(right is False for right in rights):
        return 0
    return 1 if any(rights) else 2


def in_picture_order(
    items: Iterable[Asked], worth_of: Callable[[Asked], int], seed: int
) -> list[Asked]:
    """All items, most worth seeing first; equally worthy ones task by task in turn."""
    queues: dict[int, dict[str, list[Asked]]] = defaultdict(lambda: defaultdict(list))
    for item in sorted(items, key=lambda item: digest(str(seed), item.item_id)):
        queues[worth_of(item)][item.task].append(item)
    return [
        item
        for _, by_task in sorted(queues.items())
        for turn in zip_longest(*(queue for _, queue in sorted(by_task.items())))
        for item in turn
        if item is not None
    ]
