"""Whether a structure goes on beyond what its mask shows:
cut by the scan, or by labels that stop early."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.facts.recipe import CutRules
from situs.facts.record import Fact
from situs.measure import EndShape, FlatEnd, Region, ends_bluntly, flat_ends
from situs.space import IndexBox, WorldPoints
from situs.volumes import LabelMap

__all__ = [
    "ALL_FACES",
    "Cut",
    "Face",
    "KnownCuts",
    "Surroundings",
    "clearance_mm",
    "cut_of",
    "cut_through",
    "grazed_slices",
    "stored_cuts",
]

_TAPERS = 0.75
"""A structure that grazes a face of the array has at most this share there of its section two
slices further in; a stalk that leaves the scan has more."""
_FREE_LAYERS = 3
"""Layers of voxels on either side of an end that are compared."""
_MID_LAYER = 0.5 - 1e-4
"""Where a layer is sampled. With slices twice as thick as voxels are wide its middle lies between
two voxels: the one nearer the end is taken, whichever way the file counts."""
_FEWEST_SAMPLES = 12
_BACKGROUND = 0.5
_HOLDS = 0.5
_SHELL = 2
"""Voxels around a small structure that tell its contrast."""
_NOISE = 0.2
"""Standard deviations by which medians of the same tissue differ."""
_ANY_MARGIN = -1.0
"""With an image the sections need not exceed an ellipsoid's."""
_QUARTILES_APART = 1.349
"""Standard deviations between the quartiles of a normal distribution."""


class Cut(enum.StrEnum):
    """How a structure is cut. Whatever the way, its size is a lower bound."""

    NOT = ""
    DOUBTFUL = "doubtful"
    """It only grazes the limit of the scan, or ends as if cut; it may be nearly whole."""
    THROUGH = "through"
    """It touches the limit of the scan at a large cross-section:
    a part of it is missing for sure."""


class KnownCuts(msgspec.Struct, frozen=True):
    """How structures are cut according to a bench."""

    structures: dict[str, Cut] = {}
    ends: dict[str, str] = {}
    """Of structures whose ends were looked at one by one: which of them are cut."""
    unseen_mm: dict[tuple[str, ...], float] = {}
    """Of pairs of which one is cut: how near to the other what is missing may come."""


Face = tuple[int, bool]
"""A face of the array: the stored axis across it, and whether it is the last slice."""
ALL_FACES: tuple[Face, ...] = tuple((axis, last) for axis in range(3) for last in (False, True))


class Surroundings(msgspec.Struct, frozen=True):
    """What lies around the structures of a series."""

    labels: LabelMap
    padding: NDArray[np.bool_] | None = None
    image: NDArray[Any] | None = None
    """Values on the grid of the labels."""


def cut_of(
    region: Region,
    main: Region,
    around: Surroundings,
    rules: CutRules,
    *,
    exact: bool,
    but: Collection[Face] = (),
) -> Cut:
    """How the structure is cut; `main` is the structure without its islands.

    It is cut if a voxel touches the array's border or padding, or if the main part ends bluntly
    close to them, or in a plane anywhere beyond which the same tissue goes on. Masks that are exact
    end where the structure ends unless they touch the border. `but`: faces of the array that do not
    count, because what lies beyond them is not asked about.
    """
    limits = [*_faces(main, rules, but), *_padded(main, around.padding, rules)]
    ends = [_end_at(limit, rules) for limit in limits]
    if any(touching for _, touching in ends):
        return Cut.THROUGH
    if _touches_face(region, but) or (
        around.padding is not None and _touches(region, around.padding)
    ):
        return Cut.DOUBTFUL
    if exact:
        return Cut.NOT
    ends += [_end_at(limit, rules) for limit in _block_faces(main, around.labels.block, rules)]
    if any(blunt for blunt, _ in ends) or _stops_early(main, around, rules):
        return Cut.DOUBTFUL
    return Cut.NOT


def stored_cuts(facts: Iterable[Fact]) -> KnownCuts:
    """How each structure is cut according to a bench;
    for where the image that told is not at hand."""
    known = KnownCuts({}, {}, {})
    for fact in facts:
        if fact.kind == "volume":
            cut = (
                Cut.THROUGH
                if "through" in fact.flags
                else Cut.DOUBTFUL
                if "cut" in fact.flags
                else Cut.NOT
            )
            known.structures[fact.subjects[0]] = cut
        elif fact.kind == "ends_cut":
            known.ends[fact.subjects[0]] = str(fact.value)
        elif fact.kind == "unseen_gap" and isinstance(fact.value, float):
            known.unseen_mm[fact.subjects] = fact.value
    return known


