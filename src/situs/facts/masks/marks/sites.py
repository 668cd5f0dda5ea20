"""Where a mark may be drawn: voxels well inside one structure and no other,
on a few axial slices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Term, are_continuous, plausible_range, term, wholes
from situs.anatomy.plausible import UsualPlace, absent_places, patient_size
from situs.facts.masks.instances import largest_part
from situs.facts.masks.kinds_slices import axial_axis
from situs.measure import Region
from situs.space import IndexPoints, WorldPoints

if TYPE_CHECKING:
    from situs.facts.masks.ledger import Ledger

__all__ = ["Mark", "MarkSites", "Sites", "mark_sites", "needed_depth_mm"]

Mark = tuple[str, NDArray[np.float64]]
"""The structure a point lies in, and the point."""
Sites = dict[int, dict[str, NDArray[np.float64]]]
"""Axial slice (from the feet) → structure → (n,
3) points in mm, in an order that no storage changes."""


class MarkSites(NamedTuple):
    """Where marks may be drawn."""

    anywhere: Sites
    """Deep enough inside for what a contour usually errs."""
    cores: Sites
    """The middle of each section: a mask that takes in a good part of a neighbour, is too large or
    has slipped mostly holds its own structure there still."""


_PART = 0.5
_CORE_OF_SECTION = 0.35
"""Part of the greatest depth within its section at which the middle of a section begins."""
_CORE_OF_WHOLE = 0.25
"""Part of the greatest depth within any of its sections that a core has at least, so that none lies
in a thin neighbour drawn with it: the cava under the liver's name."""
_TIE = 1e-6
"""Relative: rounding decides no comparison of depths that are equal."""
_LEAST_OF_ABSENT = 0.5
"""Part of a neighbour's usual volume that a mask has at least before it may hold the neighbour."""
_HOLDERS = ("organ", "vessel", "tract", "muscle", "bone", "vertebra", "region")


def needed_depth_mm(ledger: Ledger) -> float:
    """How far inside its structure a mark must lie,
    so that it stays inside however the boundary errs."""
    return max(
        ledger.recipe.truth.mark_depth_mm, ledger.half_diagonal_mm, ledger.annotation.surface_mm
    )


def mark_sites(ledger: Ledger) -> MarkSites:
    """Every site on the slices that are tried:
    spread over the organs, and through the middle of each lesion."""
    if ledger.regions.grid.affine.is_sheared:
        return MarkSites({}, {})
    lesions = [name for name in ledger.structures if ledger.family(name)]
    named = [
        name
        for name in ledger.structures
        if ledger.terms[name].kind in _HOLDERS and name not in lesions
    ]
    holders = [name for name in named if not _envelops(ledger, name, named)]
    need = needed_depth_mm(ledger)
    frames = _frames(ledger, holders, lesions)
    deep = _alone(ledger, holders, lesions, frames)
    roomy = sorted({name for inside in deep.values() for name, index in inside.items()})
    # Exact masks (phantoms) hold what their names say, all of it and nothing else.
    places = _absent_in_scan(ledger) if roomy and not ledger.exhaustive else {}
    absent = {name: _absent_neighbours(ledger, name, places) for name in roomy}
    sites: Sites = {frame: {} for frame in frames}
    for frame, indices_of in deep.items():
        near = _near_lesions(ledger, lesions, frame, need)
        for name, index in indices_of.items():
            free = _clear_of(_to_world(ledger, index), near, need)
            free = _clear_of_absent(free, absent[name])
            if len(free):
                sites[frame][name] = _ordered(ledger, name, free)
    cores: Sites = {frame: {} for frame in frames}
    for name in roomy:
        if not _may_go_on(ledger, name, places):
            for frame, points in _in_core(ledger, name, sites):
                cores[frame][name] = points
    for name in lesions:
        for frame, _, inside in _sections(ledger, ledger.regions[name], frames, need):
            if len(inside):
                sites[frame][name] = _ordered(ledger, name, _to_world(ledger, inside))
    return MarkSites(sites, cores)


