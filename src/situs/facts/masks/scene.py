"""What a study's anatomy is judged by, measured from its voxels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Naming, plausible_range
from situs.anatomy.plausible import (
    BITTEN,
    ONE_FLANK,
    PLUMP,
    SHARP,
    VERTEBRAE,
    Anchor,
    Geometry,
    Scene,
    Sighting,
    beside_pairs,
    vertebra_number,
)
from situs.facts.masks.cores import in_both_flanks, second_core, spur_mm
from situs.facts.masks.edges import edge_contrast, edge_offset
from situs.facts.masks.flat import flat_faces
from situs.facts.masks.instances import largest_part, without_islands
from situs.measure import Region, gap_mm, right_shares, slices_out_of_place
from situs.volumes import doubled_slices

if TYPE_CHECKING:
    from situs.facts.masks.ledger import Ledger

__all__ = ["scene_of"]

_FEWEST_VOXELS = 200
"""CT numbers under a mask count if it has at least so many voxels."""
_FAT_HU = -50.0
"""Below lie fat (about -100 HU) and air; a severely fatty liver stays above."""
_OF_VALUES = 0.015
"""Share of an MR's range of values by which those of one tissue differ at least."""
_BESIDE_OWN_DISC = range(2, 11)
"""Ribs whose head lies at the disc above their vertebra; the others lie at the vertebra itself."""
_PART_OF_RIB = 0.1
"""Part of a rib that tells where its head lies."""
_HEAD_ABOVE = 0.4
_HEAD_AT = 0.1
_SAMPLES = 8
_FEW_LEVELS = 2.0
_LAYER_MM = 10.0
_FEWEST_HEIGHTS = 3
"""Layers that two vessels must share before their sides tell anything."""
_FEWEST_POINTS = 8
_WIDEST_AORTA_MM = 55.0
_LAYER_OF_VOXEL = 0.75
"""Part of a voxel's longest side:
a thinner layer is one row of voxels along an edge that two masks share."""
_JOINED = 0.3
"""Gap to the sacrum or skull, in vertebrae, up to which a vertebra is the one that joins it."""
_FAR = 0.6
"""Gap between L5 and the sacrum, in vertebrae, from which on one is missing between them."""
_FAR_THOUGH_CUT = 0.9
"""The same where L5 counts as cut, so that a part of it may be what is missing."""
_GROWN_ON = 0.1
"""Part of a vertebra's surface that is on the sacrum:
0.2 to 0.4 of S1, up to 0.04 of L5, which a disc keeps away."""


def scene_of(ledger: Ledger, ct: NDArray[Any] | None, mr: NDArray[Any] | None = None) -> Scene:
    """The study in numbers; `ct` or `mr` is the image on the labels' grid, if there is one."""
    tissues = _tissues(ledger, ct) if ct is not None else {}
    edges = dict(_edges(ledger, ct)) if ct is not None else {}
    image = mr if ct is None else ct
    if ct is None and mr is not None:
        dark, bright = np.percentile(mr, [1.0, 99.0])
        edges = dict(_edges(ledger, mr, _OF_VALUES * float(bright - dark)))
    names = [
        name
        for name in ledger.structures
        if ledger.terms[name].kind not in ("lesion", "lesion_part")
    ]
    return Scene(
        {name: _sighting(ledger, name, tissues.get(name), edges.get(name)) for name in names},
        dict(ledger.terms),
        lesions_ml={
            name: ledger.regions[name].volume_ml
            for name in ledger.structures
            if ledger.terms[name].kind == "lesion"
        },
        lesions_in=dict(_lesions_in(ledger)),
        overlaps=_overlaps(ledger),
        bitten=_bitten(ledger),
        flat=dict(flat_faces(ledger)),
        beside_mm=dict(_beside(ledger)),
        aorta_roundness=_aorta_roundness(ledger),
        layers_mm=dict(_layers(ledger)),
        touching=len(ledger.contacts.pairs),
        slices_out_of_place=slices_out_of_place(ledger.regions.labels),
        slices_doubled=0 if image is None else doubled_slices(image),
        anchors=tuple(_anchors(ledger)),
        geometry=_geometry(ledger),
    )


def _geometry(ledger: Ledger) -> Geometry:
    if ledger.side_basis == "undeclared":
        return Geometry.UNDECLARED
    blank = np.array_equal(np.abs(ledger.regions.grid.affine.matrix), np.eye(4))
    return Geometry.BLANK if blank else Geometry.STATED


