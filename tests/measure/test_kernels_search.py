"""Searches in box trees against all points, and all pairs of points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from _clouds import (
    FRAMES,
    SHEARED,
    SQUARE,
    boundary_cloud,
    forest,
    least_square,
    random_cloud,
    scratch,
    squares,
)

from situs.measure.kernels import caps, trees
from situs.measure.kernels.steps import ALL, ENDS, STARTS, Steps
from situs.measure.trees import plant

COUNTS = [1, 2, 4, 5, 16, 17, 70, 150]
"""One leaf, a full one, one voxel more; several levels, full and not."""


def interleaved(x: int, y: int, z: int) -> int:
    """Bit n of x, y and z at 3 n, 3 n + 1 and 3 n + 2."""
    return sum(
        (value >> bit & 1) << (3 * bit + axis)
        for axis, value in enumerate((x, y, z))
        for bit in range(21)
    )


def test_places_are_interleaved_and_found_again() -> None:
    """19 bits of each place and the open sides fit into 64 bits."""
    rng = np.random.default_rng(3)
    voxels = np.column_stack([rng.integers(0, 1 << 19, (60, 3)), rng.integers(0, 64, 60)])
    voxels[:2] = [[0, 0, 0, 0], [(1 << 19) - 1] * 3 + [63]]
    codes = np.zeros(60, dtype=np.uint64)
    trees.morton(voxels.astype(np.int32).reshape(-1), codes)
    expected = [interleaved(*place) << 6 | sides for *place, sides in voxels.tolist()]
    assert codes.tolist() == expected
    assert sorted(plant(voxels, SQUARE).points.tolist()) == sorted(voxels.tolist())
    for value in (0, 1, 5, (1 << 21) - 1, *rng.integers(0, 1 << 21, 20).tolist()):
        assert int(trees._spread(value)) == interleaved(value, 0, 0)
        assert trees._gather(np.uint64(interleaved(value, value // 3, 0))) == value


@pytest.mark.parametrize("count", COUNTS)
def test_a_box_holds_the_ways_of_its_voxels(count: int) -> None:
    """What steps may start and end in a box are those of its voxels, on every level."""
    tree = plant(random_cloud(np.random.default_rng(count), count), SQUARE)
    each = 4
    for start, end in itertools.pairwise(tree.level_start.tolist()):
        for number, (starting, ending) in enumerate(tree.steps[start:end].tolist()):
            sides = tree.points[number * each : (number + 1) * each, 3]
            assert starting == np.bitwise_or.reduce(STARTS[sides])
            assert ending == np.bitwise_or.reduce(ENDS[sides])
        each *= 4


def test_a_box_reaches_as_far_as_its_farthest_corner() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        low = rng.integers(-9, 9, size=(3, 3)).astype(float)
        boxes = np.hstack([low, low + rng.integers(0, 5, size=(3, 3))])
        direction, place = rng.normal(size=3), rng.integers(-9, 9, size=3).astype(float)
        for node, box in enumerate(boxes):
            corners = np.array(list(itertools.product(*zip(box[:3], box[3:]))))
            reach = caps._front(boxes.reshape(-1), node, *direction)
            assert reach == pytest.approx((corners @ direction).max())
            nearest = np.clip(place, box[:3], box[3:])
            square = caps._box2(boxes.reshape(-1), node, *place)
            assert square == pytest.approx(((place - nearest) ** 2).sum())


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("count", COUNTS)
def test_the_point_closest_to_a_voxel(count: int, frame: str) -> None:
    rng = np.random.default_rng(count)
    given = FRAMES[frame]
    trio = forest([random_cloud(rng, n) for n in (7, count, 9)], given)
    points = trio.trees[1].points
    for voxel in rng.integers(-6, 26, size=(12, 3)):
        found = caps._closest(trio.branch(1), given, *voxel, scratch())
        apart = squares(given, points, voxel[None], 0)[:, 0]
        assert apart[found] == pytest.approx(apart.min())


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("count", COUNTS)
def test_how_far_a_tree_reaches_and_what_lies_beyond_a_plane(count: int, frame: str) -> None:
    rng = np.random.default_rng(count)
    given = FRAMES[frame]
    trio = forest([random_cloud(rng, n) for n in (7, count, 9)], given)
    tree, points = trio.branch(1), trio.trees[1].points
    for _ in range(6):
        direction = rng.normal(size=3)
        heights = points[:, :3] @ given.reshape(3, 3).T @ direction
        stack = scratch().stack
        along = [caps._along(given, *direction, trio.points, 4 * (7 + p)) for p in range(count)]
        assert along == pytest.approx(heights.tolist())
        known = along[int(rng.integers(count))]
        assert caps._reach(tree, given, *direction, known, stack) == max(along)
        assert caps._reach(tree, given, *direction, max(along) + 1, stack) == max(along) + 1
        # Beyond the height of one of the points, which itself does not lie beyond it.
        least, triples = along[int(rng.integers(count))], int(rng.integers(1, ALL))
        fits = (STARTS[points[:, 3]] & triples) != 0
        expected = {p for p in range(count) if along[p] > least and fits[p]}
        found, reached = np.zeros(len(expected), dtype=np.int64), np.zeros(len(expected))
        rest = (STARTS, triples)
        total = caps._cap(tree, given, *direction, least, *rest, found, reached, stack)
        assert total == len(expected)
        assert {at // 4 - 7 for at in found.tolist()} == expected
        assert [along[at // 4 - 7] for at in found.tolist()] == reached.tolist()
        if expected:
            shorter = found[1:].copy(), reached[1:].copy()
            assert caps._cap(tree, given, *direction, least, *rest, *shorter, stack) == -1


def test_what_no_step_of_some_ways_can_use_is_dropped() -> None:
    rng = np.random.default_rng(8)
    points = random_cloud(rng, 30)
    found, heights = 4 * rng.permutation(30)[:20], rng.normal(size=20)
    before = list(zip(found.tolist(), heights.tolist()))[:15]
    for triples in (1 << 3, 1 << 26 | 1 << 2, 1 << 13, ALL):
        kept_at, kept = found.copy(), heights.copy()
        count = caps._fitting(points.reshape(-1), ENDS, triples, kept_at, kept, 15)
        expected = [(at, h) for at, h in before if ENDS[points[at // 4, 3]] & triples]
        assert list(zip(kept_at.tolist(), kept.tolist()))[:count] == expected


def two_clouds(seed: int) -> list[np.ndarray]:
    """The boundaries of two masks that share no voxel: sparse or dense, beside or amid each other."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(2, 11, 3))
    labels = rng.choice([0, 1, 2], p=[(0.8, 0.1, 0.1), (0.4, 0.3, 0.3)][seed % 2], size=shape)
    if seed % 3 == 0:
        axis = int(rng.integers(3))
        below = np.indices(shape)[axis] < rng.integers(1, shape[axis])
        labels = np.where(labels > 0, np.where(below, 1, 2), 0)
    labels[0, 0, 0], labels[-1, -1, -1] = 1, 2
    return [boundary_cloud(labels == value) for value in (1, 2)]


