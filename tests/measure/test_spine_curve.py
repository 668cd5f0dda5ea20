"""The curve through the vertebrae against scipy's spline, and vertebral bodies of cubes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from situs.errors import SitusError
from situs.measure import Regions, Spine, vertebral_body
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

UP = np.array([0.0, 0.0, 1.0])
LEVELS = [5.0, 6.0, 8.0, 9.0]
CENTRES = np.array([[0, 0, 100], [3, 9, 71], [-2, 14, 12], [1, 6, -20]], dtype=float)
"""A spine that curves, with a gap."""


def bodies(half: float = 4.0) -> dict[float, np.ndarray]:
    """Two points above and below each centre."""
    return {
        level: np.array([centre + half * UP, centre - half * UP])
        for level, centre in zip(LEVELS, CENTRES)
    }


def test_the_curve_is_a_natural_spline_through_the_centres() -> None:
    """Followed in straight lines between places a sixteenth of a vertebra apart, which the centres
    are among."""
    spine, curve = Spine(bodies()), CubicSpline(LEVELS, CENTRES, bc_type="natural")
    knots = np.arange(5.0, 9.0 + 1 / 32, 1 / 16)
    np.testing.assert_allclose(spine.along_curve(curve(knots)), knots, atol=1e-9)
    heights = [spine.at_height(float(z), UP) for z in curve(knots)[:, 2]]
    assert heights == pytest.approx(knots.tolist())
    for first in (5.0, 6.5, 7.9375, 8.9375):
        step = np.linalg.norm(curve(first + 1 / 16) - curve(first)) * 16
        assert spine.step_mm(first + 1 / 32) == pytest.approx(step)
        assert spine.step_mm(first + 1 / 16) == pytest.approx(step)
    middle = (curve(6.0) + curve(6.0625)) / 2
    assert spine.along_curve(middle[None]) == pytest.approx([6.03125])


def test_beyond_its_ends_the_curve_goes_on_straight() -> None:
    spine, curve = Spine(bodies()), CubicSpline(LEVELS, CENTRES, bc_type="natural")
    for end, level in ((5.0, 2.0), (9.0, 11.5), (5.0, -24.0), (9.0, 38.0)):
        place = curve(end) + (level - end) * curve(end, 1)
        assert spine.along_curve(place[None]) == pytest.approx([level])
        assert spine.at_height(float(place[2]), UP) == pytest.approx(level)
        assert spine.step_mm(level) == pytest.approx(np.linalg.norm(curve(end, 1)))
    assert spine.step_mm(99.0) == pytest.approx(np.linalg.norm(curve(9.0, 1)))
    assert spine.step_mm(-99.0) == pytest.approx(np.linalg.norm(curve(5.0, 1)))


def test_half_a_vertebra_beyond_the_last_is_still_the_spine() -> None:
    spine = Spine(bodies())
    assert [spine.holds(level) for level in (4.49, 4.5, 9.5, 9.51)] == [False, True, True, False]


def test_a_slice_meets_bodies_up_to_its_own_half_thickness() -> None:
    spine = Spine(bodies(4.0))
    assert spine.body_on_slice(104.0, 0.0, UP) == 5.0
    assert spine.body_on_slice(106.0, 2.0, UP) == 5.0
    assert spine.body_on_slice(106.0, 1.9, UP) is None
    assert spine.body_on_slice(12.0, 4.0, UP) == 8.0
    # Of two, the one with more of it on the slice.
    assert spine.body_on_slice(85.0, 18.0, UP) == 6.0


def test_a_spine_that_lies_level_runs_down_nowhere() -> None:
    row = Spine({float(n): np.array([[0.0, 20.0 * n, 5.0]]) for n in range(3)})
    assert row.at_height(5.0, UP) is None
    assert row.along_curve(np.array([[9.0, 30.0, 5.0]])) == pytest.approx([1.5])
    two = Spine({float(n): np.array([[0.0, 20.0 * n, 5.0]]) for n in range(2)})
    assert two.along_curve(np.array([[9.0, 30.0, 5.0]])) == pytest.approx([1.5])
    with pytest.raises(SitusError, match="same centre"):
        Spine({float(n): np.array([[0.0, 20.0, 5.0]]) for n in range(3)})
    with pytest.raises(SitusError, match="at least two"):
        Spine({1.0: np.zeros((1, 3))})


@pytest.mark.parametrize("fine", [(), (0,), (1,), (2,), (0, 1, 2)])
def test_the_body_of_a_cube(fine: tuple[int, ...]) -> None:
    """A cube of 19 voxels of 1.5 mm lies 10 voxels deep: balls of 7 fit around what lies 7 deep,
    the inner cube of 7 voxels, and fill what is within 7 of that.

    Along axes with voxels of 0.5 mm, of 57 voxels the middle one of each three is taken."""
    size, spacing, lo = np.full(3, 19), np.full(3, 1.5), np.array([4, 5, 6])
    size[list(fine)], spacing[list(fine)] = 57, 0.5
    mask = np.zeros(size + 10, dtype=np.uint8)
    mask[tuple(slice(a, a + n) for a, n in zip(lo, size))] = 1
    labels = LabelMap(
        Grid(mask.shape, Affine(np.diag([*spacing, 1.0]))), (mask,),
        (Structure(1, "vertebrae_L1", 0, 1),),
    )  # fmt: skip
    samples = np.stack(np.meshgrid(*[np.arange(19)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    beyond = np.maximum(np.maximum(6 - samples, samples - 12), 0)
    kept = samples[(beyond**2).sum(axis=1) <= 49]
    index = np.where(spacing == 0.5, 3 * kept + 1, kept) + lo
    found = vertebral_body(Regions(labels)["vertebrae_L1"])
    assert sorted(map(tuple, found.round(6).tolist())) == sorted(
        map(tuple, (index * spacing).tolist())
    )


def test_voxels_of_six_tenths_are_not_fine() -> None:
    mask = np.ones((19, 19, 19), dtype=np.uint8)
    labels = LabelMap(
        Grid(mask.shape, Affine(np.diag([0.6, 0.6, 0.6, 1.0]))), (mask,),
        (Structure(1, "vertebrae_L1", 0, 1),),
    )  # fmt: skip
    body = vertebral_body(Regions(labels)["vertebrae_L1"])
    samples = np.stack(np.meshgrid(*[np.arange(19)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    beyond = np.maximum(np.maximum(6 - samples, samples - 12), 0)
    assert len(body) == ((beyond**2).sum(axis=1) <= 49).sum()
