"""Whether masks bear each other's names, or the name of something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from situs.anatomy.plausible.places import Fit, fit_of
from situs.anatomy.plausible.scene import Doubt, Scene, Suspect, Suspicion

__all__ = ["crossed", "misnamed", "rings"]

_GAIN = 4.0
"""Cost by which exchanged names must fit better, for each of them: two names by 8, odds of e^4 for usual spreads; pairs
of sound scans stay below 6. Of many names some order always fits a little better, most of all where all are cut."""
_GAIN_OF_ABSENT = 9.0
"""The same for the name of something that the study does not show: there are many such names to try."""
_NEARER = 5.0
"""Part of that gain that must come from the place."""
_FAR_OFF = 24.0
"""Cost of a place that no usual patient's structure has: two axes at more than 3.5 spreads."""
_MANY = 3
_IMPOSSIBLE = 1e6
_NAMED_BY_PLACE = ("organ", "tract")
"""Kinds of structure whose place and size tell what they are, one by one."""
_ROWS = ("vertebrae_", "rib_left_", "rib_right_")
"""Rows of like bones: their order is tested by their numbers, not by place and volume."""
_FIX = "check the names of the masks (name map, label numbers, file names)"


_BESIDE_MM = 6.0
"""How far two structures that lie beside each other must lie the other way round: more than a bend or a sloppy mask."""


def crossed(scene: Scene, *, mirrored: bool) -> Iterator[Suspicion]:
    """Structures that lie beside each other, each on the other's side.

    Both may be cut at both ends, so that neither length, size nor centre tells which is which.
    """
    sign = -1.0 if mirrored else 1.0
    for (right, left), step in sorted(scene.beside_mm.items()):
        if sign * step < -_BESIDE_MM:
            text = f"{right} and {left} lie on each other's side, {abs(step):.0f} mm apart"
            yield Suspicion(Suspect.MISNAMED, (right, left), text, _FIX, Doubt.STRUCTURE)


def misnamed(
    scene: Scene, axes: Sequence[int], size: float, *, mirrored: bool, contradicted: bool
) -> Iterator[Suspicion]:
    """Names that fit better exchanged, single wrong names, and studies of which many names do not fit.

    `axes`, `size` and `mirrored` are those of `fit_of`. `contradicted`: the axes that are missing are those the anatomy
    speaks against, none of them one that a mute header leaves open.
    """
    if not axes and not contradicted:
        return
    if not axes:
        text = (
            "its structures lie the wrong way round along every axis: their names may be mixed up"
        )
        yield Suspicion(Suspect.MISNAMED, tuple(scene.terms), text, _FIX, Doubt.STRUCTURE)
        return
    fit = fit_of(scene, axes, size, mirrored=mirrored)
    if fit is None:
        return
    far_off = [
        name for name, cost in zip(fit.names, fit.place_cost, strict=True) if cost > _FAR_OFF
    ]
    if len(far_off) >= _MANY and 3 * len(far_off) > len(fit.names):
        text = f"{len(far_off)} of {len(fit.names)} masks lie where their names do not belong, {far_off[0]} among them"
        yield Suspicion(Suspect.MISNAMED, tuple(scene.sightings), text, _FIX, Doubt.STRUCTURE)
        return
    exchanged = set[str]()
    for ring in rings(scene, fit):
        exchanged.update(ring)
        shown = " and ".join(ring[:2]) + (f" and {len(ring) - 2} more" if len(ring) > 2 else "")
        text = f"the names of {shown} look exchanged: place and size fit the other better"
        yield Suspicion(Suspect.MISNAMED, ring, text, _FIX, Doubt.STRUCTURE)
    for place, name in enumerate(fit.names):
        if name not in exchanged and fit.whole[place]:
            yield from _alone(scene, fit, place)


def rings(scene: Scene, fit: Fit) -> Iterator[tuple[str, ...]]:
    """Groups of masks whose names, handed on within the group, fit clearly better."""
    from scipy.optimize import linear_sum_assignment

    cost = np.where(_same_row(scene, fit.names), _IMPOSSIBLE, fit.cost)
    np.fill_diagonal(cost, np.diag(fit.cost))
    names, masks = linear_sum_assignment(cost)
    bearer: NDArray[np.intp] = np.empty(len(names), dtype=np.intp)
    bearer[names] = masks
    seen = set[int]()
    for start in range(len(bearer)):
        ring: list[int] = []
        while start not in seen:
            seen.add(start)
            ring.append(start)
            start = int(bearer[start])
        gain = sum(fit.cost[k, k] - fit.cost[k, bearer[k]] for k in ring)
        if len(ring) > 1 and gain > _GAIN * len(ring):
            yield tuple(sorted(fit.names[k] for k in ring))


def _same_row(scene: Scene, names: Sequence[str]) -> NDArray[np.bool_]:
    canonical = [scene.terms[name].canonical for name in names]
    rows = np.array(
        [next((k for k, row in enumerate(_ROWS) if name.startswith(row)), -1) for name in canonical]
    )
    return np.asarray((rows[:, None] == rows[None]) & (rows[:, None] >= 0))


def _alone(scene: Scene, fit: Fit, place: int) -> Iterator[Suspicion]:
    """One mask that lies far off, or that fits an organ better that the study does not show."""
    from situs.anatomy.terms import term

    name = fit.names[place]
    if fit.place_cost[place] > _FAR_OFF:
        text = f"{name} does not lie where it should beside its neighbours"
        yield Suspicion(
            Suspect.MISPLACED, (name,), text, "check its name and mask", Doubt.STRUCTURE
        )
        return
    if scene.terms[name].kind not in _NAMED_BY_PLACE:
        return
    gains = fit.cost[place, place] - fit.absent_cost[:, place]
    # Disease changes sizes more than places: without a better place the name stays.
    nearer = fit.place_cost[place] - fit.absent_place_cost[:, place] > _NEARER
    other_kind = [term(other).kind not in _NAMED_BY_PLACE for other in fit.absent]
    gains[~nearer | other_kind] = -np.inf
    best = int(gains.argmax()) if len(gains) else 0
    if len(gains) and gains[best] > _GAIN_OF_ABSENT:
        text = (
            f"{name} lies and measures as {fit.absent[best]} would, which the study does not show"
        )
        yield Suspicion(Suspect.MISNAMED, (name,), text, _FIX, Doubt.STRUCTURE)
