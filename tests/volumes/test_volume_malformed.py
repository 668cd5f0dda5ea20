"""Damaged, hostile and unsupported files:
always one SitusError of one line, and never a large allocation."""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest

from situs.errors import SitusError
from situs.volumes import open_labels, open_volume

pytestmark = pytest.mark.sampled

SHAPE = (7, 6, 5)
SECRET = "DOE^JANE"


def nifti(dtype: str = "i2", shape: tuple[int, ...] = SHAPE, big: bool = False) -> bytearray:
    data = (np.arange(np.prod(shape)) % 4).astype(dtype).reshape(shape)
    image = nib.Nifti1Image(
        data, np.diag([1.0, 2, 3, 1]), nib.Nifti1Header(endianness=">" if big else "<")
    )
    image.header.set_data_dtype(dtype)
    image.header["descrip"] = SECRET.encode()
    return bytearray(image.to_bytes())


def nrrd(body: bytes = bytes(210), **changes: str | None) -> bytes:
    fields: dict[str, str | None] = {
        "type": "uchar",
        "dimension": "3",
        "space": "LPS",
        "sizes": "7 6 5",
        "space directions": "(1,0,0) (0,1,0) (0,0,1)",
        "space origin": "(0,0,0)",
        "encoding": "raw",
        "content": SECRET,
    }
    fields |= {name.replace("_", " "): value for name, value in changes.items()}
    lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\n".join(["NRRD0004", *lines, "", ""]).encode() + body


def mha(body: bytes = bytes(210), **changes: str | None) -> bytes:
    fields: dict[str, str | None] = {
        "ObjectType": "Image",
        "Comment": SECRET,
        "NDims": "3",
        "BinaryData": "True",
        "TransformMatrix": "1 0 0 0 1 0 0 0 1",
        "Offset": "0 0 0",
        "ElementSpacing": "1 1 1",
        "DimSize": "7 6 5",
        "ElementType": "MET_UCHAR",
        "ElementDataFile": "LOCAL",
    }
    last = changes.pop("ElementDataFile", fields.pop("ElementDataFile"))
    lines = [f"{k} = {v}" for k, v in (fields | changes).items() if v is not None]
    return "\n".join([*lines, f"ElementDataFile = {last}", ""]).encode() + body


def refused(path: Path, match: str = ".") -> str:
    """Both ways of opening fail with one line, and the header's text is not in it."""
    for read in (lambda: open_volume(path).array(), lambda: open_labels(path).load()):
        with pytest.raises(SitusError, match=match) as caught:
            read()
        text = str(caught.value)
        assert "\n" not in text
        assert text.isprintable()
        assert SECRET not in text
        assert caught.value.fix
    return text


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


# --- gzip
# ---------------------------------------------------------------------------------------------------------

PLAIN = bytes(nifti(shape=(40, 30, 20)))
PACKED = gzip.compress(PLAIN, mtime=0)
CUTS = sorted(
    {int(x) for x in np.linspace(0, len(PACKED) - 1, 32)} | {len(PACKED) - n for n in range(1, 10)}
)


def test_the_whole_stream_is_readable(tmp_path):
    assert open_volume(put(tmp_path, "a.nii.gz", PACKED)).array().shape == (40, 30, 20)


@pytest.mark.parametrize("cut", CUTS)
def test_gzip_cut_anywhere(tmp_path, cut):
    refused(put(tmp_path, "a.nii.gz", PACKED[:cut]), "truncated gzip" if cut >= 18 else ".")


@pytest.mark.parametrize("byte", range(-8, 0))
def test_gzip_trailer_flipped(tmp_path, byte):
    raw = bytearray(PACKED)
    raw[byte] ^= 0x10
    refused(put(tmp_path, "a.nii.gz", bytes(raw)), "corrupt gzip")


@pytest.mark.parametrize("cut", [*range(1, 30, 3), 40])
def test_second_member_cut(tmp_path, cut):
    both = gzip.compress(PLAIN[:1000]) + gzip.compress(PLAIN[1000:])
    np.testing.assert_array_equal(
        open_volume(put(tmp_path, "a.nii.gz", both + bytes(300))).array(),
        open_volume(put(tmp_path, "b.nii.gz", PACKED)).array(),
    )
    refused(put(tmp_path, "a.nii.gz", both[:-cut]), "truncated gzip")


