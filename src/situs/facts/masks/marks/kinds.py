"""Points on one axial slice, each well inside a structure, to be marked in the pictures.

The first is the one asked for. How the points lie among each other is drawn by a hash of the study,
such that no place (the middle one, the nearest) is right more often than another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from situs.base.files import digest
from situs.facts.masks.kinds import numbers
from situs.facts.masks.ledger import NOTHING, Ledger, kind
from situs.facts.masks.marks.kin import kin, nested
from situs.facts.masks.marks.pairs import MARKS
from situs.facts.masks.marks.sites import Mark, needed_depth_mm
from situs.facts.record import Fact, Measured

__all__ = ["MARKS", "mark_points", "marked_structures"]

_TRIED_SLICES = 3
_TRIED_PLACES = 24
_CLOSE_CALL_MM = 1e-3
"""Distances that differ by less are compared as they are rounded."""


@kind("marks.organ", version=2, hangs_on=NOTHING)
def _marks_organ(ledger: Ledger, organ: str) -> Fact:
    """A point in the organ, and one in each of three structures near it."""
    return _record(ledger, "marks.organ", organ, _around(ledger, organ))


@kind("marks.lesion", hangs_on=NOTHING)
def _marks_lesion(ledger: Ledger, lesion: str) -> Fact:
    """A point in the lesion, and three in the organ around it, outside every lesion."""
    holder = ledger.fact("organ_of", lesion)
    marks = _in_holder(ledger, lesion, str(holder.value)) if holder.value is not None else None
    return _record(ledger, "marks.lesion", lesion, marks)


@kind("marks.among", version=2, hangs_on=NOTHING)
def _marks_among(ledger: Ledger, organ: str) -> Fact:
    """A point in the organ, and one in each of three other organs."""
    return _record(ledger, "marks.among", organ, _around(ledger, organ, only_organs=True))


def _register_same(nearer: int) -> None:
    @kind(f"marks.same.{nearer}", version=2, hangs_on=NOTHING)
    def _marks_same(ledger: Ledger) -> Fact:
        """Points in four structures, and last another in the structure of the first, to compare
        them with.

        So many of the other three lie nearer to the last than the first does.
        """
        sets = ledger.same_marks
        return _record(ledger, f"marks.same.{nearer}", None, sets[nearer] if sets else None)


for _nearer in range(MARKS):
    _register_same(_nearer)


def mark_points(fact: Fact) -> list[tuple[float, float, float]]:
    """The points of a `marks` fact, the one asked for first."""
    values = numbers(fact)
    return [(values[n], values[n + 1], values[n + 2]) for n in range(0, len(values), 3)]


def marked_structures(fact: Fact) -> list[str]:
    """The structures that hold the points of a `marks` fact."""
    assert isinstance(fact.derivation, Measured)
    return str(fact.derivation.parameters["inside"]).split("+")


def _record(ledger: Ledger, kind_name: str, name: str | None, marks: list[Mark] | None) -> Fact:
    subjects = () if name is None else (name,)
    parameters: dict[str, float | str] = {
        "depth_mm": needed_depth_mm(ledger),
        "apart_mm": ledger.recipe.truth.mark_apart_mm,
    }
    if marks is None:
        return ledger.record(kind_name, subjects, None, parameters=parameters)
    value = tuple(float(v) for _, point in marks for v in point)
    parameters["inside"] = "+".join(inside for inside, _ in marks)
    return ledger.record(kind_name, subjects, value, unit="mm", parameters=parameters)


def _pick(ledger: Ledger, count: int, *what: object) -> int:
    return _drawn(ledger.study_id, *map(str, what)) % count


@lru_cache(maxsize=1 << 12)
def _drawn(study_id: str, *what: str) -> int:
    """A number by hash; every organ of a study asks for the same ones."""
    return int(digest("mark", study_id, *what), 16)


def _slices(ledger: Ledger, kinds: tuple[str, ...] = ()) -> list[dict[str, NDArray[np.float64]]]:
    """The cores of each slice, without lesions;
    of some kinds of structure only, if any are given."""
    wanted = {
        name
        for name in ledger.structures
        if ledger.family(name) is None and (not kinds or ledger.terms[name].kind in kinds)
    }
    return [
        {n: points for n, points in sites.items() if n in wanted}
        for sites in ledger.mark_sites.cores.values()
    ]


def _around(ledger: Ledger, organ: str, *, only_organs: bool = False) -> list[Mark] | None:
    middle = float(ledger.regions[organ].centroid_mm[2])
    kinds = (ledger.terms[organ].kind,) if only_organs else ()
    slices = [sites for sites in _slices(ledger, kinds) if organ in sites and len(sites) >= MARKS]
    height = {id(sites): float(sites[organ][0, 2]) for sites in slices}
    slices.sort(key=lambda f: (-len(f), round(abs(height[id(f)] - middle), 6), height[id(f)]))
    tried: list[list[Mark]] = []
    for number, sites in enumerate(slices[:_TRIED_SLICES]):
        everywhere = _merged(ledger, sites)
        hubs = everywhere[
            [_pick(ledger, len(everywhere), number, attempt) for attempt in range(_TRIED_PLACES)]
        ]
        for order, far in _around_each(sites, hubs):
            chosen = _beside_each_other(ledger, organ, order, akin=only_organs)
            marks = _near(sites, organ, chosen, far, ledger.recipe.truth.mark_apart_mm)
            if marks is not None and only_organs:
                return marks
            if marks is not None:
                tried.append(marks)
    return min(tried, key=_spread_mm, default=None)


def _spread_mm(marks: list[Mark]) -> float:
    """How far the marks lie apart:
    the nearer they are, the less their place in the picture tells."""
    points = np.array([point for _, point in marks])
    return round(float(np.linalg.norm(points[:, None] - points[None], axis=-1).max()), 6)


def _merged(ledger: Ledger, sites: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """All sites of a slice, those nearest to the centre of their structure first,
    whatever the structures' names."""
    far = [
        np.linalg.norm(points - ledger.regions[name].centroid_mm, axis=1)
        for name, points in sites.items()
    ]
    points = np.concatenate(list(sites.values()))
    keys = np.round(np.column_stack([points, np.concatenate(far)]), 6)
    merged: NDArray[np.float64] = points[np.lexsort(keys.T)]
    return merged


