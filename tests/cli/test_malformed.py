"""Damaged volumes and masks at the command line:
exit code 2, one line, no traceback, nothing left behind."""

from __future__ import annotations

import gzip
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import pytest

pytestmark = pytest.mark.sampled

SHAPE = (7, 6, 5)


def nifti(
    voxels: np.ndarray | None = None, affine: np.ndarray | None = None, **fields: object
) -> bytes:
    """A NIfTI file; `fields` overwrite its header."""
    if voxels is None:
        voxels = (np.arange(np.prod(SHAPE)) % 4).astype(np.uint8).reshape(SHAPE)
    image = nibabel.Nifti1Image(voxels, np.eye(4) if affine is None else affine)
    raw = bytearray(image.to_bytes())
    for name, value in fields.items():
        dtype, offset = nibabel.nifti1.header_dtype.fields[name][:2]
        cell = np.array(value, dtype=dtype.base).tobytes()
        raw[offset : offset + len(cell)] = cell
    return bytes(raw)


def nrrd(body: bytes = bytes([1] * 210), **changes: str) -> bytes:
    fields = {
        "type": "uchar",
        "dimension": "3",
        "space": "left-posterior-superior",
        "sizes": "7 6 5",
        "space directions": "(1,0,0) (0,1,0) (0,0,1)",
        "space origin": "(0,0,0)",
        "encoding": "raw",
    } | {name.replace("_", " "): value for name, value in changes.items()}
    return (
        "\n".join(["NRRD0004", *(f"{n}: {v}" for n, v in fields.items()), "", ""]).encode() + body
    )


def mha(body: bytes = bytes([1] * 210), **changes: str) -> bytes:
    fields = {
        "ObjectType": "Image",
        "NDims": "3",
        "BinaryData": "True",
        "TransformMatrix": "1 0 0 0 1 0 0 0 1",
        "Offset": "0 0 0",
        "ElementSpacing": "1 1 1",
        "DimSize": "7 6 5",
        "ElementType": "MET_UCHAR",
    } | changes
    last = fields.pop("ElementDataFile", "LOCAL")
    return (
        "\n".join(
            [*(f"{k} = {v}" for k, v in fields.items()), f"ElementDataFile = {last}", ""]
        ).encode()
        + body
    )


def damaged_affine(row: int, column: int, value: float) -> np.ndarray:
    affine = np.eye(4)
    affine[row, column] = value
    return affine


