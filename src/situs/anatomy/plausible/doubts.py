"""Everything that is odd about a study, and what cannot be relied on for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from situs.anatomy.plausible.masks import (
    disordered,
    elsewhere,
    overlaps,
    scattered,
    swollen,
    tissues,
)
from situs.anatomy.plausible.names import crossed, misnamed, names_that_fit_others
from situs.anatomy.plausible.numbering import numbering
from situs.anatomy.plausible.orientation import (
    AXIS_OF,
    Vote,
    count_votes,
    misplaced,
    orientation,
    votes_of,
)
from situs.anatomy.plausible.scene import Doubt, Scene, Suspect, Suspicion
from situs.anatomy.plausible.sides import FIXED, expected_side, suspects
from situs.anatomy.plausible.sizes import patient_size, scale, sizes
from situs.anatomy.plausible.ways_round import names_the_right_way_round
from situs.anatomy.terms import Naming
from situs.space import Axis, Side

__all__ = ["judge", "unsure_names"]

_ON_ONE_SIDE = 0.9
_ASTRIDE = 0.6
"""Part on its own side under which a whole paired organ or
bone lies across the midline, where it does not belong."""
_ONE_OF_A_PAIR = 0.8
"""Part of a cut organ or bone that its largest piece has at least:
no two of a pair under one name."""
_BESIDE_MIDLINE = (
    "kidney",
    "lung",
    "adrenal_gland",
    "rib",
    "femur",
    "hip",
    "scapula",
    "humerus",
    "gluteus",
)
_SEVERAL = 3
_ONE_IN = 3
"""So many wrong names or masks, if they are more than one in three, speak against all."""
_CROSSING = "vessel"
"""Vessels cross the midline; of one that the scan cuts off,
the part that is seen may lie anywhere."""


def judge(scene: Scene) -> list[Suspicion]:
    """What to suspect of a study, the whole first, then single structures.

    Every expectation is wide, and no single one outvotes the others, so that disease, surgery and
    unusual patients pass; a study that many of them contradict does not.
    """
    votes = votes_of(scene)
    single = [
        *disordered(scene),
        *sizes(scene),
        *overlaps(scene),
        *swollen(scene),
        *scattered(scene),
        *tissues(scene),
        *elsewhere(scene),
    ]
    odd_ones = {name for one in single for name in one.structures}
    of_study = [*_sides(scene, votes, odd_ones)]
    known = {one.doubt for one in of_study}
    of_study += [one for one in orientation(scene, votes) if one.doubt not in known]
    wrong_scale = scale(scene)
    if wrong_scale is not None:
        of_study.append(wrong_scale)
        single = [
            one
            for one in single
            if one.code is not Suspect.IMPLAUSIBLE_SIZE or len(one.structures) > 1
        ]
    doubtful = {one.doubt for one in of_study}
    if Doubt.LEFT_RIGHT in doubtful:
        of_study = [one for one in of_study if one.doubt is not None]
    settled = [axis for doubt, axis in AXIS_OF.items() if doubt not in doubtful]
    mirrored = any(one.code is Suspect.SITUS_INVERSUS for one in of_study)
    size = patient_size(scene)
    if any(one.doubt in AXIS_OF and one.code is not Suspect.NO_GEOMETRY for one in of_study):
        names = names_the_right_way_round(scene, settled, size)
    else:
        names = misnamed(scene, [axis.world_index for axis in settled], size, mirrored=mirrored)
    # Where an organ lies on its other side, too, the whole patient may be mirrored.
    askew = {name for one in of_study if one.code is Suspect.WRONG_SIDE for name in one.structures}
    knows_side = Axis.LEFT_RIGHT in settled and all(
        scene.terms[name].kind == _CROSSING for name in askew
    )
    sided = crossed(scene, mirrored=mirrored) if knows_side else ()
    suspicions = [*of_study, *numbering(scene), *single, *sided, *misplaced(votes, settled), *names]
    suspicions += _spread(scene, suspicions)
    return _unrepeated([*_of_many(scene, suspicions), *suspicions])


def unsure_names(
    scene: Scene, suspicions: Sequence[Suspicion], doubts: Sequence[Suspicion]
) -> frozenset[str]:
    """Structures whose mask fits another name as well, by what is not in doubt of the study.

    `doubts`: those of the suspicions that nobody vouches for.
    """
    doubtful = {one.doubt for one in doubts}
    axes = [axis.world_index for doubt, axis in AXIS_OF.items() if doubt not in doubtful]
    mirrored = any(one.code is Suspect.SITUS_INVERSUS for one in suspicions)
    if not axes:
        return frozenset(scene.sightings)
    return names_that_fit_others(scene, axes, patient_size(scene), mirrored=mirrored)


def _of_many(scene: Scene, suspicions: list[Suspicion]) -> Iterator[Suspicion]:
    """Where a good part of the names and masks are wrong one by one, nothing speaks for the rest:
    label numbers that are one off leave some masks where their wrong names may lie."""
    # Vertebrae out of order are a row of one thing that is wrong.
    single = [
        one.structures
        for one in suspicions
        if one.doubt is Doubt.STRUCTURE and one.code is not Suspect.NUMBERING
    ]
    if any(scene.sightings.keys() <= set(structures) for structures in single):
        return
    wrong = {name for structures in single for name in structures if name in scene.sightings}
    if len(wrong) >= _SEVERAL and _ONE_IN * len(wrong) > len(scene.sightings):
        text = (
            f"{len(wrong)} of {len(scene.sightings)} names or masks are doubtful one by one"
            f" ({', '.join(sorted(wrong)[:3])} among them), so that nothing speaks for the others"
        )
        fix = "check name map, label numbers and masks of the whole study"
        yield Suspicion(Suspect.MISNAMED, tuple(scene.terms), text, fix, Doubt.STRUCTURE)


def _spread(scene: Scene, suspicions: list[Suspicion]) -> Iterator[Suspicion]:
    """A doubtful vertebra leaves the levels in doubt;
    one that is no vertebra at all, the midline through them too."""
    for one in suspicions:
        vertebrae = [name for name in one.structures if scene.terms[name].kind == "vertebra"]
        if one.doubt is not Doubt.STRUCTURE or not vertebrae or one.code is Suspect.NUMBERING:
            continue
        yield _with_doubt(one, Doubt.LEVELS)
        small = one.code is Suspect.IMPLAUSIBLE_SIZE and "small" in one.problem
        if not small:
            yield _with_doubt(one, Doubt.LEFT_RIGHT)


def _sides(scene: Scene, votes: list[Vote], odd_ones: set[str]) -> Iterator[Suspicion]:
    """Left and right: which side of the midline things lie on, and how pairs lie to each other."""
    observed: dict[str, str] = {}
    astride: list[str] = []
    for name, seen in scene.sightings.items():
        entry = scene.terms[name]
        positional = entry.naming is Naming.POSITIONAL
        if seen.right_share is None or entry.kind == "vertebra" or name in odd_ones:
            continue
        if (
            seen.cut
            and entry.canonical not in FIXED
            and (not positional or entry.kind == _CROSSING)
        ):
            continue
        observed[name] = _side(seen.right_share)
        share_on_named_side = (
            seen.right_share if entry.side is Side.RIGHT else 1.0 - seen.right_share
        )
        # Cut or not, a mask of several pieces on both sides is not one of a pair.
        in_pieces = seen.largest_part < _ONE_OF_A_PAIR
        if (
            positional
            and (in_pieces or not seen.cut)
            and entry.canonical.startswith(_BESIDE_MIDLINE)
            and 0.1 < share_on_named_side < (_ON_ONE_SIDE if in_pieces else _ASTRIDE)
        ):
            astride.append(name)
    agreeing, _ = count_votes(votes, Axis.LEFT_RIGHT)
    exchanged = _exchanged(scene, observed)
    if exchanged is not None:
        yield exchanged
        observed = {
            name: side for name, side in observed.items() if name not in exchanged.structures
        }
    suspicions = suspects(observed, scene.terms)
    for one in suspicions:
        fixed = any(
            scene.terms[name].canonical in FIXED or scene.terms[name].side
            for name in one.structures
        )
        alone = one.code is Suspect.WRONG_SIDE and fixed and not agreeing
        yield _with_doubt(one, Doubt.LEFT_RIGHT) if alone else one
    if not any(one.doubt is Doubt.LEFT_RIGHT for one in suspicions):
        yield from (_across(name) for name in astride)


def _exchanged(scene: Scene, observed: dict[str, str]) -> Suspicion | None:
    """Liver and spleen on each other's side, while something else unpaired lies as usual:
    no mirrored patient."""
    names = [scene.named(organ) for organ in FIXED]
    if any(name is None or observed.get(name) != expected_side(name).mirrored for name in names):  # type: ignore[union-attr]
        return None
    for name, seen in scene.sightings.items():
        entry = scene.terms[name]
        if (
            entry.side is not None
            or entry.expected_side is None
            or name in names
            or seen.right_share is None
        ):
            continue
        if _side(seen.right_share) == entry.expected_side:
            text = f"{names[0]} and {names[1]} lie on each other's side, while {name} lies as usual"
            fix = "check the names of both masks"
            return Suspicion(
                Suspect.SWAPPED_NAMES, tuple(map(str, names)), text, fix, Doubt.STRUCTURE
            )
    return None


def _side(right_share: float) -> str:
    if right_share >= _ON_ONE_SIDE:
        return Side.RIGHT.value
    return Side.LEFT.value if right_share <= 1.0 - _ON_ONE_SIDE else Side.BOTH.value


def _with_doubt(suspicion: Suspicion, doubt: Doubt) -> Suspicion:
    return Suspicion(suspicion.code, suspicion.structures, suspicion.problem, suspicion.fix, doubt)


def _across(name: str) -> Suspicion:
    text = f"{name} lies across the midline"
    return Suspicion(Suspect.MISPLACED, (name,), text, "check its name and mask", Doubt.STRUCTURE)


def _unrepeated(suspicions: list[Suspicion]) -> list[Suspicion]:
    """One suspicion for a doubt or for the same structures:
    what an earlier one leaves in doubt needs no other."""
    distinct: list[Suspicion] = []
    doubted, seen = set[str](), set[object]()
    for one in suspicions:
        if one.doubt is Doubt.STRUCTURE:
            if doubted.issuperset(one.structures):
                continue
            doubted.update(one.structures)
        else:
            key = one.doubt or (one.code, one.structures)
            if key in seen:
                continue
            seen.add(key)
        distinct.append(one)
    return distinct