def _alone(
    ledger: Ledger, holders: list[str], lesions: list[str], frames: list[int]
) -> dict[int, dict[str, NDArray[np.int64]]]:
    """Of each slice the indices of voxels deep inside one structure and in no other."""
    need = needed_depth_mm(ledger)
    grid = ledger.regions.grid
    shape = [n for axis, n in enumerate(grid.shape) if axis != axial_axis(grid)[0]]
    crowd = {frame: np.zeros(shape, dtype=np.uint8) for frame in frames}
    deep: dict[int, dict[str, NDArray[np.int64]]] = {frame: {} for frame in frames}
    for name in holders:
        for frame, section, inside in _holding(ledger, name, frames, need):
            crowd[frame] += section
            deep[frame][name] = inside
    for name in _others_inside(ledger, holders, lesions):
        for frame, section, _ in _sections(ledger, ledger.regions[name], frames, need):
            crowd[frame] += section
    return {
        frame: {
            name: index[(crowd[frame] == 1)[tuple(_in_plane(ledger, index).T)]]
            for name, index in inside.items()
            if len(index)
        }
        for frame, inside in deep.items()
    }


def _in_core(ledger: Ledger, name: str, sites: Sites) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """On each slice those of a structure's sites that lie in its core, if there are any."""
    if ledger.exhaustive:
        yield from ((frame, of[name]) for frame, of in sites.items() if name in of)
        return
    depths = dict(_depths_in_section(ledger, name, sites))
    greatest = {frame: deepest for frame, (_, deepest) in depths.items()}
    least = _CORE_OF_WHOLE * max(greatest.values(), default=0.0)
    for frame, (depth, deepest) in depths.items():
        needed = max(least, _CORE_OF_SECTION * deepest) * (1.0 - _TIE)
        inner = sites[frame][name][depth >= needed]
        if len(inner):
            yield frame, inner


def _depths_in_section(
    ledger: Ledger, name: str, sites: Sites
) -> Iterator[tuple[int, tuple[NDArray[np.float64], float]]]:
    """How deep inside the structure's section each of its sites on a slice lies, and how deep the
    deepest point of that section."""
    from scipy import ndimage

    region = largest_part(ledger.regions[name])
    grid, low = region.grid, np.array(region.box_index.lo)
    axis = axial_axis(grid)[0]
    spacing = np.delete(np.array(grid.affine.spacing_mm), axis)
    for frame, points_of in sites.items():
        if name not in points_of:
            continue
        world = WorldPoints(points_of[name])
        index = np.rint(np.asarray(grid.affine.to_index(world))).astype(int) - low
        section = np.pad(np.take(region.crop(), index[0, axis], axis=axis), 1)
        within = ndimage.distance_transform_edt(section, sampling=spacing)[1:-1, 1:-1]
        yield frame, (within[tuple(np.delete(index, axis, axis=1).T)], float(within.max()))


def _holding(
    ledger: Ledger, name: str, frames: list[int], need: float
) -> Iterator[tuple[int, NDArray[np.bool_], NDArray[np.int64]]]:
    """As `_sections`, with the voxels of its largest part alone: what lies apart may be another
    organ that was drawn under this name."""
    region = ledger.regions[name]
    if len(region.component_voxels) == 1:
        yield from _sections(ledger, region, frames, need)
        return
    sections = _sections(ledger, largest_part(region), frames, need)
    deep = {frame: inside for frame, _, inside in sections}
    for frame, section, _ in _sections(ledger, region, frames, need):
        yield frame, section, deep.get(frame, np.empty((0, 3), dtype=np.int64))


def _others_inside(ledger: Ledger, holders: list[str], lesions: list[str]) -> list[str]:
    """Structures that are never marked but may hide in one that is (its vessels, a cyst);
    not what it is part of."""
    around = frozenset().union(*(wholes(ledger.terms[name], ledger.terms) for name in holders))
    others = [name for name in ledger.structures if name not in holders and name not in lesions]
    inner = [name for name in others if (ledger.terms[name].canonical or name) not in around]
    return [name for name in inner if not _envelops(ledger, name, holders)]


