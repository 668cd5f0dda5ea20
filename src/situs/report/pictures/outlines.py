"""The edge of a mask as closed paths along pixel borders, exact to the voxel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["outline_path"]

_Vertex = tuple[int, int]


def outline_path(mask: NDArray[np.bool_]) -> str:
    """SVG path data around a 2D mask; pixel (row, column) covers x in [column, column + 1], y in
    [row, row + 1].

    The inside lies to the right of the way, so that holes run the other way round. Empty for an
    empty mask.
    """
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return ""
    top, left = int(rows[0]), int(columns[0])
    part = np.pad(mask[top : int(rows[-1]) + 1, left : int(columns[-1]) + 1], 1).astype(np.int8)
    along_x = _runs(np.diff(part, axis=0)[:, 1:-1], forward=1)
    along_y = _runs(np.diff(part, axis=1)[1:-1].T, forward=-1)
    horizontal: dict[_Vertex, list[_Vertex]] = {}
    vertical: dict[_Vertex, list[_Vertex]] = {}
    for y, start, end in along_x:
        horizontal.setdefault((start, y), []).append((end, y))
    for x, start, end in along_y:
        vertical.setdefault((x, start), []).append((x, end))
    return "".join(_loops(horizontal, vertical, left, top))


def _runs(steps: NDArray[Any], forward: int) -> list[tuple[int, int, int]]:
    """(line, start, end) of each straight piece of border; `forward` is the step whose way is
    upwards in index.

    Where two pixels touch at a corner the step changes sign, so that a piece never runs through the
    corner.
    """
    padded = np.pad(steps, ((0, 0), (1, 1)))
    line, at = np.nonzero(np.diff(padded, axis=1))
    value_after = padded[line, at + 1]
    pieces = []
    for index in np.flatnonzero(value_after):
        first, last = int(at[index]), int(at[index + 1])
        ends = (first, last) if value_after[index] == forward else (last, first)
        pieces.append((int(line[index]), *ends))
    return pieces


def _loops(
    horizontal: dict[_Vertex, list[_Vertex]],
    vertical: dict[_Vertex, list[_Vertex]],
    left: int,
    top: int,
) -> list[str]:
    loops = []
    for start in sorted(horizontal):
        while horizontal[start]:
            words = [f"M{start[0] + left} {start[1] + top}"]
            here = start
            while True:
                after = horizontal[here].pop()
                words.append(f"h{after[0] - here[0]}")
                here = vertical[after].pop()
                if here == start:
                    loops.append("".join(words) + "z")
                    break
                words.append(f"v{here[1] - after[1]}")
    return loops
