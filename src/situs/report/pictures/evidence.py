"""One series' image and labels, side by side in patient order,
verified against the bench's hashes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.bench import Bench, SeriesRecord, StudyRecord, restrict, terms_for
from situs.errors import SitusError
from situs.facts import Ledger
from situs.probe import Patient
from situs.profiles import PLANES, PatientVolume, Plane, Volumes, Window, fitting_window
from situs.report.pictures.outlines import outline_path
from situs.space import Grid

__all__ = ["Evidence"]


class Evidence:
    """Pictures, outlines and midline of one series."""

    def __init__(
        self, bench: Bench, study: StudyRecord, series: SeriesRecord, volumes: Volumes
    ) -> None:
        grid = series.grid
        if not isinstance(grid, Grid):
            raise SitusError(
                "has no millimetre coordinates, so no planes can be drawn", where=study.study_id
            )
        image, labels = volumes.image(series), restrict(volumes.labels(series), series.structures)
        self._ledger = Patient(
            study, series, labels, image, terms_for(series.structures, bench.info.terms)
        ).ledger(bench)
        self.volume = PatientVolume(image, grid, series.modality)
        self._layers = [PatientVolume(layer, grid, "labels") for layer in labels.layers]
        self._structures = {structure.name: structure for structure in labels.structures}
        self._percentiles: Window | None = None

    def __contains__(self, structure: str) -> bool:
        return structure in self._structures

    def ledger(self) -> Ledger:
        """The ledger of the series, for what only it knows: where the midline runs."""
        return self._ledger

    def window(self, structure: str | None) -> Window:
        """The window a reader would choose for the structure."""
        modality, values = self.volume.modality, self.volume.array
        if modality == "ct":
            return fitting_window(
                modality, values, values[self.mask(structure)] if structure else values[:0]
            )
        if self._percentiles is None:
            self._percentiles = fitting_window(modality, values, values[:0])
        return self._percentiles

    def outline(self, structure: str, plane: Plane, index: int) -> str:
        """The structure's edge on one slice, in the picture's pixels."""
        known = self._structures[structure]
        layer = self._layers[known.layer]
        return outline_path(layer.mask_picture(layer.array, plane, index) == known.value)

    def areas(self, structure: str) -> dict[Plane, NDArray[np.int64]]:
        """How many voxels of the structure each slice shows, by plane."""
        mask = self.mask(structure)
        return {plane: _counts(mask, plane) for plane in PLANES}

    def nearest_corners(self, a: str, b: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The voxel corners of two structures that are nearest in millimetres,
        as patient-ordered index points."""
        from scipy.spatial import cKDTree

        linear = self.volume.grid.affine.linear
        of_a, of_b = self._corners(a), self._corners(b)
        distances, places = cKDTree(of_b @ linear.T).query(of_a @ linear.T)
        best = int(np.argmin(distances))
        return of_a[best], of_b[int(places[best])]

    def _corners(self, structure: str) -> NDArray[np.float64]:
        """Corners of the voxels at the structure's surface."""
        from scipy.ndimage import binary_erosion

        mask = self.mask(structure)
        points = np.argwhere(mask & ~binary_erosion(mask)).astype(np.float64)
        shifts = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
        corners: NDArray[np.float64] = np.unique(
            (points[:, None, :] + shifts).reshape(-1, 3), axis=0
        )
        return corners

    def mask(self, structure: str) -> NDArray[np.bool_]:
        """The structure's voxels in patient order."""
        known = self._structures[structure]
        inside: NDArray[np.bool_] = self._layers[known.layer].array == known.value
        return inside


def _counts(mask: NDArray[Any], plane: Plane) -> NDArray[np.int64]:
    others = tuple(axis for axis in range(3) if axis != plane.through.world_index)
    counts: NDArray[np.int64] = np.count_nonzero(mask, axis=others)
    return counts
