"""Slots: one question, put to one of several patients, so that nobody else's answer tells this one's.

A slot of a text is one candidate for *each* of the offered answers, from different patients whose scans lie alike as
far as a reader without the picture can know (the same slice of the stack, where a slice is asked about). One of them
is asked, drawn with equal chances; the others are asked nothing of the kind. Everything that can be seen of a bench
besides the answers (texts, options, groups, sizes, splits) follows from the slots, and these are made before anything
is drawn. So every answer is uniform over its options and independent of all other answers: whoever learns from the
answers of other patients, the commonest or the rarest, is right as often as chance.

Exact balance would not do: of n patients the answers of n − 1 then give the last one away.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from situs._files import digest

__all__ = ["Askable", "Slot", "asked_of", "dealt", "slots_of"]


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
Slot = tuple[A, ...]
"""One candidate for each offered answer."""


def slots_of(
    entries: Iterable[A], values: Sequence[str], alike: Callable[[A], Hashable] = lambda entry: None
) -> list[Slot[A]]:
    """As many slots as the candidates give, each candidate in at most one; earlier candidates are preferred.

    `alike` names what a reader without the picture knows of a candidate: it is the same within a slot.
    """
    cells: dict[Hashable, dict[str, deque[A]]] = defaultdict(lambda: {value: deque() for value in values})
    for entry in entries:
        if entry.key in values:
            cells[alike(entry)][str(entry.key)].append(entry)
    slots: list[Slot[A]] = []
    for queues in cells.values():
        while (slot := _first_slot(queues)) is not None:
            slots.append(slot)
    return slots


def _first_slot(queues: Mapping[str, deque[A]]) -> Slot[A] | None:
    """The first candidate of each answer, of different patients; they leave their queues."""
    slot: list[A] = []
    for queue in queues.values():
        patients = {entry.patient_id for entry in slot}
        entry = next((entry for entry in queue if entry.patient_id not in patients), None)
        if entry is None:
            return None
        slot.append(entry)
    for entry, queue in zip(slot, queues.values()):
        queue.remove(entry)
    return tuple(slot)


def asked_of(slot: Slot[A], seed: int) -> A:
    """The candidate of a slot that is asked.

    The draw hashes the ids of all candidates, of which a bench holds the asked one alone: its seed does not tell.
    """
    members = sorted(slot, key=lambda entry: str(entry.key))
    drawn = int(digest("asked", str(seed), *sorted(entry.item_id for entry in slot), size=8), 16)
    return members[drawn % len(members)]


def dealt(slots: Sequence[Slot[A]], fewest: int, size: int) -> list[list[Slot[A]]]:
    """The slots in groups of about `size`, no patient twice in a group; groups under `fewest` are left out."""
    groups: list[list[Slot[A]]] = []
    patients: list[set[str]] = []
    for slot in slots:
        own = {entry.patient_id for entry in slot}
        fits = [n for n, group in enumerate(groups) if len(group) < size and not own & patients[n]]
        if not fits:
            groups.append([])
            patients.append(set())
            fits = [len(groups) - 1]
        groups[fits[0]].append(slot)
        patients[fits[0]] |= own
    return _merged(groups, patients, fewest, size)


def _merged(groups: list[list[Slot[A]]], patients: list[set[str]], fewest: int, size: int) -> list[list[Slot[A]]]:
    """Too small groups join others, as far as these share no patient and grow to less than double."""
    order = [n for n, group in enumerate(groups) if len(group) >= fewest]
    for group in groups:
        if len(group) >= fewest:
            continue
        for slot in group:
            own = {entry.patient_id for entry in slot}
            fits = [m for m in order if len(groups[m]) < 2 * size - 1 and not own & patients[m]]
            if fits:
                into = min(fits, key=lambda m: len(groups[m]))
                groups[into].append(slot)
                patients[into] |= own
    return [groups[n] for n in order]
