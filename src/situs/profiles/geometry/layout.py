"""The pictures of a series and an item: pure geometry, no pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.items import Box, Item, boxes_in, frames_in, marks_of
from situs.profiles.geometry.boxes import Tiles, shown_boxes, source_boxes
from situs.profiles.geometry.frame import NOT_KNOWN, Frame, Screen, Tile, acquired_axial
from situs.profiles.geometry.lattice import Lattice, array_order, lattice_of
from situs.profiles.geometry.slices import chosen_slices
from situs.profiles.geometry.stack import Stack
from situs.profiles.planes import Plane
from situs.profiles.schema import Profile, View
from situs.space import FrameBox, Grid, PixelGrid, WorldBox

__all__ = ["Layout", "layout_of", "mark_points", "pictures_of"]

_LARGEST_SHEET_PX = 16_384


class Layout:
    """The pictures in the order shown, and the maps between them and the patient."""

    def __init__(
        self, lattice: Lattice, frames: tuple[Frame, ...], *, is_counted: bool = True
    ) -> None:
        self.lattice = lattice
        self.frames = frames
        self.is_counted = is_counted
        """False where the bench does not know how many frames there are: `frames` are then those
        that the item and its answer speak of, good for scoring; their number must not be told to a
        model."""

    def shown_boxes(self, boxes: Iterable[Box]) -> list[FrameBox]:
        """Boxes of the patient as rectangles on the pictures that cut them.

        A box that lies between two pictures is put on the nearest; one outside all of them gives
        none. `frame` is the position among the pictures, from 0. A `FrameBox` is taken in pixels of
        the acquired axial (or stored) frame.
        """
        return shown_boxes(self._tiles, list(boxes))

    @cached_property
    def sizes(self) -> list[tuple[float, float]]:
        """Width and height of each picture; infinite where the file's size is not known."""
        return [_size(frame) for frame in self.frames]

    @cached_property
    def _tiles(self) -> Tiles:
        return Tiles(self.lattice, self.frames)

    @property
    def stack(self) -> Stack | None:
        """The pictures as slices of one stack along the patient's axes; None if they are none."""
        return self._tiles.stack

    def source_boxes(self, boxes: Iterable[FrameBox]) -> list[Box]:
        """Rectangles on pictures back in the patient: one `WorldBox` around all of a label, each as
        thick as the slice it lies on; or a `FrameBox` of the stored frames each, where there are no
        millimetres."""
        return source_boxes(self._tiles, list(boxes))

    def shown_frames(self, frames: Iterable[int]) -> list[int]:
        """Positions of the pictures that show these acquired (axial, patient order) or stored
        frames.

        Where none of them is shown but they lie between pictures, the nearest position.
        """
        wanted = set(frames)
        places = [
            (number, tile.source_index)
            for number, frame in enumerate(self.frames)
            for tile in frame.tiles
            if tile.plane in (None, Plane.AXIAL)
        ]
        showing = sorted({number for number, source in places if source in wanted})
        if showing or not wanted or not places:
            return showing
        low, high = min(source for _, source in places), max(source for _, source in places)
        between = [frame for frame in wanted if low <= frame <= high]
        nearest = min(
            ((abs(source - f), number) for f in between for number, source in places), default=None
        )
        return [nearest[1]] if nearest else []

    def array_shape(self, axes: str) -> tuple[int, ...]:
        """Shape of the array a 3D model receives: (frame, y, x) where there are no millimetres."""
        order = array_order(axes)[0] if self.lattice.has_mm else (2, 1, 0)
        return tuple(self.lattice.axes[axis].known() for axis in order)

    def array_affine(self, axes: str) -> NDArray[np.float64] | None:
        """4×4: index of that array → RAS+ mm; None where there are no millimetres."""
        if not self.lattice.has_mm:
            return None
        reorder = np.zeros((4, 4))
        reorder[3, 3] = 1.0
        for array_axis, (axis, flip) in enumerate(zip(*array_order(axes), strict=True)):
            reorder[axis, array_axis] = -1.0 if flip else 1.0
            reorder[axis, 3] = self.lattice.axes[axis].known() - 1 if flip else 0.0
        matrix: NDArray[np.float64] = self.lattice.affine @ reorder
        return matrix

    def locate(self, point: NDArray[np.float64]) -> tuple[int, Tile, NDArray[np.float64]]:
        """The picture nearest to a point (mm, or frame, x, y):
        its position, its slice, and x, y, distance there."""
        best: tuple[float, int, Tile, NDArray[np.float64]] | None = None
        for number, frame in enumerate(self.frames):
            for tile in frame.tiles:
                placed = tile.from_source(point[None])[0]
                if best is None or abs(placed[2]) < best[0] - 1e-9:
                    best = abs(float(placed[2])), number, tile, placed
        assert best is not None
        return best[1:]