def _around_each(
    sites: dict[str, NDArray[np.float64]], places: NDArray[np.float64]
) -> Iterator[tuple[list[str], dict[str, NDArray[np.float64]]]]:
    """For each place in turn: the structures, the nearest first,
    and how far from it their sites lie, rounded."""
    from scipy.spatial.distance import cdist

    names, starts = list(sites), np.cumsum([0, *map(len, sites.values())])
    far = np.round(cdist(places, np.concatenate(list(sites.values()))), 6)
    nearest = np.minimum.reduceat(far, starts[:-1], axis=1)
    front = [float(points[0, 1]) for points in sites.values()]
    for row, first in zip(far, nearest):
        order = [names[k] for k in np.lexsort((front, first))]
        yield order, {name: row[a:b] for name, a, b in zip(names, starts, starts[1:])}


def _beside_each_other(ledger: Ledger, organ: str, order: list[str], *, akin: bool) -> list[str]:
    """The organ and the three others nearest to a place of which no two may be taken for one
    another.

    None of them unless the organ itself is about as near. `akin`: nor may two be parts of one
    whole.
    """
    clash = kin if akin else nested
    others: list[str] = []
    for name in order:
        if name != organ and not any(clash(ledger, name, other) for other in (organ, *others)):
            others.append(name)
        if len(others) == MARKS:
            break
    if len(others) == MARKS and order.index(organ) > order.index(others[-1]):
        return []
    near = {organ, *others[: MARKS - 1]}
    return [name for name in order if name in near]


