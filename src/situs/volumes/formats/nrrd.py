"""NRRD, attached or detached, and the segment list of 3D Slicer's `.seg.nrrd`.

The header is parsed here, not by pynrrd: that drops every character outside ASCII from segment
names and reads lines of any length.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from situs.errors import SitusError
from situs.space import Affine
from situs.volumes.formats.nrrd_axes import locate
from situs.volumes.formats.stored import (
    SegmentTag,
    Stored,
    clean_name,
    open_binary,
    sibling,
    size_of,
)
from situs.volumes.limits import MAX_HEADER_BYTES, check_shape

__all__ = ["read_nrrd"]

_TYPES = {
    "i1": "signed char,int8,int8_t",
    "u1": "uchar,unsigned char,uint8,uint8_t",
    "i2": "short,short int,signed short,signed short int,int16,int16_t",
    "u2": "ushort,unsigned short,unsigned short int,uint16,uint16_t",
    "i4": "int,signed int,int32,int32_t",
    "u4": "uint,unsigned int,uint32,uint32_t",
    "i8": "longlong,long long,long long int,signed long long,signed long long int,int64,int64_t",
    "u8": "ulonglong,unsigned long long,unsigned long long int,uint64,uint64_t",
    "f4": "float",
    "f8": "double",
}
_CODE_OF = {name: code for code, names in _TYPES.items() for name in names.split(",")}
_ENCODINGS = {"raw": "raw", "gzip": "gzip", "gz": "gzip", "bzip2": "bzip2", "bz2": "bzip2"}
_SEGMENT = re.compile(r"Segment(\d{1,6})_(Name|LabelValue|Layer|ID)")


def read_nrrd(path: Path) -> Stored:
    """The header of an NRRD file, checked against the size of its data file."""
    fields, pairs, header_bytes = _lines(path)
    encoding = _ENCODINGS.get(fields.get("encoding", "").lower())
    if encoding is None:
        raise SitusError(
            "its encoding is not raw, gzip or bzip2",
            where=path,
            fix="save it with gzip or raw encoding",
        )
    dtype = _dtype(fields, path)
    sizes = _ints(fields.get("sizes", ""), "sizes", path)
    if _ints(fields.get("dimension", ""), "dimension", path) != [len(sizes)]:
        raise SitusError("dimension and sizes do not agree", where=path, fix="repair the header")
    segments = _segments(pairs, path)
    axes = locate(fields, sizes, where=path)
    layered = bool(segments) and axes.list_axis == 0
    if axes.list_axis is not None and not layered:
        raise SitusError(
            "has an axis that is not spatial (colour, time or list)",
            where=path,
            fix="extract one 3D volume first",
        )
    shape = tuple(n for axis, n in enumerate(sizes) if axis in axes.kept)
    check_shape(shape, dtype.itemsize, where=path, dims=4 if layered else 3)
    data_path, start = path, header_bytes
    data_file = fields.get("data file", fields.get("datafile"))
    if data_file is not None:
        data_path, start = sibling(path, data_file), 0
    elif header_bytes == 0 or path.suffix.lower() == ".nhdr":
        raise SitusError(
            "names no data file and holds no data",
            where=path,
            fix="give the .nrrd or complete the header",
        )
    if any(fields.get(key, "0") != "0" for key in ("line skip", "lineskip")):
        raise SitusError(
            "line skip is not supported", where=path, fix="save it without skipped lines"
        )
    skip = _skip(fields, encoding, path)
    if encoding == "raw":
        nbytes = math.prod(shape) * dtype.itemsize
        start = max(start, size_of(data_path) - nbytes) if skip < 0 else start + skip
        skip = 0
    return Stored(
        path=path,
        data_path=data_path,
        encoding=encoding,
        start=start,
        skip=skip,
        limit=None,
        dtype=dtype,
        shape=shape,
        affine=Affine(axes.matrix, where=path),
        orientation_basis=axes.basis,
        warnings=axes.warnings,
        segments=segments,
    ).check_size()


def _lines(path: Path) -> tuple[dict[str, str], dict[str, str], int]:
    """Fields (names in lower case), key/value pairs, and where the data starts (0: header only)."""
    fields: dict[str, str] = {}
    pairs: dict[str, str] = {}
    with open_binary(path) as stream:
        if not re.fullmatch(rb"NRRD000[1-6]\r?\n", stream.readline(12)):
            raise SitusError("is not an NRRD file", where=path, fix="check or export it again")
        while line := stream.readline(MAX_HEADER_BYTES):
            if stream.tell() > MAX_HEADER_BYTES:
                raise SitusError(
                    "its header has no end",
                    where=path,
                    fix="the file is damaged; export it again",
                )
            text = line.decode("utf-8", "replace").rstrip()
            if not text:
                return fields, pairs, stream.tell()
            if text.startswith("#"):
                continue
            name, colon, value = text.partition(":")
            if not colon:
                raise SitusError(
                    "has a header line without a colon", where=path, fix="the header is damaged"
                )
            into, key, value = (
                (pairs, name.strip(), value[1:])
                if value.startswith("=")
                else (fields, name.strip().lower(), value)
            )
            if into.setdefault(key, value.strip()) != value.strip():
                raise SitusError("a header field occurs twice", where=path, fix="repair the header")
    return fields, pairs, 0


def _ints(text: str, field: str, path: Path) -> list[int]:
    words = text.split()
    if not words or not all(re.fullmatch(r"[+-]?\d{1,18}", word, re.ASCII) for word in words):
        raise SitusError(
            f"{field} is missing or not whole numbers", where=path, fix="repair the header"
        )
    return [int(word) for word in words]


def _dtype(fields: dict[str, str], path: Path) -> np.dtype[Any]:
    code = _CODE_OF.get(" ".join(fields.get("type", "").lower().split()))
    if code is None:
        raise SitusError(
            "its voxel type is not a real number",
            where=path,
            fix="save it as an integer or float type",
        )
    order = {"little": "<", "big": ">"}.get(fields.get("endian", "").lower())
    if order is None and code[1] != "1":
        raise SitusError("endian is neither little nor big", where=path, fix="repair the header")
    return np.dtype((order or "<") + code)


def _skip(fields: dict[str, str], encoding: str, path: Path) -> int:
    """Bytes before the voxels (decoded ones, if compressed);
    -1: raw voxels are the end of the file."""
    (skip,) = _ints(fields.get("byte skip", fields.get("byteskip", "0")), "byte skip", path)[:1]
    if skip < -1 or (skip == -1 and encoding != "raw"):
        raise SitusError("byte skip is invalid", where=path, fix="repair the header")
    return skip


def _segments(pairs: dict[str, str], path: Path) -> tuple[SegmentTag, ...]:
    """Slicer's segments, in file order.
    https://slicer.readthedocs.io (Segmentations, file format)"""
    entries: dict[int, dict[str, str]] = {}
    for key, value in pairs.items():
        if match := _SEGMENT.fullmatch(key):
            entries.setdefault(int(match[1]), {})[match[2]] = value
    tags = []
    for number, entry in sorted(entries.items()):
        name = clean_name(entry.get("Name") or entry.get("ID") or "")
        layer, label = (
            _ints(entry[key], f"a segment's {key}", path)[0] if key in entry else None
            for key in ("Layer", "LabelValue")
        )
        tags.append(SegmentTag(number, name or f"segment_{number}", layer, label))
    return tuple(tags)
