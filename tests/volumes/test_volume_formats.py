"""Every format, type, byte order and orientation, against nibabel and SimpleITK."""

from __future__ import annotations

import bz2
import gzip
import itertools
import subprocess
import sys
import zlib
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest
import SimpleITK as sitk  # noqa: N813
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from situs.errors import SitusError
from situs.volumes import open_volume

pytestmark = pytest.mark.sampled

SHAPE = (5, 4, 3)
TYPES = ["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
ORDERS = ["<", ">"]
NRRD_NAMES = dict(
    zip(
        TYPES,
        ("uint8", "int8", "short", "ushort", "int", "uint", "int64", "uint64", "float", "double"),
    )
)
_META = (
    "UCHAR",
    "CHAR",
    "SHORT",
    "USHORT",
    "INT",
    "UINT",
    "LONG_LONG",
    "ULONG_LONG",
    "FLOAT",
    "DOUBLE",
)
META_NAMES = {code: f"MET_{name}" for code, name in zip(TYPES, _META)}
LPS = np.diag([-1.0, -1.0, 1.0, 1.0])


def voxels(code: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if code[0] == "f":
        return rng.normal(size=SHAPE).astype(code)
    info = np.iinfo(code)
    return rng.integers(info.min, info.max, SHAPE, dtype=code, endpoint=True)


def oblique(seed: int) -> np.ndarray:
    """A random rotation or rotoreflection with random spacing and origin."""
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    affine = np.eye(4)
    affine[:3, :3] = rotation * rng.uniform(0.3, 5.0, 3)
    affine[:3, 3] = rng.uniform(-300, 300, 3)
    return affine


def axis_affines() -> list[np.ndarray]:
    """The 48 ways of axis order and direction."""
    found = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            affine = np.eye(4)
            affine[:3, :3] = np.eye(3)[:, order] * np.array(signs) * (0.7, 1.1, 2.5)
            affine[:3, 3] = (10, -20, 30)
            found.append(affine)
    return found


def sitk_affine(image: sitk.Image) -> np.ndarray:
    """Index → RAS+ as ITK defines it: origin + direction · spacing · index, in LPS."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.array(image.GetDirection()).reshape(3, 3) * np.array(image.GetSpacing())
    matrix[:3, 3] = image.GetOrigin()
    return LPS @ matrix


def sitk_image(data: np.ndarray, affine: np.ndarray) -> sitk.Image:
    lps = LPS @ affine
    spacing = np.linalg.norm(lps[:3, :3], axis=0)
    image = sitk.GetImageFromArray(np.ascontiguousarray(data.T))
    image.SetSpacing(spacing.tolist())
    image.SetDirection((lps[:3, :3] / spacing).ravel().tolist())
    image.SetOrigin(lps[:3, 3].tolist())
    return image


def assert_same(path: Path, data: np.ndarray, affine: np.ndarray) -> None:
    volume = open_volume(path)
    found = volume.array()
    assert found.dtype == volume.dtype
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, data)
    np.testing.assert_allclose(
        volume.grid.affine.matrix, affine, atol=1e-6 * max(1.0, np.abs(affine).max())
    )
    assert volume.grid.shape == data.shape
    assert found.flags.f_contiguous


@pytest.mark.parametrize("code", TYPES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", [nib.Nifti1Image, nib.Nifti2Image])
@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
def test_nifti_matches_nibabel(tmp_path, code, order, kind, suffix):
    path = tmp_path / f"a{suffix}"
    header = kind.header_class(endianness=order)
    image = kind(voxels(code), oblique(1), header, dtype=order + code)
    image.header.set_data_dtype(order + code)
    nib.save(image, path)
    referee = nib.load(path)
    assert referee.header.endianness == order
    assert_same(path, np.asanyarray(referee.dataobj), referee.affine)
    assert open_volume(path).orientation_basis == "affine"
    assert open_volume(path).warnings == ()


@pytest.mark.parametrize("n", range(48))
def test_all_axis_orders_in_all_formats(tmp_path, n):
    affine, data = axis_affines()[n], voxels("i2")
    nib.save(nib.Nifti1Image(data, affine), tmp_path / "a.nii")
    assert_same(tmp_path / "a.nii", data, nib.load(tmp_path / "a.nii").affine)
    for name in ("b.nrrd", "b.mha", "b.mhd", "b.nii"):
        sitk.WriteImage(sitk_image(data, affine), str(tmp_path / name))
        assert_same(tmp_path / name, data, affine)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 2**32 - 1),
    suffix=st.sampled_from(["nrrd", "mha", "mhd", "nhdr"]),
    compress=st.booleans(),
)
def test_oblique_matches_simpleitk(tmp_path, seed, suffix, compress):
    path = tmp_path / f"a.{suffix}"
    data = voxels("i2", seed)
    sitk.WriteImage(sitk_image(data, oblique(seed)), str(path), compress)
    image = sitk.ReadImage(str(path))
    assert_same(path, sitk.GetArrayFromImage(image).T, sitk_affine(image))
    assert_same(path, data, sitk_affine(image))


@pytest.mark.parametrize("code", TYPES)
@pytest.mark.parametrize("suffix", ["nrrd", "mha"])
@pytest.mark.parametrize("compress", [False, True])
def test_types_written_by_simpleitk(tmp_path, code, suffix, compress):
    path = tmp_path / f"a.{suffix}"
    sitk.WriteImage(sitk_image(voxels(code), oblique(2)), str(path), compress)
    assert_same(path, voxels(code), oblique(2))


@pytest.mark.parametrize("code", TYPES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("encoding", ["raw", "gzip", "bzip2"])
def test_nrrd_byte_orders_and_encodings(tmp_path, code, order, encoding):
    data = voxels(code)
    raw = data.astype(order + code).tobytes(order="F")
    body = {"raw": bytes, "gzip": gzip.compress, "bzip2": bz2.compress}[encoding](raw)
    header = (
        f"NRRD0004\n# comment\ntype: {NRRD_NAMES[code]}\ndimension: 3\nspace:"
        " left-posterior-superior\nsizes: 5 4 3\nspace directions: (2,0,0) (0,3,0) (0,0,4)\nkinds:"
        f" domain domain domain\nendian: {'little' if order == '<' else 'big'}\nencoding:"
        f" {encoding}\nspace origin: (1,2,3)\n\n"
    )
    path = tmp_path / "a.nrrd"
    path.write_bytes(header.encode() + body)
    if encoding != "bzip2":  # ITK is built without bzip2
        np.testing.assert_array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(path))).T, data)
    assert_same(path, data, [[-2, 0, 0, -1], [0, -3, 0, -2], [0, 0, 4, 3], [0, 0, 0, 1]])


@pytest.mark.parametrize("code", TYPES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("detached", [False, True])
def test_metaimage_byte_orders(tmp_path, code, order, compress, detached):
    data = voxels(code)
    body = data.astype(order + code).tobytes(order="F")
    body = zlib.compress(body) if compress else body
    header = (
        (
            "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB ="
            f" {order == '>'}\nCompressedData = {compress}\n"
            + (f"CompressedDataSize = {len(body)}\n" if compress else "")
        )
        + "TransformMatrix = 0 1 0 0 0 1 1 0 0\nOffset = 1 2 3\nElementSpacing = 2 3 4\nDimSize ="
        f" 5 4 3\nElementType = {META_NAMES[code]}\nElementDataFile ="
        f" {'a.zraw' if detached else 'LOCAL'}\n"
    )
    path = tmp_path / ("a.mhd" if detached else "a.mha")
    path.write_bytes(header.encode() + (b"" if detached else body))
    if detached:
        (tmp_path / "a.zraw").write_bytes(body)
    image = sitk.ReadImage(str(path))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(image).T, data)
    assert_same(path, data, sitk_affine(image))


@pytest.mark.parametrize(
    ("space", "signs"),
    [
        ("left-posterior-superior", (-1, -1, 1)),
        ("LPS", (-1, -1, 1)),
        ("right-anterior-superior", (1, 1, 1)),
        ("RAS", (1, 1, 1)),
        ("left-anterior-superior", (-1, 1, 1)),
        ("LAS", (-1, 1, 1)),
    ],
)
def test_nrrd_spaces(tmp_path, space, signs):
    path = tmp_path / "a.nrrd"
    path.write_bytes(
        f"NRRD0005\ntype: uchar\ndimension: 4\nsizes: 1 5 4 3\nspace: {space}\nencoding: raw\n"
        "space directions: none (0, 0.5, 0) (2,0,0) (0,0,3)\nspace origin: (7,8,9)\n\n".encode()
        + voxels("u1").tobytes(order="F")
    )
    lps = np.array([[0, 2, 0, 7], [0.5, 0, 0, 8], [0, 0, 3, 9], [0, 0, 0, 1]])
    assert_same(path, voxels("u1"), np.diag([*signs, 1]) @ lps)


def test_spacings_alone_leave_orientation_undeclared(tmp_path):
    (tmp_path / "a.nrrd").write_bytes(
        b"NRRD0001\ntype: uchar\ndimension: 3\nsizes: 5 4 3\nencoding: raw\nspacings: 2 3 4\n\n"
        + bytes(60)
    )
    (tmp_path / "a.mha").write_bytes(
        b"NDims = 3\nDimSize = 5 4 3\nElementSpacing = 2 3 4\nElementType ="
        b" MET_UCHAR\nElementDataFile = LOCAL\n" + bytes(60)
    )
    for name in ("a.nrrd", "a.mha"):
        volume = open_volume(tmp_path / name)
        assert volume.orientation_basis == "undeclared"
        assert len(volume.warnings) == 1
        assert volume.grid.affine.spacing_mm == (2, 3, 4)
        np.testing.assert_allclose(
            volume.grid.affine.matrix, sitk_affine(sitk.ReadImage(str(tmp_path / name)))
        )


def test_nifti_without_codes_is_undeclared_and_as_nibabel(tmp_path):
    image = nib.Nifti1Image(voxels("i2"), None)
    image.header.set_zooms((2, 3, 4))
    nib.save(image, tmp_path / "a.nii")
    volume = open_volume(tmp_path / "a.nii")
    assert volume.orientation_basis == "undeclared"
    assert volume.warnings == ("no orientation in the header (qform and sform codes are 0)",)
    np.testing.assert_allclose(volume.grid.affine.matrix, nib.load(tmp_path / "a.nii").affine)


@pytest.mark.parametrize("shift", [0.0, 0.05, 0.2])
def test_disagreeing_forms_are_said(tmp_path, shift):
    image = nib.Nifti1Image(voxels("i2"), np.diag([2.0, 2, 2, 1]))
    image.set_sform(np.diag([2.0, 2, 2, 1]), 1)
    other = np.diag([2.0, 2, 2, 1])
    other[0, 3] = 2.0 * shift
    image.set_qform(other, 1)
    nib.save(image, tmp_path / "a.nii")
    assert bool(open_volume(tmp_path / "a.nii").warnings) == (shift > 0.1)


@pytest.mark.parametrize(
    ("unit", "factor"), [("meter", 1000.0), ("micron", 0.001), ("mm", 1.0), (0, 1.0)]
)
def test_spatial_units_become_millimetres(tmp_path, unit, factor):
    in_mm = oblique(3)
    stored = in_mm.copy()
    stored[:3] /= factor
    image = nib.Nifti1Image(voxels("i2"), stored)
    image.header.set_xyzt_units(xyz=unit)
    nib.save(image, tmp_path / "a.nii.gz")
    np.testing.assert_allclose(
        open_volume(tmp_path / "a.nii.gz").grid.affine.matrix, in_mm, rtol=1e-5, atol=1e-4
    )


def test_qform_alone_and_qfac_zero(tmp_path):
    image = nib.Nifti1Image(voxels("i2"), None)
    rotation, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))
    affine = np.eye(4)
    affine[:3, :3] = rotation * np.sign(np.linalg.det(rotation)) * (1, 2, 3)
    image.set_qform(affine, 1)
    nib.save(image, tmp_path / "a.nii")
    np.testing.assert_allclose(
        open_volume(tmp_path / "a.nii").grid.affine.matrix, nib.load(tmp_path / "a.nii").affine
    )
    raw = bytearray((tmp_path / "a.nii").read_bytes())
    raw[76:80] = bytes(4)
    (tmp_path / "b.nii").write_bytes(raw)
    np.testing.assert_allclose(
        open_volume(tmp_path / "b.nii").grid.affine.matrix, affine, atol=1e-5
    )


@pytest.mark.parametrize("code", ["i2", "u1", "f4"])
def test_scaling_gives_float32_as_nibabel_scales(tmp_path, code):
    image = nib.Nifti1Image(voxels(code), np.eye(4))
    nib.save(image, tmp_path / "a.nii")
    raw = bytearray((tmp_path / "a.nii").read_bytes())
    raw[112:120] = np.array([0.25, -1024], dtype="<f4").tobytes()
    (tmp_path / "a.nii").write_bytes(raw)
    volume = open_volume(tmp_path / "a.nii")
    assert volume.dtype == volume.array().dtype == np.float32
    np.testing.assert_allclose(volume.array(), nib.load(tmp_path / "a.nii").get_fdata(), rtol=1e-6)


def test_trailing_singleton_axes_are_dropped(tmp_path):
    nib.save(nib.Nifti1Image(voxels("i2")[..., None, None], np.eye(4)), tmp_path / "a.nii")
    assert_same(tmp_path / "a.nii", voxels("i2"), np.eye(4))


def test_hash_depends_on_voxels_and_affine_only(tmp_path):
    data, affine = voxels("i2"), oblique(4).astype(np.float32).astype(np.float64)

    def save(name, order="<", values=data, matrix=affine, text=b""):
        image = nib.Nifti1Image(values, matrix, nib.Nifti1Header(endianness=order))
        image.header["descrip"] = text
        image.header.set_data_dtype(order + "i2")
        nib.save(image, tmp_path / name)
        return open_volume(tmp_path / name).content_hash()

    first = save("a.nii")
    assert first == save("a.nii.gz") == save("b.nii", ">") == save("c.nii", text=b"JANE DOE")
    changed = data.copy()
    changed[0, 0, 0] ^= 1
    moved = affine.copy()
    moved[0, 3] += 1
    assert len({first, save("d.nii", values=changed), save("e.nii", matrix=moved)}) == 3
    assert save("f.nii", values=data.reshape(4, 5, 3, order="F")) != first


def test_opening_reads_no_voxels(tmp_path):
    nib.save(
        nib.Nifti1Image(np.random.default_rng(0).integers(0, 9, (90, 90, 90), np.uint8), np.eye(4)),
        tmp_path / "a.nii.gz",
    )
    raw = bytearray((tmp_path / "a.nii.gz").read_bytes())
    raw[-1] ^= 1
    (tmp_path / "a.nii.gz").write_bytes(raw)
    volume = open_volume(tmp_path / "a.nii.gz")
    with pytest.raises(SitusError, match="corrupt gzip"):
        volume.array()


def test_content_decides_when_the_name_does_not(tmp_path):
    nib.save(nib.Nifti1Image(voxels("i2"), np.eye(4)), tmp_path / "a.nii.gz")
    (tmp_path / "a.nii.gz").rename(tmp_path / "a.volume")
    assert_same(tmp_path / "a.volume", voxels("i2"), np.eye(4))
    (tmp_path / "b.nii").write_bytes((tmp_path / "a.volume").read_bytes())  # gzip named as plain
    assert_same(tmp_path / "b.nii", voxels("i2"), np.eye(4))
    (tmp_path / "note.txt").write_text("hello")
    with pytest.raises(SitusError, match=r"known: \.nii\.gz, \.nii, \.nrrd"):
        open_volume(tmp_path / "note.txt")


def test_import_is_light():
    code = "import sys, situs.volumes as v; print([m for m in sys.argv[1:] if m in sys.modules])"
    heavy = ["nibabel", "nrrd", "scipy", "pyarrow", "isal", "numba", "SimpleITK"]
    done = subprocess.run(
        [sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
