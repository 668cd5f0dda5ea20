"""The pool of a text: the patients of whom some are asked it, so many with each answer.

A pool is made of slots. A slot is one candidate for *each* of the offered answers, from different patients whose scans
are alike as far as a reader without the picture can know (the same slice of the stack, where a slice is asked about).
No patient is twice in a pool: with several slices of one patient, who has a finding on all of them, the patients of one
half would have the answers that those of the other half lack.

The answers are drawn (see `_draws`), then the patients for them; the others of the pool are not asked this at all.
Everything that can be seen of a bench besides the answers (texts, options, groups, sizes, splits) follows from the
pools, and these are made before anything is drawn.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from situs._files import digest
from situs.items._draws import drawn_answers, most_draws

__all__ = ["Askable", "Pool", "grouped", "pool_of"]


class Askable(Protocol):
    """What the arrangement must know of a candidate."""

    @property
    def item_id(self) -> str:
        """Its id."""

    @property
    def patient_id(self) -> str:
        """Whom it would be asked of."""

    @property
    def key(self) -> str | None:
        """Its answer as a value that can be counted."""


A = TypeVar("A", bound=Askable)
B = TypeVar("B")
Slot = tuple[A, ...]
"""One candidate for each offered answer, in the order of the offer."""


class Pool(Generic[A]):
    """Slots of one text, in cells of candidates that are alike to a reader without the picture."""

    def __init__(self, cells: Sequence[Sequence[Slot[A]]], bound: float) -> None:
        self._cells = [(slots, most_draws([len(slots)] * len(slots[0]), bound)) for slots in cells if slots]

    @property
    def size(self) -> int:
        """How many questions it gives, whatever is drawn."""
        return sum(draws for _, draws in self._cells)

    def candidates(self) -> Iterator[A]:
        """All who might be asked."""
        return (entry for slots, _ in self._cells for slot in slots for entry in slot)

    def asked(self, seed: int) -> list[A]:
        """The candidates that are asked.

        The draw hashes the ids of all candidates, of which a bench holds the asked ones alone: its seed does not tell.
        """
        result: list[A] = []
        for slots, draws in self._cells:
            ids = sorted(entry.item_id for slot in slots for entry in slot)
            rng = np.random.default_rng(int(digest("asked", str(seed), *ids, size=16), 16))
            by_answer = [[slot[place] for slot in slots] for place in range(len(slots[0]))]
            waiting = [[members[n] for n in rng.permutation(len(members))] for members in by_answer]
            answers = drawn_answers(draws, [len(slots)] * len(waiting), rng)
            result += [waiting[answer].pop() for answer in answers]
        return result


def pool_of(
    entries: Iterable[A],
    values: Sequence[str],
    bound: float,
    alike: Callable[[A], Hashable] = lambda entry: None,
) -> Pool[A]:
    """As many slots as the candidates give, no patient twice; earlier candidates are preferred.

    `alike` names what a reader without the picture knows of a candidate: it is the same within a slot.
    """
    cells: dict[Hashable, dict[str, deque[A]]] = defaultdict(lambda: {value: deque() for value in values})
    for entry in entries:
        if entry.key in values:
            cells[alike(entry)][str(entry.key)].append(entry)
    patients: set[str] = set()
    found: list[list[Slot[A]]] = []
    for waiting in cells.values():
        found.append([])
        while (slot := _next_slot(waiting, patients)) is not None:
            found[-1].append(slot)
            patients |= {entry.patient_id for entry in slot}
    return Pool(found, bound)


def _next_slot(waiting: dict[str, deque[A]], patients: set[str]) -> Slot[A] | None:
    """The first candidate of each answer, of patients that are not in the pool yet and differ."""
    slot: dict[str, A] = {}
    for value, queue in sorted(waiting.items(), key=lambda pair: len(pair[1])):
        while queue and queue[0].patient_id in patients:
            queue.popleft()
        own = {entry.patient_id for entry in slot.values()} | patients
        entry = next((entry for entry in queue if entry.patient_id not in own), None)
        if entry is None:
            return None
        slot[value] = entry
    return tuple(slot[value] for value in waiting)


def grouped(asked: Sequence[B], together: int) -> list[Sequence[B]]:
    """In groups of about `together`, as even as can be."""
    count = max(1, len(asked) // together)
    edges = [len(asked) * n // count for n in range(count + 1)]
    return [asked[first:last] for first, last in itertools.pairwise(edges)]
