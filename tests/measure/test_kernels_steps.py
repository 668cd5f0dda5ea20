"""Steps between voxels: how long they are, and in which directions they can go."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from _clouds import FRAMES, SHEARED, SQUARE, squares

from situs.measure.kernels import steps
from situs.measure.kernels.steps import ALL, DOWN, ENDS, STARTS, UP, facing, length2, step2

TRIPLES = list(itertools.product((-1, 0, 1), repeat=3))


def members(bits: int) -> set[tuple[int, int, int]]:
    """The sign triples in a set of them."""
    return {triple for bit, triple in enumerate(TRIPLES) if int(bits) >> bit & 1}


def is_open(sides: int, axis: int, sign: int) -> bool:
    """Whether a voxel with these sides open is open towards an axis' low (-1) or high (1) end."""
    return bool(sides >> (2 * axis + (1 if sign == 1 else 0)) & 1)


@pytest.mark.parametrize("sides", range(64))
def test_a_step_leaves_and_arrives_through_open_sides(sides: int) -> None:
    leaving = {t for t in TRIPLES if all(s == 0 or is_open(sides, a, s) for a, s in enumerate(t))}
    arriving = {t for t in TRIPLES if all(s == 0 or is_open(sides, a, -s) for a, s in enumerate(t))}
    assert members(STARTS[sides]) == members(steps._starts(sides)) == leaving
    assert members(ENDS[sides]) == arriving


def test_sets_of_triples_that_go_one_way() -> None:
    assert members(ALL) == set(TRIPLES)
    for axis in range(3):
        assert members(UP[axis]) == {t for t in TRIPLES if t[axis] == 1}
        assert members(DOWN[axis]) == {t for t in TRIPLES if t[axis] == -1}


@pytest.mark.parametrize("seed", range(8))
def test_boxes_that_are_more_than_half_a_voxel_apart_leave_one_way(seed: int) -> None:
    """All ways stay open along an axis where they are just half a voxel apart."""
    rng = np.random.default_rng(seed)
    half = np.array([0.75, 0.625, 1.5])
    frame = np.diag(2 * half).reshape(-1)
    table = np.zeros((6, 6))
    table[:, :3] = rng.integers(-3, 4, size=(6, 3)) * half
    table[:, 3:] = table[:, :3] + rng.integers(0, 3, size=(6, 3)) * half
    table[::2] += 0.25 * np.tile(half, 2)
    for i, j in itertools.product(range(6), repeat=2):
        expected = set(TRIPLES)
        for axis in range(3):
            after = table[j, axis] - table[i, axis + 3]
            before = table[i, axis] - table[j, axis + 3]
            if after > half[axis]:
                expected = {t for t in expected if t[axis] == 1}
            elif before > half[axis]:
                expected = {t for t in expected if t[axis] == -1}
        flat = table.reshape(-1)
        assert members(facing(flat, i, flat, j, frame)) == expected
        # Each box in an array of its own, at any place.
        assert members(facing(table[i:].reshape(-1), 0, flat, j, frame)) == expected


@pytest.mark.parametrize("frame", FRAMES)
def test_the_length_of_a_step(frame: str) -> None:
    rng = np.random.default_rng(1)
    matrix = FRAMES[frame].reshape(3, 3)
    for x, y, z in rng.normal(size=(20, 3)):
        assert length2(FRAMES[frame], x, y, z) == pytest.approx(((matrix @ [x, y, z]) ** 2).sum())


def test_the_distance_of_two_voxels_is_that_of_their_centres_or_nearest_corners() -> None:
    for x, y, z in itertools.product((-3, -1, 0, 1, 2), repeat=3):
        there, here = np.array([[x, y, z]]), np.zeros((1, 3), dtype=np.int64)
        for frame, modes in ((SQUARE, (0, 1, 2)), (SHEARED, (0, 2))):
            for mode in modes:
                expected = squares(frame, here, there, mode)[0, 0]
                assert step2(frame, x, y, z, mode) == pytest.approx(expected)