def clearance_mm(region: Region, rules: CutRules) -> float:
    """How far a structure lies from where others may stop at the faces of the array; 0 if it is
    nearer than that.

    Masks of structures that leave the scan often end a few slices before its face.
    """
    box, affine = region.box_index, region.grid.affine
    # Between neighbouring slices, also where the axes of the file are not at right angles.
    heights = 1.0 / np.linalg.norm(np.linalg.inv(affine.linear), axis=1)
    room = [
        (min(low, size - high) - _layers(rules, spacing)[0]) * height
        for low, high, size, spacing, height in zip(
            box.lo, box.hi, region.grid.shape, affine.spacing_mm, heights
        )
    ]
    return max(0.0, float(min(room)))


def cut_through(region: Region, axis: int, rules: CutRules) -> tuple[bool, bool]:
    """Whether the first and the last slice across a stored
    axis cut through the structure at a large section."""
    near, depth = _layers(rules, region.grid.affine.spacing_mm[axis])
    crop = region.crop()
    first, last = (
        ends_bluntly(crop, layer, near=near, depth=depth, margin=rules.blunt_margin)[1]
        for layer in _from_both_faces(region, axis)
    )
    return first, last


def grazed_slices(
    region: Region, face: Face, across: int, rules: CutRules
) -> tuple[int, int] | None:
    """Between which slices across a stored axis the structure grazes a face of the array; None if
    it does not touch it, or is cut through there.

    What is missing beyond a face that a structure grazes is the tip of a cap: its sections shrink
    towards the face, so that it lies between the slices at which the structure touches.
    """
    axis, last = face
    if not _touches_face(region, [other for other in ALL_FACES if other != face]):
        return None
    crop = region.crop()
    near, depth = _layers(rules, region.grid.affine.spacing_mm[axis])
    layer = _from_both_faces(region, axis)[last]
    if ends_bluntly(crop, layer, near=near, depth=depth, margin=rules.blunt_margin)[0]:
        return None
    sections = np.bincount(layer[crop], minlength=_FREE_LAYERS)
    if sections[0] > _TAPERS * sections[_FREE_LAYERS - 1]:
        return None
    other_axes = tuple(other for other in range(3) if other != across)
    touching = np.flatnonzero((crop & (layer == 0)).any(axis=other_axes))
    first = region.box_index.lo[across]
    return first + int(touching[0]), first + int(touching[-1]) + 1


Limit = tuple[NDArray[np.bool_], NDArray[np.int64], int, int]
"""A mask, the layer of each voxel counted from a limit of the scan,
and how many layers are near and are deep."""


def _end_at(limit: Limit, rules: CutRules) -> tuple[bool, bool]:
    """Whether the structure ends bluntly near a limit, and whether it touches it there."""
    mask, layer, near, depth = limit
    return ends_bluntly(mask, layer, near=near, depth=depth, margin=rules.blunt_margin)


def _touches_face(region: Region, but: Collection[Face]) -> bool:
    """Whether a voxel of the structure lies on a face of the array that counts."""
    box = region.box_index
    faces = [face for face in ALL_FACES if face not in but]
    return any(
        box.hi[axis] == region.grid.shape[axis] if last else box.lo[axis] == 0
        for axis, last in faces
    )


def _faces(region: Region, rules: CutRules, but: Collection[Face] = ()) -> list[Limit]:
    """The faces of the array that the structure comes near."""
    limits: list[Limit] = []
    crop: NDArray[np.bool_] | None = None
    for axis, spacing in enumerate(region.grid.affine.spacing_mm):
        near, depth = _layers(rules, spacing)
        for last, layer in enumerate(_from_both_faces(region, axis)):
            if (axis, bool(last)) not in but and _nearest(layer) <= near:
                crop = region.crop() if crop is None else crop
                limits.append(_limit(crop, layer, axis, near, depth))
    return limits


def _block_faces(region: Region, block: IndexBox | None, rules: CutRules) -> list[Limit]:
    """The faces of the block that the labels cover, inside the scan, that the structure comes near.

    Some programs save no more than the box around all labels; others label a part of the scan, and
    cut what goes on.
    """
    limits: list[Limit] = []
    if block is None:
        return limits
    for axis, spacing in enumerate(region.grid.affine.spacing_mm):
        near, depth = _layers(rules, spacing)
        inner = (block.lo[axis] > 0, block.hi[axis] < region.grid.shape[axis])
        for inside, layer in zip(inner, _from_both_faces(region, axis, block)):
            if inside and _nearest(layer) <= near:
                limits.append(_limit(region.crop(), layer, axis, near, depth))
    return limits


