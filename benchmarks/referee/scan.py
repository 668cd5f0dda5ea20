"""Masks of one study as the referee reads them: nibabel and SimpleITK, nothing of Situs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import SimpleITK
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import cKDTree

__all__ = ["Mask", "Scan", "codes_of"]

_ISLAND_SHARE = 0.01
"""DEFINITIONS, main part: islands under one in a hundred of the volume are set aside."""
_PARTS = {
    "brain_tumour_core": (
        "brain_tumour_enhancing",
        "brain_tumour_non_enhancing_core",
        "brain_tumour_necrotic_core",
    )
}
"""Structures that a map of labels gives in parts."""
_LPS = np.diag([-1.0, -1.0, 1.0, 1.0])
_EVERY_NEIGHBOUR = np.ones((3, 3, 3), bool)
_CUBE = np.array([[i, j, k] for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)])


@dataclass(frozen=True)
class Mask:
    """Voxels of one structure, by index, on a grid."""

    index: NDArray[np.int64]
    affine: NDArray[np.float64]
    shape: tuple[int, ...]

    @property
    def ml(self) -> float:
        """Volume."""
        return len(self.index) * abs(float(np.linalg.det(self.affine[:3, :3]))) / 1000.0

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """Centres of the voxels in RAS+ mm."""
        return self._world(self.index)

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """A number for each voxel of the grid, to compare masks by."""
        return codes_of(self.index)

    @cached_property
    def main(self) -> Mask:
        """Without islands."""
        parts = self.parts()
        return _joined(
            [part for part in parts if len(part.index) >= _ISLAND_SHARE * len(self.index)]
        )

    @cached_property
    def on_surface(self) -> NDArray[np.bool_]:
        """Of each voxel, whether a face of it looks outside."""
        inside = ndimage.binary_erosion(np.pad(self._block(), 1))
        deep: NDArray[np.bool_] = inside[tuple((self.index - self.index.min(0) + 1).T)]
        return ~deep

    @cached_property
    def corners(self) -> NDArray[np.float64]:
        """Corners of the voxels that have a neighbour outside, in mm, each once."""
        surface = self.index[self.on_surface]
        doubled = (2 * surface[:, None, :] + (2 * _CUBE).astype(int)[None]).reshape(-1, 3)
        return self._world(np.unique(doubled, axis=0) / 2.0)

    @cached_property
    def corner_tree(self) -> cKDTree:
        """To find the nearest corner."""
        return cKDTree(self.corners)

    @property
    def box(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The tight world box around all voxel cubes."""
        half = np.abs(self.affine[:3, :3]).sum(1) / 2.0
        return self.points.min(0) - half, self.points.max(0) + half

    def parts(self) -> list[Mask]:
        """Connected parts, corner neighbours included, largest first."""
        labels, count = ndimage.label(self._block(), _EVERY_NEIGHBOUR)
        of_voxel = labels[tuple((self.index - self.index.min(0)).T)]
        parts = [
            Mask(self.index[of_voxel == number], self.affine, self.shape)
            for number in range(1, count + 1)
        ]
        return sorted(parts, key=lambda part: -len(part.index))

    def gap_mm(self, other: Mask) -> float:
        """Face to face, 0 where they overlap.

        On one lattice of right angles the nearest points of two cubes are corners.
        """
        if np.isin(self.codes, other.codes).any():
            return 0.0
        small, large = sorted((self, other), key=lambda mask: len(mask.corners))
        return float(large.corner_tree.query(small.corners)[0].min())

    def slice_axis(self) -> int:
        """The index axis along which axial slices are stacked."""
        columns = self.affine[:3, :3] / np.linalg.norm(self.affine[:3, :3], axis=0)
        return int(np.abs(columns[2]).argmax())

    def axial_diameter_mm(self) -> tuple[float, float]:
        """The longest diameter of one part on one slice: between centres, and between corners."""
        axis = self.slice_axis()
        best = (0.0, 0.0)
        flat = np.delete(_CUBE, axis, axis=1)[:: 2 if axis == 2 else 1]
        flat = np.unique(flat, axis=0)
        for number in np.unique(self.index[:, axis]):
            on_slice = self.index[self.index[:, axis] == number]
            best = max(best, self._diameter(on_slice, axis, flat), key=lambda pair: pair[1])
        return best

    def _diameter(
        self, on_slice: NDArray[np.int64], axis: int, flat: NDArray[np.float64]
    ) -> tuple[float, float]:
        plane = np.delete(on_slice, axis, axis=1)
        low = plane.min(0)
        picture = np.zeros(plane.max(0) - low + 1, bool)
        picture[tuple((plane - low).T)] = True
        labels, count = ndimage.label(picture, np.ones((3, 3)))
        columns = np.delete(self.affine[:3, :3], axis, axis=1)
        best = (0.0, 0.0)
        for number in range(1, count + 1):
            pixels = np.argwhere(labels == number)
            rim = pixels[_on_rim(labels == number, pixels)]
            corners = (rim[:, None, :] + flat[None]).reshape(-1, 2)
            found = (_widest(rim @ columns.T), _widest(np.unique(corners, axis=0) @ columns.T))
            best = max(best, found, key=lambda pair: pair[1])
        return best

    def _block(self) -> NDArray[np.bool_]:
        low = self.index.min(0)
        block = np.zeros(self.index.max(0) - low + 1, bool)
        block[tuple((self.index - low).T)] = True
        return block

    def _world(self, index: NDArray[Any]) -> NDArray[np.float64]:
        world: NDArray[np.float64] = index @ self.affine[:3, :3].T + self.affine[:3, 3]
        return world


