"""Connected components of every label of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.measure.runs import LabelRuns, Runs, find_runs

__all__ = ["LabelComponents", "components_of", "holes_of", "label_components"]


@dataclass(frozen=True, eq=False)
class LabelComponents:
    """The components of all labels, in the order in which they first appear in memory;
    stored index order."""

    connectivity: int
    label: NDArray[np.int64]
    """(n,) label value of each component."""
    voxels: NDArray[np.int64]
    """(n,)"""
    sums: NDArray[np.int64]
    """(n, 3) Σ index; over `voxels` it is the centroid."""
    lo: NDArray[np.int64]
    """(n, 3) first voxel."""
    hi: NDArray[np.int64]
    """(n, 3) one past the last voxel."""
    of_run: NDArray[np.int32]
    """Component of each run of the array's `Runs`."""


def label_components(labels: NDArray[Any], connectivity: int = 26) -> LabelComponents:
    """Components of equal label above 0 under 6-, 18- or 26-connectivity, with their statistics."""
    return components_of(find_runs(labels), connectivity)


def components_of(runs: Runs, connectivity: int) -> LabelComponents:
    """As `label_components`, from runs."""
    from situs.measure.kernels.components import join_runs, sum_components

    if connectivity not in (6, 18, 26):
        raise SitusError(
            f"connectivity {connectivity} is not one of 3D voxels", fix="give 6, 18 or 26"
        )
    if runs.label.size >= 1 << 31:
        raise SitusError("too many runs of equal label", fix="an image instead of labels?")
    _, ny, nz = runs.shape
    of_run = np.empty(runs.label.size, dtype=np.int32)
    count = join_runs(runs.row_start, runs.x0, runs.x1, runs.label, ny, nz, connectivity, of_run)
    table = np.zeros((count, 11), dtype=np.int64)
    sum_components(runs.row_start, runs.x0, runs.x1, runs.label, ny, of_run, table.reshape(-1))
    return LabelComponents(
        connectivity,
        np.array(runs.values, dtype=np.int64)[table[:, 0]],
        table[:, 1],
        runs.to_stored(table[:, 2:5]),
        runs.to_stored(table[:, 5:8]),
        runs.to_stored(table[:, 8:11]),
        of_run,
    )


def holes_of(runs: LabelRuns) -> tuple[int, ...]:
    """Voxels of each hole: a 6-connected part of what is
    not the label that is shut in by it; largest first."""
    from situs.measure.kernels.components import count_holes

    shape = [h - l for l, h in zip(runs.lo, runs.hi)]  # noqa: E741
    sizes = np.empty(runs.x0.size + shape[1] * shape[2], dtype=np.int64)
    count = count_holes(runs.x0, runs.x1, runs.y, runs.z, *runs.lo, *shape, sizes)
    return tuple(sorted((int(n) for n in sizes[:count]), reverse=True))
