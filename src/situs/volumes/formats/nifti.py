"""NIfTI-1 and NIfTI-2 in one file, plain or gzip, either byte order."""

from __future__ import annotations

import functools
import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.space import Affine
from situs.volumes.formats.channels import channel_shown, channels_told
from situs.volumes.formats.inflate import inflate_head
from situs.volumes.formats.stored import Stored, clean_name, open_binary
from situs.volumes.limits import check_shape, drop_trailing_ones

__all__ = ["is_nifti", "label_table", "read_nifti"]

_HEADER_BYTES = {1: 348, 2: 540}
_MAGIC_AT = {1: 344, 2: 4}
_TO_MM = {1: 1000.0, 3: 0.001}
"""xyzt_units: 1 metre, 2 millimetre, 3 micron; anything else is taken as millimetres."""

_LABEL = re.compile(rb'<Label\s[^>]*?Key="(\d{1,9})"[^>]*>\s*(?:<!\[CDATA\[)?([^<\]]{1,200})')
"""An entry of the label table that TotalSegmentator and
Connectome Workbench write into the header's extension."""
_LARGEST_EXTENSION = 1 << 20

_DISAGREE_VOXELS = 0.1
NO_ORIENTATION = "no orientation in the header (qform and sform codes are 0)"
FORMS_DISAGREE = "qform and sform disagree by more than 0.1 voxel; the sform is used"


def _head(path: Path) -> tuple[bytes, bool]:
    """The first 540 decoded bytes and whether the file is gzip."""
    with open_binary(path) as stream:
        start = stream.read(540)
        if start[:2] != b"\x1f\x8b":
            return start, False
        stream.seek(0)
        return inflate_head(stream, 540, where=path), True


def _version(head: bytes) -> tuple[int, str] | None:
    """Version and byte order, told by the header's own size."""
    for version, size in _HEADER_BYTES.items():
        for order, code in (("little", "<"), ("big", ">")):
            if len(head) >= size and head[:4] == size.to_bytes(4, order):  # type: ignore[arg-type]
                return version, code
    return None


def is_nifti(path: Path) -> bool:
    """Whether the content looks like NIfTI, whatever the name."""
    try:
        head, _ = _head(path)
    except SitusError:
        return False
    return _version(head) is not None


def read_nifti(path: Path, *, as_image: bool = False) -> Stored:
    """The header of a NIfTI file, checked against the file's size.

    An image (not labels) may have channels, if a `dataset.json` says what they are: then one of
    them is read.
    """
    head, compressed = _head(path)
    version_and_order = _version(head)
    if version_and_order is None:
        raise SitusError(
            "is not a NIfTI file (or its header is damaged)",
            where=path,
            fix="check or export it again",
        )
    version, code = version_and_order
    magic = head[_MAGIC_AT[version] :][:4]
    if magic[:3] == f"ni{version}".encode():
        raise SitusError(
            "is the header of a .hdr/.img pair",
            where=path,
            fix="convert the pair to one .nii.gz (e.g. nibabel, fslchfiletype)",
        )
    if magic[:3] != f"n+{version}".encode():
        raise SitusError("has no NIfTI magic (Analyze 7.5?)", where=path, fix="convert it to NIfTI")
    try:
        with np.errstate(all="ignore"):
            return _parse(path, head, version, code, compressed, as_image)
    except SitusError:
        raise
    except (
        Exception
    ) as error:  # nibabel raises HeaderDataError, WrapStructError, ValueError, KeyError …
        raise SitusError(
            "has a damaged NIfTI header", where=path, fix="repair or export it again"
        ) from error


def label_table(stored: Stored) -> dict[int, str]:
    """Label value → name, where the header's extension holds a table of them."""
    offset = stored.skip if stored.encoding == "gzip" else stored.start
    if not 352 < offset < _LARGEST_EXTENSION:
        return {}
    with open_binary(stored.path) as stream:
        is_gzip = stored.encoding == "gzip"
        head = inflate_head(stream, offset, where=stored.path) if is_gzip else stream.read(offset)
    names = {
        int(key): clean_name(name.decode("utf-8", "replace")) for key, name in _LABEL.findall(head)
    }
    return {key: name for key, name in names.items() if key and name}


def _header(head: bytes, version: int, code: str) -> Any:
    """As nibabel reads it."""
    from nibabel.nifti1 import Nifti1Header
    from nibabel.nifti2 import Nifti2Header

    kind = Nifti1Header if version == 1 else Nifti2Header
    return kind(head, endianness=code, check=False)


