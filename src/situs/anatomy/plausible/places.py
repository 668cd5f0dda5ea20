"""Where structures lie to each other in most patients, and how well a study's masks fit their
names.

Every structure of `places.csv` tells where every other should lie: at its own centre plus the
typical step between the two. Near and steady structures tell more than far and movable ones. What
is left over, in spreads of the place and of the volume, is the cost of a name; names that are
exchanged cost less the other way round.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy.plausible.ranges import expectation_rows, plausible_range
from situs.anatomy.plausible.scene import Scene, Sighting
from situs.anatomy.terms import Naming, Term

__all__ = ["Fit", "UsualPlace", "absent_places", "axis_scales", "fit_of", "place_cost"]

FloatArray = NDArray[np.float64]

_STRETCH = 0.1
"""Share of a step by which patients differ: a step over 300 mm is known to 30 mm."""
_SEEN_OF_CUT = 0.35
"""Share of what is seen of a cut structure by which
its centre may lie elsewhere than the whole's."""
_UNSEEN_OF_CUT = 0.35
"""The same for the part of it that is not seen."""
_LENGTH = 1.6
"""Length of a structure beside the cube root of its volume: a little more than a ball's."""
_LENGTH_OF_BONES = 0.5
"""The same beside the highest plausible length."""
_CAP = 16.0
"""Highest cost (4 spreads squared) of one axis or of the volume:
disease may change one of them at will."""
_OUTLIER = 3.0
"""Spreads from which on a structure tells less about the others."""
_LONG = 2.0
_MOST_PATIENTS = 2.0
"""Spreads of its place within which an organ lies along one axis in 95 of 100 patients."""
_TURNS_DEGREES = (-10.0, -5.0, 5.0, 10.0)
"""How a patient may lie turned about one axis;
all places are judged in the one of these poses that fits best."""
_PLACED = ("organ", "tract", "vessel")
"""Kinds of structure of which it is told where they lie though no mask is named after them."""
_FEWEST = 4
"""Structures that must tell before any name is tested."""


class _Place(msgspec.Struct, frozen=True):
    """A row of `places.csv`: mm from the centre of L1 (right,
    front, head), and how much patients differ."""

    structure: str
    x: float
    y: float
    z: float
    spread_x: float
    spread_y: float
    spread_z: float
    spread_ln_ml: float

    def centre(self, *, mirrored: bool) -> tuple[float, float, float]:
        return (-self.x if mirrored else self.x), self.y, self.z

    @property
    def spread(self) -> tuple[float, float, float]:
        return self.spread_x, self.spread_y, self.spread_z


@functools.cache
def _places() -> dict[str, _Place]:
    rows = (msgspec.convert(row, _Place, strict=False) for row in expectation_rows("places"))
    return {row.structure: row for row in rows}


class Fit(msgspec.Struct, frozen=True):
    """What it costs to give each name to each mask."""

    names: tuple[str, ...]
    """Of the study, one a mask."""
    cost: FloatArray
    """Row: the name; column: the mask."""
    place_cost: FloatArray
    """Of each name for its own mask: the part that is due to its place."""
    whole: NDArray[np.bool_]
    """Masks that the scan does not cut."""
    absent: tuple[str, ...]
    """Canonical names that the study does not use."""
    absent_cost: FloatArray
    """Row: a name that is not used; column: the mask."""
    absent_place_cost: FloatArray
    """The part of it that is due to the place."""


class _Table(msgspec.Struct, frozen=True):
    """Expected places and volumes of some names."""

    centre: FloatArray
    spread: FloatArray
    ln_ml: FloatArray
    spread_ln_ml: FloatArray
    length: FloatArray
    """About how long the structures are, in mm."""


