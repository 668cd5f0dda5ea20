"""Ends of structures near a limit of the scan: blunt ones are cut, round ones are true."""

from __future__ import annotations

import numpy as np
import pytest

from situs.measure import EndShape, Regions, ends_bluntly, flat_ends
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

NEAR, DEPTH = 2, 4


def column(first: int, length: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """A column of constant section that begins so many layers from the limit, and its layers."""
    mask = np.zeros((5, 5, 20), dtype=bool)
    mask[1:4, 1:4, first : first + length] = True
    return mask, np.broadcast_to(np.arange(20), mask.shape)


def excess() -> float:
    """By how much the sections of a column that goes on exceed those of an ellipsoid of half length
    DEPTH, of which a section at a depth d of that length has 1 − (1 − d)² of the largest: most
    in its first layer, at half a layer's depth."""
    return 1.0 - (1.0 - (1.0 - 0.5 / DEPTH) ** 2)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_column_ends_bluntly_by_what_an_ellipsoid_lacks(first):
    mask, layer = column(first)
    at = excess()
    just_met, just_missed = at - 0.01, at + 0.01
    given = {"near": NEAR, "depth": DEPTH}
    assert ends_bluntly(mask, layer, **given, margin=just_met) == (True, first == 0)
    assert ends_bluntly(mask, layer, **given, margin=just_missed) == (False, False)


def test_what_begins_farther_than_near_is_not_judged():
    mask, layer = column(NEAR + 1)
    assert ends_bluntly(mask, layer, near=NEAR, depth=DEPTH, margin=0.01) == (False, False)


def test_each_part_is_judged_by_itself():
    """A column that touches the limit, beside a larger one that stays away from it."""
    mask, _ = column(0, 8)
    wide = np.zeros((20, 5, 20), dtype=bool)
    wide[:5], wide[7:20, :, 5:] = mask, True
    layers = np.broadcast_to(np.arange(20), wide.shape)
    margin = excess() - 0.01
    assert ends_bluntly(wide, layers, near=NEAR, depth=DEPTH, margin=margin) == (True, True)


@pytest.mark.parametrize(("layers", "is_cut"), [(3, True), (2, False)])
def test_three_layers_tell_of_a_plane_and_two_do_not(layers, is_cut):
    """A disc of 5 mm slices as high as it is wide, cut flat above and below."""
    across = np.hypot(*np.meshgrid(np.arange(-8, 9), np.arange(-8, 9))) <= 6.6
    disc = np.zeros((17, 17, 9), dtype=np.uint8)
    disc[:, :, 3 : 3 + layers] = across[:, :, None]
    grid = Grid(disc.shape, Affine(np.diag([1.0, 1.0, 5.0, 1.0])))
    region = Regions(LabelMap(grid, (disc,), (Structure(1, "liver", 0, 1),)))["liver"]
    ends = list(flat_ends(region, EndShape(0.3, -1.0, 0.3, 0.3), 60.0))
    along_z = [end.normal for end in ends if abs(end.normal[2]) > 0.99]
    assert bool(along_z) == is_cut