def _parse(
    path: Path, head: bytes, version: int, code: str, compressed: bool, as_image: bool
) -> Stored:
    head = head[: _HEADER_BYTES[version]]
    header = _header(head, version, code)
    dims = [int(n) for n in header["dim"]]
    if not 1 <= dims[0] <= 7:
        raise SitusError(
            f"declares {dims[0]} dimensions",
            where=path,
            fix="the header is damaged; export it again",
        )
    dtype = _dtype(header, path)
    shape = drop_trailing_ones(dims[1 : dims[0] + 1])
    shape, channel, channels = _one_channel(shape, path) if as_image else (shape, 0, 1)
    check_shape(shape, dtype.itemsize, where=path)
    matrix, basis, warnings = _affine(head, version, code, shape)
    if channels > 1:
        warnings += (f"channel {channel + 1} of {channels} is used",)
    slope, inter = _scaling(header, path)
    size = math.prod(shape) * dtype.itemsize
    offset = _offset(header, version, path) + channel * size
    return Stored(
        path=path,
        data_path=path,
        encoding="gzip" if compressed else "raw",
        start=0 if compressed else offset,
        skip=offset if compressed else 0,
        limit=None,
        dtype=dtype,
        shape=shape,
        affine=Affine(matrix, where=path),
        orientation_basis=basis,
        slope=slope,
        inter=inter,
        warnings=warnings,
        after=(channels - 1 - channel) * size,
    ).check_size()


def _one_channel(shape: tuple[int, ...], path: Path) -> tuple[tuple[int, ...], int, int]:
    """The shape of one channel, which one it is, and how many there are."""
    if len(shape) != 4:
        return shape, 0, 1
    names = channels_told(path)
    if len(names) != shape[3]:
        contradiction = (
            f"but its dataset.json names {len(names)}" if names else "that nothing names"
        )
        raise SitusError(
            f"is 4D, with {shape[3]} channels or time points {contradiction}",
            where=path,
            fix=(
                "extract one volume first, or name the channels in the dataset.json above its"
                " folder"
            ),
        )
    return shape[:3], channel_shown(names), shape[3]


def _dtype(header: Any, path: Path) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = np.dtype(header.get_data_dtype())
    except Exception as error:
        raise SitusError(
            "has an unknown voxel type", where=path, fix="convert it to an integer or float type"
        ) from error
    if dtype.kind not in "iuf" or dtype.itemsize > 8:
        raise SitusError(
            "voxels are not single real numbers (RGB, complex, bit or 128-bit)",
            where=path,
            fix="convert it to an integer or float type",
        )
    return dtype


def _offset(header: Any, version: int, path: Path) -> int:
    """First voxel byte. Zero means "right after the header", as FSL reads it."""
    value = float(header["vox_offset"])
    least = _HEADER_BYTES[version] + 4
    if value == 0:
        return least
    if not math.isfinite(value) or value < least or value != int(value):
        raise SitusError(
            "has an invalid vox_offset", where=path, fix="the header is damaged; export it again"
        )
    return int(value)


def _scaling(header: Any, path: Path) -> tuple[float, float]:
    """Slope and intercept; a slope of 0 or not finite means none,
    as in the standard and nibabel."""
    slope, inter = float(header["scl_slope"]), float(header["scl_inter"])
    if slope == 0 or not math.isfinite(slope):
        return 1.0, 0.0
    if not math.isfinite(inter):
        raise SitusError("scl_inter is not a number", where=path, fix="repair the header's scaling")
    return slope, inter


@functools.lru_cache(maxsize=64)
def _affine(
    head: bytes, version: int, code: str, shape: tuple[int, ...]
) -> tuple[NDArray[np.float64], str, tuple[str, ...]]:
    """nibabel's best affine in millimetres, what it rests on, and what is doubtful about it.

    The hundred masks of a study share one header, so it is worked out once.
    """
    header = _header(head, version, code)
    pixdim = header["pixdim"]
    if pixdim[0] not in (-1, 1):  # the standard: "if 0, assume 1"
        pixdim[0] = 1
    pixdim[1:4] = np.abs(pixdim[1:4])
    header["pixdim"] = pixdim
    has_sform, has_qform = int(header["sform_code"]) != 0, int(header["qform_code"]) != 0
    matrix = np.array(header.get_best_affine(), dtype=np.float64)
    matrix[:3] *= _TO_MM.get(int(header["xyzt_units"]) & 7, 1.0)
    warnings = []
    if not (has_sform or has_qform):
        warnings.append(NO_ORIENTATION)
    if has_sform and has_qform and _forms_disagree(header, shape):
        warnings.append(FORMS_DISAGREE)
    matrix.flags.writeable = False
    return matrix, "affine" if has_sform or has_qform else "undeclared", tuple(warnings)


def _forms_disagree(header: Any, shape: tuple[int, ...]) -> bool:
    sform = header.get_sform()
    try:
        qform = header.get_qform()
    except Exception:  # an impossible quaternion agrees with nothing
        return True
    corners = np.array([(*c, 1.0) for c in itertools.product(*((0.0, n - 1.0) for n in shape))])
    apart = np.linalg.norm((corners @ (sform - qform).T)[:, :3], axis=1).max()
    spacing = np.linalg.norm(sform[:3, :3], axis=0).min()
    return not apart <= _DISAGREE_VOXELS * spacing
