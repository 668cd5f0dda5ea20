"""Exact distances between structures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.measure.regions import Region
from situs.measure.trees import CENTRES, frame_of, gap_mode, is_square, nearest_of_pairs
from situs.space import IndexPoints

__all__ = ["Nearest", "boundary_distance_mm", "gap_mm", "nearest_boundaries", "nearest_faces"]

Point = tuple[float, float, float]


class Nearest(msgspec.Struct, frozen=True):
    """The shortest way between two structures."""

    a: str
    b: str
    distance_mm: float
    a_mm: Point
    """Where it starts on `a`, RAS+."""
    b_mm: Point
    """Where it ends on `b`, RAS+."""
    a_voxel: tuple[int, int, int]
    """The voxel of `a`, in stored index order."""
    b_voxel: tuple[int, int, int]
    """The voxel of `b`, in stored index order."""


def boundary_distance_mm(a: Region, b: Region) -> float:
    """Smallest distance in mm between a boundary voxel centre of `a` and one of `b`, exact."""
    return nearest_boundaries([(a, b)])[0].distance_mm


def gap_mm(a: Region, b: Region) -> float:
    """Face-to-face distance in mm between the voxel cubes of two structures that do not touch,
    exact.

    Two cubes of one lattice are nearest at a pair of their corners, whatever their offset, so the
    gap is the smallest distance between lattice corners (for voxel axes at right angles).
    """
    return nearest_faces([(a, b)])[0].distance_mm


def nearest_boundaries(
    pairs: Sequence[tuple[Region, Region]] | None = None, *, among: Sequence[Region] = ()
) -> list[Nearest]:
    """The two nearest boundary voxels of each pair, centre to centre; of all pairs `among` if none
    are given.

    All must lie on one grid. Of several nearest pairs of voxels one is returned.
    """
    return _nearest(_pairs(pairs, among), gap=False)


def nearest_faces(
    pairs: Sequence[tuple[Region, Region]] | None = None, *, among: Sequence[Region] = ()
) -> list[Nearest]:
    """The two nearest points on the voxel cubes of each pair; 0 when cubes touch.

    As `nearest_boundaries`.
    """
    return _nearest(_pairs(pairs, among), gap=True)


def _pairs(
    pairs: Sequence[tuple[Region, Region]] | None, among: Sequence[Region]
) -> list[tuple[Region, Region]]:
    return list(itertools.combinations(among, 2)) if pairs is None else list(pairs)


def _nearest(pairs: list[tuple[Region, Region]], *, gap: bool) -> list[Nearest]:
    if not pairs:
        return []
    affine, axes = pairs[0][0].grid.affine, pairs[0][0].runs.axes
    if any(region.runs.axes != axes for pair in pairs for region in pair):
        raise SitusError(
            "layers lie in memory in different axis orders", fix="measure them as one label map"
        )
    number: dict[int, int] = {}
    regions: list[Region] = []
    for region in itertools.chain.from_iterable(pairs):
        if id(region) not in number:
            number[id(region)] = len(regions)
            regions.append(region)
    indices = np.array([(number[id(a)], number[id(b)]) for a, b in pairs], dtype=np.int64)
    square = is_square(affine)
    apart = np.array(
        [square and a.layer is b.layer and a.structure.value != b.structure.value for a, b in pairs]
    )
    mode = gap_mode(affine) if gap else CENTRES
    distances, first, second = nearest_of_pairs(
        [r.tree for r in regions], indices, apart, frame_of(affine, axes), mode
    )
    to_stored = pairs[0][0].runs.to_stored
    a_index, b_index = to_stored(first), to_stored(second)
    a_mm, b_mm = (
        np.asarray(affine.to_world(IndexPoints(p)))
        for p in _ends(a_index, b_index, affine.linear, mode)
    )
    columns = (distances, a_mm, b_mm, a_index.astype(np.int64), b_index.astype(np.int64))
    rows = zip(pairs, *(column.tolist() for column in columns))
    return [
        Nearest(a.name, b.name, distance, (*start,), (*end,), (*start_voxel,), (*end_voxel,))
        for (a, b), distance, start, end, start_voxel, end_voxel in rows
    ]


def _ends(
    a: NDArray[np.float64], b: NDArray[np.float64], linear: NDArray[np.float64], mode: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two points, in index coordinates, between which the distance was taken."""
    if mode == CENTRES:
        return a, b
    if mode == 1:
        half = 0.5 * np.sign(b - a)
        return a + half, b - half
    moves = np.array(list(itertools.product((-1, 0, 1), repeat=3)), dtype=np.float64)
    lengths = np.linalg.norm(((b - a)[:, None, :] + moves) @ linear.T, axis=2)
    half = -0.5 * moves[lengths.argmin(axis=1)]
    return a + half, b - half
