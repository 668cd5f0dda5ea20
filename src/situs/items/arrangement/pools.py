"""The pool of a text: the patients of whom some are asked it, so many with each answer.

A pool is made of slots. A slot is one candidate for *each* of the offered answers, from different
patients whose scans are alike as far as a reader without the picture can know (the same slice of
the stack, where a slice is asked about). No patient is twice in a pool: with several slices of one
patient, who has a finding on all of them, the patients of one half would have the answers that
those of the other half lack.

The answers are drawn (see `draws`), then the patients for them; the others of the pool are not
asked this at all. Everything that can be seen of a bench besides the answers (texts, options,
groups, sizes, splits) follows from the pools, and these are made before anything is drawn.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from situs.items.arrangement.draws import drawn_answers, most_draws

__all__ = ["Askable", "Pool", "pool_of"]


class Askable(Protocol):
    """What the arrangement must know of a candidate."""

    @property
    def item_id(self) -> str:
        """Its id."""

    @property
    def patient_id(self) -> str:
        """Whom it would be asked of."""

    @property
    def form(self) -> str:
        """How it is answered: `yes_no`, `choice`, `number`, …"""

    @property
    def key(self) -> str | None:
        """Its answer as a value that can be counted."""


A = TypeVar("A", bound=Askable)
Slot = tuple[A, ...]
"""One candidate for each offered answer, in the order of the offer."""


class Pool(Generic[A]):
    """Slots of one text, in cells of candidates that are alike to a reader without the picture."""

    def __init__(self, cells: Sequence[Sequence[Slot[A]]], bound: float) -> None:
        self._cells = [
            (slots, most_draws([len(slots)] * len(slots[0]), bound)) for slots in cells if slots
        ]

    @property
    def size(self) -> int:
        """How many questions it gives, whatever is drawn."""
        return sum(draws for _, draws in self._cells)

    @property
    def first(self) -> A:
        """Any of its candidates: they share text and options."""
        return self._cells[0][0][0][0]

    def candidates(self) -> Iterator[A]:
        """All who might be asked."""
        return (entry for slots, _ in self._cells for slot in slots for entry in slot)

    def slots(self) -> Iterator[Slot[A]]:
        """Its slots, cell by cell."""
        return (slot for slots, _ in self._cells for slot in slots)

    def asked(self, rng: np.random.Generator) -> list[A]:
        """The candidates that are asked: answers are drawn, and then patients who have them."""
        result: list[A] = []
        for slots, draws in self._cells:
            answers = drawn_answers(draws, [len(slots)] * len(slots[0]), rng)
            waiting = [
                [slots[n][answer_number] for n in rng.permutation(len(slots))]
                for answer_number in range(len(slots[0]))
            ]
            result += [waiting[answer].pop() for answer in answers]
        return result


def pool_of(
    entries: Iterable[A],
    values: Sequence[str],
    bound: float,
    alike: Callable[[A], Hashable] = lambda entry: None,
) -> Pool[A]:
    """As many slots as the candidates give, no patient twice; earlier candidates are preferred.

    `alike` names what a reader without the picture knows of a candidate: it is the same within a
    slot.
    """
    cells: dict[Hashable, dict[str, deque[A]]] = defaultdict(
        lambda: {value: deque() for value in values}
    )
    for entry in entries:
        if entry.key in values:
            cells[alike(entry)][str(entry.key)].append(entry)
    patients: set[str] = set()
    slots: list[list[Slot[A]]] = []
    for waiting in cells.values():
        slots.append([])
        while (slot := _next_slot(waiting, patients)) is not None:
            slots[-1].append(slot)
            patients |= {entry.patient_id for entry in slot}
    return Pool(slots, bound)


def _next_slot(waiting: dict[str, deque[A]], patients: set[str]) -> Slot[A] | None:
    """The first candidate of each answer, of patients that are not in the pool yet and differ."""
    slot: dict[str, A] = {}
    for value, queue in sorted(waiting.items(), key=lambda pair: len(pair[1])):
        while queue and queue[0].patient_id in patients:
            queue.popleft()
        # Not joined to one set: it would be copied for every slot, and a pool has thousands.
        beside = {entry.patient_id for entry in slot.values()}
        free = (one for one in queue if one.patient_id not in beside)
        entry = next((one for one in free if one.patient_id not in patients), None)
        if entry is None:
            return None
        slot[value] = entry
    return tuple(slot[value] for value in waiting)
