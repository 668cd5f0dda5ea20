# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels for the nearest voxels of two structures that face each other: only the two caps are
looked at.

Let D be the distance of a good pair, found by going to and fro between the trees, and u its
direction. No step is shorter than its part along u. So a nearer pair starts within D of the plane
across u that touches b, and ends within D of the one that touches a; where these two caps hold few
points, all their pairs are tried.

"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel
from situs.measure.kernels.steps import ALL, DOWN, UP, Steps, facing, length2, step2

__all__ = ["Branch", "Scratch", "nearest_in_caps"]

_TURNS = 8
"""Times to go to and fro; it seldom takes more than three."""
_MOST_POINTS = 512
_MOST_TESTS = 30_000
"""Beyond, searching the trees by branch and bound is quicker."""
_ROUNDING = 1e-9
_UP_X, _UP_Y, _UP_Z = UP
_DOWN_X, _DOWN_Y, _DOWN_Z = DOWN


class Branch(NamedTuple):
    """One tree of a forest whose trees lie one after another in the same arrays."""

    points: NDArray[np.int32]
    boxes: NDArray[np.float64]
    steps: NDArray[np.int32]
    levels: NDArray[np.int64]
    first: int
    """Its first point."""
    count: int
    level: int
    """`levels[level + k]` is where the boxes of its level k + 1 begin."""
    depth: int
    """The level of its one outermost box, from 0."""


class Scratch(NamedTuple):
    """Memory for the boxes that a search has yet to open."""

    stack: NDArray[np.int64]
    bounds: NDArray[np.float64]


@kernel
def _along(
    frame: NDArray[np.float64], ux: float, uy: float, uz: float, points: NDArray[np.int32], at: int
) -> float:
    """How far a point lies along a direction, in mm."""
    x, y, z = float(points[at]), float(points[at + 1]), float(points[at + 2])
    u = frame[0] * x + frame[1] * y + frame[2] * z
    return ux * u + uy * (frame[4] * y + frame[5] * z) + uz * (frame[8] * z)


@kernel
def _front(boxes: NDArray[np.float64], node: int, ux: float, uy: float, uz: float) -> float:
    """How far a box reaches along a direction."""
    x = max(ux * boxes[6 * node], ux * boxes[6 * node + 3])
    y = max(uy * boxes[6 * node + 1], uy * boxes[6 * node + 4])
    z = max(uz * boxes[6 * node + 2], uz * boxes[6 * node + 5])
    return x + y + z


@kernel
def _box2(boxes: NDArray[np.float64], node: int, x: float, y: float, z: float) -> float:
    """Square of the distance of a place from a box."""
    dx = max(0.0, max(boxes[6 * node] - x, x - boxes[6 * node + 3]))
    dy = max(0.0, max(boxes[6 * node + 1] - y, y - boxes[6 * node + 4]))
    dz = max(0.0, max(boxes[6 * node + 2] - z, z - boxes[6 * node + 5]))
    return dx * dx + dy * dy + dz * dz


@kernel
def _closest(
    tree: Branch, frame: NDArray[np.float64], x: int, y: int, z: int, scratch: Scratch
) -> int:
    """The point of a tree nearest to a voxel, centre to centre."""
    points, boxes, _, levels, first, count, first_level, depth = tree
    stack, bounds = scratch
    px = frame[0] * x + frame[1] * y + frame[2] * z
    py = frame[4] * y + frame[5] * z
    pz = frame[8] * z
    best, found = np.inf, 0
    stack[0], stack[1], bounds[0] = depth, 0, 0.0
    top = 1
    while top != 0:
        top -= 1
        if bounds[top] >= best:
            continue
        level, node = stack[2 * top], stack[2 * top + 1]
        if level == 0:
            for p in range(4 * node, min(count, 4 * node + 4)):
                at = 4 * (first + p)
                apart = length2(frame, points[at] - x, points[at + 1] - y, points[at + 2] - z)
                if apart < best:
                    best, found = apart, p
            continue
        base, end = levels[first_level + level - 1], levels[first_level + level]
        bottom = top
        for child in range(4 * node, min(end - base, 4 * node + 4)):
            bound = _box2(boxes, base + child, px, py, pz)
            if bound < best:
                k = top
                while k > bottom and bounds[k - 1] < bound:
                    bounds[k], stack[2 * k + 1] = bounds[k - 1], stack[2 * k - 1]
                    k -= 1
                bounds[k], stack[2 * k + 1] = bound, child
                stack[2 * top] = level - 1
                top += 1
    return found


