"""Small label arrays that are hard on a kernel:
noise, full, empty rows, thin axes, every memory order and type."""

from __future__ import annotations

import itertools

import numpy as np

SHAPES = [
    (1, 1, 1),
    (1, 7, 3),
    (5, 1, 1),
    (4, 6, 5),
    (70, 3, 4),
    (3, 130, 2),
    (2, 3, 200),
    (64, 4, 2),
    (65, 2, 3),
]
SHAPES += [(257, 3, 2), (9, 8, 300)]
KINDS = ["blobs", "noise", "sparse", "full", "stripes"]
DTYPES = [
    np.bool_,
    np.uint8,
    np.int8,
    np.uint16,
    np.int16,
    np.uint32,
    np.int32,
    np.int64,
    np.uint64,
    np.float32,
]


def label_array(
    seed: int, shape: tuple[int, int, int], kind: str, values: tuple[int, ...] = (1, 2, 5)
) -> np.ndarray:
    """Labels as int64 in C order; at least one voxel is labelled."""
    rng = np.random.default_rng(seed)
    array = np.zeros(shape, dtype=np.int64)
    if kind == "noise":
        array[...] = rng.choice((0, *values), size=shape)
    elif kind == "sparse":
        array[...] = np.where(rng.random(shape) < 0.03, rng.choice(values, size=shape), 0)
    elif kind == "full":
        array[...] = values[0]
    elif kind == "stripes":
        array[...] = np.array((0, *values))[
            np.arange(shape[seed % 3]) // 3 % (len(values) + 1)
        ].reshape([-1 if axis == seed % 3 else 1 for axis in range(3)])
    else:
        for value in values:
            centre = [rng.integers(0, n) for n in shape]
            radius = [rng.uniform(0.5, max(1.0, n / 2)) for n in shape]
            grid = np.ogrid[tuple(slice(n) for n in shape)]
            array[sum(((g - c) / r) ** 2 for g, c, r in zip(grid, centre, radius)) <= 1] = value
    array[tuple(rng.integers(0, n) for n in shape)] = values[0]
    return array


def stored_as(array: np.ndarray, way: int) -> np.ndarray:
    """The same labels in one of 48 memory orders, read-only;
    every third is a view with gaps between its rows."""
    order = list(itertools.permutations(range(3)))[way % 6]
    back = np.argsort(order)
    flips = tuple(slice(None, None, -1 if way // 6 >> axis & 1 else 1) for axis in range(3))
    moved = array[flips].transpose(order)
    if way % 3 == 2:
        wide = np.zeros([n + 3 for n in moved.shape], dtype=array.dtype)
        wide[tuple(slice(1, 1 + n) for n in moved.shape)] = moved
        moved = wide[tuple(slice(1, 1 + n) for n in moved.shape)]
    else:
        moved = np.ascontiguousarray(moved)
    result = moved.transpose(back)[flips]
    result.flags.writeable = False
    assert np.array_equal(result, array)
    return result
