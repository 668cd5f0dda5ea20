"""DICOM series against SimpleITK's GDCM reader and against the formula of PS3.3 C.7.6.2.1.1."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk  # noqa: N813
from dicom_make import (
    AXIAL,
    SECONDARY_CAPTURE,
    SECRET,
    head,
    item,
    pixels,
    save,
    write_enhanced,
    write_series,
)
from pydicom.pixels import apply_modality_lut
from pydicom.sequence import Sequence
from pydicom.uid import (
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ImplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGLSLossless,
    RLELossless,
)

from situs.errors import SitusError
from situs.volumes import open_volume

RNG = np.random.default_rng(7)
SIGNED = RNG.integers(-1000, 1000, (6, 5, 4)).astype(np.int16)
UNSIGNED = RNG.integers(0, 4096, (6, 5, 4)).astype(np.uint16)
BYTES = RNG.integers(0, 256, (6, 5, 4)).astype(np.uint8)


def referee(folder: Path) -> sitk.Image:
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames(reader.GetGDCMSeriesFileNames(str(folder)))
    return reader.Execute()


def assert_same_as_gdcm(path: Path, folder: Path | None = None) -> None:
    volume, image = open_volume(path), referee(folder or path)
    np.testing.assert_array_equal(volume.array(), sitk.GetArrayFromImage(image).T)
    linear = np.array(image.GetDirection()).reshape(3, 3) * image.GetSpacing()
    np.testing.assert_allclose(volume.grid.affine.linear, np.diag([-1, -1, 1]) @ linear, atol=1e-5)
    np.testing.assert_allclose(
        volume.grid.affine.matrix[:3, 3], np.array([-1, -1, 1]) * image.GetOrigin(), atol=1e-6
    )
    assert volume.array().dtype == volume.dtype
    assert volume.array().flags.f_contiguous
    assert volume.orientation_basis == "affine"


FORMATS = {
    "signed": (SIGNED, {}),
    "unsigned": (UNSIGNED, {}),
    "bytes": (BYTES, {}),
    "implicit": (SIGNED, {"syntax": ImplicitVRLittleEndian}),
    "big endian": (SIGNED, {"syntax": ExplicitVRBigEndian}),
    "big endian unsigned": (UNSIGNED, {"syntax": ExplicitVRBigEndian}),
    "deflated": (SIGNED, {"syntax": DeflatedExplicitVRLittleEndian}),
    "rle": (SIGNED, {"compress": RLELossless}),
    "rle bytes": (BYTES, {"compress": RLELossless}),
    "jpeg 2000": (UNSIGNED, {"compress": JPEG2000Lossless, "stored": 12}),
    "jpeg 2000 signed": (SIGNED, {"compress": JPEG2000Lossless}),
    "jpeg-ls": (UNSIGNED, {"compress": JPEGLSLossless, "stored": 12}),
    "12 of 16 bits": (UNSIGNED, {"stored": 12}),
    "12 of 16 bits, signed": (SIGNED, {"stored": 12}),
    "intercept": (UNSIGNED, {"inters": [-1024.0] * 6, "stored": 12}),
    "slope and intercept": (UNSIGNED, {"slopes": [2.0] * 6, "inters": [-10.0] * 6}),
}


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("name", FORMATS)
def test_formats_against_gdcm(tmp_path, name):
    volume, options = FORMATS[name]
    if "compress" in options:
        volume = np.tile(volume, (1, 13, 16))  # GDCM wants more than a few compressed pixels
    write_series(tmp_path, volume, **options)
    assert_same_as_gdcm(tmp_path)
    assert open_volume(tmp_path).warnings == ()


def test_all_syntaxes_have_one_hash(tmp_path):
    for number, options in enumerate(
        [{}, {"syntax": ExplicitVRBigEndian}, {"compress": RLELossless}]
    ):
        write_series(tmp_path / str(number), SIGNED, seed=number, **options)
    hashes = {open_volume(tmp_path / str(number)).content_hash() for number in range(3)}
    assert len(hashes) == 1


ORIENTATIONS = {
    "axial": (AXIAL, (0, 0, 2.5)),
    "axial, stored downwards": (AXIAL, (0, 0, -2.5)),
    "feet first prone": ((-1, 0, 0, 0, -1, 0), (0, 0, -2.5)),
    "head first, on the right side": ((0, 1, 0, -1, 0, 0), (0, 0, 2.5)),
    "sagittal": ((0, 1, 0, 0, 0, -1), (-3, 0, 0)),
    "coronal": ((1, 0, 0, 0, 0, -1), (0, 3, 0)),
    "oblique": (
        (0.8, 0.6, 0, -0.48, 0.64, 0.6),
        tuple(2.0 * np.cross((0.8, 0.6, 0), (-0.48, 0.64, 0.6))),
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", ORIENTATIONS)
@pytest.mark.parametrize("position", ["HFS", "FFP"])
def test_orientations_against_gdcm(tmp_path, name, position):
    orientation, step = ORIENTATIONS[name]
    write_series(tmp_path, SIGNED, orientation=orientation, step=step, PatientPosition=position)
    assert_same_as_gdcm(tmp_path)


def test_the_affine_is_the_standard_formula(tmp_path):
    orientation, step = ORIENTATIONS["oblique"]
    write_series(
        tmp_path, SIGNED, orientation=orientation, step=step, spacing=(0.75, 0.5), origin=(1, 2, 3)
    )
    affine = open_volume(tmp_path).grid.affine
    for index in np.ndindex(4, 5, 6):
        row, column = np.array(orientation[:3]), np.array(orientation[3:])
        lps = (
            np.array([1, 2, 3])
            + row * 0.5 * index[0]
            + column * 0.75 * index[1]
            + np.array(step) * index[2]
        )
        np.testing.assert_allclose(
            affine.to_world(np.array([index]))[0], lps * [-1, -1, 1], atol=1e-6
        )


def test_rescaling_may_differ_from_slice_to_slice(tmp_path):
    slopes, inters = [1.0, 2.0, 0.5, 1.5, 1.0, 3.0], [0.0, -5.0, 0.25, 7.0, 1.0, 2.0]
    write_series(tmp_path, UNSIGNED, slopes=slopes, inters=inters)
    volume = open_volume(tmp_path)
    expected = UNSIGNED * np.array(slopes)[:, None, None] + np.array(inters)[:, None, None]
    assert volume.dtype == np.float32
    np.testing.assert_array_equal(volume.array(), expected.T.astype(np.float32))


def test_unused_high_bits_are_not_values(tmp_path):
    """Old scanners kept overlays in the four bits above the twelve of the image."""
    dirty = (UNSIGNED | (RNG.integers(0, 16, UNSIGNED.shape).astype(np.uint16) << 12)).astype(
        np.uint16
    )
    write_series(tmp_path, dirty, stored=12)
    np.testing.assert_array_equal(open_volume(tmp_path).array(), UNSIGNED.T)


@pytest.mark.parametrize("compress", [None, RLELossless])
def test_multi_frame(tmp_path, compress):
    order, inters = [3, 0, 5, 1, 4, 2], [0.0, -1.0, -2.0, -3.0, -4.0, -5.0]
    path = write_enhanced(tmp_path / "mf", SIGNED, order, inters, origin=(5, 6, 7))
    if compress:
        import pydicom

        dataset = pydicom.dcmread(path)
        dataset.compress(compress)
        dataset.save_as(path)
    expected = (SIGNED + np.array(inters, dtype=np.int16)[:, None, None]).T
    for found in (open_volume(path), open_volume(tmp_path)):
        np.testing.assert_array_equal(found.array(), expected)
        np.testing.assert_allclose(
            found.grid.affine.matrix,
            [[-0.5, 0, 0, -5], [0, -0.5, 0, -6], [0, 0, 2, 7], [0, 0, 0, 1]],
        )


def test_a_tilted_gantry_is_kept_and_said(tmp_path):
    degrees = 17.0
    step = (0.0, 2.5 * np.tan(np.radians(degrees)), 2.5)
    write_series(tmp_path, SIGNED, step=step)
    volume = open_volume(tmp_path)
    assert volume.warnings == (
        f"slices are sheared by {degrees:.1f}° (gantry tilt); the sheared affine is kept",
    )
    np.testing.assert_allclose(
        volume.grid.affine.linear[:, 2], np.array(step) * [-1, -1, 1], atol=1e-6
    )
    assert volume.grid.affine.is_sheared
    np.testing.assert_array_equal(volume.array(), SIGNED.T)


def test_a_missing_slice_is_named_in_millimetres(tmp_path):
    files = write_series(tmp_path, SIGNED)
    files[2].unlink()
    with pytest.raises(
        SitusError, match=r"a gap of 5 mm where 2\.5 mm is usual \(1 of 4 gaps\); add the missing"
    ):
        open_volume(tmp_path)


@pytest.mark.parametrize(("shift", "refused"), [(0.02, False), (0.2, True)])
def test_spacing_may_be_uneven_by_one_percent(tmp_path, shift, refused):
    write_series(tmp_path, SIGNED[:5], origin=(0, 0, 0.003))
    (last,) = write_series(tmp_path / "last", SIGNED[5:], origin=(0, 0, 0.003 + 5 * 2.5 + shift))
    last.rename(tmp_path / "last.dcm")
    if refused:
        with pytest.raises(SitusError, match="uneven"):
            open_volume(tmp_path)
    else:
        open_volume(tmp_path)


def test_positions_rounded_to_a_tenth(tmp_path):
    for k in range(9):
        write_series(tmp_path / str(k), SIGNED[:1], origin=(0, 0, round(0.625 * k, 1)))
        next((tmp_path / str(k)).iterdir()).rename(tmp_path / f"{k}.dcm")
    assert open_volume(tmp_path).grid.affine.spacing_mm[2] == pytest.approx(round(0.625 * 8, 1) / 8)


def test_repeats(tmp_path):
    files = write_series(tmp_path, SIGNED)
    (tmp_path / "again.dcm").write_bytes(files[3].read_bytes())
    volume = open_volume(tmp_path)
    assert volume.warnings == ("1 identical repeats of slices are dropped",)
    np.testing.assert_array_equal(volume.array(), SIGNED.T)
    write_series(tmp_path / "other", SIGNED[::-1])
    for file in (tmp_path / "other").iterdir():
        file.rename(tmp_path / f"b{file.name}")
    (tmp_path / "other").rmdir()
    with pytest.raises(
        SitusError, match=r"different slices at one position .*; several time points"
    ):
        open_volume(tmp_path)


def test_several_series_are_chosen_by_a_file(tmp_path):
    one = write_series(tmp_path, SIGNED, series="1")
    two = write_series(tmp_path, SIGNED + 1, series="2")
    with pytest.raises(
        SitusError, match="holds 2 image series; give the path of one file of the series"
    ):
        open_volume(tmp_path)
    np.testing.assert_array_equal(open_volume(one[4]).array(), SIGNED.T)
    np.testing.assert_array_equal(open_volume(two[0]).array(), SIGNED.T + 1)


def test_other_files_beside_a_series_are_passed_over(tmp_path):
    write_series(tmp_path, SIGNED)
    (tmp_path / "LICENSE").write_text("text")
    (tmp_path / ".DS_Store").write_bytes(b"x" * 200)
    report = head("1.2.840.10008.5.1.4.1.1.88.11")
    save(report, tmp_path / "report.dcm")
    scout = write_series(
        tmp_path / "s", SIGNED[:1], series="9", ImageType=["ORIGINAL", "PRIMARY", "LOCALIZER"]
    )
    scout[0].rename(tmp_path / "scout.dcm")
    np.testing.assert_array_equal(open_volume(tmp_path).array(), SIGNED.T)


def test_inverted_values_are_kept(tmp_path):
    write_series(tmp_path, SIGNED, PhotometricInterpretation="MONOCHROME1")
    volume = open_volume(tmp_path)
    assert "MONOCHROME1" in volume.warnings[0]
    np.testing.assert_array_equal(volume.array(), SIGNED.T)


def test_one_slice(tmp_path):
    write_series(tmp_path, SIGNED[:1])
    volume = open_volume(tmp_path)
    assert "one slice" in volume.warnings[0]
    assert volume.grid.affine.spacing_mm == pytest.approx((0.5, 0.75, 2.5))


REFUSED = {
    "a secondary capture": {"SOPClassUID": SECONDARY_CAPTURE},
    "a secondary capture, ": {"SOPClassUID": SECONDARY_CAPTURE + ".4"},
    "a screenshot": {"ImageType": ["DERIVED", "SECONDARY", "SCREEN SAVE"]},
    "a localizer": {"ImageType": ["ORIGINAL", "PRIMARY", "LOCALIZER"]},
    "burnt-in annotation": {"BurnedInAnnotation": "YES"},
    "a mosaic": {"ImageType": ["ORIGINAL", "PRIMARY", "M", "MOSAIC"]},
    "not above 0": {"PixelSpacing": ["0.5", "-0.5"]},
    "has no position": {"ImagePositionPatient": None},
    "has no orientation": {"ImageOrientationPatient": None},
    "has no pixel spacing": {"PixelSpacing": None},
    "has no Rows|holds no": {"Rows": None},
    "two unit vectors": {"ImageOrientationPatient": ["1", "0", "0", "0", "2", "0"]},
    "right angles": {"ImageOrientationPatient": ["1", "0", "0", "0.7071", "0.7071", "0"]},
    "colour": {"PhotometricInterpretation": "RGB", "SamplesPerPixel": 3},
    "lowest bit": {"HighBit": 11},
    "bits per pixel": {"BitsStored": 20},
    "spacing": {"PixelSpacing": ["0", "0.5"]},
}


@pytest.mark.parametrize("match", REFUSED)
def test_refused(tmp_path, match):
    files = write_series(tmp_path, SIGNED, **REFUSED[match])
    for path in (tmp_path, files[0]):
        with pytest.raises(SitusError, match=match) as caught:
            open_volume(path)
        text = str(caught.value)
        assert "\n" not in text
        assert SECRET not in text.replace(str(tmp_path), "")
        assert caught.value.fix


def test_a_reformat_is_not_a_screenshot(tmp_path):
    write_series(tmp_path, SIGNED, ImageType=["DERIVED", "SECONDARY", "REFORMATTED"])
    np.testing.assert_array_equal(open_volume(tmp_path).array(), SIGNED.T)


def test_mixed_sizes_and_orientations(tmp_path):
    write_series(tmp_path / "a", SIGNED)
    write_series(tmp_path / "a", SIGNED[:1, :3], seed=1, origin=(0, 0, 100))
    with pytest.raises(SitusError, match="2 different sizes"):
        open_volume(tmp_path / "a")
    write_series(tmp_path / "b", SIGNED)
    for file in write_series(tmp_path / "c", SIGNED[:2], orientation=ORIENTATIONS["sagittal"][0]):
        file.rename(tmp_path / "b" / f"c{file.name}")
    with pytest.raises(SitusError, match="not parallel"):
        open_volume(tmp_path / "b")


def test_the_cap_on_voxels_holds(tmp_path, monkeypatch):
    write_series(tmp_path, SIGNED)
    monkeypatch.setenv("SITUS_MAX_VOXELS", "100")
    with pytest.raises(SitusError, match="120 voxels exceed the limit of 100"):
        open_volume(tmp_path)


def test_opening_reads_no_pixels(tmp_path, monkeypatch):
    import situs.volumes.dicom.series as series

    write_series(tmp_path, SIGNED)
    monkeypatch.setattr(series, "FrameReader", None)
    assert open_volume(tmp_path).grid.shape == (4, 5, 6)


def test_colour_multi_frame_without_positions(tmp_path):
    path = save(pixels(head(), SIGNED), tmp_path / "cine")
    with pytest.raises(SitusError, match="frames without positions"):
        open_volume(path)


def test_import_stays_light():
    code = (
        "import sys, situs.volumes; print([m for m in sys.modules if m.split('.')[0] in ('pydicom',"
        " 'highdicom')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def lookup(first: int, values: list[int], bits: int = 16) -> Sequence:
    data = np.array(values, "<u2").tobytes()
    return Sequence(
        [item(LUTDescriptor=[len(values), first, bits], LUTData=data, ModalityLUTType="HU")]
    )


@pytest.mark.parametrize(
    ("kind", "first"), [(np.uint16, 100), (np.uint8, 3), (np.int16, 65_536 - 50), (np.int16, 0)]
)
def test_a_lookup_table_is_applied(kind, first, tmp_path):
    """As pydicom applies it; values below and above the table take its ends."""
    rng = np.random.default_rng(0)
    low = -80 if kind == np.int16 else 0
    stored = rng.integers(low, 250, (3, 5, 4)).astype(kind)
    table = rng.integers(0, 60_000, 90).tolist()
    start = first - 65_536 if first > 32_767 else first
    write_series(
        tmp_path,
        stored,
        ModalityLUTSequence=lookup(start, table),
        RescaleSlope=None,
        RescaleIntercept=None,
    )
    expected = np.array(table)[np.clip(stored.astype(int) - start, 0, 89)]
    volume = open_volume(tmp_path)
    np.testing.assert_array_equal(volume.array(), expected.transpose(2, 1, 0))
    dataset = pydicom.dcmread(sorted(tmp_path.iterdir())[0])
    referee = apply_modality_lut(dataset.pixel_array, dataset)
    assert any(np.array_equal(referee.T, plane) for plane in np.moveaxis(volume.array(), 2, 0))


@pytest.mark.parametrize("values", [[1, 2], [1, 2, 3, 4]])
def test_a_damaged_lookup_table_is_an_error(values, tmp_path):
    tables = lookup(0, values)
    tables[0].LUTDescriptor = [0, 0, 16]  # 0 stands for 65,536 entries
    write_series(tmp_path, np.zeros((2, 3, 3), np.uint16), ModalityLUTSequence=tables)
    with pytest.raises(SitusError, match="lookup table for values is damaged"):
        open_volume(tmp_path)
