"""Small files that unpack to large ones: refused in one line, without the memory."""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
import struct
import zlib
from pathlib import Path

import h5py
import nibabel
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pydicom

from attack.commands import lay_out
from attack.program import call, complaints, tree

__all__ = ["case"]

_BLANKS = 1 << 30


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """One bomb, given to a command that opens its kind."""
    folder = work / "in"
    folder.mkdir()
    make = rng.choice(
        [_nifti, _header, _png, _hdf5, _dicom, _parquet, _jsonl, _library, _deep_text]
    )
    words = make(rng, corpus, folder)
    before = tree(work)
    ran = call(*words)
    return [f"{make.__name__[1:]} {text}" for text in complaints(ran, work, before)]


def _out(folder: Path) -> tuple[str, Path]:
    return "--out", folder.parent / "out"


def _packed_blanks(head: bytes, size: int) -> bytes:
    """`head` and then zeros, packed, without ever holding all of them."""
    target = io.BytesIO()
    with gzip.GzipFile(fileobj=target, mode="wb", compresslevel=1) as stream:
        stream.write(head)
        piece = bytes(1 << 22)
        for _ in range(size >> 22):
            stream.write(piece)
    return target.getvalue()


def _nifti(rng: random.Random, corpus: Path, folder: Path) -> list[object]:
    """A header that tells of few voxels, and a gigabyte behind it."""
    raw = gzip.decompress((corpus / "labels.nii.gz").read_bytes())
    file = folder / "labels.nii.gz"
    file.write_bytes(_packed_blanks(raw, _BLANKS >> rng.choice([0, 2])))
    return rng.choice([["measure", file], ["show", file, *_out(folder)]])


def _header(rng: random.Random, corpus: Path, folder: Path) -> list[object]:
    """A header that tells of far more voxels than there are, or than anybody has room for."""
    shape = rng.choice([(32767,) * 3, (2000, 2000, 2000), (32767, 32767, 1), (1, 1, 32767)])
    header = nibabel.Nifti1Header()
    header.set_data_dtype(rng.choice([np.uint8, np.float64, np.int16]))
    header["dim"][:4] = 3, *shape
    header["pixdim"][1:4] = 1.0
    header["vox_offset"], header["magic"] = 352, b"n+1"
    header.set_sform(np.eye(4), 1)
    file = folder / rng.choice(["labels.nii", "labels.nii.gz"])
    raw = header.binaryblock + bytes(4 + 4096)
    file.write_bytes(gzip.compress(raw) if file.suffix == ".gz" else raw)
    return rng.choice([["measure", file, "--json"], ["show", file, *_out(folder)]])


def _png(rng: random.Random, corpus: Path, folder: Path) -> list[object]:
    """Frames of a stack that are a few kilobytes of file and hundreds of megabytes of picture."""
    side = rng.choice([20_000, 60_000])

    def chunk(kind: bytes, body: bytes) -> bytes:
        summed = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + summed

    packer = zlib.compressobj(1)
    rows = b"".join(packer.compress(bytes(side + 1)) for _ in range(side // 10)) + packer.flush()
    size = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    picture = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )
    lay_out("stacks/file1000001/000.png", corpus, folder)
    for file in (folder / "stacks" / "file1000001").iterdir():
        file.write_bytes(picture)
    return ["build", "boxes", corpus / "boxes.csv", "--images", folder / "stacks", *_out(folder)]


def _hdf5(rng: random.Random, corpus: Path, folder: Path) -> list[object]:
    lay_out("stacks/file1000000.h5", corpus, folder)
    file = folder / "stacks" / "file1000000.h5"
    file.unlink()
    shape = rng.choice([(8, 20_000, 20_000), (100_000, 640, 640), (8, 64, 96, 5000)])
    with h5py.File(file, "w") as stream:
        # Nothing of it is stored: what is not written reads as zeros.
        stream.create_dataset(
            "reconstruction_rss",
            shape,
            "f4",
            chunks=(1, *shape[1:3], *shape[3:]),
            compression="gzip",
        )
        stream.attrs["acquisition"], stream.attrs["patient_id"] = "CORPD_FBK", "p0"
    return ["build", "boxes", corpus / "boxes.csv", "--images", folder / "stacks", *_out(folder)]


def _dicom(rng: random.Random, corpus: Path, folder: Path) -> list[object]:
    shutil.copytree(corpus / "dicom", folder / "dicom")
    for file in sorted((folder / "dicom" / "series").iterdir()):
        dataset = pydicom.dcmread(file)
        dataset.Rows, dataset.Columns = rng.choice([(65535, 65535), (65535, 1), (30_000, 30_000)])
        if rng.random() < 0.5:
            dataset.NumberOfFrames = rng.choice([1, 10_000])
        dataset.save_as(file)
    return ["show", folder / "dicom" / "series", *_out(folder)]


def _parquet(rng: random.Random, corpus: Path, folder: Path) -> list[object]:
    """A bench of which one column is the same long text in very many rows: kilobytes of file."""
    lay_out("benches/items/bench.json", corpus, folder)
    bench = folder / "benches" / "items"
    path = bench / f"{rng.choice(['items', 'studies'])}.parquet"
    table = pq.read_table(path).slice(0, 1)
    texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
    place = table.schema.get_field_index(rng.choice(texts))
    long = pa.array(["x" * rng.choice([1_000, 1_000_000])])
    table = table.set_column(place, table.schema.field(place), long)
    many = pa.concat_tables([table] * rng.choice([1_000, 5_000]))
    pq.write_table(many, path, compression="zstd", use_dictionary=True)
    return rng.choice([["check", bench], ["run", bench, "--model", "random", *_out(folder)]])


def _jsonl(rng: random.Random, corpus: Path, folder: Path) -> list[object]:
    row = json.loads((corpus / "items.jsonl").read_text().splitlines()[0])
    row[rng.choice(["question", "answer", "study"])] = "x" * (64 << 20)
    file = folder / "items.jsonl"
    file.write_text(json.dumps(row) + "\n")
    return ["import", "items", file, *_out(folder)]


def _library(rng: random.Random, corpus: Path, folder: Path) -> list[object]:
    """Publications in a packed file that unpacks to a gigabyte, or that stand for each other."""
    file = folder / "packed.xml.gz"
    if rng.random() < 0.5:
        file.write_bytes(_packed_blanks(b"<PubmedArticleSet>", _BLANKS))
    else:
        names = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
        text = f'<!DOCTYPE x [<!ENTITY a0 "ha">{names}]><PubmedArticleSet>&a11;</PubmedArticleSet>'
        file.write_bytes(gzip.compress(text.encode()))
    return ["library", "build", file, *_out(folder)]


def _deep_text(rng: random.Random, corpus: Path, folder: Path) -> list[object]:
    """Nesting that a reader follows until the stack is full."""
    depth = rng.choice([1_000, 100_000, 2_000_000])
    if rng.random() < 0.5:
        file = folder / "qa.json"
        file.write_text(rng.choice(["[", '{"a":']) * depth)
        return ["import", "ct-spatialvqa", file, *_out(folder)]
    file = folder / "room.toml"
    file.write_text(
        rng.choice(["a = " + "[" * depth, "a." * depth + "b = 1", "[a" + ".b" * depth + "]"])
    )
    room = ("--model", "peeker", "--room", file, "--limit", "1")
    return ["run", corpus / "benches" / "scans", *room, *_out(folder)]
