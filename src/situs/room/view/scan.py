"""One series as it can be looked at:
its planes, its windows, and the pictures that a look shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.bench import SeriesRecord
from situs.errors import SitusError, did_you_mean
from situs.profiles import Image, Layout, Marks, Profile, Renderer, encode, layout_of
from situs.profiles.geometry.frame import Tile
from situs.profiles.geometry.looking import look_layout
from situs.profiles.planes import Plane
from situs.profiles.schema import Encoding, Montage, View, WindowRule
from situs.room.schema import Room
from situs.space import Grid

__all__ = ["FRAME", "Look", "Picture", "Scan", "marks_on_tiles", "plane_axis", "shown_at"]

FRAME = "frame"
"""The one plane of a series without millimetres: its frames as stored."""

Point = NDArray[np.float64]
"""mm in RAS+, or (frame, x, y) where there are no millimetres."""


class Look(msgspec.Struct, frozen=True):
    """What is asked for: slices of a plane through a window, magnified or not."""

    plane: str
    slices: tuple[int, ...]
    """From 0, in patient order (or as stored)."""
    window: str
    """A name of the room, or `low to high`."""
    zoom: Annotated[float, msgspec.Meta(ge=1.0)] = 1.0
    centre: tuple[float, float, float] | None = None
    """Of a magnified look: mm, or (frame, x, y)."""
    strip: bool = False


@dataclass(frozen=True)
class Picture:
    """A look as it was shown."""

    look: Look
    layout: Layout
    """Of one picture."""
    pixels: NDArray[np.uint8]
    encoding: Encoding
    unmarked: NDArray[np.uint8]
    """Without marks, which would stand out where the scan itself shows nothing."""

    @cached_property
    def image(self) -> Image:
        """As it is sent; encoded when that is asked for."""
        return encode(self.pixels, self.encoding)

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The slices on it."""
        return self.layout.frames[0].tiles

    @property
    def mm_per_pixel(self) -> float:
        """From one pixel to the next."""
        return self.layout.frames[0].mm_per_pixel[0]

    def point_at(self, x: float, y: float) -> Point:
        """Where a pixel lies; refused beside the slices."""
        frame = self.layout.frames[0]
        tile = frame.tile_at(x, y)
        x0, y0, x1, y1 = tile.rectangle
        if not (x0 - 0.5 <= x <= x1 - 0.5 and y0 - 0.5 <= y <= y1 - 0.5):
            size = f"{frame.width} × {frame.height} px"
            raise SitusError(f"({x:g}, {y:g}) lies outside the picture, which is {size}")
        point: Point = tile.to_source(np.array([[x, y]]))[0]
        return point


