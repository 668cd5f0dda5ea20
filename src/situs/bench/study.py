"""What a bench says of a study: opaque ids, grids and hashes, never a path or a header's text."""

from __future__ import annotations

from functools import lru_cache

import msgspec
import numpy as np

from situs.space import Affine, Grid, PixelGrid

__all__ = ["SeriesRecord", "StudyRecord"]


class SeriesRecord(msgspec.Struct, frozen=True):
    """One volume of a study and the evidence on its grid."""

    series: str
    """`ct`, `mr`, …; unique within the study."""
    modality: str
    image_hash: str
    """Hash of decoded voxels and affine; empty if there is no image."""
    labels_hash: str
    """Hash of the label map: voxels, affine and structure names."""
    shape: tuple[int, int, int]
    """Of the stored array; (frames, height,
    width) where there is no affine, 0 for what is not known."""
    affine: tuple[float, ...]
    """The 16 numbers of the index → RAS+ mm matrix, row by row;
    empty for a stack of frames without millimetres."""
    side_basis: str
    """`affine`, or `undeclared` if the file states no orientation."""
    annotation: str
    """How the masks were made: `exact`, `manual`, `corrected`, `automatic`."""
    structures: dict[str, int]
    """Structure name → label value, for the names a vocabulary knows."""
    names: dict[str, int] = {}
    """The name map the labels were read with: name → label value."""
    renamed: tuple[tuple[int, str], ...] = ()
    """(label, name) of each structure whose file calls it otherwise than the user's name map."""
    grid_error_mm: float = 0.0
    """How far the grids of its files differ, where they differ by less than a tenth of a voxel."""

    @property
    def grid(self) -> Grid | PixelGrid:
        """The lattice the series is sampled on."""
        if self.affine:
            return _grid_of(self.shape, self.affine)
        frames, height, width = self.shape
        return PixelGrid(frames, width or None, height or None)


@lru_cache(maxsize=256)
def _grid_of(shape: tuple[int, int, int], affine: tuple[float, ...]) -> Grid:
    """The items of a series ask for its grid one by one; its matrix is inverted once."""
    return Grid(shape, Affine(np.array(affine, dtype=np.float64).reshape(4, 4)))


class StudyRecord(msgspec.Struct, frozen=True):
    """One patient's volumes."""

    study_id: str
    patient_id: str
    split: str
    series: tuple[SeriesRecord, ...]
    evidence: dict[str, str] = {}
    """What came with the volumes beside masks (`boxes`, `report`, `grades`):
    its kind → hash of its content."""
    time: str = ""
    """Which visit of the patient it is (`00m`, `V06`), where a table says so; never a date."""
