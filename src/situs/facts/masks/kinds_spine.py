"""Where along the spine something lies: vertebral levels, as a reader tells them."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Doubt
from situs.anatomy.plausible import VERTEBRAE
from situs.errors import SitusError
from situs.facts.masks.kinds_slices import end_is_cut
from situs.facts.masks.ledger import Ledger, kind
from situs.facts.record import Fact
from situs.measure import Region, Spine, vertebral_body

__all__ = ["LEVELS", "find_spine", "has_anchor", "level_name"]

LEVELS = VERTEBRAE
"""The vertebrae from the head down; a level is a place in this row, counted from 0."""

_VERTEBRA = re.compile(r"vertebrae_([CTLS]\d{1,2})")
_BODILESS = "C1"
"""The atlas is a ring without a body."""
_FEWEST = 3
_ANCHORS = (
    "sacrum",
    "vertebrae_S1",
    "vertebrae_C2",
    "rib_left_1",
    "rib_right_1",
    "rib_left_12",
    "rib_right_12",
)
_TILTS = 8
"""Directions into which the patient may lie tilted: forward, back, to both sides, and between."""


def level_name(position: float) -> str:
    """The vertebra nearest to a position on the spine."""
    return LEVELS[int(np.clip(round(position), 0, len(LEVELS) - 1))]


def has_anchor(ledger: Ledger) -> bool:
    """Whether something from which vertebrae can be numbered is annotated:
    sacrum, C2, first or last rib."""
    return any(name in ledger.regions for name in _ANCHORS)


def find_spine(ledger: Ledger) -> Spine | None:
    """The bodies of the whole vertebrae in the scan.

    None under three of them, and where one is not of the usual row (T13, L6): readers number such
    spines differently.
    """
    matches = {name: _VERTEBRA.fullmatch(name) for name in ledger.structures}
    numbered = {name: match[1] for name, match in matches.items() if match is not None}
    if not all(level in LEVELS for level in numbered.values()):
        return None
    uncut = {
        name: level
        for name, level in numbered.items()
        if level != _BODILESS and not ledger.is_cut(name)
    }
    if len(uncut) < _FEWEST:
        return None
    bodies = {
        float(LEVELS.index(level)): vertebral_body(ledger.main_region(name))
        for name, level in uncut.items()
    }
    return Spine(bodies)


def _upright(degrees: float) -> NDArray[np.float64]:
    """Unit vectors that may be the patient's long axis:
    straight up first, then tilted by so much all around."""
    around = 2.0 * np.pi * np.arange(_TILTS) / _TILTS
    tilt = np.radians(degrees)
    cone = [
        np.sin(tilt) * np.cos(around),
        np.sin(tilt) * np.sin(around),
        np.full(_TILTS, np.cos(tilt)),
    ]
    return np.vstack([[0.0, 0.0, 1.0], np.stack(cone, axis=1)])


def _asked_point(
    region: Region, which: str, up: NDArray[np.float64], half_slice_mm: float
) -> NDArray[np.float64]:
    """The centroid, or the middle of the last slice that shows the structure:
    its highest or lowest point."""
    if which == "centre":
        return region.centroid_mm
    boundary = np.asarray(region.boundary_mm)
    heights = boundary @ up
    end = heights.max() if which == "top" else heights.min()
    last_slice = boundary[np.abs(heights - end) <= half_slice_mm]
    across = last_slice.mean(axis=0)
    return np.asarray(across + (end - across @ up) * up)


class _Readings:
    """Both readings of a point's level: upright first, then over tilts of the patient."""

    def __init__(self, ledger: Ledger, name: str, which: str) -> None:
        if ledger.spine is None:
            raise SitusError("fewer than three whole vertebrae are annotated")
        self.spine = ledger.spine
        half_slice = float(ledger.regions.grid.affine.half_voxel_mm[2])
        ups = _upright(ledger.recipe.truth.rotation_degrees)
        region = ledger.main_region(name)
        points = np.array([_asked_point(region, which, up, half_slice) for up in ups])
        on_slice = [self.spine.at_height(float(point @ up), up) for point, up in zip(points, ups)]
        self.beside = self.spine.along_curve(points)
        self.steady = None not in on_slice
        self.on_slice = np.array(
            [level for level in on_slice if level is not None] or [self.beside[0]]
        )
        self.body = self.spine.body_on_slice(float(points[0] @ ups[0]), half_slice, ups[0])
        # The structure's boundary and the bodies' centres may both be off.
        self.slack = (
            2.0 * float(ledger.slack_mm().max()) / self.spine.step_mm(float(self.on_slice[0]))
        )

    def agree(self) -> bool:
        """Whether the body on the slice,
        the slice's place on the curve and the point's own are one vertebra."""
        nearest = round(float(self.on_slice[0]))
        return self.steady and self.body == nearest and round(float(self.beside[0])) == nearest


def _register(which: str) -> None:
    @kind(f"level_beside.{which}", hangs_on={Doubt.UP_DOWN, Doubt.LEVELS})
    def _beside(ledger: Ledger, name: str) -> Fact:
        """The nearest place to the centroid,
        the top or the bottom on the curve through the vertebral bodies."""
        readings = _Readings(ledger, name, which)
        return _record(ledger, f"level_beside.{which}", name, readings.beside, readings.slack)

    @kind(f"level.{which}", version=2, hangs_on={Doubt.UP_DOWN, Doubt.LEVELS})
    def _level(ledger: Ledger, name: str) -> Fact:
        """Place along the spine (0 = C1) of the centroid, the top or the bottom: what lies on that
        axial slice.

        That is where the slice meets the curve through the vertebral bodies. Flags: `disputed`
        where another body is larger on the slice, or the nearest place on the curve is at another;
        `near_line` between two vertebrae; `beyond` the annotated ones.
        """
        readings = _Readings(ledger, name, which)
        value = float(readings.on_slice[0])
        conditions = {
            "beyond": not readings.spine.holds(value),
            "cut": end_is_cut(ledger, name, which),
            "disputed": not readings.agree(),
            "near_line": abs(value - round(value)) > 0.5 - ledger.recipe.truth.level_dead_band,
        }
        flags = tuple(flag for flag, holds in conditions.items() if holds)
        return _record(ledger, f"level.{which}", name, readings.on_slice, readings.slack, flags)

    @kind(f"level_body.{which}", hangs_on={Doubt.UP_DOWN, Doubt.LEVELS})
    def _body(ledger: Ledger, name: str) -> Fact:
        """The vertebra whose body is the largest on that axial slice, counted from C1 as 0; None
        between two bodies. `unsteady` where some tilt makes the spine run up and down."""
        readings = _Readings(ledger, name, which)
        return ledger.record(
            f"level_body.{which}",
            (name,),
            readings.body,
            unit="level",
            flags=() if readings.steady else ("unsteady",),
        )


def _record(
    ledger: Ledger,
    kind_name: str,
    name: str,
    levels: NDArray[np.float64],
    slack: float,
    flags: tuple[str, ...] = (),
) -> Fact:
    """A reading, upright and over tilts."""
    return ledger.record(
        kind_name,
        (name,),
        float(levels[0]),
        unit="level",
        interval=(float(levels.min()) - slack, float(levels.max()) + slack),
        parameters={"rotation_degrees": ledger.recipe.truth.rotation_degrees},
        flags=flags,
    )


for _which in ("centre", "top", "bottom"):
    _register(_which)
