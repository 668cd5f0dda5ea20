# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels for the nearest and the farthest voxels: Morton order, an implicit four-way box tree,
branch and bound.

A tree over n points has levels: level 1 holds the boxes of 4 points each, level k the boxes of 4
boxes of level k - 1, up to one box. Boxes are in millimetres in a frame turned so that x is along
the first voxel axis; the map from index differences to that frame is the upper triangular `frame`,
diagonal for voxel axes at right angles.

Each box has the union of its voxels' sign triples, and pairs of boxes that share no triple are
passed over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel
from situs.measure.kernels.caps import Branch, Scratch, nearest_in_caps
from situs.measure.kernels.steps import ALL, Steps, facing, length2, step2

__all__ = ["Forest", "build_tree", "farthest", "morton", "nearest_of_pairs"]

_SAFE = 1.0 - 1e-12
"""A bound is computed in another order than a distance;
this keeps rounding from pruning the nearest pair."""


@kernel
def _spread(value: int) -> int:
    """Two zero bits between each two of 21 bits."""
    v = np.uint64(value)
    v = (v | (v << np.uint64(32))) & np.uint64(0x1F00000000FFFF)
    v = (v | (v << np.uint64(16))) & np.uint64(0x1F0000FF0000FF)
    v = (v | (v << np.uint64(8))) & np.uint64(0x100F00F00F00F00F)
    v = (v | (v << np.uint64(4))) & np.uint64(0x10C30C30C30C30C3)
    return (v | (v << np.uint64(2))) & np.uint64(0x1249249249249249)


@kernel
def _gather(value: int) -> int:
    v = value & np.uint64(0x1249249249249249)
    v = (v | (v >> np.uint64(2))) & np.uint64(0x10C30C30C30C30C3)
    v = (v | (v >> np.uint64(4))) & np.uint64(0x100F00F00F00F00F)
    v = (v | (v >> np.uint64(8))) & np.uint64(0x1F0000FF0000FF)
    v = (v | (v >> np.uint64(16))) & np.uint64(0x1F00000000FFFF)
    return np.int64((v | (v >> np.uint64(32))) & np.uint64(0x1FFFFF))


@kernel
def morton(points: NDArray[np.int32], codes: NDArray[np.uint64]) -> None:
    """Interleave the bits of x, y, z, so that numbers near each other are near in space;
    the open sides go last."""
    for i in range(codes.size):
        x, y, z = _spread(points[4 * i]), _spread(points[4 * i + 1]), _spread(points[4 * i + 2])
        place = x | (y << np.uint64(1)) | (z << np.uint64(2))
        codes[i] = place << np.uint64(6) | np.uint64(points[4 * i + 3])


