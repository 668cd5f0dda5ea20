"""Whether the vertebrae are numbered as they lie."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import numpy as np

from situs.anatomy.plausible.ranges import plausible_range
from situs.anatomy.plausible.scene import Doubt, Scene, Suspect, Suspicion
from situs.anatomy.terms import Term

__all__ = ["VERTEBRAE", "numbering", "pitch_ratio", "vertebra_number"]

VERTEBRAE: tuple[str, ...] = (
    *(f"C{n}" for n in range(1, 8)),
    *(f"T{n}" for n in range(1, 13)),
    *(f"L{n}" for n in range(1, 6)),
    "S1",
)
"""From the head down."""

_PITCH_MM = np.interp(
    np.arange(len(VERTEBRAE)), [0, 2, 6, 7, 18, 19, 23, 24], [16, 16, 17, 19, 28, 31, 35, 33]
)
"""Typical distance to the next vertebra of an adult, body and disc together;
by judgement, see `sources.md`."""
_STEP_RATIO = (0.58, 1.65)
"""A step between neighbours beside the study's usual one:
narrower by a fracture, wider by a block of two."""
_ONE_OF_TWO = 1.25
"""Volume of two neighbours beside the mean of those above and below them, up to which they are one
vertebra in two masks: two whole ones have about 2, fractured ones 1.4."""
_MOSTLY_SEEN = 0.5
"""Part of a typical volume from which on a cut vertebra counts."""
_OFF_LEVELS = 0.6
_BEND = np.cos(np.radians(100.0))
_FIX = (
    "check the numbers of the vertebrae against ribs, sacrum and skull; a transitional vertebra"
    " needs a reader"
)


def vertebra_number(entry: Term) -> int | None:
    """The place of a vertebra in the row (0 = C1); None for anything else."""
    match = re.fullmatch(r"vertebrae_(\w+)", entry.canonical)
    return VERTEBRAE.index(match[1]) if match and match[1] in VERTEBRAE else None


def _row(scene: Scene, *, slivers: bool = False) -> list[tuple[int, str]]:
    """The vertebrae from the head down by their numbers: those of which most is seen, or all."""
    numbered = ((vertebra_number(scene.terms[name]), name) for name in scene.sightings)
    return sorted(
        (n, name) for n, name in numbered if n is not None and (slivers or _is_seen(scene, name))
    )


def _is_seen(scene: Scene, name: str) -> bool:
    """Whether the centre of what is seen of a vertebra is about its own."""
    seen, known = scene.sightings[name], plausible_range(scene.terms[name])
    return not seen.cut or (known is not None and seen.volume_ml >= _MOSTLY_SEEN * known.typical_ml)


def _steps(scene: Scene) -> list[tuple[tuple[int, str], tuple[int, str], float]]:
    """Neighbours in the row, and their distance beside what is typical for their numbers."""
    result = []
    for (i, a), (j, b) in itertools.pairwise(_row(scene)):
        length = float(np.linalg.norm(scene.sightings[b].centre - scene.sightings[a].centre))
        result.append(((i, a), (j, b), length / float(_PITCH_MM[i:j].sum()) if j > i else 0.0))
    return result


def pitch_ratio(scene: Scene) -> float | None:
    """How far apart the vertebrae lie beside an adult's;
    None with fewer than three, or if they are out of order."""
    if _out_of_order(scene):
        return None
    steps = [ratio for (i, _), (j, _), ratio in _steps(scene) if j - i == 1]
    return float(np.median(steps)) if len(steps) >= 2 else None


def numbering(scene: Scene) -> Iterator[Suspicion]:
    """Vertebrae out of order, numbers left out or doubled,
    and numbers that do not fit their anchors."""
    exchanged = _out_of_order(scene)
    if exchanged:
        text = f"the vertebrae do not follow each other in order: {', '.join(exchanged[:6])}"
        yield Suspicion(Suspect.NUMBERING, tuple(exchanged), text, _FIX, Doubt.LEVELS)
        yield Suspicion(Suspect.NUMBERING, tuple(exchanged), text, _FIX, Doubt.STRUCTURE)
        return
    steps = [(a, b, ratio) for (i, a), (j, b), ratio in _steps(scene) if j - i <= 2]
    usual = float(np.median([ratio for _, _, ratio in steps])) if steps else 1.0
    for a, b, ratio in steps if len(steps) >= 3 else ():
        if not _STEP_RATIO[0] * usual <= ratio <= _STEP_RATIO[1] * usual:
            near = "close together" if ratio < usual else "far apart"
            text = f"{a} and {b} lie too {near} for their numbers"
            yield Suspicion(Suspect.NUMBERING, (a, b), text, _FIX, Doubt.LEVELS)
    for a, b in _halves(scene):
        text = f"{a} and {b} together are no larger than one vertebra"
        yield Suspicion(Suspect.NUMBERING, (a, b), text, _FIX, Doubt.LEVELS)
        yield Suspicion(Suspect.NUMBERING, (a, b), text, _FIX, Doubt.STRUCTURE)
    ribs = [
        anchor
        for anchor in scene.anchors
        if scene.terms[anchor.structure].canonical.startswith("rib")
    ]
    ends = [[anchor] for anchor in scene.anchors if anchor not in ribs]
    for anchors in (ribs, *ends):
        # A rib alone may be misnumbered; most of them are not.
        off = float(np.median([anchor.off_levels for anchor in anchors])) if anchors else 0.0
        if abs(off) > _OFF_LEVELS:
            names = tuple(anchor.structure for anchor in anchors)
            text = (
                f"the numbers of the vertebrae do not fit {', '.join(names[:4])}: off by {off:+.1f}"
                " levels"
            )
            yield Suspicion(Suspect.NUMBERING, names, text, _FIX, Doubt.LEVELS)


def _halves(scene: Scene) -> Iterator[tuple[str, str]]:
    """Whole neighbours that look like the halves of one vertebra, numbered as two."""
    row = [(number, name) for number, name in _row(scene) if not scene.sightings[name].cut]
    for (first, above), (_, a), (_, b), (last, below) in zip(
        row, row[1:], row[2:], row[3:], strict=False
    ):
        own, around = (
            sum(scene.sightings[name].volume_ml for name in two) for two in ((a, b), (above, below))
        )
        if last - first == 3 and own < _ONE_OF_TWO * around / 2.0:
            yield a, b


def _out_of_order(scene: Scene) -> list[str]:
    """Vertebrae whose place along the spine is not that of their number."""
    row = _row(scene, slivers=True)
    if len(row) < 3:
        return []
    centres = np.array([scene.sightings[name].centre for _, name in row])
    steps = np.diff(centres, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    if not lengths.all():
        return [name for _, name in row]
    units = steps / lengths[:, None]
    if all(float(a @ b) > _BEND for a, b in itertools.pairwise(units)):
        return []
    # Walking the row turns back somewhere: the vertebrae are put in the order in which they lie
    # along the row's own long axis, head end first as most of the numbers have it.
    axis = np.linalg.svd(centres - centres.mean(axis=0))[2][0]
    along = centres @ axis
    if np.corrcoef(along, np.arange(len(row)))[0, 1] < 0:
        along = -along
    lying = np.argsort(np.argsort(along))
    return [name for rank, (_, name) in enumerate(row) if lying[rank] != rank]
