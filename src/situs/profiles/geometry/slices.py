"""Which slices of a stack are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from situs.profiles.schema import View

__all__ = ["chosen_slices"]


def chosen_slices(
    view: View,
    count: int,
    spacing_mm: float,
    *,
    about: Sequence[int] = (),
    must: Iterable[int] = (),
) -> list[int]:
    """Slices of a stack of `count`, in the order shown.

    `about` are the slices an item is about; `must` are those that have to be among the chosen: for
    each that is not, the nearest one that need not stay gives way.
    """
    first, last = _range(view, count)
    if view.slices == "item" and about:
        chosen = sorted(set(about))
    elif view.every_mm is not None:
        steps = np.arange(0.0, last - first + 1e-6, view.every_mm / spacing_mm)
        chosen = sorted({first + int(np.rint(step)) for step in steps})
    elif isinstance(view.slices, int):
        chosen = _spread(first, last, view.slices)
    else:
        chosen = list(range(first, last + 1))
    if view.order == "descending":
        chosen.reverse()
    return _with(chosen[: view.limit], sorted(set(must)), descending=view.order == "descending")


def _range(view: View, count: int) -> tuple[int, int]:
    if view.index_range is not None:
        first, last = (min(index, count - 1) for index in view.index_range)
    elif view.fraction_range is not None:
        first, last = (int(np.rint(share * (count - 1))) for share in view.fraction_range)
    else:
        first, last = 0, count - 1
    return first, last


def _spread(first: int, last: int, most: int) -> list[int]:
    if most == 1:
        return [(first + last + 1) // 2]
    places = np.linspace(first, last, min(most, last - first + 1))
    return sorted({int(position) for position in np.rint(places)})


def _with(chosen: list[int], must: list[int], *, descending: bool) -> list[int]:
    """The same number of slices, with as many of `must` among them as fit."""
    slices = list(chosen)
    fixed = set(must) & set(slices)
    for wanted in must:
        free = [slice_ for slice_ in slices if slice_ not in fixed]
        if wanted in fixed or not free:
            continue
        slices[slices.index(min(free, key=lambda slice_: (abs(slice_ - wanted), slice_)))] = wanted
        fixed.add(wanted)
    return sorted(slices, reverse=descending)
