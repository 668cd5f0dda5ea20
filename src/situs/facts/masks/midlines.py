"""Where the patient's midline runs:
by the spine, by paired organs, or by the shape of the brain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Naming, Term, is_head, is_spine
from situs.measure import Midline, Regions
from situs.space import Grid, IndexPoints

__all__ = ["find_midline"]

_LARGE = 0.5
"""Slices of the brain that are at least this large beside the largest tell where its middle is."""


def find_midline(
    regions: Regions, terms: Mapping[str, Term], brain: NDArray[np.bool_] | None, off_mm: float
) -> Midline | None:
    """Through the vertebrae if two or more are there, else the middles of two or more whole
    positional pairs, else, in a head stripped of its skull, the plane that halves the brain (known
    to `off_mm`)."""
    spine = [
        regions[name].centroid_mm for name in sorted(regions.structures) if is_spine(name, terms)
    ]
    if len(spine) >= 2:
        return Midline(spine, "spine")
    middles = []
    for name in sorted(regions.structures):
        partner = terms[name].partner
        if (
            terms[name].naming is not Naming.POSITIONAL
            or partner is None
            or name > partner
            or partner not in regions
        ):
            continue
        if not (regions[name].touches_border or regions[partner].touches_border):
            middles.append((regions[name].centroid_mm + regions[partner].centroid_mm) / 2)
    if len(middles) >= 2:
        return Midline(middles, "paired organs")
    if brain is not None and any(is_head(name, terms) for name in regions.structures):
        return _halving(brain, regions.grid, off_mm)
    return None


def _halving(brain: NDArray[np.bool_], grid: Grid, off_mm: float) -> Midline | None:
    """The plane through the centres of the brain's axial slices; None where the middle between a
    slice's left and right edge lies elsewhere, so that the brain is cut, or what is seen is
    none."""
    from situs.facts.masks.kinds_slices import axial_axis

    axis, _ = axial_axis(grid)
    slices = np.moveaxis(brain, axis, 0)
    areas = np.array([np.count_nonzero(one) for one in slices])
    large = np.flatnonzero(areas >= _LARGE * areas.max())
    centres, middles = [], []
    for k in large:
        index = np.insert(np.argwhere(slices[k]), axis, k, axis=1).astype(np.float64)
        world = np.asarray(grid.affine.to_world(IndexPoints(index)))
        centres.append(np.asarray(grid.affine.to_world(IndexPoints(index.mean(axis=0)[None])))[0])
        middles.append((world[:, 0].min() + world[:, 0].max()) / 2.0)
    points = np.array(centres)
    if len(points) < 2 or float(np.median(np.abs(points[:, 0] - middles))) > off_mm:
        return None
    ends = points[[int(points[:, 2].argmin()), int(points[:, 2].argmax())], 2]
    slope, start = np.polyfit(points[:, 2], points[:, :2], 1)
    return Midline([np.array([*(slope * z + start), z]) for z in ends], "brain", off_mm=off_mm)