def test_many_members_of_any_size(tmp_path):
    parts = b"".join(gzip.compress(PLAIN[i : i + 777]) for i in range(0, len(PLAIN), 777))
    found = open_volume(put(tmp_path, "a.nii.gz", parts)).array()
    np.testing.assert_array_equal(found, nib.Nifti1Image.from_bytes(PLAIN).dataobj)


def test_gzip_garbage_after_the_end(tmp_path):
    refused(put(tmp_path, "a.nii.gz", PACKED + b"garbage!" * 9), "corrupt gzip")


def test_surplus(tmp_path):
    small = put(tmp_path, "a.nii.gz", gzip.compress(PLAIN + bytes(1 << 20)))
    assert open_volume(small).array().shape == (40, 30, 20)
    refused(
        put(tmp_path, "a.nii.gz", gzip.compress(PLAIN + bytes((1 << 20) + 1))), "much more data"
    )
    refused(put(tmp_path, "a.nii", PLAIN + bytes((1 << 20) + 1)), "declares")


def test_gzip_bomb_header_is_refused_before_allocation(tmp_path):
    raw = nifti("u1", (7, 6, 5))
    raw[42:48] = struct.pack("<3h", 2000, 1000, 1000)
    refused(put(tmp_path, "a.nii.gz", gzip.compress(bytes(raw))), "cannot hold")
    refused(put(tmp_path, "a.nii", bytes(raw)), "truncated")


def test_zlib_of_a_metaimage(tmp_path):
    body = zlib.compress(os.urandom(210))
    for cut in (1, 3, 4, 5, 20, len(body)):
        refused(put(tmp_path, "a.mha", mha(body[:-cut], CompressedData="True")), "truncated")
        size = {"CompressedData": "True", "CompressedDataSize": str(len(body))}
        refused(put(tmp_path, "a.mha", mha(body[:-cut], **size)), "truncated")
    flipped = body[:-1] + bytes([body[-1] ^ 1])
    refused(put(tmp_path, "a.mha", mha(flipped, CompressedData="True")), "corrupt zlib")


@pytest.mark.parametrize("encoding", ["gzip", "bzip2"])
@pytest.mark.parametrize("seed", range(5))
def test_random_bytes_as_compressed_nrrd(tmp_path, encoding, seed):
    body = np.random.default_rng(seed).bytes(500)
    refused(put(tmp_path, "a.nrrd", nrrd(body, encoding=encoding)), "corrupt|truncated")


# --- headers
# ------------------------------------------------------------------------------------------------------

NAN, INF = struct.pack("<f", float("nan")), struct.pack("<f", float("inf"))
NIFTI_EDITS = {
    "zero dim": (42, struct.pack("<h", 0), "zero or negative"),
    "negative dim": (44, struct.pack("<h", -3), "zero or negative"),
    "no dims": (40, struct.pack("<h", 0), "dimensions"),
    "nine dims": (40, struct.pack("<h", 9), "dimensions"),
    "2D": (40, struct.pack("<h", 2), "2D"),
    "4D": (40, struct.pack("<5h", 4, 7, 6, 5, 2), "4D"),
    "too long": (42, struct.pack("<h", 32767), "exceeds 20000"),
    "huge": (42, struct.pack("<3h", 19999, 19999, 19999), "voxels exceed"),
    "RGB": (70, struct.pack("<h", 128), "RGB"),
    "complex": (70, struct.pack("<h", 32), "complex"),
    "float128": (70, struct.pack("<h", 1536), "128"),
    "bit": (70, struct.pack("<h", 1), "type|bit"),
    "unknown type": (70, struct.pack("<h", 777), "unknown voxel type"),
    "NaN affine": (280, NAN, "NaN"),
    "infinite affine": (292, INF, "infinity"),
    "singular affine": (280, struct.pack("<8f", 1, 0, 0, 0, 1, 0, 0, 0), "singular|spacing"),
    "NaN offset": (108, NAN, "vox_offset"),
    "negative offset": (108, struct.pack("<f", -352), "vox_offset"),
    "low offset": (108, struct.pack("<f", 100), "vox_offset"),
    "far offset": (108, struct.pack("<f", 1e30), "truncated"),
    "NaN intercept": (112, struct.pack("<f", 2) + NAN, "scl_inter"),
    "pair": (344, b"ni1\0", ".hdr/.img pair"),
    "analyze": (344, b"\0\0\0\0", "Analyze"),
    "header size": (0, struct.pack("<i", 349), "not a NIfTI"),
}