def check_nearest(clouds: list[np.ndarray], frame: np.ndarray, mode: int) -> int:
    """Both searches against all pairs; both trees lie behind another one. Returns how often the
    caps held too much to be searched."""
    grove = forest([random_cloud(np.random.default_rng(1), 6), *clouds], frame)
    a, b = (grove.trees[n].points for n in (1, 2))
    least, undecided = least_square(frame, a, b, mode), 0

    def check_pair(found: float, p: int, q: int) -> None:
        assert found == pytest.approx(least, abs=1e-12)
        pair = squares(frame, a[p : p + 1], b[q : q + 1], mode)
        assert pair[0, 0] == pytest.approx(least, abs=1e-12)

    # Which sides are open tells something on axes at right angles only.
    for apart in (False, True) if frame is SQUARE else (False,):
        out = np.zeros(4, dtype=np.int64)
        rest = (Steps(frame, mode), apart, scratch(), out)
        found, done = caps.nearest_in_caps(grove.branch(1), grove.branch(2), *rest, 2)
        if done:
            check_pair(found, out[2], out[3])
        undecided += not done
        assert done or max(len(a), len(b)) > 512 or len(a) * len(b) > 30_000
        found = trees.nearest(grove.branch(1), grove.branch(2), *rest, 1)
        check_pair(found, out[1], out[2])
    return undecided


@pytest.mark.parametrize("seeds", [range(first, first + 40) for first in (0, 40, 80, 120)])
def test_the_nearest_of_two_clouds(seeds: range) -> None:
    undecided = 0
    for seed, (frame, mode) in itertools.product(seeds, ((SQUARE, 0), (SQUARE, 1), (SHEARED, 2))):
        undecided += check_nearest(two_clouds(seed), frame, mode)
    assert undecided < len(seeds)


def plates(seed: int) -> list[np.ndarray]:
    """Two rough plates that face each other, more voxels than a cap may hold, each with one bump
    and the bumps opposite, away from where the search begins."""
    rng = np.random.default_rng(seed)
    wide = 26
    rough = rng.integers(0, 2, size=(2, wide, wide))
    x, y = rng.integers(0, wide, size=2)
    rough[:, x, y] = (3, 2)
    height = np.arange(14)
    masks = height <= rough[0][:, :, None], height >= 13 - rough[1][:, :, None]
    clouds = [boundary_cloud(mask.transpose(np.roll([0, 1, 2], seed))) for mask in masks]
    return clouds if seed % 2 else clouds[::-1]


def test_the_nearest_of_two_plates_is_found_by_branch_and_bound() -> None:
    undecided = 0
    for seed in range(6):
        for frame, mode in ((SQUARE, 0), (SQUARE, 1), (SHEARED, 2), (SHEARED, 0)):
            undecided += check_nearest(plates(seed), frame, mode)
    assert undecided > 18  # of 36


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("count", COUNTS)
def test_the_two_points_farthest_apart(count: int, frame: str) -> None:
    rng = np.random.default_rng(count)
    tree = plant(random_cloud(rng, count), FRAMES[frame])
    offsets = rng.uniform(-1.0, 1.0, size=(4, 3))
    steps = (tree.points[None, :, :3] - tree.points[:, None, :3])[:, :, None] + offsets
    lengths = ((steps @ FRAMES[frame].reshape(3, 3).T) ** 2).sum(axis=3)
    out = np.zeros(3, dtype=np.int64)
    found = trees.farthest(
        tree.points.reshape(-1), tree.boxes.reshape(-1), tree.level_start, FRAMES[frame],
        offsets.reshape(-1), *scratch(), out,
    )  # fmt: skip
    assert found == pytest.approx(lengths.max())
    assert lengths[tuple(out)] == pytest.approx(lengths.max())
