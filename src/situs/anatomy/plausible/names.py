"""Whether masks bear each other's names, or the name of something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy.part_whole import is_part
from situs.anatomy.plausible.places import Fit, FloatArray, fit_of
from situs.anatomy.plausible.ranges import TISSUE_HU, plausible_range
from situs.anatomy.plausible.scene import Doubt, Scene, Sighting, Suspect, Suspicion
from situs.anatomy.terms import Term, term

__all__ = ["crossed", "misnamed", "names_that_fit_others", "rings"]

_GAIN = 4.0
"""Cost by which exchanged names must fit better, for each of them: two names by 8, odds of e^4 for
usual spreads; pairs of sound scans stay below 6. Of many names some order always fits a little
better, most of all where all are cut."""
_GAIN_OF_ABSENT = -1.0
"""The same for the name of something that the study does not show: a mask keeps its own only if no
such name fits about as well. Whole organs of six sound CTs stay below -4, cut ones below -1.3."""
_NO_NEARER = -1.5
"""Part of that gain that comes from the place, at least: disease changes sizes more than places."""
_GAIN_WITHOUT_CT = 5.0
"""The same where no CT tells the tissue, so that lung and spleen look alike."""
_HALF_LACK_IT = {"prostate": 1.4}
"""Cost of the name of an organ that is absent in half of all patients: -2 ln 1/2."""
_OFTEN_LEFT_OUT = {"tract": 2.5}
"""The same for gut, which many sets of labels leave out: that it is absent says nothing."""
_FITS_AS_WELL = 0.5
"""Cost by which another name may fit worse and still count as fitting as well."""
_OTHER_TISSUE = 4.0
"""Cost (2 spreads squared) of a name whose usual tissue is not what a CT shows under the mask."""
_FAR_OFF = 24.0
"""Cost of a place that no usual patient's structure has: two axes at more than 3.5 spreads."""
_MANY = 3
_FEWEST_AXES = 2
"""Along a single axis too many structures lie at the same place."""
_IMPOSSIBLE = 1e6
_NAMED_BY_PLACE = ("organ", "tract")
"""Kinds of structure whose place and size tell what they are, one by one."""
_NAMED_BY_PLACE_THOUGH_CUT = ("organ",)
"""The same for what the scan cuts: of gut and vessels any stretch may be seen."""
_ROWS = ("vertebrae_", "rib_left_", "rib_right_")
"""Rows of like bones: their order is tested by their numbers, not by place and volume."""
_FIX = "check the names of the masks (name map, label numbers, file names)"


_BESIDE_MM = 6.0
"""How far two structures that lie beside each other must lie the other way round:
more than a bend or a sloppy mask."""


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
    scene: Scene, axes: Sequence[int], size: float, *, mirrored: bool
) -> Iterator[Suspicion]:
    """Names that fit better exchanged, single wrong names, and studies of which many names do not
    fit.

    `axes`, `size` and `mirrored` are those of `fit_of`.
    """
    fit = fit_of(scene, axes, size, mirrored=mirrored)
    if fit is None:
        return
    far_off = [
        name for name, cost in zip(fit.names, fit.place_cost, strict=True) if cost > _FAR_OFF
    ]
    if len(far_off) >= _MANY and 3 * len(far_off) > len(fit.names):
        text = (
            f"{len(far_off)} of {len(fit.names)} masks lie where their names do not belong,"
            f" {far_off[0]} among them"
        )
        yield Suspicion(Suspect.MISNAMED, tuple(scene.sightings), text, _FIX, Doubt.STRUCTURE)
        return
    exchanged = set[str]()
    for ring in rings(scene, fit):
        exchanged.update(ring)
        listed = " and ".join(ring[:2]) + (f" and {len(ring) - 2} more" if len(ring) > 2 else "")
        text = f"the names of {listed} look exchanged: place and size fit the other better"
        yield Suspicion(Suspect.MISNAMED, ring, text, _FIX, Doubt.STRUCTURE)
    if len(axes) < _FEWEST_AXES:
        return
    for number, name in enumerate(fit.names):
        if name not in exchanged:
            wrong = list(_alone(scene, fit, number))
            yield from wrong
            if wrong:
                yield from _with_it(scene, fit, number)