@pytest.mark.parametrize("name", NIFTI_EDITS)
@pytest.mark.parametrize("packed", [False, True])
def test_nifti_header(tmp_path, name, packed):
    at, content, match = NIFTI_EDITS[name]
    raw = nifti()
    raw[at : at + len(content)] = content
    if packed and name == "far offset":
        match = "cannot hold"
    path = put(
        tmp_path,
        "a.nii.gz" if packed else "a.nii",
        gzip.compress(bytes(raw)) if packed else bytes(raw),
    )
    refused(path, match)


def test_a_bad_quaternion_is_refused_only_if_used(tmp_path):
    raw = nifti()
    raw[252:256] = struct.pack("<2h", 1, 0)
    raw[256:268] = struct.pack("<3f", 5, 5, 5)
    refused(put(tmp_path, "a.nii", bytes(raw)), "damaged NIfTI header")
    raw[254:256] = struct.pack("<h", 1)
    assert "disagree" in open_volume(put(tmp_path, "a.nii", bytes(raw))).warnings[0]


NRRD_EDITS = {
    "no type": {"type": None},
    "block": {"type": "block"},
    "no encoding": {"encoding": None},
    "hex": {"encoding": "hex"},
    "text": {"encoding": "text"},
    "no sizes": {"sizes": None},
    "two sizes": {"sizes": "7 6"},
    "words": {"sizes": "a b c"},
    "huge integer": {"sizes": "7 6 " + "9" * 5000},
    "huge": {"sizes": "19999 19999 19999"},
    "zero": {"sizes": "7 6 0"},
    "negative": {"sizes": "7 -6 5"},
    "more": {"sizes": "7 6 6"},
    "no endian": {"type": "short"},
    "bad endian": {"type": "short", "endian": "middle"},
    "unknown space": {"space": SECRET},
    "time space": {"space": "left-posterior-superior-time"},
    "NaN direction": {"space_directions": "(nan,0,0) (0,1,0) (0,0,1)"},
    "singular": {"space_directions": "(1,0,0) (1,0,0) (0,0,1)"},
    "none of three": {"space_directions": "none (0,1,0) (0,0,1)"},
    "four directions": {"space_directions": "(1,0,0) (0,1,0) (0,0,1) (0,0,1)"},
    "2-vectors": {"space_directions": "(1,0) (0,1) (0,0)"},
    "words for directions": {"space_directions": f"{SECRET} b c"},
    "bad origin": {"space_origin": SECRET},
    "no geometry": {"space": None, "space_directions": None, "space_origin": None},
    "NaN spacings": {
        "space": None,
        "space_directions": None,
        "space_origin": None,
        "spacings": "nan nan nan",
    },
    "colour": {
        "dimension": "4",
        "sizes": "3 7 5 2",
        "space_directions": "none (1,0,0) (0,1,0) (0,0,1)",
    },
    "time": {
        "dimension": "4",
        "sizes": "7 5 2 3",
        "space_directions": "(1,0,0) (0,1,0) (0,0,1) none",
    },
    "outside": {"data_file": "../secret.raw"},
    "absolute": {"data_file": "/etc/passwd"},
    "list": {"data_file": "LIST"},
    "pattern": {"data_file": "a%03d.raw 1 5 1"},
    "missing data": {"data_file": "nothing.raw"},
    "line skip": {"line_skip": "2"},
    "byte skip": {"byte_skip": "9"},
    "far byte skip": {"byte_skip": "999999999999999999"},
    "negative byte skip": {"byte_skip": "-7"},
    "gzip byte skip": {"byte_skip": "-1", "encoding": "gzip"},
}


