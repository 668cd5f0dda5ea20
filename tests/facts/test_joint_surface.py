"""A bone's surface on flat slabs and rows of points, of which every length is known."""

from __future__ import annotations

import numpy as np
import pytest

from situs.facts.grades.joint.frame import patient_frame
from situs.facts.grades.joint.surface import (
    BoneSurface,
    _along_normals,
    _inner,
    _open_faces,
    _outwards,
    measure_surface,
)
from situs.space import Affine, Grid

UP = np.array([0.0, 0.0, 1.0])


def grid_of(shape: tuple[int, ...], matrix: np.ndarray | None = None) -> Grid:
    return Grid(shape, Affine(np.eye(4) if matrix is None else matrix))


def row_of(count: int, spacing: float = 1.0, thickness: np.ndarray | None = None) -> BoneSurface:
    """Points on a line, a voxel apart."""
    index = np.column_stack([np.arange(count), np.zeros((count, 2), dtype=int)])
    return BoneSurface(
        index, index * spacing, np.tile(UP, (count, 1)), np.ones(count),
        np.ones(count) if thickness is None else thickness, 1.0, np.full(3, spacing),
    )  # fmt: skip


def only(count: int, *places: int) -> np.ndarray:
    mask = np.zeros(count, dtype=bool)
    mask[list(places)] = True
    return mask


@pytest.mark.parametrize(
    ("mm", "first", "last"), [(0.49, 10, 14), (0.5, 9, 15), (2.0, 8, 16), (2.5, 7, 17), (-0.4, 10, 14),
                              (-0.5, 11, 13), (-1.5, 12, 12)],
)  # fmt: skip
def test_a_seam_around_a_patch(mm: float, first: int, last: int) -> None:
    """The edge lies in the middle between two points: to the n-th point beyond it are n - 1/2 mm."""
    found = row_of(30).grown(only(30, *range(10, 15)), mm)
    assert np.flatnonzero(found).tolist() == list(range(first, last + 1))


def test_what_has_no_edge_has_no_seam() -> None:
    for mask in (np.zeros(9, dtype=bool), np.ones(9, dtype=bool)):
        for mm in (2.0, -2.0):
            assert (row_of(9).grown(mask, mm) == mask).all()


@pytest.mark.parametrize(("spacing", "narrowest"), [(0.5, 0.75), (0.75, 0.75), (2.0, 2.0)])
def test_the_narrowest_patch(spacing: float, narrowest: float) -> None:
    assert row_of(3, spacing).narrowest_mm == narrowest


def test_specks_go_and_patches_stay() -> None:
    """At 1 mm a patch of three points loses one on either side and gets it back; one of two goes."""
    surface = row_of(40, thickness=np.ones(40))
    mask = only(40, 5, 6, 20, 21, 22)
    assert np.flatnonzero(surface.without_specks(mask)).tolist() == [20, 21, 22]
    thickness = np.ones(40)
    thickness[10:15], thickness[14] = 0.69, 0.7
    thin = row_of(40, thickness=thickness).thinner_than(0.7)
    assert np.flatnonzero(thin).tolist() == [10, 11, 12, 13]


def test_patches_with_cartilage_all_around() -> None:
    """The largest patch is one with the bare outside. Points 1.8 voxels apart are neighbours."""
    surface = row_of(60, 2.0)
    mask = only(60, *range(20), 30, 31, 33, 50)
    patches = [np.flatnonzero(patch).tolist() for patch in surface.shut_in(mask)]
    assert sorted(patches) == [[30, 31], [33], [50]]
    assert surface.shut_in(np.zeros(60, dtype=bool)) == []


MATRICES = [
    np.diag([1.0, 2.0, 3.0, 1.0]),
    np.diag([-1.0, 2.0, 0.5, 1.0]),
    np.array([[1.0, 0.5, 0, 0], [0, 2.0, 0.3, 0], [0.2, 0, 3.0, 0], [0, 0, 0, 1]]),
]


@pytest.mark.parametrize("matrix", MATRICES)
def test_open_faces_as_vectors(matrix: np.ndarray) -> None:
    """A face's vector is the cross product of the edges that span it, pointing out of the body; of a
    single voxel, and of any closed body, they cancel."""
    solid = np.zeros((7, 7, 7), dtype=bool)
    solid[2:5, 1:5, 2:6] = True
    flux = _open_faces(solid, grid_of(solid.shape, matrix))
    edges = matrix[:3, :3]
    inside = np.argwhere(solid).mean(axis=0)
    np.testing.assert_allclose(flux.sum(axis=(0, 1, 2)), 0.0, atol=1e-9)
    for axis in range(3):
        face = np.cross(edges[:, (axis + 1) % 3], edges[:, (axis + 2) % 3])
        for last in (False, True):
            index = [3, 3, 3]
            index[axis] = (4, 4, 5)[axis] if last else (2, 1, 2)[axis]
            way = edges @ (np.array(index) - inside)
            expected = face * np.sign(face @ way)
            np.testing.assert_allclose(flux[tuple(index)], expected, atol=1e-9)
    assert not flux[3, 3, 3].any()


