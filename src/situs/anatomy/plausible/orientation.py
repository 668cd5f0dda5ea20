"""Which way round a study lies: many structures vote, axis by axis."""

from __future__ import annotations

import fnmatch
import functools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy.part_whole import is_spine
from situs.anatomy.plausible.numbering import vertebra_number
from situs.anatomy.plausible.ranges import expectation_rows
from situs.anatomy.plausible.scene import Doubt, Geometry, Scene, Suspect, Suspicion
from situs.anatomy.terms import Naming
from situs.space import Axis

__all__ = ["AXIS_OF", "Vote", "count_votes", "misplaced", "orientation", "votes_of"]

AXIS_OF = {
    Doubt.LEFT_RIGHT: Axis.LEFT_RIGHT,
    Doubt.FRONT_BACK: Axis.ANTERIOR_POSTERIOR,
    Doubt.UP_DOWN: Axis.SUPERIOR_INFERIOR,
}
_ALONG = 0.35
"""Cosine from which on a step counts as going along the axis:
within 70°, since organs lie askew."""
_ACROSS = 0.9
"""Cosine from which on a step that does not follow its own axis counts as following another."""
_UNMOVED = ("urinary/organ", "respiratory/organ", "endocrine/organ")
"""Pairs of organs of which the left and right one always lie beside each other."""
_STRAIGHT = 0.7
"""Cosine from which on a step that is straight in every patient is so in this one."""
_BESIDE = 1.5
_PAIRED = {"kidneys": "kidney_{}", "adrenals": "adrenal_gland_{}"}
"""Names in `order.csv` for the middle between a left and a right structure."""


class Vote(msgspec.Struct, frozen=True):
    """What the step from one structure to another says of an axis."""

    axis: Axis
    group: str
    """Votes of one group are not independent: together they count once."""
    structures: tuple[str, ...]
    cosine: float
    """Of the step and the axis: 1 as it should be, -1 reversed."""
    elsewhere: Axis | None = None
    """The axis that the step follows instead."""
    straight: bool = False
    """The step is so straight in every patient that it settles the axis,
    against all that lie askew."""

    @property
    def agrees(self) -> bool:
        """Whether the step goes the expected way."""
        return self.cosine >= _ALONG

    @property
    def reversed(self) -> bool:
        """Whether it goes the opposite way."""
        return self.cosine <= -_ALONG


class _Order(msgspec.Struct, frozen=True):
    """One pair of a row of `order.csv`: the first lies right of, before or above the second."""

    axis: Axis
    first: str
    second: str
    group: str
    cut: bool
    """Whether it holds for structures that the scan cuts off, too."""
    turns: bool
    """Whether the step is so straight that, if it follows another axis, the study is turned."""


@functools.cache
def _orders() -> tuple[_Order, ...]:
    return tuple(
        _Order(
            Axis(row["axis"]),
            first,
            second,
            row["group"],
            row["cut"] == "yes",
            row["turns"] == "yes",
        )
        for row in expectation_rows("order")
        for first in row["first"].split("|")
        for second in row["second"].split("|")
    )


class _Point(msgspec.Struct, frozen=True):
    structures: tuple[str, ...]
    centre: NDArray[np.float64]
    cut: bool
    reach_mm: float = math.inf
    """How far away a structure still lies beside it."""


def votes_of(scene: Scene) -> list[Vote]:
    """Every vote of a study."""
    return [*_pair_votes(scene), *_order_votes(scene), *_spine_votes(scene), *_rib_votes(scene)]


def _pair_votes(scene: Scene) -> Iterator[Vote]:
    """Left against right of each positional pair."""
    for name, seen in scene.sightings.items():
        entry = scene.terms[name]
        partner = scene.sightings.get(entry.partner or "")
        if entry.naming is not Naming.POSITIONAL or entry.side != "right" or partner is None:
            continue
        group = entry.system + "/" + entry.kind
        vote = _vote(
            Axis.LEFT_RIGHT, group, (name, str(entry.partner)), seen.centre - partner.centre
        )
        if vote is not None:
            yield _straight(vote) if group in _UNMOVED else vote


def _order_votes(scene: Scene) -> Iterator[Vote]:
    for order in _orders():
        for first in _points(scene, order.first):
            for second in _points(scene, order.second, near=first):
                if (first.cut or second.cut) and not order.cut:
                    continue
                names = (*first.structures, *second.structures)
                vote = _vote(order.axis, order.group, names, first.centre - second.centre)
                far = float(np.linalg.norm(first.centre - second.centre)) > second.reach_mm
                if vote is None or len(set(names)) < len(names):
                    continue
                if vote.elsewhere is None or (order.turns and not far):
                    yield _straight(vote) if order.turns and not far else vote


