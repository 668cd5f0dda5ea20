"""Counts, boxes, volumes and centroids against SimpleITK; components against SimpleITK and scipy;
world boxes and faces against brute force over voxel cubes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import SimpleITK as sitk  # noqa: N813
from _random_labels import Referee, itk_image, random_labels

from situs.measure import Regions
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

pytestmark = pytest.mark.sampled

SEEDS = range(25)
CUBE = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))


def check_against_itk(labels: LabelMap) -> None:
    regions = Regions(labels)
    for layer, array in enumerate(labels.layers):
        referee = Referee(array, labels.grid.affine)
        own = {s.value: s.name for s in labels.structures if s.layer == layer}
        assert sorted(own) == referee.labels
        for value, name in own.items():
            region = regions[name]
            assert region.voxels == referee.voxels(value)
            assert (region.box_index.lo, region.box_index.hi) == referee.box(value)
            assert region.volume_ml == pytest.approx(referee.volume_ml(value), rel=1e-6)
            np.testing.assert_allclose(
                region.centroid_mm, referee.centroid_mm(value), rtol=1e-6, atol=1e-6
            )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("oblique", [False, True])
def test_statistics_agree_with_simpleitk(seed, oblique):
    check_against_itk(random_labels(seed, oblique=oblique, layers=1 + seed % 3))


@pytest.mark.parametrize("values", [[65535, 65536], [1, 65536, 65537, 70000], [70000], [2**31, 3]])
def test_large_label_numbers(values):
    """Also where no voxel is background, and where labels are too sparse for a dense table."""
    check_against_itk(random_labels(99, values=values))
    full = np.full((3, 2, 2), values[0], dtype=np.uint32)
    full[0, 0, 0] = values[-1]
    grid = Grid((3, 2, 2), Affine(np.diag([1.0, 2.0, 3.0, 1.0])))
    structures = tuple(
        Structure(v, f"s_{v}", 0, v) for v in sorted({int(v) for v in np.unique(full)})
    )
    check_against_itk(LabelMap(grid, (full,), structures))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 5, 1), (2, 1, 3)])
def test_tiny_arrays(shape, dtype):
    """One voxel is a structure: it has a box, a volume, and touches the border."""
    array = np.zeros(shape, dtype=dtype)
    array[-1, -1, -1] = 200
    labels = LabelMap(
        Grid(shape, Affine(np.diag([2.0, -3.0, 4.0, 1.0]))),
        (array,),
        (Structure(200, "a", 0, 200),),
    )
    check_against_itk(labels)
    region = Regions(labels)["a"]
    assert region.box_mm.extent_mm == pytest.approx((2.0, 3.0, 4.0))
    assert region.volume_ml == pytest.approx(0.024)
    assert region.touches_border
    assert region.exposed_faces == (2, 2, 2)
    assert region.face_area_mm2 == pytest.approx(2 * (12.0 + 8.0 + 6.0))
    assert region.half_voxel_ml == pytest.approx(0.5 * 6 * 0.024)


@pytest.mark.parametrize("seed", SEEDS)
def test_world_box_is_that_of_the_voxel_cubes(seed):
    """Tight over all eight corners of every cube, not of the index box."""
    labels = random_labels(seed)
    for region in Regions(labels):
        index = np.argwhere(labels.mask(region.structure))
        corners = (index[:, None, :] + CUBE).reshape(-1, 3) @ labels.grid.affine.linear.T
        corners += labels.grid.affine.matrix[:3, 3]
        np.testing.assert_allclose(region.box_mm.lo_mm, corners.min(axis=0), atol=1e-9)
        np.testing.assert_allclose(region.box_mm.hi_mm, corners.max(axis=0), atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_faces_boundary_and_border_by_brute_force(seed):
    labels = random_labels(seed)
    for region in Regions(labels):
        mask = np.pad(labels.mask(region.structure), 1)
        inside = {tuple(p) for p in np.argwhere(mask)}
        faces = [0, 0, 0]
        boundary = set()
        for p in inside:
            for axis, step in itertools.product(range(3), (-1, 1)):
                q = tuple(v + step * (a == axis) for a, v in enumerate(p))
                if q not in inside:
                    faces[axis] += 1
                    boundary.add(tuple(v - 1 for v in p))
        assert region.exposed_faces == tuple(faces)
        assert {tuple(int(v) for v in p) for p in region.boundary_points()} == boundary
        sides = [(n, s) for p in inside for n, s in zip((v - 1 for v in p), labels.grid.shape)]
        assert region.touches_border == any(v == 0 or v == n - 1 for v, n in sides)
        areas = labels.grid.affine.face_areas_mm2
        assert region.face_area_mm2 == pytest.approx(sum(n * a for n, a in zip(faces, areas)))


@pytest.mark.parametrize("seed", SEEDS)
def test_components_agree_with_simpleitk(seed):
    """26-connected: voxels that meet at a corner are one part."""
    labels = random_labels(seed)
    for region in Regions(labels):
        image = itk_image(labels.mask(region.structure), labels.grid.affine)
        parts = sitk.ConnectedComponent(sitk.Cast(image, sitk.sitkUInt8), True)
        counts = np.bincount(sitk.GetArrayFromImage(parts).ravel())[1:]
        assert region.component_voxels == tuple(sorted((int(n) for n in counts), reverse=True))


def test_regions_know_their_names():
    labels = random_labels(1)
    regions = Regions(labels)
    assert [region.name for region in regions] == [s.name for s in labels.structures]
    assert labels.structures[0].name in regions
    assert "spleen" not in regions
    assert regions["s0_1"] is regions["s0_1"]


@pytest.mark.parametrize("connectivity", [6, 18, 26])
def test_each_part_has_its_size_its_box_and_its_centre(connectivity: int) -> None:
    """Against scipy; largest first."""
    from scipy import ndimage

    rng = np.random.default_rng(connectivity)
    array = (rng.random((12, 10, 8)) < 0.12).astype(np.uint8)
    array[2:6, 3:7, 1:4] = 1
    affine = Affine(np.array([[0, -2.0, 0, 5], [1.5, 0, 0, -7], [0, 0, 3.0, 11], [0, 0, 0, 1]]))
    labels = LabelMap(Grid(array.shape, affine), (array,), (Structure(1, "liver", 0, 1),))
    parts = Regions(labels)["liver"].components(connectivity)
    rank = {6: 1, 18: 2, 26: 3}[connectivity]
    numbered, count = ndimage.label(array, ndimage.generate_binary_structure(3, rank))
    voxels = np.bincount(numbered.ravel())[1:]
    assert [part.voxels for part in parts] == sorted(voxels.tolist(), reverse=True)
    assert sum(part.volume_ml for part in parts) == pytest.approx(array.sum() * 9.0 / 1000.0)
    middles = ndimage.center_of_mass(array, numbered, range(1, count + 1))
    boxes = [
        (tuple(s.start for s in box), tuple(s.stop for s in box))
        for box in ndimage.find_objects(numbered)
    ]
    expected = {
        (int(n), box): np.array(affine.matrix)[:3] @ [*middle, 1.0]
        for n, box, middle in zip(voxels, boxes, middles)
    }
    for part in parts:
        key = part.voxels, (tuple(part.box_index.lo), tuple(part.box_index.hi))
        np.testing.assert_allclose(part.centroid_mm, expected[key])
