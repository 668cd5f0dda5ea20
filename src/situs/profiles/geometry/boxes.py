"""Boxes of the patient on the pictures shown, and back."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from situs.items import Box
from situs.profiles.geometry.frame import Frame, Tile, acquired_axial
from situs.profiles.geometry.lattice import Lattice
from situs.profiles.geometry.stack import TOUCH_MM, Stack, inside, stack_of
from situs.profiles.planes import Plane
from situs.space import FrameBox, WorldBox

__all__ = ["Tiles", "shown_boxes", "source_boxes"]

_FIRST, _SECOND = zip(
    *((a, b) for a, b in itertools.combinations(range(8), 2) if (a ^ b).bit_count() == 1)
)
"""The ends of the twelve edges between eight corners in binary order."""


class Tiles:
    """The slices of all pictures, each with the number of its picture;
    what many boxes need is worked out once."""

    def __init__(self, lattice: Lattice, frames: Sequence[Frame]) -> None:
        self.lattice = lattice
        self.frames = frames
        self.numbered = [
            (number, tile) for number, frame in enumerate(frames) for tile in frame.tiles
        ]

    @functools.cached_property
    def stack(self) -> Stack | None:
        """The quick way, if the pictures are alike and along the patient's axes."""
        return stack_of(self.lattice, self.frames)

    @functools.cached_property
    def origins(self) -> NDArray[np.float64]:
        """Where each begins: n×1×3."""
        return np.array([tile.origin for _, tile in self.numbered])[:, None]

    @functools.cached_property
    def inverses(self) -> NDArray[np.float64]:
        """From the patient to each: n×3×3."""
        return np.array([tile.inverse.T for _, tile in self.numbered])

    @functools.cached_property
    def by_source(self) -> dict[int, list[tuple[int, Tile]]]:
        """The slices that show each acquired (or stored) frame."""
        tiles_of: dict[int, list[tuple[int, Tile]]] = {}
        for number, tile in self.numbered:
            if tile.plane in (None, Plane.AXIAL):
                tiles_of.setdefault(tile.source_index, []).append((number, tile))
        return tiles_of


def shown_boxes(tiles: Tiles, boxes: list[Box]) -> list[FrameBox]:
    """Each box on the pictures that cut it, in the order of the boxes and then of the pictures."""
    lattice = tiles.lattice
    flat = [box for box in boxes if isinstance(box, FrameBox)]
    on_frames = iter(_frame_boxes(lattice, tiles, flat, [box.frame for box in flat]))
    rectangles: list[FrameBox] = []
    unseen: list[FrameBox] = []
    for box in boxes:
        if isinstance(box, WorldBox):
            rectangles.extend(_cuts(tiles, box) if lattice.has_mm else ())
            continue
        on_frame = next(on_frames)
        rectangles.extend(on_frame)
        if not on_frame:
            unseen.append(box)
    seen = {box.label for box in rectangles}
    for box in unseen:
        if box.label not in seen:
            rectangles.extend(_on_nearest(lattice, tiles, box))
    return rectangles


def _cuts(all_tiles: Tiles, box: WorldBox) -> list[FrameBox]:
    quick = None if all_tiles.stack is None else all_tiles.stack.cuts(box)
    if quick is not None:
        return quick
    lattice, tiles = all_tiles.lattice, all_tiles.numbered
    corners = np.array(list(itertools.product(*zip(box.lo_mm, box.hi_mm))))
    points = (corners - all_tiles.origins) @ all_tiles.inverses
    off = points[:, :, 2]
    met = np.flatnonzero((off.min(axis=1) <= TOUCH_MM) & (off.max(axis=1) >= -TOUCH_MM))
    if met.size:
        hulls = _sections(points[met])
        cuts = [(*tiles[k], low, high) for k, low, high in zip(met, *hulls)]
    else:
        placed = [(*tile, in_tile) for tile, in_tile in zip(tiles, points)]
        nearest = _nearest(lattice, placed)
        cuts = [
            (number, tile, in_tile[:, :2].min(axis=0), in_tile[:, :2].max(axis=0))
            for number, tile, in_tile in nearest
        ]
    rectangles = [
        _rectangle(number, tile, low, high, box.label) for number, tile, low, high in cuts
    ]
    return [rectangle for rectangle in rectangles if rectangle is not None]


