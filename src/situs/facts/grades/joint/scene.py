"""What a joint's anatomy is judged by, measured from its masks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from situs.anatomy import Doubt, Suspect, Suspicion, term
from situs.anatomy.plausible import Scene, Sighting, judge
from situs.facts.grades.joint.regions import JointMasks

__all__ = ["joint_suspicions"]

_BESIDE = ("fibula", "tibia")
"""The fibula lies lateral of the tibia in every knee."""
_ALONG = 0.35
"""Cosine from which on a step counts as going sideways: within 70 degrees."""


def joint_suspicions(masks: JointMasks, side: str) -> list[Suspicion]:
    """What looks wrong about the masks of a joint of the left or right limb (`""`: not stated)."""
    scene = _scene(masks)
    sides = _sides(scene, side)
    return [*judge(scene), *([sides] if sides is not None else [])]


def _scene(masks: JointMasks) -> Scene:
    terms = {name: entry for name in masks.names if (entry := term(name)).known}
    bones = sorted(name for name, entry in terms.items() if entry.kind == "bone")
    return Scene(
        {name: _sighting(masks, name) for name in terms},
        terms,
        overlaps=dict(_overlaps(masks, bones)),
    )


def _sighting(masks: JointMasks, name: str) -> Sighting:
    index, points = masks.indices(name), masks.points_mm(name)
    x, y, z = (float(v) for v in points.mean(axis=0))
    a, b, c = (float(v) for v in np.ptp(points, axis=0) + 2.0 * masks.grid.affine.half_voxel_mm)
    last = np.array(masks.grid.shape) - 1
    cut = bool((index == 0).any() or (index == last).any())
    return Sighting(len(index) * masks.voxel_mm3 / 1000.0, (x, y, z), (a, b, c), cut)


def _overlaps(masks: JointMasks, names: list[str]) -> Iterator[tuple[tuple[str, str], float]]:
    flat = {
        name: np.ravel_multi_index(tuple(masks.indices(name).T), masks.grid.shape) for name in names
    }
    for a, b in itertools.combinations(names, 2):
        shared = len(np.intersect1d(flat[a], flat[b], assume_unique=True))
        if shared:
            yield (a, b), shared / min(len(flat[a]), len(flat[b]))


def _sides(scene: Scene, side: str) -> Suspicion | None:
    """Lateral structures that do not lie away from the body's middle,
    as the side of the limb says."""
    pairs = [_BESIDE, *((name, name.replace("lateral_", "medial_", 1)) for name in scene.sightings)]
    wrong: list[tuple[str, str]] = []
    agreeing = 0
    for lateral, medial in pairs:
        if lateral == medial or not {lateral, medial} <= scene.sightings.keys():
            continue
        step = scene.sightings[lateral].centre - scene.sightings[medial].centre
        along = float(step[0] / np.linalg.norm(step)) * (1.0 if side == "right" else -1.0)
        agreeing += along >= _ALONG
        if along <= -_ALONG:
            wrong.append((lateral, medial))
    if not side or not wrong or agreeing > len(wrong):
        return None
    lateral, medial = wrong[0]
    text = f"{lateral} does not lie lateral of {medial} in a {side} knee"
    fix = "check the side in the table, the names of the masks, and the orientation in the header"
    return Suspicion(Suspect.REVERSED, (lateral, medial), text, fix, Doubt.LEFT_RIGHT)
