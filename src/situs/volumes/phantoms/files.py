"""A phantom patient as a folder, the way a public dataset would hand it over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from situs.base.files import write_atomic
from situs.space import Grid
from situs.volumes.phantoms.patient import PhantomPatient

__all__ = ["nifti_bytes", "write_patient"]

_EFFORT = 2
"""Little: noise hardly shrinks, however long one tries, and masks are small anyway."""
_AS_GZIP = 31
"""zlib's number for a window of 32 kB in a gzip file, whose header has neither time nor name."""


def write_patient(patient: PhantomPatient, folder: Path) -> None:
    """Write `ct.nii.gz` or `mri.nii.gz`, `segmentations/<name>.nii.gz` (0/1 masks) and
    `truth.json`.

    The same patient gives the same bytes on one machine.
    """
    write_atomic(
        folder / ("ct.nii.gz" if patient.modality == "ct" else "mri.nii.gz"),
        nifti_bytes(patient.image, patient.grid),
    )
    # In the order of the file, once for all masks of a layer.
    layers = [np.asfortranarray(layer) for layer in patient.layers]
    for name, (layer, value) in patient.names.items():
        mask = (layers[layer] == value).view(np.uint8)
        write_atomic(folder / "segmentations" / f"{name}.nii.gz", nifti_bytes(mask, patient.grid))
    write_atomic(
        folder / "truth.json",
        msgspec.json.format(msgspec.json.encode(patient.truth), indent=1) + b"\n",
    )


def nifti_bytes(array: NDArray[Any], grid: Grid) -> bytes:
    """NIfTI-1, gzipped; sform and qform both say where the voxels lie."""
    import nibabel

    image = nibabel.Nifti1Image(array, grid.affine.matrix)
    image.set_sform(grid.affine.matrix, code=1)
    image.set_qform(grid.affine.matrix, code=1)
    image.header.set_xyzt_units("mm")
    image.update_header()
    header = image.header.copy()
    header.set_slope_inter(1.0, 0.0)
    header["vox_offset"], header["magic"] = 352, b"n+1"
    # As `image.to_bytes()`, which goes through the voxels several times.
    content = header.binaryblock + bytes(4) + array.tobytes(order="F")
    return isal_zlib.compress(content, _EFFORT, _AS_GZIP)
