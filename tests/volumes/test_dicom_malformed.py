"""Damaged and hostile DICOM: one line, no tag value in it,
never a large allocation, never a sound."""

from __future__ import annotations

import logging
import warnings
import zlib
from pathlib import Path

import numpy as np
import pydicom
import pytest
from dicom_make import SECRET, SECRET_UID, head, pixels, save, write_enhanced, write_series
from pydicom.uid import DeflatedExplicitVRLittleEndian, JPEG2000Lossless, RLELossless
from test_dicom_labels import SQUARE, at, contour, hand_made, segment, write_contours

from situs.errors import SitusError
from situs.volumes import find_studies, open_labels, open_volume

VOLUME = np.arange(4 * 6 * 8, dtype=np.int16).reshape(4, 6, 8)


def refused(path: Path, match: str = ".") -> str:
    with pytest.raises(SitusError, match=match) as caught:
        open_volume(path).array()
    text = str(caught.value)
    assert text.isprintable()
    assert caught.value.fix
    clean(text)
    return text


def clean(text: str) -> None:
    for word in (SECRET, SECRET_UID, "16050116", "20240229", "Alonso"):
        assert word not in text


def test_not_dicom_at_all(tmp_path):
    rng = np.random.default_rng(0)
    for number in range(30):
        (tmp_path / "x.dcm").write_bytes(bytes(128) + b"DICM" + rng.bytes(number * 20))
        refused(tmp_path / "x.dcm")
        with pytest.raises(SitusError):
            open_labels(tmp_path / "x.dcm")
        with pytest.raises(SitusError):
            find_studies(tmp_path)
    (tmp_path / "x.dcm").write_bytes(b"text")
    refused(tmp_path / "x.dcm", "not a volume of a known kind")


def test_truncated_anywhere(tmp_path):
    (file,) = write_series(tmp_path, VOLUME[:1])
    whole = file.read_bytes()
    for end in range(132, len(whole), 7):
        file.write_bytes(whole[:end])
        refused(file)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "kind", ["series", "rle", "jpeg 2000", "deflated", "multi-frame", "seg", "rtstruct"]
)
def test_flipped_bytes_never_end_in_a_traceback(tmp_path, kind):
    options = {"rle": {"compress": RLELossless}, "jpeg 2000": {"compress": JPEG2000Lossless}}.get(
        kind, {}
    )
    if kind == "deflated":
        options = {"syntax": DeflatedExplicitVRLittleEndian}
    if kind == "multi-frame":
        path = write_enhanced(tmp_path / "f", VOLUME, [0, 1, 2, 3], [0.0] * 4)
    elif kind == "seg":
        path = save(hand_made(np.ones((2, 4, 6), np.uint8), "BINARY", [1, 1]), tmp_path / "f")
        dataset = pydicom.dcmread(path)
        dataset.SegmentSequence = [segment(1, "liver")]
        save(dataset, path)
    elif kind == "rtstruct":
        write_series(tmp_path, np.zeros((6, 9, 7), np.int16))
        path = write_contours(tmp_path / "rt", {(1, "a"): [contour(at(SQUARE, 2))]})
    else:
        (path,) = write_series(tmp_path, np.tile(VOLUME[:1], (1, 8, 8)), **options)
    whole = path.read_bytes()
    read = (
        (lambda: open_labels(path).load())
        if kind in ("seg", "rtstruct")
        else (lambda: open_volume(path).array())
    )
    read()
    rng = np.random.default_rng(1)
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(rng.integers(1, 6)):
            damaged[rng.integers(132, len(damaged))] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            read()
        except SitusError as error:
            clean(error.one_line())


@pytest.mark.parametrize(
    ("tags", "match"),
    [
        ({"Rows": 65535, "Columns": 65535}, "truncated|exceeds"),
        ({"Rows": 0}, "zero or out of range"),
        ({"NumberOfFrames": "999999999"}, "out of range"),
        ({"NumberOfFrames": "-3"}, "whole number|damaged"),
        ({"PixelData": None}, "pixels are cut off"),
        ({"BitsAllocated": 12}, "not supported"),
        ({"SliceThickness": None}, "one slice without a thickness"),
    ],
)
def test_absurd_headers(tmp_path, tags, match):
    write_series(tmp_path, VOLUME[:1], **tags)
    refused(tmp_path, match)


