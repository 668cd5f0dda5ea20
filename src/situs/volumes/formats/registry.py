"""File formats of volumes: those shipped, and those that installed packages read.

A package offers a reader under the entry points `situs.readers`, named by the suffix without its
dot:

    [project.entry-points."situs.readers"]
    npz = "my_package.npz:read"
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.base.plugins import load_offered, offered
from situs.base.remote import present
from situs.errors import SitusError
from situs.space import Affine
from situs.volumes.formats.metaimage import read_metaimage
from situs.volumes.formats.nifti import read_nifti
from situs.volumes.formats.nrrd import read_nrrd
from situs.volumes.formats.stored import Stored
from situs.volumes.limits import check_shape

__all__ = ["ENTRY_POINTS", "Format", "format_of", "stored_array", "suffixes"]

ENTRY_POINTS = "situs.readers"
Read = Callable[[Path], Stored]


class Format(msgspec.Struct, frozen=True):
    """How files of one suffix are read."""

    read: Read
    """From a path to where its voxels lie and what they are; only the header is read."""
    detached: bool = False
    """Whether the voxels lie in a file of their own: such a pair is no mask in a folder of
    masks."""


_SHIPPED = {
    ".nii.gz": Format(read_nifti),
    ".nii": Format(read_nifti),
    ".nrrd": Format(read_nrrd),
    ".nhdr": Format(read_nrrd, detached=True),
    ".mha": Format(read_metaimage),
    ".mhd": Format(read_metaimage, detached=True),
}


def suffixes() -> tuple[str, ...]:
    """The suffixes of all known formats, longer ones before what they end with."""
    return (*_SHIPPED, *(f".{name}" for name in offered(ENTRY_POINTS)))


def format_of(suffix: str) -> Format:
    """The format of a known suffix; the package that reads it is imported now."""
    if suffix in _SHIPPED:
        return _SHIPPED[suffix]
    read: Callable[[Path], object] = load_offered(ENTRY_POINTS, suffix.removeprefix("."))
    return Format(lambda path: _checked(read, path))


def _checked(read: Callable[[Path], object], path: Path) -> Stored:
    """What another package's reader says of a file.

    Whatever it stumbles over is an error about the file.
    """
    present(path)
    try:
        stored = read(path)
    except SitusError:
        raise
    except Exception as error:
        problem = f"cannot be read ({type(error).__name__}: {error})"
        raise SitusError(problem, where=path, fix="is it a file of this format?") from error
    if not isinstance(stored, Stored):
        problem = f"its reader gave {type(stored).__name__}, not a Stored"
        raise SitusError(problem, where=path, fix="see situs.volumes.stored_array")
    return stored


def stored_array(
    path: Path,
    shape: tuple[int, int, int],
    dtype: np.dtype[Any] | str,
    affine: ArrayLike,
    load: Callable[[], NDArray[Any]],
    *,
    oriented: bool = True,
) -> Stored:
    """What a reader returns for a format whose voxels another library decodes.

    Args:
        path: The file.
        shape: Voxels along i, j, k, as the header says.
        dtype: Of the voxels.
        affine: The 4 × 4 matrix from voxel index to RAS+ millimetres.
        load: Reads the voxels [i, j, k]; called whenever they are needed.
        oriented: Whether the file declares an orientation. Without one no side is asked for.

    Raises:
        SitusError: If the shape is no volume, too large, or the affine has no inverse.
    """
    kind = np.dtype(dtype)
    check_shape(shape, kind.itemsize, where=path)
    return Stored(
        path=path,
        data_path=path,
        encoding="loaded",
        start=0,
        skip=0,
        limit=None,
        dtype=kind,
        shape=tuple(shape),
        affine=Affine(np.asarray(affine, dtype=np.float64)),
        orientation_basis="affine" if oriented else "undeclared",
        load=load,
    )
