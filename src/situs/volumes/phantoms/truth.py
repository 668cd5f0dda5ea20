"""What is known exactly about a phantom, as records that go to `truth.json`."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from situs.errors import SitusError, did_you_mean
from situs.volumes.phantoms.distance import surface_distance_mm
from situs.volumes.phantoms.shapes import Box, Rotation, Shape, Vector

__all__ = ["Modality", "PairTruth", "PhantomTruth", "Pose", "StructureTruth", "pair_truths"]

Modality: TypeAlias = Literal["ct", "mr"]


class Pose(msgspec.Struct, frozen=True):
    """World mm = rotation · patient mm + translation. The patient's own frame has L1 at its origin,
    x to the patient's right, y to the front, z to the head; the midplane is x = 0 there."""

    rotation: Rotation
    translation_mm: Vector


class StructureTruth(msgspec.Struct, frozen=True):
    """The closed form of one structure in RAS+ world mm,
    of the whole shape even where the scan cuts it."""

    name: str
    shape: Shape
    volume_ml: float
    centroid_mm: Vector
    box_mm: Box
    """Axis-aligned world box, (lo, hi)."""
    cut: bool
    """Whether the shape reaches beyond the outer voxel faces of the array."""
    inside: str | None = None
    """For a lesion, the organ structure that holds it."""


class PairTruth(msgspec.Struct, frozen=True):
    """Closed-form surface distance of two structures."""

    a: str
    b: str
    surface_distance_mm: float


class PhantomTruth(msgspec.Struct, frozen=True):
    """Everything known in closed form about one phantom patient."""

    patient_id: str
    modality: Modality
    pose: Pose
    structures: tuple[StructureTruth, ...]
    pairs: tuple[PairTruth, ...]

    def __getitem__(self, name: str) -> StructureTruth:
        """The structure of that name."""
        for structure in self.structures:
            if structure.name == name:
                return structure
        names = (structure.name for structure in self.structures)
        raise SitusError(
            f"no structure {name!r} in {self.patient_id}", fix=did_you_mean(name, names)
        )

    @property
    def lesions(self) -> tuple[StructureTruth, ...]:
        """The lesions only."""
        return tuple(structure for structure in self.structures if structure.inside is not None)


def pair_truths(structures: tuple[StructureTruth, ...]) -> tuple[PairTruth, ...]:
    """Every pair that has a closed form:
    lesions, vessels and psoas among each other, lesions to vertebrae."""
    pairs: list[PairTruth] = []
    for n, a in enumerate(structures):
        for b in structures[n + 1 :]:
            distance = surface_distance_mm(a.shape, b.shape)
            if distance is not None:
                pairs.append(PairTruth(a.name, b.name, distance))
    return tuple(pairs)
