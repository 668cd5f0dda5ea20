"""The array a 3D model receives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.profiles.geometry.frame import Screen
from situs.profiles.geometry.lattice import Lattice, array_order
from situs.profiles.pixels.renderer import Renderer
from situs.profiles.pixels.samples import lattice_slice

__all__ = ["volume_array"]


def volume_array(renderer: Renderer, lattice: Lattice) -> NDArray[Any]:
    """The whole lattice as the profile's array: (frame, y, x) where there are no millimetres.

    Slices are made one at a time, in the plane of the view.
    """
    form = renderer.profile.array
    through = Screen(renderer.profile.view.plane if lattice.has_mm else None).through
    made = np.empty([axis.known() for axis in lattice.axes], dtype=form.dtype)
    slices = np.moveaxis(made, through, 0)
    empty = float(np.nanmin(renderer.values)) if form.intensity == "stored" else 0.0
    interpolation = renderer.profile.resample.interpolation
    for index in range(len(slices)):
        values = lattice_slice(renderer.values, lattice, through, index, interpolation)
        if form.intensity == "stored":
            intensities = np.nan_to_num(values.astype(np.float32), nan=empty)
        else:
            low, high = form.scale
            intensities = low + renderer.window(0, values).share(values) * np.float32(high - low)
        slices[index] = intensities if form.dtype == "float32" else np.rint(intensities)
    if not lattice.has_mm:
        return made.transpose(2, 1, 0)
    order, flips = array_order(form.axes)
    return made.transpose(order)[tuple(slice(None, None, -1 if flip else 1) for flip in flips)]
