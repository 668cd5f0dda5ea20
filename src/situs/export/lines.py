"""The straight lines along which lengths of the ledger were measured, from end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import msgspec
import numpy as np

from situs.facts import Fact, Ledger, number
from situs.measure import axial_diameter, length_3d, nearest_boundaries, nearest_faces
from situs.space import AXES

__all__ = ["MeasuredLine", "measured_lines"]

Point: TypeAlias = tuple[float, float, float]
Ends: TypeAlias = tuple[Point, Point]


class MeasuredLine(msgspec.Struct, frozen=True):
    """A length of the ledger, drawn."""

    fact: Fact
    start_mm: Point
    end_mm: Point


def measured_lines(ledger: Ledger, facts: list[Fact]) -> Iterator[MeasuredLine]:
    """A line for every length whose ends are known;
    structures that touch have none between them."""
    for fact in facts:
        ends_of = _ENDS.get(fact.kind)
        known = all(name in ledger.structures for name in fact.subjects)
        if ends_of is None or not known or not isinstance(fact.value, float) or number(fact) <= 0:
            continue
        start, end = ends_of(ledger, *fact.subjects)
        yield MeasuredLine(fact, start, end)


def _gap(ledger: Ledger, a: str, b: str) -> Ends:
    (nearest,) = nearest_faces([(ledger.regions[a], ledger.regions[b])])
    return nearest.a_mm, nearest.b_mm


def _main_gap(ledger: Ledger, a: str, b: str) -> Ends:
    (nearest,) = nearest_faces([(ledger.main_region(a), ledger.main_region(b))])
    return nearest.a_mm, nearest.b_mm


def _boundaries(ledger: Ledger, a: str, b: str) -> Ends:
    (nearest,) = nearest_boundaries([(ledger.regions[a], ledger.regions[b])])
    return nearest.a_mm, nearest.b_mm


def _centres(ledger: Ledger, a: str, b: str) -> Ends:
    return _point(ledger.main_region(a).centroid_mm), _point(ledger.main_region(b).centroid_mm)


def _diameter(ledger: Ledger, name: str) -> Ends:
    return axial_diameter(ledger.main_region(name)).ends_mm


def _perpendicular(ledger: Ledger, name: str) -> Ends:
    return axial_diameter(ledger.main_region(name)).perpendicular_ends_mm


def _length(ledger: Ledger, name: str) -> Ends:
    return length_3d(ledger.main_region(name)).ends_mm


def _extent_along(world_index: int) -> Callable[..., Ends]:
    def extent(ledger: Ledger, name: str) -> Ends:
        """Through the middle of the box, from face to face."""
        box = ledger.main_region(name).box_mm
        lo, hi = np.array(box.lo_mm), np.array(box.hi_mm)
        start = (lo + hi) / 2.0
        end = start.copy()
        start[world_index], end[world_index] = lo[world_index], hi[world_index]
        return _point(start), _point(end)

    return extent


def _point(values: np.ndarray) -> Point:
    x, y, z = (float(v) for v in values)
    return x, y, z


_ENDS: dict[str, Callable[..., Ends]] = {
    "surface_gap": _gap,
    "main_gap": _main_gap,
    "boundary_distance": _boundaries,
    "centre_distance": _centres,
    "axial_diameter": _diameter,
    "axial_perpendicular": _perpendicular,
    "length_3d": _length,
    **{f"extent.{axis}": _extent_along(axis.world_index) for axis in AXES},
}
"""Kinds of facts that are a length between two points. Extents follow the patient's axes."""
