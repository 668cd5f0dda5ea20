"""Which items get pictures: the wrong ones first, spread over tasks, the rest by the draw of the seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

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
    """All items, most worth seeing first: task by task in turn, wrong before right."""
    queues: dict[bool, dict[str, list[Item]]] = {True: defaultdict(list), False: defaultdict(list)}
    for item in items:
        queues[wrong(item)][item.task].append(item)
    order = []
    for by_task in (queues[True], queues[False]):
        for queue in by_task.values():
            queue.sort(key=lambda item: digest(str(seed), item.item_id), reverse=True)
        while any(by_task.values()):
            order += [by_task[task].pop() for task in sorted(by_task) if by_task[task]]
    return order