@kernel
def _reach(
    tree: Branch,
    frame: NDArray[np.float64],
    ux: float,
    uy: float,
    uz: float,
    known: float,
    stack: NDArray[np.int64],
) -> float:
    """How far the points of a tree reach along a direction;
    one of them is known to reach `known`."""
    points, boxes, _, levels, first, count, first_level, depth = tree
    most = known
    stack[0], stack[1] = depth, 0
    top = 1
    while top != 0:
        top -= 1
        level, node = stack[2 * top], stack[2 * top + 1]
        if level == 0:
            for p in range(4 * node, min(count, 4 * node + 4)):
                most = max(most, _along(frame, ux, uy, uz, points, 4 * (first + p)))
            continue
        base, end = levels[first_level + level - 1], levels[first_level + level]
        for child in range(4 * node, min(end - base, 4 * node + 4)):
            if _front(boxes, base + child, ux, uy, uz) > most:
                stack[2 * top], stack[2 * top + 1] = level - 1, child
                top += 1
    return most


@kernel
def _cap(
    tree: Branch,
    frame: NDArray[np.float64],
    ux: float,
    uy: float,
    uz: float,
    least: float,
    by_sides: NDArray[np.int32],
    triples: int,
    found: NDArray[np.int64],
    heights: NDArray[np.float64],
    stack: NDArray[np.int64],
) -> int:
    """The points beyond `least` along a direction that may start (or end) such a step;
    -1 if they are too many."""
    points, boxes, _, levels, first, count, first_level, depth = tree
    total = 0
    stack[0], stack[1] = depth, 0
    top = 1
    while top != 0:
        top -= 1
        level, node = stack[2 * top], stack[2 * top + 1]
        if level == 0:
            for p in range(4 * node, min(count, 4 * node + 4)):
                at = 4 * (first + p)
                height = _along(frame, ux, uy, uz, points, at)
                if height > least and by_sides[points[at + 3]] & triples:
                    if total == found.size:
                        return -1
                    found[total], heights[total] = at, height
                    total += 1
            continue
        base, end = levels[first_level + level - 1], levels[first_level + level]
        for child in range(4 * node, min(end - base, 4 * node + 4)):
            if _front(boxes, base + child, ux, uy, uz) > least:
                stack[2 * top], stack[2 * top + 1] = level - 1, child
                top += 1
    return total


@kernel
def _between(
    a: NDArray[np.int32],
    a_found: NDArray[np.int64],
    a_total: int,
    b: NDArray[np.int32],
    b_found: NDArray[np.int64],
    b_total: int,
) -> int:
    """The sign triples of all steps from one of the first points to one of the second."""
    triples = ALL
    for axis in range(3):
        a_low = a_high = a[a_found[0] + axis]
        for k in range(1, a_total):
            a_low, a_high = min(a_low, a[a_found[k] + axis]), max(a_high, a[a_found[k] + axis])
        b_low = b_high = b[b_found[0] + axis]
        for k in range(1, b_total):
            b_low, b_high = min(b_low, b[b_found[k] + axis]), max(b_high, b[b_found[k] + axis])
        if b_low > a_high:
            triples &= _UP_X if axis == 0 else _UP_Y if axis == 1 else _UP_Z
        elif b_high < a_low:
            triples &= _DOWN_X if axis == 0 else _DOWN_Y if axis == 1 else _DOWN_Z
    return triples


@kernel
def _fitting(
    points: NDArray[np.int32],
    by_sides: NDArray[np.int32],
    triples: int,
    found: NDArray[np.int64],
    heights: NDArray[np.float64],
    total: int,
) -> int:
    """Keep the points that may start (or end) a step of these triples."""
    kept = 0
    for k in range(total):
        if by_sides[points[found[k] + 3]] & triples:
            found[kept], heights[kept] = found[k], heights[k]
            kept += 1
    return kept