def _on_rim(picture: NDArray[np.bool_], pixels: NDArray[np.int64]) -> NDArray[np.bool_]:
    inside = ndimage.binary_erosion(np.pad(picture, 1))[1:-1, 1:-1]
    return ~inside[tuple(pixels.T)]


def _widest(points: NDArray[np.float64]) -> float:
    if len(points) < 2:
        return 0.0
    square = ((points[:, None, :] - points[None, :, :]) ** 2).sum(-1)
    return float(np.sqrt(square.max()))


def _joined(masks: list[Mask]) -> Mask:
    index = np.unique(np.concatenate([mask.index for mask in masks]), axis=0)
    return Mask(index, masks[0].affine, masks[0].shape)


def codes_of(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each voxel, also of those just outside the array."""
    codes: NDArray[np.int64] = (index + 1) @ np.array([1 << 40, 1 << 20, 1])
    return codes


class Scan:
    """The masks of one study, read when they are asked for."""

    def __init__(self, path: Path, labels: dict[str, int]) -> None:
        self._path, self._labels = path, labels
        self._read: dict[str, Mask | None] = {}
        self._map: tuple[NDArray[Any], NDArray[np.float64]] | None = None

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None

    def __getitem__(self, name: str) -> Mask:
        mask = self.find(name)
        if mask is None:
            raise KeyError(name)
        return mask

    @property
    def names(self) -> list[str]:
        """Structures that the bench lists for the study."""
        return sorted(self._labels)

    def find(self, name: str) -> Mask | None:
        """A structure; one half of what is annotated as both where only that is there."""
        if name not in self._read:
            self._read[name] = self._load(name)
            base = re.sub(r"_(left|right)$", "", name)
            if self._read[name] is None and base != name:
                self._read[name] = self._half(base, name.endswith("_right"))
        return self._read[name]

    def lesions(self, family: str) -> list[Mask]:
        """The lesions of a family, largest first: numbered masks, or the parts of one."""
        named = [n for n in self.names if re.fullmatch(rf"{re.escape(family)}[_-]?\d+", n)]
        if named:
            masks = [self[name] for name in named]
        elif family in self:
            masks = self[family].parts()
        else:
            raise KeyError(family)
        return sorted(masks, key=lambda mask: -len(mask.index))

    def families(self) -> set[str]:
        """Names of lesions without their numbers."""
        words = ("lesion", "tumor", "tumour", "nodule", "cyst", "metastas", "mass", "gtv")
        return {
            re.sub(r"[_-]?\d+$", "", name)
            for name in self.names
            if any(word in name.lower() for word in words)
        }

    def with_lesions(self, name: str) -> Mask:
        """An organ and every lesion that touches it: masks that leave lesions out."""
        organ = self[name]
        near = [
            lesion
            for family in self.families()
            for lesion in self.lesions(family)
            if organ.gap_mm(lesion) < 1e-6
        ]
        return _joined([organ, *near])

    def _half(self, base: str, right: bool) -> Mask | None:
        both = self._load(base)
        if both is None:
            return None
        parts = both.parts()
        two = sorted(parts[:2], key=lambda part: part.points[:, 0].mean())
        if len(two) < 2:
            return two[0]
        # Splinters, as where a tumour cuts them off, belong to the nearer half.
        halves: tuple[list[Mask], list[Mask]] = ([two[0]], [two[1]])
        for part in parts[2:]:
            halves[two[1].gap_mm(part) < two[0].gap_mm(part)].append(part)
        return _joined(halves[right])

    def _load(self, name: str) -> Mask | None:
        if self._path.is_dir():
            file = next((f for f in self._path.iterdir() if f.name.split(".")[0] == name), None)
            if file is None:
                return None
            voxels, affine = _volume(file)
            index = np.argwhere(voxels > 0)
        else:
            values = [
                self._labels[part] for part in _PARTS.get(name, (name,)) if part in self._labels
            ]
            if not values:
                return None
            self._map = self._map or _volume(self._path)
            voxels, affine = self._map
            if voxels.ndim == 4:
                layer, value = _segments(self._path)[name]
                voxels, values = voxels[layer], [value]
            index = np.argwhere(np.isin(voxels, values))
        return Mask(index, affine, voxels.shape) if len(index) else None


def _volume(path: Path) -> tuple[NDArray[Any], NDArray[np.float64]]:
    if path.name.endswith((".nii", ".nii.gz")):
        image = nibabel.load(path)  # type: ignore[attr-defined]
        return np.asarray(image.dataobj), np.asarray(image.affine, float)  # type: ignore[attr-defined]
    image = SimpleITK.ReadImage(str(path))
    direction = np.array(image.GetDirection()).reshape(3, 3)
    affine = np.eye(4)
    affine[:3, :3] = direction * np.array(image.GetSpacing())
    affine[:3, 3] = image.GetOrigin()
    # Segments that overlap lie in layers, each a component of its voxels: the first axis here.
    return SimpleITK.GetArrayFromImage(image).T, _LPS @ affine


def _segments(path: Path) -> dict[str, tuple[int, int]]:
    """The layer and the value of each segment, as 3D Slicer writes them into the header."""
    reader = SimpleITK.ImageFileReader()
    reader.SetFileName(str(path))
    reader.ReadImageInformation()
    told = {key: reader.GetMetaData(key) for key in reader.GetMetaDataKeys()}
    numbers = [key.removesuffix("_Name") for key in told if re.fullmatch(r"Segment\d+_Name", key)]
    return {
        told[f"{n}_Name"]: (int(told[f"{n}_Layer"]), int(told[f"{n}_LabelValue"])) for n in numbers
    }