def _sighting(
    ledger: Ledger,
    name: str,
    tissue: tuple[float, float] | None,
    edge: tuple[float | None, float | None] | None,
) -> Sighting:
    """`tissue`: mean CT number and share of fat and air under the mask;
    `edge`: contrast at its edge, and its place."""
    region, share = ledger.regions[name], None
    mean, fat = tissue if tissue is not None else (None, None)
    if ledger.midline is not None and ledger.side_basis != "undeclared":
        share = right_shares(region, ledger.midline, 0.0)[0] if _has_side(ledger, name) else None
    x, y, z = (float(v) for v in region.centroid_mm)
    a, b, c = (float(v) for v in ledger.main_region(name).box_mm.extent_mm)
    largest_part = region.component_voxels[0] / region.voxels
    canonical = ledger.terms[name].canonical
    return Sighting(
        region.volume_ml,
        (x, y, z),
        (a, b, c),
        ledger.is_cut(name),
        share,
        largest_part,
        mean,
        fat,
        *(edge or (None, None)),
        second_core=second_core(region) if canonical in SHARP else 0.0,
        spur_mm=spur_mm(ledger.main_region(name)) if canonical in PLUMP else 0.0,
        in_both_flanks=in_both_flanks(region, _vertebrae_mm(ledger))
        if canonical in ONE_FLANK
        else 0.0,
        reach_of_parts=_reach_of_parts(ledger.main_region(name)),
    )


def _reach_of_parts(main: Region) -> float:
    """How many times as long as its largest part a structure is along one axis."""
    if len(main.component_voxels) == 1:
        return 1.0
    return float((np.array(main.box_mm.extent_mm) / largest_part(main).box_mm.extent_mm).max())


def _vertebrae_mm(ledger: Ledger) -> NDArray[np.float64]:
    """Centres of the vertebrae, whole or cut; of a spine in one mask, those of its layers."""
    names = [n for n in ledger.structures if vertebra_number(ledger.terms[n]) is not None]
    if names:
        return np.array([ledger.regions[name].centroid_mm for name in names])
    spines = [n for n in ledger.structures if ledger.terms[n].canonical == "vertebrae"]
    layers = [
        points[np.floor(points[:, 2] / _LAYER_MM) == height].mean(axis=0)
        for points in (np.asarray(ledger.regions[name].boundary_mm) for name in spines)
        for height in np.unique(np.floor(points[:, 2] / _LAYER_MM))
    ]
    return np.array(layers).reshape(-1, 3)


def _edges(
    ledger: Ledger, image: NDArray[Any], least_spread: float | None = None
) -> Iterator[tuple[str, tuple[float | None, float | None]]]:
    """The contrast of the edges of structures that have a clear one, and the place of sharp ones.

    `least_spread`: by how much values of one tissue differ at least in an MR, of which only the
    contrast is judged.
    """
    bodies = [
        s.label
        for s in ledger.regions.labels.structures
        if ledger.terms[s.name].canonical == "body"
    ]
    for name in ledger.structures:
        known = plausible_range(ledger.terms[name])
        if known is None or not known.edge:
            continue
        region, labels = ledger.regions[name], ledger.regions.labels
        sharp = ledger.terms[name].canonical in SHARP
        if least_spread is not None:
            yield name, (edge_contrast(region, labels, image, bodies, least_spread), None)
            continue
        offset = edge_offset(region, labels, image, bodies) if sharp else None
        yield name, (edge_contrast(region, labels, image, bodies), offset)


def _has_side(ledger: Ledger, name: str) -> bool:
    entry = ledger.terms[name]
    return entry.naming is Naming.POSITIONAL or entry.expected_side is not None


def _tissues(ledger: Ledger, image: NDArray[Any]) -> dict[str, tuple[float, float]]:
    """Mean CT number and share of fat and air under every mask, slice by slice:
    a large scan needs no copy."""
    labels = ledger.regions.labels
    result = {}
    for number, layer in enumerate(labels.layers):
        values = {s.value: s.name for s in labels.structures if s.layer == number}
        if not values:
            continue
        length = max(values) + 1
        sums, counts, fat = np.zeros(length), np.zeros(length), np.zeros(length)
        for k in range(layer.shape[2]):
            flat = layer[:, :, k].ravel()
            inside = np.flatnonzero(flat)  # most of a slice is under no mask
            flat, hu = flat[inside], image[:, :, k].ravel()[inside]
            sums += np.bincount(flat, weights=hu, minlength=length)[:length]
            fat += np.bincount(flat[hu < _FAT_HU], minlength=length)[:length]
            counts += np.bincount(flat, minlength=length)[:length]
        for value, name in values.items():
            if counts[value] >= _FEWEST_VOXELS:
                result[name] = float(sums[value] / counts[value]), float(fat[value] / counts[value])
    return result


def _lesions_in(ledger: Ledger) -> Iterator[tuple[str, str]]:
    for name in ledger.structures:
        if ledger.terms[name].kind == "lesion":
            holder = ledger.fact("organ_of", name).value
            if holder is not None:
                yield name, str(holder)


