"""Whether slices follow each other, of shapes whose order is known."""

from __future__ import annotations

import numpy as np
import pytest

from situs.measure import slices_out_of_place
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

COUNT = 40
INDEX = np.indices((64, 64, COUNT))


def label_map(solid: np.ndarray) -> LabelMap:
    array = np.asfortranarray(solid.astype(np.uint8))
    structure = Structure(1, "liver", 0, 1)
    return LabelMap(Grid(array.shape, Affine(np.eye(4))), (array,), (structure,))


def stack(width: np.ndarray) -> np.ndarray:
    """Discs of these widths."""
    return np.hypot(INDEX[0] - 31.5, INDEX[1] - 31.5) < width


CONE = 4 + 0.6 * np.arange(COUNT)


@pytest.mark.parametrize("axis", range(3))
def test_a_slice_between_two_that_are_alike_is_out_of_place(axis: int) -> None:
    """12 15 13 16 14 17: of these, 15, 13, 16 and 14 lie between slices nearer to each other."""
    order = np.arange(COUNT)
    order[12:18] = [12, 15, 13, 16, 14, 17]
    solid = np.moveaxis(stack(CONE[order]), 2, axis)
    assert slices_out_of_place(label_map(solid)) == 4


@pytest.mark.parametrize("width", [CONE, CONE[::-1], CONE[np.arange(COUNT) // 2]])
def test_slices_that_follow_each_other(width: np.ndarray) -> None:
    assert slices_out_of_place(label_map(stack(width))) == 0


def test_a_ball_is_the_same_on_both_sides_of_its_middle() -> None:
    ball = sum((i - m) ** 2 for i, m in zip(INDEX, (31.5, 31.5, 20))) < 18**2
    assert slices_out_of_place(label_map(ball)) <= 1


def test_contours_that_wander_and_slices_without_any_tell_nothing() -> None:
    wandering = 15 + np.random.default_rng(1).normal(0.0, 0.2, COUNT)
    assert slices_out_of_place(label_map(stack(wandering))) == 0
    some = np.where(np.arange(COUNT) % 4 == 0, CONE, 0.0)
    assert slices_out_of_place(label_map(stack(some))) == 0
