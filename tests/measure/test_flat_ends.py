"""Ends of bodies that were cut by a plane: where the plane lies, and what lies in its layers."""

from __future__ import annotations

import numpy as np
import pytest

from situs.measure import EndShape, FlatEnd, Region, Regions, ends_bluntly, flat_ends
from situs.measure.ends import (
    _facets,
    _is_unlike_an_end,
    _largest_end,
    _refined,
    _towards_right_front_head,
)
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

SHAPE = (44, 40, 42)
PLAIN = EndShape(0.5, 0.25, 0.9, 0.9)


def region_of(mask: np.ndarray, matrix: np.ndarray) -> Region:
    labels = LabelMap(
        Grid(mask.shape, Affine(matrix)), (mask.astype(np.uint8),), (Structure(1, "liver", 0, 1),)
    )
    return Regions(labels)["liver"]


def half_ball(normal: np.ndarray, spacing: tuple[float, ...], radius: float = 24.0) -> np.ndarray:
    """What of a ball around the middle of the array lies behind a plane through its centre."""
    index = np.stack(np.meshgrid(*(np.arange(n) for n in SHAPE), indexing="ij"), axis=-1)
    place = (index - (np.array(SHAPE) - 1) / 2) * spacing
    return (np.linalg.norm(place, axis=-1) <= radius) & (place @ normal <= 1e-9)


@pytest.mark.parametrize(("sign", "depth_mm"), [(1.0, 12.0), (-1.0, 22.0)])
@pytest.mark.parametrize("axis", range(3))
def test_half_a_ball_ends_in_the_plane_that_halves_it(
    axis: int, sign: float, depth_mm: float
) -> None:
    """Along an axis of the file: every layer is known to the voxel, and the plane is the outer face
    of the first."""
    spacing, normal = np.array([1.5, 1.8, 1.6]), sign * np.eye(3)[axis]
    mask = half_ball(normal, tuple(spacing))
    matrix = np.diag([*spacing, 1.0])
    matrix[:3, 3] = (-30.0, 12.0, 7.0)
    ends = flat_ends(region_of(mask, matrix), PLAIN, depth_mm)
    found = [end for end in ends if end.normal @ normal > 0.9]
    assert len(found) == 1
    (end,) = found
    np.testing.assert_allclose(end.normal, normal, atol=1e-9)
    index = np.argwhere(mask)
    depth = (
        sign * (index[:, axis].max() if sign > 0 else index[:, axis].min()) - sign * index[:, axis]
    )
    depth = depth.astype(np.int64)
    layers = np.bincount(depth)
    assert end.profile.tolist() == layers[: len(end.profile)].tolist()
    assert len(end.profile) == max(12, int(np.ceil(depth_mm / spacing[axis])))
    last = (index[:, axis].max() if sign > 0 else index[:, axis].min()) + 0.5 * sign
    place = last * spacing[axis] + matrix[axis, 3]
    assert end.offset_mm == pytest.approx(sign * place)
    expected = index[depth < 2] * spacing + matrix[:3, 3]
    assert sorted(map(tuple, end.points_mm.round(6))) == sorted(map(tuple, expected.round(6)))