class Scan:
    """A series behind a viewer.

    One image is in memory; pictures are made when they are asked for.
    """

    def __init__(
        self, series: SeriesRecord, room: Room, profile: Profile, image: NDArray[Any]
    ) -> None:
        """`profile` is the room's, or what a probe made of it."""
        self.series = series
        self.room = room
        self.profile = profile
        self.grid = series.grid
        self._image = image
        self._renderers: dict[WindowRule, Renderer] = {}
        self._latest: tuple[Look, Layout] | None = None
        self._ends_mm: dict[str, tuple[float, float]] = {}
        self.windows = _windows(room, series.modality)
        self.planes: tuple[str, ...] = (
            tuple(plane.value for plane in room.planes) if self.has_mm else (FRAME,)
        )

    @property
    def has_mm(self) -> bool:
        """Whether lengths can be measured."""
        return isinstance(self.grid, Grid)

    @cached_property
    def answer_layout(self) -> Layout:
        """Every slice of the first plane: the pictures that answers speak of."""
        return layout_of(self.profile, self.grid)

    def count(self, plane: str) -> int:
        """How many slices a plane has."""
        return self.answer_layout.lattice.axes[plane_axis(plane)].known()

    def spacing_mm(self, plane: str) -> float:
        """From one slice to the next; 1 where there are no millimetres."""
        return float(self.answer_layout.lattice.spacing[plane_axis(plane)])

    def ends_mm(self, plane: str) -> tuple[float, float]:
        """Where the middles of the first and the last slice lie along the plane's axis."""
        if plane in self._ends_mm:
            return self._ends_mm[plane]
        through, lattice = plane_axis(plane), self.answer_layout.lattice
        middle = np.array([0.5 * (axis.known() - 1) for axis in lattice.axes])
        ends = []
        for index in (0, self.count(plane) - 1):
            middle[through] = index
            ends.append(float((lattice.affine @ np.append(middle, 1.0))[through]))
        self._ends_mm[plane] = ends[0], ends[1]
        return self._ends_mm[plane]

    def position_mm(self, plane: str, index: int) -> float:
        """Where the middle of a slice lies along the plane's axis."""
        first, last = self.ends_mm(plane)
        return first + (last - first) * index / max(1, self.count(plane) - 1)

    def index_at(self, plane: str, at_mm: float) -> int:
        """The slice nearest to a position; refused outside the scan."""
        first, last = self.ends_mm(plane)
        half = 0.5 * self.spacing_mm(plane)
        if not min(first, last) - half <= at_mm <= max(first, last) + half:
            raise SitusError(f"{at_mm:g} mm lies outside the scan ({first:.1f} to {last:.1f} mm)")
        count = self.count(plane)
        share = (at_mm - first) / (last - first) if count > 1 else 0.0
        return int(np.clip(math.floor(share * (count - 1) + 0.5), 0, count - 1))

    def nearest_index(self, plane: str, point: Sequence[float] | Point) -> int:
        """The slice of a plane that a point lies on."""
        lattice, through = self.answer_layout.lattice, plane_axis(plane)
        acquired = float(lattice.acquired_of(np.asarray(point, dtype=np.float64)[None])[0, through])
        position = lattice.axes[through].shown_at(acquired)
        return int(np.clip(math.floor(position + 0.5), 0, self.count(plane) - 1))

    def holds(self, point: Sequence[float] | Point) -> bool:
        """Whether a point lies inside the scan."""
        lattice = self.answer_layout.lattice
        acquired = lattice.acquired_of(np.asarray(point, dtype=np.float64)[None])[0]
        return all(
            -0.5 - 1e-6 <= value <= (axis.acquired or 0) - 0.5 + 1e-6
            for value, axis in zip(acquired, lattice.axes, strict=True)
        )

    def window_rule(self, name: str) -> WindowRule:
        """The window of a name, or of `low to high`."""
        rule = self.windows.get(name.strip().lower())
        if rule is None:
            raise SitusError(f"no window {name[:40]!r}", fix=did_you_mean(name[:40], self.windows))
        return rule

    def layout(self, look: Look) -> Layout:
        """The picture of a look as geometry."""
        # Its size is asked for before the picture is made, to see whether it is allowed.
        if self._latest is None or self._latest[0] != look:
            layout = look_layout(
                self._view_of(look),
                self.answer_layout.lattice,
                look.slices,
                zoom=look.zoom,
                centre=None if look.centre is None else np.array(look.centre),
            )
            self._latest = look, layout
        return self._latest[1]

    def _view_of(self, look: Look) -> View:
        """How a look is laid out."""
        view, size, montage = self.profile.view, self.profile.view.size_px, None
        if look.strip:
            columns = math.ceil(math.sqrt(len(look.slices)))
            montage = Montage(columns, -(-len(look.slices) // columns))
            size = max(16, (self.room.strip_px - 2 * (columns - 1)) // columns)
        plane = view.plane if look.plane == FRAME else Plane(look.plane)
        return msgspec.structs.replace(view, plane=plane, size_px=size, montage=montage)

    def picture(self, look: Look, window: WindowRule, marks: Mapping[str, Point]) -> Picture:
        """The picture of a look; marks stand on the slices they lie on."""
        layout = self.layout(look)
        renderer, frame = self._renderer(window), layout.frames[0]
        on_tiles = marks_on_tiles(layout, marks)
        pixels = renderer.picture(layout.lattice, frame, on_tiles)
        unmarked = renderer.picture(layout.lattice, frame) if on_tiles else pixels
        return Picture(look, layout, pixels, self.profile.encoding, unmarked)

    def _renderer(self, rule: WindowRule) -> Renderer:
        """One for each window: percentiles of a volume are worked out once."""
        if rule not in self._renderers:
            if len(self._renderers) >= 16:
                self._renderers.pop(next(iter(self._renderers)))
            profile = msgspec.structs.replace(self.profile, window={"any": rule})
            grid = self.grid if isinstance(self.grid, Grid) else None
            self._renderers[rule] = Renderer(profile, self._image, grid, "any")
        return self._renderers[rule]

    @property
    def image(self) -> NDArray[Any]:
        """The voxels, as stored."""
        return self._image


def marks_on_tiles(layout: Layout, points: Mapping[str, Point]) -> Marks:
    """Each mark on every tile whose slice it lies on."""
    marks: Marks = {}
    for tile_number, tile in enumerate(layout.frames[0].tiles):
        half = 0.5 * float(layout.lattice.spacing[tile.screen.through]) + 1e-6
        for letter, point in points.items():
            if (at := shown_at(tile, point, half)) is not None:
                marks.setdefault(tile_number, {})[letter] = at
    return marks


def shown_at(tile: Tile, point: Point, reach: float) -> tuple[float, float] | None:
    """Where a point is on a slice that lies within `reach` of it; None if it is not on it."""
    x, y, off = (float(value) for value in tile.from_source(np.asarray(point)[None])[0])
    x0, y0, x1, y1 = tile.rectangle
    inside = x0 - 0.5 <= x <= x1 - 0.5 and y0 - 0.5 <= y <= y1 - 0.5
    return (x, y) if inside and abs(off) <= reach else None


_AXES = {FRAME: 2} | {plane.value: plane.through.world_index for plane in Plane}


def plane_axis(plane: str) -> int:
    """The axis across a plane, in patient order; that of the frames for frames as stored."""
    return _AXES[plane]


def _windows(room: Room, modality: str) -> dict[str, WindowRule]:
    rules = room.windows.get(modality, room.windows.get("any"))
    if rules is None:
        problem = f"room {room.name!r} has no window for {modality}"
        raise SitusError(problem, fix=f"add [windows.{modality}.NAME] or [windows.any.NAME] to it")
    return {name.lower(): rule for name, rule in rules.items()}