@pytest.mark.parametrize("name", NRRD_EDITS)
def test_nrrd_header(tmp_path, name):
    refused(put(tmp_path, "a.nrrd", nrrd(**NRRD_EDITS[name])))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"NRRD",
        b"NRRD0009\n",
        b"NRRD0004\n",
        b"NRRD0004\nno colon here\n\n",
        b"NRRD0004\ntype: uchar",
        nrrd()[:-210],
    ],
)
def test_nrrd_that_stops(tmp_path, content):
    refused(put(tmp_path, "a.nrrd", content))
    refused(put(tmp_path, "a.nhdr", content))


def test_a_field_twice(tmp_path):
    refused(
        put(tmp_path, "a.nrrd", nrrd().replace(b"\nsizes: 7 6 5", b"\nsizes: 7 6 5\nsizes: 5 6 7")),
        "twice",
    )


META_EDITS = {
    "not an image": {"ObjectType": "Tube"},
    "no dims": {"NDims": None},
    "wrong dims": {"NDims": "4"},
    "2D": {
        "NDims": "2",
        "DimSize": "7 6",
        "TransformMatrix": "1 0 0 1",
        "Offset": "0 0",
        "ElementSpacing": "1 1",
    },
    "no sizes": {"DimSize": None},
    "fractional": {"DimSize": "7 6 5.5"},
    "infinite": {"DimSize": "7 6 inf"},
    "absurd": {"DimSize": "7 6 1e300"},
    "huge": {"DimSize": "19999 19999 19999"},
    "zero": {"DimSize": "7 6 0"},
    "longer": {"DimSize": "7 6 6"},
    "channels": {"ElementNumberOfChannels": "3"},
    "array type": {"ElementType": "MET_UCHAR_ARRAY"},
    "no type": {"ElementType": None},
    "text": {"BinaryData": "False"},
    "maybe": {"BinaryData": SECRET},
    "no spacing": {"ElementSpacing": None},
    "two spacings": {"ElementSpacing": "1 1"},
    "zero spacing": {"ElementSpacing": "1 0 1"},
    "NaN spacing": {"ElementSpacing": "1 nan 1"},
    "singular": {"TransformMatrix": "1 0 0 1 0 0 0 0 1"},
    "short matrix": {"TransformMatrix": "1 0 0"},
    "words": {"Offset": SECRET},
    "list": {"ElementDataFile": "LIST"},
    "outside": {"ElementDataFile": "../a.raw"},
    "absolute": {"ElementDataFile": "/etc/passwd"},
    "pattern": {"ElementDataFile": "a%03d.raw 1 5 1"},
    "missing": {"ElementDataFile": "gone.raw"},
    "header size": {"HeaderSize": "-5"},
    "far": {"HeaderSize": "1e300", "ElementDataFile": "other.raw", "CompressedData": "True"},
    "compressed size": {"CompressedData": "True", "CompressedDataSize": "1e300"},
    "negative size": {"CompressedData": "True", "CompressedDataSize": "-1"},
    "not zlib": {"CompressedData": "True"},
}


@pytest.mark.parametrize("name", META_EDITS)
def test_metaimage_header(tmp_path, name):
    put(tmp_path, "other.raw", bytes(100))
    refused(put(tmp_path, "a.mha", mha(**META_EDITS[name])))
    refused(put(tmp_path, "a.mhd", mha(**META_EDITS[name])))


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "inside").mkdir()
    put(tmp_path, "a.raw", bytes(210))
    (tmp_path / "inside" / "a.raw").symlink_to(tmp_path / "a.raw")
    refused(put(tmp_path / "inside", "a.mhd", mha(b"", ElementDataFile="a.raw")), "same folder")
    assert open_volume(put(tmp_path, "a.mhd", mha(b"", ElementDataFile="a.raw"))).grid.shape == (
        7,
        6,
        5,
    )


