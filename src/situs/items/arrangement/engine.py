"""The twin engine: who is asked of those whom a text could be put to, in groups of twins, with options in drawn order.

Each source of evidence proposes its offers: which answers stand together under a text, and who could be asked
(`pools`). All that follows is the same for every source, and is done here:

* the answers, and then the patients for them, are drawn (`twin_groups`);
* what has no twins is thinned until no answer is right more than once oftener than another (`evened`);
* options are put in an order that is drawn for the item, and marks are given their letters (`place`).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec
import numpy as np

from situs.base.files import digest
from situs.facts import TwinRules
from situs.items.arrangement.marks import drawn_letter, has_lettered_marks, lettered
from situs.items.arrangement.pools import A, Askable, Pool
from situs.items.record import Item, Option

__all__ = [
    "Group",
    "Offer",
    "Placement",
    "evened",
    "grouped",
    "in_drawn_order",
    "place",
    "twin_groups",
]

T = TypeVar("T")


class Placement(msgspec.Struct, frozen=True):
    """What becomes of one candidate."""

    stratum: str
    """`headline`, `textbook` (named anatomy whose answer never changes) or `untwinned`."""
    options: tuple[str, ...]
    twin_group: str


class Offer(msgspec.Struct, Generic[A], frozen=True):
    """A text as it is put to a pool."""

    name: str | bytes
    """What tells it from every other offer; twin groups are called after it."""
    kind: Hashable
    """The kind of question, in all splits."""
    text: str
    values: tuple[str, ...]
    """The answers that are offered."""
    pool: Pool[A]
    counted: bool = True
    """Whether answers are drawn and kept even; a number has none to count, and a mark can be given any letter."""


def drawn(offers: Sequence[Offer[A]], seed: int, evenness: float) -> list[list[A]]:
    """Who is asked, offer by offer.

    The draws are repeated until neither the commonest nor the rarest answer of the others to a text is right more than
    `evenness` standard errors away from chance, over all texts; and not twice that over the texts of one kind, or if
    all texts of a kind are counted together. Over many benches neither is better than a guess, but on one bench luck
    has a long tail: in a text of 600 patients whose answers come out even, the rarest answer of the others is right 600
    times. (Morgan and Rubin 2012 call this rerandomisation.)

    The draw hashes the ids of all candidates, of which a bench holds the asked ones alone: its seed does not tell.
    """
    ids = sorted(entry.item_id for offer in offers for entry in offer.pool.candidates())
    rng = np.random.default_rng(int(digest("asked", str(seed), *ids, size=16), 16))
    best: tuple[float, list[list[A]]] = (math.inf, [])
    for _ in range(_TRIES):
        asked = [offer.pool.asked(rng) for offer in offers]
        excess = _excess(offers, asked)
        if excess < best[0]:
            best = excess, asked
        if excess <= evenness:
            break
    return best[1]


_TRIES = 60
"""Draws, at most; of these the one nearest to chance is taken if none is near enough."""


def _excess(offers: Sequence[Offer[A]], asked: Sequence[Sequence[A]]) -> float:
    """How far the commonest or rarest answer of the others is from chance, in standard errors.

    Over one kind of question, and with all its texts counted together, twice as far counts as much.
    """
    texts, kinds = _Others(), _Others()
    pairs = [
        (offer, entry)
        for offer, members in zip(offers, asked)
        for entry in members
        if offer.counted and len(offer.values) > 1
    ]
    for offer, entry in pairs:
        texts.add((offer.text, offer.values), entry)
        kinds.add((offer.kind, offer.values), entry)
    gains: dict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for offer, entry in pairs:
        share = 1.0 / len(offer.values)
        alone = [
            right - share for right in texts.right((offer.text, offer.values), entry, offer.values)
        ]
        together = [
            right - share for right in kinds.right((offer.kind, offer.values), entry, offer.values)
        ]
        for name, both in (("all", alone), (("kind", offer.kind), alone), ("together", together)):
            for place, value in enumerate((*both, share * (1.0 - share))):
                gains[name][place] += value
    far = {
        name: max(abs(more), abs(less)) / math.sqrt(spread)
        for name, (more, less, spread) in gains.items()
    }
    return max((value if name == "all" else value / 2 for name, value in far.items()), default=0.0)


class _Others:
    """What others answered, under some name."""

    def __init__(self) -> None:
        self._all: dict[Hashable, Counter[str | None]] = defaultdict(Counter)
        self._own: dict[Hashable, Counter[str | None]] = defaultdict(Counter)

    def add(self, name: Hashable, entry: Askable) -> None:
        self._all[name][entry.key] += 1
        self._own[name, entry.patient_id][entry.key] += 1

    def right(self, name: Hashable, entry: Askable, values: Sequence[str]) -> tuple[float, float]:
        """How likely the commonest answer of other patients is right, and the rarest; a tie is a guess."""
        every, own = self._all[name], self._own[name, entry.patient_id]
        counts = [every[value] - own[value] for value in values]
        truth = every[entry.key] - own[entry.key]
        return tuple((truth == edge) / counts.count(edge) for edge in (max(counts), min(counts)))  # type: ignore[return-value]


class Group(msgspec.Struct, Generic[A], frozen=True):
    """Those who are asked one text with one set of answers, in groups of twins."""

    offer: Offer[A]
    twins: tuple[tuple[A, ...], ...]

    @property
    def first(self) -> A:
        """Any of them: they share text and options."""
        return self.twins[0][0]

    @property
    def size(self) -> int:
        """How many questions it holds."""
        return sum(map(len, self.twins))

    @property
    def options(self) -> tuple[str, ...]:
        """The options that are shown."""
        return self.offer.values if self.first.form == "choice" else ()

    def placements(self) -> Iterator[tuple[str, Placement]]:
        """Item id and placement of everyone who is asked."""
        for number, members in enumerate(self.twins):
            twin_group = "t" + digest(self.offer.name, str(number), size=8)
            for entry in members:
                yield entry.item_id, Placement("headline", self.options, twin_group)


def twin_groups(offers: Sequence[Offer[A]], seed: int, rules: TwinRules) -> list[Group[A]]:
    """Draw who is asked, and group them into twins."""
    return [
        Group(offer, tuple(map(tuple, grouped(asked, rules.together))))
        for offer, asked in zip(offers, drawn(offers, seed, rules.evenness))
    ]


def grouped(asked: Sequence[T], together: int) -> list[Sequence[T]]:
    """In groups of about `together`, as even as can be."""
    count = max(1, len(asked) // together)
    edges = [len(asked) * n // count for n in range(count + 1)]
    return [asked[first:last] for first, last in itertools.pairwise(edges)]


def evened(entries: Sequence[A], values: Iterable[str]) -> list[A]:
    """Those of the entries, in their order, among whom no answer is right more than once oftener than another.

    `values` are the answers that could be right; where they cannot be listed, each answer that occurs stays once.
    """
    counts = Counter(str(entry.key) for entry in entries)
    most = min((counts[value] for value in values), default=0) + 1
    seen: Counter[str] = Counter()
    result = []
    for entry in entries:
        seen[str(entry.key)] += 1
        if seen[str(entry.key)] <= most:
            result.append(entry)
    return result


def in_drawn_order(
    entries: Iterable[Askable], placements: Mapping[str, Placement], seed: int
) -> dict[str, Placement]:
    """The placements in the order of the entries, each with its options in an order drawn for the item.

    The order depends on seed, item and option, not on which of them is right.
    """
    result = {}
    for entry in entries:
        if entry.item_id in placements:
            placement = placements[entry.item_id]
            result[entry.item_id] = msgspec.structs.replace(
                placement, options=_shuffled(placement.options, entry.item_id, seed)
            )
    return result


def _shuffled(options: Iterable[str], item_id: str, seed: int) -> tuple[str, ...]:
    return tuple(sorted(options, key=lambda value: digest("order", str(seed), item_id, value)))


def place(item: Item, placement: Placement, split: str) -> Item:
    """The finished item; marks that are its options get their letters."""
    by_value: dict[str, Option] = {option.value: option for option in item.options}
    placed = msgspec.structs.replace(
        item,
        stratum=placement.stratum,
        options=tuple(by_value[value] for value in placement.options),
        twin_group=placement.twin_group,
        split=split,
    )
    return lettered(placed, drawn_letter(placed)) if has_lettered_marks(item) else placed
