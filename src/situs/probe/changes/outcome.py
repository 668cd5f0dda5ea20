"""What the right answer becomes:
each question put anew to the changed patient, through the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from situs.errors import SitusError
from situs.facts import Ledger
from situs.items import (
    Answer,
    Choice,
    Item,
    NotAsked,
    Question,
    lettered,
    marks_of,
    right_options,
    stays_right,
    task_of_masks,
)

__all__ = ["Derived", "derive"]


class Derived(msgspec.Struct, frozen=True):
    """One item under a change."""

    item: Item
    """With the changed patient's answer, steps and boxes;
    the words and the options as they were."""
    outcome: Literal["changed", "unchanged", "undefined"]
    reason: str = ""
    """Why the answer is undefined."""


def derive(items: Iterable[Item], ledger: Ledger, probe: str) -> Iterator[Derived]:
    """Every item with the answer that the changed patient gives, named `<item_id>~<probe>`."""
    for item in items:
        yield _derive(item, ledger, probe)


def _derive(item: Item, ledger: Ledger, probe: str) -> Derived:
    twin = msgspec.structs.replace(item, item_id=f"{item.item_id}~{probe}", twin_of=item.item_id)
    task = task_of_masks(item.task)
    if task is None or not item.fact_ids:
        return Derived(twin, "undefined", "its answer is given by its source, not measured")
    question = Question(item.task, item.form, item.parameters)
    try:
        posed = task.pose(ledger, question)
    except (SitusError, KeyError, ValueError):
        return Derived(twin, "undefined", "a structure it speaks of is not there")
    if isinstance(posed, NotAsked):
        return Derived(twin, "undefined", posed.reason)
    if posed.text != item.question:
        return Derived(twin, "undefined", "it would be asked in other words")
    offered = {option.value for option in item.options}
    if item.options and not _can_be_told(posed.answer, offered):
        return Derived(twin, "undefined", "the right answer is not among its options")
    facts = tuple(dict.fromkeys(fact.fact_id for fact in posed.facts))
    anew = msgspec.structs.replace(
        twin,
        answer=posed.answer,
        steps=posed.steps,
        boxes=posed.boxes,
        difficulty=posed.difficulty,
        fact_ids=facts,
    )
    if marks_of(item) and isinstance(item.answer, Choice):
        # A task poses the right mark as A; the marks of the changed patient are drawn anew under
        # the old letters.
        anew = lettered(anew, item.answer.value)
    return Derived(anew, "unchanged" if stays_right(item.answer, anew.answer) else "changed")


def _can_be_told(answer: Answer, offered: set[str]) -> bool:
    """Whether the right options are offered; of several that are right, the first."""
    if isinstance(answer, Choice):
        return answer.value in offered
    return right_options(answer) <= offered
