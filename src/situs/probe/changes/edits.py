"""An edited patient: a lesion painted out, moved or copied,
and a sham edit of the same size beside it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import lesion_family
from situs.base.files import digest
from situs.probe.changes.fill import filled
from situs.probe.changes.patient import Patient
from situs.volumes import LabelMap, Structure

__all__ = ["Lesion", "copied", "lesion_parts", "moved", "painted_out", "sham"]

Mask = NDArray[np.bool_]
Step = tuple[int, int, int]
_CLEAR = 2
"""Voxels between a lesion's new place and every other lesion or the organ's border."""
_TRIES = 400


@dataclasses.dataclass(frozen=True, eq=False)
class Lesion:
    """One connected lesion, and the organ that holds it."""

    structure: Structure
    mask: Mask
    organ: Structure | None
    around: Mask | None
    """The organ with all lesions in it."""


def lesion_parts(patient: Patient) -> list[Lesion]:
    """Every lesion, the largest first; a mask of several is taken apart."""
    from scipy.ndimage import label

    lesions = []
    everything = _any_lesion(patient)
    for structure in patient.labels.structures:
        if lesion_family(structure.name, patient.terms) is None:
            continue
        parts, count = label(patient.labels.mask(structure), structure=np.ones((3, 3, 3)))
        for number in range(1, count + 1):
            mask = parts == number
            organ, around = _organ_of(patient, mask, everything)
            lesions.append(Lesion(structure, mask, organ, around))
    return sorted(
        lesions, key=lambda lesion: (-int(lesion.mask.sum()), *np.argwhere(lesion.mask)[0].tolist())
    )


def painted_out(patient: Patient, lesion: Lesion) -> Patient:
    """Without the lesion: healthy organ in its place, in the image and in the masks."""
    labels = _without(patient.labels, lesion)
    image = (
        None
        if patient.image is None
        else filled(patient.image, lesion.mask, lesion.around, _seed(patient, lesion))
    )
    return dataclasses.replace(patient, labels=labels, image=image)


def moved(patient: Patient, lesion: Lesion) -> Patient | None:
    """With the lesion elsewhere in its organ; None where there is no room."""
    step = _new_place(patient, lesion)
    return (
        None if step is None else _placed(painted_out(patient, lesion), lesion, step, patient.image)
    )


def copied(patient: Patient, lesion: Lesion) -> Patient | None:
    """With a second lesion like this one elsewhere in its organ; None where there is no room."""
    step = _new_place(patient, lesion)
    return None if step is None else _placed(patient, lesion, step, patient.image)


def _placed(patient: Patient, lesion: Lesion, step: Step, original: NDArray[Any] | None) -> Patient:
    """The patient with the lesion, as the original image shows it, at another place as well."""
    layers = list(patient.labels.layers)
    layer = layers[lesion.structure.layer].copy(order="K")
    layer[_shifted(lesion.mask, step)] = lesion.structure.value
    layers[lesion.structure.layer] = layer
    structures = patient.labels.structures
    if lesion.structure not in structures:
        structures = tuple(sorted((*structures, lesion.structure), key=lambda s: s.label))
    labels = dataclasses.replace(patient.labels, layers=tuple(layers), structures=structures)
    image = patient.image
    if image is not None and original is not None:
        source = np.argwhere(_dilated(lesion.mask, 1))
        image = image.copy(order="K")
        image[tuple((source + step).T)] = original[tuple(source.T)]
    return dataclasses.replace(patient, labels=labels, image=image)


def sham(patient: Patient, lesion: Lesion) -> Patient | None:
    """A piece of healthy organ of the lesion's shape
    painted over with the same brush; the masks stay."""
    step = _new_place(patient, lesion)
    if step is None or patient.image is None:
        return None
    where = _shifted(lesion.mask, step)
    return dataclasses.replace(
        patient, image=filled(patient.image, where, lesion.around, _seed(patient, lesion))
    )


def _without(labels: LabelMap, lesion: Lesion) -> LabelMap:
    """Masks without the lesion; where labels exclude each other, the organ takes its place."""
    layers = list(labels.layers)
    layer = layers[lesion.structure.layer].copy(order="K")
    fill = 0
    if lesion.organ is not None and lesion.organ.layer == lesion.structure.layer:
        fill = lesion.organ.value
    layer[lesion.mask] = fill
    layers[lesion.structure.layer] = layer
    left = bool((layer == lesion.structure.value).any())
    structures = (
        labels.structures if left else tuple(s for s in labels.structures if s != lesion.structure)
    )
    return dataclasses.replace(labels, layers=tuple(layers), structures=structures)


def _any_lesion(patient: Patient) -> Mask:
    labels = patient.labels
    result: Mask = np.zeros(labels.grid.shape, dtype=np.bool_)
    for structure in labels.structures:
        if lesion_family(structure.name, patient.terms) is not None:
            result |= labels.mask(structure)
    return result


def _organ_of(patient: Patient, mask: Mask, lesions: Mask) -> tuple[Structure | None, Mask | None]:
    """The structure that holds most of the lesion,
    or surrounds most of it where labels exclude each other."""
    labels, shell = patient.labels, _dilated(mask, 2) & ~lesions
    best: tuple[float, Structure] | None = None
    for structure in labels.structures:
        if lesion_family(structure.name, patient.terms) is not None or structure.name == "body":
            continue
        inside = labels.mask(structure)
        share = max(float(inside[mask].mean()), float(inside[shell].mean()) if shell.any() else 0.0)
        if share > 0.5 and (best is None or share > best[0]):
            best = share, structure
    if best is None:
        return None, None
    return best[1], labels.mask(best[1]) | mask


def _new_place(patient: Patient, lesion: Lesion) -> Step | None:
    """A shift that keeps the lesion within its organ and clear of every lesion;
    drawn, the same each time."""
    if lesion.around is None:
        return None
    from scipy.ndimage import binary_erosion

    taken = _dilated(_any_lesion(patient) | lesion.mask, _CLEAR)
    room = binary_erosion(lesion.around | taken, iterations=_CLEAR) & ~taken
    centre = np.round(np.argwhere(lesion.mask).mean(axis=0)).astype(int)
    places = np.argwhere(room)
    if not len(places):
        return None
    generator = np.random.default_rng(_seed(patient, lesion))
    for new_centre in places[generator.permutation(len(places))[:_TRIES]]:
        a, b, c = (int(v) for v in new_centre - centre)
        step = a, b, c
        where = _shifted(lesion.mask, step)
        if where.sum() == lesion.mask.sum() and room[where].all():
            return step
    return None


def _shifted(mask: Mask, step: Step) -> Mask:
    """The mask moved by whole voxels; what leaves the array is lost."""
    result: Mask = np.zeros_like(mask)
    where = np.argwhere(mask) + np.array(step)
    inside = ((where >= 0) & (where < mask.shape)).all(axis=1)
    result[tuple(where[inside].T)] = True
    return result


def _dilated(mask: Mask, voxels: int) -> Mask:
    from scipy.ndimage import binary_dilation

    result: Mask = binary_dilation(mask, iterations=voxels)
    return result


def _seed(patient: Patient, lesion: Lesion) -> int:
    return int(
        digest(
            patient.series.labels_hash, lesion.structure.name, str(int(lesion.mask.sum())), size=4
        ),
        16,
    )
