"""How long a structure is: on one slice, and in space.

Both are measured between the middles of outer voxel faces (the vertices of a marching-cubes mesh,
as the Image Biomarker Standardisation Initiative measures its maximum 3D diameter), not between
voxel centres, which would lose a voxel, nor between corners, which would add most of one.
"""

from __future__ import annotations

import itertools

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.measure.regions import Region
from situs.measure.runs import LabelRuns, find_runs
from situs.measure.trees import frame_of, plant
from situs.space import Axis, IndexPoints

__all__ = ["AxialDiameter", "Length", "axial_diameter", "length_3d"]

Point = tuple[float, float, float]

_OFFSETS = np.array(
    [
        (np.eye(3)[i] * s + np.eye(3)[j] * t) / 2.0
        for i, j in itertools.combinations_with_replacement(range(3), 2)
        for s, t in itertools.product((-1, 1), repeat=2)
        if i != j or s == t
    ]
)
"""All differences of two face middles, seen from the voxel centres;
none is longer along the way than these."""


class AxialDiameter(msgspec.Struct, frozen=True):
    """The longest diameter of one connected part of a structure on one axial slice,
    with the longest across it."""

    length_mm: float
    ends_mm: tuple[Point, Point]
    perpendicular_mm: float
    """Longest chord at right angles to it, within the part's convex hull."""
    perpendicular_ends_mm: tuple[Point, Point]
    slice_axis: int
    """The stored axis that the slices lie across."""
    slice_index: int


class Length(msgspec.Struct, frozen=True):
    """The longest straight way through space from one point of a structure to another."""

    length_mm: float
    ends_mm: tuple[Point, Point]


def axial_diameter(region: Region) -> AxialDiameter:
    """Largest Feret diameter of one 8-connected part on one acquired axial slice, exact.

    Axial is the stored axis nearest to superior-inferior, so that on an oblique scan it is the
    slice as acquired.
    """
    from situs.measure.kernels.diameters import largest_on_slices

    affine = region.grid.affine
    axis = next(i for i, d in enumerate(affine.directions) if d.axis is Axis.SUPERIOR_INFERIOR)
    runs, shift = _runs_across(region, axis)
    frame = frame_of(affine, runs.axes)
    rows = runs.hi[1] - runs.lo[1]
    hull_x, hull_y = np.empty(4 * rows + 6, dtype=np.int64), np.empty(4 * rows + 6, dtype=np.int64)
    out = np.zeros(4, dtype=np.int64)
    steps = (0.5 * float(frame[0]), 0.5 * float(frame[1]), 0.5 * float(frame[4]))
    squared = largest_on_slices(
        runs.x0, runs.x1, runs.y, runs.z, runs.lo[1], rows, *steps, hull_x, hull_y, out
    )
    index, count, first, second = out.tolist()
    # Half pixels: x from the array's first voxel, y from the box's first row less one half.
    hull = np.stack([hull_x[:count] / 2.0, (hull_y[:count] - 1) / 2.0 + runs.lo[1]], axis=1)
    across, chord = _longest_across(hull, first, second, frame)

    def to_mm(points: NDArray[np.float64]) -> tuple[Point, Point]:
        voxel_points = runs.to_stored(np.column_stack([points, np.full(2, index)])) + shift
        a, b = np.asarray(affine.to_world(IndexPoints(voxel_points))).tolist()
        return (a[0], a[1], a[2]), (b[0], b[1], b[2])

    return AxialDiameter(
        float(np.sqrt(squared)),
        to_mm(hull[[first, second]]),
        across,
        to_mm(chord),
        axis,
        index + int(shift[axis]),
    )


def _runs_across(region: Region, axis: int) -> tuple[LabelRuns, NDArray[np.float64]]:
    """Runs within the slices across an axis,
    z counting slices, and where their first voxel lies."""
    if region.runs.axes[2] == axis:
        return region.runs, np.zeros(3)
    others = [a for a in range(3) if a != axis]
    mask = region.crop().transpose([axis, others[1], others[0]]).copy()
    back = [0, 0, 0]
    back[axis], back[others[1]], back[others[0]] = 0, 1, 2
    runs = find_runs(mask.transpose(back))
    x, y = (a for a in runs.axes if a != axis)
    if (
        runs.axes[2] != axis
    ):  # a side one voxel long: memory order does not tell it from the slice axis
        return _sorted_across(runs.of(1), axis, x, y), np.array(
            region.box_index.lo, dtype=np.float64
        )
    return runs.of(1), np.array(region.box_index.lo, dtype=np.float64)


