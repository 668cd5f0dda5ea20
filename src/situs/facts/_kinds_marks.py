"""Four points on one axial slice, each well inside a structure, to be marked in the pictures.

The first is the one asked for. Where the four lie among each other depends on a hash of the study, not on which of
them is asked for, so that no place (the middle one, the leftmost) is right more often than another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs._files import digest
from situs.anatomy import lesion_family
from situs.facts._kinds import numbers
from situs.facts._ledger import Ledger, kind
from situs.facts._mark_sites import needed_depth_mm
from situs.facts._record import Fact

__all__ = ["MARKS", "mark_points"]

MARKS = 4
_TRIED_SLICES = 3
_TRIED_PLACES = 24

Mark = tuple[str, NDArray[np.float64]]


@kind("marks.organ")
def _marks_organ(ledger: Ledger, organ: str) -> Fact:
    """A point in the organ, and one in each of three structures near it."""
    return _record(ledger, "marks.organ", organ, _around(ledger, organ))


@kind("marks.lesion")
def _marks_lesion(ledger: Ledger, lesion: str) -> Fact:
    """A point in the lesion, and three in the organ around it, outside every lesion."""
    holder = ledger.fact("organ_of", lesion)
    marks = _in_holder(ledger, lesion, str(holder.value)) if holder.value is not None else None
    return _record(ledger, "marks.lesion", lesion, marks)


def mark_points(fact: Fact) -> list[tuple[float, float, float]]:
    """The points of a `marks` fact, the one asked for first."""
    values = numbers(fact)
    return [(values[n], values[n + 1], values[n + 2]) for n in range(0, len(values), 3)]


def _record(ledger: Ledger, kind_name: str, name: str, marks: list[Mark] | None) -> Fact:
    parameters: dict[str, float | str] = {
        "depth_mm": needed_depth_mm(ledger),
        "apart_mm": ledger.recipe.truth.mark_apart_mm,
    }
    if marks is None:
        return ledger.record(kind_name, (name,), None, parameters=parameters)
    value = tuple(float(v) for _, point in marks for v in point)
    parameters["inside"] = "+".join(inside for inside, _ in marks)
    return ledger.record(kind_name, (name,), value, unit="mm", parameters=parameters)


def _pick(ledger: Ledger, count: int, *what: object) -> int:
    return int(digest("mark", ledger.study_id, *map(str, what)), 16) % count


def _around(ledger: Ledger, organ: str) -> list[Mark] | None:
    middle = float(ledger.regions[organ].centroid_mm[2])
    slices = [
        {name: points for name, points in found.items() if lesion_family(name) is None}
        for found in ledger.mark_sites.values()
        if organ in found
    ]
    slices = [found for found in slices if len(found) >= MARKS]
    height = {id(found): float(found[organ][0, 2]) for found in slices}
    slices.sort(key=lambda f: (-len(f), round(abs(height[id(f)] - middle), 6), height[id(f)]))
    tried: list[list[Mark]] = []
    for number, found in enumerate(slices[:_TRIED_SLICES]):
        everywhere = _merged(ledger, found)
        for attempt in range(_TRIED_PLACES):
            hub = everywhere[_pick(ledger, len(everywhere), number, attempt)]
            marks = _near(found, organ, hub, ledger.recipe.truth.mark_apart_mm)
            if marks is not None:
                tried.append(marks)
    return min(tried, key=_spread_mm, default=None)


def _spread_mm(marks: list[Mark]) -> float:
    """How far the marks lie apart: the nearer they are, the less their place in the picture tells."""
    points = np.array([point for _, point in marks])
    return round(float(np.linalg.norm(points[:, None] - points[None], axis=-1).max()), 6)


def _merged(ledger: Ledger, found: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """All sites of a slice, those nearest to the centre of their structure first, whatever the structures' names."""
    far = [np.linalg.norm(points - ledger.regions[name].centroid_mm, axis=1) for name, points in found.items()]
    points = np.concatenate(list(found.values()))
    keys = np.round(np.column_stack([points, np.concatenate(far)]), 6)
    merged: NDArray[np.float64] = points[np.lexsort(keys.T)]
    return merged


def _near(
    found: dict[str, NDArray[np.float64]], organ: str, hub: NDArray[np.float64], apart_mm: float
) -> list[Mark] | None:
    """Marks in the structures around a place, each as near to it as may be; None unless the organ is among them."""
    far = {name: np.linalg.norm(points - hub, axis=1) for name, points in found.items()}
    order = sorted(found, key=lambda name: (round(float(far[name].min()), 6), float(found[name][0, 1])))
    if organ not in order[: MARKS + 1]:
        return None
    chosen = order[:MARKS]
    if organ not in chosen:
        chosen[-1] = organ
    marks: list[Mark] = []
    for name in chosen:
        point = _first_apart(found[name], far[name], [at for _, at in marks], apart_mm)
        if point is None:
            return None
        marks.append((name, point))
    return sorted(marks, key=lambda mark: mark[0] != organ)


def _first_apart(
    points: NDArray[np.float64], far: NDArray[np.float64], others: list[NDArray[np.float64]], apart_mm: float
) -> NDArray[np.float64] | None:
    """The nearest point that keeps its distance from the marks there are; equally near ones in the order given."""
    free = np.ones(len(points), dtype=np.bool_)
    for other in others:
        free &= np.round(np.linalg.norm(points - other, axis=1), 6) >= apart_mm
    if not free.any():
        return None
    nearest: NDArray[np.float64] = points[free][int(np.argmin(np.round(far[free], 6)))]
    return nearest


def _in_holder(ledger: Ledger, lesion: str, organ: str) -> list[Mark] | None:
    apart = ledger.recipe.truth.mark_apart_mm
    slices = [found for found in ledger.mark_sites.values() if lesion in found and organ in found]
    slices.sort(key=lambda found: (-len(found[lesion]), float(found[lesion][0, 2])))
    for found in slices[:_TRIED_SLICES]:
        marks: list[Mark] = [(lesion, found[lesion][_pick(ledger, len(found[lesion]), "lesion")])]
        points = found[organ]
        for number in range(MARKS - 1):
            free = np.ones(len(points), dtype=np.bool_)
            for _, other in marks:
                free &= np.round(np.linalg.norm(points - other, axis=1), 6) >= apart
            if not free.any():
                break
            left = points[free]
            marks.append((organ, left[_pick(ledger, len(left), "around", number)]))
        if len(marks) == MARKS:
            return marks
    return None
