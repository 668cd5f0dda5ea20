"""The twin engine: who is asked of those whom a text could be put to, in groups of twins, with
options in drawn order.

Each source of evidence proposes its offers: which answers stand together under a text, and who
could be asked (`pools`). All that follows is the same for every source, and is done here:

* the answers, and then the patients for them, are drawn (`twins_of`);
* what has no twins is thinned until no answer is right more than once oftener than another
  (`evened`);
* options are put in an order that is drawn for the item, and marks are given their letters
  (`place`).
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
from situs.items.arrangement.evenness import AskedQuestion, shares_of_limit
from situs.items.arrangement.marks import drawn_letter, has_lettered_marks, lettered
from situs.items.arrangement.pools import A, Askable, Pool
from situs.items.record import Item, Option

__all__ = [
    "Offer",
    "Placement",
    "evened",
    "grouped",
    "in_drawn_order",
    "place",
    "twins_of",
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
    task: str
    kind: Hashable
    """The kind of question, in all splits."""
    split: str
    text: str
    values: tuple[str, ...]
    """The answers that are offered."""
    pool: Pool[A]
    counted: bool = True
    """Whether answers are drawn and kept even;
    a number has none to count, and a mark can be given any letter."""

    @property
    def first(self) -> A:
        """Any of the candidates: they share text and options."""
        return self.pool.first

    @property
    def size(self) -> int:
        """How many questions it gives, whatever is drawn."""
        return self.pool.size

    @property
    def drawn_values(self) -> tuple[str, ...]:
        """The answers that are drawn; empty where none is."""
        return self.values if self.counted else ()

    @property
    def options(self) -> tuple[str, ...]:
        """The answers that are shown: none where words or a number are asked for."""
        return self.values if self.first.form == "choice" else ()

    def questions(self, asked: Iterable[A]) -> Iterator[AskedQuestion]:
        """The questions that the draw of these candidates gives."""
        for entry in asked:
            yield AskedQuestion(
                entry.patient_id,
                str(entry.key),
                self.drawn_values,
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
        if len(offer.drawn_values) > 1:
            by_kind[offer.kind].append(number)
    sizes = [sum(offers[number].pool.size for number in numbers) for numbers in by_kind.values()]
    asked = [offer.pool.asked(rng) for offer in offers]
    best: tuple[float, list[list[A]]] = (math.inf, asked)
    for _ in range(_TRIES):
        questions = [q for offer, drawn_ in zip(offers, asked) for q in offer.questions(drawn_)]
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


def twins_of(offers: Sequence[Offer[A]], seed: int, rules: TwinRules) -> dict[str, Placement]:
    """Draw who is asked, in groups of twins: item id → placement."""
    placed: dict[str, Placement] = {}
    for offer, asked in zip(offers, drawn(offers, seed, rules.evenness)):
        for number, members in enumerate(grouped(asked, rules.together)):
            twin_group = "t" + digest(offer.name, str(number), size=8)
            for entry in members:
                placed[entry.item_id] = Placement("headline", offer.options, twin_group)
    return placed


def grouped(asked: Sequence[T], together: int) -> list[Sequence[T]]:
    """In groups of about `together`, as even as can be."""
    count = max(1, len(asked) // together)
    edges = [len(asked) * n // count for n in range(count + 1)]
    return [asked[first:last] for first, last in itertools.pairwise(edges)]


def evened(entries: Sequence[A], values: Iterable[str]) -> list[A]:
    """Those of the entries, in their order, among whom no answer is right more than once oftener
    than another.

    `values` are the answers that could be right; where they cannot be listed, each answer that
    occurs stays once.
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
    """The placements in the order of the entries, each with its options in an order drawn for the
    item.

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
