"""Whether the slices of a label volume follow each other as those of a body do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.volumes import LabelMap

__all__ = ["slices_out_of_place"]

_SAMPLES = 96
"""Places along either side of a slice that are compared."""
_FEWEST = 16
_PART = 0.1
"""Places in which neighbours must differ before their order tells anything: so many, and this part
of what they show. Contours drawn slice by slice wander a little."""
_MORE_ALIKE = 0.75
"""Difference between a slice's two neighbours, beside that from the slice to the nearer of them,
below which it lies elsewhere: about 2 where shapes change evenly."""


def slices_out_of_place(labels: LabelMap) -> int:
    """How many slices are less like either neighbour than these are like each other, along the axis
    that has most of them.

    Shapes that grow and shrink evenly have one, in their middle; slices in no order have many.
    """
    return max(_along(labels, axis) for axis in range(3))


def _along(labels: LabelMap, axis: int) -> int:
    if labels.grid.shape[axis] < 3:
        return 0
    planes = [_sampled(layer, axis) for layer in labels.layers]
    shown = sum(np.count_nonzero(plane, axis=1) for plane in planes)
    next_one, next_but_one = (
        sum(np.count_nonzero(one[step:] != one[:-step], axis=1) for one in planes)
        for step in (1, 2)
    )
    nearer = np.minimum(next_one[:-1], next_one[1:])
    least = np.minimum(np.minimum(shown[:-2], shown[2:]), shown[1:-1])
    known = (least > 0) & (nearer >= np.maximum(_FEWEST, _PART * shown[1:-1]))
    return int(np.count_nonzero(known & (next_but_one < _MORE_ALIKE * nearer)))


def _sampled(layer: NDArray[Any], axis: int) -> NDArray[Any]:
    """Slices along an axis, each a row of labels at places spread over it."""
    across = [max(1, n // _SAMPLES) for n in layer.shape]
    across[axis] = 1
    part = layer[tuple(slice(None, None, step) for step in across)]
    return np.ascontiguousarray(np.moveaxis(part, axis, 0)).reshape(layer.shape[axis], -1)
