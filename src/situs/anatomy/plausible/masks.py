"""Whether masks exclude each other as they should, and lie on the tissue that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from situs.anatomy.part_whole import are_akin, is_part
from situs.anatomy.plausible.ranges import TISSUE_HU, plausible_range
from situs.anatomy.plausible.scene import Doubt, Scene, Suspect, Suspicion
from situs.anatomy.terms import term

__all__ = [
    "BITTEN",
    "ONE_FLANK",
    "PLUMP",
    "SHARP",
    "SOLID",
    "disordered",
    "elsewhere",
    "overlaps",
    "scattered",
    "swollen",
    "tissues",
]

SOLID = ("organ", "bone", "vertebra", "muscle")
"""Kinds of structure of which no two share a place, unless one is part of the other."""
BITTEN = (
    ("spleen", "kidney_left"),
    ("spleen", "kidney_right"),
    ("kidney_right", "liver"),
    ("kidney_left", "liver"),
)
"""Neighbours with fat between them:
where one's mask takes in half of the other, they share a broad flat face."""
SHARP = ("liver", "spleen", "kidney_left", "kidney_right")
"""Organs whose edge a CT shows so sharply that its place tells."""
ONE_FLANK = ("liver", "spleen", "kidney_left", "kidney_right")
"""Organs that lie beside the spine on one side only."""
PLUMP = ("kidney_left", "kidney_right")
"""Organs without thin ends."""
_SPUR_MM = 8.0
"""Length of a spur that they may have: 0 to 3 mm in eight sound masks of four scans and in
phantoms, 12 to 18 where an adrenal gland is drawn into a kidney of the CTs."""
_OTHER_FLANK = 0.02
"""Share of such an organ in the other flank: 0 in three sound CTs and in phantoms."""
_TIGHT = 0.5
"""Layers that such an organ may go on beyond its mask. On three CTs sound masks have -0.5 to 0.2,
masks that are one voxel too small all round 0.76 to 1.0."""
_SHARED = 0.2
"""Part of the smaller of two masks that both may hold: contours of neighbours overlap a little."""
_BROAD = 0.2
"""Part of a structure's surface that may be on such a neighbour."""
_FLAT = 0.6
"""Part of an organ's largest section that ends in one plane on a neighbour: up to 0.45 in six real
scans, 0.8 to 1 where half of it is drawn into the neighbour."""
_APART = (*SOLID, "vessel", "tract")
"""Kinds of structure that may share a thin layer with their neighbours at most."""
_THICK_MM = 2.0
"""Layer that two masks may share through sloppy contours."""
_TOO_THICK_MM = 3.0
"""Layer that sloppy contours of neighbours do not share everywhere: where a third of them do, all
are too large."""
_NEIGHBOURS = 2
"""So many of them a mask that is too large all round reaches into."""
_ONE_PIECE = (
    "kidney_left",
    "kidney_right",
    "liver",
    "spleen",
    "urinary_bladder",
    "heart",
    "prostate",
)
_IN_ONE_PIECE = 0.93
_IN_ONE_PIECE_THOUGH_CUT = 0.7
_REACH_OF_PARTS = 1.25
"""Length beside that of its largest part which an organ of one piece cannot have: a small part that
lies far off would move a pole by more than a quarter of the organ."""
_SMALL_PARTS = 0.05
"""Share of an organ that such parts make up; a scan that cuts it may leave larger ones."""
_TWO_CORES = 0.1
"""Share of the second core of liver, spleen and kidneys: under 0.001 in 17 sound masks of five
scans, 0.15 to 0.42 where the left kidney is drawn into the spleen."""
_OF_EDGE_IN_MR = 0.5
"""Part of the contrast that an edge has on a CT at least which it has on an MR, whose sequence may
show two tissues alike; masks that lie elsewhere have none."""
_OUT_OF_PLACE = 2
"""Slices that lie beside others than theirs: 0 in twelve sound scans and phantoms, 2 to 11 in eight
of them with a fifth of the slices in random order (the others have 20 to 45 slices)."""
_HOLDERS = ("organ", "group")
"""Kinds of structure that a lesion may be part of: the liver, the kidneys."""
_VARIES = ("air", "gut")
"""Lungs, which pus, fluid or collapse make as dense as any organ, and gut, which may hold anything:
only beside other names does their density tell."""
_SEVERAL = 3
"""So many wrong masks, if they are most, are those of another patient or place."""
_WITHOUT_FAT = ("liver", "spleen", "kidney_left", "kidney_right", "aorta", "inferior_vena_cava")
_FAT = 0.2
"""Part of such a mask that may be fat or air:
blurred rims and the fat of a kidney's sinus stay well below."""


