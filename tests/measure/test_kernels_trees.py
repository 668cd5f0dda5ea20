"""The bounds of the box trees: no pair of voxels of two boxes is nearer, or farther, than they say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from situs.measure.kernels.trees import _far, _near
from situs.measure.trees import plant

ROOMS = [(0.0, 0.0, 0.0), (1.0, 2.0, 3.0)]


def two_boxes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two boxes of whole numbers (low corner, high corner), apart along some axes only."""
    rng = np.random.default_rng(seed)
    low = rng.integers(-9, 9, size=(2, 3))
    return low, low + rng.integers(0, 5, size=(2, 3))


def differences(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """From every point of the first box to every point of the second, along each axis."""
    first, second = (
        np.array(list(itertools.product(*(range(a, b + 1) for a, b in zip(*ends)))))
        for ends in zip(low, high)
    )
    return (second[None] - first[:, None]).reshape(-1, 3).astype(float)


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("seed", range(30))
def test_the_least_distance_is_that_of_all_pairs(seed: int, room: tuple[float, ...]) -> None:
    low, high = two_boxes(seed)
    apart = np.maximum(0.0, np.abs(differences(low, high)) - room)
    boxes = np.hstack([low, high]).astype(float)
    bound = _near(boxes[0], 0, boxes[1], 0, *room)
    assert bound == pytest.approx((apart**2).sum(axis=1).min(), rel=1e-9)
    # Both boxes may stand anywhere in their arrays.
    table = np.vstack([np.full((2, 6), 77.0), boxes]).ravel()
    assert _near(table, 3, table, 2, *room) == bound


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("seed", range(30))
def test_the_greatest_distance_is_that_of_all_pairs(seed: int, room: tuple[float, ...]) -> None:
    low, high = two_boxes(seed)
    # A voxel is as far from another as their centres and the room around them.
    apart = np.abs(differences(low, high)) + room
    table = np.vstack([np.full((2, 6), 77.0), np.hstack([low, high])]).ravel()
    bound = _far(table, 2, 3, *room)
    assert bound == pytest.approx((apart**2).sum(axis=1).max(), rel=1e-9)
    assert _far(table, 3, 2, *room) == bound


def test_rounding_never_hides_the_nearest_pair() -> None:
    """A bound may be too near, or too far, by what rounding takes; never the other way round."""
    table = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 4.0, 5.0, 13.0, 6.0, 7.0, 15.0])
    assert _near(table, 0, table, 1, 0.0, 0.0, 0.0) < 3.0**2 + 4.0**2 + 12.0**2
    assert _far(table, 0, 1, 0.0, 0.0, 0.0) > 6.0**2 + 7.0**2 + 15.0**2


@pytest.mark.parametrize("count", [1, 3, 4, 5, 17, 64, 200])
def test_every_box_is_just_as_large_as_its_voxels_take(count: int) -> None:
    """Too large a box would only cost time: nothing else would tell."""
    rng = np.random.default_rng(count)
    points = np.zeros((count, 4), dtype=np.int32)
    points[:, :3] = rng.integers(0, 40, size=(count, 3))
    frame = np.array([1.5, 0.2, -0.3, 0.0, 0.9, 0.4, 0.0, 0.0, 3.0])
    tree = plant(points, frame)
    assert sorted(map(tuple, tree.points.tolist())) == sorted(map(tuple, points.tolist()))
    places = tree.points[:, :3] @ frame.reshape(3, 3).T
    each = 4
    for start, end in itertools.pairwise(tree.level_start.tolist()):
        assert end - start == -(-count // each)
        for number, box in enumerate(tree.boxes[start:end]):
            own = places[number * each : (number + 1) * each]
            np.testing.assert_allclose(box[:3], own.min(axis=0))
            np.testing.assert_allclose(box[3:], own.max(axis=0))
        each *= 4
    assert tree.level_start[-1] - tree.level_start[-2] == 1