def names_that_fit_others(
    scene: Scene, axes: Sequence[int], size: float, *, mirrored: bool
) -> frozenset[str]:
    """Structures of which nothing in the masks tells that they bear their own name: exchanged with
    that of another mask, or with one that the study does not show, it fits as well.

    That is no suspicion: of what the scan cuts off, sound studies have some. Image values play no
    part, so that the same is found where the image is not at hand.
    """
    fit = fit_of(scene, axes, size, mirrored=mirrored)
    if fit is None:
        # Too little is known of the study for any name to be tested.
        return frozenset()
    own = np.diag(fit.cost)
    gains = own[:, None] + own[None] - fit.cost - fit.cost.T
    gains[_same_row(scene, fit.names)] = -np.inf
    np.fill_diagonal(gains, -np.inf)
    best = gains.max(axis=1)
    for number, name in enumerate(fit.names):
        if scene.terms[name].kind in _NAMED_BY_PLACE_THOUGH_CUT:
            best[number] = max(best[number], *_gains(scene, fit, number, tissue=False), -np.inf)
    return frozenset(
        name for name, gain in zip(fit.names, best, strict=True) if gain > -_FITS_AS_WELL
    )


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


def _alone(scene: Scene, fit: Fit, number: int) -> Iterator[Suspicion]:
    """One mask that lies far off, or that fits an organ better that the study does not show."""
    name, is_whole = fit.names[number], bool(fit.whole[number])
    if is_whole and fit.place_cost[number] > _FAR_OFF:
        text = f"{name} does not lie where it should beside its neighbours"
        yield Suspicion(
            Suspect.MISPLACED, (name,), text, "check its name and mask", Doubt.STRUCTURE
        )
        return
    kinds = _NAMED_BY_PLACE if is_whole else _NAMED_BY_PLACE_THOUGH_CUT
    if scene.terms[name].kind not in kinds:
        return
    gains = _gains(scene, fit, number)
    best = int(gains.argmax()) if len(gains) else 0
    if len(gains) and gains[best] > _least_gain(scene.sightings[name]):
        verb = "lies and measures" if is_whole else "is cut off, and what is seen of it lies"
        text = f"{name} {verb} as {fit.absent[best]} would, which the study does not show"
        yield Suspicion(Suspect.MISNAMED, (name,), text, _FIX, Doubt.STRUCTURE)


def _with_it(scene: Scene, fit: Fit, number: int) -> Iterator[Suspicion]:
    """Organs whose name fits a mask of a wrong name, while its name fits theirs:
    where one of the two is wrong, that they are exchanged needs no further proof."""
    own = np.diag(fit.cost)
    gains = own[number] + own - fit.cost[number] - fit.cost[:, number]
    wrong = fit.names[number]
    for other, gain in zip(fit.names, gains, strict=True):
        if other != wrong and gain > 0.0 and scene.terms[other].kind in _NAMED_BY_PLACE:
            text = f"{other} and {wrong}, whose name is in doubt, may bear each other's names"
            yield Suspicion(Suspect.MISNAMED, (other,), text, _FIX, Doubt.STRUCTURE)


def _least_gain(seen: Sighting) -> float:
    return _GAIN_WITHOUT_CT if seen.mean_hu is None else _GAIN_OF_ABSENT


def _gains(scene: Scene, fit: Fit, number: int, *, tissue: bool = True) -> FloatArray:
    """By how much better than its own each absent name fits a mask;
    minus infinity where none may stand for it. `tissue`: whether a CT may tell, too."""
    entry, seen = scene.terms[fit.names[number]], scene.sightings[fit.names[number]]
    seen = seen if tissue else msgspec.structs.replace(seen, mean_hu=None)
    absent = [term(other) for other in fit.absent]
    beside_place = np.array(
        [_tissue_cost(other, seen) + _cost_of_absence(other) for other in absent]
    )
    own = fit.cost[number, number] + _tissue_cost(entry, seen)
    gains: FloatArray = own - fit.absent_cost[:, number] - beside_place
    nearer = fit.place_cost[number] - fit.absent_place_cost[:, number]
    is_rival = [
        other.kind in _NAMED_BY_PLACE and not is_part(entry, other, scene.terms) for other in absent
    ]
    gains[~np.array(is_rival, dtype=np.bool_)] = -np.inf
    gains[nearer <= _NO_NEARER] = -np.inf
    return gains


def _cost_of_absence(entry: Term) -> float:
    return _HALF_LACK_IT.get(entry.canonical, 0.0) + _OFTEN_LEFT_OUT.get(entry.kind, 0.0)


def _tissue_cost(entry: Term, seen: Sighting) -> float:
    known = plausible_range(entry)
    if seen.mean_hu is None or known is None or not known.tissue:
        return 0.0
    low, high = TISSUE_HU[known.tissue]
    return 0.0 if low <= seen.mean_hu <= high else _OTHER_TISSUE