def _size(frame: Frame) -> tuple[float, float]:
    if not math.isfinite(frame.tiles[0].rectangle[2]):
        return math.inf, math.inf
    return float(frame.width), float(frame.height)


def mark_points(item: Item | None, lattice: Lattice) -> dict[str, NDArray[np.float64]]:
    """Where each mark of the item lies: mm, or (frame, x, y)."""
    marks = {} if item is None else marks_of(item)
    return {letter: _centre(box, lattice) for letter, box in sorted(marks.items())}


def _centre(box: Box, lattice: Lattice) -> NDArray[np.float64]:
    if isinstance(box, WorldBox):
        return np.asarray(0.5 * (np.array(box.lo_mm) + np.array(box.hi_mm)))
    x, y = 0.5 * (box.x0 + box.x1) - 0.5, 0.5 * (box.y0 + box.y1) - 0.5
    if not lattice.has_mm:
        return np.array([float(box.frame), x, y])
    return np.asarray(acquired_axial(lattice, box.frame).to_source(np.array([[x, y]]))[0])


def layout_of(profile: Profile, grid: Grid | PixelGrid, item: Item | None = None) -> Layout:
    """What a profile shows of a series, for an item:
    its marks and frames are among the slices shown."""
    lattice = lattice_of(profile, grid)
    points = mark_points(item, lattice)
    if profile.view.kind == "three_views":
        slices = _three_views(profile.view, lattice, item, list(points.values()))
    else:
        slices = _stack(profile.view, lattice, item, list(points.values()))
    windows = _windows(profile)
    tiles = [(screen, index, window) for screen, index in slices for window in windows]
    chosen_by_item = profile.view.slices == "item" and item is not None and bool(item.frames)
    is_counted = lattice.axes[2].count is not None or chosen_by_item
    return Layout(lattice, pictures_of(profile.view, lattice, tiles), is_counted=is_counted)


def _windows(profile: Profile) -> list[int | None]:
    """Which windows each slice is seen through;
    all modalities have the same number (checked when loaded)."""
    if profile.view.windows == "rgb":
        return [None]
    rule = next(iter(profile.window.values()))
    return list(range(len(rule))) if isinstance(rule, tuple) else [0]


def _stack(
    view: View, lattice: Lattice, item: Item | None, points: list[NDArray[np.float64]]
) -> list[tuple[Screen, int]]:
    screen = Screen(view.plane if lattice.has_mm else None, view.display == "neurological")
    axis = lattice.axes[screen.through]
    count = axis.known() if axis.count is not None else _spoken_of(item)
    places = [float(lattice.acquired_of(point[None])[0, screen.through]) for point in points]
    frames = item.frames if item is not None and screen.plane in (None, Plane.AXIAL) else ()
    about = [_inside(axis.shown_at(frame), count) for frame in frames]
    required = about if item is not None and item.level == "slice" else []
    must = required + [_inside(axis.shown_at(position), count) for position in places]
    spacing = float(lattice.spacing[screen.through])
    return [
        (screen, index) for index in chosen_slices(view, count, spacing, about=about, must=must)
    ]


def _spoken_of(item: Item | None) -> int:
    """How many frames there must be, where the bench does not know it: those the item speaks of."""
    if item is None:
        raise SitusError(
            "the number of its frames is not known", fix="give the images when the bench is made"
        )
    boxes = [*item.boxes, *boxes_in(item.answer)]
    frames = [*item.frames, *frames_in(item.answer)]
    frames += [box.frame for box in boxes if isinstance(box, FrameBox)]
    return max(frames, default=0) + 1


