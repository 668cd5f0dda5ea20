"""Wrong masks: drawn over neighbours, too large,
too small, moved, in part missing, or of another patient."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from attacks._study import (
    Attack,
    Study,
    axis_toward,
    grown,
    halved,
    mask_of,
    redrawn,
    reordered,
    shifted,
)
from situs.volumes import LabelMap

Change = Callable[[LabelMap, np.ndarray], np.ndarray]


def _changed(name: str, change: Change) -> Attack:
    """One mask changed; the others stay, so that they may overlap it."""

    def attack(study: Study) -> Study | None:
        if not study.has(name):
            return None
        mask = change(study.labels, mask_of(study.labels, name))
        return study.relabelled(redrawn(study.labels, {name: mask})) if mask.any() else None

    return attack


def _painted_over(name: str, change: Change) -> Attack:
    """One mask changed; it takes the voxels from the others, as in a map of exclusive labels."""

    def attack(study: Study) -> Study | None:
        if not study.has(name):
            return None
        labels = study.labels
        mask = change(labels, mask_of(labels, name))
        own = next(s.layer for s in labels.structures if s.name == name)
        others = {
            s.name: mask_of(labels, s.name) & ~mask
            for s in labels.structures
            if s.name != name and s.layer == own
        }
        return study.relabelled(redrawn(labels, {name: mask, **others}))

    return attack


def _every(change: Change) -> Attack:
    def attack(study: Study) -> Study:
        labels = study.labels
        return study.relabelled(
            redrawn(
                labels, {s.name: change(labels, mask_of(labels, s.name)) for s in labels.structures}
            )
        )

    return attack


def _grown(mm: float) -> Change:
    return lambda labels, mask: grown(labels, mask, mm)


def _shifted(world: int, mm: float) -> Change:
    return lambda labels, mask: shifted(labels, mask, world, mm)


def _halved(world: int, *, upper: bool) -> Change:
    return lambda labels, mask: halved(labels, mask, world, upper=upper)


def _box(labels: LabelMap, mask: np.ndarray) -> np.ndarray:
    """The box around a mask in its place."""
    result = np.zeros_like(mask)
    result[tuple(slice(int(i.min()), int(i.max()) + 1) for i in np.nonzero(mask))] = True
    return result


def _above_the_middle_of_the_scan(labels: LabelMap, mask: np.ndarray) -> np.ndarray:
    axis, sign = axis_toward(labels, 2)
    upper = sign * (np.arange(mask.shape[axis]) - mask.shape[axis] / 2.0) > 0
    shape = [1, 1, 1]
    shape[axis] = -1
    return mask & upper.reshape(shape)


def _third_slices_empty(labels: LabelMap, mask: np.ndarray) -> np.ndarray:
    axis, _ = axis_toward(labels, 2)
    result = np.moveaxis(mask.copy(), axis, 0)
    result[::3] = False
    return np.moveaxis(result, 0, axis)


def _specks(labels: LabelMap, mask: np.ndarray) -> np.ndarray:
    return mask & (np.random.default_rng(1).random(mask.shape) < 0.5)


def _speck(labels: LabelMap, mask: np.ndarray) -> np.ndarray:
    inside = np.argwhere(mask)
    result = np.zeros_like(mask)
    result[tuple(inside[len(inside) // 2])] = True
    return result


def _kidney_over_spleen(study: Study) -> Study | None:
    if not study.has("kidney_left", "spleen"):
        return None
    labels = study.labels
    half = halved(labels, mask_of(labels, "spleen"), 2, upper=False)
    return study.relabelled(redrawn(labels, {"kidney_left": mask_of(labels, "kidney_left") | half}))


def _joined(first: str, second: str) -> Attack:
    """The second structure drawn into the first, its own mask missing."""

    def attack(study: Study) -> Study | None:
        if not study.has(first, second):
            return None
        both = mask_of(study.labels, first) | mask_of(study.labels, second)
        return study.relabelled(redrawn(study.labels, {first: both, second: np.zeros_like(both)}))

    return attack


def _copied(first: str, second: str) -> Attack:
    """One mask under two names."""

    def attack(study: Study) -> Study | None:
        if not study.has(first, second):
            return None
        return study.relabelled(redrawn(study.labels, {second: mask_of(study.labels, first)}))

    return attack


def _halves_relabelled(first: str, second: str, world: int) -> Attack:
    """Two structures parted along another axis than theirs:
    the upper halves called one, the lower the other."""

    def attack(study: Study) -> Study | None:
        if not study.has(first, second):
            return None
        labels = study.labels
        masks = mask_of(labels, first), mask_of(labels, second)
        upper, lower = (
            functools.reduce(
                np.logical_or, (halved(labels, mask, world, upper=part) for mask in masks)
            )
            for part in (True, False)
        )
        return study.relabelled(redrawn(labels, {first: upper, second: lower}))

    return attack


def _flipped(world: int) -> Attack:
    """The masks flipped in their array, the image not."""

    def attack(study: Study) -> Study:
        axis, _ = axis_toward(study.labels, world)
        flipped = reordered(study.labels, lambda a: np.flip(a, axis))
        # Without an image the masks are all there is: flipped, they are the whole array.
        return Study(flipped) if study.image is None else study.relabelled(flipped)

    return attack


def other_patients(donor: Study, names: tuple[str, ...] | None = None) -> Attack:
    """Masks of another patient, laid centre on centre over this one's scan;
    all, or the named ones."""

    def attack(study: Study) -> Study | None:
        labels, masks = study.labels, {}
        for structure in labels.structures:
            if (names is None or structure.name in names) and donor.has(structure.name):
                masks[structure.name] = _laid_over(labels, donor.labels, structure.name)
        return study.relabelled(redrawn(labels, masks)) if masks else None

    return attack


def _laid_over(labels: LabelMap, donor: LabelMap, name: str) -> np.ndarray:
    index = np.argwhere(mask_of(donor, name))
    middle = (np.array(donor.grid.shape) - 1) / 2.0
    world = (index - middle) @ donor.grid.affine.matrix[:3, :3].T
    own = (
        world @ np.linalg.inv(labels.grid.affine.matrix[:3, :3]).T
        + (np.array(labels.grid.shape) - 1) / 2.0
    )
    place = np.rint(own).astype(int)
    inside = ((place >= 0) & (place < np.array(labels.grid.shape))).all(axis=1)
    mask = np.zeros(labels.grid.shape, dtype=bool)
    mask[tuple(place[inside].T)] = True
    # Donor voxels may be larger than this scan's: what lies between them belongs to the mask, too.
    return grown(labels, grown(labels, mask, 3.1), -3.1) if mask.any() else mask


_ORGANS = ("liver", "spleen", "kidney_left", "pancreas", "gallbladder")

MASKS: dict[str, Attack] = {
    "kidney_over_spleen": _kidney_over_spleen,
    "tiny_kidney": _changed("kidney_left", _speck),
    **{f"{name}_dilated_{mm}": _changed(name, _grown(mm)) for name in _ORGANS for mm in (5, 10)},
    **{
        f"{name}_painted_{mm}": _painted_over(name, _grown(mm))
        for name in ("liver", "kidney_left")
        for mm in (5, 10)
    },
    **{
        f"{name}_eroded_{mm}": _changed(name, _grown(-mm))
        for name in ("liver", "spleen")
        for mm in (5, 10)
    },
    "kidney_left_eroded_5": _changed("kidney_left", _grown(-5)),
    "pancreas_eroded_5": _changed("pancreas", _grown(-5)),
    "bladder_dilated_10": _changed("urinary_bladder", _grown(10)),
    "sacrum_dilated_5": _changed("sacrum", _grown(5)),
    "all_dilated_5": _every(_grown(5)),
    **{
        f"{name}_half_missing": _changed(name, _halved(2, upper=False))
        for name in ("liver", "spleen", "kidney_left", "kidney_right", "vertebrae_L3", "sacrum")
    },
    "liver_right_half_missing": _changed("liver", _halved(0, upper=False)),
    "spleen_slices_empty": _changed("spleen", _third_slices_empty),
    "kidney_slices_empty": _changed("kidney_right", _third_slices_empty),
    "liver_in_specks": _changed("liver", _specks),
    "kidney_as_a_box": _changed("kidney_left", _box),
    "liver_as_a_box": _changed("liver", _box),
    **{
        f"{name}_shifted_{mm}_{'xyz'[axis]}": _changed(name, _shifted(axis, mm))
        for name in ("liver", "spleen", "kidney_left")
        for mm, axis in ((20, 0), (20, 2), (50, 1), (50, 2))
    },
    "kidney_joined_to_spleen": _joined("spleen", "kidney_left"),
    "spleen_joined_to_kidney": _joined("kidney_left", "spleen"),
    "stomach_joined_to_liver": _joined("liver", "stomach"),
    "spleen_joined_to_liver": _joined("liver", "spleen"),
    "kidney_joined_to_liver": _joined("liver", "kidney_right"),
    "kidneys_joined": _joined("kidney_left", "kidney_right"),
    "kidneys_joined_the_other_way": _joined("kidney_right", "kidney_left"),
    "labels_end_halfway_down": _every(_above_the_middle_of_the_scan),
    "liver_shifted_30_x": _changed("liver", _shifted(0, 30)),
    "spleen_shifted_30_z": _changed("spleen", _shifted(2, -30)),
    "vertebrae_joined": _joined("vertebrae_L2", "vertebrae_L3"),
    "adrenal_joined_to_kidney": _joined("kidney_right", "adrenal_gland_right"),
    "liver_under_two_names": _copied("liver", "spleen"),
    "kidney_under_two_names": _copied("kidney_left", "kidney_right"),
    "spleen_under_two_names": _copied("spleen", "stomach"),
    "kidneys_parted_by_height": _halves_relabelled("kidney_left", "kidney_right", 2),
    "kidneys_parted_by_depth": _halves_relabelled("kidney_left", "kidney_right", 1),
    "vertebrae_parted_wrongly": _halves_relabelled("vertebrae_L2", "vertebrae_L3", 1),
    "masks_flipped_in_height": _flipped(2),
    "masks_flipped_in_width": _flipped(0),
    "masks_flipped_in_depth": _flipped(1),
    **{
        f"all_shifted_{mm}_{'xyz'[axis]}": _every(_shifted(axis, mm))
        for mm, axis in ((20, 0), (20, 2), (50, 2))
    },
}
