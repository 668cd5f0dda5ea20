"""Images, masks and DICOM labels of one lattice that are stored in different axis orders."""

from __future__ import annotations

import itertools

import nibabel as nib
import numpy as np
import pytest
from dicom_make import write_series
from test_dicom_labels import IMAGE, SQUARE, at, blobs, contour, write_contours, write_seg

from situs.errors import SitusError
from situs.space import Affine, Grid
from situs.volumes import open_labels, open_volume
from situs.volumes.reorder import reorder_onto

ORDERS = [
    (order, flips)
    for order in itertools.permutations(range(3))
    for flips in itertools.product((False, True), repeat=3)
]
AFFINE = np.array(
    [[-1.5, 0.1, 0.0, 40.0], [0.1, 2.0, 0.2, -30.0], [0.0, -0.2, 3.0, 7.0], [0.0, 0.0, 0.0, 1.0]]
)


def stored_as(array: np.ndarray, affine: np.ndarray, order, flips) -> tuple[np.ndarray, np.ndarray]:
    """The same voxels in another order, by nibabel."""
    orientation = np.array(
        [[order.index(axis), -1 if flips[order.index(axis)] else 1] for axis in range(3)]
    )
    turned = nib.orientations.apply_orientation(array, orientation)
    return turned, affine @ nib.orientations.inv_ornt_aff(orientation, array.shape)


def write(path, array: np.ndarray, affine: np.ndarray):
    nib.save(nib.Nifti1Image(array, affine), path)
    return path


@pytest.mark.parametrize(("order", "flips"), ORDERS, ids=str)
def test_an_image_is_turned_onto_the_grid_of_its_labels(order, flips, tmp_path):
    voxels = np.random.default_rng(0).integers(-1000, 1000, (4, 5, 6)).astype(np.int16)
    plain = open_volume(write(tmp_path / "plain.nii", voxels, AFFINE))
    other = open_volume(write(tmp_path / "other.nii", *stored_as(voxels, AFFINE, order, flips)))
    turned = other.onto(plain.grid)
    assert turned.grid.matches(plain.grid)
    np.testing.assert_array_equal(turned.array(), voxels)
    assert turned.array().flags.f_contiguous
    assert turned.content_hash() == other.content_hash()


@pytest.mark.parametrize("moved", ["shifted", "finer", "longer", "sheared"])
def test_another_lattice_is_refused(moved):
    matrix, shape = AFFINE.copy(), (4, 5, 6)
    if moved == "shifted":
        matrix[0, 3] += 0.2
    elif moved == "finer":
        matrix[:3, 0] *= 0.9
    elif moved == "longer":
        shape = (4, 5, 7)
    else:
        matrix[0, 1] += 0.3
    assert reorder_onto(Grid(shape, Affine(matrix)), Grid((4, 5, 6), Affine(AFFINE))) is None


def test_masks_in_different_orders_are_one_map(tmp_path):
    masks = {name: np.zeros((6, 5, 4), np.uint8) for name in ("aorta", "liver", "spleen")}
    masks["aorta"][1:3, 2, :] = masks["liver"][4:, :2, 1:3] = masks["spleen"][4, 3:, 0] = 1
    for folder in ("plain", "mixed"):
        (tmp_path / folder).mkdir()
    for number, (name, mask) in enumerate(masks.items()):
        write(tmp_path / "plain" / f"{name}.nii.gz", mask, AFFINE)
        kind = (np.uint8, np.int16, np.float32)[number]
        write(
            tmp_path / "mixed" / f"{name}.nii.gz",
            *stored_as(mask.astype(kind), AFFINE, *ORDERS[17 * number]),
        )
    plain, mixed = (open_labels(tmp_path / folder).load() for folder in ("plain", "mixed"))
    assert mixed.hash == plain.hash
    for structure in mixed.structures:
        np.testing.assert_array_equal(mixed.mask(structure), masks[structure.name] == 1)


def test_masks_of_two_lattices_are_refused(tmp_path):
    write(tmp_path / "a.nii", np.ones((3, 4, 5), np.uint8), np.eye(4))
    write(tmp_path / "b.nii", np.ones((3, 4, 5), np.uint8), np.diag([1.0, 1.0, 1.1, 1.0]))
    with pytest.raises(SitusError, match=r"a.nii and b.nii are not on one grid"):
        open_labels(tmp_path)


@pytest.fixture
def series(tmp_path):
    write_series(tmp_path / "ct", IMAGE)
    return tmp_path / "ct"


@pytest.mark.sampled
@pytest.mark.parametrize(("order", "flips"), ORDERS[::5], ids=str)
@pytest.mark.parametrize("kind", ["seg", "rtstruct"])
def test_dicom_labels_on_an_image_converted_into_another_order(
    kind, order, flips, series, tmp_path
):
    """A segmentation or contours with the series as NIfTI in any order:
    the same voxels of the patient."""
    image = open_volume(series)
    converted = write(
        tmp_path / "ct.nii", *stored_as(image.array(), image.grid.affine.matrix, order, flips)
    )
    if kind == "seg":
        path = write_seg(series, blobs(), "BINARY", ["liver", "tumour"])
    else:
        path = write_contours(
            tmp_path / "rs.dcm", {(1, "liver"): [contour(at(SQUARE, k)) for k in (1, 2)]}
        )
    expected = open_labels(path, reference=series).load()
    source = open_labels(path, reference=converted)
    found = source.load()
    np.testing.assert_array_equal(
        open_volume(converted).onto(source.grid).array().shape, found.grid.shape
    )
    assert len(found.structures) == len(expected.structures)
    for one, two in zip(expected.structures, found.structures):
        places = [
            np.asarray(labels.grid.affine.to_world(np.argwhere(labels.mask(s)).astype(float)))
            for labels, s in ((expected, one), (found, two))
        ]
        a, b = (np.array(sorted(map(tuple, np.round(p, 2).tolist()))) for p in places)
        np.testing.assert_allclose(a, b, atol=0.011)
