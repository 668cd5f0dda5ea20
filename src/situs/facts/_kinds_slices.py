"""On which axial slices a structure is seen."""

from __future__ import annotations

import numpy as np

from situs.facts._kinds import numbers
from situs.facts._ledger import Ledger, kind
from situs.facts._record import Fact
from situs.space import Axis, Grid

__all__ = ["axial_axis", "axial_spacing_mm", "has_axial_slices", "spacing_text", "spanned"]

_ALIKE = 1.2
"""A scan whose other spacings exceed that of its axial slices by more was not acquired in axial slices."""


def axial_axis(grid: Grid) -> tuple[int, bool]:
    """The stored axis across axial slices, and whether it runs from the head down."""
    directions = grid.affine.directions
    axis = next(n for n, direction in enumerate(directions) if direction.axis is Axis.SUPERIOR_INFERIOR)
    return axis, directions[axis].sign < 0


def axial_spacing_mm(grid: Grid) -> float:
    """How far apart neighbouring axial slices lie."""
    return grid.affine.spacing_mm[axial_axis(grid)[0]]


def has_axial_slices(grid: Grid) -> bool:
    """Whether axial slices were acquired: no other axis is sampled clearly more coarsely."""
    return max(grid.affine.spacing_mm) <= _ALIKE * axial_spacing_mm(grid)


@kind("slice_span")
def _slice_span(ledger: Ledger, name: str) -> Fact:
    """First and last axial slice that show it, counted from 0 at the feet; `gaps` if it is missing in between."""
    region, grid = ledger.regions[name], ledger.regions.grid
    axis, downwards = axial_axis(grid)
    first, end = region.slice_span(axis)
    if downwards:
        first, end = grid.shape[axis] - end, grid.shape[axis] - first
    spacing = axial_spacing_mm(grid)
    by_grid = ledger.grid_error_mm / spacing
    inwards, outwards = (max(least + by_grid, ledger.annotation.surface_mm / spacing) for least in (0.5, 1.0))
    flags = [flag for flag, holds in (("cut", ledger.is_cut(name)), ("gaps", _gaps(ledger, name, axis))) if holds]
    return ledger.record(
        "slice_span",
        (name,),
        (float(first), float(end - 1)),
        unit="slice",
        interval=(first - outwards, end - 1 - inwards, first + inwards, end - 1 + outwards),
        parameters={"surface_mm": ledger.annotation.surface_mm},
        flags=tuple(flags),
    )


def _gaps(ledger: Ledger, name: str, axis: int) -> bool:
    boxes = ledger.regions[name].slice_boxes(axis)
    return bool(np.any(np.diff(boxes.index) > 1))


@kind("slices_spanned")
def _slices_spanned(ledger: Ledger, name: str) -> Fact:
    """How many axial slices show it, from the first to the last."""
    between = ledger.fact("slice_span", name)
    first_low, last_low, first_high, last_high = between.interval or (0.0,) * 4
    first, last = numbers(between)
    return ledger.record(
        "slices_spanned",
        (name,),
        int(last - first) + 1,
        unit="slices",
        interval=(max(1.0, last_low - first_high + 1.0), last_high - first_low + 1.0),
        parameters={"spacing_mm": axial_spacing_mm(ledger.regions.grid)},
        inputs=(between,),
    )


@kind("ends_beyond")
def _ends_beyond(ledger: Ledger, name: str) -> Fact:
    """Which ends of a structure the scan does not show: `top`, `bottom`, `top+bottom`, or empty."""
    axis, downwards = axial_axis(ledger.regions.grid)
    first, end = ledger.regions[name].slice_span(axis)
    low, high = first == 0, end == ledger.regions.grid.shape[axis]
    top, bottom = (low, high) if downwards else (high, low)
    ends = [word for word, beyond in (("top", top), ("bottom", bottom)) if beyond]
    return ledger.record("ends_beyond", (name,), "+".join(ends))


def spanned(fact: Fact) -> tuple[int, int]:
    """First and last slice of a `slice_span`."""
    first, last = numbers(fact)
    return int(first), int(last)


def spacing_text(ledger: Ledger) -> str:
    """The spacing of the axial slices as it is said: one decimal, none where it is whole."""
    return f"{round(axial_spacing_mm(ledger.regions.grid), 1):g}"
