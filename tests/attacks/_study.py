"""A study as an attack sees it, and the changes that attacks are made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
from scipy import ndimage

from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure


class Study(msgspec.Struct, frozen=True):
    """Masks and, in some studies, an image on the same grid."""

    labels: LabelMap
    image: np.ndarray | None = None
    drawn: LabelMap | None = None
    """What the patient has, voxel by voxel, whatever the attack says of it."""
    modality: str = "ct"
    """What the image is."""

    @property
    def truth(self) -> LabelMap:
        return self.drawn or self.labels

    def has(self, *names: str) -> bool:
        return set(names) <= {s.name for s in self.labels.structures}

    def relabelled(self, labels: LabelMap) -> Study:
        """Other masks over the same patient."""
        return msgspec.structs.replace(self, labels=labels, drawn=self.truth)


Attack = Callable[[Study], Study | None]
"""None where a study has nothing that the attack could spoil."""


def write_masks(labels: LabelMap, folder: Path) -> Path:
    """A folder of one mask a structure, as TotalSegmentator writes it."""
    import nibabel

    (folder / "segmentations").mkdir(parents=True)
    for structure in labels.structures:
        mask = labels.mask(structure).astype(np.uint8)
        image = nibabel.Nifti1Image(mask, labels.grid.affine.matrix)
        nibabel.save(image, folder / "segmentations" / f"{structure.name}.nii.gz")
    return folder


def placed(labels: LabelMap, matrix: np.ndarray) -> LabelMap:
    """The same array with its affine changed in the world: what a wrong header does."""
    grid = Grid(labels.grid.shape, Affine(matrix @ labels.grid.affine.matrix))
    return LabelMap(grid, labels.layers, labels.structures)


def reordered(labels: LabelMap, change: Callable[[np.ndarray], np.ndarray]) -> LabelMap:
    """Another order of the voxels under the same affine."""
    layers = tuple(np.ascontiguousarray(change(layer)) for layer in labels.layers)
    return LabelMap(Grid(layers[0].shape, labels.grid.affine), layers, labels.structures)


def renamed(labels: LabelMap, new_name: Callable[[str], str | None]) -> LabelMap:
    """Every structure under another name; those without one are left out."""
    structures = tuple(
        Structure(s.label, name, s.layer, s.value)
        for s in labels.structures
        if (name := new_name(s.name)) is not None
    )
    return LabelMap(labels.grid, labels.layers, structures)


def mask_of(labels: LabelMap, name: str) -> np.ndarray:
    return labels.mask(next(s for s in labels.structures if s.name == name))


def redrawn(labels: LabelMap, masks: dict[str, np.ndarray]) -> LabelMap:
    """Some structures drawn anew, each in a layer of its own; empty ones are left out."""
    known = {s.name: s.label for s in labels.structures}
    next_label = max(known.values()) + 1
    layers = list(labels.layers)
    structures = [s for s in labels.structures if s.name not in masks]
    for name, mask in masks.items():
        if mask.any():
            label = known.get(name, next_label)
            next_label += name not in known
            structures.append(Structure(label, name, len(layers), 1))
            layers.append(mask.astype(np.uint8))
    return LabelMap(labels.grid, tuple(layers), tuple(structures))


def axis_toward(labels: LabelMap, world: int) -> tuple[int, int]:
    """The voxel axis that runs most along a world axis, and its sign."""
    column = labels.grid.affine.matrix[world, :3] / labels.grid.affine.spacing_mm
    axis = int(np.abs(column).argmax())
    return axis, int(np.sign(column[axis]))


def grown(labels: LabelMap, mask: np.ndarray, mm: float) -> np.ndarray:
    """A mask dilated (or, with a negative length, eroded) by so many millimetres."""
    spacing = labels.grid.affine.spacing_mm
    if mm > 0:
        return np.asarray(ndimage.distance_transform_edt(~mask, sampling=spacing) <= mm)
    return np.asarray(ndimage.distance_transform_edt(mask, sampling=spacing) > -mm)


def shifted(labels: LabelMap, mask: np.ndarray, world: int, mm: float) -> np.ndarray:
    """A mask moved along a patient's axis; what leaves the scan is gone."""
    axis, sign = axis_toward(labels, world)
    steps = sign * round(mm / float(labels.grid.affine.spacing_mm[axis]))
    moved = np.zeros_like(mask)
    source, target = [slice(None)] * 3, [slice(None)] * 3
    target[axis] = slice(max(steps, 0), mask.shape[axis] + min(steps, 0))
    source[axis] = slice(max(-steps, 0), mask.shape[axis] - max(steps, 0))
    moved[tuple(target)] = mask[tuple(source)]
    return moved


def halved(labels: LabelMap, mask: np.ndarray, world: int, *, upper: bool) -> np.ndarray:
    """The half of a mask that lies further along a patient's axis, or the other half."""
    axis, sign = axis_toward(labels, world)
    middle = float(np.median(np.nonzero(mask)[axis]))
    index = np.arange(mask.shape[axis])
    keep = (sign * (index - middle) > 0) == upper
    shape = [1, 1, 1]
    shape[axis] = -1
    return mask & keep.reshape(shape)