@pytest.mark.parametrize(
    "keyword", ["ImageOrientationPatient", "ImagePositionPatient", "PixelSpacing", "RescaleSlope"]
)
@pytest.mark.parametrize("text", [b"NaN", b"inf", b"Quixote", b"1e300", b""])
def test_numbers_that_are_none(tmp_path, keyword, text):
    (file,) = write_series(tmp_path, VOLUME[:1])
    dataset = pydicom.dcmread(file)
    count = {
        "ImageOrientationPatient": 6,
        "ImagePositionPatient": 3,
        "PixelSpacing": 2,
        "RescaleSlope": 1,
    }[keyword]
    raw = b"\\".join([text] * count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        element = pydicom.dataelem.RawDataElement(
            dataset[keyword].tag, "DS", len(raw), raw + b" " * (len(raw) % 2), 0, False, True
        )
        dataset[keyword] = element
        dataset.save_as(file)
    if keyword == "RescaleSlope" and text == b"":
        np.testing.assert_array_equal(open_volume(tmp_path).array(), VOLUME[:1].T)
    else:
        refused(tmp_path)


def test_a_deflate_bomb_is_not_inflated(tmp_path):
    (file,) = write_series(tmp_path, VOLUME[:1], syntax=DeflatedExplicitVRLittleEndian)
    raw = file.read_bytes()
    length = int(pydicom.filereader.read_file_meta_info(file).FileMetaInformationGroupLength)
    packer = zlib.compressobj(9, wbits=-15)
    bomb = packer.compress(bytes(1 << 24)) + packer.flush()
    file.write_bytes(raw[: 144 + length] + bomb)
    refused(file)


def test_a_code_stream_that_claims_another_size(tmp_path):
    (file,) = write_series(tmp_path, np.zeros((1, 64, 64), np.uint16), compress=JPEG2000Lossless)
    raw = bytearray(file.read_bytes())
    start = raw.index(b"\xff\x4f\xff\x51")
    raw[start + 8 : start + 16] = (60000).to_bytes(4, "big") * 2
    file.write_bytes(raw)
    refused(file, "not have the size its header declares")


def test_a_compression_without_decoder_says_what_to_install(tmp_path, monkeypatch):
    def none(syntax: str) -> None:
        raise NotImplementedError

    monkeypatch.setattr("pydicom.pixels.decoders.base.get_decoder", none)
    (file,) = write_series(tmp_path, np.zeros((1, 64, 64), np.uint16), compress=RLELossless)
    dataset = pydicom.dcmread(file)
    dataset.file_meta.TransferSyntaxUID = JPEG2000Lossless
    dataset.save_as(file)
    refused(file, r"cannot be decoded here; pip install pylibjpeg pylibjpeg-openjpeg")


def test_a_private_transfer_syntax(tmp_path):
    (file,) = write_series(tmp_path, np.zeros((1, 64, 64), np.uint16), compress=RLELossless)
    dataset = pydicom.dcmread(file)
    dataset.file_meta.TransferSyntaxUID = "1.2.3.4"
    dataset.save_as(file, implicit_vr=False, little_endian=True)
    refused(file, r"cannot be decoded here; export it uncompressed")


def test_nothing_planted_gets_out(tmp_path, caplog, capfd, recwarn):
    """Whatever goes wrong, and also when nothing does:
    no name, date, id or free text in any sign of life."""
    said = []
    write_series(tmp_path / "good", VOLUME, PatientPosition="FFP")
    volume = open_volume(tmp_path / "good")
    said += [repr(volume), *volume.warnings, volume.content_hash()]
    wrong: list[dict[str, object]] = [
        {"PhotometricInterpretation": SECRET},
        {"ImageType": [SECRET, SECRET], "BurnedInAnnotation": "YES"},
        {"Modality": SECRET, "SOPClassUID": SECRET_UID, "Rows": None},
        {"PixelSpacing": ["0.5", "0"]},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, tags in enumerate(wrong):
            write_series(tmp_path / str(number), VOLUME, **tags)
    caplog.clear()
    recwarn.clear()
    with warnings.catch_warnings(), caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        for number in range(len(wrong)):
            said.append(refused(tmp_path / str(number)))
            with pytest.raises(SitusError) as caught:
                find_studies(tmp_path / str(number))
            said.append(str(caught.value))
    made = hand_made(
        np.ones((2, 4, 6), np.uint8), "BINARY", [1, 1], SegmentSequence=[segment(1, "liver")]
    )
    labels = open_labels(save(made, tmp_path / "seg"))
    said += [repr(labels), *labels.warnings, *labels.load().warnings]
    said += [caplog.text, *capfd.readouterr(), *(str(w.message) for w in recwarn)]
    clean(" ".join(said))


def test_tags_do_not_enter_the_hash(tmp_path):
    write_series(tmp_path / "a", VOLUME)
    write_series(
        tmp_path / "b",
        VOLUME,
        PatientName="Panza^Sancho",
        PatientID="2",
        SeriesInstanceUID="1.2.3",
        seed=4,
    )
    assert open_volume(tmp_path / "a").content_hash() == open_volume(tmp_path / "b").content_hash()


def test_a_picture_of_several_kinds(tmp_path):
    dataset = pixels(head(), VOLUME[0])
    save(dataset, tmp_path / "bare")
    refused(tmp_path, "has no orientation")