@kernel
def nearest_in_caps(
    a: Branch,
    b: Branch,
    steps: Steps,
    apart: bool,
    scratch: Scratch,
    out: NDArray[np.int64],
    out_at: int,
) -> tuple[float, bool]:
    """Square of the distance of a good pair of voxels,
    whose places go to `out`, and whether no pair is nearer."""
    frame, mode, starts, ends = steps
    stack = scratch.stack
    a_points, b_points, a_first, b_first = a.points, b.points, 4 * a.first, 4 * b.first
    q, best, x, y, z = b.count // 2, np.inf, 0, 0, 0
    for _ in range(_TURNS):
        bq = b_first + 4 * q
        p = _closest(a, frame, b_points[bq], b_points[bq + 1], b_points[bq + 2], scratch)
        ap = a_first + 4 * p
        q = _closest(b, frame, a_points[ap], a_points[ap + 1], a_points[ap + 2], scratch)
        bq = b_first + 4 * q
        dx, dy = b_points[bq] - a_points[ap], b_points[bq + 1] - a_points[ap + 1]
        dz = b_points[bq + 2] - a_points[ap + 2]
        found = step2(frame, dx, dy, dz, mode)
        if found >= best:
            break
        best, x, y, z = found, dx, dy, dz
        out[out_at], out[out_at + 1] = p, q
    if best == 0.0:
        return best, True
    length = np.sqrt(length2(frame, x, y, z))
    ux = (frame[0] * x + frame[1] * y + frame[2] * z) / length
    uy = (frame[4] * y + frame[5] * z) / length
    uz = frame[8] * z / length
    near = np.sqrt(best)
    if mode > 0:
        near += abs(ux) * (abs(frame[0]) + abs(frame[1]) + abs(frame[2]))
        near += abs(uy) * (abs(frame[4]) + abs(frame[5])) + abs(uz) * abs(frame[8])
    root_a, root_b = a.levels[a.level + a.depth], b.levels[b.level + b.depth]
    near += _ROUNDING * (
        near + abs(_front(a.boxes, root_a, ux, uy, uz)) + abs(_front(b.boxes, root_b, ux, uy, uz))
    )

    a_place, b_place = a_first + 4 * out[out_at], b_first + 4 * out[out_at + 1]
    a_reach = _reach(a, frame, ux, uy, uz, _along(frame, ux, uy, uz, a_points, a_place), stack)
    b_reach = _reach(
        b, frame, -ux, -uy, -uz, _along(frame, -ux, -uy, -uz, b_points, b_place), stack
    )
    triples = facing(a.boxes, root_a, b.boxes, root_b, frame) if apart else ALL
    a_found, a_heights = (
        np.empty(_MOST_POINTS, dtype=np.int64),
        np.empty(_MOST_POINTS, dtype=np.float64),
    )
    b_found, b_heights = (
        np.empty(_MOST_POINTS, dtype=np.int64),
        np.empty(_MOST_POINTS, dtype=np.float64),
    )
    a_total = _cap(
        a, frame, ux, uy, uz, -b_reach - near, starts, triples, a_found, a_heights, stack
    )
    if a_total < 0:
        return best, False
    b_total = _cap(
        b, frame, -ux, -uy, -uz, -a_reach - near, ends, triples, b_found, b_heights, stack
    )
    if b_total < 0:
        return best, False
    if apart and a_total > 0 and b_total > 0:
        triples &= _between(a_points, a_found, a_total, b_points, b_found, b_total)
        a_total = _fitting(a_points, starts, triples, a_found, a_heights, a_total)
        b_total = _fitting(b_points, ends, triples, b_found, b_heights, b_total)
    if a_total * b_total > _MOST_TESTS:
        return best, False
    for k in range(a_total):
        at = a_found[k]
        x, y, z = np.int64(a_points[at]), np.int64(a_points[at + 1]), np.int64(a_points[at + 2])
        for m in range(b_total):
            if a_heights[k] + b_heights[m] + near <= 0.0:
                continue
            bt = b_found[m]
            found = step2(frame, b_points[bt] - x, b_points[bt + 1] - y, b_points[bt + 2] - z, mode)
            if found < best:
                best = found
                out[out_at], out[out_at + 1] = (at - a_first) // 4, (bt - b_first) // 4
    return best, True
