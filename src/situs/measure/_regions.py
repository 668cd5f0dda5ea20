"""Each structure's voxels and the numbers read straight off them."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from situs.space import Grid, IndexBox, IndexPoints, WorldBox, WorldPoints
from situs.volumes import LabelMap, Structure

__all__ = ["Region", "Regions"]

_DENSE_LABELS = 1 << 16


class Region:
    """The voxels of one structure, held as a cropped mask."""

    def __init__(self, structure: Structure, grid: Grid, mask: NDArray[np.bool_], offset: tuple[int, int, int]) -> None:
        self.structure = structure
        self.grid = grid
        self._mask = mask
        self._offset = offset

    @property
    def name(self) -> str:
        """The structure's name."""
        return self.structure.name

    @functools.cached_property
    def voxels(self) -> int:
        """Number of voxels, exact."""
        return int(np.count_nonzero(self._mask))

    @functools.cached_property
    def box_index(self) -> IndexBox:
        """Tight half-open box in stored index order."""
        i, j, k = self._offset
        a, b, c = self._mask.shape
        return IndexBox((i, j, k), (i + a, j + b, k + c))

    def index_points(self) -> IndexPoints:
        """Every voxel centre as (n, 3) indices; made anew on each call, since it is large."""
        points = np.stack(np.nonzero(self._mask), axis=1).astype(np.float64)
        return IndexPoints(points + np.array(self._offset, dtype=np.float64))

    @functools.cached_property
    def centroid_index(self) -> NDArray[np.float64]:
        """Mean voxel index, from exact integer sums."""
        result = np.empty(3)
        for axis in range(3):
            others = tuple(a for a in range(3) if a != axis)
            profile = np.count_nonzero(self._mask, axis=others)
            result[axis] = int(profile @ np.arange(profile.size)) / self.voxels + self._offset[axis]
        return result

    @functools.cached_property
    def centroid_mm(self) -> NDArray[np.float64]:
        """Mean of the voxel centres in RAS+ mm."""
        centre: NDArray[np.float64] = self.grid.affine.to_world(IndexPoints(self.centroid_index[None]))[0]
        return centre

    @functools.cached_property
    def volume_ml(self) -> float:
        """Voxels times the voxel's volume."""
        return self.voxels * self.grid.affine.voxel_volume_mm3 / 1000.0

    @functools.cached_property
    def exposed_faces(self) -> tuple[int, int, int]:
        """Voxel faces between the structure and what is not the structure, across each stored axis."""
        padded = np.pad(self._mask, 1)
        i, j, k = (int(np.count_nonzero(np.diff(padded, axis=axis))) for axis in range(3))
        return i, j, k

    @functools.cached_property
    def half_voxel_ml(self) -> float:
        """How much the volume changes if every boundary face moves by half a voxel."""
        return 0.5 * sum(self.exposed_faces) * self.grid.affine.voxel_volume_mm3 / 1000.0

    @functools.cached_property
    def face_area_mm2(self) -> float:
        """Area of the voxel staircase; an upper bound of the surface (1.5 × on a ball)."""
        return sum(n * area for n, area in zip(self.exposed_faces, self.grid.affine.face_areas_mm2))

    def boundary_points(self) -> IndexPoints:
        """Voxels with at least one of their six neighbours outside the structure, as (n, 3) indices."""
        from scipy import ndimage

        padded = np.pad(self._mask, 1)
        inner = ndimage.binary_erosion(padded)[1:-1, 1:-1, 1:-1]
        points = np.stack(np.nonzero(self._mask & ~inner), axis=1).astype(np.float64)
        return IndexPoints(points + np.array(self._offset, dtype=np.float64))

    @functools.cached_property
    def boundary_mm(self) -> WorldPoints:
        """The boundary voxels' centres in mm."""
        return self.grid.affine.to_world(self.boundary_points())

    @functools.cached_property
    def box_mm(self) -> WorldBox:
        """Tight world box over the structure's voxel cubes, also for oblique affines."""
        half = self.grid.affine.half_voxel_mm
        return WorldBox.of(self.boundary_mm.min(axis=0) - half, self.boundary_mm.max(axis=0) + half)

    @functools.cached_property
    def touches_border(self) -> bool:
        """Whether a voxel lies on the array's border, so that the structure may go on beyond it."""
        box = self.box_index
        return any(lo == 0 for lo in box.lo) or any(hi == n for hi, n in zip(box.hi, self.grid.shape))

    @functools.cached_property
    def component_voxels(self) -> tuple[int, ...]:
        """Sizes of the 26-connected components, largest first."""
        from scipy import ndimage

        labels, _ = ndimage.label(self._mask, structure=np.ones((3, 3, 3)))
        return tuple(int(n) for n in sorted(np.bincount(labels.ravel())[1:], reverse=True))

    def projections(self, directions: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """World coordinate of every voxel centre along each unit vector, one vector at a time."""
        points = self.index_points()
        affine = self.grid.affine
        for direction in directions:
            yield points @ (affine.linear.T @ direction) + float(affine.matrix[:3, 3] @ direction)


def _find_boxes(layer: NDArray[np.unsignedinteger]) -> dict[int, tuple[slice, slice, slice]]:
    """Tight slices of every label of a layer; large sparse label numbers are first made dense."""
    from scipy import ndimage

    values: NDArray[np.unsignedinteger] | None = None
    if layer.dtype.itemsize > 1 and layer.size and int(layer.max()) > _DENSE_LABELS:
        values, dense = np.unique(layer, return_inverse=True)
        layer = (dense.reshape(layer.shape) + (values[0] != 0)).astype(np.int32)
        values = values[values != 0]
    found = enumerate(ndimage.find_objects(layer))
    return {int(values[i]) if values is not None else i + 1: box for i, box in found if box is not None}


class Regions:
    """All structures of a label map, found once and cropped on demand."""

    def __init__(self, labels: LabelMap) -> None:
        self.labels = labels
        self.grid = labels.grid
        self._boxes = [_find_boxes(layer) for layer in labels.layers]
        self._regions: dict[str, Region] = {}
        self.structures = {structure.name: structure for structure in labels.structures}

    def __getitem__(self, name: str) -> Region:
        if name not in self._regions:
            structure = self.structures[name]
            slices = self._boxes[structure.layer][structure.value]
            mask = self.labels.layers[structure.layer][slices] == structure.value
            i, j, k = (int(s.start) for s in slices)
            self._regions[name] = Region(structure, self.grid, mask, (i, j, k))
        return self._regions[name]

    def __iter__(self) -> Iterator[Region]:
        return (self[name] for name in self.structures)

    def __contains__(self, name: object) -> bool:
        return name in self.structures