@kernel
def build_tree(
    codes: NDArray[np.uint64],
    frame: NDArray[np.float64],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    points: NDArray[np.int32],
    level_start: NDArray[np.int64],
    boxes: NDArray[np.float64],
    steps: NDArray[np.int32],
) -> None:
    """Points back from sorted codes, and the boxes of all levels (lo x y z, hi x y z), level 1
    first.

    `steps` are the triples that may start and that may end in each box.
    """
    count = codes.size
    for i in range(count):
        code = codes[i] >> np.uint64(6)
        points[4 * i] = _gather(code)
        points[4 * i + 1] = _gather(code >> np.uint64(1))
        points[4 * i + 2] = _gather(code >> np.uint64(2))
        points[4 * i + 3] = np.int64(codes[i] & np.uint64(63))
    for node in range((count + 3) // 4):
        for k in range(3):
            boxes[6 * node + k] = np.inf
            boxes[6 * node + 3 + k] = -np.inf
        steps[2 * node] = steps[2 * node + 1] = 0
        for i in range(4 * node, min(count, 4 * node + 4)):
            x, y, z = points[4 * i], points[4 * i + 1], points[4 * i + 2]
            steps[2 * node] |= starts[points[4 * i + 3]]
            steps[2 * node + 1] |= ends[points[4 * i + 3]]
            for k in range(3):
                at = frame[3 * k] * x + frame[3 * k + 1] * y + frame[3 * k + 2] * z
                boxes[6 * node + k] = min(boxes[6 * node + k], at)
                boxes[6 * node + 3 + k] = max(boxes[6 * node + 3 + k], at)
    for level in range(1, level_start.size - 1):
        first, after = level_start[level - 1], level_start[level]
        for node in range(after, level_start[level + 1]):
            child = first + 4 * (node - after)
            for k in range(6):
                value = boxes[6 * child + k]
                for c in range(child + 1, min(after, child + 4)):
                    value = min(value, boxes[6 * c + k]) if k < 3 else max(value, boxes[6 * c + k])
                boxes[6 * node + k] = value
            for k in range(2):
                steps[2 * node + k] = 0
                for c in range(child, min(after, child + 4)):
                    steps[2 * node + k] |= steps[2 * c + k]


@kernel
def _near(
    a: NDArray[np.float64],
    i: int,
    b: NDArray[np.float64],
    j: int,
    room_x: float,
    room_y: float,
    room_z: float,
) -> float:
    """Square of the least distance between two boxes, each voxel taking up room."""
    x = max(0.0, max(b[6 * j] - a[6 * i + 3], a[6 * i] - b[6 * j + 3]) - room_x)
    y = max(0.0, max(b[6 * j + 1] - a[6 * i + 4], a[6 * i + 1] - b[6 * j + 4]) - room_y)
    z = max(0.0, max(b[6 * j + 2] - a[6 * i + 5], a[6 * i + 2] - b[6 * j + 5]) - room_z)
    return (x * x + y * y + z * z) * _SAFE


@kernel
def nearest(
    a: Branch,
    b: Branch,
    steps: Steps,
    apart: bool,
    scratch: Scratch,
    out: NDArray[np.int64],
    out_at: int,
) -> float:
    """Square of the least distance between two trees' voxels; the two points' places go to `out`.

    `apart` says that the structures share no voxel and the axes are at right angles.
    """
    best, is_done = nearest_in_caps(a, b, steps, apart, scratch, out, out_at)
    if is_done:
        return best
    frame, mode, starts, ends = steps
    stack, bounds = scratch
    rx = ry = rz = 0.0
    if mode > 0:
        rx = abs(frame[0]) + abs(frame[1]) + abs(frame[2])
        ry = abs(frame[4]) + abs(frame[5])
        rz = abs(frame[8])
    order = np.empty(4, dtype=np.int64)
    limit = np.empty(4, dtype=np.float64)
    stack[0], stack[1], stack[2], stack[3] = a.depth, 0, b.depth, 0
    bounds[0] = 0.0
    top = 1
    while top != 0:
        top -= 1
        if bounds[top] >= best:
            continue
        la, i, lb, j = stack[4 * top], stack[4 * top + 1], stack[4 * top + 2], stack[4 * top + 3]
        node_a, node_b = a.levels[a.level + la] + i, b.levels[b.level + lb] + j
        if la == 0 and lb == 0:
            towards = facing(a.boxes, node_a, b.boxes, node_b, frame) if apart else ALL
            for p in range(4 * i, min(a.count, 4 * i + 4)):
                ap = 4 * (a.first + p)
                if apart and (starts[a.points[ap + 3]] & towards) == 0:
                    continue
                x, y, z = (
                    np.int64(a.points[ap]),
                    np.int64(a.points[ap + 1]),
                    np.int64(a.points[ap + 2]),
                )
                for q in range(4 * j, min(b.count, 4 * j + 4)):
                    bq = 4 * (b.first + q)
                    if apart and (ends[b.points[bq + 3]] & towards) == 0:
                        continue
                    found = step2(
                        frame, b.points[bq] - x, b.points[bq + 1] - y, b.points[bq + 2] - z, mode
                    )
                    if found < best:
                        best = found
                        out[out_at] = p
                        out[out_at + 1] = q
            continue
        split_a = la >= lb
        if split_a:
            base, end = a.levels[a.level + la - 1], a.levels[a.level + la]
            first = 4 * i
        else:
            base, end = b.levels[b.level + lb - 1], b.levels[b.level + lb]
            first = 4 * j
        count = 0
        for child in range(first, min(end - base, first + 4)):
            if split_a:
                node_a = base + child
            else:
                node_b = base + child
            bound = _near(a.boxes, node_a, b.boxes, node_b, rx, ry, rz)
            if bound >= best:
                continue
            if (
                apart
                and (
                    a.steps[2 * node_a]
                    & b.steps[2 * node_b + 1]
                    & facing(a.boxes, node_a, b.boxes, node_b, frame)
                )
                == 0
            ):
                continue
            k = count
            while k > 0 and limit[k - 1] < bound:
                limit[k] = limit[k - 1]
                order[k] = order[k - 1]
                k -= 1
            limit[k] = bound
            order[k] = child
            count += 1
        for k in range(count):
            bounds[top] = limit[k]
            stack[4 * top] = la - 1 if split_a else la
            stack[4 * top + 1] = order[k] if split_a else i
            stack[4 * top + 2] = lb if split_a else lb - 1
            stack[4 * top + 3] = j if split_a else order[k]
            top += 1
    return best


class Forest(NamedTuple):
    """Trees one after another in the same arrays."""

    points: NDArray[np.int32]
    boxes: NDArray[np.float64]
    steps: NDArray[np.int32]
    levels: NDArray[np.int64]
    first: NDArray[np.int64]
    """The first point of each tree, and the end of the last."""
    level: NDArray[np.int64]
    """Where the levels of each tree begin in `levels`, and their end."""


@kernel
def _branch(forest: Forest, tree: int) -> Branch:
    """One tree of a forest."""
    points, boxes, steps, levels, first, level = forest
    # Levels end with where the last one ends: two fewer steps lead from the lowest to the top.
    depth = level[tree + 1] - level[tree] - 2
    count = first[tree + 1] - first[tree]
    return Branch(points, boxes, steps, levels, first[tree], count, level[tree], depth)


@kernel
def nearest_of_pairs(
    forest: Forest,
    pairs: NDArray[np.int64],
    steps: Steps,
    apart: NDArray[np.bool_],
    squared: NDArray[np.float64],
    witness: NDArray[np.int64],
) -> None:
    """`nearest` for many pairs of a forest; `pairs` holds two tree numbers a pair."""
    scratch = Scratch(np.empty(4 * 256, dtype=np.int64), np.empty(256, dtype=np.float64))
    for pair in range(squared.size):
        a, b = _branch(forest, pairs[2 * pair]), _branch(forest, pairs[2 * pair + 1])
        squared[pair] = nearest(a, b, steps, apart[pair], scratch, witness, 2 * pair)


@kernel
def _far(
    boxes: NDArray[np.float64], i: int, j: int, room_x: float, room_y: float, room_z: float
) -> float:
    """Square of the greatest distance between two boxes, each voxel taking up room."""
    x = max(boxes[6 * j + 3] - boxes[6 * i], boxes[6 * i + 3] - boxes[6 * j]) + room_x
    y = max(boxes[6 * j + 4] - boxes[6 * i + 1], boxes[6 * i + 4] - boxes[6 * j + 1]) + room_y
    z = max(boxes[6 * j + 5] - boxes[6 * i + 2], boxes[6 * i + 5] - boxes[6 * j + 2]) + room_z
    return (x * x + y * y + z * z) / _SAFE


@kernel
def farthest(
    points: NDArray[np.int32],
    boxes: NDArray[np.float64],
    levels: NDArray[np.int64],
    frame: NDArray[np.float64],
    offsets: NDArray[np.float64],
    stack: NDArray[np.int64],
    bounds: NDArray[np.float64],
    out: NDArray[np.int64],
) -> float:
    """Square of the greatest distance between two voxels of a tree plus one of the `offsets` (x, y,
    z each).

    The places of the two points and of the offset go to `out`.
    """
    rx = abs(frame[0]) + abs(frame[1]) + abs(frame[2])
    ry = abs(frame[4]) + abs(frame[5])
    rz = abs(frame[8])
    total = points.size // 4
    order = np.empty(4, dtype=np.int64)
    limit = np.empty(4, dtype=np.float64)
    best = -1.0
    stack[0], stack[1], stack[2], stack[3] = levels.size - 2, 0, levels.size - 2, 0
    bounds[0] = np.inf
    top = 1
    while top != 0:
        top -= 1
        if bounds[top] <= best:
            continue
        la, i, lb, j = stack[4 * top], stack[4 * top + 1], stack[4 * top + 2], stack[4 * top + 3]
        if la == 0 and lb == 0:
            for p in range(4 * i, min(total, 4 * i + 4)):
                for q in range(4 * j, min(total, 4 * j + 4)):
                    x = points[4 * q] - points[4 * p]
                    y = points[4 * q + 1] - points[4 * p + 1]
                    z = points[4 * q + 2] - points[4 * p + 2]
                    for k in range(offsets.size // 3):
                        found = length2(
                            frame,
                            x + offsets[3 * k],
                            y + offsets[3 * k + 1],
                            z + offsets[3 * k + 2],
                        )
                        if found > best:
                            best = found
                            out[0], out[1], out[2] = p, q, k
            continue
        split_a = la >= lb
        level, node = (la, i) if split_a else (lb, j)
        base, end = levels[level - 1], levels[level]
        other = levels[lb] + j if split_a else levels[la] + i
        count = 0
        for child in range(4 * node, min(end - base, 4 * node + 4)):
            bound = _far(boxes, base + child, other, rx, ry, rz)
            if bound > best:
                k = count
                while k > 0 and limit[k - 1] > bound:
                    limit[k], order[k] = limit[k - 1], order[k - 1]
                    k -= 1
                limit[k], order[k] = bound, child
                count += 1
        for k in range(count):
            bounds[top] = limit[k]
            if split_a:
                stack[4 * top], stack[4 * top + 1], stack[4 * top + 2], stack[4 * top + 3] = (
                    la - 1,
                    order[k],
                    lb,
                    j,
                )
            else:
                stack[4 * top], stack[4 * top + 1], stack[4 * top + 2], stack[4 * top + 3] = (
                    la,
                    i,
                    lb - 1,
                    order[k],
                )
            top += 1
    return best