def cases() -> dict[str, tuple[str, bytes]]:
    """Name → (file name, content). None of them can be measured."""
    rng = np.random.default_rng(5)
    packed = gzip.compress(nifti(), mtime=0)
    noise = np.random.default_rng(1).integers(0, 3, (12, 12, 12)).astype(np.uint8)
    bulky = gzip.compress(nifti(noise), mtime=0)
    found: dict[str, tuple[str, bytes]] = {}
    for cut in sorted(
        {0, 1, 2, 9, 10, 11, 20, *rng.integers(0, len(packed) - 1, 12).tolist(), len(packed) - 1}
    ):
        found[f"gzip cut at {cut}"] = ("x.nii.gz", packed[:cut])
    for missing in (1, 4, 8, 9, *rng.integers(10, len(bulky) - 20, 12).tolist()):
        found[f"larger gzip without its last {missing} bytes"] = ("x.nii.gz", bulky[:-missing])
    for cut in (1, 100, 347, 348, 351, 352, 353, 561):
        found[f"nii cut at {cut}"] = ("x.nii", nifti()[:cut])
    for cut in (1, 4, 8, 40, len(nrrd()) - 1, len(nrrd()) - 209):
        found[f"nrrd cut at {cut}"] = ("x.nrrd", nrrd()[:cut])
    for cut in (1, 4, 60, len(mha()) - 1, len(mha()) - 209):
        found[f"mha cut at {cut}"] = ("x.mha", mha()[:cut])
    for suffix in (
        ".nii",
        ".nii.gz",
        ".nrrd",
        ".seg.nrrd",
        ".nhdr",
        ".mha",
        ".mhd",
        "",
        ".dcm",
        ".txt",
    ):
        found[f"empty {suffix}"] = (f"x{suffix}", b"")
        found[f"random bytes {suffix}"] = (f"x{suffix}", rng.bytes(700))
        found[f"text {suffix}"] = (f"x{suffix}", b"Patient: DOE^JANE\n" * 40)
    for seed in range(10):
        broken = bytearray(packed)
        for place in np.random.default_rng(seed).integers(10, len(packed) - 8, 6):
            broken[place] ^= 0x5A
        found[f"gzip with flipped bits {seed}"] = ("x.nii.gz", bytes(broken))
    found |= {
        "gzip of rubbish": ("x.nii.gz", gzip.compress(rng.bytes(900))),
        "gzip in gzip": ("x.nii.gz", gzip.compress(packed)),
        "gzip bomb": (
            "x.nii.gz",
            gzip.compress(nifti(dim=[3, 2000, 2000, 500, 1, 1, 1, 1])[:352] + bytes(10_000)),
        ),
        "wrong checksum": ("x.nii.gz", packed[:-8] + bytes(4) + packed[-4:]),
        "wrong length": ("x.nii.gz", packed[:-4] + bytes(4)),
        "no magic": ("x.nii", nifti(magic=b"abc")),
        "half of a pair": ("x.nii", nifti(magic=b"ni1")),
        "header size": ("x.nii", nifti(sizeof_hdr=12)),
        "no dimensions": ("x.nii", nifti(dim=[0, 7, 6, 5, 1, 1, 1, 1])),
        "nine dimensions": ("x.nii", nifti(dim=[9, 7, 6, 5, 1, 1, 1, 1])),
        "zero dimension": ("x.nii", nifti(dim=[3, 0, 6, 5, 1, 1, 1, 1])),
        "negative dimension": ("x.nii", nifti(dim=[3, -7, 6, 5, 1, 1, 1, 1])),
        "absurd dimensions": ("x.nii", nifti(dim=[3, 32767, 32767, 32767, 1, 1, 1, 1])),
        "one absurd dimension": ("x.nii", nifti(dim=[3, 7, 6, 30000, 1, 1, 1, 1])),
        "2D": ("x.nii", nifti(np.ones((7, 6), np.uint8))),
        "4D": ("x.nii", nifti(np.ones((7, 6, 5, 2), np.uint8))),
        "5D": ("x.nii.gz", gzip.compress(nifti(np.ones((3, 3, 3, 1, 3), np.uint8)))),
        "unknown type": ("x.nii", nifti(datatype=9999)),
        "colour": ("x.nii", nifti(datatype=128)),
        "complex": ("x.nii", nifti(datatype=32)),
        "offset": ("x.nii", nifti(vox_offset=1e9)),
        "negative offset": ("x.nii", nifti(vox_offset=-352)),
        "offset NaN": ("x.nii", nifti(vox_offset=np.nan)),
        "intercept NaN": ("x.nii", nifti(scl_slope=2.0, scl_inter=np.nan)),
        "fractional labels": ("x.nii", nifti(np.full(SHAPE, 0.5, np.float32))),
        "scaled to fractions": ("x.nii", nifti(scl_slope=0.3, scl_inter=0.0)),
        "NaN labels": ("x.nii", nifti(np.full(SHAPE, np.nan, np.float32))),
        "infinite labels": ("x.nii", nifti(np.full(SHAPE, np.inf, np.float32))),
        "negative labels": ("x.nii", nifti(np.full(SHAPE, -3, np.int16))),
        "huge labels": ("x.nii", nifti(np.full(SHAPE, 2**31, np.uint32))),
        "no label at all": ("x.nii", nifti(np.zeros(SHAPE, np.uint8))),
    }
    for value in (np.nan, np.inf, 0.0):
        found[f"affine with {value}"] = ("x.nii", nifti(srow_y=[0, value, 0, 0], sform_code=1))
    found["origin NaN"] = ("x.nii", nifti(srow_x=[1, 0, 0, np.nan], sform_code=1))
    for name, changes in {
        "sizes": {"sizes": "7 6"},
        "more sizes than voxels": {"sizes": "70 6 5"},
        "absurd sizes": {"sizes": "99999999 99999999 5"},
        "negative sizes": {"sizes": "-7 6 5"},
        "sizes in words": {"sizes": "seven six five"},
        "4D": {"dimension": "4", "sizes": "7 6 5 1"},
        "type": {"type": "block"},
        "encoding": {"encoding": "lzma"},
        "text encoding": {"encoding": "ascii"},
        "directions NaN": {"space_directions": "(nan,0,0) (0,1,0) (0,0,1)"},
        "singular": {"space_directions": "(1,0,0) (1,0,0) (0,0,1)"},
        "directions none": {"space_directions": "none none none"},
        "origin": {"space_origin": "(0,0)"},
        "outside file": {"data_file": "../../etc/passwd"},
    }.items():
        found[f"nrrd {name}"] = ("x.nrrd", nrrd(**changes))
    found["nrrd with a huge header"] = ("x.nrrd", nrrd(b"", content="x" * (5 << 20)))
    found["nrrd of many fields"] = ("x.nrrd", b"NRRD0004\n" + b"a:=b\n" * 20_000)
    for name, changes in {
        "sizes": {"DimSize": "7 6"},
        "absurd sizes": {"DimSize": "99999999 99999999 5"},
        "NDims": {"NDims": "4"},
        "NDims in words": {"NDims": "three"},
        "type": {"ElementType": "MET_STRING"},
        "singular": {"TransformMatrix": "1 0 0 1 0 0 0 0 1"},
        "NaN": {"TransformMatrix": "nan 0 0 0 1 0 0 0 1"},
        "spacing": {"ElementSpacing": "0 1 1"},
        "list of files": {"ElementDataFile": "LIST"},
        "outside file": {"ElementDataFile": "/etc/passwd"},
        "not binary": {"BinaryData": "False"},
    }.items():
        found[f"mha {name}"] = ("x.mha", mha(**changes))
    return found


