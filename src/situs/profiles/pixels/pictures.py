"""Acquired slices as pictures, for readers: laid out, mapped and scaled as those of models are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.profiles.geometry.frame import Screen, Tile
from situs.profiles.geometry.lattice import AxisMap, Lattice
from situs.profiles.pixels.renderer import resized
from situs.profiles.pixels.samples import in_lattice_order, slice_of
from situs.profiles.pixels.window import Window
from situs.profiles.planes import Plane
from situs.space import Grid

__all__ = ["PLANES", "PatientVolume", "Picture", "Plane"]

PLANES = (Plane.AXIAL, Plane.CORONAL, Plane.SAGITTAL)


class PatientVolume:
    """A volume as a view whose axes run to the patient's right, front and head;
    no voxel is resampled."""

    def __init__(self, array: NDArray[Any], grid: Grid, modality: str) -> None:
        self.array = in_lattice_order(array, grid)
        self.grid = grid.in_patient_order()
        self.modality = modality
        x, y, z = (AxisMap(count, count) for count in self.array.shape)
        self._lattice = Lattice((x, y, z), np.array(self.grid.affine.matrix), has_mm=True)

    def slices(self, plane: Plane) -> int:
        """How many slices the plane has."""
        return int(self.array.shape[plane.through.world_index])

    def picture(
        self, plane: Plane, index: int, window: Window, size_px: int | None = None
    ) -> Picture:
        """One slice. Without `size_px` its pixels are the voxels;
        with it, both axes have the same scale."""
        grey = window.apply(self.mask_picture(self.array, plane, index))
        screen = Screen(plane)
        size = None if size_px is None else self._fitted(screen, size_px)
        tile = Tile(self._lattice, screen, index, size=size)
        return Picture(resized(grey, tile.size), tile)

    def mask_picture(self, mask: NDArray[Any], plane: Plane, index: int) -> NDArray[Any]:
        """The same slice of a mask stored like the volume was (already in patient order)."""
        return slice_of(mask, self._lattice, Screen(plane), index, "nearest")

    def _fitted(self, screen: Screen, size_px: int) -> tuple[int, int]:
        """The longer side has so many pixels."""
        lengths = [
            self.array.shape[axis] * float(self._lattice.spacing[axis])
            for axis in (screen.columns, screen.rows)
        ]
        scale = size_px / max(lengths)
        return max(1, round(lengths[0] * scale)), max(1, round(lengths[1] * scale))


class Picture:
    """Grey pixels of one slice, and where each lies in the patient."""

    def __init__(self, grey: NDArray[np.uint8], tile: Tile) -> None:
        self.grey = grey
        self.tile = tile
        """Maps pixels to mm and back."""
