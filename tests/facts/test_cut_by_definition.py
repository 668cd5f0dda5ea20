"""What decides whether a structure is cut, bound by bound, on blocks and values that are counted by
hand."""

from __future__ import annotations

import numpy as np
import pytest

from situs.facts.masks import cut
from situs.facts.masks.cut import ALL_FACES, Surroundings, clearance_mm, cut_through, grazed_slices
from situs.facts.recipe import CutRules
from situs.measure import FlatEnd, Region, Regions
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

RULES = CutRules()


def region_of(mask: np.ndarray, matrix: np.ndarray | None = None) -> Region:
    grid = Grid(mask.shape, Affine(np.eye(4) if matrix is None else matrix))
    labels = LabelMap(grid, (mask.astype(np.uint8),), (Structure(1, "liver", 0, 1),))
    return Regions(labels)["liver"]


def block(shape: tuple[int, ...], lo: tuple[int, ...], hi: tuple[int, ...]) -> np.ndarray:
    mask = np.zeros(shape, dtype=bool)
    mask[tuple(slice(a, b) for a, b in zip(lo, hi))] = True
    return mask


@pytest.mark.parametrize(
    ("spacing", "near", "depth"),
    [
        (1.0, 4, 20),
        (1.25, 4, 16),
        (0.5, 9, 40),
        (0.9, 5, 23),
        (5.0, 4, 8),
        (2.5, 4, 8),
        (2.4, 4, 9),
    ],
)
def test_layers_near_a_limit(spacing: float, near: int, depth: int) -> None:
    """An end lies near in the first four layers beyond the one at the limit, or within 5 mm; 20 mm
    of the structure are looked at, or eight layers."""
    assert cut._layers(RULES, spacing) == (near, depth)


def test_room_to_where_others_may_stop() -> None:
    """10, 11 and 9 voxels of 1, 2 and 4 mm from the nearest faces, less four layers each."""
    mask = block((40, 40, 40), (10, 13, 14), (28, 29, 31))
    assert clearance_mm(region_of(mask, np.diag([1.0, 2.0, 4.0, 1.0])), RULES) == 6.0
    assert clearance_mm(region_of(mask, np.diag([4.0, 2.0, 1.0, 1.0])), RULES) == 5.0
    mask = block((40, 40, 40), (3, 13, 14), (28, 29, 31))
    assert clearance_mm(region_of(mask, np.diag([1.0, 2.0, 4.0, 1.0])), RULES) == 0.0
    # Slices that lean: neighbours are nearer to each other than a step along their axis.
    leaning = np.eye(4)
    leaning[:3, :3] = [[1, 0, 0], [0, 1, 0.75], [0, 0, 1]]
    mask = block((60, 60, 30), (25, 25, 12), (35, 35, 18))
    assert clearance_mm(region_of(mask, leaning), RULES) == pytest.approx(12.0 - 4.0)


def test_share_of_values_within_nine_tenths_of_others() -> None:
    """From 5 to 95 of the numbers from 0 to 100, both counted."""
    reference = np.arange(101.0)
    values = np.array([4.9, 5.0, 50.0, 95.0, 95.1])
    assert cut._share_within(values, reference) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("profile", "layers"),
    [((9, 0), 1), ((9,) * 5, 1), ((9,) * 6, 2), ((9,) * 9, 3), ((9,) * 40, 3)],
)
def test_layers_that_are_compared(profile: tuple[int, ...], layers: int) -> None:
    """A third of an end's own layers, three at most."""
    end = FlatEnd((0.0, 0.0, 1.0), 0.0, np.array(profile), np.zeros((1, 3)))
    assert cut._layers_beside(end) == layers