def _three_views(
    view: View, lattice: Lattice, item: Item | None, points: list[NDArray[np.float64]]
) -> list[tuple[Screen, int]]:
    centre = np.array([0.5 * (axis.known() - 1) for axis in lattice.axes])
    if item is not None and item.frames and not points:
        middle = item.frames[len(item.frames) // 2]
        centre[2] = lattice.axes[2].shown_at(middle)
    through = [centre]
    if points:
        acquired = lattice.acquired_of(np.array(points))
        through = [
            np.array(
                [axis.shown_at(value) for axis, value in zip(lattice.axes, point, strict=True)]
            )
            for point in acquired
        ]
    slices: dict[tuple[Plane, int], tuple[Screen, int]] = {}
    for point in through:
        for plane in (Plane.AXIAL, Plane.CORONAL, Plane.SAGITTAL):
            screen = Screen(plane, view.display == "neurological")
            index = _inside(point[screen.through], lattice.axes[screen.through].known())
            slices.setdefault((plane, index), (screen, index))
    return list(slices.values())


def _inside(index: float, count: int) -> int:
    return int(np.clip(np.floor(index + 0.5), 0, count - 1))


def pictures_of(
    view: View, lattice: Lattice, slices: Sequence[tuple[Screen, int, int | None]]
) -> tuple[Frame, ...]:
    """Slices (with the window each is seen through) as pictures: one each, or on sheets."""
    if view.montage is None:
        return tuple(_single(view, lattice, *one) for one in slices)
    per_sheet = view.montage.columns * view.montage.rows
    sheets = [slices[start : start + per_sheet] for start in range(0, len(slices), per_sheet)]
    return tuple(_sheet(view, lattice, sheet) for sheet in sheets)


def _single(view: View, lattice: Lattice, screen: Screen, index: int, window: int | None) -> Frame:
    size, corner, picture_size = _fitted(view, lattice, screen)
    return Frame(
        [Tile(lattice, screen, index, size=size, corner=corner, window=window)], picture_size
    )


def _sheet(view: View, lattice: Lattice, slices: Sequence[tuple[Screen, int, int | None]]) -> Frame:
    """Tiles of one sheet; each cell is as large as the largest tile."""
    montage = view.montage
    assert montage is not None
    fitted = [_fitted(view, lattice, screen) for screen, _, _ in slices]
    cells = []
    for (screen, _, _), (size, _, sheet_size) in zip(slices, fitted, strict=True):
        cells.append(
            sheet_size
            or size
            or (lattice.axes[screen.columns].known(), lattice.axes[screen.rows].known())
        )
    width, height = max(w for w, _ in cells), max(h for _, h in cells)
    tiles = []
    for number, ((screen, index, window), (size, corner, _), cell) in enumerate(
        zip(slices, fitted, cells, strict=True)
    ):
        row, column = divmod(number, montage.columns)
        left = column * (width + montage.gap_px) + (width - cell[0]) // 2 + corner[0]
        top = row * (height + montage.gap_px) + (height - cell[1]) // 2 + corner[1]
        tiles.append(
            Tile(lattice, screen, index, size=size or cell, corner=(left, top), window=window)
        )
    columns, rows = min(montage.columns, len(slices)), -(-len(slices) // montage.columns)
    sheet_size = (
        columns * (width + montage.gap_px) - montage.gap_px,
        rows * (height + montage.gap_px) - montage.gap_px,
    )
    if max(sheet_size) > _LARGEST_SHEET_PX:
        problem = (
            f"a sheet would have {sheet_size[0]} × {sheet_size[1]} px, more than"
            f" {_LARGEST_SHEET_PX}"
        )
        raise SitusError(problem, fix="give view.size_px, or fewer columns and rows")
    return Frame(tiles, sheet_size)


_Size = tuple[int, int]


def _fitted(
    view: View, lattice: Lattice, screen: Screen
) -> tuple[_Size | None, _Size, _Size | None]:
    """Size of the slice on the picture, its corner,
    and the picture's size; None is the slice's own."""
    if view.size_px is None and view.width_px is None:
        return None, (0, 0), None
    columns, rows = lattice.axes[screen.columns], lattice.axes[screen.rows]
    if columns.count is None or rows.count is None:
        fixed = (
            None
            if view.width_px is None or view.height_px is None
            else (view.width_px, view.height_px)
        )
        return (fixed if fixed and view.fit == "stretch" else NOT_KNOWN), (0, 0), fixed
    across, down = (float(lattice.spacing[axis]) for axis in (screen.columns, screen.rows))
    extent = columns.count * across, rows.count * down
    if view.size_px is not None:
        scale = view.size_px / max(extent)
        return (max(1, round(extent[0] * scale)), max(1, round(extent[1] * scale))), (0, 0), None
    assert view.width_px is not None
    assert view.height_px is not None
    picture_size = view.width_px, view.height_px
    if view.fit == "stretch":
        return picture_size, (0, 0), picture_size
    scale = min(picture_size[0] / extent[0], picture_size[1] / extent[1])
    size = max(1, round(extent[0] * scale)), max(1, round(extent[1] * scale))
    return size, ((picture_size[0] - size[0]) // 2, (picture_size[1] - size[1]) // 2), picture_size
