"""The changed patients by probe:
what is done to a patient, and which questions then have no answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import msgspec
import numpy as np

from situs.base.files import digest
from situs.items import Item, has_places
from situs.probe.changes.edits import copied, lesion_parts, moved, painted_out, sham
from situs.probe.changes.patient import Patient
from situs.probe.changes.reflections import mirrored, reflected
from situs.profiles import Profile
from situs.space import Affine, Axis, Grid

__all__ = [
    "CHANGES",
    "WHY_NOT",
    "Change",
    "changed",
    "changed_hash",
    "stored_otherwise",
    "undefined_by_change",
]

Change = Callable[[Patient, Profile], Patient | None]


def _largest(edit: Callable[..., Patient | None]) -> Change:
    def change(patient: Patient, profile: Profile) -> Patient | None:
        lesions = lesion_parts(patient)
        return edit(patient, lesions[0]) if lesions else None

    return change


def _reversed(patient: Patient, profile: Profile) -> Patient:
    """Turned over along the way through the profile's stack:
    the same pictures from the other end."""
    axis = {
        "axial": Axis.SUPERIOR_INFERIOR,
        "coronal": Axis.ANTERIOR_POSTERIOR,
        "sagittal": Axis.LEFT_RIGHT,
    }
    return reflected(patient, axis[profile.view.plane.value])


def stored_otherwise(patient: Patient) -> Patient:
    """The same patient, the array's axes rolled by one and the first turned round,
    and the affine with them."""
    labels, order = patient.labels, (1, 2, 0)
    shape = labels.grid.shape
    moves = np.zeros((4, 4))
    moves[3, 3] = 1.0
    for new, old in enumerate(order):
        moves[old, new] = -1.0 if new == 0 else 1.0
        moves[old, 3] = shape[old] - 1 if new == 0 else 0.0
    matrix = labels.grid.affine.matrix @ moves
    grid = Grid((shape[1], shape[2], shape[0]), Affine(matrix))
    layers = tuple(layer.transpose(order)[::-1] for layer in labels.layers)
    image = None if patient.image is None else patient.image.transpose(order)[::-1]
    series = msgspec.structs.replace(
        patient.series, shape=grid.shape, affine=tuple(float(v) for v in grid.affine.matrix.ravel())
    )
    new_labels = dataclasses.replace(labels, grid=grid, layers=layers)
    return dataclasses.replace(patient, series=series, labels=new_labels, image=image)


CHANGES: dict[str, Change] = {
    "axis-order": lambda patient, profile: stored_otherwise(patient),
    "mirror": lambda patient, profile: mirrored(patient),
    "flip-ap": lambda patient, profile: reflected(patient, Axis.ANTERIOR_POSTERIOR),
    "flip-si": lambda patient, profile: reflected(patient, Axis.SUPERIOR_INFERIOR),
    "reversed": _reversed,
    "shuffled": lambda patient, profile: patient,
    "painted-out": _largest(painted_out),
    "moved": _largest(moved),
    "copied": _largest(copied),
    "sham": _largest(sham),
}
WHY_NOT = {
    "painted-out": "the patient has no lesion",
    "moved": "the patient has no lesion with room beside it",
    "copied": "the patient has no lesion with room beside it",
    "sham": "the patient has no lesion with room beside it",
}
_FLIPS = ("flip-ap", "flip-si", "reversed")
_VERSION = "1"
"""Raised whenever a change would give other voxels; goes into the changed series' hashes."""


def changed(patient: Patient, probe: str, profile: Profile) -> Patient | None:
    """The patient under a probe, with hashes of its own; None where the change cannot be made."""
    result = CHANGES[probe](patient, profile)
    if result is None:
        return None
    series, structures = result.series, {s.name: s.label for s in result.labels.structures}
    new = msgspec.structs.replace(
        series,
        image_hash=changed_hash(series.image_hash, probe, profile) if series.image_hash else "",
        labels_hash=changed_hash(series.labels_hash, probe, profile),
        structures=structures,
        names=structures,
    )
    return dataclasses.replace(result, series=new)


def changed_hash(content_hash: str, probe: str, profile: Profile) -> str:
    """The hash that stands for changed voxels, without making them."""
    plane = profile.view.plane.value if probe == "reversed" else ""
    return digest("probe", _VERSION, probe, plane, content_hash)


def undefined_by_change(item: Item, probe: str) -> str:
    """Why an item has no answer under a change, whatever the ledger says;
    empty if it may have one."""
    if probe in _FLIPS and "side_convention" in item.needs:
        return "left and right are undefined in a flip that nobody declared"
    if probe == "shuffled":
        if any(
            need in item.needs for need in ("slice_order", "frame_count", "axial_slices", "anchor")
        ):
            return "it rests on the order of the slices"
        if has_places(item.answer) or "scale" in item.needs:
            return "it rests on the order of the slices"
    return ""