def _from_both_faces(
    region: Region, axis: int, block: IndexBox | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each voxel of the structure's box, how many slices of the array,
    or of a block, lie before it and behind."""
    box = region.box_index
    first, end = (0, region.grid.shape[axis]) if block is None else (block.lo[axis], block.hi[axis])
    shape = [1, 1, 1]
    shape[axis] = -1
    index = np.arange(box.lo[axis], box.hi[axis], dtype=np.int64).reshape(shape)
    size = [high - low for low, high in zip(box.lo, box.hi)]
    return np.broadcast_to(index - first, size), np.broadcast_to(end - 1 - index, size)


def _nearest(layer: NDArray[np.int64]) -> int:
    """The layer nearest to a face: they are counted along one axis, so a corner has it."""
    return int(min(layer[0, 0, 0], layer[-1, -1, -1]))


def _limit(
    crop: NDArray[np.bool_], layer: NDArray[np.int64], axis: int, near: int, depth: int
) -> Limit:
    """A face as a limit, with no more of the structure than `ends_bluntly` looks at."""
    along = layer[tuple(slice(None) if own == axis else 0 for own in range(3))]
    looked_at = np.flatnonzero(along < near + 1 + depth)
    window = [slice(None)] * 3
    window[axis] = slice(int(looked_at[0]), int(looked_at[-1]) + 1)
    return crop[tuple(window)], layer[tuple(window)], near, depth


def _padded(region: Region, padding: NDArray[np.bool_] | None, rules: CutRules) -> list[Limit]:
    """The padding, if it lies near the structure."""
    from scipy import ndimage

    if padding is None:
        return []
    near, depth = _layers(rules, max(region.grid.affine.spacing_mm))
    window, room = _window(region, near + 1)
    beside = padding[window]
    if not beside.any():
        return []
    far = ndimage.distance_transform_edt(~beside)
    layer = np.maximum(np.rint(far).astype(np.int64) - 1, 0)
    mask = np.pad(region.crop(), room) & ~beside
    return [(mask, layer, near, depth)]


def _layers(rules: CutRules, spacing_mm: float) -> tuple[int, int]:
    """How many layers of voxels count as near a limit,
    and how many of a structure's end are looked at."""
    near = max(rules.near_voxels, int(np.ceil(rules.near_mm / spacing_mm)) - 1)
    return near, max(2 * rules.near_voxels, int(np.ceil(rules.depth_mm / spacing_mm)))


def _window(region: Region, margin: int) -> tuple[tuple[slice, ...], list[tuple[int, int]]]:
    """The structure's box and some voxels around it, and how far that goes beyond the box."""
    box, shape = region.box_index, region.grid.shape
    lo = [max(0, low - margin) for low in box.lo]
    hi = [min(size, high + margin) for high, size in zip(box.hi, shape)]
    room = [(low - a, b - high) for a, low, b, high in zip(lo, box.lo, hi, box.hi)]
    return tuple(slice(a, b) for a, b in zip(lo, hi)), room


def _touches(region: Region, mask: NDArray[np.bool_]) -> bool:
    """Whether a voxel of the structure shares a face with the mask, or lies in it."""
    from scipy import ndimage

    window, room = _window(region, 1)
    beside = mask[window]
    if not beside.any():
        return False
    return bool((ndimage.binary_dilation(np.pad(region.crop(), room)) & beside).any())


def _stops_early(region: Region, around: Surroundings, rules: CutRules) -> bool:
    """Whether the mask ends in a plane, though what it shows does not end there."""
    plain = EndShape(rules.flat_share, rules.flat_margin, rules.flat_rise, rules.flat_rise)
    if around.image is None:
        ends = list(flat_ends(region, plain, rules.depth_mm))
        if len(ends) >= rules.flat_most:
            return False  # flat on most sides: a block, whose shape says nothing
        return any(_is_open(region, end, around, rules) for end in ends)
    seen = EndShape(rules.seen_share, _ANY_MARGIN, rules.seen_rise, rules.seen_ragged_rise)
    return any(
        _goes_on(region, end, around, rules, is_plain=plain.fits(end.profile))
        for end in flat_ends(region, seen, rules.depth_mm)
    )


def _beside_end(region: Region, end: FlatEnd, sign: float) -> NDArray[np.int64]:
    """The voxels of the first layers inside (-1) or outside (+1) an end."""
    normal = np.array(end.normal)
    heights = (
        sign * (np.arange(_layers_beside(end)) + _MID_LAYER) * max(region.grid.affine.spacing_mm)
    )
    face = end.points_mm - np.outer(end.points_mm @ normal - end.offset_mm, normal)
    return _indices(region, face[:, None] + heights[None, :, None] * normal)


def _layers_beside(end: FlatEnd) -> int:
    """How many layers on either side of an end are compared: of a small structure fewer.

    What was cut off a lesion is soon over, so that layers farther out show its surroundings.
    """
    layers = int(np.count_nonzero(end.profile))
    return min(max(layers // _FREE_LAYERS, 1), _FREE_LAYERS)


def _free(region: Region, end: FlatEnd, around: Surroundings, rules: CutRules) -> NDArray[np.int64]:
    """The voxels beyond an end; none if other structures cover them."""
    outside = _beside_end(region, end, 1.0)
    if not len(outside):
        return outside
    taken = _taken(around.labels, _beside_end(region, end, -1.0), outside)
    return outside[:0] if taken.mean() > rules.neighbour_share else outside[~taken]


def _is_open(region: Region, end: FlatEnd, around: Surroundings, rules: CutRules) -> bool:
    """Whether nothing that is labelled lies beyond an end,
    so that the structure may go on there."""
    return len(_free(region, end, around, rules)) >= _FEWEST_SAMPLES


def _goes_on(
    region: Region, end: FlatEnd, around: Surroundings, rules: CutRules, *, is_plain: bool
) -> bool:
    """Whether the image shows the same tissue beyond an end as inside."""
    inside, free = _beside_end(region, end, -1.0), _free(region, end, around, rules)
    if around.image is None or min(len(inside), len(free)) < _FEWEST_SAMPLES:
        return False
    here, there = around.image[tuple(inside.T)], around.image[tuple(free.T)]
    if there.min() == there.max():
        # Nothing was written there, unless it is the background that fills most of the image.
        return bool(
            np.count_nonzero(around.image == there.flat[0]) <= _BACKGROUND * around.image.size
        )
    # Both ways: soft tissue beyond a bone lies within the wide range of the bone's values, but not
    # the reverse.
    same = min(_share_within(there, here), _share_within(here, there))
    low, high = np.percentile(here, [25.0, 75.0])
    spread = float(high - low) / _QUARTILES_APART
    edge = abs(float(np.median(there)) - float(np.median(here)))
    is_alike = is_plain and same >= rules.same_tissue_share
    is_alike = is_alike or (same >= rules.seen_same_share and edge <= rules.seen_edge * spread)
    if not is_alike or _layers_beside(end) == _FREE_LAYERS:
        return is_alike
    return _is_like_all_of_it(there, region, around, rules)


def _is_like_all_of_it(
    there: NDArray[Any], region: Region, around: Surroundings, rules: CutRules
) -> bool:
    """Whether values beyond an end of a small structure are those of the structure, by its own
    contrast.

    Its rounded tips fill a plane only in part, so that what lies just inside them is in part
    surroundings, too.
    """
    from scipy import ndimage

    assert around.image is not None
    window, room = _window(region, _SHELL)
    mask = np.pad(region.crop(), room)
    shell = ndimage.binary_dilation(mask, iterations=_SHELL) & ~mask
    corner = np.array([side.start for side in window])
    taken = _taken(around.labels, np.argwhere(mask) + corner, np.argwhere(shell) + corner)
    values = around.image[window]
    low, middle, high = np.percentile(values[mask], [25.0, 50.0, 75.0])
    free = values[shell][~taken]
    contrast = abs(float(np.median(free)) - middle) if len(free) else 0.0
    noise = _NOISE * (high - low) / _QUARTILES_APART
    return bool(abs(float(np.median(there)) - middle) <= max(rules.small_edge * contrast, noise))


def _taken(
    labels: LabelMap, inside: NDArray[np.int64], outside: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which voxels beyond an end belong to another structure,
    one that does not hold this end as well."""
    taken = np.zeros(len(outside), dtype=np.bool_)
    for structure in labels.structures:
        layer = labels.layers[structure.layer]
        beyond = layer[tuple(outside.T)] == structure.value
        if beyond.any() and (layer[tuple(inside.T)] == structure.value).mean() < _HOLDS:
            taken |= beyond
    return taken


def _share_within(values: NDArray[Any], reference: NDArray[Any]) -> float:
    """Share of values between the 5th and the 95th percentile of others."""
    low, high = np.percentile(reference, [5.0, 95.0])
    return float(((values >= low) & (values <= high)).mean())


def _indices(region: Region, points_mm: NDArray[np.float64]) -> NDArray[np.int64]:
    """The voxels that hold these points; those outside the array are left out."""
    index = np.rint(
        np.asarray(region.grid.affine.to_index(WorldPoints(points_mm.reshape(-1, 3))))
    ).astype(np.int64)
    is_inside = ((index >= 0) & (index < np.array(region.grid.shape))).all(axis=1)
    inside: NDArray[np.int64] = index[is_inside]
    return inside