def overlaps(scene: Scene) -> Iterator[Suspicion]:
    """Pairs of masks of which one takes in a good part of the other."""
    fix = "check both masks: is one drawn over the other, or are files of two patients mixed?"
    for (a, b), share in sorted(scene.overlaps.items()):
        entries = scene.terms[a], scene.terms[b]
        if (
            share >= _SHARED
            and all(entry.kind in SOLID for entry in entries)
            and not is_part(*entries, scene.terms)
        ):
            text = f"{a} and {b} overlap: {share:.0%} of the smaller lies in the larger"
            yield Suspicion(Suspect.OVERLAP, (a, b), text, fix, Doubt.STRUCTURE)
    for (a, b), share in sorted(scene.bitten.items()):
        if share >= _BROAD:
            text = f"{share:.0%} of the surface of {a} is on {b}, as if one mask bit into the other"
            yield Suspicion(Suspect.OVERLAP, (a, b), text, fix, Doubt.STRUCTURE)
    for (a, b), share in sorted(scene.flat.items()):
        if share >= _FLAT:
            text = f"{a} ends in a plane on {b}, as if a part of it were drawn into {b}"
            yield Suspicion(Suspect.OVERLAP, (a, b), text, fix, Doubt.STRUCTURE)


def elsewhere(scene: Scene) -> Iterator[Suspicion]:
    """Lesions that another organ holds than the one they are said to be part of.

    A user's own word for where a lesion lies (the mediastinum) is no organ, and contradicts none.
    """
    for name, holder in sorted(scene.lesions_in.items()):
        part_of = scene.terms[name].part_of
        if part_of is None:
            continue
        organ = term(part_of, scene.terms)
        if organ.kind in _HOLDERS and not are_akin(organ, scene.terms[holder], scene.terms):
            text = f"{name} lies in {holder}, though it is said to be part of {part_of}"
            fix = "check its mask, and `part_of` in the name map"
            yield Suspicion(Suspect.MISPLACED, (name,), text, fix, Doubt.STRUCTURE)


def swollen(scene: Scene) -> Iterator[Suspicion]:
    """One mask that reaches into all its neighbours, in a study whose other masks keep apart, or
    all masks that do.

    A contour drawn by hand may run a little into the next one; a mask that is too large all round
    shares a layer with everything that it touches.
    """
    thick = {
        pair: mm
        for pair, mm in scene.layers_mm.items()
        if mm >= _THICK_MM
        and all(scene.terms[name].kind in _APART for name in pair)
        and not is_part(scene.terms[pair[0]], scene.terms[pair[1]], scene.terms)
    }
    too_thick = sum(mm >= _TOO_THICK_MM for mm in thick.values())
    if too_thick >= _SEVERAL and 3 * too_thick > scene.touching:
        text = f"{too_thick} of {scene.touching} pairs of masks share a layer of 3 mm or more"
        fix = "check the masks: were all of them grown, smoothed or drawn on another grid?"
        yield Suspicion(Suspect.OVERLAP, tuple(scene.terms), text, fix, Doubt.STRUCTURE)
        return
    names = {name for pair in thick for name in pair}
    for name in sorted(names):
        overlaps = [pair for pair in thick if name in pair]
        if scene.terms[name].kind not in SOLID or len(overlaps) < _NEIGHBOURS:
            continue
        if 3 * len(overlaps) <= 2 * len(thick):  # most masks overlap: that is how they were drawn
            continue
        others = ", ".join(sorted({other for pair in overlaps for other in pair} - {name})[:3])
        text = (
            f"the mask of {name} reaches into its neighbours ({others}): it is too large all round"
        )
        fix = "check its mask: was it grown, smoothed or drawn on another grid?"
        yield Suspicion(Suspect.OVERLAP, (name,), text, fix, Doubt.STRUCTURE)


def scattered(scene: Scene) -> Iterator[Suspicion]:
    """Organs of one piece whose mask is in several,
    or has a waist as two organs drawn as one have."""
    fix = "check its mask: does it take in part of another organ?"
    for name, seen in scene.sightings.items():
        canonical = scene.terms[name].canonical
        # A scan that cuts an organ may part it, but leaves the parts beside each other.
        least = _IN_ONE_PIECE_THOUGH_CUT if seen.cut else _IN_ONE_PIECE
        if canonical in _ONE_PIECE and seen.largest_part < least:
            text = (
                f"the mask of {name} lies in several places, {seen.largest_part:.0%} of it in the"
                " largest"
            )
            yield Suspicion(Suspect.OVERLAP, (name,), text, fix, Doubt.STRUCTURE)
        elif (
            canonical in _ONE_PIECE
            and seen.reach_of_parts > _REACH_OF_PARTS
            and seen.largest_part > 1.0 - _SMALL_PARTS
        ):
            text = f"a small part of the mask of {name} lies far from the rest"
            yield Suspicion(Suspect.OVERLAP, (name,), text, fix, Doubt.STRUCTURE)
        elif canonical in SHARP and seen.second_core > _TWO_CORES:
            text = f"the mask of {name} has a waist, as if two organs were drawn as one"
            yield Suspicion(Suspect.OVERLAP, (name,), text, fix, Doubt.STRUCTURE)
        elif canonical in PLUMP and seen.spur_mm > _SPUR_MM:
            text = (
                f"the mask of {name} has a thin spur of {seen.spur_mm:.0f} mm, as if a neighbour"
                " were drawn with it"
            )
            yield Suspicion(Suspect.OVERLAP, (name,), text, fix, Doubt.STRUCTURE)
        elif canonical in ONE_FLANK and seen.in_both_flanks > _OTHER_FLANK:
            text = (
                f"the mask of {name} lies behind on both sides of the spine, as if two organs were"
                " drawn as one"
            )
            yield Suspicion(Suspect.OVERLAP, (name,), text, fix, Doubt.STRUCTURE)