def _overlaps(ledger: Ledger) -> dict[tuple[str, str], float]:
    if len(ledger.regions.labels.layers) < 2:
        return {}
    shares = {}
    for a, b in ledger.contacts.pairs:
        shared = ledger.contacts.shared_voxels(a, b)
        if shared:
            shares[a, b] = shared / min(ledger.regions[a].voxels, ledger.regions[b].voxels)
    return shares


def _bitten(ledger: Ledger) -> dict[tuple[str, str], float]:
    by_canonical = {ledger.terms[name].canonical: name for name in ledger.structures}
    shares = {}
    for first, second in BITTEN:
        a, b = by_canonical.get(first), by_canonical.get(second)
        if a is not None and b is not None:
            smaller, larger = sorted((a, b), key=lambda name: ledger.regions[name].voxels)
            area = ledger.contacts.area_mm2(a, b)
            shares[smaller, larger] = area / ledger.regions[smaller].face_area_mm2
    return shares


def _beside(ledger: Ledger) -> Iterator[tuple[tuple[str, str], float]]:
    """How far vessels lie beside each other: the median over the heights that both reach."""
    by_canonical = {ledger.terms[name].canonical: name for name in ledger.structures}
    for first, second in beside_pairs():
        names = by_canonical.get(first), by_canonical.get(second)
        if names[0] is None or names[1] is None:
            continue
        pair = names[0], names[1]
        right, left = (_x_by_height(ledger.main_region(name).boundary_mm) for name in pair)
        steps = [right[height] - left[height] for height in right.keys() & left.keys()]
        if len(steps) >= _FEWEST_HEIGHTS:
            yield pair, float(np.median(steps))


def _aorta_roundness(ledger: Ledger) -> float | None:
    """Width over depth of the aorta, the median over the heights at which it is one vessel."""
    name = next((n for n in ledger.structures if ledger.terms[n].canonical == "aorta"), None)
    if name is None:
        return None
    points = np.asarray(ledger.main_region(name).boundary_mm)
    heights = np.floor(points[:, 2] / _LAYER_MM).astype(int)
    ratios = []
    for height in set(heights):
        layer = points[heights == height, :2]
        # In the chest its two limbs lie in one layer, and the arch runs along it.
        if len(layer) >= _FEWEST_POINTS and np.ptp(layer, axis=0).max() <= _WIDEST_AORTA_MM:
            ratios.append(float(np.divide(*layer.std(axis=0))))
    return float(np.median(ratios)) if len(ratios) >= _FEWEST_HEIGHTS else None


def _layers(ledger: Ledger) -> Iterator[tuple[tuple[str, str], float]]:
    """How thick the layers are that masks share: twice their volume over their surface."""
    labels = ledger.regions.labels
    if len(labels.layers) < 2:
        return
    spacing = np.asarray(labels.grid.affine.spacing_mm)
    face_mm2 = spacing.prod() / spacing
    for a, b in ledger.contacts.pairs:
        if not ledger.contacts.shared_voxels(a, b):
            continue
        first, second = (ledger.regions[name] for name in (a, b))
        low = np.maximum(first.box_index.lo, second.box_index.lo)
        high = np.minimum(first.box_index.hi, second.box_index.hi)
        window = tuple(slice(int(i), int(j)) for i, j in zip(low, high, strict=True))
        shared = np.logical_and(
            *(
                labels.layers[r.structure.layer][window] == r.structure.value
                for r in (first, second)
            )
        )
        padded = np.pad(shared, 1)
        faces = [np.count_nonzero(np.diff(padded, axis=axis)) for axis in range(3)]
        surface_mm2 = float(np.dot(faces, face_mm2))
        thickness = 2.0 * float(np.count_nonzero(shared) * spacing.prod()) / surface_mm2
        if thickness >= _LAYER_OF_VOXEL * spacing.max():
            yield (a, b), thickness


def _x_by_height(points: NDArray[np.float64]) -> dict[int, float]:
    """Mean x of the points in each layer of the body."""
    heights = np.floor(points[:, 2] / _LAYER_MM).astype(int)
    return {int(height): float(points[heights == height, 0].mean()) for height in set(heights)}


def _anchors(ledger: Ledger) -> Iterator[Anchor]:
    """Ribs, sacrum and skull: by how many levels the numbers of the vertebrae miss them."""
    numbered = {vertebra_number(ledger.terms[name]): name for name in ledger.structures}
    vertebrae = sorted((number, name) for number, name in numbered.items() if number is not None)
    row = [(number, name) for number, name in vertebrae if not ledger.is_cut(name)]
    if len(row) < 2:
        return
    levels, centres = _curve(ledger, row)
    pitch = float(np.median(np.linalg.norm(np.diff(centres, axis=0), axis=1) / np.diff(levels)))
    # Ribs may join a vertebra at the border: what is seen of it goes on the row at the end.
    yield from _rib_anchors(ledger, *_curve(ledger, vertebrae), pitch)
    # One that counts as cut may join the sacrum or the skull as well as any other.
    yield from _end_anchor(ledger, vertebrae, pitch, ("sacrum",), below="L5")
    yield from _end_anchor(ledger, vertebrae, pitch, ("skull",), below="C1")


