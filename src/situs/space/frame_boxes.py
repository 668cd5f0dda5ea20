"""Many boxes on pictures as the rows of one array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from situs.space.boxes import FrameBox

__all__ = ["FrameBoxes"]


class FrameBoxes(Sequence[FrameBox]):
    """Boxes on pictures; each becomes a record only when somebody looks at it.

    Scoring half a million answers compares millions of boxes, nearly all of them as rows.
    """

    __slots__ = ("labels", "table")

    def __init__(self, table: NDArray[np.float64], labels: Sequence[str]) -> None:
        """`table` has a row for each box: its frame, x0, y0, x1 and y1."""
        self.table = table
        self.labels = labels

    @classmethod
    def of(cls, boxes: Iterable[FrameBox]) -> FrameBoxes:
        """From records."""
        if isinstance(boxes, FrameBoxes):
            return boxes
        records = list(boxes)
        rows = [(box.frame, box.x0, box.y0, box.x1, box.y1) for box in records]
        table = np.array(rows, dtype=np.float64).reshape(-1, 5)
        return cls(table, [box.label for box in records])

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[FrameBox]:
        for (frame, x0, y0, x1, y1), label in zip(self.table.tolist(), self.labels):
            yield FrameBox(int(frame), x0, y0, x1, y1, label)

    @overload
    def __getitem__(self, index: int) -> FrameBox: ...

    @overload
    def __getitem__(self, index: slice) -> FrameBoxes: ...

    def __getitem__(self, index: int | slice) -> FrameBox | FrameBoxes:
        if isinstance(index, slice):
            return FrameBoxes(self.table[index], self.labels[index])
        frame, x0, y0, x1, y1 = self.table[index].tolist()
        return FrameBox(int(frame), x0, y0, x1, y1, self.labels[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FrameBoxes({list(self)!r})"

    @property
    def has_one_label(self) -> bool:
        """Whether no box has another label than the first."""
        return len(set(self.labels)) <= 1
