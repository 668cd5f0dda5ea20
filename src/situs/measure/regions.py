"""Each structure and the numbers read straight off its voxels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.measure.components import holes_of
from situs.measure.layers import Layer, layers_of
from situs.measure.runs import LabelRuns
from situs.measure.statistics import SliceBoxes
from situs.measure.surface import crofton_area_mm2
from situs.measure.trees import Tree, frame_of, plant
from situs.space import Grid, IndexBox, IndexPoints, WorldBox, WorldPoints
from situs.volumes import LabelMap, Structure

__all__ = ["Component", "PrincipalAxes", "Region", "Regions"]

_VOXEL_VARIANCE = 1.0 / 12.0
"""Variance of a point spread evenly over a voxel, per squared voxel:
the voxel is a cube, not its centre."""


class Component(msgspec.Struct, frozen=True):
    """One connected part of a structure."""

    voxels: int
    volume_ml: float
    box_index: IndexBox
    centroid_mm: tuple[float, float, float]


class PrincipalAxes(msgspec.Struct, frozen=True):
    """Axes of the ellipsoid with the structure's second moments, longest first."""

    directions: tuple[tuple[float, float, float], ...]
    """Three unit vectors in RAS+; each with its largest component positive."""
    deviations_mm: tuple[float, float, float]
    """Standard deviation of the structure's volume along each."""

    @property
    def lengths_mm(self) -> tuple[float, float, float]:
        """Full axes of the solid ellipsoid with these moments (2 · √5 deviations)."""
        a, b, c = (2.0 * 5.0**0.5 * deviation for deviation in self.deviations_mm)
        return a, b, c


