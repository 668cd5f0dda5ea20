"""One patient as shapes and a grid, before any voxel is computed."""

from __future__ import annotations

import msgspec
import numpy as np

from situs.errors import SitusError, did_you_mean
from situs.space import Grid
from situs.volumes.phantoms.acquisition import acquire, draw_protocol, is_outside, overhangs_voxels
from situs.volumes.phantoms.body import Anatomy, plan_anatomy
from situs.volumes.phantoms.lesions import plan_lesions
from situs.volumes.phantoms.rotations import turned
from situs.volumes.phantoms.shapes import Cylinder, Shape, rotation_rows, vector
from situs.volumes.phantoms.truth import Modality, PhantomTruth, Pose, StructureTruth, pair_truths

__all__ = ["PatientPlan", "plan_patient", "stream"]


class PatientPlan(msgspec.Struct, frozen=True):
    """A phantom patient without voxels."""

    truth: PhantomTruth
    grid: Grid
    anatomy: Anatomy
    """The same patient in the patient's own frame."""


def stream(seed: int, index: int, name: str) -> np.random.Generator:
    """The random numbers of one purpose for one patient;
    no other patient or purpose touches them."""
    purposes = ("anatomy", "lesions", "pose", "acquisition", "image")
    return np.random.default_rng(
        np.random.SeedSequence(seed, spawn_key=(index, purposes.index(name)))
    )


def plan_patient(
    seed: int,
    index: int,
    *,
    modality: Modality | None = None,
    spacing_mm: tuple[float, float, float] | None = None,
    oblique: bool = True,
    reorder: bool = True,
) -> PatientPlan:
    """The shapes, pose and grid of one patient; cheap.

    The arguments are those of `make_patient`.
    """
    _check(seed, index, modality, spacing_mm)
    anatomy = plan_anatomy(stream(seed, index, "anatomy"))
    lesions = plan_lesions(anatomy.organs, stream(seed, index, "lesions"))
    rng = stream(seed, index, "pose")
    pose = _draw_pose(rng)
    drawn: Modality = "ct" if rng.random() < 0.6 else "mr"
    shapes: dict[str, Shape] = {
        **anatomy.organs,
        **{lesion.name: lesion.shape for lesion in lesions},
    }
    world = {name: _posed(shape, pose) for name, shape in shapes.items()}
    body = _posed(anatomy.body, pose)
    assert isinstance(body, Cylinder)
    protocol = draw_protocol(
        stream(seed, index, "acquisition"), spacing_mm, oblique=oblique, reorder=reorder
    )
    grid = acquire(protocol, world, body)
    holders = {lesion.name: lesion.organ for lesion in lesions}
    seen = [
        (name, shape)
        for name, shape in (*world.items(), ("body", body))
        if not is_outside(shape, grid)
    ]
    structures = tuple(_structure(name, shape, grid, holders.get(name)) for name, shape in seen)
    truth = PhantomTruth(
        f"phantom-{seed}-{index:04d}", modality or drawn, pose, structures, pair_truths(structures)
    )
    return PatientPlan(truth, grid, anatomy)


def _check(
    seed: int, index: int, modality: str | None, spacing_mm: tuple[float, float, float] | None
) -> None:
    if seed < 0 or index < 0:
        raise SitusError(
            f"seed {seed} or index {index} is negative", fix="give whole numbers from 0"
        )
    if modality not in (None, "ct", "mr"):
        raise SitusError(f"no modality {modality!r}", fix=did_you_mean(str(modality), ("ct", "mr")))
    if spacing_mm is not None and not (
        len(spacing_mm) == 3 and all(0.2 <= s <= 10.0 for s in spacing_mm)
    ):
        raise SitusError(
            f"spacing {spacing_mm} is not three lengths of 0.2 to 10 mm",
            fix="give right, front, head",
        )


def _draw_pose(rng: np.random.Generator) -> Pose:
    """Up to ±8° about each axis; the midline 15 to 60 mm off x = 0;
    height as a scanner's table leaves it."""
    rotation = turned(*rng.uniform(-8.0, 8.0, 3))
    x = rng.uniform(15.0, 60.0) * rng.choice([-1.0, 1.0])
    return Pose(
        rotation_rows(rotation), vector((x, rng.uniform(-80.0, 40.0), rng.uniform(-400.0, 400.0)))
    )


def _posed(shape: Shape, pose: Pose) -> Shape:
    return shape.transformed(pose.rotation, pose.translation_mm)


def _structure(name: str, shape: Shape, grid: Grid, inside: str | None) -> StructureTruth:
    cut = bool((overhangs_voxels(shape, grid) > 0.0).any())
    return StructureTruth(
        name, shape, shape.volume_ml, shape.centroid_mm, shape.box_mm, cut, inside
    )
