"""A phantom knee as a folder, the way a dataset would hand it over."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from situs.base.files import write_atomic
from situs.volumes.phantoms.files import nifti_bytes
from situs.volumes.phantoms.knee_patient import KNEE_LABELS, PhantomKnee

__all__ = ["KNEE_MASKS", "write_knee"]

KNEE_MASKS = {**KNEE_LABELS, "bone_marrow_lesion": 10}
"""Name of each mask → the number under which it is known."""


def write_knee(knee: PhantomKnee, folder: Path) -> None:
    """Write `mri.nii.gz`, `segmentations/<name>.nii.gz` (0/1 masks;
    none that are empty) and `truth.json`."""
    write_atomic(folder / "mri.nii.gz", nifti_bytes(knee.image, knee.grid))
    for name in KNEE_MASKS:
        mask = knee.mask(name)
        if mask.any():
            write_atomic(
                folder / "segmentations" / f"{name}.nii.gz",
                nifti_bytes(mask.astype(np.uint8), knee.grid),
            )
    write_atomic(
        folder / "truth.json",
        msgspec.json.format(msgspec.json.encode(knee.truth), indent=1) + b"\n",
    )