class Region:
    """The voxels of one structure, held as runs of its layer;
    each number is measured when first asked for."""

    def __init__(self, structure: Structure, grid: Grid, layer: Layer) -> None:
        self.structure = structure
        self.grid = grid
        self.layer = layer
        self._shadows: dict[int, tuple[NDArray[np.int64], int, int, int]] = {}
        self._place = layer.runs.place[structure.value]

    @property
    def name(self) -> str:
        """The structure's name."""
        return self.structure.name

    @functools.cached_property
    def runs(self) -> LabelRuns:
        """The structure's own runs."""
        return self.layer.runs.of(self.structure.value)

    @functools.cached_property
    def voxels(self) -> int:
        """Number of voxels, exact."""
        return int(self.layer.statistics.voxels[self._place])

    @functools.cached_property
    def box_index(self) -> IndexBox:
        """Tight half-open box in stored index order."""
        statistics = self.layer.statistics
        (i, j, k), (a, b, c) = (
            statistics.lo[self._place].tolist(),
            statistics.hi[self._place].tolist(),
        )
        return IndexBox((i, j, k), (a, b, c))

    def crop(self) -> NDArray[np.bool_]:
        """The structure inside `box_index`; made anew on each call."""
        runs = self.runs
        (x_lo, y_lo, z_lo), (x_hi, y_hi, z_hi) = runs.lo, runs.hi
        width = x_hi - x_lo + 1
        change = np.zeros(((z_hi - z_lo) * (y_hi - y_lo), width), dtype=np.int8)
        row = (runs.z.astype(np.int64) - z_lo) * (y_hi - y_lo) + (runs.y - y_lo)
        # A run may begin where another ended: of another label in between there is none, so each
        # place changes once.
        change[row, runs.x0 - x_lo] += 1
        change[row, runs.x1 - x_lo] -= 1
        inside = np.cumsum(change, axis=1, dtype=np.int8)[:, :-1].view(np.bool_)
        block = inside.reshape(z_hi - z_lo, y_hi - y_lo, width - 1)
        x, y, z = runs.axes
        order = [0, 0, 0]
        order[z], order[y], order[x] = 0, 1, 2
        return block.transpose(order)

    def index_points(self) -> IndexPoints:
        """Every voxel centre as (n, 3) indices; made anew on each call, since it is large."""
        points = np.stack(np.nonzero(self.crop()), axis=1).astype(np.float64)
        return IndexPoints(points + np.array(self.box_index.lo, dtype=np.float64))

    @functools.cached_property
    def centroid_index(self) -> NDArray[np.float64]:
        """Mean voxel index, from exact integer sums."""
        sums, lo = self.layer.statistics.sums[self._place], self.box_index.lo
        return np.array([(int(s) - a * self.voxels) / self.voxels + a for s, a in zip(sums, lo)])

    @functools.cached_property
    def centroid_mm(self) -> NDArray[np.float64]:
        """Mean of the voxel centres in RAS+ mm."""
        centre: NDArray[np.float64] = self.grid.affine.to_world(
            IndexPoints(self.centroid_index[None])
        )[0]
        return centre

    @functools.cached_property
    def volume_ml(self) -> float:
        """Voxels times the voxel's volume."""
        return self.voxels * self.grid.affine.voxel_volume_mm3 / 1000.0

    @functools.cached_property
    def covariance_mm2(self) -> NDArray[np.float64]:
        """3 × 3 covariance of the structure's volume in RAS+ mm²,
        the extent of its voxels included."""
        n = self.voxels
        sums = [int(s) for s in self.layer.statistics.sums[self._place]]
        products = self.layer.statistics.products[self._place]
        # In Python's whole numbers, so that nothing cancels.
        index = np.array(
            [
                [(n * int(products[i, j]) - sums[i] * sums[j]) / n**2 for j in range(3)]
                for i in range(3)
            ]
        )
        linear = self.grid.affine.linear
        covariance: NDArray[np.float64] = linear @ (index + _VOXEL_VARIANCE * np.eye(3)) @ linear.T
        return covariance

    @functools.cached_property
    def principal_axes(self) -> PrincipalAxes:
        """Directions and spread of the structure, longest axis first."""
        variances, vectors = np.linalg.eigh(self.covariance_mm2)
        columns = vectors[:, ::-1].T
        signs = np.sign(columns[np.arange(3), np.abs(columns).argmax(axis=1)])
        x, y, z = ((float(a), float(b), float(c)) for a, b, c in columns * signs[:, None])
        a, b, c = np.sqrt(variances[::-1])
        return PrincipalAxes((x, y, z), (float(a), float(b), float(c)))

    @functools.cached_property
    def exposed_faces(self) -> tuple[int, int, int]:
        """Voxel faces between the structure and what is not the structure,
        across each stored axis."""
        i, j, k = (
            2 * (self.voxels - int(self.layer.same(step)[self._place])) for step in _AXIS_STEPS
        )
        return i, j, k

    @functools.cached_property
    def half_voxel_ml(self) -> float:
        """How much the volume changes if every boundary face moves by half a voxel."""
        return 0.5 * sum(self.exposed_faces) * self.grid.affine.voxel_volume_mm3 / 1000.0

    @functools.cached_property
    def face_area_mm2(self) -> float:
        """Area of the voxel staircase; an upper bound of the surface (1.5 × on a ball)."""
        return sum(n * area for n, area in zip(self.exposed_faces, self.grid.affine.face_areas_mm2))

    @functools.cached_property
    def surface_area_mm2(self) -> float:
        """Area of the surface by Crofton's formula over 13 directions;
        see `crofton_area_mm2` for its bias."""
        return crofton_area_mm2(
            self.grid.affine,
            lambda step: 2 * (self.voxels - int(self.layer.same(step)[self._place])),
        )

    @functools.cached_property
    def _boundary(self) -> NDArray[np.int32]:
        """(n, 4) x, y, z along the runs' axes and open sides of the boundary voxels."""
        from situs.measure.kernels.boundary import boundary_voxels

        runs = self.runs
        _, ny, nz = (h - l for l, h in zip(runs.lo, runs.hi))  # noqa: E741
        # No more than the voxels, and than the ends of runs and the open faces across the other
        # axes.
        faces = sum(self.exposed_faces[axis] for axis in runs.axes[1:])
        points = np.empty((min(self.voxels, 2 * runs.x0.size + faces), 4), dtype=np.int32)
        _, y_lo, z_lo = runs.lo
        count = boundary_voxels(
            runs.x0, runs.x1, runs.y, runs.z, y_lo, z_lo, ny, nz, points.reshape(-1)
        )
        return points[:count].copy()

    def boundary_points(self) -> IndexPoints:
        """Voxels with at least one of their six neighbours outside the structure,
        as (n, 3) indices."""
        points = self.runs.to_stored(self._boundary[:, :3])
        return IndexPoints(points[np.lexsort(points.T[::-1])])

    @functools.cached_property
    def boundary_mm(self) -> WorldPoints:
        """The boundary voxels' centres in mm."""
        return self.grid.affine.to_world(self.boundary_points())

    @functools.cached_property
    def corners_mm(self) -> WorldPoints:
        """The boundary voxels that can be extreme along a direction, in mm; all others lie between
        two of these.

        A coordinate is linear along a line of voxels, so only the ends of a line, along each stored
        axis, count.
        """
        points = np.asarray(self.boundary_points())
        for axis in (2, 1, 0):
            rows, columns = (other for other in (0, 1, 2) if other != axis)
            # The points are in order of i, j, k as they come: along k nothing needs to be sorted.
            if axis != 2:
                points = points[np.lexsort((points[:, axis], points[:, columns], points[:, rows]))]
            line = points[:, [rows, columns]]
            changes = (line[1:] != line[:-1]).any(axis=1)
            first, last = np.append(True, changes), np.append(changes, True)
            points = points[first | last]
        return self.grid.affine.to_world(IndexPoints(points))

    @property
    def boundary_voxels(self) -> int:
        """Number of boundary voxels."""
        return len(self._boundary)

    @property
    def core_voxels(self) -> int:
        """Voxels that survive one erosion by the six neighbours;
        0 for a structure one or two voxels thin."""
        return self.voxels - self.boundary_voxels

    @functools.cached_property
    def tree(self) -> Tree:
        """Box tree over the boundary voxels, for distances."""
        return plant(self._boundary, frame_of(self.grid.affine, self.runs.axes))

    @functools.cached_property
    def box_mm(self) -> WorldBox:
        """Tight world box over the structure's voxel cubes, also for oblique affines."""
        runs = self.runs
        # The coordinate is linear along a run, so the ends hold the extremes.
        ends = np.concatenate(
            [np.stack([x, runs.y, runs.z], axis=1) for x in (runs.x0, runs.x1 - 1)]
        )
        world = np.asarray(self.grid.affine.to_world(IndexPoints(runs.to_stored(ends))))
        half = self.grid.affine.half_voxel_mm
        return WorldBox.of(world.min(axis=0) - half, world.max(axis=0) + half)

    @functools.cached_property
    def touches_border(self) -> bool:
        """Whether a voxel lies on the array's border, so that the structure may go on beyond it."""
        box = self.box_index
        return any(lo == 0 for lo in box.lo) or any(
            hi == n for hi, n in zip(box.hi, self.grid.shape)
        )

    @functools.cached_property
    def component_voxels(self) -> tuple[int, ...]:
        """Sizes of the 26-connected components, largest first."""
        rows = self.layer.components_of_label(self.structure.value, 26)
        return tuple(int(n) for n in self.layer.components(26).voxels[rows])

    def components(self, connectivity: int = 26) -> tuple[Component, ...]:
        """The connected components under 6-, 18- or 26-connectivity, largest first."""
        table = self.layer.components(connectivity)
        rows = self.layer.components_of_label(self.structure.value, connectivity)
        volume = self.grid.affine.voxel_volume_mm3 / 1000.0
        centres = self.grid.affine.to_world(
            IndexPoints(table.sums[rows] / table.voxels[rows, None])
        )
        result = []
        for row, (x, y, z) in zip(rows, centres.tolist()):
            (i, j, k), (a, b, c) = table.lo[row].tolist(), table.hi[row].tolist()
            voxels = int(table.voxels[row])
            result.append(
                Component(voxels, voxels * volume, IndexBox((i, j, k), (a, b, c)), (x, y, z))
            )
        return tuple(result)

    @functools.cached_property
    def component_counts(self) -> tuple[int, int, int]:
        """Number of components under 6-, 18- and 26-connectivity;
        a count is sure only where they agree."""
        a, b, c = (
            len(self.layer.components_of_label(self.structure.value, n)) for n in (6, 18, 26)
        )
        return a, b, c

    @functools.cached_property
    def holes(self) -> tuple[int, ...]:
        """Voxels of each part of the outside that the structure shuts in, largest first."""
        return holes_of(self.runs)

    def slice_boxes(self, axis: int) -> SliceBoxes:
        """Box on every slice across a stored axis (0, 1 or 2) where the structure has voxels."""
        from situs.measure.kernels.statistics import boxes_across_rows

        if axis == self.layer.statistics.slice_axis:
            return self.layer.statistics.slice_boxes(self.structure.value)
        runs = self.runs
        x, y, z = runs.axes
        first, end = self.box_index.lo[axis], self.box_index.hi[axis]
        table = np.zeros((end - first, 5), dtype=np.int64)
        boxes_across_rows(runs.x0, runs.x1, runs.y, runs.z, axis == x, first, table.reshape(-1))
        index = np.flatnonzero(table[:, 0])
        others = (y, z) if axis == x else (x, z)
        columns = [1, 3] if others[0] < others[1] else [3, 1]
        filled = table[index]
        return SliceBoxes(
            axis,
            index + first,
            filled[:, 0],
            filled[:, columns],
            filled[:, [c + 1 for c in columns]],
        )

    def slice_span(self, axis: int) -> tuple[int, int]:
        """First slice across a stored axis that shows the structure, and one past the last."""
        return self.box_index.lo[axis], self.box_index.hi[axis]

    def shadow(self, axis: int) -> tuple[NDArray[np.int64], int, int, int]:
        """Voxels counted along x, y or z of the runs (0, 1, 2), from the box's first voxel on.

        A flat table, its row length, and which axes its rows and its columns run along.
        """
        if axis not in self._shadows:
            self._shadows[axis] = self._count_along(axis)
        return self._shadows[axis]

    def _count_along(self, axis: int) -> tuple[NDArray[np.int64], int, int, int]:
        from situs.measure.kernels.projections import count_along_x

        runs = self.runs
        (x_lo, y_lo, z_lo), (x_hi, y_hi, z_hi) = runs.lo, runs.hi
        if axis == 0:
            width = y_hi - y_lo
            cells = (runs.z.astype(np.int64) - z_lo) * width + (runs.y - y_lo)
            counts = np.zeros((z_hi - z_lo) * width, dtype=np.int64)
            np.add.at(counts, cells, runs.x1.astype(np.int64) - runs.x0)
            return counts, width, 2, 1
        width = x_hi - x_lo + 1
        other, first, size = (
            (runs.z, z_lo, z_hi - z_lo) if axis == 1 else (runs.y, y_lo, y_hi - y_lo)
        )
        counts = np.zeros(size * width, dtype=np.int64)
        count_along_x(runs.x0, runs.x1, other, x_lo, first, width, counts)
        return counts, width, 3 - axis, 0