CASES = cases()


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 130


@pytest.mark.parametrize("name", CASES)
def test_a_damaged_label_file_is_refused(refused, work, name) -> None:
    file, content = CASES[name]
    (work / file).write_bytes(content)
    refused("measure", file)
    refused("measure", file, "--json", "--pairs", "all")
    refused("build", "masks", file, "--out", "new/bench")


@pytest.mark.parametrize(
    "name", [name for name in CASES if "label" not in name and "fractions" not in name]
)
def test_a_damaged_image_is_not_shown(refused, work, name) -> None:
    file, content = CASES[name]
    (work / file).write_bytes(content)
    refused("show", file, "--out", "new/pictures")


@pytest.mark.parametrize(
    "name", ["gzip cut at 20", "4D", "random bytes .nii", "fractional labels", "affine with 0.0"]
)
def test_a_damaged_mask_in_a_study_is_refused_by_any_number_of_workers(refused, work, name) -> None:
    file, content = CASES[name]
    for study in ("a", "b"):
        folder = work / "data" / study / "segmentations"
        folder.mkdir(parents=True)
        (folder / "liver.nii").write_bytes(nifti(np.ones(SHAPE, np.uint8)))
    (work / "data" / "b" / "segmentations" / f"spleen{file[1:]}").write_bytes(content)
    refused("build", "masks", "data", "--out", "bench")
    refused("build", "masks", "data/b", "data/a", "--out", "bench", "--overwrite")
    if name == "4D":
        refused("build", "masks", "data", "--out", "bench", "--jobs", 2)


def study(folder: Path, image: bytes | None = None, **masks: bytes) -> None:
    (folder / "segmentations").mkdir(parents=True)
    if image is not None:
        (folder / "ct.nii.gz").write_bytes(gzip.compress(image))
    for name, content in masks.items():
        (folder / "segmentations" / f"{name}.nii").write_bytes(content)


