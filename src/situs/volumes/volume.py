"""One 3D volume on disk: its grid now, its voxels on request."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.base.remote import arrive
from situs.errors import SitusError
from situs.space import Grid
from situs.volumes.dicom.files import dicom_files, is_dicom
from situs.volumes.formats.nifti import is_nifti, read_nifti
from situs.volumes.formats.nrrd import read_nrrd
from situs.volumes.formats.registry import format_of, suffixes
from situs.volumes.formats.stored import Stored, enough_memory, open_binary, read_voxels
from situs.volumes.reorder import Reorder, grid_warnings, reorder_onto

__all__ = [
    "Volume",
    "hash_voxels",
    "holds_dicom",
    "kind_of",
    "open_volume",
    "read_header",
    "stem_of",
]


class Volume:
    """A lazy 3D volume: opening reads the header, `array` reads the voxels anew each time.

    Immutable.
    """

    __slots__ = (
        "_dtype",
        "_grid",
        "_orientation_basis",
        "_path",
        "_read",
        "_stored",
        "_turn",
        "_warnings",
    )

    def __init__(
        self,
        path: Path,
        grid: Grid,
        dtype: np.dtype[Any],
        orientation_basis: str,
        warnings: tuple[str, ...],
        read: Callable[[], NDArray[Any]],
    ) -> None:
        self._path = path
        self._grid = grid
        self._dtype = dtype
        self._orientation_basis = orientation_basis
        self._warnings = warnings
        self._read = read
        self._stored: Volume | None = None
        self._turn: Reorder | None = None

    @property
    def path(self) -> Path:
        """The file or folder that was opened."""
        return self._path

    @property
    def grid(self) -> Grid:
        """Shape and RAS+ affine, in stored index order."""
        return self._grid

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of `array()`: the stored one in native byte order; float32 if the header scales
        voxels.

        A DICOM series whose rescaling is whole stays whole: int16, or int32 if its bits need it.
        """
        return self._dtype

    @property
    def orientation_basis(self) -> str:
        """`affine` if the header declares an orientation, else `undeclared`."""
        return self._orientation_basis

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is doubtful about the header; holds no text from it."""
        return self._warnings

    def array(self) -> NDArray[Any]:
        """The voxels [i, j, k] in stored order, first axis fastest."""
        if self._stored is not None:
            return self._turned(self._stored.array())
        with enough_memory(self.path):
            return self._read()

    def content_hash(self) -> str:
        """Hash of voxels, type, shape and affine as stored;
        the same for any compression and byte order."""
        return self.array_and_hash()[1]

    def array_and_hash(self) -> tuple[NDArray[Any], str]:
        """`array` and `content_hash` for the price of one reading."""
        if self._stored is not None:
            stored, content_hash = self._stored.array_and_hash()
            return self._turned(stored), content_hash
        voxels = self.array()
        return voxels, hash_voxels((voxels,), self.grid)

    def _turned(self, stored: NDArray[Any]) -> NDArray[Any]:
        return stored if self._turn is None else self._turn.array(stored)

    def onto(self, grid: Grid) -> Volume:
        """The same volume with its axes in the order of `grid`;
        an error if it is not sampled on those points."""
        turn = reorder_onto(self.grid, grid)
        if turn is None:
            raise SitusError(
                f"image and labels are not on one grid ({self.grid.difference(grid)})",
                where=self.path,
                fix="resample one onto the other",
            )
        turned_grid = turn.grid(self.grid)
        warnings = (*self.warnings, *grid_warnings(turned_grid.offset_mm(grid), "image and labels"))
        if turn.is_identity and warnings == self.warnings:
            return self
        turned = Volume(
            self.path, turned_grid, self.dtype, self.orientation_basis, warnings, self._read
        )
        turned._stored, turned._turn = self, turn
        return turned

    def __repr__(self) -> str:
        return f"Volume({self.grid!r}, {self.dtype})"


def _scaled(voxels: NDArray[Any], slope: float, inter: float) -> NDArray[np.float32]:
    """Float64 arithmetic one slice at a time, kept as float32."""
    scaled = np.empty(voxels.shape, dtype=np.float32, order="F")
    with np.errstate(all="ignore"):
        for k in range(voxels.shape[2]):
            scaled[..., k] = voxels[..., k].astype(np.float64) * slope + inter
    return scaled


def hash_voxels(layers: tuple[NDArray[Any], ...], grid: Grid, *extra: bytes) -> str:
    """blake2b over little-endian voxels with the first axis fastest,
    framed by type and shape, and the affine."""
    state = hashlib.blake2b(digest_size=16)
    affine = (grid.affine.matrix + 0.0).astype("<f8")  # adding 0 makes -0 and 0 equal
    for part in (affine.tobytes(), *extra):
        state.update(len(part).to_bytes(8, "little") + part)
    for layer in layers:
        little = layer.dtype.newbyteorder("<")
        state.update(f"{little.str}{layer.shape}".encode())
        flat = layer.reshape(math.prod(layer.shape), order="F")
        for start in range(0, flat.size, 1 << 20):
            state.update(
                np.ascontiguousarray(flat[start : start + (1 << 20)], dtype=little)
                .view(np.uint8)
                .data
            )
    return state.hexdigest()


def kind_of(path: Path) -> str | None:
    """The known suffix of a file name, or None."""
    name = path.name.lower()
    return next((suffix for suffix in suffixes() if name.endswith(suffix)), None)


def stem_of(path: Path) -> str:
    """The file name without its format's suffix (`liver.seg.nrrd` → `liver`)."""
    name = path.name[: -len(kind_of(path) or path.suffix) or None]
    return name[:-4] if path.name.lower().endswith(".seg.nrrd") else name


