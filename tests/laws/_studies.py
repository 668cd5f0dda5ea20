"""Phantom studies as label maps, and the ways a law changes them: other axis orders, mirrored,
scaled.

Only shapes are drawn, no image, so that a study costs a fraction of a second.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from situs.anatomy import term
from situs.facts import (
    Ledger,
    MaskedSeries,
    load_recipe,
)
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure
from situs.volumes.phantoms import PatientPlan, plan_patient, rasterize

Order = tuple[tuple[int, int, int], tuple[bool, bool, bool]]

ORDERS: tuple[Order, ...] = tuple(
    itertools.product(itertools.permutations(range(3)), itertools.product((False, True), repeat=3))
)
"""The 48 ways to permute and flip three axes:
transpose by the first, then flip the new axes by the second."""

STUDY = "study"


@functools.cache
def phantom_plan(
    seed: int,
    index: int,
    spacing_mm: tuple[float, float, float] | None = None,
    *,
    oblique: bool = True,
) -> PatientPlan:
    return plan_patient(seed, index, spacing_mm=spacing_mm, oblique=oblique)


@functools.cache
def phantom_labels(
    seed: int,
    index: int,
    spacing_mm: tuple[float, float, float] | None = None,
    *,
    oblique: bool = True,
    moved: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> LabelMap:
    """The masks of one phantom patient: organs, lesions and body, each in a layer of its own kind.

    `moved`: the scan begins so many voxels further on, so that every surface falls between other
    voxels.
    """
    plan = phantom_plan(seed, index, spacing_mm, oblique=oblique)
    grid = _moved(plan.grid, moved)
    layers = tuple(np.zeros(grid.shape, dtype=np.uint8) for _ in range(3))
    structures = []
    for value, truth in enumerate(plan.truth.structures, start=1):
        layer = 2 if truth.name == "body" else 0 if truth.inside is None else 1
        mask = rasterize(truth.shape, grid)
        layers[layer][mask] = value
        if mask.any():
            structures.append(Structure(value, truth.name, layer, value))
    return LabelMap(grid, layers, tuple(structures))


def _moved(grid: Grid, voxels: tuple[float, float, float]) -> Grid:
    matrix = grid.affine.matrix.copy()
    matrix[:3, 3] += matrix[:3, :3] @ np.array(voxels)
    return Grid(grid.shape, Affine(matrix))


def ledger_of(labels: LabelMap, annotation: str = "exact") -> Ledger:
    return Ledger(
        labels,
        MaskedSeries(
            study_id=STUDY,
            series="ct",
            labels_hash="unused",
            annotation=annotation,
            side_basis="affine",
        ),
        recipe=load_recipe(),
        terms={s.name: term(s.name) for s in labels.structures},
    )


def flipped(array: np.ndarray, order: Order) -> np.ndarray:
    axes, flips = order
    return array.transpose(axes)[tuple(slice(None, None, -1 if flip else 1) for flip in flips)]


def reordered_grid(grid: Grid, order: Order) -> Grid:
    """The grid of an array stored in another order,
    by mapping three steps and the first voxel through the affine."""
    axes, flips = order
    shape = tuple(grid.shape[a] for a in axes)
    first = np.zeros(3)
    steps = np.zeros((3, 3))
    for new, (old, flip) in enumerate(zip(axes, flips)):
        first[old] = grid.shape[old] - 1 if flip else 0
        steps[old, new] = -1 if flip else 1
    matrix = np.eye(4)
    matrix[:3, :3] = grid.affine.linear @ steps
    matrix[:3, 3] = grid.affine.linear @ first + grid.affine.matrix[:3, 3]
    return Grid(shape, Affine(matrix))


def reordered(labels: LabelMap, order: Order) -> LabelMap:
    """The same patient, its array stored in another order."""
    layers = tuple(flipped(layer, order) for layer in labels.layers)
    return LabelMap(reordered_grid(labels.grid, order), layers, labels.structures)


def mirrored(labels: LabelMap, *, about_mm: float | None = None) -> LabelMap:
    """The patient reflected left to right, each positional name given to its partner;
    nameless structures leave."""
    middle = (np.array(labels.grid.shape) - 1.0) / 2.0
    centre = float((labels.grid.affine.linear @ middle + labels.grid.affine.matrix[:3, 3])[0])
    reflection = np.diag([-1.0, 1.0, 1.0, 1.0])
    reflection[0, 3] = 2.0 * (centre if about_mm is None else about_mm)
    grid = Grid(labels.grid.shape, Affine(reflection @ labels.grid.affine.matrix))
    structures = tuple(
        Structure(s.label, partner, s.layer, s.value)
        for s in labels.structures
        if (partner := term(s.name).mirrored_name) is not None
    )
    return LabelMap(grid, labels.layers, structures)


def scaled(labels: LabelMap, factor: float) -> LabelMap:
    matrix = labels.grid.affine.matrix.copy()
    matrix[:3] *= factor
    return LabelMap(Grid(labels.grid.shape, Affine(matrix)), labels.layers, labels.structures)


def close(a: object, b: object, relative: float, absolute: float = 0.0) -> bool:
    """Equal, with numbers equal to a tolerance, through tuples, lists and dicts."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None or isinstance(a, str):
        return a == b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k], relative, absolute) for k in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(close(x, y, relative, absolute) for x, y in zip(a, b))
    return math.isclose(a, b, rel_tol=relative, abs_tol=absolute)
