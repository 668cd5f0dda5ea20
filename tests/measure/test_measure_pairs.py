"""Distances, contacts and precedence against brute force over all voxels of small masks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from _random_labels import random_labels
from scipy.ndimage import binary_erosion
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from situs.anatomy import term
from situs.facts import (
    Ledger,
    MaskedSeries,
    load_recipe,
)
from situs.measure import (
    Regions,
    boundary_distance_mm,
    contacts,
    gap_mm,
    nearest_boundaries,
    nearest_faces,
    tilted_axes,
)
from situs.space import AXES, Affine, Grid
from situs.volumes import LabelMap, Structure

pytestmark = pytest.mark.sampled

SEEDS = range(15)
BIN_MM = 1.0


def points_mm(labels: LabelMap, structure: Structure) -> np.ndarray:
    return labels.grid.affine.to_world(np.argwhere(labels.mask(structure)).astype(float))


def pairs(labels: LabelMap):
    return itertools.combinations(labels.structures, 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_boundary_distance_is_exact(seed):
    """For disjoint masks the nearest two voxels are boundary voxels,
    so all voxels give the same minimum."""
    labels = random_labels(seed)
    regions = Regions(labels)
    for a, b in pairs(labels):
        expected = cdist(points_mm(labels, a), points_mm(labels, b)).min()
        assert boundary_distance_mm(regions[a.name], regions[b.name]) == pytest.approx(
            expected, rel=1e-9
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_gap_is_that_of_the_voxel_cubes(seed):
    """Along each voxel axis two cubes n steps apart leave n - 1 free (none if n is 0);
    axes are at right angles."""
    labels = random_labels(seed)
    regions = Regions(labels)
    spacing = np.array(labels.grid.affine.spacing_mm)
    for a, b in pairs(labels):
        one, two = (np.argwhere(labels.mask(s)) for s in (a, b))
        steps = np.abs(one[:, None, :] - two[None, :, :])
        free = np.maximum(steps - 1, 0) * spacing
        expected = np.sqrt((free**2).sum(axis=2)).min()
        assert gap_mm(regions[a.name], regions[b.name]) == pytest.approx(
            expected, rel=1e-9, abs=1e-9
        )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("layers", [1, 3])
def test_contact_counts_every_shared_face_once(seed, layers):
    """Faces with one structure on each side, and voxels that two layers share."""
    labels = random_labels(seed, layers=layers)
    found = contacts(labels)
    areas = labels.grid.affine.face_areas_mm2
    expected_pairs = set()
    for a, b in pairs(labels):
        one, two = labels.mask(a), labels.mask(b)
        expected = 0.0
        for axis in range(3):
            lower, upper = (
                (np.moveaxis(m, axis, 0)[:-1] for m in (one, two)),
                (np.moveaxis(m, axis, 0)[1:] for m in (one, two)),
            )
            (a_low, b_low), (a_high, b_high) = lower, upper
            expected += areas[axis] * float((a_low & b_high).sum() + (b_low & a_high).sum())
        shared = int((one & two).sum())
        assert found.area_mm2(a.name, b.name) == pytest.approx(expected)
        assert found.area_mm2(b.name, a.name) == pytest.approx(expected)
        assert found.shared_voxels(a.name, b.name) == shared
        assert found.touching(a.name, b.name) == (expected > 0 or shared > 0)
        if expected > 0 or shared > 0:
            expected_pairs.add(tuple(sorted((a.name, b.name))))
    assert found.pairs == sorted(expected_pairs)


def test_corners_and_edges_do_not_touch_but_have_no_gap():
    array = np.zeros((4, 4, 4), dtype=np.uint8)
    array[0, 0, 0], array[1, 1, 1], array[3, 3, 3] = 1, 2, 3
    structures = tuple(Structure(n, f"s{n}", 0, n) for n in (1, 2, 3))
    labels = LabelMap(Grid((4, 4, 4), Affine(np.diag([2.0, 2.0, 2.0, 1.0]))), (array,), structures)
    regions, found = Regions(labels), contacts(labels)
    assert gap_mm(regions["s1"], regions["s2"]) == 0.0
    assert not found.touching("s1", "s2")
    assert found.pairs == []
    assert gap_mm(regions["s2"], regions["s3"]) == pytest.approx(2.0 * 3**0.5)
    assert boundary_distance_mm(regions["s2"], regions["s3"]) == pytest.approx(4.0 * 3**0.5)


def test_contacts_with_labels_beyond_the_map_are_not_reported():
    """A label without a structure (restricted away) is nobody's neighbour."""
    array = np.ones((2, 2, 2), dtype=np.uint8)
    array[1] = 2
    labels = LabelMap(Grid((2, 2, 2), Affine(np.eye(4))), (array,), (Structure(1, "a", 0, 1),))
    assert contacts(labels).pairs == []


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("axis", AXES)
def test_precedence_is_the_share_of_voxel_pairs(seed, axis):
    """A voxel is shared between the two bins around it, at most 1 mm away, so pairs more than 2 mm
    apart count exactly and only nearer ones can err: the error is at most their share. So too at
    every turn of the patient."""
    labels = random_labels(seed)
    ledger = ledger_of(labels)
    directions = tilted_axes(axis, ledger.recipe.truth.rotation_degrees)
    for a, b in list(pairs(labels))[:4]:
        fact = ledger.fact(f"precedence.{axis}", a.name, b.name)
        shares, errors = [], []
        for direction in directions:
            step = (points_mm(labels, a) @ direction)[:, None] - (points_mm(labels, b) @ direction)[
                None, :
            ]
            shares.append((step > 0).mean() + 0.5 * (step == 0).mean())
            errors.append((np.abs(step) < 2.0 * BIN_MM).mean() + 1e-12)
        low, high = fact.interval
        assert abs(fact.value - shares[0]) <= errors[0]
        assert low <= fact.value <= high
        assert low <= min(s + e for s, e in zip(shares, errors))
        assert low >= min(s - e for s, e in zip(shares, errors))
        assert (
            max(s - e for s, e in zip(shares, errors))
            <= high
            <= max(s + e for s, e in zip(shares, errors))
        )
        back = ledger.fact(f"precedence.{axis}", b.name, a.name)
        assert fact.value + back.value == pytest.approx(1.0)
        assert (back.interval[0], back.interval[1]) == pytest.approx((1.0 - high, 1.0 - low))


