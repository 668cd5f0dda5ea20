"""Which questions for boxes are put to the blind rows, where there are thousands of them."""

from __future__ import annotations

from collections.abc import Iterable

from situs.base.files import digest
from situs.items import Item
from situs.run import boxes_of

__all__ = ["MOST_BLIND_BOXES", "BlindSample"]

MOST_BLIND_BOXES = 1000


class BlindSample:
    """About 1,000 of the questions for boxes, drawn by id so that every row has the same ones; all others are in it."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.items = self.boxed = 0
        for item in items:
            self.items += 1
            self.boxed += boxes_of(item) is not None
        self._share = MOST_BLIND_BOXES / max(self.boxed, MOST_BLIND_BOXES)

    def __contains__(self, item: Item) -> bool:
        if self._share == 1.0 or boxes_of(item) is None:
            return True
        return int(digest("blind boxes", item.item_id, size=4), 16) < self._share * 2**32

    @property
    def note(self) -> str:
        """What a reader of the table must know; empty if nothing was left out."""
        if self._share == 1.0:
            return ""
        return f"blind rows: about {MOST_BLIND_BOXES:,} of the {self.boxed:,} questions for boxes, drawn by id"