def fit_of(
    scene: Scene, axes: Sequence[int], size: float = 1.0, *, mirrored: bool = False
) -> Fit | None:
    """The fit of a study along the axes (0, 1, 2) that are not in doubt; None if too little is
    known of it.

    `size`: length of the patient beside an adult's; `mirrored`: the unpaired organs lie on the
    other side.
    """
    names = tuple(name for name, seen in scene.sightings.items() if _tells(scene.terms[name], seen))
    if len(names) < _FEWEST or not axes:
        return None
    used = {scene.terms[name].canonical for name in names}
    seen = [scene.sightings[name] for name in names]
    study_table = _table([scene.terms[name] for name in names], size, mirrored=mirrored)
    masks = _masks_of(seen)
    best_pose, place_cost, volume_cost = _best_pose(study_table, masks, list(axes))
    unused = _unused(scene, used)
    others = _table(unused, size, mirrored=mirrored)
    other_place, other_volume = best_pose.costs(others, list(axes), None)
    return Fit(
        names,
        place_cost + volume_cost,
        np.diag(place_cost).copy(),
        ~masks.cut,
        tuple(entry.canonical for entry in unused),
        other_place + other_volume,
        other_place,
    )


def place_cost(scene: Scene, size: float = 1.0, *, mirrored: bool = False) -> float | None:
    """How badly the places of all masks fit their names, of a patient who lies straight; None if
    too little is known. Arguments as in `fit_of`."""
    seen = {n: one for n, one in scene.sightings.items() if _tells(scene.terms[n], one)}
    if len(seen) < _FEWEST:
        return None
    table = _table([scene.terms[name] for name in seen], size, mirrored=mirrored)
    expected = _Expected(table, _masks_of(list(seen.values())))
    cost, _ = expected.costs(table, [0, 1, 2], np.arange(len(seen)))
    return float(np.trace(cost))


class UsualPlace(msgspec.Struct, frozen=True):
    """Where a structure should lie that a study does not name: an ellipsoid that most likely
    holds it, in mm."""

    centre: FloatArray
    half_axes: FloatArray
    volume_ml: float
    """What the structure usually measures."""

    def holds(self, points: FloatArray) -> NDArray[np.bool_]:
        """Which of these points lie in it."""
        inside: NDArray[np.bool_] = (((points - self.centre) / self.half_axes) ** 2).sum(
            axis=1
        ) <= 1.0
        return inside


def absent_places(scene: Scene, size: float = 1.0) -> dict[str, UsualPlace]:
    """The usual places of solid organs, gut and vessels that no mask is named after, by what the
    others tell; none where too little is known of the study.

    A ball of the organ's usual volume, wider along each axis by two spreads of its place. Of a
    mirrored patient the places are mirrored: what fits the masks better is taken.
    """
    names = [name for name, seen in scene.sightings.items() if _tells(scene.terms[name], seen)]
    if len(names) < _FEWEST:
        return {}
    present = [scene.terms[name] for name in names]
    unused = [
        entry
        for entry in _unused(scene, {entry.canonical for entry in present})
        if entry.kind in _PLACED and _is_drawn_with_others(entry)
    ]
    masks = _masks_of([scene.sightings[name] for name in names])
    numbers = np.arange(len(names))

    def judged(mirrored: bool) -> tuple[float, _Expected]:
        expected = _Expected(_table(present, size, mirrored=mirrored), masks)
        place_cost, _ = expected.costs(expected.own, [0, 1, 2], numbers)
        return float(np.trace(place_cost)), expected

    (usual, as_usual), (other, as_mirrored) = judged(False), judged(True)
    expected, mirrored = (as_mirrored, True) if other < usual else (as_usual, False)
    table = _table(unused, size, mirrored=mirrored)
    centres, spreads = expected.places(table)
    radii = 10.0 * size * np.cbrt(3.0 * np.exp(table.ln_ml) / (4.0 * np.pi))
    return {
        entry.canonical: UsualPlace(centre, radius + _MOST_PATIENTS * spread, float(np.exp(ln_ml)))
        for entry, centre, spread, radius, ln_ml in zip(
            unused, centres, spreads, radii, table.ln_ml, strict=True
        )
    }


def _is_drawn_with_others(entry: Term) -> bool:
    """Whether its mask may be taken for part of a neighbour's: lungs are too dark for that."""
    known = plausible_range(entry)
    return known is not None and known.tissue != "air"


def _masks_of(seen: Sequence[Sighting]) -> _Masks:
    return _Masks(
        np.array([one.centroid_mm for one in seen]),
        np.array([one.extent_mm for one in seen]),
        np.log([one.volume_ml for one in seen]),
        np.array([one.cut for one in seen]),
    )