def _near(
    sites: dict[str, NDArray[np.float64]],
    organ: str,
    chosen: list[str],
    far: dict[str, NDArray[np.float64]],
    apart_mm: float,
) -> list[Mark] | None:
    """Marks in the chosen structures, each as near to a place as may be;
    None if there are too few."""
    if len(chosen) < MARKS:
        return None
    marks: list[Mark] = []
    for name in chosen:
        point = _first_apart(sites[name], far[name], [at for _, at in marks], apart_mm)
        if point is None:
            return None
        marks.append((name, point))
    return sorted(marks, key=lambda mark: mark[0] != organ)


def _distances_mm(points: NDArray[np.float64], origin: NDArray[np.float64]) -> NDArray[np.float64]:
    steps = points - origin
    lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", steps, steps))
    return lengths


def _first_apart(
    points: NDArray[np.float64],
    far: NDArray[np.float64],
    others: list[NDArray[np.float64]],
    apart_mm: float,
) -> NDArray[np.float64] | None:
    """The nearest point that keeps its distance from the marks there are;
    equally near ones in the order given."""
    nearest: NDArray[np.float64] = points[int(far.argmin())]
    # The nearest of all is most often far enough from the others, and one look at it is enough.
    at = nearest.tolist()
    if not all(math.dist(at, other.tolist()) > apart_mm + _CLOSE_CALL_MM for other in others):
        free = _free(points, others, apart_mm)
        if not free.any():
            return None
        nearest = points[free][int(far[free].argmin())]
    return nearest


def _in_holder(ledger: Ledger, lesion: str, organ: str) -> list[Mark] | None:
    slices = [
        sites for sites in ledger.mark_sites.anywhere.values() if lesion in sites and organ in sites
    ]
    slices.sort(key=lambda sites: (-len(sites[lesion]), float(sites[lesion][0, 2])))
    wanted, spare = _pick(ledger, MARKS, "lesion"), None
    for number, sites in enumerate(slices[:_TRIED_SLICES]):
        for attempt in range(_TRIED_PLACES):
            marks = _scattered(ledger, sites, lesion, organ, (number, attempt))
            spare = spare or marks
            if marks is not None and _centrality(marks) == wanted:
                return marks
    return spare


def _scattered(
    ledger: Ledger,
    sites: dict[str, NDArray[np.float64]],
    lesion: str,
    organ: str,
    seed: tuple[int, int],
) -> list[Mark] | None:
    """A point in the lesion and others anywhere in the organ around it."""
    marks: list[Mark] = [
        (lesion, sites[lesion][_pick(ledger, len(sites[lesion]), "lesion", *seed)])
    ]
    for number in range(MARKS - 1):
        left = _apart_from(
            sites[organ], [point for _, point in marks], ledger.recipe.truth.mark_apart_mm
        )
        if not len(left):
            return None
        marks.append((organ, left[_pick(ledger, len(left), "around", number, *seed)]))
    return marks


def _centrality(marks: list[Mark]) -> int:
    """How many of the marks lie nearer to the middle of them all than the first."""
    points = np.array([point for _, point in marks])
    far = np.round(np.linalg.norm(points - points.mean(axis=0), axis=1), 6)
    return int((far[1:] < far[0]).sum())


def _apart_from(
    points: NDArray[np.float64], others: list[NDArray[np.float64]], apart_mm: float
) -> NDArray[np.float64]:
    free_points: NDArray[np.float64] = points[_free(points, others, apart_mm)]
    return free_points


def _free(
    points: NDArray[np.float64], others: list[NDArray[np.float64]], apart_mm: float
) -> NDArray[np.bool_]:
    """Which points keep their distance from all others."""
    free = np.ones(len(points), dtype=np.bool_)
    for other in others:
        free &= np.round(_distances_mm(points, other), 6) >= apart_mm
    return free