def ledger_of(labels: LabelMap) -> Ledger:
    return Ledger(
        labels,
        MaskedSeries(
            study_id="", series="", labels_hash="", annotation="exact", side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={s.name: term(s.name) for s in labels.structures},
    )


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("degrees", [0.0, 10.0, 15.0])
def test_tilted_axes(axis, degrees):
    """The axis and four unit vectors at the asked angle to it,
    towards both ends of the other two axes."""
    first, *tilted = tilted_axes(axis, degrees)
    expected = np.eye(3)[axis.world_index]
    np.testing.assert_array_equal(first, expected)
    assert len(tilted) == 4
    for vector in tilted:
        assert np.linalg.norm(vector) == pytest.approx(1.0)
        assert np.degrees(np.arccos(np.clip(vector @ expected, -1, 1))) == pytest.approx(
            degrees, abs=1e-5
        )
    if degrees:
        assert len({tuple(np.sign(np.round(v - v @ expected * expected, 6))) for v in tilted}) == 4


def shapes(affine: np.ndarray, *, overlapping: bool) -> LabelMap:
    """Balls, a bent tube, a bowl with a ball inside,
    a plate and a speck, some of thousands of boundary voxels."""
    i, j, k = np.indices((70, 60, 50))

    def ball(x: float, y: float, z: float, r: float) -> np.ndarray:
        return (i - x) ** 2 + (j - y) ** 2 + (k - z) ** 2 <= r**2

    tube = (np.hypot(i - 20 - 12 * np.sin(k / 9), j - 45) <= 4) & (k > 4)
    masks = [
        ball(16, 14, 12, 11.5),
        ball(55, 20, 30, 12.0) & ~ball(55, 20, 30, 9.5) & (k < 32),
        ball(54, 21, 29, 5.0),
        tube,
        (np.abs(i - 2 * j + 20) <= 2) & (k > 44),
        ball(66, 56, 3, 0.5),
    ]
    layers, placed = [np.zeros((70, 60, 50), np.uint8, order="F") for _ in range(2)], []
    for value, mask in enumerate(masks, start=1):
        layer = value % 2 if overlapping else 0
        layers[layer][mask] = value
        placed.append(Structure(value, f"s{value}", layer, value))
    if overlapping:
        layers[0][ball(20, 18, 14, 8)] = 2
    return LabelMap(Grid((70, 60, 50), Affine(affine)), tuple(layers), tuple(placed))


_TURNED = np.array(
    [[0.9, 0.3, 0.1, 5.0], [-0.35, 1.1, 0.2, -80.0], [0.0, -0.25, 2.1, 40.0], [0.0, 0.0, 0.0, 1.0]]
)


@pytest.mark.parametrize("affine", [np.diag([0.8, 0.8, 1.5, 1.0]), np.diag([-1.0, 2.0, 0.5, 1.0])])
@pytest.mark.parametrize("overlapping", [False, True])
def test_distances_of_large_shapes_against_a_kd_tree(affine, overlapping):
    """Smooth shapes far apart, concave ones, one inside another, shared voxels."""
    check_against_a_kd_tree(shapes(affine, overlapping=overlapping))


def test_distances_on_sheared_voxels_against_a_kd_tree():
    """As a tilted gantry leaves them."""
    check_against_a_kd_tree(shapes(_TURNED, overlapping=False))
    check_against_a_kd_tree(shapes(_TURNED, overlapping=True))


def check_against_a_kd_tree(labels):
    regions = Regions(labels)
    found = nearest_boundaries(among=list(regions))
    trees = {s.name: cKDTree(points_mm(labels, s)) for s in labels.structures}
    for nearest in found:
        expected = trees[nearest.a].query(trees[nearest.b].data)[0].min()
        if expected > 0:
            assert nearest.distance_mm == pytest.approx(expected, rel=1e-9)
        assert np.linalg.norm(np.subtract(nearest.a_mm, nearest.b_mm)) == pytest.approx(
            nearest.distance_mm
        )


@pytest.mark.parametrize("spacing", [(0.8, 0.8, 1.5), (1.0, 2.0, 0.5)])
def test_gaps_of_large_shapes_against_a_kd_tree(spacing):
    """The nearest corners of the voxel cubes: the cubes' distance, for axes at right angles."""
    labels = shapes(np.diag([*spacing, 1.0]), overlapping=False)
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    trees = {}
    for s in labels.structures:
        points = np.argwhere(labels.mask(s) & ~binary_erosion(labels.mask(s)))
        trees[s.name] = cKDTree(
            np.unique((points[:, None] + corners).reshape(-1, 3), axis=0) * spacing
        )
    for nearest in nearest_faces(among=list(Regions(labels))):
        expected = trees[nearest.a].query(trees[nearest.b].data)[0].min()
        assert nearest.distance_mm == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("seed", range(10))
def test_plates_whose_bumps_face_each_other_against_a_kd_tree(seed):
    """From the bumps first looked at, the nearest on the other plate is the one opposite;
    another pair is nearer."""
    rng = np.random.default_rng(seed)
    layer = np.zeros((80, 80, 46), np.uint8, order="F")
    x, y, z = np.ogrid[:80, :80, :46]
    layer[:, :, :2], layer[:, :, -2:] = 1, 2
    for place in ((12, 12), (12, 66), (66, 12), (66, 66), (40, 40)):
        across = np.hypot(x - place[0], y - place[1])
        low, high = rng.uniform(5, 16, 2)
        layer[(across + z < low) | ((across < 2) & (z < low))] = 1
        layer[(across + (45 - z) < high) | ((across < 2) & (45 - z < high))] = 2
    spacing = rng.uniform(0.6, 2.0, 3)
    structures = tuple(Structure(v, f"s{v}", 0, v) for v in (1, 2))
    labels = LabelMap(Grid((80, 80, 46), Affine(np.diag([*spacing, 1.0]))), (layer,), structures)
    below, above = (cKDTree(points_mm(labels, s)) for s in structures)
    (nearest,) = nearest_boundaries(among=list(Regions(labels)))
    assert nearest.distance_mm == pytest.approx(below.query(above.data)[0].min(), rel=1e-9)