def _best_pose(
    study_table: _Table, masks: _Masks, axes: list[int]
) -> tuple[_Expected, FloatArray, FloatArray]:
    """The masks with the turn of the patient undone, and their costs under the names of the study.

    Turned by 10°, the end of a spine lies 50 mm off what its other end tells, though nothing is
    misplaced.
    """
    numbers = np.arange(len(masks.cut))

    def judged(pose: _Masks) -> tuple[_Expected, FloatArray, FloatArray]:
        posed = _Expected(study_table, pose)
        return posed, *posed.costs(study_table, axes, numbers)

    return min(
        (judged(pose) for pose in _poses(masks, axes)),
        key=lambda candidate: float(np.trace(candidate[1])),
    )


def _poses(masks: _Masks, axes: list[int]) -> Iterator[_Masks]:
    """Upright, and turned in each plane of which neither axis is in doubt."""
    middle = masks.centre.mean(axis=0)
    yield masks
    for plane, degrees in itertools.product(itertools.combinations(axes, 2), _TURNS_DEGREES):
        cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        turn = np.eye(3)
        turn[np.ix_(plane, plane)] = [[cosine, -sine], [sine, cosine]]
        yield msgspec.structs.replace(masks, centre=(masks.centre - middle) @ turn.T + middle)


def axis_scales(
    scene: Scene, *, cut: bool = False
) -> tuple[float | None, float | None, float | None]:
    """Along x, y and z: how far apart structures lie beside an adult's; None where too few tell.

    `cut`: those that the scan cuts tell, too; what is seen of them lies closer together than the
    whole.

    The weighted median over pairs, so that a few odd places change little.
    """
    known = [name for name in scene.sightings if scene.terms[name].canonical in _places()]
    names = [name for name in known if cut or not scene.sightings[name].cut]
    if len(names) < _FEWEST:
        return None, None, None
    table = _table([scene.terms[name] for name in names], 1.0, mirrored=False)
    centres = np.array([scene.sightings[name].centroid_mm for name in names])
    first, second = np.triu_indices(len(names), 1)
    expected = table.centre[first] - table.centre[second]
    observed = np.abs(centres[first] - centres[second])
    variance = table.spread[first] ** 2 + table.spread[second] ** 2
    # Only steps that are long beside what patients differ by.
    telling = np.abs(expected) > _LONG * np.sqrt(variance)
    weight = expected**2 / (variance + (_STRETCH * expected) ** 2)
    x, y, z = (
        _weighted_median(
            observed[is_telling, axis] / np.abs(expected[is_telling, axis]),
            weight[is_telling, axis],
        )
        for axis, is_telling in enumerate(telling.T)
    )
    return x, y, z


def _weighted_median(values: FloatArray, weights: FloatArray) -> float | None:
    if len(values) < _FEWEST:
        return None
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2.0)])


def _tells(entry: Term, seen: Sighting) -> bool:
    known = plausible_range(entry)
    return entry.canonical in _places() and known is not None and seen.volume_ml > 0.0


def _unused(scene: Scene, used: set[str]) -> list[Term]:
    from situs.anatomy.terms import term

    present = {entry.canonical for entry in scene.terms.values()}
    return [term(name) for name in _places() if name not in used and name not in present]


def _table(entries: Sequence[Term], size: float, *, mirrored: bool) -> _Table:
    rows = [_places()[entry.canonical] for entry in entries]
    flips = [mirrored and entry.naming is not Naming.POSITIONAL for entry in entries]
    ranges = [plausible_range(entry) for entry in entries]
    centre = [row.centre(mirrored=flip) for row, flip in zip(rows, flips, strict=True)]
    return _Table(
        size * np.array(centre, dtype=np.float64).reshape(-1, 3),
        size * np.array([row.spread for row in rows], dtype=np.float64).reshape(-1, 3),
        np.log([known.typical_ml if known is not None else 1.0 for known in ranges]),
        np.array([row.spread_ln_ml for row in rows]),
        size * np.array([_length_mm(entry) for entry in entries]),
    )