def holds_dicom(path: Path) -> bool:
    """Whether a file is DICOM by its bytes (and not of another kind by its name),
    or a folder holds such files."""
    arrive(path)
    if path.is_dir():
        return bool(dicom_files(path))
    return kind_of(path) is None and is_dicom(path)


def read_header(path: Path, *, as_image: bool = False) -> Stored:
    """Parse the header of any known format, told by the name, else by the first bytes.

    An image may have channels of which one is taken; labels may not.
    """
    suffix = kind_of(path)
    if as_image and suffix in (".nii", ".nii.gz"):
        return read_nifti(path, as_image=True)
    if suffix is not None:
        return format_of(suffix).read(path)
    if path.name.lower().endswith((".hdr", ".img", ".hdr.gz", ".img.gz")):
        raise SitusError(
            "is half of a .hdr/.img pair",
            where=path,
            fix="convert the pair to one .nii.gz (e.g. nibabel, fslchfiletype)",
        )
    with open_binary(path) as stream:
        start = stream.read(4)
    if start == b"NRRD":
        return read_nrrd(path)
    if is_nifti(path):
        return read_nifti(path)
    raise SitusError(
        "is not a volume of a known kind", where=path, fix=f"known: {', '.join(suffixes())}, DICOM"
    )


def open_volume(path: str | Path) -> Volume:
    """Open a 3D image: `.nii`, `.nii.gz`, `.nrrd`, `.nhdr`, `.mha`, `.mhd`, or DICOM. Reads headers
    only.

    DICOM is a folder with one image series, a multi-frame file, or any file of a series, which
    stands for the files of that series in its folder.
    """
    path = Path(path)
    if holds_dicom(path):
        from situs.volumes.dicom.series import open_series

        return open_series(path)
    return _stored_volume(read_header(path, as_image=True))


def _stored_volume(stored: Stored) -> Volume:
    if len(stored.shape) != 3:
        raise SitusError(
            "holds several layers", where=stored.path, fix="open it as labels, not as an image"
        )
    i, j, k = stored.shape
    kind = np.dtype(np.float32) if stored.is_scaled else stored.dtype.newbyteorder("=")

    def read() -> NDArray[Any]:
        voxels = read_voxels(stored)
        return _scaled(voxels, stored.slope, stored.inter) if stored.is_scaled else voxels

    grid = Grid((i, j, k), stored.affine)
    return Volume(stored.path, grid, kind, stored.orientation_basis, stored.warnings, read)
