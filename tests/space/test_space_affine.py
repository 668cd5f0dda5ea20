"""Affines: what is refused, what each property means, and orientation codes against nibabel."""

from __future__ import annotations

import itertools

import nibabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situs.errors import SitusError
from situs.space import Affine, Axis

ORDERS = tuple(
    itertools.product(itertools.permutations(range(3)), itertools.product((1.0, -1.0), repeat=3))
)


def matrix_of(linear: np.ndarray, origin=(0.0, 0.0, 0.0)) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, origin
    return matrix


def random_linear(rng: np.random.Generator) -> np.ndarray:
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return rotation * rng.uniform(0.3, 6.0, 3)


@pytest.mark.parametrize(("order", "signs"), ORDERS)
def test_codes_are_those_of_nibabel(order, signs):
    """All 48 orders, upright and tilted by up to 25°, half of them left-handed."""
    rng = np.random.default_rng(ORDERS.index((order, signs)))
    for degrees in (0.0, 10.0, 25.0):
        axis = rng.normal(size=3)
        x, y, z = np.radians(degrees) * axis / np.linalg.norm(axis)
        turn, _ = np.linalg.qr(np.eye(3) + np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]))
        turn *= np.sign(np.diag(turn))
        matrix = matrix_of(turn @ (np.eye(3)[:, order] * signs) * (0.7, 1.0, 4.0), (5.0, -7.0, 9.0))
        affine = Affine(matrix)
        assert affine.codes == "".join(nibabel.aff2axcodes(matrix))
        assert affine.obliquity_degrees == pytest.approx(
            np.degrees(np.max(nibabel.affines.obliquity(matrix))), abs=1e-6
        )
        assert len({direction.axis for direction in affine.directions}) == 3


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_properties_of_any_affine(seed):
    """Spacing, volume and faces of a rotated or reflected voxel are those of the upright one."""
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    spacing = rng.uniform(0.3, 6.0, 3)
    affine = Affine(matrix_of(rotation * spacing, rng.uniform(-500, 500, 3)))
    a, b, c = spacing
    assert affine.spacing_mm == pytest.approx((a, b, c))
    assert affine.voxel_volume_mm3 == pytest.approx(a * b * c)
    assert affine.face_areas_mm2 == pytest.approx((b * c, a * c, a * b))
    assert not affine.is_sheared
    cube = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) @ affine.linear.T
    np.testing.assert_allclose(affine.half_voxel_mm, cube.max(axis=0))
    points = rng.uniform(-50, 50, (7, 3))
    np.testing.assert_allclose(affine.to_index(affine.to_world(points)), points, atol=1e-8)
    np.testing.assert_allclose(
        affine.to_world(points), nibabel.affines.apply_affine(affine.matrix, points), atol=1e-9
    )


def test_sheared_voxels_are_allowed_and_said():
    """Gantry tilt saved as shear: faces are parallelograms."""
    linear = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 2.0]])
    affine = Affine(matrix_of(linear))
    assert affine.is_sheared
    assert affine.voxel_volume_mm3 == pytest.approx(2.0)
    assert affine.face_areas_mm2 == pytest.approx((2.0, np.hypot(0.5, 2.0), 1.0))


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.eye(3), "shape"),
        (np.zeros((4, 4, 4)), "shape"),
        (np.full((4, 4), np.nan), "NaN"),
        (matrix_of(np.eye(3), (np.inf, 0, 0)), "NaN or infinity"),
        (np.diag([1.0, 1.0, 1.0, 2.0]), "last row"),
        (np.diag([1.0, 1.0, 0.0, 1.0]), "spacing"),
        (np.diag([1.0, 1.0, 1e6, 1.0]), "spacing"),
        (np.diag([1.0, 1.0, 1e-9, 1.0]), "spacing"),
        (matrix_of(np.ones((3, 3))), "singular"),
        (matrix_of(np.array([[1.0, 1.0, 0], [0, 1e-7, 0], [0, 0, 1]])), "singular"),
    ],
)
def test_unusable_affines_are_refused_with_the_file(matrix, words):
    with pytest.raises(SitusError, match=words) as caught:
        Affine(matrix, where="scan.nii.gz")
    assert caught.value.one_line().startswith("scan.nii.gz: ")
    assert caught.value.fix


def test_an_affine_cannot_be_changed():
    matrix = np.diag([1.0, 2.0, 3.0, 1.0])
    affine = Affine(matrix)
    matrix[0, 0] = 9.0
    assert affine.spacing_mm[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        affine.matrix[0, 0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        affine.linear[0, 0] = 5.0


def test_equal_affines_are_one_key():
    a, b = Affine(np.diag([1.0, 2.0, 3.0, 1.0])), Affine(np.diag([1.0, 2.0, 3.0, 1.0]))
    assert a == b
    assert len({a, b}) == 1
    assert a != Affine(np.diag([1.0, 2.0, 3.5, 1.0]))
    assert repr(a) == "Affine(RAS, 1 × 2 × 3 mm)"


def test_axes_of_the_codes():
    affine = Affine(matrix_of(np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])))
    assert affine.codes == "PSL"
    axes = (Axis.ANTERIOR_POSTERIOR, Axis.SUPERIOR_INFERIOR, Axis.LEFT_RIGHT)
    assert tuple(d.axis for d in affine.directions) == axes