def _length_mm(entry: Term) -> float:
    known = plausible_range(entry)
    if known is None:
        return 0.0
    # Ribs and limb bones are far longer than their volume tells.
    if entry.kind == "bone":
        return _LENGTH_OF_BONES * known.high_mm
    return _LENGTH * 10.0 * float(np.cbrt(known.typical_ml))


class _Masks(msgspec.Struct, frozen=True):
    centre: FloatArray
    extent: FloatArray
    ln_ml: FloatArray
    cut: NDArray[np.bool_]

    def slack(self, names: _Table) -> FloatArray:
        """How much further the centre of a mask (second axis)
        may lie off under a name (first), if it is cut."""
        unseen = np.maximum(names.length[:, None, None] - self.extent[None], 0.0)
        return np.where(
            self.cut[None, :, None], _SEEN_OF_CUT * self.extent[None] + _UNSEEN_OF_CUT * unseen, 0.0
        )


class _Expected:
    """Where the masks of a study say that a structure should lie."""

    def __init__(self, study_table: _Table, masks: _Masks) -> None:
        self.own, self.masks = study_table, masks
        self.offset = masks.centre - study_table.centre
        count = np.arange(len(masks.cut))
        self.slack = masks.slack(study_table)[count, count]
        self.trust = np.ones(len(masks.cut))
        # Once more with less weight for those that the others contradict.
        weight = self._weights(study_table)
        weight[count, count] = 0.0
        total = weight.sum(axis=1)
        left = self.offset - np.einsum("ija,ja->ia", weight, self.offset) / total
        spreads = np.abs(left) / np.sqrt(study_table.spread**2 + self.slack**2 + 1.0 / total)
        self.trust = 1.0 / (1.0 + (spreads.max(axis=1) / _OUTLIER) ** 2)
        difference = (masks.ln_ml - study_table.ln_ml)[~masks.cut]
        self.ln_size = float(np.median(difference)) if len(difference) >= _FEWEST else 0.0

    def _weights(self, names: _Table) -> FloatArray:
        """Of each mask (second axis) for each name (first), along x, y, z:
        inverse variances of the step."""
        step = names.centre[:, None] - self.own.centre[None]
        variance = (self.own.spread**2 + self.slack**2)[None] + (_STRETCH * step) ** 2
        return np.asarray(self.trust[None, :, None] / variance)

    def places(self, names: _Table) -> tuple[FloatArray, FloatArray]:
        """Centres at which names that no mask bears should lie, and how far they may lie off."""
        weight = self._weights(names)
        total = weight.sum(axis=1)
        step = np.einsum("ija,ja->ia", weight, self.offset) / total
        return names.centre + step, np.sqrt(names.spread**2 + 1.0 / total)

    def costs(
        self, names: _Table, axes: list[int], numbers: NDArray[np.intp] | None
    ) -> tuple[FloatArray, FloatArray]:
        """Costs of place and of volume of every name for every mask; neither of the two tells about
        itself.

        `numbers`: the masks that bear the names at present; None if none does.
        """
        weight = self._weights(names)
        total, moment = weight.sum(axis=1), np.einsum("ija,ja->ia", weight, self.offset)
        total_left = total[:, None] - weight
        moment_left = moment[:, None] - weight * self.offset[None]
        if numbers is not None:
            bearer, bearer_offset = weight[numbers, numbers], self.offset[numbers]
            total_left -= bearer[:, None]
            moment_left -= (bearer * bearer_offset)[:, None]
            total_left[numbers, numbers] += bearer
            moment_left[numbers, numbers] += bearer * bearer_offset
        expected = names.centre[:, None] + moment_left / total_left
        variance = names.spread[:, None] ** 2 + self.masks.slack(names) ** 2 + 1.0 / total_left
        place_cost = np.minimum((self.masks.centre[None] - expected) ** 2 / variance, _CAP)[
            :, :, axes
        ].sum(axis=2)
        ratio = (self.masks.ln_ml[None] - names.ln_ml[:, None] - self.ln_size) / names.spread_ln_ml[
            :, None
        ]
        # Of a cut structure more may be there than is seen, never less.
        ratio = np.where(self.masks.cut[None], np.maximum(ratio, 0.0), ratio)
        return place_cost, np.minimum(ratio**2, _CAP)