def _sorted_across(runs: LabelRuns, axis: int, x: int, y: int) -> LabelRuns:
    """Single voxels as runs, sorted by slice and row."""
    length = runs.x1 - runs.x0
    start = np.repeat(runs.x0, length) + (
        np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    )
    points = np.empty((3, start.size), dtype=np.int32)
    points[list(runs.axes)] = start, np.repeat(runs.y, length), np.repeat(runs.z, length)
    order = np.lexsort((points[x], points[y], points[axis]))
    px, py, pz = (np.ascontiguousarray(points[a][order]) for a in (x, y, axis))
    sizes = dict(zip(runs.axes, runs.shape))
    return LabelRuns((x, y, axis), (sizes[x], sizes[y], sizes[axis]), px, px + np.int32(1), py, pz)


def _longest_across(
    hull: NDArray[np.float64], first: int, second: int, frame: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Longest chord of a convex polygon at right angles to the line between two of its points, and
    its two ends.

    The width of a convex polygon is a concave function along that line, linear between vertices:
    the longest chord passes through a vertex.
    """
    to_mm = np.array([[frame[0], frame[1]], [0.0, frame[4]]])
    points = hull @ to_mm.T
    along = points[second] - points[first]
    along = along / np.linalg.norm(along)
    t, s = points @ along, points @ np.array([-along[1], along[0]])
    best, ends = -1.0, np.zeros((2, 2))
    order = np.argsort(
        np.arctan2(points[:, 1] - points[:, 1].mean(), points[:, 0] - points[:, 0].mean())
    )
    following = np.roll(order, -1)
    for position in t:
        low, high = np.minimum(t[order], t[following]), np.maximum(t[order], t[following])
        crossed = (low <= position) & (position <= high)
        i, j = order[crossed], following[crossed]
        span = np.where(t[j] == t[i], 1.0, t[j] - t[i])
        share = np.clip((position - t[i]) / span, 0.0, 1.0)
        cuts = np.concatenate(
            [s[i] + share * (s[j] - s[i]), s[i][t[i] == t[j]], s[j][t[i] == t[j]]]
        )
        if np.ptp(cuts) > best:
            best = float(np.ptp(cuts))
            ends = np.array([(position, cuts.min()), (position, cuts.max())])
    turned = np.stack(
        [
            ends[:, 0] * along[0] - ends[:, 1] * along[1],
            ends[:, 0] * along[1] + ends[:, 1] * along[0],
        ],
        1,
    )
    return best, turned @ np.linalg.inv(to_mm).T


def length_3d(region: Region) -> Length:
    """Largest distance between two points of a structure's surface, in mm, exact.

    Of all voxels, only those at the ends of a row can be farthest apart.
    """
    from situs.measure.kernels.trees import farthest

    runs, affine = region.runs, region.grid.affine
    begins = np.flatnonzero(
        np.concatenate([[True], (np.diff(runs.y) != 0) | (np.diff(runs.z) != 0)])
    )
    ends = np.concatenate([begins[1:], [runs.x0.size]]) - 1
    columns = [
        np.stack([x, runs.y[rows], runs.z[rows], np.zeros(rows.size, dtype=np.int32)], axis=1)
        for x, rows in ((runs.x0[begins], begins), (runs.x1[ends] - 1, ends))
    ]
    frame = frame_of(affine, runs.axes)
    tree = plant(np.concatenate(columns), frame)
    out = np.zeros(3, dtype=np.int64)
    squared = farthest(
        tree.points.reshape(-1),
        tree.boxes.reshape(-1),
        tree.level_start,
        frame,
        _OFFSETS.reshape(-1),
        np.empty(4 * 256, dtype=np.int64),
        np.empty(256),
        out,
    )
    first, second = (tree.points[i, :3].astype(np.float64) for i in out[:2])
    start, end = _faces(_OFFSETS[out[2]])
    both = np.asarray(
        affine.to_world(IndexPoints(runs.to_stored(np.stack([first + start, second + end]))))
    ).tolist()
    (a, b, c), (d, e, f) = both
    return Length(float(np.sqrt(squared)), ((a, b, c), (d, e, f)))


def _faces(offset: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two face middles, seen from their voxels' centres, whose difference is an offset."""
    axis = int(np.abs(offset).argmax())
    end = np.zeros(3)
    end[axis] = 0.5 * np.sign(offset[axis])
    return end - offset, end
