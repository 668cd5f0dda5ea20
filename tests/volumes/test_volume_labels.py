"""Labels from files, folders and Slicer segmentations."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest
import SimpleITK as sitk  # noqa: N813

from situs.errors import SitusError
from situs.volumes import Structure, open_labels, open_volume

SHAPE = (6, 5, 4)
AFFINE = np.diag([-2.0, 1.5, 3.0, 1.0])


def save(path: Path, data: np.ndarray, affine: np.ndarray = AFFINE) -> Path:
    image = nib.Nifti1Image(data, affine)
    image.header["descrip"] = b"DOE^JANE"
    nib.save(image, path)
    return path


def scaled(path: Path, slope: float, inter: float) -> Path:
    raw = bytearray(path.read_bytes())
    raw[112:120] = struct.pack("<2f", slope, inter)
    path.write_bytes(raw)
    return path


def some_labels(dtype: str, largest: int) -> np.ndarray:
    data = np.zeros(SHAPE, dtype=dtype)
    data[1, 2, 3], data[2:4, 1, 1], data[5, 4, 3] = 1, 7, largest
    return data


def one_line(error: SitusError) -> str:
    assert "\n" not in str(error)
    assert "DOE" not in str(error)
    return str(error)


# --- label files
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "largest", "expected"),
    [
        ("u1", 255, "u1"),
        ("i1", 127, "u1"),
        ("i2", 9, "u1"),
        ("i2", 300, "u2"),
        ("u2", 65535, "u2"),
        ("i4", 70000, "u4"),
        ("i4", 2**31 - 1, "u4"),
        ("u4", 200, "u1"),
        ("i8", 2**31 - 1, "u4"),
        ("u8", 1000, "u2"),
        ("f4", 250, "u1"),
        ("f8", 2**31 - 1, "u4"),
    ],
)
def test_values_in_the_smallest_type(tmp_path, dtype, largest, expected):
    data = some_labels(dtype, largest)
    image = nib.Nifti1Image(data, AFFINE, dtype=data.dtype)
    nib.save(image, tmp_path / "a.nii.gz")
    labels = open_labels(tmp_path / "a.nii.gz", {7: "liver"}).load()
    assert [layer.dtype for layer in labels.layers] == [np.dtype(expected)]
    np.testing.assert_array_equal(labels.layers[0], data)
    assert labels.structures == (
        Structure(1, "label_1", 0, 1),
        Structure(7, "liver", 0, 7),
        Structure(largest, f"label_{largest}", 0, largest),
    )
    for structure in labels.structures:
        np.testing.assert_array_equal(labels.mask(structure), data == structure.label)
    assert labels.warnings == ()


def test_hash_is_of_voxels_affine_and_names(tmp_path):
    data = some_labels("u1", 9)
    image = sitk.GetImageFromArray(data.T)
    image.SetSpacing((2, 1.5, 3))
    image.SetDirection((1, 0, 0, 0, -1, 0, 0, 0, 1))
    sitk.WriteImage(image, str(tmp_path / "c.mha"), True)
    same = {
        open_labels(save(tmp_path / "a.nii", data)).load().hash,
        open_labels(save(tmp_path / "b.nii.gz", data.astype("i4"))).load().hash,
        open_labels(save(tmp_path / "d.nii", data.astype("f4"))).load().hash,
        open_labels(tmp_path / "c.mha").load().hash,
    }
    assert len(same) == 1
    named = open_labels(tmp_path / "a.nii", {1: "liver"}).load().hash
    moved = (
        open_labels(save(tmp_path / "e.nii", data, AFFINE @ np.diag([1, 1, 2.0, 1]))).load().hash
    )
    assert len(same | {named, moved}) == 3


def test_scaling_is_applied_and_then_checked(tmp_path):
    data = np.zeros(SHAPE, dtype="i2")
    data[0, 0, 0], data[1, 1, 1] = 10, 250
    labels = open_labels(scaled(save(tmp_path / "a.nii", data), 0.1, 0)).load()
    assert [s.label for s in labels.structures] == [1, 25]
    labels = open_labels(scaled(save(tmp_path / "a.nii", data), 1, 2)).load()
    assert [s.label for s in labels.structures] == [2, 12, 252]
    with pytest.raises(SitusError, match=r"fractional labels \(e\.g\. 2\.5; 2 voxels\)"):
        open_labels(scaled(save(tmp_path / "a.nii", data), 0.25, 0)).load()


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (
            0.25,
            r"fractional labels \(e.g. 0.25; 2 voxels\): a probability map\?; threshold it first",
        ),
        (np.nan, "NaN"),
        (np.inf, "infinity"),
        (-3.0, r"negative labels \(e.g. -3; 2 voxels\)"),
        (3e9, "above 2147483647"),
        (0.0, "no labelled voxel"),
    ],
)
def test_floats_that_are_not_labels(tmp_path, value, match):
    data = np.zeros(SHAPE, dtype="f4")
    data[1, 2, 3] = data[3, 2, 1] = value
    with pytest.raises(SitusError, match=match) as caught:
        open_labels(save(tmp_path / "a.nii", data)).load()
    one_line(caught.value)


@pytest.mark.parametrize(
    ("dtype", "value"), [("i2", -1), ("i1", -128), ("i8", 2**31), ("u4", 2**32 - 1)]
)
def test_integers_that_are_not_labels(tmp_path, dtype, value):
    data = np.zeros(SHAPE, dtype=dtype)
    data[1, 2, 3] = value
    nib.save(nib.Nifti1Image(data, AFFINE, dtype=data.dtype), tmp_path / "a.nii")
    with pytest.raises(SitusError, match=r"negative labels|above"):
        open_labels(tmp_path / "a.nii").load()


def test_an_image_with_too_many_values(tmp_path):
    data = np.arange(42**3, dtype="i4").reshape(42, 42, 42)
    with pytest.raises(SitusError, match="an image"):
        open_labels(save(tmp_path / "a.nii", data)).load()


def test_two_labels_of_one_name_are_said(tmp_path):
    labels = open_labels(
        save(tmp_path / "a.nii", some_labels("u1", 9)), {1: "rib", 7: "rib"}
    ).load()
    assert labels.warnings == ("labels 1, 7 share one name",)


# --- folders of masks
# ---------------------------------------------------------------------------------------------


def disjoint() -> dict[str, np.ndarray]:
    liver, spleen, kidney = (np.zeros(SHAPE, dtype="u1") for _ in range(3))
    liver[0:2], spleen[2:4, :2], kidney[5, 1:3, 2] = 1, 1, 1
    return {"liver": liver, "spleen": spleen, "kidney_left": kidney}


@pytest.mark.parametrize(
    "kind", ["0/1", "0/255", "i2", "float", "scaled", "u1.nrrd", "u1.mha", ".nii"]
)
@pytest.mark.parametrize("inside", ["", "segmentations"])
def test_masks_of_any_kind_share_one_layer(tmp_path, kind, inside):
    folder = tmp_path / inside
    folder.mkdir(exist_ok=True)
    for name, mask in disjoint().items():
        if kind.startswith("u1."):
            sitk.WriteImage(
                sitk.GetImageFromArray(mask.T), str(folder / f"{name}.{kind[3:]}"), True
            )
            continue
        stored = {
            "0/255": mask * np.uint8(255),
            "i2": mask.astype("i2"),
            "float": mask.astype("f4"),
        }.get(kind, mask)
        path = save(
            folder / (f"{name}.nii" if kind in (".nii", "scaled") else f"{name}.nii.gz"), stored
        )
        if kind == "scaled":
            scaled(path, 255.0, 0.0)
    (folder / "notes.json").write_text("{}")
    (folder / "._liver.nii.gz").write_bytes(b"junk of a Mac")
    source = open_labels(tmp_path)
    labels = source.load()
    assert source.grid.shape == labels.grid.shape == SHAPE
    assert len(labels.layers) == 1
    assert labels.layers[0].dtype == np.uint8
    assert [(s.label, s.name) for s in labels.structures] == [
        (1, "kidney_left"),
        (2, "liver"),
        (3, "spleen"),
    ]
    for structure in labels.structures:
        np.testing.assert_array_equal(labels.mask(structure), disjoint()[structure.name] > 0)


def test_ids_of_a_vocabulary(tmp_path):
    for name, mask in disjoint().items():
        save(tmp_path / f"{name}.nii.gz", mask)
    ids = {"liver": 5, "spleen": 1, "aorta": 52}
    found = {s.name: s.label for s in open_labels(tmp_path, ids=ids).load().structures}
    assert found == {"liver": 5, "spleen": 1, "kidney_left": 53}
    names = {number: name for name, number in ids.items()}
    assert {s.name: s.label for s in open_labels(tmp_path, names).load().structures} == found
    with pytest.raises(SitusError, match="same id"):
        open_labels(tmp_path, ids={"liver": 5, "spleen": 5})


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(8))
def test_overlapping_masks_take_further_layers(tmp_path, seed):
    """Whatever the overlaps, each mask comes back exactly; more than 255 masks need two bytes."""
    rng = np.random.default_rng(seed)
    masks = {}
    for n in range(300 if seed == 0 else 12):
        masks[f"m{n:03}"] = (rng.random(SHAPE) < (0.004 if seed == 0 else 0.08)).astype("u1")
        save(tmp_path / f"m{n:03}.nii", masks[f"m{n:03}"])
    labels = open_labels(tmp_path).load()
    assert {s.name for s in labels.structures} == {
        name for name, mask in masks.items() if mask.any()
    }
    for structure in labels.structures:
        np.testing.assert_array_equal(labels.mask(structure), masks[structure.name] > 0)
    assert 1 < len(labels.layers) < 12
    assert labels.layers[0].dtype == (np.uint16 if seed == 0 else np.uint8)


def test_a_mask_across_many_stretches(tmp_path):
    """Volumes longer than one stretch of painting, with a mask that ends inside a stretch."""
    shape = (100, 90, 80)
    first = np.zeros(shape, dtype="u1")
    first[10:90, 10:80, 5:75] = 1
    second = 1 - first
    third = np.zeros(shape, dtype="u1")
    third[50, 50, 79] = 1
    for name, mask in {"a": first, "b": second, "c": third}.items():
        save(tmp_path / f"{name}.nii.gz", mask)
    labels = open_labels(tmp_path).load()
    assert [(s.name, s.layer) for s in labels.structures] == [("a", 0), ("b", 0), ("c", 1)]
    for structure, mask in zip(labels.structures, (first, second, third)):
        np.testing.assert_array_equal(labels.mask(structure), mask > 0)


def test_empty_masks_are_a_warning(tmp_path):
    for name, mask in disjoint().items():
        save(tmp_path / f"{name}.nii.gz", mask)
    for name in ("heart", "brain"):
        save(tmp_path / f"{name}.nii.gz", np.zeros(SHAPE, dtype="u1"))
    labels = open_labels(tmp_path).load()
    assert labels.warnings == ("2 empty masks: brain, heart",)
    assert len(labels.structures) == 3


def test_folders_without_a_structure(tmp_path):
    with pytest.raises(SitusError, match="holds no masks"):
        open_labels(tmp_path)
    save(tmp_path / "heart.nii.gz", np.zeros(SHAPE, dtype="u1"))
    with pytest.raises(SitusError, match="all masks are empty"):
        open_labels(tmp_path).load()


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (
            some_labels("u1", 9),
            r"bad\.nii: holds more than one nonzero value: it looks like a label map",
        ),
        (some_labels("f4", 9) / 2, r"bad\.nii: fractional mask"),
        (np.full(SHAPE, 0.5, dtype="f4"), r"bad\.nii: fractional mask \(e\.g\. 0\.5\)"),
        (np.full(SHAPE, np.nan, dtype="f4"), "NaN"),
        (np.full(SHAPE, -1, dtype="i2"), "negative"),
    ],
)
def test_files_that_are_not_masks(tmp_path, data, match):
    save(tmp_path / "a.nii", disjoint()["liver"])
    save(tmp_path / "bad.nii", data)
    with pytest.raises(SitusError, match=match) as caught:
        open_labels(tmp_path).load()
    one_line(caught.value)


@pytest.mark.parametrize("change", ["shape", "shift", "spacing"])
def test_masks_on_two_grids(tmp_path, change):
    affine = AFFINE.copy()
    affine[0, 3] += 1.0 if change == "shift" else 0.0
    affine[1, 1] *= 1.1 if change == "spacing" else 1.0
    save(tmp_path / "a.nii", disjoint()["liver"])
    save(
        tmp_path / "b.nii.gz",
        np.ones((6, 5, 5) if change == "shape" else SHAPE, dtype="u1"),
        affine,
    )
    with pytest.raises(SitusError, match=r"a\.nii and b\.nii\.gz are not on one grid"):
        open_labels(tmp_path)


def test_a_grid_off_by_rounding_is_the_same(tmp_path):
    save(tmp_path / "a.nii", disjoint()["liver"])
    save(tmp_path / "b.nii", disjoint()["spleen"], AFFINE + 1e-6 * np.eye(4, k=3))
    assert len(open_labels(tmp_path).load().structures) == 2


def test_one_structure_twice(tmp_path):
    save(tmp_path / "a.nii", disjoint()["liver"])
    save(tmp_path / "a.nii.gz", disjoint()["liver"])
    with pytest.raises(SitusError, match="same structure"):
        open_labels(tmp_path)


def test_a_cut_mask_is_named(tmp_path):
    save(tmp_path / "a.nii", disjoint()["liver"])
    path = save(tmp_path / "b.nii.gz", disjoint()["liver"])
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(SitusError, match=r"b\.nii\.gz: truncated gzip"):
        open_labels(tmp_path).load()


# --- Slicer
# -------------------------------------------------------------------------------------------------------


def seg(path: Path, layers: list[np.ndarray], pairs: list[str]) -> Path:
    data = np.stack(layers) if len(layers) > 1 else layers[0]
    many = len(layers) > 1
    header = (
        f"NRRD0004\ntype: uchar\ndimension: {3 + many}\nspace: left-posterior-superior\nsizes:"
        f" {' '.join(map(str, data.shape))}\nspace directions: {'none ' if many else ''}(2,0,0)"
        f" (0,1.5,0) (0,0,3)\nkinds: {'list ' if many else ''}domain domain domain\nencoding:"
        " gzip\nspace origin: (1,2,3)\n" + "".join(f"{pair}\n" for pair in pairs) + "\n"
    )
    path.write_bytes(header.encode() + gzip.compress(data.tobytes(order="F")))
    return path


def tags(number: int, name: str, value: int | None = None, layer: int | None = None) -> list[str]:
    found = [f"Segment{number}_ID:=Segment_{number + 1}", f"Segment{number}_Name:={name}"]
    found += [] if value is None else [f"Segment{number}_LabelValue:={value}"]
    return found + ([] if layer is None else [f"Segment{number}_Layer:={layer}"])


def two_layers() -> list[np.ndarray]:
    a, b = np.zeros(SHAPE, dtype="u1"), np.zeros(SHAPE, dtype="u1")
    a[0:2], a[2:4], b[1:3, 1:3] = 1, 2, 3
    return [a, b]


def test_overlapping_segments(tmp_path):
    a, b = two_layers()
    path = seg(
        tmp_path / "a.seg.nrrd",
        [a, b],
        tags(0, "foie", 1, 0) + tags(1, "côte: gauche", 2, 0) + tags(2, "x", 3, 1),
    )
    labels = open_labels(path, {3: "tumour"}).load()
    assert labels.structures == (
        Structure(1, "foie", 0, 1),
        Structure(2, "côte: gauche", 0, 2),
        Structure(3, "tumour", 1, 3),
    )
    np.testing.assert_array_equal(labels.layers[0], a)
    np.testing.assert_array_equal(labels.layers[1], b)
    assert all(layer.flags.f_contiguous for layer in labels.layers)
    np.testing.assert_array_equal(
        labels.grid.affine.matrix, [[-2, 0, 0, -1], [0, -1.5, 0, -2], [0, 0, 3, 3], [0, 0, 0, 1]]
    )
    with pytest.raises(SitusError, match="several layers"):
        open_volume(path)


def test_one_slice_of_layers_keeps_its_axes(tmp_path):
    a, b = (layer[:, :, :1] for layer in two_layers())
    labels = open_labels(
        seg(tmp_path / "a.seg.nrrd", [a, b], tags(0, "a", 1, 0) + tags(1, "b", 3, 1))
    ).load()
    assert labels.grid.shape == (6, 5, 1)
    np.testing.assert_array_equal(labels.layers[1], b)


def test_old_slicer_files_without_layer_and_value(tmp_path):
    a, b = ((layer > 0).astype("u1") for layer in two_layers())
    labels = open_labels(
        seg(tmp_path / "a.seg.nrrd", [a, b], tags(0, "one") + tags(1, "two"))
    ).load()
    assert [(s.label, s.name, s.layer, s.value) for s in labels.structures] == [
        (1, "one", 0, 1),
        (2, "two", 1, 1),
    ]
    labels = open_labels(seg(tmp_path / "b.seg.nrrd", [a], tags(0, "only"))).load()
    assert labels.structures == (Structure(1, "only", 0, 1),)


def test_values_that_repeat_across_layers_are_numbered(tmp_path):
    a, b = two_layers()
    b[b > 0] = 1
    labels = open_labels(
        seg(
            tmp_path / "a.seg.nrrd",
            [a, b],
            tags(0, "p", 1, 0) + tags(1, "q", 2, 0) + tags(2, "r", 1, 1),
        )
    )
    loaded = labels.load()
    assert [(s.label, s.name, s.layer, s.value) for s in loaded.structures] == [
        (1, "p", 0, 1),
        (2, "q", 0, 2),
        (3, "r", 1, 1),
    ]
    assert len(loaded.warnings) == 1


def test_empty_and_unlisted_segments_are_numbered_not_named(tmp_path):
    a, _ = two_layers()
    labels = open_labels(
        seg(tmp_path / "a.seg.nrrd", [a], tags(0, "DOE^JANE", 1, 0) + tags(1, "DOE^JOHN", 5, 0))
    ).load()
    assert labels.warnings == ("empty segments: 5", "values that no segment lists are ignored: 2")


@pytest.mark.parametrize(
    "pairs",
    [
        tags(0, "DOE^JANE", 1, 2),
        tags(0, "DOE^JANE", -1, 0),
        tags(0, "DOE^JANE", 0, 0),
        tags(0, "DOE^JANE", 1, 0) + tags(1, "b", 1, 0),
        ["Segment0_Name:=DOE^JANE", "Segment0_LabelValue:=DOE^JANE"],
        tags(0, "DOE^JANE", 9, 0),
    ],
)
def test_impossible_segments(tmp_path, pairs):
    with pytest.raises(SitusError) as caught:
        open_labels(seg(tmp_path / "a.seg.nrrd", two_layers(), pairs)).load()
    one_line(caught.value)


def test_a_segmentation_without_segments_is_a_label_file(tmp_path):
    labels = open_labels(seg(tmp_path / "a.seg.nrrd", two_layers()[:1], [])).load()
    assert [s.name for s in labels.structures] == ["label_1", "label_2"]


# --- what is shown of headers
# -------------------------------------------------------------------------------------


def test_undeclared_orientation_is_passed_on(tmp_path):
    save(tmp_path / "a.nii", disjoint()["liver"])
    source = open_labels(tmp_path / "a.nii")
    assert (source.orientation_basis, source.warnings) == ("affine", ())
    image = nib.Nifti1Image(disjoint()["liver"], None)
    image.header.set_zooms((2, 1.5, 3))
    nib.save(image, tmp_path / "a.nii")
    for source in (open_labels(tmp_path / "a.nii"), open_labels(tmp_path)):
        assert source.orientation_basis == "undeclared"
        assert (
            source.load().warnings
            == source.warnings
            == ("no orientation in the header (qform and sform codes are 0)",)
        )
