"""fastMRI HDF5 files: the reconstructed image, and of all attributes only the patient's (already
hashed) id.

fastMRI stores images upside down. `read_reconstruction` turns them over, here and nowhere else:
what leaves this module has its first row on top, as radiologists saw it when they drew the boxes of
fastMRI+ (there is no left-right flip).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.base.files import check_regular
from situs.errors import SitusError
from situs.volumes.limits import MAX_GZIP_RATIO, check_shape

__all__ = ["DATASETS", "patient_of", "read_reconstruction", "reconstruction_shape"]

DATASETS = ("reconstruction_rss", "reconstruction_esc", "reconstruction")
"""Where an image may be: multi-coil, single-coil,
and what reconstruction programs write; the first that is there."""

_LONGEST_ID = 256


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    check_regular(path)
    try:
        import h5py
    except ModuleNotFoundError as error:
        fix = "pip install 'situs[fastmri]'"
        raise SitusError("HDF5 files need the package h5py", where=path, fix=fix) from error
    try:
        with h5py.File(path, "r") as file:
            yield file
    except SitusError:
        raise
    except FileNotFoundError as error:
        raise SitusError("no such file", where=path, fix="check the path") from error
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        problem = "is not a whole HDF5 file (truncated, damaged, or of another kind)"
        raise SitusError(problem, where=path, fix="download it again") from error


def _dataset(file: Any, path: Path) -> Any:
    import h5py

    name = next((name for name in DATASETS if name in file), None)
    if name is None:
        only = "only k-space" if "kspace" in file else "no image"
        problem = f"lacks the dataset {DATASETS[0]} (it holds {only})"
        raise SitusError(
            problem, where=path, fix="give the train or val files, which have reconstructions"
        )
    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise SitusError(
            f"{name} is a link to another place",
            where=path,
            fix="give a file that holds its own data",
        )
    data = file[name]
    if not isinstance(data, h5py.Dataset) or data.is_virtual or data.external:
        raise SitusError(
            f"{name} is not data of this file",
            where=path,
            fix="give a file that holds its own data",
        )
    if data.dtype.kind not in "fiu":
        raise SitusError(
            f"{name} is not made of real numbers", where=path, fix="give the magnitude image"
        )
    if len(data.shape) != 3:
        raise SitusError(
            f"{name} is {len(data.shape)}D, not frames of pictures",
            where=path,
            fix="store it as 3D",
        )
    check_shape(data.shape, data.dtype.itemsize, where=path)
    claimed = int(np.prod(data.shape, dtype=np.int64)) * data.dtype.itemsize
    if claimed > MAX_GZIP_RATIO * max(1, data.id.get_storage_size()):
        raise SitusError(
            f"{name} claims more than the file can hold", where=path, fix="download it again"
        )
    return data


def reconstruction_shape(path: Path) -> tuple[int, int, int]:
    """Frames, height and width, from the header."""
    with _opened(path) as file:
        frames, height, width = _dataset(file, path).shape
        return int(frames), int(height), int(width)


def read_reconstruction(path: Path) -> NDArray[Any]:
    """The image (frames, height, width), its first row on top."""
    with _opened(path) as file:
        stored: NDArray[Any] = _dataset(file, path)[()]
    if not np.isfinite(stored).all():
        raise SitusError("holds values that are not finite", where=path, fix="download it again")
    return np.ascontiguousarray(stored[:, ::-1, :])


def patient_of(path: Path) -> str | None:
    """The file's `patient_id`, as it is; None if there is none that can be used.

    No other attribute is ever read.
    """
    with _opened(path) as file:
        if "patient_id" not in file.attrs:
            return None
        value = file.attrs["patient_id"]
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    usable = isinstance(text, str) and 0 < len(text.strip()) <= _LONGEST_ID
    return text.strip() if usable else None