@pytest.mark.parametrize("matrix", MATRICES)
def test_normals_point_down_the_slope(matrix: np.ndarray) -> None:
    """A mask that falls along one stored axis: across the planes that the other axes span."""
    for axis in range(3):
        smooth = np.moveaxis(np.tile(np.arange(9.0, 0.0, -1.0), (9, 9, 1)), 2, axis)
        found = _outwards(
            smooth.astype(np.float32), np.array([[4, 4, 4]]), grid_of((9, 9, 9), matrix)
        )
        normal = np.linalg.inv(matrix[:3, :3])[axis]
        np.testing.assert_allclose(found[0], normal / np.linalg.norm(normal), atol=1e-6)


@pytest.mark.parametrize(
    ("start", "met"),
    [
        (9.0, 4.0),
        (8.0, 4.0),
        (7.75, 4.0),
        (7.5, 0.0),
        (10.5, 4.0),
        (13.0, (9 + 0.75 + 0.5 + 0.25) / 4),
    ],
)
def test_cartilage_along_a_line(start: float, met: float) -> None:
    """Four voxels of 1 mm from 9.5 on, two beyond a gap. It must begin within 1.5 mm of the bone,
    to a step of a quarter; a line begins 2 mm within the bone: from the slab's last voxel, at 11."""
    cover = np.zeros((5, 5, 40), dtype=bool)
    cover[:, :, 10:14] = cover[:, :, 16:18] = True
    points = np.array([[2.0, 2.0, start]])
    found = _along_normals(cover, np.zeros(3), points, UP[None], grid_of(cover.shape))
    assert found == pytest.approx([met])


def test_a_line_that_leans_meets_more_of_it() -> None:
    """At 60° to a slab of 3 mm, in voxels of 2 × 1 × 0.5 mm of a crop that begins at (1, 2, 3): 6
    mm."""
    cover = np.zeros((30, 9, 60), dtype=bool)
    cover[:, :, 20:26] = True
    matrix = np.diag([2.0, 1.0, 0.5, 1.0])
    normal = np.array([np.sin(np.radians(60.0)), 0.0, 0.5])
    points = np.array([[20.0, 6.0, 0.5 * (3 + 19)]])
    found = _along_normals(
        cover, np.array([1, 2, 3]), points, normal[None], grid_of((40, 12, 70), matrix)
    )
    assert found == pytest.approx([6.0], abs=0.13)


def test_where_a_crop_cuts_the_array() -> None:
    """At its first and last layers, but not at the array's own."""
    grid = grid_of((10, 10, 10))
    low, high = np.array([0, 2, 3]), np.array([6, 10, 8])
    expected = np.ones((6, 8, 5), dtype=bool)
    expected[-1] = expected[:, 0] = expected[:, :, 0] = expected[:, :, -1] = False
    assert (_inner((6, 8, 5), low, high, grid) == expected).all()


def test_a_flat_bone_under_flat_cartilage() -> None:
    """A block of bone of 30 × 30 mm under 3 mm of cartilage: the middle of its top is measured to the
    millimetre, and the usual thickness is that."""
    shape = (50, 50, 40)
    index = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1)
    inside = ((index[..., :2] >= 10) & (index[..., :2] < 40)).all(axis=-1)
    bone = index[inside & (index[..., 2] >= 5) & (index[..., 2] < 20)]
    cartilage = index[inside & (index[..., 2] >= 20) & (index[..., 2] < 23)]
    surface = measure_surface(bone, cartilage, grid_of(shape), patient_frame("right"))
    top = (surface.indices[:, 2] == 19) & (np.abs(surface.indices[:, :2] - 24.5) < 10).all(axis=1)
    np.testing.assert_allclose(surface.normals[top], np.tile(UP, (top.sum(), 1)), atol=1e-6)
    np.testing.assert_allclose(surface.area_mm2[top], 1.0)
    np.testing.assert_allclose(surface.thickness_mm[top], 3.0)
    assert surface.usual_mm == pytest.approx(3.0, abs=0.3)
    np.testing.assert_allclose(surface.points_mm, surface.indices)
    assert surface.indices[:, 2].min() >= 20 - 12
