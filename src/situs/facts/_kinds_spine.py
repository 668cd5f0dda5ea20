"""Where along the spine something lies: vertebral levels."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.facts._ledger import Ledger, kind
from situs.facts._record import Fact
from situs.measure import Spine

__all__ = ["LEVELS", "has_anchor", "level_name", "spine_levels"]

LEVELS: tuple[str, ...] = (
    *(f"C{n}" for n in range(1, 8)),
    *(f"T{n}" for n in range(1, 13)),
    *(f"L{n}" for n in range(1, 6)),
    "S1",
)
"""The vertebrae from the head down; a level is a place in this row, counted from 0."""

_VERTEBRA = re.compile(r"vertebrae_([CTL]\d{1,2}|S1)")
_ANCHORS = ("sacrum", "vertebrae_S1", "vertebrae_C2", "rib_left_1", "rib_right_1", "rib_left_12", "rib_right_12")


def level_name(position: float) -> str:
    """The vertebra nearest to a position on the spine."""
    return LEVELS[int(np.clip(round(position), 0, len(LEVELS) - 1))]


def has_anchor(ledger: Ledger) -> bool:
    """Whether something from which vertebrae can be numbered is annotated: sacrum, C2, first or last rib."""
    return any(name in ledger.regions for name in _ANCHORS)


def spine_levels(ledger: Ledger) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Level numbers and centroids (mm) of the whole vertebrae in the scan, from the head down; None under three."""
    found = []
    for name in ledger.structures:
        match = _VERTEBRA.fullmatch(name)
        if match and not ledger.is_cut(name):
            found.append((LEVELS.index(match[1]), ledger.regions[name].centroid_mm))
    found.sort(key=lambda entry: entry[0])
    if len(found) < 3:
        return None
    return np.array([float(level) for level, _ in found]), np.array([centre for _, centre in found])


def _positions(ledger: Ledger, points_mm: NDArray[np.float64]) -> NDArray[np.float64]:
    """Level of each point: its foot on the curve through the vertebrae; a gap in the numbering counts its steps."""
    spine = spine_levels(ledger)
    if spine is None:
        raise SitusError("fewer than three whole vertebrae are annotated")
    levels, centres = spine
    places = Spine([(level_name(level), centre) for level, centre in zip(levels, centres)]).positions(points_mm)
    below, above = np.minimum(places, 0.0), np.maximum(places - (len(levels) - 1), 0.0)
    inside = np.interp(places, np.arange(len(levels)), levels)
    result: NDArray[np.float64] = inside + below * (levels[1] - levels[0]) + above * (levels[-1] - levels[-2])
    return result


def _slack(ledger: Ledger) -> float:
    """Levels by which a point may be off: its own slack along the spine over the mean height of a vertebra."""
    spine = spine_levels(ledger)
    if spine is None:
        return 0.0
    levels, centres = spine
    height = float(np.linalg.norm(centres[-1] - centres[0])) / float(levels[-1] - levels[0])
    return float(ledger.slack_mm().max()) / height


def _register(which: str) -> None:
    @kind(f"level.{which}")
    def _level(ledger: Ledger, name: str) -> Fact:
        """Place along the spine (0 = C1) of the centroid, the top or the bottom; `beyond` the annotated vertebrae."""
        region = ledger.regions[name]
        points = region.centroid_mm[None] if which == "centre" else np.asarray(region.boundary_mm)
        positions = _positions(ledger, points)
        value = float(positions.max() if which == "bottom" else positions.min())
        slack = _slack(ledger)
        known = spine_levels(ledger)
        beyond = known is not None and not known[0][0] - 0.5 <= value <= known[0][-1] + 0.5
        flags = [flag for flag, holds in (("beyond", beyond), ("cut", ledger.is_cut(name))) if holds]
        return ledger.record(
            f"level.{which}", (name,), value, unit="level", interval=(value - slack, value + slack), flags=tuple(flags)
        )


for _which in ("centre", "top", "bottom"):
    _register(_which)
