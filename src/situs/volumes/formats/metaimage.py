"""MetaImage: `.mha`, and `.mhd` with its data file. Its world is LPS, as in ITK."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from situs.errors import SitusError
from situs.space import Affine
from situs.volumes.formats.stored import Stored, open_binary, sibling, size_of
from situs.volumes.limits import MAX_HEADER_BYTES, check_shape, drop_trailing_ones

__all__ = ["read_metaimage"]

_TYPES = {
    "MET_CHAR": "i1",
    "MET_UCHAR": "u1",
    "MET_SHORT": "i2",
    "MET_USHORT": "u2",
    "MET_INT": "i4",
    "MET_UINT": "u4",
    "MET_LONG": "i4",
    "MET_ULONG": "u4",
    "MET_LONG_LONG": "i8",
    "MET_ULONG_LONG": "u8",
    "MET_FLOAT": "f4",
    "MET_DOUBLE": "f8",
}
"""MetaIO stores MET_LONG in four bytes on every platform."""

_MATRIX = ("TransformMatrix", "Rotation", "Orientation")
_ORIGIN = ("Offset", "Position", "Origin")
_MSB = ("BinaryDataByteOrderMSB", "ElementByteOrderMSB")


def read_metaimage(path: Path) -> Stored:
    """The header of a MetaImage, checked against the size of its data file."""
    fields, header_bytes = _fields(path)
    if fields.get("ObjectType", "Image").lower() != "image":
        raise SitusError("is a MetaIO object but not an image", where=path, fix="give an image")
    if fields.get("ElementNumberOfChannels", "1") != "1":
        raise SitusError(
            "has several channels per voxel", where=path, fix="extract one channel first"
        )
    if not _flag(fields, ("BinaryData",), True, path):
        raise SitusError("stores voxels as text", where=path, fix="save it as binary")
    dtype = _dtype(fields, path)
    sizes = _numbers(fields, ("DimSize",), path)
    if (
        sizes is None
        or not all(n == int(n) for n in sizes)
        or _numbers(fields, ("NDims",), path) != [len(sizes)]
    ):
        raise SitusError("NDims and DimSize do not agree", where=path, fix="repair the header")
    shape = drop_trailing_ones([int(n) for n in sizes])
    check_shape(shape, dtype.itemsize, where=path)
    affine, basis, warnings = _affine(fields, len(sizes), path)
    compressed = _flag(fields, ("CompressedData",), False, path)
    data_path, start = path, header_bytes
    if fields["ElementDataFile"].upper() != "LOCAL":
        data_path, start = sibling(path, fields["ElementDataFile"]), 0
    start = _data_start(
        fields, data_path, start, math.prod(shape) * dtype.itemsize, compressed, path
    )
    return Stored(
        path=path,
        data_path=data_path,
        encoding="zlib" if compressed else "raw",
        start=start,
        skip=0,
        limit=_compressed_size(fields, path) if compressed else None,
        dtype=dtype,
        shape=shape,
        affine=affine,
        orientation_basis=basis,
        warnings=warnings,
    ).check_size()


def _fields(path: Path) -> tuple[dict[str, str], int]:
    """All header fields and the byte after the last of them, `ElementDataFile`."""
    fields: dict[str, str] = {}
    with open_binary(path) as stream:
        while line := stream.readline(MAX_HEADER_BYTES):
            name, equals, value = line.decode("utf-8", "replace").partition("=")
            if not equals and name.strip():
                break
            fields[name.strip()] = value.strip()
            if name.strip() == "ElementDataFile":
                if fields.keys() & {"NDims", "DimSize"}:
                    return fields, stream.tell()
                break
            if stream.tell() > MAX_HEADER_BYTES:
                break
    raise SitusError(
        "is not a MetaImage (or its header is damaged)", where=path, fix="check or export it again"
    )


def _numbers(fields: dict[str, str], names: tuple[str, ...], path: Path) -> list[float] | None:
    """The first of the named fields that is there, as finite numbers."""
    text = next((fields[name] for name in names if name in fields), None)
    if text is None:
        return None
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if not values or not all(map(math.isfinite, values)):
        raise SitusError(
            f"{names[0]} is not a list of numbers", where=path, fix="repair the header"
        )
    return values


def _flag(fields: dict[str, str], names: tuple[str, ...], default: bool, path: Path) -> bool:
    text = next((fields[name] for name in names if name in fields), str(default)).lower()
    if text not in ("true", "false", "1", "0"):
        raise SitusError(
            f"{names[0]} is neither True nor False", where=path, fix="repair the header"
        )
    return text in ("true", "1")


def _dtype(fields: dict[str, str], path: Path) -> np.dtype[Any]:
    code = _TYPES.get(fields.get("ElementType", ""))
    if code is None:
        raise SitusError(
            "its ElementType is not a real number",
            where=path,
            fix="save it as an integer or float type",
        )
    return np.dtype((">" if _flag(fields, _MSB, False, path) else "<") + code)


def _affine(fields: dict[str, str], dims: int, path: Path) -> tuple[Affine, str, tuple[str, ...]]:
    """Row i of TransformMatrix is the LPS direction of axis i; a 4D header holds 4×4 numbers."""
    spacing = _numbers(fields, ("ElementSpacing", "ElementSize"), path)
    rows = _numbers(fields, _MATRIX, path)
    origin = _numbers(fields, _ORIGIN, path)
    if spacing is None:
        raise SitusError(
            "has no ElementSpacing", where=path, fix="add the voxel spacing to the header"
        )
    if (
        len(spacing) != dims
        or (rows and len(rows) != dims * dims)
        or (origin and len(origin) != dims)
    ):
        raise SitusError(
            "spacing, orientation or offset do not agree with NDims",
            where=path,
            fix="repair the header",
        )
    directions = np.array(rows).reshape(dims, dims)[:3, :3] if rows else np.eye(3)
    matrix = np.eye(4)
    matrix[:3, :3] = directions.T * np.array(spacing[:3])
    matrix[:3, 3] = origin[:3] if origin else 0.0
    matrix[:2] *= -1.0
    if rows:
        return (
            Affine(matrix, where=path),
            "affine",
            () if origin else ("no Offset in the header: 0 is used",),
        )
    return (
        Affine(matrix, where=path),
        "undeclared",
        ("no TransformMatrix in the header: orientation is not known",),
    )


def _data_start(
    fields: dict[str, str], data_path: Path, start: int, nbytes: int, compressed: bool, path: Path
) -> int:
    """HeaderSize counts bytes of the data file before the voxels;
    -1 means the voxels are its end."""
    declared = (_numbers(fields, ("HeaderSize",), path) or [0.0])[0]
    if declared == 0:
        return start
    if declared == -1 and not compressed:
        return max(start, size_of(data_path) - nbytes)
    if declared < 0 or declared != int(declared) or data_path == path:
        raise SitusError("HeaderSize is impossible", where=path, fix="repair the header")
    return int(declared)


def _compressed_size(fields: dict[str, str], path: Path) -> int | None:
    """Declared length of the compressed stream; 0 and a missing field mean "to the end"."""
    (size,) = (_numbers(fields, ("CompressedDataSize",), path) or [0.0])[:1]
    if size < 0 or size != int(size):
        raise SitusError("CompressedDataSize is impossible", where=path, fix="repair the header")
    return int(size) or None