def _curve(
    ledger: Ledger, row: list[tuple[int, str]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    levels = np.array([number for number, _ in row], dtype=np.float64)
    return levels, np.array([ledger.regions[name].centroid_mm for _, name in row])


def _rib_anchors(
    ledger: Ledger, levels: NDArray[np.float64], centres: NDArray[np.float64], pitch: float
) -> Iterator[Anchor]:
    """The level at which a rib comes nearest to the spine, beside its own."""
    fine = np.linspace(levels[0], levels[-1], int(levels[-1] - levels[0]) * _SAMPLES + 1)
    curve = np.stack([np.interp(fine, levels, centres[:, axis]) for axis in range(3)], axis=1)
    for name in ledger.structures:
        match = re.fullmatch(r"rib_(?:left|right)_(\d+)", ledger.terms[name].canonical)
        if match is None:
            continue
        number = int(match[1])
        # A stray voxel beside the spine is more than 1 % of a short rib.
        points = np.asarray(without_islands(ledger.regions[name], _PART_OF_RIB).boundary_mm)
        distances = np.linalg.norm(points[:, None, :] - curve[None], axis=2)
        nearest = float(fine[np.unravel_index(int(distances.argmin()), distances.shape)[1]])
        # At either end of the row, or far from it, the rib's own vertebra may be one that is not
        # there.
        if nearest in (fine[0], fine[-1]) or distances.min() > 2.0 * pitch:
            continue
        # Where several vertebrae are not annotated, the curve between the others tells no level
        # well enough.
        if _levels_apart(levels, nearest) > _FEW_LEVELS:
            continue
        above = _HEAD_ABOVE if number in _BESIDE_OWN_DISC else _HEAD_AT
        yield Anchor(name, nearest - (VERTEBRAE.index(f"T{number}") - above))


def _levels_apart(levels: NDArray[np.float64], at: float) -> float:
    """How many levels lie between the vertebrae of a row on either side of a place on its curve."""
    above = int(np.searchsorted(levels, at, side="right")) - 1
    return float(levels[above + 1] - levels[above])


def _is_grown_on(ledger: Ledger, name: str, end: str) -> bool:
    area = ledger.contacts.area_mm2(name, end)
    return area >= _GROWN_ON * ledger.regions[name].face_area_mm2


def _lies_free(ledger: Ledger, name: str, end: str) -> bool:
    """Whether it is neither drawn within the sacrum nor one piece with it."""
    within = ledger.contacts.shared_voxels(name, end) > ledger.regions[name].voxels / 2
    return not within and not _is_grown_on(ledger, name, end)


def _end_anchor(
    ledger: Ledger, row: list[tuple[int, str]], pitch: float, ends: tuple[str, ...], below: str
) -> Iterator[Anchor]:
    """The vertebra that joins the sacrum is L5, the one that joins the skull C1."""
    end = next((name for name in ledger.structures if ledger.terms[name].canonical in ends), None)
    if end is None:
        return
    expected = VERTEBRAE.index(below)
    near = [
        (number, name)
        for number, name in row
        if VERTEBRAE[number] != "S1" and abs(number - expected) <= 3
    ]
    grown_on = [number for number, name in near if _is_grown_on(ledger, name, end)]
    if below == "L5" and grown_on:
        # What is one piece with the sacrum is its first segment, whatever it is called.
        yield Anchor(end, float(min(grown_on) - expected) - 1.0)
        return
    first = {VERTEBRAE[number]: name for number, name in row}.get("S1")
    if below == "L5" and first and not ledger.is_cut(first) and _lies_free(ledger, first, end):
        # A whole "S1" that a disc keeps away from the sacrum is L5.
        yield Anchor(end, 1.0)
        return
    gaps = {
        number: gap_mm(ledger.main_region(name), ledger.main_region(end)) / pitch
        for number, name in near
    }
    if not gaps:
        return
    nearest = min(gaps, key=lambda number: (gaps[number], abs(number - expected)))
    if gaps[nearest] <= _JOINED:
        yield Anchor(end, float(nearest - expected))
    elif nearest == expected and below == "L5":
        is_cut = ledger.is_cut(dict(near)[expected])
        if gaps[nearest] > (_FAR_THOUGH_CUT if is_cut else _FAR):
            yield Anchor(end, 1.0)
