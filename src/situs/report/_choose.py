"""Which items get pictures: one of every task, then the wrong ones; within a task by the draw of the seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from situs._files import digest
from situs.items import Item
from situs.report._scored import ScoredRun

__all__ = ["in_picture_order", "is_wrong"]


def is_wrong(item: Item, runs: Sequence[ScoredRun]) -> bool:
    """Whether any model got it wrong; baselines count only where there is no model."""
    asked = [run for run in runs if not run.baseline] or runs
    outcomes = (run.scores.outcomes.get(item.item_id) for run in asked)
    return any(outcome is not None and outcome.right is False for outcome in outcomes)


def in_picture_order(items: Iterable[Item], wrong: Callable[[Item], bool], seed: int) -> list[Item]:
    """All items, most worth seeing first: one of every task, then the wrong ones task by task, then the rest so."""
    queues: dict[str, list[Item]] = defaultdict(list)
    bad = set()
    for item in items:
        queues[item.task].append(item)
        if wrong(item):
            bad.add(item.item_id)
    for queue in queues.values():
        queue.sort(key=lambda item: (item.item_id not in bad, digest(str(seed), item.item_id)))
    tasks = sorted(queues)
    first = [queues[task].pop(0) for task in tasks]
    return first + [
        item
        for is_bad in (True, False)
        for turn in zip_longest(*([i for i in queues[task] if (i.item_id in bad) is is_bad] for task in tasks))
        for item in turn
        if item is not None
    ]
