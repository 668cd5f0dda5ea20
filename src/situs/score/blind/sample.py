"""Which questions for boxes are put to the blind rows, where there are thousands of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from situs.base.files import digest
from situs.items import Item
from situs.run import boxes_of

__all__ = ["MOST_BLIND_BOXES", "BlindSample"]

MOST_BLIND_BOXES = 1000
_MOST_KEPT = 100_000
"""Items that are kept; of a larger sample they are read a second time."""


class BlindSample:
    """About 1,000 of the questions for boxes, drawn by id so that every row has the same ones;
    all others are in it."""

    def __init__(self, items: Callable[[], Iterable[Item]]) -> None:
        """`items` gives them from the first to the last, as often as it is called."""
        self._items = items
        self._counted: tuple[int, int] | None = None
        self._boxed = 0
        self._kept: list[tuple[Item, float]] | None = []

    def passing(self, items: Iterable[Item]) -> Iterator[Item]:
        """All items on their way to somebody else:
        who goes through them anyway spares this sample a pass."""
        self._boxed, self._kept, count = 0, [], 0
        for item in items:
            count += 1
            drawn = 0.0
            if boxes_of(item) is not None:
                self._boxed += 1
                drawn = _place(item)
            # The more there are, the fewer are drawn: what is out once stays out.
            if self._kept is not None and drawn < self._share:
                self._kept.append((item, drawn))
                if len(self._kept) > _MOST_KEPT:
                    self._kept = None
            yield item
        self._counted = count, self._boxed

    def let_go(self) -> None:
        """Keep no item: whoever asks for them again has them read again."""
        self._kept = None

    @property
    def is_complete(self) -> bool:
        """Whether all items have passed."""
        return self._counted is not None

    def _count(self) -> tuple[int, int]:
        if self._counted is None:
            for _ in self.passing(self._items()):
                pass
        assert self._counted is not None
        return self._counted

    @property
    def items(self) -> int:
        """How many items there are in all."""
        return self._count()[0]

    @property
    def boxed(self) -> int:
        """How many of them ask for boxes."""
        return self._count()[1]

    @property
    def _share(self) -> float:
        return MOST_BLIND_BOXES / max(self._boxed, MOST_BLIND_BOXES)

    def __iter__(self) -> Iterator[Item]:
        """The items of the sample, in their order."""
        self._count()
        share = self._share
        if self._kept is not None:
            return (item for item, place in self._kept if place < share)
        return (item for item in self._items() if boxes_of(item) is None or _place(item) < share)

    @property
    def note(self) -> str:
        """What a reader of the table must know; empty if nothing was left out."""
        if self.boxed <= MOST_BLIND_BOXES:
            return ""
        return (
            f"blind rows: about {MOST_BLIND_BOXES:,} of the {self.boxed:,} questions for boxes,"
            " drawn by id"
        )


def _place(item: Item) -> float:
    """Where an item stands among all, from 0 to under 1: as if at random, and always the same."""
    return int(digest("blind boxes", item.item_id, size=4), 16) / 2**32
