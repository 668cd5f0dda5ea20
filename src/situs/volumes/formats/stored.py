"""What a header says about the voxels, and reading exactly those voxels."""

from __future__ import annotations

import math
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from situs.base.remote import is_stand_in, present
from situs.errors import SitusError
from situs.space import Affine
from situs.volumes.formats.inflate import inflate_pieces
from situs.volumes.limits import MAX_GZIP_RATIO, MAX_SURPLUS_BYTES

__all__ = [
    "SegmentTag",
    "Stored",
    "clean_name",
    "enough_memory",
    "open_binary",
    "read_voxels",
    "sibling",
    "size_of",
    "voxel_pieces",
]

_LONGEST_NAME = 200
_CHUNK = 1 << 18


def clean_name(text: str) -> str:
    """The name of a structure as a file gives it, on one line of bounded length."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_LONGEST_NAME]


@dataclass(frozen=True)
class SegmentTag:
    """One segment that a `.seg.nrrd` header lists;
    `layer` and `value` may be missing in old files."""

    number: int
    name: str
    layer: int | None
    value: int | None


@dataclass(frozen=True)
class Stored:
    """A parsed header: where the voxels lie,
    how they are encoded, and where they sit in the patient."""

    path: Path
    """The file the user named."""
    data_path: Path
    """The file that holds the voxels."""
    encoding: str
    """`raw`, `gzip`, `zlib`, `bzip2`, or `loaded`."""
    start: int
    """Byte of `data_path` at which the (compressed) stream starts."""
    skip: int
    """Decoded bytes before the first voxel; 0 for raw."""
    limit: int | None
    """Compressed bytes that belong to the stream, if declared."""
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    """Three sizes, the first fastest; four with the layers of a segmentation first."""
    affine: Affine
    orientation_basis: str
    slope: float = 1.0
    inter: float = 0.0
    warnings: tuple[str, ...] = ()
    segments: tuple[SegmentTag, ...] = ()
    after: int = 0
    """Decoded bytes behind the last voxel that belong to other channels."""
    load: Callable[[], NDArray[Any]] | None = None
    """Decodes the voxels of a format that another package reads; then the encoding is `loaded`."""

    @property
    def nbytes(self) -> int:
        """Decoded bytes of all voxels."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def is_scaled(self) -> bool:
        """Whether voxels are to be multiplied or shifted."""
        return (self.slope, self.inter) != (1.0, 0.0)

    def check_size(self) -> Stored:
        """Refuse a header whose voxels cannot be in the file; nothing is allocated yet."""
        available = size_of(self.data_path) - self.start
        if self.load is not None:
            return self
        if available < (self.limit or 0):
            raise self._truncated(available, self.limit or 0)
        needed = self.skip + self.nbytes + self.after
        if self.encoding == "raw":
            if available < needed:
                raise self._truncated(available, needed)
            if available - needed > MAX_SURPLUS_BYTES:
                raise SitusError(
                    f"holds {available} voxel bytes but its header declares {needed}",
                    where=self.data_path,
                    fix="the header is damaged; export it again",
                )
        elif self.encoding in ("gzip", "zlib") and needed > MAX_GZIP_RATIO * max(available, 1):
            raise SitusError(
                f"truncated: {available} compressed bytes cannot hold the declared {needed}",
                where=self.data_path,
                fix="copy or download it again",
            )
        return self

    def _truncated(self, available: int, needed: int) -> SitusError:
        return SitusError(
            f"truncated: {max(0, available)} of {needed} bytes",
            where=self.data_path,
            fix="copy or download it again",
        )


def size_of(path: Path) -> int:
    """Bytes of a regular file; anything else (missing, folder, pipe, device) is refused."""
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise SitusError("no such file", where=path, fix="check the path") from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise SitusError("is a folder, not a volume", where=path, fix="give a file")
    if not stat.S_ISREG(status.st_mode):
        raise SitusError("is not a regular file", where=path, fix="give a file on disk")
    return status.st_size


def open_binary(path: Path) -> IO[bytes]:
    """Open a regular file for reading; one that lies elsewhere is fetched."""
    present(path)
    size_of(path)
    try:
        stream = path.open("rb")
        if is_stand_in(path):  # another process made room just now
            stream.close()
            present(path)
            stream = path.open("rb")
        return stream
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> SitusError:
    reason = getattr(error, "strerror", None) or "bad name"
    return SitusError(
        f"cannot be read ({reason})", where=path, fix="check the path and its permissions"
    )