@pytest.mark.parametrize(
    "name", ["a.hdr", "a.img", "a.dcm", "a.txt", "a", "a.nii", "a.nii.gz", "a.nrrd", "a.mha"]
)
def test_other_kinds_empty_files_and_folders(tmp_path, name):
    refused(put(tmp_path, name, b""))
    refused(tmp_path / "missing" / name)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    refused(tmp_path / name)


def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "a.nii")
    refused(tmp_path / "a.nii", "regular file")


@pytest.mark.parametrize(
    ("text", "match"), [("100", "exceed the limit of 100"), ("many", "SITUS_MAX_VOXELS")]
)
def test_the_cap_is_set_by_the_environment(tmp_path, monkeypatch, text, match):
    monkeypatch.setenv("SITUS_MAX_VOXELS", text)
    refused(put(tmp_path, "a.nii", bytes(nifti())), match)


def test_too_little_memory_is_said(tmp_path, monkeypatch):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr(np, "empty", full)
    refused(put(tmp_path, "a.nii", bytes(nifti())), "does not fit into memory")


# --- fuzz
# ---------------------------------------------------------------------------------------------------------

BASES = {
    "a.nii": bytes(nifti()),
    "b.nii": bytes(nifti(big=True)),
    "a.nii.gz": gzip.compress(bytes(nifti()), mtime=0),
    "a.nrrd": nrrd(bytes(range(7)) * 30),
    "a.mha": mha(bytes(range(7)) * 30),
    "b.mha": mha(zlib.compress(bytes(range(7)) * 30), CompressedData="True"),
    "a.seg.nrrd": (
        nrrd(bytes(range(7)) * 30, dimension="4", sizes="1 7 6 5").replace(
            b"directions: ", b"directions: none "
        )[:-211]
        + b"Segment0_Name:=a\nSegment0_LabelValue:=1\nSegment0_Layer:=0\n\n"
        + bytes(range(7)) * 30
    ),
}


@pytest.mark.parametrize("name", BASES)
def test_undamaged_they_open(tmp_path, name):
    path = put(tmp_path, name, BASES[name])
    assert open_volume(path).array().shape == SHAPE
    assert open_labels(path).load().structures


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("seed", range(60))
def test_random_damage_is_a_situs_error_or_still_a_volume(tmp_path, name, seed):
    """Bits flipped, bytes replaced, stretches cut or doubled:
    no other exception, no warning, no hang."""
    rng = np.random.default_rng([seed, sorted(BASES).index(name)])
    raw = bytearray(BASES[name])
    for _ in range(rng.integers(1, 9)):
        at = int(rng.integers(0, min(len(raw), 420)))
        action = rng.integers(4)
        if action == 0:
            raw[at] ^= 1 << int(rng.integers(8))
        elif action == 1:
            raw[at] = int(rng.choice([0, 255, 127, 128, 48, 57, 10, 45]))
        elif action == 2:
            del raw[at : at + int(rng.integers(1, 40))]
        else:
            raw[at:at] = raw[at : at + int(rng.integers(1, 40))]
    path = put(tmp_path, name, bytes(raw))
    for read in (lambda: open_volume(path).array(), lambda: open_labels(path).load()):
        message = ""
        try:
            read()
        except SitusError as error:
            message = str(error)
        assert "\n" not in message
        assert SECRET not in message


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("seed", range(30))
def test_random_bytes_are_refused(tmp_path, name, seed):
    """Noise, and noise behind the right first bytes."""
    rng = np.random.default_rng(seed)
    noise = rng.bytes(int(rng.integers(1, 3000)))
    refused(put(tmp_path, name, noise))
    keep = {"a.nii": 4, "b.nii": 4, "a.nii.gz": 10}.get(name, 9)
    refused(put(tmp_path, name, BASES[name][:keep] + noise))


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("part", np.linspace(0, 0.999, 12).round(3))
def test_every_format_cut_short(tmp_path, name, part):
    refused(put(tmp_path, name, BASES[name][: int(len(BASES[name]) * part)]))
