"""Two organs in one mask: cores, spurs and flanks of bodies whose parts are counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from situs.facts.masks.cores import in_both_flanks, second_core, spur_mm
from situs.measure import Region, Regions
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure


def region_of(mask: np.ndarray, spacing=(1.0, 1.0, 1.0), origin=(0.0, 0.0, 0.0)) -> Region:
    matrix = np.diag([*spacing, 1.0])
    matrix[:3, 3] = origin
    labels = LabelMap(
        Grid(mask.shape, Affine(matrix)), (mask.astype(np.uint8),), (Structure(1, "liver", 0, 1),)
    )
    return Regions(labels)["liver"]


def block(shape: tuple[int, ...], *corners: tuple[tuple[int, ...], tuple[int, ...]]) -> np.ndarray:
    mask = np.zeros(shape, dtype=bool)
    for lo, hi in corners:
        mask[tuple(slice(a, b) for a, b in zip(lo, hi))] = True
    return mask


def test_the_second_core_is_what_lies_deeper_than_three_tenths() -> None:
    """Cubes of 19 and 9 voxels. The deepest voxel lies 10 deep, so that those deeper than 3 count:
    13³ of the one cube, 3³ of the other."""
    mask = block((40, 21, 21), ((1, 1, 1), (20, 20, 20)), ((30, 6, 6), (39, 15, 15)))
    assert second_core(region_of(mask)) == pytest.approx(27 / (13**3 + 27))
    assert second_core(region_of(mask[:28])) == 0.0


def test_of_a_large_organ_every_third_voxel_is_looked_at() -> None:
    """Cubes of 93 and 45 voxels, 9 times 100,000 in all: of every third voxel cubes of 31 and 15,
    16 deep, so that those deeper than 4.8 count, 23³ and 7³."""
    mask = block((148, 95, 95), ((1, 1, 1), (94, 94, 94)), ((100, 1, 1), (145, 46, 46)))
    assert second_core(region_of(mask)) == pytest.approx(343 / (23**3 + 343))


def test_a_spur_is_what_balls_of_a_centimetre_do_not_fill() -> None:
    """Balls of 5 mm radius fill the block, but not a rod of 8 voxels along y, 12 mm."""
    mask = block((15, 30, 25), ((2, 2, 2), (13, 17, 23)), ((7, 17, 12), (8, 25, 13)))
    assert spur_mm(region_of(mask, (2.0, 1.5, 1.0))) == pytest.approx(12.0)
    assert spur_mm(region_of(mask[:, :17], (2.0, 1.5, 1.0))) == 0.0


@pytest.mark.parametrize(("spacing", "spur"), [(5.0, 10.0), (5.01, 0.0)])
def test_voxels_of_five_millimetres_still_tell_a_spur(spacing: float, spur: float) -> None:
    """All but the outer layer of the block lies more than 5 mm deep, and the layer within 5 mm of
    that. So does the first of three voxels of a rod: below it the layer is 7 mm deep."""
    mask = block((9, 9, 14), ((2, 2, 2), (7, 7, 7)), ((4, 4, 7), (5, 5, 10)))
    assert spur_mm(region_of(mask, (spacing,) * 3)) == pytest.approx(spur)


def test_what_is_thin_all_over_has_no_spur() -> None:
    assert spur_mm(region_of(block((30, 12, 12), ((2, 3, 3), (28, 6, 6))))) == 0.0


SPINE = np.array([[10.0, -5.0, 100.0], [0.0, 5.0, 0.0], [4.0, 1.0, 60.0]])
"""Out of order: by height x runs 0, 4, 10 and y 5, 1, -5."""


def share_by_definition(region: Region) -> float:
    """Farther than 40 mm to either side of the spine, and behind 20 mm in front of it."""
    row = SPINE[np.argsort(SPINE[:, 2])]
    points = np.asarray(region.grid.affine.to_world(region.index_points()))
    flanks = []
    for sign in (1, -1):
        count = 0
        for x, y, z in points:
            middle, front = np.interp(z, row[:, 2], row[:, 0]), np.interp(z, row[:, 2], row[:, 1])
            count += sign * (x - middle) > 40.0 and y < front + 20.0
        flanks.append(count / len(points))
    return min(flanks)


@pytest.mark.parametrize("left", [-60.0, -50.0, -47.0])
def test_the_share_in_the_flank_that_holds_less(left: float) -> None:
    """From the left flank across the spine to the right one; some voxels lie on the planes."""
    mask = np.zeros((14, 9, 13), dtype=bool)
    mask[2:, 1:, 1:] = True
    mask[6:8, :6] = False
    region = region_of(mask, (10.0, 10.0, 10.0), (left - 20.0, -49.0, -10.0))
    expected = share_by_definition(region)
    assert 0.0 < expected < 0.5
    assert in_both_flanks(region, SPINE) == pytest.approx(expected)
    assert in_both_flanks(region, np.zeros((0, 3))) == 0.0


def test_the_flanks_of_a_large_organ_are_sampled() -> None:
    """Nine times 100,000 voxels of 1 mm: every third from x = -60 to 60 is looked at, of which 7 of
    41 lie farther than 40 mm to either side."""
    mask = block((123, 90, 90), ((2, 2, 2), (123, 89, 88)))
    region = region_of(mask, origin=(-62.0, -90.0, 0.0))
    upright = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 100.0]])
    assert in_both_flanks(region, upright) == pytest.approx(7 / 41)