@pytest.mark.parametrize("seed", range(4))
def test_half_a_ball_cut_obliquely(seed: int) -> None:
    """In any direction: the normal to a few degrees, the plane to a voxel; the round side is no
    end."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    mask = half_ball(normal, (1.5, 1.5, 1.5))
    ends = list(flat_ends(region_of(mask, np.diag([1.5, 1.5, 1.5, 1.0])), PLAIN, 20.0))
    assert ends
    centre = 1.5 * (np.array(SHAPE) - 1) / 2
    best = max(ends, key=lambda end: float(end.normal @ normal))
    assert np.degrees(np.arccos(min(1.0, float(best.normal @ normal)))) < 4.0
    assert best.offset_mm == pytest.approx(centre @ best.normal, abs=1.5 * 3**0.5)
    assert all(float(end.normal @ normal) > 0.8 for end in ends)


def test_the_cut_of_a_large_organ_is_found_on_every_second_voxel() -> None:
    """Half a ball of 42 voxels' radius has 155,000 voxels: every second layer is looked at, and the
    plane still lies at the outer face of the last voxel."""
    index = np.stack(np.meshgrid(*(np.arange(n) for n in (88, 88, 46)), indexing="ij"), axis=-1)
    mask = np.linalg.norm(index - (44, 44, 43), axis=-1) <= 42.5
    mask &= index[..., 2] <= 43
    region = region_of(mask, np.eye(4))
    assert region.voxels > 150_000
    found = [end for end in flat_ends(region, PLAIN, 20.0) if end.normal[2] > 0.99]
    assert [end.offset_mm for end in found] == pytest.approx([43.5])
    seen = mask[mask.any(axis=(1, 2))][:, mask.any(axis=(0, 2))][:, :, mask.any(axis=(0, 1))]
    layers = seen[::2, ::2, ::2].sum(axis=(0, 1))[::-1]
    assert found[0].profile.tolist() == layers[: len(found[0].profile)].tolist()
    first = np.argwhere(mask).min(axis=0)
    kept = first + 2 * np.argwhere(seen[::2, ::2, ::2])
    expected = kept[kept[:, 2] > kept[:, 2].max() - 4]
    places = sorted(map(tuple, found[0].points_mm.round(6)))
    assert places == sorted(map(tuple, expected.astype(float)))


def test_of_two_parts_the_one_with_more_of_the_end_tells() -> None:
    """Within the depth: a plate at the tip, and a thick block that begins two layers deeper."""
    mask = np.zeros((30, 12, 14), dtype=bool)
    mask[1:6, 1:6, 9:12] = True
    mask[14:28, 1:11, 2:10] = True
    index = np.argwhere(mask)
    layer = 11 - index[:, 2]
    chosen = _largest_end(mask, index, layer, 8)
    assert (chosen == ((index[:, 0] < 12) & (layer < 8))).all()
    mask[14:28, 1:11, 2:12] = True
    index = np.argwhere(mask)
    layer = 11 - index[:, 2]
    chosen = _largest_end(mask, index, layer, 8)
    assert (chosen == ((index[:, 0] > 12) & (layer < 8))).all()


@pytest.mark.parametrize(
    ("profile", "is_sheet", "unlike"),
    [
        ([24, 24, 24, 24, 24, 24], False, False),
        ([23, 23, 90, 90, 90, 90], False, True),  # too few voxels at the tip
        ([10, 24, 90, 90, 90, 90], True, False),  # enough in the second, and six layers
        ([68, 90, 100, 90, 70], False, False),
        ([67, 90, 100, 90, 70], False, True),  # a shallow one that grows: a ball
        ([100, 100, 100, 100, 100], True, True),  # a sheet
        ([68, 100, 90], False, False),
        ([100, 100], False, True),
    ],
)
def test_what_rules_an_end_out(profile: list[int], is_sheet: bool, unlike: bool) -> None:
    assert _is_unlike_an_end(np.array(profile), is_sheet=is_sheet) is unlike


def shape(**changed: float) -> EndShape:
    usual = {"share": 0.5, "margin": -1.0, "rise": 2.0, "ragged_rise": 2.0}
    return EndShape(**{**usual, **changed})


def test_the_shape_of_an_end() -> None:
    """Each bound is met by what equals it. An end of eight layers that goes on has an excess of
    share - (1 - (1 - (n + .5) / 8)²) in layer n."""
    profile = np.array([40, 50, 80, 80, 100, 100, 100, 100])
    assert shape(share=0.5, rise=0.5).fits(profile)
    assert not shape(share=0.51, rise=0.5).fits(profile)
    # The first layer against the three behind it, of 80; the second against those of 100.
    assert not shape(rise=0.51).fits(profile)
    assert shape(ragged_rise=0.5).fits(profile)
    assert not shape(ragged_rise=0.51).fits(profile)
    excess = 0.4 - (1 - (1 - 0.5 / 8) ** 2)
    assert shape(margin=excess, rise=0.5).fits(profile)
    assert not shape(margin=excess + 1e-9, rise=0.5).fits(profile)
    few = np.array([23, 24, 24, 24, 24, 24])
    assert shape(rise=0.9).fits(few)
    assert not shape(rise=0.9).fits(np.minimum(few, 23))


def test_the_axes_are_put_in_the_patients_order() -> None:
    """Stored from head down, front back and then left to right; two voxels tell."""
    mask = np.zeros((6, 5, 4), dtype=bool)
    mask[1:3, 1:4, 2:4] = True
    mask[2, 3, 3] = False
    matrix = np.array([[0, 0, 1.5, 3], [0, -2.0, 0, 9], [-3.0, 0, 0, 8], [0, 0, 0, 1]])
    region = region_of(mask, matrix)
    turned, linear = _towards_right_front_head(region)
    np.testing.assert_allclose(linear, np.diag([1.5, 2.0, 3.0]))
    expected = np.ones((2, 3, 2), dtype=bool)
    expected[1, 0, 0] = False
    assert (turned == expected).all()


def test_the_largest_facets_of_a_hull() -> None:
    """A slab of 10 × 20 × 30: its faces of 600, 300 and 200, each twice."""
    grid = np.meshgrid(np.arange(0, 11), np.arange(0, 21), np.arange(0, 31), indexing="ij")
    normals = _facets(np.stack(grid, axis=-1).reshape(-1, 3).astype(float))
    assert len(normals) == 6
    areas = [float(np.linalg.norm(normal)) for normal in normals]
    assert np.divide(areas, areas[-1]) == pytest.approx([3, 3, 1.5, 1.5, 1, 1])
    units = [np.abs(normal / np.linalg.norm(normal)).round(6).tolist() for normal in normals]
    assert units == [[1, 0, 0]] * 2 + [[0, 1, 0]] * 2 + [[0, 0, 1]] * 2
    assert _facets(np.zeros((5, 3))) == []


@pytest.mark.parametrize(("degrees", "is_found"), [(6.0, True), (12.0, True), (18.0, False)])
def test_a_direction_is_refined_to_the_plane(degrees: float, is_found: bool) -> None:
    """A slab whose top is tilted by so much about y, looked at along z; beyond 15° the direction
    stays."""
    tilt = np.radians(degrees)
    plane = np.array([-np.sin(tilt), 0.0, np.cos(tilt)])
    index = np.stack(np.meshgrid(*[np.arange(-12, 13)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    points = index[(index @ plane <= 0.0) & (index @ plane > -9.0)].astype(float)
    found = _refined(points, np.array([0.0, 0.0, 1.0]), np.eye(3))
    assert np.linalg.norm(found) == pytest.approx(1.0)
    off = np.degrees(np.arccos(min(1.0, float(found @ plane))))
    if is_found:
        assert off < 2.5
    else:
        assert found.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(("first", "touching"), [(0, True), (1, False), (2, False)])
def test_how_much_of_an_end_is_looked_at(first: int, touching: bool) -> None:
    """A cone cut near a limit: sections of 25, 36, 49 … within four layers of the first; half the
    length of the ellipsoid is those four, or `near` if that is more."""
    mask = np.zeros((14, 14, 16), dtype=bool)
    for n in range(8):
        mask[: 5 + n, : 5 + n, first + n] = True
    layer = np.broadcast_to(np.arange(16), mask.shape)
    sections = np.array([25, 36, 49, 64]) / 64
    expected = sections - (1 - (1 - (np.arange(4) + 0.5) / 4) ** 2)
    most = expected[: 3 - first].max()
    given = {"near": 2, "depth": 4}
    assert ends_bluntly(mask, layer, **given, margin=most) == (True, touching)
    assert ends_bluntly(mask, layer, **given, margin=most + 1e-9) == (False, False)


def test_a_flat_end_says_where_it_lies() -> None:
    """A block in a plane: its six sides, each with its offset."""
    mask = np.zeros((30, 30, 30), dtype=bool)
    mask[5:25, 4:24, 6:26] = True
    ends: list[FlatEnd] = list(
        flat_ends(region_of(mask, np.diag([2.0, 2.0, 2.0, 1.0])), PLAIN, 20.0)
    )
    along = {tuple(np.round(end.normal).astype(int).tolist()): end.offset_mm for end in ends}
    assert along == pytest.approx(
        {
            (1, 0, 0): 49,
            (-1, 0, 0): -9,
            (0, 1, 0): 47,
            (0, -1, 0): -7,
            (0, 0, 1): 51,
            (0, 0, -1): -11,
        }
    )


@pytest.mark.parametrize(
    ("size", "is_end"),
    [((6, 6, 4), True), ((5, 5, 5), False), ((40, 40, 5), False), ((12, 12, 5), True)],
)
def test_how_large_a_block_must_be_to_end_in_a_plane(size: tuple[int, ...], is_end: bool) -> None:
    """144 voxels at least; and a plate under two fifths as thick as it is wide has no end at its
    broad sides."""
    mask = np.zeros((50, 50, 20), dtype=bool)
    mask[tuple(slice(4, 4 + n) for n in size)] = True
    ends = flat_ends(region_of(mask, np.eye(4)), PLAIN, 20.0)
    assert any(end.normal[2] > 0.99 for end in ends) is is_end
