"""Signatures in numbers: windows in which a slip would land, and how many answers land there by
chance.

Chance is read from the run itself: how densely its wrong numbers lie beside the windows, up to half
a decade away on a log scale, or as far on the other side of the truth, whichever is denser. A model
that is merely imprecise fills window and surroundings alike, and errs as far upwards as downwards;
a slip fills the window only.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

from situs.items import Number, unit_named
from situs.score.explain.causes import Cause

__all__ = ["WindowCounts", "Windows", "chance_in", "holds", "windows_of"]

Windows = list[tuple[float, float]]
"""Stretches of log10 of the number, in order and apart."""

_BESIDE = 0.5
_LOWEST = 0.01
"""A window that reaches down to 0 ends at this share of its upper end."""
_NARROWEST = math.log10(1.01)
"""A number that is known exactly still leaves this room for rounding."""
_NEAR_PRIOR = 0.05
_NEAR = 1e-9
"""Rounding of a logarithm: a number at the end of a window lands in it."""


def windows_of(
    truth: Number, lengths_mm: Iterable[float], volumes_mm3: Iterable[float], prior: float | None
) -> dict[Cause, Windows]:
    """Where each slip of this number would land, outside the true interval.

    `lengths_mm` are the spacings of voxels and of pixels shown, `volumes_mm3` the volumes of one
    voxel.
    """
    low, high = truth.interval or (truth.value, truth.value)
    true_stretch = _stretch(low, high)
    if true_stretch is None:
        return {}
    windows: dict[Cause, Windows] = {}
    wide = (
        min(true_stretch[0], true_stretch[1] - _NARROWEST),
        max(true_stretch[1], true_stretch[0] + _NARROWEST),
    )
    unit = unit_named(truth.unit)
    slips = [_moved(wide, factor) for factor in unit.slips]
    sizes = {"length": lengths_mm, "volume": volumes_mm3, "": ()}[unit.voxel]
    voxels = [_moved(wide, 1 / size) for size in sizes if size > 0]
    near = (
        []
        if prior is None or prior <= 0
        else [_stretch(prior * (1 - _NEAR_PRIOR), prior * (1 + _NEAR_PRIOR))]
    )
    for cause, stretches in (
        (Cause.UNIT_SLIP, slips),
        (Cause.VOXEL_AS_MM, voxels),
        (Cause.PRIOR, near),
    ):
        outside = _without(_joined([one for one in stretches if one is not None]), [true_stretch])
        if outside:
            windows[cause] = outside
    return windows


def holds(windows: Windows, said: float) -> bool:
    """Whether a number lands in a window."""
    return said > 0 and any(
        low - _NEAR <= math.log10(said) <= high + _NEAR for low, high in windows
    )


class WindowCounts:
    """In how many of several windows a number lands (`holds`), counted in their order."""

    def __init__(self, windows: Iterable[Windows]) -> None:
        # Stretches of one window that the tolerance joins count once.
        wide = [_joined([(low - _NEAR, high + _NEAR) for low, high in one]) for one in windows]
        self._lows = sorted(low for one in wide for low, _ in one)
        self._highs = sorted(high for one in wide for _, high in one)

    def holding(self, said: float) -> int:
        """How many hold the number."""
        if said <= 0:
            return 0
        place = math.log10(said)
        return bisect_right(self._lows, place) - bisect_left(self._highs, place)


def chance_in(cases: Sequence[tuple[Number, Windows, float]]) -> list[float]:
    """For each wrong number (truth, windows of one cause, said):
    how likely it lands there by chance."""
    # Errors are densest near the truth, and so is a window there: its surroundings alone would be
    # too empty.
    density = max(_density(cases, surroundings) for surroundings in (_beside, _opposite))
    return [min(1.0, density * _width(windows)) for _, windows, _ in cases]


def _density(
    cases: Sequence[tuple[Number, Windows, float]],
    surroundings: Callable[[Number, Windows], Windows],
) -> float:
    """Wrong numbers a decade, in the surroundings of the windows."""
    hits, width = 0.5, 0.0  # half an answer, so that a single one is never proof
    for truth, windows, said in cases:
        around = surroundings(truth, windows)
        width += _width(around)
        hits += holds(around, said) and not holds(windows, said)
    return hits / width if width else 0.0


def _beside(truth: Number, windows: Windows) -> Windows:
    around = _joined([(low - _BESIDE, high + _BESIDE) for low, high in windows])
    return _without(around, [*windows, *_own(truth)])


def _opposite(truth: Number, windows: Windows) -> Windows:
    """The windows as far from the truth on its other side."""
    true_windows = _own(truth)
    if not true_windows:
        return []
    twice = true_windows[0][0] + true_windows[0][1]
    mirrored = _joined([(twice - high, twice - low) for low, high in windows])
    return _without(mirrored, [*windows, *true_windows])


def _own(truth: Number) -> Windows:
    true_stretch = _stretch(*(truth.interval or (truth.value, truth.value)))
    return [] if true_stretch is None else [true_stretch]


def _stretch(low: float, high: float) -> tuple[float, float] | None:
    if high <= 0 or not math.isfinite(high):
        return None
    return math.log10(max(low, high * _LOWEST)), math.log10(high)


def _moved(stretch: tuple[float, float], factor: float) -> tuple[float, float]:
    return stretch[0] + math.log10(factor), stretch[1] + math.log10(factor)


def _joined(stretches: Iterable[tuple[float, float]]) -> Windows:
    result: Windows = []
    for low, high in sorted(stretches):
        if result and low <= result[-1][1]:
            result[-1] = result[-1][0], max(high, result[-1][1])
        else:
            result.append((low, high))
    return result


def _without(stretches: Windows, holes: Iterable[tuple[float, float]]) -> Windows:
    for start, end in holes:
        cut = [((low, min(high, start)), (max(low, end), high)) for low, high in stretches]
        stretches = [part for parts in cut for part in parts if part[1] - part[0] > 1e-6]
    return stretches


def _width(windows: Windows) -> float:
    return sum(high - low for low, high in windows)
