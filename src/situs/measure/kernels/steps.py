# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels for steps between voxels: their lengths, and which voxels they may start and end at.

A voxel that is nearest to another structure is open on every side that faces it, else its neighbour
were nearer. So each voxel has a set of the 27 sign triples of a step that it may be the start of
(for structures that share no voxel, axes at right angles).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel

__all__ = ["ALL", "DOWN", "ENDS", "STARTS", "UP", "Steps", "facing", "length2", "step2"]

_TRIPLES = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
ALL = (1 << 27) - 1
UP = tuple(
    sum(1 << bit for bit, triple in enumerate(_TRIPLES) if triple[axis] > 0) for axis in range(3)
)
DOWN = tuple(
    sum(1 << bit for bit, triple in enumerate(_TRIPLES) if triple[axis] < 0) for axis in range(3)
)
_UP_X, _UP_Y, _UP_Z = UP
_DOWN_X, _DOWN_Y, _DOWN_Z = DOWN


def _starts(sides: int) -> int:
    """The triples of steps that may start at a voxel with these open sides."""
    return sum(
        1 << bit
        for bit, triple in enumerate(_TRIPLES)
        if all(
            sign == 0 or sides >> (2 * axis + (sign + 1) // 2) & 1
            for axis, sign in enumerate(triple)
        )
    )


STARTS = np.array([_starts(sides) for sides in range(64)], dtype=np.int32)
"""By open sides, the triples of steps that may start there."""
ENDS = np.array(
    [_starts((s & 0b10101) << 1 | (s & 0b101010) >> 1) for s in range(64)], dtype=np.int32
)
"""By open sides, the triples of steps that may end there."""


class Steps(NamedTuple):
    """How steps between voxels are measured, and which of them a voxel's open sides allow."""

    frame: NDArray[np.float64]
    """Upper triangular map from a step along x, y, z to millimetres."""
    mode: int
    """What the distance is between; see `step2`."""
    starts: NDArray[np.int32] = STARTS
    ends: NDArray[np.int32] = ENDS


@kernel
def facing(
    a: NDArray[np.float64], i: int, b: NDArray[np.float64], j: int, frame: NDArray[np.float64]
) -> int:
    """The sign triples that a step from box i to box j can have;
    half a voxel allows for rounding."""
    triples = ALL
    x, y, z = 0.5 * frame[0], 0.5 * frame[4], 0.5 * frame[8]
    if b[6 * j] > a[6 * i + 3] + x:
        triples &= _UP_X
    elif b[6 * j + 3] < a[6 * i] - x:
        triples &= _DOWN_X
    if b[6 * j + 1] > a[6 * i + 4] + y:
        triples &= _UP_Y
    elif b[6 * j + 4] < a[6 * i + 1] - y:
        triples &= _DOWN_Y
    if b[6 * j + 2] > a[6 * i + 5] + z:
        triples &= _UP_Z
    elif b[6 * j + 5] < a[6 * i + 2] - z:
        triples &= _DOWN_Z
    return triples


@kernel
def length2(frame: NDArray[np.float64], x: float, y: float, z: float) -> float:
    u = frame[0] * x + frame[1] * y + frame[2] * z
    v = frame[4] * y + frame[5] * z
    w = frame[8] * z
    return u * u + v * v + w * w


@kernel
def step2(frame: NDArray[np.float64], x: int, y: int, z: int, mode: int) -> float:
    """Square of the distance of two voxels a step apart: 0 centres, 1 cubes at right angles, 2
    corners of sheared ones.

    Cubes of one lattice are nearest at corners, and those differ by the step less one along each
    axis.
    """
    if mode == 0:
        return length2(frame, x, y, z)
    if mode == 1:
        return length2(frame, x - np.sign(x), y - np.sign(y), z - np.sign(z))
    least = np.inf
    for i in range(x - 1, x + 2):
        for j in range(y - 1, y + 2):
            for k in range(z - 1, z + 2):
                least = min(least, length2(frame, i, j, k))
    return least
