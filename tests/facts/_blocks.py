"""Patients made of blocks, whose facts follow from a formula."""

from __future__ import annotations

import numpy as np

from situs.anatomy import term
from situs.facts import (
    Ledger,
    MaskedSeries,
    Recipe,
    load_recipe,
)
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

Corners = tuple[tuple[int, int, int], tuple[int, int, int]]


def block_labels(shape, spacing_mm: float = 1.0, **blocks: Corners) -> LabelMap:
    """RAS+ voxels of one spacing, the first at the origin;
    each block is half-open, in a layer of its own."""
    layers, structures = [], []
    for number, (name, (lo, hi)) in enumerate(blocks.items()):
        layer = np.zeros(shape, dtype=np.uint8)
        layer[tuple(slice(a, b) for a, b in zip(lo, hi))] = 1
        layers.append(layer)
        structures.append(Structure(number + 1, name, number, 1))
    affine = Affine(np.diag([spacing_mm, spacing_mm, spacing_mm, 1.0]))
    return LabelMap(Grid(shape, affine), tuple(layers), tuple(structures))


def block_ledger(
    shape,
    spacing_mm: float = 1.0,
    annotation: str = "exact",
    basis: str = "affine",
    trusted: tuple[str, ...] = (),
    recipe: Recipe | None = None,
    **blocks,
) -> Ledger:
    return Ledger(
        block_labels(shape, spacing_mm, **blocks),
        MaskedSeries(
            study_id="study",
            series="ct",
            labels_hash="hash",
            annotation=annotation,
            side_basis=basis,
        ),
        recipe=recipe or load_recipe(),
        terms={name: term(name) for name in blocks},
        trusted=trusted,
    )
