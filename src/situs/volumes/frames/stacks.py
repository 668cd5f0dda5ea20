"""Stacks of frames without millimetres:
fastMRI HDF5, folders of pictures, NIfTI taken as a pile of pictures."""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.base.files import check_regular
from situs.errors import SitusError
from situs.space import PixelGrid
from situs.volumes.formats.stored import enough_memory
from situs.volumes.frames.fastmri import patient_of, read_reconstruction, reconstruction_shape
from situs.volumes.frames.numbering import NUMBERED, missing_numbers, number_in
from situs.volumes.limits import check_shape
from situs.volumes.volume import kind_of, open_volume, stem_of

__all__ = ["FrameStack", "find_stacks", "hash_frames", "open_stack"]

_HDF5 = (".h5", ".hdf5")
_PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")


class FrameStack:
    """A lazy stack of frames as they are displayed, first row on top.

    Opening reads headers only. Immutable.
    """

    __slots__ = ("_files", "_grid", "_path", "_patient_key")

    def __init__(
        self, path: Path, grid: PixelGrid, files: tuple[Path, ...], patient_key: str | None = None
    ) -> None:
        self._path = path
        self._grid = grid
        self._files = files
        self._patient_key = patient_key

    @property
    def path(self) -> Path:
        """The file, or the first of the stack's pictures."""
        return self._path

    @property
    def grid(self) -> PixelGrid:
        """How many frames, and their size."""
        return self._grid

    @property
    def shape(self) -> tuple[int, int, int]:
        """Frames, height, width."""
        return self._grid.frames, self._grid.height or 0, self._grid.width or 0

    @property
    def patient_key(self) -> str | None:
        """What tells patients apart, as the file states it:
        never to be written anywhere unhashed."""
        return self._patient_key

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is doubtful about the file."""
        return ()

    def array(self) -> NDArray[Any]:
        """The pixels (frames, height, width), as displayed."""
        with enough_memory(self._path):
            if self._path.suffix.lower() in _HDF5:
                return read_reconstruction(self._path)
            if kind_of(self._path) is not None:
                return np.ascontiguousarray(open_volume(self._path).array().T)
            return _stacked(self._files, self.shape)

    def content_hash(self) -> str:
        """Hash of pixels, type and shape; the same for any compression and header."""
        return self.array_and_hash()[1]

    def array_and_hash(self) -> tuple[NDArray[Any], str]:
        """`array` and `content_hash` for the price of one reading."""
        pixels = self.array()
        return pixels, hash_frames(pixels)

    def __repr__(self) -> str:
        return f"FrameStack({' × '.join(map(str, self.shape))})"


def hash_frames(pixels: NDArray[Any]) -> str:
    """blake2b over little-endian pixels, framed by type and shape."""
    little = pixels.dtype.newbyteorder("<")
    state = hashlib.blake2b(f"frames{little.str}{pixels.shape}".encode(), digest_size=16)
    for frame in pixels:
        state.update(np.ascontiguousarray(frame, dtype=little).view(np.uint8).data)
    return state.hexdigest()


def open_stack(path: Path) -> FrameStack:
    """Open an HDF5 file, a NIfTI file (frame = last index, x = first, y = second), or pictures.

    Pictures are all of a folder, or, given one that is numbered (`knee7_slice_012.png`), those of
    its name.
    """
    if path.suffix.lower() in _HDF5:
        frames, height, width = reconstruction_shape(path)
        return FrameStack(path, PixelGrid(frames, width, height), (path,), patient_of(path))
    if path.is_file() and kind_of(path) is not None:
        width, height, frames = open_volume(path).grid.shape
        return FrameStack(path, PixelGrid(frames, width, height), (path,))
    files = _pictures(path)
    if not files:
        fix = "give .h5, .nii.gz, or a folder of PNG files"
        raise SitusError("is not a stack of frames", where=path, fix=fix)
    missing = missing_numbers(file.name for file in files)
    if missing:
        fix = (
            "add the missing pictures, or number these without gaps (slices and frames from 0 or 1)"
        )
        raise SitusError(f"{missing}: it is unclear which frame is which", where=path, fix=fix)
    width, height = _size(files[0])
    for file in files[1:]:
        if _size(file) != (width, height):
            raise SitusError(
                "is not of the same size as the other frames",
                where=file,
                fix="resize or leave it out",
            )
    check_shape((len(files), height, width), 1, where=path)
    return FrameStack(path, PixelGrid(len(files), width, height), files)


def find_stacks(root: Path) -> dict[str, Path]:
    """Every stack under a folder by its name:
    file stem, folder of pictures, or the name before `_slice_012`."""
    if not root.is_dir():
        raise SitusError("no such folder", where=root, fix="give the folder the images are in")
    stacks: dict[str, set[Path]] = defaultdict(set)
    numbered: dict[str, set[Path]] = defaultdict(set)
    for folder, _, names in os.walk(root):
        here = Path(folder)
        series: dict[str, Path] = {}
        for path in (here / name for name in sorted(names)):
            if path.suffix.lower() in _HDF5:
                stacks[path.stem].add(path)
            elif kind_of(path) is not None:
                stacks[stem_of(path)].add(path)
            elif path.suffix.lower() in _PICTURES:
                match = NUMBERED.fullmatch(path.stem)
                series.setdefault(match[1] if match else "", path)
        if len(series) == 1 or "" in series:
            stacks[here.name].add(here)
        for name, path in series.items():
            numbered[name].add(path)
    for name, paths in stacks.items():
        if len(paths) > 1:
            where = " and ".join(str(path) for path in sorted(paths))
            raise SitusError(f"two stacks are called {name!r}", where=where, fix="keep one of them")
    alone = {
        name: paths
        for name, paths in numbered.items()
        if name and name not in stacks and len(paths) == 1
    }
    return {name: next(iter(paths)) for name, paths in sorted((stacks | alone).items())}


def _pictures(path: Path) -> tuple[Path, ...]:
    if path.is_dir():
        names = [file for file in path.iterdir() if file.suffix.lower() in _PICTURES]
    else:
        numbered = NUMBERED.fullmatch(path.stem)
        if numbered is None or path.suffix.lower() not in _PICTURES or not path.is_file():
            return ()
        same = (NUMBERED.fullmatch(file.stem) for file in path.parent.iterdir())
        stems = {match[0] for match in same if match and match[1] == numbered[1]}
        names = [
            file
            for file in path.parent.iterdir()
            if file.stem in stems and file.suffix == path.suffix
        ]
    return tuple(sorted(names, key=_order))


def _order(path: Path) -> tuple[int, str]:
    return number_in(path.name) or 0, path.name


_KINDS: dict[str, np.dtype[Any]] = {
    "I;16": np.dtype(np.uint16),
    "I": np.dtype(np.int32),
    "F": np.dtype(np.float32),
}
"""Pillow's modes of more than eight bits, as numpy stores them;
all others are read as eight bits of grey."""


def _size(path: Path) -> tuple[int, int]:
    with _picture(path) as picture:
        size: tuple[int, int] = picture.size
        return size


def _kind(path: Path) -> np.dtype[Any]:
    with _picture(path) as picture:
        return _KINDS.get(picture.mode, np.dtype(np.uint8))


@contextmanager
def _picture(path: Path) -> Iterator[Any]:
    """A picture, of which only the header is read yet."""
    from PIL import Image

    check_regular(path)
    try:
        with Image.open(path) as picture:
            yield picture
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise SitusError(
            "is not a readable picture", where=path, fix="save it again as PNG"
        ) from error


def _stacked(files: tuple[Path, ...], shape: tuple[int, int, int]) -> NDArray[Any]:
    """All pictures in one array, which is made once:
    a list of them beside it would take twice the memory."""
    kind = np.result_type(*{_kind(file) for file in files})
    check_shape(shape, kind.itemsize, where=files[0])
    stack = np.empty(shape, kind)
    for frame, file in zip(stack, files):
        frame[...] = _grey(file)
    return stack


def _grey(path: Path) -> NDArray[Any]:
    with _picture(path) as picture:
        values = picture if picture.mode in ("L", *_KINDS) else picture.convert("L")
        return np.asarray(values)