def _sections(corners: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where planes cut a box whose corners lie at (x, y, distance) of each:
    the least and greatest x, y of each cut."""
    places, off = corners[:, :, :2], corners[:, :, 2]
    first, second = off[:, _FIRST], off[:, _SECOND]
    crossed = first * second < 0
    share = np.divide(first, first - second, out=np.zeros_like(first), where=crossed)[:, :, None]
    crossings = (1.0 - share) * places[:, _FIRST] + share * places[:, _SECOND]
    points = np.concatenate([places, crossings], axis=1)
    there = np.concatenate([np.abs(off) <= TOUCH_MM, crossed], axis=1)[:, :, None]
    return np.where(there, points, np.inf).min(axis=1), np.where(there, points, -np.inf).max(axis=1)


_Placed = tuple[int, Tile, NDArray[np.float64]]


def _nearest(lattice: Lattice, placed: list[_Placed]) -> list[_Placed]:
    """The slice nearest to a box that none cuts,
    if it lies between two or within half a voxel of the last."""
    best: list[_Placed] = []
    for plane in {tile.plane for _, tile, _ in placed}:
        of_plane = [one for one in placed if one[1].plane == plane]
        above = [one for one in of_plane if one[2][:, 2].min() > 0]
        below = [one for one in of_plane if one[2][:, 2].max() < 0]
        nearest = min(of_plane, key=lambda one: float(np.abs(one[2][:, 2]).min()))
        reach = 0.5 * float(lattice.spacing[nearest[1].screen.through]) + TOUCH_MM
        if (above and below) or float(np.abs(nearest[2][:, 2]).min()) <= reach:
            best.append(nearest)
    return sorted(best, key=lambda one: float(np.abs(one[2][:, 2]).min()))[:1]


def _rectangle(
    number: int, tile: Tile, low: NDArray[np.float64], high: NDArray[np.float64], label: str
) -> FrameBox | None:
    """A hull of points on a slice, inside it; None where nothing of it is."""
    left, top = (float(v) for v in low + 0.5)
    right, bottom = (float(v) for v in high + 0.5)
    return inside(number, tile.rectangle, (left, top, right, bottom), label)


def _upright_rectangle(number: int, tile: Tile, box: FrameBox) -> FrameBox | None:
    """A box of a stored frame on a slice whose pixels run along the frame's:
    as by matrices, to the last bit."""
    assert tile.upright is not None
    sides = []
    for (origin, factor), ends in zip(tile.upright, ((box.x0, box.x1), (box.y0, box.y1))):
        first, last = ((end - 0.5 - origin) * factor for end in ends)
        sides.append((min(first, last) + 0.5, max(first, last) + 0.5))
    (left, right), (top, bottom) = sides
    return inside(number, tile.rectangle, (left, top, right, bottom), box.label)


def _frame_boxes(
    lattice: Lattice, tiles: Tiles, boxes: Sequence[FrameBox], sources: Sequence[int]
) -> list[list[FrameBox]]:
    """Each box of an acquired frame on the pictures that show its `source`."""
    rectangles: list[list[FrameBox]] = [[] for _ in boxes]
    met = [
        (box_number, number, tile)
        for box_number, source in enumerate(sources)
        for number, tile in tiles.by_source.get(source, ())
    ]
    if not lattice.has_mm and all(tile.upright is not None for _, _, tile in met):
        for box_number, number, tile in met:
            rectangle = _upright_rectangle(number, tile, boxes[box_number])
            if rectangle is not None:
                rectangles[box_number].append(rectangle)
        return rectangles
    if not met:
        return rectangles
    corners = _frame_corners(lattice, boxes)[[box_number for box_number, _, _ in met]]
    origins = np.array([tile.origin for _, _, tile in met])[:, None]
    inverses = np.array([tile.inverse for _, _, tile in met])
    points = ((corners - origins) @ inverses.transpose(0, 2, 1))[:, :, :2]
    for (box_number, number, tile), low, high in zip(met, points.min(axis=1), points.max(axis=1)):
        rectangle = _rectangle(number, tile, low, high, boxes[box_number].label)
        if rectangle is not None:
            rectangles[box_number].append(rectangle)
    return rectangles


def _on_nearest(lattice: Lattice, tiles: Tiles, box: FrameBox) -> list[FrameBox]:
    """A box of a frame that is not shown but lies between two that are, on the nearer."""
    sources = tiles.by_source
    if not sources or not min(sources) <= box.frame <= max(sources):
        return []
    nearest = min(sources, key=lambda source: (abs(source - box.frame), source))
    return _frame_boxes(lattice, tiles, [box], [nearest])[0]


def _frame_corners(lattice: Lattice, boxes: Sequence[FrameBox]) -> NDArray[np.float64]:
    """The four corners of each box: n×4×3."""
    pixels = _pixels(boxes)
    if lattice.has_mm:
        return np.array(
            [
                acquired_axial(lattice, box.frame).to_source(corners)
                for box, corners in zip(boxes, pixels)
            ]
        )
    frames = np.array([float(box.frame) for box in boxes])[:, None, None]
    return np.concatenate([np.broadcast_to(frames, (len(boxes), 4, 1)), pixels], axis=2)


def _pixels(boxes: Sequence[FrameBox]) -> NDArray[np.float64]:
    """The pixel centres at the corners of each box: n×4×2."""
    sides = np.array([(box.x0, box.y0, box.x1, box.y1) for box in boxes]) - 0.5
    return np.asarray(sides[:, [[0, 1], [0, 3], [2, 1], [2, 3]]])


def source_boxes(tiles: Tiles, boxes: list[FrameBox]) -> list[Box]:
    """Rectangles on pictures back in the patient;
    those on a picture that is not there are left out."""
    lattice, frames = tiles.lattice, tiles.frames
    there = [box for box in boxes if box.frame < len(frames)]
    if not lattice.has_mm:
        return [_stored_box(frames[box.frame], box) for box in there]
    by_label: dict[str, list[FrameBox]] = {}
    for box in there:
        by_label.setdefault(box.label, []).append(box)
    if tiles.stack is not None:
        return [tiles.stack.hull(rectangles, label) for label, rectangles in by_label.items()]
    return [_hull(lattice, frames, rectangles, label) for label, rectangles in by_label.items()]


def _tile_of(frame: Frame, box: FrameBox) -> Tile:
    return frame.tile_at(0.5 * (box.x0 + box.x1) - 0.5, 0.5 * (box.y0 + box.y1) - 0.5)


def _hull(
    lattice: Lattice, frames: Sequence[Frame], boxes: Sequence[FrameBox], label: str
) -> WorldBox:
    """The box around rectangles that are each as thick as their slice."""
    tiles = [_tile_of(frames[box.frame], box) for box in boxes]
    pixels = np.concatenate([_pixels(boxes), np.ones((len(boxes), 4, 1))], axis=2)
    points = pixels @ np.array([tile.matrix for tile in tiles]).transpose(0, 2, 1)
    through = [tile.screen.through for tile in tiles]
    steps = np.array([lattice.axes[axis].step for axis in through])
    halves = (0.5 * steps * lattice.to_source[:3, through]).T[:, None]
    low, high = points - halves, points + halves
    return WorldBox.of(
        np.minimum(low, high).min(axis=(0, 1)), np.maximum(low, high).max(axis=(0, 1)), label
    )


def _stored_box(frame: Frame, box: FrameBox) -> FrameBox:
    tile = _tile_of(frame, box)
    points = tile.to_source(_pixels([box])[0])
    (x0, y0), (x1, y1) = points[:, 1:].min(axis=0) + 0.5, points[:, 1:].max(axis=0) + 0.5
    return FrameBox(tile.source_index, float(x0), float(y0), float(x1), float(y1), box.label)
