"""JPEG of more than eight bits, against an encoder written
from the standard and against GDCM (in SimpleITK)."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk  # noqa: N813
from dicom_make import head, numbers, pixels, save, write_series
from pydicom.encaps import encapsulate, generate_frames
from pydicom.uid import UID

from situs.errors import SitusError
from situs.volumes import open_volume
from situs.volumes.dicom.jpeg import decode_jpeg

LOSSLESS = "1.2.840.10008.1.2.4.57"
SIZES = 17


def predicted(a: int, b: int, c: int, predictor: int) -> int:
    """ITU-T T.81, table H.1."""
    return (a, b, c, a + b - c, a + ((b - c) >> 1), b + ((a - c) >> 1), (a + b) >> 1)[predictor - 1]


def encode(
    picture: np.ndarray, precision: int, predictor: int = 1, *, rows_apart: int = 0, shift: int = 0
) -> bytes:
    """A lossless JPEG whose 17 codes are all five bits long;
    a restart marker behind every `rows_apart` rows."""
    rows, columns = picture.shape
    samples = picture.astype(int) >> shift
    parts, bits = [], ""
    for y in range(rows):
        if rows_apart and y and y % rows_apart == 0:
            parts.append(bits)
            bits = ""
        top = y % rows_apart == 0 if rows_apart else y == 0
        for x in range(columns):
            if top:
                guess = 1 << (precision - shift - 1) if x == 0 else samples[y, x - 1]
            elif x == 0:
                guess = samples[y - 1, 0]
            else:
                guess = predicted(
                    samples[y, x - 1], samples[y - 1, x], samples[y - 1, x - 1], predictor
                )
            change = (int(samples[y, x]) - int(guess)) & 0xFFFF
            change -= 0x10000 if change > 0x8000 else 0
            size = abs(change).bit_length()
            bits += f"{size:05b}"
            if 0 < size < 16:
                bits += f"{change if change > 0 else change + (1 << size) - 1:0{size}b}"
    parts.append(bits)
    scans = []
    for part in parts:
        part += "1" * (-len(part) % 8)
        scans.append(
            bytes(int(part[i : i + 8], 2) for i in range(0, len(part), 8)).replace(
                b"\xff", b"\xff\x00"
            )
        )
    scan = b"".join(
        s + (bytes([0xFF, 0xD0 + n % 8]) if n < len(scans) - 1 else b"")
        for n, s in enumerate(scans)
    )
    counts = [0] * 16
    counts[4] = SIZES
    segments = [
        (0xC4, bytes([0, *counts, *range(SIZES)])),
        (0xC3, struct.pack(">BHHB3B", precision, rows, columns, 1, 1, 0x11, 0)),
        *([(0xDD, struct.pack(">H", rows_apart * columns))] if rows_apart else []),
        (0xDA, bytes([1, 1, 0, predictor, 0, shift])),
    ]
    coded = b"".join(
        bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body for marker, body in segments
    )
    return b"\xff\xd8" + coded + scan + b"\xff\xd9"


def scan(seed: int, bits: int, shape: tuple[int, int] = (23, 31)) -> np.ndarray:
    """Smooth, with noise and the extremes of its bits."""
    rng = np.random.default_rng(seed)
    smooth = rng.normal(0, 2.0 ** (bits - 6), shape).cumsum(axis=1) + 2.0 ** (bits - 1)
    picture = smooth.clip(0, 2**bits - 1).astype(np.uint16)
    picture[3:6, 4], picture[5, 9:12] = 0, 2**bits - 1
    return picture


@pytest.mark.sampled
@pytest.mark.parametrize("predictor", range(1, 8))
@pytest.mark.parametrize(("bits", "rows_apart"), [(8, 0), (12, 4), (16, 0), (16, 1)])
def test_lossless_is_exact(predictor, bits, rows_apart):
    picture = scan(predictor, bits)
    found = decode_jpeg(encode(picture, bits, predictor, rows_apart=rows_apart))
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, picture)


def test_a_shift_leaves_the_lowest_bits_out():
    picture = scan(1, 12)
    np.testing.assert_array_equal(
        decode_jpeg(encode(picture, 12, 4, shift=2)), picture & ~np.uint16(3)
    )


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int16])
def test_lossless_as_gdcm_writes_it(kind, tmp_path):
    picture = (
        scan(3, 8 if kind == np.uint8 else 12, (40, 36)).astype(int)
        - (900 if kind == np.int16 else 0)
    ).astype(kind)
    writer = sitk.ImageFileWriter()
    writer.SetFileName(str(tmp_path / "x.dcm"))
    writer.UseCompressionOn()
    writer.SetCompressor("JPEG")
    writer.Execute(sitk.GetImageFromArray(picture[None]))
    dataset = pydicom.dcmread(tmp_path / "x.dcm")
    assert dataset.file_meta.TransferSyntaxUID == "1.2.840.10008.1.2.4.70"
    found = decode_jpeg(next(generate_frames(dataset.PixelData, number_of_frames=1)))
    np.testing.assert_array_equal(
        found.astype(np.uint16).view(np.int16) if kind == np.int16 else found, picture
    )


@pytest.mark.parametrize("name", ["JPEG-lossy.dcm", "JPGExtended.dcm"])
def test_twelve_bit_dct_is_within_one_of_gdcm(name):
    """Decoders may round the inverse cosine transform differently (T.81 leaves it open)."""
    path = Path(pydicom.__file__).parent / "data" / "test_files" / name
    dataset = pydicom.dcmread(path)
    assert (dataset.file_meta.TransferSyntaxUID, dataset.BitsStored) == (
        "1.2.840.10008.1.2.4.51",
        12,
    )
    found = decode_jpeg(next(generate_frames(dataset.PixelData, number_of_frames=1))).astype(int)
    expected = sitk.GetArrayFromImage(sitk.ReadImage(str(path)))[0]
    assert np.abs(found - expected).max() <= 1
    assert (found != expected).mean() < 0.05


@pytest.mark.parametrize("signed", [False, True])
def test_a_series_of_lossless_jpeg(signed, tmp_path):
    """Twelve bits stored, the highest of them the sign; rescaled."""
    volume = np.stack([scan(seed, 12) for seed in range(3)])
    values = volume.astype(np.int16) - 4096 * (volume >= 2048) if signed else volume
    plain = write_series(
        tmp_path / "plain", values.astype(np.int16 if signed else np.uint16), stored=12
    )
    for number, path in enumerate(plain):
        dataset = pydicom.dcmread(path)
        bits = dataset.pixel_array.astype(np.int32) & 0xFFF
        dataset.PixelData = encapsulate([encode(bits, 12, 1 + number)])
        dataset.file_meta.TransferSyntaxUID = UID(LOSSLESS)
        dataset["PixelData"].VR = "OB"
        dataset["PixelData"].is_undefined_length = True
        save(dataset, tmp_path / "packed" / path.name)
    packed = open_volume(tmp_path / "packed").array()
    np.testing.assert_array_equal(packed, open_volume(tmp_path / "plain").array())
    np.testing.assert_array_equal(packed, values.transpose(2, 1, 0))


def broken() -> dict[str, bytes]:
    whole = encode(scan(0, 12), 12)
    return {
        "cut": whole[:-40],
        "no scan": whole[:60],
        "empty": b"\xff\xd8",
        "no jpeg": b"GIF89a" + whole,
        "predictor 0": encode(scan(0, 12), 12).replace(
            bytes([1, 1, 0, 1, 0, 0]), bytes([1, 1, 0, 0, 0, 0])
        ),
        "progressive": whole.replace(b"\xff\xc3", b"\xff\xc2"),
        "no table": whole.replace(b"\xff\xc4", b"\xff\xe4"),
        "no restarts": encode(scan(0, 12), 12, rows_apart=4).replace(b"\xff\xd1", b""),
    }


@pytest.mark.parametrize("name", broken())
def test_damaged_streams_are_one_line(name, tmp_path):
    dataset = pixels(head(syntax=LOSSLESS), scan(0, 12), stored=12)
    dataset.ImageType = ["ORIGINAL", "PRIMARY", "AXIAL"]
    dataset.ImageOrientationPatient, dataset.ImagePositionPatient = (
        numbers((1, 0, 0, 0, 1, 0)),
        numbers((0, 0, 0)),
    )
    dataset.PixelSpacing, dataset.SliceThickness = numbers((1, 1)), "2"
    dataset.PixelData = encapsulate([broken()[name]])
    dataset["PixelData"].is_undefined_length = True
    dataset["PixelData"].VR = "OB"
    path = save(dataset, tmp_path / "x.dcm")
    with pytest.raises(SitusError) as caught:
        open_volume(path).array()
    assert "\n" not in str(caught.value)