_AXIS_STEPS = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


class Regions:
    """All structures of a label map, each measured on demand."""

    def __init__(self, labels: LabelMap) -> None:
        self.labels = labels
        self.grid = labels.grid
        self._regions: dict[str, Region] = {}
        self._later: dict[str, Callable[[], Region]] = {}
        self.structures = {structure.name: structure for structure in labels.structures}

    def __getitem__(self, name: str) -> Region:
        if name not in self._regions and name in self._later:
            self._regions[name] = self._later[name]()
        if name not in self._regions:
            structure = self.structures[name]
            self._regions[name] = Region(
                structure, self.grid, layers_of(self.labels)[structure.layer]
            )
        return self._regions[name]

    def add(self, region: Region) -> None:
        """Know a further region by its name,
        though it is no structure of the label map (a union of some)."""
        self._regions[region.name] = region

    def add_later(self, name: str, make: Callable[[], Region]) -> None:
        """Know a further region that is made when it is first asked for."""
        self._later[name] = make

    def __iter__(self) -> Iterator[Region]:
        return (self[name] for name in self.structures)

    def __contains__(self, name: object) -> bool:
        return name in self.structures

    def by_volume(self) -> list[Region]:
        """Largest first; equal ones by name."""
        return sorted(self, key=lambda region: (-region.voxels, region.name))
