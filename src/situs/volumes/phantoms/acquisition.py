"""How a posed patient is scanned:
spacing, obliquity, field of view, order and direction of the stored axes."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from situs.errors import SitusError
from situs.space import Affine, Grid
from situs.volumes.phantoms.rotations import about_axis
from situs.volumes.phantoms.shapes import Cylinder, FloatArray, Shape

__all__ = ["Protocol", "acquire", "draw_protocol", "is_outside", "overhangs_voxels"]

ORIENTATIONS = tuple(
    itertools.product(itertools.permutations(range(3)), itertools.product((False, True), repeat=3))
)
"""The 48 ways to order and flip three axes, as (order, flips)."""

_MOST_VOXELS = 1 << 26
_CUTS = (
    ("liver", 2, 1),
    ("spleen", 2, 1),
    ("kidney_left", 2, -1),
    ("kidney_right", 2, -1),
    ("liver", 0, 1),
    ("spleen", 0, -1),
    ("stomach", 1, 1),
)
"""(structure, axis of the scan, end of that axis) where a field of view may be too small."""


class Protocol(NamedTuple):
    """Choices of one acquisition.

    The three scan axes run nearest to right, front and head before reordering.
    """

    spacing_mm: tuple[float, float, float]
    axes: FloatArray
    """Columns are the world directions of the scan axes."""
    order: tuple[int, ...]
    flips: tuple[bool, ...]
    margins_mm: FloatArray
    cuts: tuple[tuple[str, int, int, float], ...]
    """Cuts to try, in order: structure, axis, end, fraction of the structure's extent left out.

    Empty: none.
    """


def draw_protocol(
    rng: np.random.Generator,
    spacing_mm: tuple[float, float, float] | None,
    *,
    oblique: bool,
    reorder: bool,
) -> Protocol:
    """Draw an acquisition. Every number is drawn whatever the options,
    so that options change nothing else."""
    in_plane, thick = rng.uniform(1.6, 2.4), rng.uniform(2.5, 4.0)
    slice_axis = int(rng.choice(3, p=[0.15, 0.15, 0.7]))
    tilt_axis = rng.normal(size=3)
    degrees = rng.uniform(4.0, 20.0) * (rng.random() < 0.5)
    order, flips = ORIENTATIONS[int(rng.integers(48))]
    margins = rng.uniform(8.0, 14.0, (3, 2))
    is_cut = rng.random() < 0.16
    cuts = [
        (*_CUTS[int(rng.integers(len(_CUTS)))], float(rng.uniform(0.12, 0.38))) for _ in range(60)
    ]
    if spacing_mm is None:
        spacing = [float(in_plane)] * 3
        spacing[slice_axis if reorder else 2] = float(thick)
        spacing_mm = (spacing[0], spacing[1], spacing[2])
    axes = (
        about_axis(tilt_axis / np.linalg.norm(tilt_axis), float(degrees)) if oblique else np.eye(3)
    )
    if not reorder:
        order, flips = (0, 1, 2), (False, False, False)
    return Protocol(spacing_mm, axes, order, flips, margins, tuple(cuts) if is_cut else ())


def acquire(protocol: Protocol, structures: dict[str, Shape], body: Cylinder) -> Grid:
    """The grid of a scan of posed structures:
    all of them with a margin, unless the protocol cuts one."""
    lo, hi = _field_mm(protocol, structures, body)
    for name, axis, end, fraction in protocol.cuts:
        ends = structures[name].support(np.stack([protocol.axes[:, axis], -protocol.axes[:, axis]]))
        top, bottom = float(ends[0]), -float(ends[1])
        tight_lo, tight_hi = lo.copy(), hi.copy()
        if end > 0:
            tight_hi[axis] = top - fraction * (top - bottom)
        else:
            tight_lo[axis] = bottom + fraction * (top - bottom)
        grid = _grid(protocol, tight_lo, tight_hi, anchor_high=axis if end > 0 else None)
        if _is_clear_cut(grid, structures):
            return grid
    return _grid(protocol, lo, hi, anchor_high=None)


def _field_mm(
    protocol: Protocol, structures: dict[str, Shape], body: Cylinder
) -> tuple[FloatArray, FloatArray]:
    """First and last face along each scan axis:
    each structure with its margin, and across, the trunk."""
    directions = protocol.axes.T
    room = np.maximum(protocol.margins_mm, 2.0 * np.array(protocol.spacing_mm)[:, None])
    hi = np.max([shape.support(directions) for shape in structures.values()], axis=0) + room[:, 1]
    lo = -np.max([shape.support(-directions) for shape in structures.values()], axis=0) - room[:, 0]
    trunk = Cylinder(body.centre_mm, body.semi_axes_mm, 60.0, body.rotation)
    hi[:2] = np.maximum(hi, trunk.support(directions) + 6.0)[:2]
    lo[:2] = np.minimum(lo, -trunk.support(-directions) - 6.0)[:2]
    return lo, hi


def _grid(protocol: Protocol, lo: FloatArray, hi: FloatArray, *, anchor_high: int | None) -> Grid:
    """The stored grid over the field;
    along `anchor_high` the last voxel face, not the first, is exactly met."""
    spacing = np.array(protocol.spacing_mm)
    size = np.ceil((hi - lo) / spacing).astype(int)
    if np.prod(size.astype(float)) > _MOST_VOXELS:
        raise SitusError(
            f"spacing {protocol.spacing_mm} mm gives too many voxels", fix="use a coarser spacing"
        )
    first = lo.copy()
    if anchor_high is not None:
        first[anchor_high] = hi[anchor_high] - size[anchor_high] * spacing[anchor_high]
    matrix = np.eye(4)
    matrix[:3, :3] = protocol.axes * spacing
    matrix[:3, 3] = protocol.axes @ (first + spacing / 2.0)
    a, b, c = protocol.order
    shape = (int(size[a]), int(size[b]), int(size[c]))
    i, j, k = protocol.flips
    stored = Affine(matrix).reordered((a, b, c), (i, j, k), shape)
    # NIfTI keeps the affine in single precision: rounding it here makes the written file agree
    # exactly.
    return Grid(shape, Affine(stored.matrix.astype(np.float32)))


def overhangs_voxels(shape: Shape, grid: Grid) -> FloatArray:
    """How far a shape reaches beyond the first and last voxel face of each axis,
    (3, 2) in voxels; negative inside."""
    inverse = np.linalg.inv(grid.affine.matrix)
    rows, shift = inverse[:3, :3], inverse[:3, 3]
    before = -0.5 - (shift - shape.support(-rows))
    after = shift + shape.support(rows) - (np.array(grid.shape) - 0.5)
    return np.stack([before, after], axis=1)


def is_outside(shape: Shape, grid: Grid) -> bool:
    """Whether no part of the shape lies between the array's outer faces."""
    return _misses(overhangs_voxels(shape, grid), grid)


def _misses(overhangs: FloatArray, grid: Grid) -> bool:
    """Whether what overhangs so far has no part within the grid."""
    return bool((overhangs <= -np.array(grid.shape)[:, None]).any())


def _is_clear_cut(grid: Grid, structures: dict[str, Shape]) -> bool:
    """Whether each structure is clearly whole,
    clearly cut with enough left to see, or (no lesion) clearly outside."""
    for name, shape in structures.items():
        beyond = overhangs_voxels(shape, grid)
        extent = beyond.sum(axis=1) + np.array(grid.shape)
        left = extent - beyond.clip(0.0).sum(axis=1)
        if _misses(beyond, grid):
            if "lesion" in name:
                return False
            continue
        if (np.abs(beyond) < 1.0).any() or (left < 3.0).any():
            return False
    return True