ONE, SHIFTED = (
    nifti(np.ones(SHAPE, np.uint8)),
    nifti(np.ones(SHAPE, np.uint8), damaged_affine(0, 3, 5.0)),
)
LARGER = nifti(np.ones((8, 6, 5), np.uint8))
STUDIES: dict[str, Callable[[Path], None]] = {
    "empty folder": lambda folder: folder.mkdir(),
    "folder of text": lambda folder: (folder.mkdir(), (folder / "notes.txt").write_text("x"))[0],
    "no masks": lambda folder: study(folder),
    "only empty masks": lambda folder: study(folder, liver=nifti(np.zeros(SHAPE, np.uint8))),
    "a mask of two values": lambda folder: study(folder, liver=nifti()),
    "image shifted": lambda folder: study(folder, SHIFTED, liver=ONE),
    "image larger": lambda folder: study(folder, LARGER, liver=ONE),
    "image 4D": lambda folder: study(folder, nifti(np.ones((7, 6, 5, 2), np.uint8)), liver=ONE),
    "masks shifted": lambda folder: study(folder, liver=ONE, spleen=SHIFTED),
    "masks of two sizes": lambda folder: study(folder, liver=ONE, spleen=LARGER),
    "a mask twice": lambda folder: (
        study(folder, liver=ONE),
        (folder / "segmentations/liver.mha").write_bytes(mha()),
    )[0],
    "a folder as mask": lambda folder: (folder / "segmentations" / "liver.nii.gz").mkdir(
        parents=True
    ),
    "a folder as label file": lambda folder: (folder / "x.nii.gz").mkdir(parents=True),
    "a file as segmentations": lambda folder: (
        folder.mkdir(),
        (folder / "segmentations").write_bytes(ONE),
    )[0],
}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_that_does_not_fit_together_is_refused(refused, work, name) -> None:
    STUDIES[name](work / "patient")
    refused("build", "masks", "patient", "--out", "bench")
    if "image" not in name:
        refused("measure", "patient")


PLACES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "a pipe": lambda path: os.mkfifo(path),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a dead link": lambda path: path.symlink_to("nowhere"),
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize(
    "command", [("measure",), ("build", "masks"), ("show",), ("check",), ("run",), ("report",)]
)
def test_what_is_not_a_file_or_folder_is_refused(refused, work, name, command) -> None:
    PLACES[name](work / "x.nii.gz")
    more = {"run": ("--model", "oracle", "--out", "o"), "measure": (), "check": ()}.get(
        command[-1], ("--out", "o")
    )
    refused(*command, "x.nii.gz", *more)


@pytest.mark.parametrize("command", ["measure", "check", "show", "score", "run", "report"])
def test_a_name_too_long_is_refused(refused, work, command) -> None:
    more = {"run": ("--model", "oracle", "--out", "o"), "score": ("b",), "measure": (), "check": ()}
    refused(command, "x" * 300, *more.get(command, ("--out", "o")))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("command", ["measure", "show"])
def test_an_unreadable_file_is_refused(refused, work, command) -> None:
    (work / "x.nii").write_bytes(ONE)
    (work / "x.nii").chmod(0)
    refused(command, "x.nii", *(("--out", "o") if command == "show" else ()))


def test_a_mask_whose_name_is_not_unicode_is_refused(refused, work) -> None:
    study(work / "patient", liver=ONE)
    shutil.copy(
        work / "patient/segmentations/liver.nii",
        os.fsdecode(os.fsencode(work) + b"/patient/segmentations/\xff.nii"),
    )
    refused("measure", "patient", "--json")


REAL = [
    ["measure", "x.nii.gz"],
    ["measure", "missing.nii.gz"],
    ["measure", "x.nii.gz", "--names", "nosuch"],
    ["build", "masks", "x.nii.gz", "--out", "bench"],
    ["build", "mask", "x.nii.gz", "--out", "bench"],
    ["check", "."],
    ["show", "x.nii.gz", "--out", "p"],
    ["run", ".", "--model", "oracle", "--out", "r"],
    ["score", ".", "r"],
    ["report", ".", "--out", "r.html"],
    ["measur", "x"],
    ["measure", "--nosuch"],
]


@pytest.mark.parametrize("args", REAL, ids=" ".join)
def test_a_real_process_refuses_in_the_same_way(work, args) -> None:
    (work / "x.nii.gz").write_bytes(gzip.compress(nifti())[:80])
    before = sorted(path.name for path in work.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-m", "situs", *args], capture_output=True, cwd=work, timeout=300
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert len(done.stderr.decode().splitlines()) == 1
    assert done.stderr.startswith(b"situs: ")
    assert sorted(path.name for path in work.rglob("*")) == before


def test_the_builders_make_good_files(situs, work) -> None:
    """Otherwise every case above would fail for the same dull reason."""
    (work / "a.nii").write_bytes(nifti())
    (work / "b.nii.gz").write_bytes(gzip.compress(nifti()))
    (work / "c.nrrd").write_bytes(nrrd())
    (work / "d.mha").write_bytes(mha())
    assert [situs("measure", name).code for name in ("a.nii", "b.nii.gz", "c.nrrd", "d.mha")] == [
        0,
        0,
        0,
        0,
    ]
    assert struct.unpack("<i", nifti()[:4]) == (348,)