def _envelops(ledger: Ledger, name: str, others: list[str]) -> bool:
    """Whether it is a whole of which others are parts (the body,
    both lungs), so that no mark lies in it alone."""
    shared = [
        ledger.contacts.shared_voxels(name, n) / ledger.regions[n].voxels
        for n in others
        if n != name
    ]
    return sum(share > _PART for share in shared) > 1


def _frames(ledger: Ledger, holders: list[str], lesions: list[str]) -> list[int]:
    """Slices spread evenly over the organs, and the middle one of each lesion, in patient order."""
    grid = ledger.regions.grid
    axis, downwards = axial_axis(grid)
    organs = [name for name in holders if ledger.terms[name].kind in ("organ", "region")]
    spans = [ledger.regions[name].slice_span(axis) for name in organs]
    chosen: set[int] = set()
    if spans:
        first, end = min(a for a, _ in spans), max(b for _, b in spans)
        if downwards:
            first, end = grid.shape[axis] - end, grid.shape[axis] - first
        count = min(ledger.recipe.truth.mark_slices, end - first)
        chosen = {first + (2 * k + 1) * (end - first) // (2 * count) for k in range(count)}
    for name in lesions:
        position = float(ledger.regions[name].centroid_index[axis])
        position = grid.shape[axis] - 1 - position if downwards else position
        chosen.add(int(np.floor(position + 0.5 + 1e-6)))  # a tie must not fall by the last bit
    return sorted(chosen)


def _sections(
    ledger: Ledger, region: Region, frames: Iterable[int], need: float
) -> Iterator[tuple[int, NDArray[np.bool_], NDArray[np.int64]]]:
    """Of each slice that shows the structure:
    its section, and the indices of the voxels deep enough inside."""
    from scipy import ndimage

    grid = region.grid
    axis, downwards = axial_axis(grid)
    spacing = np.array(grid.affine.spacing_mm)
    reach = int(np.ceil((need + spacing.min()) / spacing[axis])) + 1
    lo, hi = region.box_index.lo, region.box_index.hi
    # No voxel lies deeper than the structure's thinnest extent allows. Where that is too little, as
    # in a file whose metres pass for millimetres, the depths of thousands of layers need not be
    # worked out.
    deepest = ((np.subtract(hi, lo) + 1) * spacing).min() / 2.0
    crop = None
    for frame in frames:
        at = grid.shape[axis] - 1 - frame if downwards else frame
        if not lo[axis] <= at < hi[axis]:
            continue
        crop = region.crop() if crop is None else crop
        deep = np.empty((0, 2), dtype=np.int64)
        if deepest - spacing.min() / 2.0 >= need:
            first, end = max(lo[axis], at - reach), min(hi[axis], at + reach + 1)
            slab = np.take(crop, range(first - lo[axis], end - lo[axis]), axis=axis)
            room = [(1, 1)] * 3
            room[axis] = (max(0, lo[axis] - (at - reach)), max(0, at + reach + 1 - hi[axis]))
            depth = ndimage.distance_transform_edt(np.pad(slab, room), sampling=spacing)
            middle = np.take(depth, reach, axis=axis)[1:-1, 1:-1]
            deep = np.argwhere(middle - spacing.min() / 2.0 >= need)
        section = np.zeros([n for k, n in enumerate(grid.shape) if k != axis], dtype=np.bool_)
        plane = [k for k in range(3) if k != axis]
        section[tuple(slice(lo[k], hi[k]) for k in plane)] = np.take(crop, at - lo[axis], axis=axis)
        index = np.insert(deep + np.array([lo[k] for k in plane]), axis, at, axis=1).astype(
            np.int64
        )
        yield frame, section, index


def _in_plane(ledger: Ledger, index: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.delete(index, axial_axis(ledger.regions.grid)[0], axis=1)


def _to_world(ledger: Ledger, index: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(ledger.regions.grid.affine.to_world(IndexPoints(index.astype(np.float64))))


def _near_lesions(
    ledger: Ledger, lesions: list[str], frame: int, need: float
) -> NDArray[np.float64]:
    """Voxel centres of all lesions around a slice, in mm."""
    grid = ledger.regions.grid
    axis, downwards = axial_axis(grid)
    at = grid.shape[axis] - 1 - frame if downwards else frame
    reach = int(np.ceil(need / grid.affine.spacing_mm[axis])) + 1
    near_points = []
    for name in lesions:
        lo, hi = ledger.regions[name].slice_span(axis)
        if lo - reach <= at < hi + reach:
            points = np.asarray(ledger.regions[name].index_points())
            near_points.append(points[np.abs(points[:, axis] - at) <= reach])
    return (
        _to_world(ledger, np.concatenate(near_points).astype(np.int64))
        if near_points
        else np.zeros((0, 3))
    )


def _clear_of(
    points: NDArray[np.float64], others: NDArray[np.float64], need: float
) -> NDArray[np.float64]:
    from scipy.spatial import cKDTree

    if not len(others) or not len(points):
        return points
    distance, _ = cKDTree(others).query(points, distance_upper_bound=need * (1 + 1e-9))
    clear: NDArray[np.float64] = points[np.isinf(distance)]
    return clear


def _absent_in_scan(ledger: Ledger) -> dict[str, UsualPlace]:
    """Where organs, gut and vessels usually lie that no mask is named after, though the scan shows
    their place."""
    places = absent_places(ledger.scene, patient_size(ledger.scene))
    return {other: place for other, place in places.items() if _is_scanned(ledger, place)}


def _absent_neighbours(
    ledger: Ledger, name: str, places: Mapping[str, UsualPlace]
) -> list[UsualPlace]:
    """Where neighbours usually lie that no mask is named after.

    A structure's mask may hold such a neighbour under its own name, or be the neighbour's: there it
    bears no mark, since nothing in it tells the two apart.
    """
    return [
        places[other]
        for other in ledger.terms[name].neighbours
        if other in places and _may_hold(ledger, name, places[other])
    ]


def _may_go_on(ledger: Ledger, name: str, places: Mapping[str, UsualPlace]) -> bool:
    """Whether it is a stretch of gut whose next one no mask is named after: then its mask may hold
    a part of that, wherever the one passes into the other."""
    entry = ledger.terms[name]
    following = (term(other) for other in places)
    return any(
        are_continuous(entry, other) and all(_is_gut(one) for one in (entry, other))
        for other in following
    )


def _is_gut(entry: Term) -> bool:
    known = plausible_range(entry)
    return known is not None and known.tissue == "gut"


def _may_hold(ledger: Ledger, name: str, place: UsualPlace) -> bool:
    """Whether a mask is large enough to be the neighbour's, or to hold it; what the scan cuts off
    may be a small part of either."""
    least_ml = _LEAST_OF_ABSENT * place.volume_ml
    return ledger.is_cut(name) or ledger.regions[name].volume_ml > least_ml


def _is_scanned(ledger: Ledger, place: UsualPlace) -> bool:
    """Whether the scan shows a part of the place."""
    affine, shape = ledger.regions.grid.affine, np.array(ledger.regions.grid.shape)
    index = np.asarray(affine.to_index(WorldPoints(place.centre[None])))
    nearest = affine.to_world(IndexPoints(np.clip(index, -0.5, shape - 0.5)))
    return bool(place.holds(np.asarray(nearest))[0])


def _clear_of_absent(
    points: NDArray[np.float64], places: Iterable[UsualPlace]
) -> NDArray[np.float64]:
    for place in places:
        points = points[~place.holds(points)]
    return points


def _ordered(ledger: Ledger, name: str, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the structure's centre outwards; equally far ones by place."""
    far = np.linalg.norm(points - ledger.regions[name].centroid_mm, axis=1)
    keys = np.round(np.column_stack([points, far]), 6)
    ordered: NDArray[np.float64] = points[np.lexsort(keys.T)]
    return ordered
