"""Many boxes on pictures as the rows of one array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from situs.space.boxes import FrameBox

__all__ = ["FrameBoxes", "picture_sides"]


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
        # Asked of every answer: an exact type is quicker told than a sequence among others.
        if type(boxes) is cls:
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

    def labelled(self, label: str) -> FrameBoxes:
        """Those with a label."""
        rows = [row for row, one in enumerate(self.labels) if one == label]
        return FrameBoxes(self.table[rows], [label] * len(rows))


def picture_sides(
    frames: NDArray[np.float64], sizes: Sequence[Sequence[tuple[float, float]]], counts: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Width and height of the picture of each box, and whether there is such a picture.

    `frames` are those of all boxes, `counts` tell how many belong to each set of pictures, whose
    `sizes` are given.
    """
    distinct = {id(one): one for one in sizes}
    firsts = dict(zip(distinct, np.cumsum([0, *map(len, distinct.values())]).tolist()))
    known = np.array([size for one in distinct.values() for size in one], dtype=np.float64)
    first = np.repeat([firsts[id(one)] for one in sizes], counts)
    number = np.repeat([len(one) for one in sizes], counts)
    is_shown = (frames >= 0) & (frames < number)
    return known[first + np.where(is_shown, frames, 0).astype(np.int64)], is_shown
