"""Boxes of the patient on the pictures shown, and back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from situs.items import Box
from situs.profiles.geometry.frame import Frame, Tile, acquired_axial
from situs.profiles.geometry.lattice import Lattice
from situs.profiles.planes import Plane
from situs.space import FrameBox, WorldBox

__all__ = ["shown_boxes", "source_boxes"]

_TOUCH_MM = 1e-6
"""A slice this near to a box's face cuts it."""

_FIRST, _SECOND = zip(
    *((a, b) for a, b in itertools.combinations(range(8), 2) if (a ^ b).bit_count() == 1)
)
"""The ends of the twelve edges between eight corners in binary order."""


def shown_boxes(lattice: Lattice, frames: Sequence[Frame], boxes: list[Box]) -> list[FrameBox]:
    """Each box on the pictures that cut it, in the order of the boxes and then of the pictures."""
    tiles = [(number, tile) for number, frame in enumerate(frames) for tile in frame.tiles]
    shown: list[FrameBox] = []
    unseen: list[FrameBox] = []
    for box in boxes:
        if isinstance(box, WorldBox):
            shown.extend(_cuts(lattice, tiles, box) if lattice.has_mm else ())
            continue
        found = list(_frame_box(lattice, tiles, box, box.frame))
        shown.extend(found)
        if not found:
            unseen.append(box)
    seen = {box.label for box in shown}
    for box in unseen:
        if box.label not in seen:
            shown.extend(_on_nearest(lattice, tiles, box))
    return shown


def _cuts(lattice: Lattice, tiles: list[tuple[int, Tile]], box: WorldBox) -> list[FrameBox]:
    corners = np.array(list(itertools.product(*zip(box.lo_mm, box.hi_mm))))
    points = (corners - np.array([tile.origin for _, tile in tiles])[:, None]) @ np.array(
        [tile.inverse.T for _, tile in tiles]
    )
    off = points[:, :, 2]
    met = np.flatnonzero((off.min(axis=1) <= _TOUCH_MM) & (off.max(axis=1) >= -_TOUCH_MM))
    if met.size:
        hulls = _sections(points[met])
        cuts = [(*tiles[k], low, high) for k, low, high in zip(met, *hulls)]
    else:
        placed = [(*tile, own) for tile, own in zip(tiles, points)]
        nearest = _nearest(lattice, placed)
        cuts = [
            (number, tile, own[:, :2].min(axis=0), own[:, :2].max(axis=0))
            for number, tile, own in nearest
        ]
    rectangles = [
        _rectangle(number, tile, low, high, box.label) for number, tile, low, high in cuts
    ]
    return [rectangle for rectangle in rectangles if rectangle is not None]


