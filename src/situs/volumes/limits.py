"""How large a file may claim to be, checked before a single voxel is allocated."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from situs.errors import SitusError

__all__ = [
    "MAX_BYTES",
    "MAX_DIM",
    "MAX_GZIP_RATIO",
    "MAX_HEADER_BYTES",
    "MAX_STRUCTURES",
    "MAX_SURPLUS_BYTES",
    "MAX_VOXELS",
    "check_shape",
    "drop_trailing_ones",
    "max_bytes",
    "max_voxels",
]

MAX_DIM = 20_000
"""Longest side of a volume, in voxels."""

MAX_VOXELS = 2**31
"""Most voxels of a volume; the environment variable `SITUS_MAX_VOXELS` overrides it."""

MAX_BYTES = 16 << 30
"""Most decoded bytes of a volume, on any machine."""

_MEMORY_SHARE = 0.4
"""Of the machine's memory: measuring a volume takes about as much again as the volume itself."""

MAX_GZIP_RATIO = 1100
"""Deflate cannot expand more than 1032-fold; a header that claims more is lying."""

MAX_SURPLUS_BYTES = 1 << 20
"""Bytes allowed after the last voxel (padding that some writers leave)."""

MAX_HEADER_BYTES = 4 << 20
"""Longest text header (a `.seg.nrrd` holds a few hundred bytes a segment)."""

MAX_STRUCTURES = 65_535
"""More label values than this are an image, not labels."""


@lru_cache
def max_bytes() -> int:
    """Most decoded bytes of a volume on this machine."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return MAX_BYTES
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        # A container may have less than the machine.
        with suppress(OSError, ValueError):
            memory = min(memory, int(Path(file).read_text()))
    return min(MAX_BYTES, int(memory * _MEMORY_SHARE))


def max_voxels() -> int:
    """The cap on voxels, from the environment if set there."""
    text = os.environ.get("SITUS_MAX_VOXELS", "").strip()
    if not text:
        return MAX_VOXELS
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) > 0):
        raise SitusError(
            "is not a whole number above 0",
            where="SITUS_MAX_VOXELS",
            fix="unset it or give a number",
        )
    return int(text)


def drop_trailing_ones(shape: Sequence[int]) -> tuple[int, ...]:
    """Without the single-element axes that some writers append to a 3D volume."""
    sizes = list(shape)
    while len(sizes) > 3 and sizes[-1] == 1:
        sizes.pop()
    return tuple(sizes)


def check_shape(shape: Sequence[int], itemsize: int, *, where: object, dims: int = 3) -> None:
    """Refuse a declared shape that is not `dims`-dimensional or that no honest file has."""
    if any(n < 1 for n in shape):
        raise SitusError(
            "a dimension is zero or negative",
            where=where,
            fix="the header is damaged; export it again",
        )
    if len(shape) < 3:
        raise SitusError(f"is {len(shape)}D, not a 3D volume", where=where, fix="give a 3D volume")
    if len(shape) > dims:
        raise SitusError(
            f"is {len(shape)}D, not a 3D volume",
            where=where,
            fix="extract one volume (e.g. one time point) first",
        )
    if any(n > MAX_DIM for n in shape):
        raise SitusError(
            f"a dimension of {max(shape)} exceeds {MAX_DIM}",
            where=where,
            fix="is the header damaged? crop or export it",
        )
    voxels = math.prod(shape)
    if voxels > max_voxels():
        raise SitusError(
            f"{voxels} voxels exceed the limit of {max_voxels()}",
            where=where,
            fix="crop or resample it, or set SITUS_MAX_VOXELS",
        )
    if voxels * itemsize > max_bytes():
        raise SitusError(
            f"{voxels * itemsize / 2**30:.1f} GiB decoded exceed the limit of"
            f" {max_bytes() / 2**30:.1f} GiB here",
            where=where,
            fix="crop it or store a smaller type",
        )
