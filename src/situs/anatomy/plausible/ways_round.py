"""Whether an axis that the anatomy contradicts is the header's fault, or that of the names.

A wrong header turns or reflects all structures together: the right way round, every name fits its
place again. Where no way round makes the names fit, they are wrong themselves, and what a mask is
called says nothing, whether or not a question hangs on the axis.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy.plausible.names import misnamed
from situs.anatomy.plausible.orientation import count_votes, votes_of
from situs.anatomy.plausible.places import place_cost
from situs.anatomy.plausible.scene import Doubt, Scene, Suspect, Suspicion
from situs.space import Axis

__all__ = ["names_the_right_way_round"]

_AXES = (0, 1, 2)
_FIX = (
    "check the names of the masks (name map, label numbers, file names), and the orientation in"
    " the header"
)


def names_the_right_way_round(
    scene: Scene, settled: Collection[Axis], size: float
) -> Iterator[Suspicion]:
    """What is suspected of the names of a study that lies the wrong way round.

    `settled`: the axes that are not in doubt; `size`: length of the patient beside an adult's.
    """
    # Few headers are wrong along every axis at once; names that are mixed up are.
    why = "it lies the wrong way round along every axis: its names may be mixed up"
    why = _mixed_up(scene, size) if settled else why
    if why:
        yield Suspicion(Suspect.MISNAMED, tuple(scene.terms), why, _FIX, Doubt.STRUCTURE)


def _mixed_up(scene: Scene, size: float) -> str:
    found = _best_way(scene, size)
    if found is None:
        return "it lies the wrong way round, and too little is known of it to confirm its names"
    turned, mirrored = found
    votes = votes_of(turned)
    # A mirrored patient's unpaired organs vote against the sides of the others.
    for axis in (Axis.ANTERIOR_POSTERIOR, Axis.SUPERIOR_INFERIOR):
        agreeing, against = count_votes(votes, axis)
        if against > agreeing:
            return (
                "no way to turn or reflect it makes a patient of it: its names may be mixed up"
                " (label numbers that are shifted or reversed)"
            )
    wrong = next(misnamed(turned, _AXES, size, mirrored=mirrored), None)
    return f"it lies the wrong way round, and turned back {wrong.problem}" if wrong else ""


def _best_way(scene: Scene, size: float) -> tuple[Scene, bool] | None:
    """The study turned and reflected so that names fit their places best, and whether the unpaired
    organs lie mirrored then; None if too little is known of it."""
    ways = [
        (cost, number, turned, mirrored)
        for number, (turned, mirrored) in enumerate(itertools.product(_ways(scene), (False, True)))
        if (cost := place_cost(turned, size, mirrored=mirrored)) is not None
    ]
    if not ways:
        return None
    _, _, turned, mirrored = min(ways, key=lambda way: way[:2])
    return turned, mirrored


def _ways(scene: Scene) -> Iterator[Scene]:
    """The study as it is, and in the 47 other ways in which axes can be exchanged and reflected."""
    for order in itertools.permutations(_AXES):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            yield _turned(scene, list(order), np.array(signs))


def _turned(scene: Scene, order: list[int], signs: NDArray[np.float64]) -> Scene:
    sightings = {}
    for name, seen in scene.sightings.items():
        x, y, z = (float(v) for v in signs * seen.centre[order])
        a, b, c = (seen.extent_mm[axis] for axis in order)
        sightings[name] = msgspec.structs.replace(
            seen, centroid_mm=(x, y, z), extent_mm=(a, b, c), right_share=None
        )
    return msgspec.structs.replace(scene, sightings=sightings)