def _spine_votes(scene: Scene) -> Iterator[Vote]:
    """Vertebrae with higher numbers lie lower: the middle of each half of the row is compared."""
    numbered = ((vertebra_number(scene.terms[name]), name) for name in scene.sightings)
    row = sorted((number, name) for number, name in numbered if number is not None)
    if len(row) < 2:
        return
    half = len(row) // 2
    upper, lower = (
        [scene.sightings[name].centre for _, name in part] for part in (row[:half], row[-half:])
    )
    step = np.mean(upper, axis=0) - np.mean(lower, axis=0)
    vote = _vote(Axis.SUPERIOR_INFERIOR, "spine", (row[0][1], row[-1][1]), step)
    if vote is not None:
        yield _straight(vote)


def _rib_votes(scene: Scene) -> Iterator[Vote]:
    """Of whole ribs of one side, the first of the row lies above the last."""
    for side in ("left", "right"):
        known = [(n, scene.named(f"rib_{side}_{n}")) for n in range(1, 13)]
        complete = [
            (n, name) for n, name in known if name is not None and not scene.sightings[name].cut
        ]
        if len(complete) >= 2 and complete[-1][0] - complete[0][0] >= 3:
            first, last = complete[0][1], complete[-1][1]
            step = scene.sightings[first].centre - scene.sightings[last].centre
            vote = _vote(Axis.SUPERIOR_INFERIOR, "ribs", (first, last), step)
            if vote is not None:
                yield vote


def _points(scene: Scene, pattern: str, near: _Point | None = None) -> Iterator[_Point]:
    """The points that a name of `order.csv` stands for in this study."""
    if pattern in _PAIRED:
        both = [scene.named(_PAIRED[pattern].format(side)) for side in ("left", "right")]
        names = tuple(name for name in both if name is not None)
        if len(names) == 2:
            centre = (scene.sightings[names[0]].centre + scene.sightings[names[1]].centre) / 2.0
            yield _Point(names, centre, any(scene.sightings[name].cut for name in names))
        return
    if pattern == "spine" and near is not None:
        spine = [name for name in scene.sightings if is_spine(scene.terms[name].canonical)]
        if spine:
            # The vertebra beside it, so that the curve of the spine plays no part.
            nearest = min(
                spine,
                key=lambda name: float(np.linalg.norm(scene.sightings[name].centre - near.centre)),
            )
            reach = _BESIDE * max(scene.sightings[nearest].extent_mm)
            yield _Point((nearest,), scene.sightings[nearest].centre, cut=False, reach_mm=reach)
        return
    for name, seen in scene.sightings.items():
        if _fits(scene.terms[name].canonical, pattern):
            yield _Point((name,), seen.centre, seen.cut)