def _sections(corners: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where planes cut a box whose corners lie at (x, y, distance) of each: the least and greatest x, y of each cut."""
    places, off = corners[:, :, :2], corners[:, :, 2]
    first, second = off[:, _FIRST], off[:, _SECOND]
    crossed = first * second < 0
    share = np.divide(first, first - second, out=np.zeros_like(first), where=crossed)[:, :, None]
    crossings = (1.0 - share) * places[:, _FIRST] + share * places[:, _SECOND]
    points = np.concatenate([places, crossings], axis=1)
    there = np.concatenate([np.abs(off) <= _TOUCH_MM, crossed], axis=1)[:, :, None]
    return np.where(there, points, np.inf).min(axis=1), np.where(there, points, -np.inf).max(axis=1)


_Placed = tuple[int, Tile, NDArray[np.float64]]


def _nearest(lattice: Lattice, placed: list[_Placed]) -> list[_Placed]:
    """The slice nearest to a box that none cuts, if it lies between two or within half a voxel of the last."""
    best: list[_Placed] = []
    for plane in {tile.plane for _, tile, _ in placed}:
        of_plane = [one for one in placed if one[1].plane == plane]
        above = [one for one in of_plane if one[2][:, 2].min() > 0]
        below = [one for one in of_plane if one[2][:, 2].max() < 0]
        nearest = min(of_plane, key=lambda one: float(np.abs(one[2][:, 2]).min()))
        reach = 0.5 * float(lattice.spacing[nearest[1].screen.through]) + _TOUCH_MM
        if (above and below) or float(np.abs(nearest[2][:, 2]).min()) <= reach:
            best.append(nearest)
    return sorted(best, key=lambda one: float(np.abs(one[2][:, 2]).min()))[:1]


def _rectangle(
    number: int, tile: Tile, low: NDArray[np.float64], high: NDArray[np.float64], label: str
) -> FrameBox | None:
    """A hull of points on a slice, inside it; None where nothing of it is."""
    x0, y0, x1, y1 = tile.rectangle
    left, top = (float(v) for v in low + 0.5)
    right, bottom = (float(v) for v in high + 0.5)
    if left > x1 or right < x0 or top > y1 or bottom < y0:
        return None
    box = FrameBox(number, max(left, x0), max(top, y0), min(right, x1), min(bottom, y1), label)
    return box if box.area > 0 or right == left or bottom == top else None


def _frame_box(
    lattice: Lattice, tiles: list[tuple[int, Tile]], box: FrameBox, source_index: int
) -> Iterator[FrameBox]:
    """A box of an acquired frame on the pictures that show `source_index`."""
    points = _frame_corners(lattice, box)
    for number, tile in tiles:
        if tile.plane in (None, Plane.AXIAL) and tile.source_index == source_index:
            rectangle = _rectangle_of_frame(number, tile, points, box.label)
            if rectangle is not None:
                yield rectangle


def _rectangle_of_frame(
    number: int, tile: Tile, points: NDArray[np.float64], label: str
) -> FrameBox | None:
    placed = tile.from_source(points)[:, :2]
    return _rectangle(number, tile, placed.min(axis=0), placed.max(axis=0), label)


def _on_nearest(
    lattice: Lattice, tiles: list[tuple[int, Tile]], box: FrameBox
) -> Iterator[FrameBox]:
    """A box of a frame that is not shown but lies between two that are, on the nearer."""
    sources = [tile.source_index for _, tile in tiles if tile.plane in (None, Plane.AXIAL)]
    if sources and min(sources) <= box.frame <= max(sources):
        yield from _frame_box(
            lattice, tiles, box, min(sources, key=lambda source: (abs(source - box.frame), source))
        )


def _frame_corners(lattice: Lattice, box: FrameBox) -> NDArray[np.float64]:
    pixels = np.array([(x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)]) - 0.5
    if lattice.has_mm:
        return acquired_axial(lattice, box.frame).to_source(pixels)
    return np.column_stack([np.full(len(pixels), float(box.frame)), pixels])


def source_boxes(lattice: Lattice, frames: Sequence[Frame], boxes: list[FrameBox]) -> list[Box]:
    """Rectangles on pictures back in the patient; those on a picture that is not there are left out."""
    there = [box for box in boxes if box.frame < len(frames)]
    if not lattice.has_mm:
        return [_stored_box(frames[box.frame], box) for box in there]
    hulls: dict[str, list[NDArray[np.float64]]] = {}
    for box in there:
        hulls.setdefault(box.label, []).append(_slab(lattice, frames[box.frame], box))
    found: list[Box] = []
    for label, slabs in hulls.items():
        points = np.concatenate(slabs)
        found.append(WorldBox.of(points.min(axis=0), points.max(axis=0), label))
    return found


def _tile_of(frame: Frame, box: FrameBox) -> Tile:
    return frame.tile_at(0.5 * (box.x0 + box.x1) - 0.5, 0.5 * (box.y0 + box.y1) - 0.5)


def _corners(frame: Frame, box: FrameBox) -> tuple[Tile, NDArray[np.float64]]:
    tile = _tile_of(frame, box)
    pixels = np.array([(x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)]) - 0.5
    return tile, tile.to_source(pixels)


def _slab(lattice: Lattice, frame: Frame, box: FrameBox) -> NDArray[np.float64]:
    """The eight corners of a rectangle as thick as its slice."""
    tile, points = _corners(frame, box)
    through = tile.screen.through
    half = 0.5 * lattice.axes[through].step * lattice.to_source[:3, through]
    return np.concatenate([points - half, points + half])


def _stored_box(frame: Frame, box: FrameBox) -> FrameBox:
    tile, points = _corners(frame, box)
    (x0, y0), (x1, y1) = points[:, 1:].min(axis=0) + 0.5, points[:, 1:].max(axis=0) + 0.5
    return FrameBox(tile.source_index, float(x0), float(y0), float(x1), float(y1), box.label)