def test_voxels_beside_an_end() -> None:
    """An end at z = 9.5 of voxels of 1 mm: inside it layers 9, 8, 7 and beyond it 10, 11, 12; its
    points stand in any layer. What lies outside the array is left out."""
    region = region_of(block((8, 8, 12), (2, 2, 2), (6, 6, 10)))
    points = np.array([(3.0, 4.0, 9.0), (5.0, 2.0, 8.0)])
    end = FlatEnd((0.0, 0.0, 1.0), 9.5, np.full(9, 16), points)
    for sign, layers in ((-1.0, (9, 8, 7)), (1.0, (10, 11))):
        found = cut._beside_end(region, end, sign)
        expected = {(x, y, z) for x, y in ((3, 4), (5, 2)) for z in layers}
        assert {tuple(voxel) for voxel in found.tolist()} == expected
        assert len(found) == len(expected)


def test_with_thick_slices_layers_are_as_far_apart_as_slices() -> None:
    """2 mm along x and 4 along z: beyond an end at x = 9 the first layer lies 2 mm off, just
    between two voxels, of which the nearer to the end is taken; then 6 and 10 mm."""
    region = region_of(block((12, 6, 6), (1, 1, 1), (5, 5, 5)), np.diag([2.0, 2.0, 4.0, 1.0]))
    end = FlatEnd((1.0, 0.0, 0.0), 9.0, np.full(9, 16), np.array([(8.0, 4.0, 8.0)]))
    assert cut._beside_end(region, end, 1.0).tolist() == [[5, 2, 2], [7, 2, 2], [9, 2, 2]]
    assert cut._beside_end(region, end, -1.0).tolist() == [[4, 2, 2], [2, 2, 2], [0, 2, 2]]


def test_a_neighbour_covers_an_end_unless_it_holds_it_as_well() -> None:
    """Beyond the end lie 8 voxels of a spleen in another layer; it holds less than half of the
    voxels inside, or just half."""
    inside = np.array([(x, 0, 0) for x in range(8)])
    beyond = np.array([(x, 0, 1) for x in range(8)] + [(0, 1, 1)])
    for held, taken in ((3, 8), (4, 0)):
        liver, spleen = np.zeros((2, 8, 2, 2), dtype=np.uint8)
        liver[:, 0, 0] = 1
        spleen[:, 0, 1], spleen[:held, 0, 0] = 1, 1
        labels = LabelMap(
            Grid((8, 2, 2), Affine(np.eye(4))),
            (liver, spleen),
            (Structure(1, "liver", 0, 1), Structure(2, "spleen", 1, 1)),
        )
        assert cut._taken(labels, inside, beyond).tolist() == [taken > 0] * 8 + [False]


def test_which_faces_are_touched() -> None:
    for axis, last in ALL_FACES:
        lo, hi = [3, 3, 3], [7, 7, 7]
        lo[axis], hi[axis] = (7, 10) if last else (0, 3)
        region = region_of(block((10, 10, 10), tuple(lo), tuple(hi)))
        assert cut._touches_face(region, ())
        assert not cut._touches_face(region, [(axis, last)])
        assert cut._touches_face(region, [face for face in ALL_FACES if face != (axis, last)])
    assert not cut._touches_face(region_of(block((10, 10, 10), (1, 1, 1), (9, 9, 9))), ())


@pytest.mark.parametrize(("away", "touches"), [(-1, True), (0, True), (1, False)])
def test_padding_is_touched_across_a_face(away: int, touches: bool) -> None:
    region = region_of(block((12, 12, 12), (3, 3, 3), (7, 7, 7)))
    assert cut._touches(region, block((12, 12, 12), (7 + away, 4, 4), (12, 6, 6))) is touches
    assert not cut._touches(region, block((12, 12, 12), (7, 7, 4), (12, 12, 6)))  # an edge
    assert cut._touches(region, block((12, 12, 12), (4, 2 - away, 4), (6, 3 - away, 6))) is touches


def pyramid(first: int, layers: int, *, wide: int) -> np.ndarray:
    """Square sections that begin with a side of `wide` and grow by two a layer, from a face."""
    mask = np.zeros((40, 40, 30), dtype=bool)
    for n in range(layers):
        half = wide + 2 * n
        mask[
            20 - half // 2 : 20 + (half + 1) // 2, 20 - half // 2 : 20 + (half + 1) // 2, first + n
        ] = 1
    return mask


