"""A phantom patient as voxels: an image that looks like a scan, and exact masks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError, did_you_mean
from situs.space import Grid
from situs.volumes.phantoms.body import STRUCTURES
from situs.volumes.phantoms.lesions import LESION_NAMES
from situs.volumes.phantoms.plan import PatientPlan, plan_patient, stream
from situs.volumes.phantoms.raster import inside_window, window_of
from situs.volumes.phantoms.shapes import BoolArray
from situs.volumes.phantoms.texture import paint
from situs.volumes.phantoms.truth import Modality, PhantomTruth

__all__ = ["PhantomPatient", "make_patient"]

_LAYERS = (STRUCTURES, LESION_NAMES, ("body",))
"""Organs, lesions, body: within a layer nothing overlaps.

A name's value is its place in its layer, from 1.
"""


@dataclass(frozen=True, eq=False)
class PhantomPatient:
    """A synthetic patient. Arrays are read-only and in stored order."""

    patient_id: str
    modality: Modality
    grid: Grid
    image: NDArray[np.int16]
    """CT: Hounsfield units. MR: arbitrary positive units."""
    layers: tuple[NDArray[np.uint8], ...]
    """Label maps: organs, lesions, body.

    A voxel belongs to a shape iff its centre lies inside the shape.
    """
    names: dict[str, tuple[int, int]]
    """Structure name → (layer, value), for the structures inside the field of view."""
    truth: PhantomTruth

    def mask(self, name: str) -> BoolArray:
        """The voxels of one structure."""
        if name not in self.names:
            raise SitusError(
                f"no structure {name!r} in {self.patient_id}", fix=did_you_mean(name, self.names)
            )
        layer, value = self.names[name]
        voxels: BoolArray = self.layers[layer] == value
        return voxels


def make_patient(
    seed: int,
    index: int,
    *,
    modality: Modality | None = None,
    spacing_mm: tuple[float, float, float] | None = None,
    oblique: bool = True,
    reorder: bool = True,
    noise: bool = True,
) -> PhantomPatient:
    """Patient number `index` of the population `seed`; the same arguments always give the same
    bytes.

    `modality` None draws CT or MR. `spacing_mm` is that of the scan axes nearest to right, front
    and head, before reordering; None draws it. `oblique` False keeps the scan axes along the world
    axes (the patient stays posed). `reorder` False stores the axes as right, front, head with axial
    slices. `noise` False leaves out scanner noise; tissue texture and the MR bias field stay. No
    option changes the anatomy or the pose.
    """
    plan = plan_patient(
        seed, index, modality=modality, spacing_mm=spacing_mm, oblique=oblique, reorder=reorder
    )
    layers, names = _label(plan)
    image = paint(plan, stream(seed, index, "image"), noise=noise)
    image.flags.writeable = False
    for layer in layers:
        layer.flags.writeable = False
    truth = plan.truth
    return PhantomPatient(truth.patient_id, truth.modality, plan.grid, image, layers, names, truth)


def _label(plan: PatientPlan) -> tuple[tuple[NDArray[np.uint8], ...], dict[str, tuple[int, int]]]:
    layers = tuple(np.zeros(plan.grid.shape, dtype=np.uint8) for _ in _LAYERS)
    names: dict[str, tuple[int, int]] = {}
    for structure in plan.truth.structures:
        layer = next(n for n, members in enumerate(_LAYERS) if structure.name in members)
        names[structure.name] = (layer, _LAYERS[layer].index(structure.name) + 1)
        window = window_of(structure.shape, plan.grid)
        if window is not None:
            layers[layer][window][inside_window(structure.shape, plan.grid, window)] = names[
                structure.name
            ][1]
    return layers, names