@functools.lru_cache(maxsize=1 << 14)
def _fits(canonical: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(canonical, pattern)


def _vote(axis: Axis, group: str, names: tuple[str, ...], step: NDArray[np.float64]) -> Vote | None:
    """None if the step says nothing: too askew to follow any axis."""
    length = float(np.linalg.norm(step))
    if length == 0.0:
        return None
    cosines = step / length
    along = float(cosines[axis.world_index])
    if abs(along) >= _ALONG:
        return Vote(axis, group, names, along)
    other = max(
        (a for a in Axis if a is not axis), key=lambda a: abs(float(cosines[a.world_index]))
    )
    if abs(float(cosines[other.world_index])) >= _ACROSS:
        return Vote(axis, group, names, along, other)
    return None


def _straight(vote: Vote) -> Vote:
    clear = vote.elsewhere is not None or abs(vote.cosine) >= _STRAIGHT
    return msgspec.structs.replace(vote, straight=clear)


def count_votes(votes: list[Vote], axis: Axis) -> tuple[int, int]:
    """How many groups agree with an axis, and how many do not."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for vote in votes:
        if vote.axis is axis:
            groups[vote.group].append(vote.agrees)
    agreeing = sum(2 * sum(group) > len(group) for group in groups.values())
    return agreeing, len(groups) - agreeing


def orientation(scene: Scene, votes: list[Vote]) -> list[Suspicion]:
    """A suspicion for every axis on which the votes are against it,
    or that nothing confirms where the file is mute."""
    suspicions = {}
    for doubt, axis in AXIS_OF.items():
        agreeing, against = count_votes(votes, axis)
        opposed = [vote for vote in votes if vote.axis is axis and not vote.agrees]
        straight = _straight_votes(votes, axis)
        if 2 * sum(straight) < len(straight) or (against and against >= agreeing):
            suspicions[doubt] = _against(doubt, opposed)
        elif scene.geometry is not Geometry.STATED and (against or not agreeing):
            suspicions[doubt] = _unconfirmed(doubt, scene.geometry)
    return [*suspicions.values(), *_turned_onto(votes, suspicions)]


def _turned_onto(votes: list[Vote], suspicions: dict[Doubt, Suspicion]) -> Iterator[Suspicion]:
    """Axes along which lies what should lie along another:
    in doubt as well, unless something straight confirms."""
    for doubt, axis in AXIS_OF.items():
        here = [
            v
            for v in votes
            if v.elsewhere is axis and v.straight and any(AXIS_OF[d] is v.axis for d in suspicions)
        ]
        straight_votes = _straight_votes(votes, axis)
        if here and doubt not in suspicions and 2 * sum(straight_votes) <= len(straight_votes):
            yield _against(doubt, here)


def _straight_votes(votes: list[Vote], axis: Axis) -> list[bool]:
    return [vote.agrees for vote in votes if vote.axis is axis and vote.straight]


def _unconfirmed(doubt: Doubt, geometry: Geometry) -> Suspicion:
    text = f"{_MUTE[geometry]}, and no anatomy confirms {_WORDS[doubt]}"
    fix = "set orientation and voxel size in the header, from the original series"
    return Suspicion(Suspect.NO_GEOMETRY, (), text, fix, doubt)


_MUTE = {
    Geometry.BLANK: "its affine is the identity, as if it had never been set",
    Geometry.UNDECLARED: "its header declares no orientation",
}
_WORDS = {
    Doubt.LEFT_RIGHT: "which side is left",
    Doubt.FRONT_BACK: "where the front is",
    Doubt.UP_DOWN: "where the head is",
}
_REVERSED = {
    Doubt.LEFT_RIGHT: "left and right look exchanged",
    Doubt.FRONT_BACK: "front and back look exchanged",
    Doubt.UP_DOWN: "it looks upside down",
}
_USUAL = {
    Axis.LEFT_RIGHT: "right of",
    Axis.ANTERIOR_POSTERIOR: "in front of",
    Axis.SUPERIOR_INFERIOR: "above",
}


def _against(doubt: Doubt, opposed: list[Vote]) -> Suspicion:
    turned = [vote for vote in opposed if vote.elsewhere is not None]
    structures = tuple(dict.fromkeys(name for vote in opposed for name in vote.structures))
    seen = " and ".join(dict.fromkeys(_phrase(vote) for vote in opposed[:2]))
    if 2 * len(turned) > len(opposed):
        text = f"it looks turned, so that it is unclear {_WORDS[doubt]}: {seen}"
        fix = "check the orientation in the header, and the order of the axes"
        return Suspicion(Suspect.TURNED, structures, text, fix, doubt)
    fix = (
        "check the orientation in the header (a flip without its affine, the order of the slices,"
        " prone or supine)"
    )
    return Suspicion(Suspect.REVERSED, structures, f"{_REVERSED[doubt]}: {seen}", fix, doubt)


def _phrase(vote: Vote) -> str:
    first, second = vote.structures[0], vote.structures[-1]
    return f"{first} does not lie {_USUAL[vote.axis]} {second}"


def misplaced(votes: list[Vote], settled: list[Axis]) -> Iterator[Suspicion]:
    """The fewest structures that account for every
    vote against an axis that the others agree on."""
    for axis in settled:
        axis_votes = [vote for vote in votes if vote.axis is axis]
        against = [
            vote
            for vote in axis_votes
            if vote.reversed or (vote.elsewhere is not None and vote.group in _UNMOVED)
        ]
        while against:
            blamed = Counter(name for vote in against for name in vote.structures)
            accused = tuple(sorted(name for name in blamed if blamed[name] == max(blamed.values())))
            example = next(vote for vote in against if set(vote.structures) & set(accused))
            text = f"{_phrase(example)}, while the rest of the study lies as usual"
            fix = "check the names and masks of both"
            yield Suspicion(Suspect.MISPLACED, accused, text, fix, Doubt.STRUCTURE)
            against = [vote for vote in against if not set(vote.structures) & set(accused)]
