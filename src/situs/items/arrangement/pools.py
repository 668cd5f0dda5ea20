"""The pool of a text: the patients of whom some are asked it, so many with each answer.

A pool is made of slots. A slot is one candidate for *each* of the offered answers, from different patients whose scans
are alike as far as a reader without the picture can know (the same slice of the stack, where a slice is asked about).
No patient is twice in a pool: with several slices of one patient, who has a finding on all of them, the patients of one
half would have the answers that those of the other half lack.

The answers are drawn (see `draws`), then the patients for them; the others of the pool are not asked this at all.
Everything that can be seen of a bench besides the answers (texts, options, groups, sizes, splits) follows from the
pools, and these are made before anything is drawn.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec
import numpy as np

from situs.base.files import digest
from situs.items.arrangement.draws import drawn_answers, most_draws
from situs.items.arrangement.evenness import AskedQuestion, shares_of_limit

__all__ = ["Askable", "Offer", "Pool", "drawn", "grouped", "pool_of"]


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

    def asked(self, rng: np.random.Generator) -> list[A]:
        """The candidates that are asked: answers are drawn, and then patients who have them."""
        result: list[A] = []
        for slots, draws in self._cells:
            answers = drawn_answers(draws, [len(slots)] * len(slots[0]), rng)
            waiting = [
                [slots[n][place] for n in rng.permutation(len(slots))]
                for place in range(len(slots[0]))
            ]
            result += [waiting[answer].pop() for answer in answers]
        return result


class Offer(msgspec.Struct, Generic[A], frozen=True):
    """A text as it is put to a pool."""

    task: str
    kind: Hashable
    """The kind of question, in all splits."""
    split: str
    text: str
    values: tuple[str, ...]
    """The answers that are drawn; empty where none is."""
    pool: Pool[A]

    def questions(self, asked: Iterable[A]) -> Iterator[AskedQuestion]:
        """The questions that the draw of these candidates gives."""
        for entry in asked:
            yield AskedQuestion(
                entry.patient_id,
                str(entry.key),
                self.values,
                self.text,
                self.task,
                self.kind,
                self.split,
            )


def drawn(offers: Sequence[Offer[A]], seed: int, evenness: float) -> list[list[A]]:
    """Who is asked, offer by offer.

    Draws are repeated until neither the commonest nor the rarest answer of the others is right
    more than `evenness` standard errors away from chance over all questions, and not twice that
    over one task, kind or split (see `evenness`; Morgan and Rubin 2012 call this
    rerandomisation). Kinds of question that are too far are drawn anew; if none is, but all
    together are, one of them is.

    The draw hashes the ids of all candidates, of which a bench holds the asked ones alone: its
    seed does not tell.
    """
    ids = sorted(entry.item_id for offer in offers for entry in offer.pool.candidates())
    rng = np.random.default_rng(int(digest("asked", str(seed), *ids, size=16), 16))
    by_kind: dict[Hashable, list[int]] = defaultdict(list)
    for number, offer in enumerate(offers):
        if len(offer.values) > 1:
            by_kind[offer.kind].append(number)
    sizes = [sum(offers[number].pool.size for number in numbers) for numbers in by_kind.values()]
    asked = [offer.pool.asked(rng) for offer in offers]
    best: tuple[float, list[list[A]]] = (math.inf, asked)
    for _ in range(_TRIES):
        questions = [q for offer, own in zip(offers, asked) for q in offer.questions(own)]
        shares = shares_of_limit(questions, evenness)
        furthest = max(shares.values(), default=0.0)
        if furthest < best[0]:
            best = furthest, list(asked)
        if furthest <= 1.0:
            break
        again = [kind for kind in by_kind if shares["kind", kind] > 1.0]
        if not again:
            again = [list(by_kind)[rng.choice(len(sizes), p=np.divide(sizes, sum(sizes)))]]
        for number in (number for kind in again for number in by_kind[kind]):
            asked[number] = offers[number].pool.asked(rng)
    return best[1]


_TRIES = 300
"""Draws, at most; of these the one nearest to chance is taken if none is near enough."""


def pool_of(
    entries: Iterable[A],
    values: Sequence[str],
    bound: float,
    alike: Callable[[A], Hashable] = lambda entry: None,
) -> Pool[A]:
    """As many slots as the candidates give, no patient twice; earlier candidates are preferred.

    `alike` names what a reader without the picture knows of a candidate: it is the same within a slot.
    """
    cells: dict[Hashable, dict[str, deque[A]]] = defaultdict(
        lambda: {value: deque() for value in values}
    )
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
