"""Exact distances between structures."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from situs.measure._regions import Region
from situs.space import IndexPoints

__all__ = ["boundary_distance_mm", "gap_mm"]


def boundary_distance_mm(a: Region, b: Region) -> float:
    """Smallest distance in mm between a boundary voxel centre of `a` and one of `b`, exact."""
    return _nearest(np.asarray(a.boundary_mm), np.asarray(b.boundary_mm))


def gap_mm(a: Region, b: Region) -> float:
    """Face-to-face distance in mm between the voxel cubes of two structures that do not touch, exact.

    Two cubes of one lattice are nearest at a pair of their corners, whatever their offset, so the gap
    is the smallest distance between lattice corners (for voxel axes at right angles).
    """
    return _nearest(_corners_mm(a), _corners_mm(b))


def _corners_mm(region: Region) -> NDArray[np.float64]:
    points = np.asarray(region.boundary_points())
    shifts = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    corners = np.unique((points[:, None, :] + shifts).reshape(-1, 3), axis=0)
    return np.asarray(region.grid.affine.to_world(IndexPoints(corners)))


def _nearest(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    from scipy.spatial import cKDTree

    small, large = (a, b) if len(a) <= len(b) else (b, a)
    distances, _ = cKDTree(large).query(small)
    return float(distances.min())
