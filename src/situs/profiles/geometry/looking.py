"""Pictures on request: any slices of a plane, whole or magnified, one by one or as a strip."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from situs.profiles.geometry.frame import Screen
from situs.profiles.geometry.lattice import AxisMap, Lattice
from situs.profiles.geometry.layout import Layout, pictures_of
from situs.profiles.schema import View

__all__ = ["look_layout"]


def look_layout(
    view: View,
    lattice: Lattice,
    slices: Sequence[int],
    *,
    zoom: float = 1.0,
    centre: NDArray[np.float64] | None = None,
) -> Layout:
    """These slices of the lattice (from 0) in the view's plane, at its size or on its montage.

    Where there are no millimetres, frames are shown as stored.

    With `zoom`, that part of each side around `centre` (mm, or frame, x, y; the middle if None),
    moved inside the slice where it would reach beyond. Whole voxels are shown, so the magnified
    picture has the voxels of the whole one.
    """
    screen = Screen(view.plane if lattice.has_mm else None, view.display == "neurological")
    if zoom > 1.0:
        lattice = _magnified(lattice, screen, zoom, centre)
    return Layout(lattice, pictures_of(view, lattice, [(screen, index, 0) for index in slices]))


def _magnified(
    lattice: Lattice, screen: Screen, zoom: float, centre: NDArray[np.float64] | None
) -> Lattice:
    middle = [0.5 * (axis.known() - 1) for axis in lattice.axes]
    if centre is not None:
        acquired = lattice.acquired_of(np.asarray(centre)[None])[0]
        middle = [
            axis.shown_at(float(value)) for axis, value in zip(lattice.axes, acquired, strict=True)
        ]
    x, y, z = (
        _part(axis, zoom, middle[number]) if number != screen.through else axis
        for number, axis in enumerate(lattice.axes)
    )
    return Lattice((x, y, z), lattice.to_source, has_mm=lattice.has_mm)


def _part(axis: AxisMap, zoom: float, middle: float) -> AxisMap:
    count = max(1, math.ceil(axis.known() / zoom))
    first = int(np.clip(math.floor(middle - 0.5 * (count - 1) + 0.5), 0, axis.known() - count))
    return AxisMap(axis.acquired, count, axis.acquired_at(first), axis.step)