def disordered(scene: Scene) -> Iterator[Suspicion]:
    """Slices in no order, or there twice: nothing along them can be relied on."""
    if scene.slices_doubled:
        text = f"{scene.slices_doubled} slices in one place repeat their neighbours"
        fix = "check whether two series that overlap were merged into one"
        yield Suspicion(Suspect.DISORDERED, tuple(scene.terms), text, fix, Doubt.STRUCTURE)
    if scene.slices_out_of_place >= _OUT_OF_PLACE:
        text = (
            f"{scene.slices_out_of_place} slices are less like their neighbours than these are like"
            " each other, as in a stack in the wrong order"
        )
        fix = "check the order of the slices: were files of a series sorted by name or time?"
        yield Suspicion(Suspect.DISORDERED, tuple(scene.terms), text, fix, Doubt.STRUCTURE)


def tissues(scene: Scene) -> Iterator[Suspicion]:
    """Masks under which a CT shows another tissue; of too many, all are in doubt, lesions too."""
    fatty = dict(_fatty(scene))
    edged = dict(_edged(scene))
    tested = {
        **edged,
        **{name: text for name, text in (*fatty.items(), *_means(scene)) if not edged.get(name)},
    }
    tested |= {name: text for name, text in fatty.items() if text}
    wrong = {name: text for name, text in tested.items() if text}
    fix = "check that masks and image belong to the same patient and series"
    if _mostly_wrong(edged) or _mostly_wrong(fatty) or _mostly_wrong(tested):
        text = (
            f"the masks do not fit the image: {next(iter(wrong.values()))}, and {len(wrong) - 1}"
            " more"
        )
        yield Suspicion(Suspect.WRONG_TISSUE, tuple(scene.terms), text, fix, Doubt.STRUCTURE)
        return
    for name, text in wrong.items():
        yield Suspicion(Suspect.WRONG_TISSUE, (name,), text, fix, Doubt.STRUCTURE)


def _mostly_wrong(tested: Mapping[str, str]) -> bool:
    wrong = sum(bool(text) for text in tested.values())
    return wrong >= _SEVERAL and 2 * wrong > len(tested)


def _fatty(scene: Scene) -> Iterator[tuple[str, str]]:
    """Structures without fat, and what is wrong with each:
    nothing, or that its mask lies on fat."""
    for name, seen in scene.sightings.items():
        if scene.terms[name].canonical in _WITHOUT_FAT and seen.fat_share is not None:
            wrong = seen.fat_share > _FAT
            yield (
                name,
                f"{seen.fat_share:.0%} of the mask of {name} lies on fat or air" if wrong else "",
            )


def _edged(scene: Scene) -> Iterator[tuple[str, str]]:
    """Structures with a clear edge, and what is wrong with each:
    nothing, or that its mask ends elsewhere."""
    for name, seen in scene.sightings.items():
        known = plausible_range(scene.terms[name])
        if seen.edge_contrast is None or known is None or not known.edge:
            continue
        in_mr = seen.mean_hu is None
        wrong = seen.edge_contrast < (_OF_EDGE_IN_MR if in_mr else 1.0) * known.edge
        text = f"the edge of {name} in the image is not where its mask ends" if wrong else ""
        if seen.edge_offset is not None and seen.edge_offset > _TIGHT:
            text = text or f"{name} goes on beyond its mask all round: the mask is too small"
        yield name, text


def _means(scene: Scene) -> Iterator[tuple[str, str]]:
    """Structures of known tissue, and what is wrong with each:
    nothing, or the mean under its mask."""
    for name, seen in scene.sightings.items():
        known = plausible_range(scene.terms[name])
        if seen.mean_hu is None or known is None or not known.tissue:
            continue
        if known.tissue in _VARIES:
            continue
        low, high = TISSUE_HU[known.tissue]
        wrong = not low <= seen.mean_hu <= high
        yield (
            name,
            (
                f"{name} has a mean of {seen.mean_hu:.0f} HU, {known.tissue} has {low:g} to"
                f" {high:g}"
                if wrong
                else ""
            ),
        )