@contextmanager
def enough_memory(path: Path) -> Iterator[None]:
    """Turn running out of memory into an error that names the file."""
    try:
        yield
    except MemoryError as error:
        raise SitusError(
            "does not fit into memory", where=path, fix="crop it or use a larger machine"
        ) from error


def sibling(path: Path, name: str) -> Path:
    """The data file that a detached header names; it must lie in the header's own folder."""
    folder = path.parent
    plain = name not in ("", ".", "..") and not set(name) & set('/\\:\0%"')
    data_path = folder / name
    try:
        inside = plain and data_path.resolve().parent == folder.resolve()
    except (OSError, RuntimeError, ValueError):
        inside = False
    if not inside:
        raise SitusError(
            "its data file is not a plain file name in the same folder",
            where=path,
            fix="put header and data in one folder, or save as one file (.nrrd, .mha)",
        )
    return data_path


def read_voxels(
    stored: Stored,
    scratch: NDArray[np.uint8] | None = None,
    watch: Callable[[bytes], None] | None = None,
) -> NDArray[Any]:
    """The stored voxels, native byte order, first axis fastest, unscaled. One buffer, no copy.

    `scratch` is memory to use if it is large enough; the result then lives until the next such
    call. `watch` sees every piece of compressed voxels while it is still in the processor's cache.
    """
    stored.check_size()
    if scratch is None or scratch.size < stored.nbytes:
        scratch = np.empty(stored.nbytes, dtype=np.uint8)
    buffer = scratch[: stored.nbytes]
    out = buffer.data
    if stored.encoding == "raw" and watch is None:
        _read_raw(out, stored)
    else:
        for offset, piece in voxel_pieces(stored):
            out[offset : offset + len(piece)] = piece
            if watch is not None:
                watch(piece)
    voxels = buffer.view(stored.dtype)
    if not stored.dtype.isnative:
        voxels = voxels.byteswap(inplace=True).view(stored.dtype.newbyteorder("="))
    return voxels.reshape(stored.shape, order="F")


def _read_raw(out: memoryview, stored: Stored) -> None:
    try:
        with open_binary(stored.data_path) as stream:
            stream.seek(stored.start)
            filled = 0
            while filled < len(out):
                count = stream.readinto(out[filled:])  # type: ignore[attr-defined]
                if not count:
                    raise stored._truncated(filled, len(out))
                filled += count
    except OSError as error:
        raise _unreadable(stored.data_path, error) from error


def voxel_pieces(stored: Stored) -> Iterator[tuple[int, bytes]]:
    """The bytes of all voxels as stored, in order: the place of each piece, and the piece."""
    if stored.load is not None:
        yield from _loaded_pieces(stored, stored.load)
        return
    try:
        with open_binary(stored.data_path) as stream:
            stream.seek(stored.start)
            if stored.encoding == "raw":
                yield from _raw_pieces(stream, stored)
            else:
                yield from inflate_pieces(
                    stream,
                    stored.encoding,
                    skip=stored.skip,
                    size=stored.nbytes,
                    after=stored.after,
                    limit=stored.limit,
                    where=stored.data_path,
                )
    except OSError as error:
        raise _unreadable(stored.data_path, error) from error


def _loaded_pieces(stored: Stored, load: Callable[[], NDArray[Any]]) -> Iterator[tuple[int, bytes]]:
    """The voxels that another package decodes, held to what its header said."""
    try:
        voxels = np.asarray(load())
    except (SitusError, MemoryError):
        raise
    except Exception as error:
        problem = f"its voxels cannot be read ({type(error).__name__}: {error})"
        raise SitusError(problem, where=stored.path, fix="is the file whole?") from error
    if voxels.shape != stored.shape or voxels.dtype != stored.dtype:
        problem = (
            f"holds {voxels.dtype} voxels of {voxels.shape}, not {stored.dtype} of {stored.shape}"
        )
        raise SitusError(
            problem, where=stored.path, fix="its reader must give what its header says"
        )
    data = voxels.tobytes(order="F")
    for offset in range(0, len(data), _CHUNK):
        yield offset, data[offset : offset + _CHUNK]


def _raw_pieces(stream: IO[bytes], stored: Stored) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset < stored.nbytes:
        piece = stream.read(min(_CHUNK, stored.nbytes - offset))
        if not piece:
            raise stored._truncated(offset, stored.nbytes)
        yield offset, piece
        offset += len(piece)