def test_a_tip_that_grazes_a_face_is_told_from_a_section() -> None:
    """A pyramid that touches the last slice with its tip, and a column."""
    tip = np.zeros((40, 40, 30), dtype=bool)
    for n in range(14):
        half = 1 + n
        tip[20 - half : 20 + half, 20 - half : 20 + half, 29 - n] = True
    region = region_of(tip)
    assert cut_through(region, 2, RULES) == (False, False)
    assert grazed_slices(region, (2, True), 0, RULES) == (19, 21)
    assert grazed_slices(region, (2, False), 0, RULES) is None
    column = block((40, 40, 30), (10, 10, 12), (20, 20, 30))
    assert cut_through(region_of(column), 2, RULES) == (False, True)
    assert cut_through(region_of(column[:, :, ::-1]), 2, RULES) == (True, False)
    assert grazed_slices(region_of(column), (2, True), 0, RULES) is None


@pytest.mark.parametrize(("first", "grazes"), [(12, True), (13, False)])
def test_a_stalk_is_no_tip(first: int, grazes: bool) -> None:
    """Rows of 12, and 13, 14 and 16 at the third slice: three quarters still taper."""
    mask = np.zeros((30, 40, 20), dtype=bool)
    for n, length in enumerate((first, 14, 16, *(range(20, 40, 2)))):
        mask[10 : 10 + max(1, n), 2 : 2 + length, n] = True
    mask[10, 2:18, 2], mask[11, 2:18, 2] = True, False
    region = region_of(mask)
    rules = CutRules(blunt_margin=1.0)
    assert (grazed_slices(region, (2, False), 1, rules) is not None) is grazes
    if grazes:
        assert grazed_slices(region, (2, False), 1, rules) == (2, 14)


def goes_on(beyond: np.ndarray, inside: np.ndarray, *, rest: float = 0.0, **rules: float) -> bool:
    """Whether values beyond the end of a column of 16 layers, upon which 3 layers of 25 voxels lie,
    are those inside it."""
    mask = block((9, 9, 30), (2, 2, 4), (7, 7, 20))
    region = region_of(mask)
    image = np.full(mask.shape, rest)
    image[2:7, 2:7, 17:20] = inside.reshape(5, 5, 3)
    image[2:7, 2:7, 20:23] = beyond.reshape(5, 5, 3)
    points = np.argwhere(mask & (np.arange(30) == 19))
    end = FlatEnd((0.0, 0.0, 1.0), 19.5, np.full(16, 25), points.astype(float))
    around = Surroundings(
        Regions(LabelMap(region.grid, (mask.astype(np.uint8),), ())).labels, None, image
    )
    return cut._goes_on(region, end, around, CutRules(**rules), is_plain=False)


def test_the_same_tissue_beyond_an_end() -> None:
    """75 values inside: the whole numbers from 0 to 74 have quartiles 18.5 and 55.5, a spread of 37
    / 1.349 = 27.43. Beyond it the same, moved by so much."""
    inside = np.arange(75.0)
    spread = 37.0 / 1.349
    for moved, alike in ((0.0, True), (spread - 0.01, True), (spread + 0.01, False)):
        assert goes_on(inside + moved, inside, seen_same_share=0.0) is alike
    # 67 values lie between the 5th and 95th percentile; moved by 9, so many fewer on one side.
    low, high = np.percentile(inside, [5.0, 95.0])
    share = float(((inside + 9.0 >= low) & (inside + 9.0 <= high)).mean())
    for needed, alike in ((share, True), (share + 0.001, False)):
        assert goes_on(inside + 9.0, inside, seen_same_share=needed) is alike
    # One value alone was never written there, unless it is most of the image.
    assert goes_on(np.full(75, 7.0), inside) is True
    assert goes_on(np.zeros(75), inside) is False
