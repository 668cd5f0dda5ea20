"""One picture: which slices it holds, and the maps between its pixels and the patient."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.profiles.geometry.lattice import AxisMap, Lattice
from situs.profiles.planes import Plane

__all__ = ["NOT_KNOWN", "Frame", "Screen", "Tile", "acquired_axial"]

NOT_KNOWN = (0, 0)
"""The size of a slice that is scaled from a size the bench does not know."""


class Tile:
    """One slice and the rectangle of the picture it fills."""

    def __init__(
        self,
        lattice: Lattice,
        screen: Screen,
        index: int,
        *,
        size: tuple[int, int] | None,
        corner: tuple[int, int] = (0, 0),
        window: int | None = 0,
    ) -> None:
        self.screen = screen
        self.plane = screen.plane
        self.index = index
        """Which slice of the shown lattice."""
        self.source_index = lattice.axes[screen.through].nearest_acquired(index)
        """The acquired slice nearest to it, in patient order (or as stored)."""
        self.corner = corner
        """The picture's pixel at which it begins: x, y."""
        self.window = window
        """Which of the windows it is seen through; None for three as colours."""
        self._size = size
        self._lattice = lattice
        self._matrix: NDArray[np.float64] | None = None
        self._inverse: NDArray[np.float64] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, refused where the file's size is not known."""
        if self._size is None or self._size == NOT_KNOWN:
            return self._axis(self.screen.columns).known(), self._axis(self.screen.rows).known()
        return self._size

    @property
    def matrix(self) -> NDArray[np.float64]:
        """3×3: (x, y, 1) of a pixel centre of the picture → mm (or frame, x, y)."""
        if self._matrix is None:
            to_acquired = np.zeros((4, 3))
            to_acquired[3, 2] = 1.0
            for screen, axis, flip in (
                (0, self.screen.columns, self.screen.flip_columns),
                (1, self.screen.rows, self.screen.flip_rows),
            ):
                slope, start = self._along(screen, axis, flip)
                to_acquired[axis, screen] = slope
                to_acquired[axis, 2] = start
            to_acquired[self.screen.through, 2] = self._axis(self.screen.through).acquired_at(
                self.index
            )
            self._matrix = (self._lattice.to_source @ to_acquired)[:3]
        return self._matrix

    def _axis(self, axis: int) -> AxisMap:
        return self._lattice.axes[axis]

    def _along(self, screen: int, axis: int, flip: bool) -> tuple[float, float]:
        """Slope and start of acquired index over pixel."""
        axis_map = self._axis(axis)
        ratio = 1.0 if self._size is None else axis_map.known() / self._size[screen]
        slope, start = ratio, (0.5 - self.corner[screen]) * ratio - 0.5
        if flip:
            slope, start = -slope, axis_map.known() - 1 - start
        return axis_map.step * slope, axis_map.acquired_at(start)

    def to_source(self, pixels: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 2) pixel centres of the picture → (n, 3)."""
        result: NDArray[np.float64] = (
            np.column_stack([pixels, np.ones(len(pixels))]) @ self.matrix.T
        )
        return result

    def from_source(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 3) → x, y on the picture and the distance in front of or behind the slice."""
        result: NDArray[np.float64] = (np.asarray(points) - self.origin) @ self.inverse.T
        return result

    @property
    def origin(self) -> NDArray[np.float64]:
        """Where pixel (0, 0) lies."""
        return self.matrix[:, 2]

    @property
    def inverse(self) -> NDArray[np.float64]:
        """From a step away from the origin to x,
        y on the picture and the distance from the slice."""
        if self._inverse is None:
            self._inverse = _inverse_of(self.matrix[:, :2].tobytes())
        return self._inverse

    @functools.cached_property
    def upright(self) -> tuple[tuple[float, float], ...] | None:
        """For x and y of the picture: where it begins on the stored frame, and pixels of it to one
        of the frame.

        None where x is not along the stored x alone, and y along y.
        """
        sides = []
        for row, axis in ((0, 1), (1, 2)):
            along = self.inverse[row].tolist()
            if any(value for other, value in enumerate(along) if other != axis):
                return None
            sides.append((float(self.origin[axis]), along[axis]))
        return tuple(sides)

    @functools.cached_property
    def rectangle(self) -> tuple[float, float, float, float]:
        """Its edges on the picture in half-open pixels:
        x0, y0, x1, y1; endless where the size is not known."""
        left, top = self.corner
        unknown = None in (
            self._axis(self.screen.columns).count,
            self._axis(self.screen.rows).count,
        )
        if self._size == NOT_KNOWN or (self._size is None and unknown):
            return 0.0, 0.0, math.inf, math.inf
        width, height = self.size
        return float(left), float(top), float(left + width), float(top + height)


@functools.lru_cache(maxsize=1024)
def _inverse_of(directions: bytes) -> NDArray[np.float64]:
    """The slices of a stack share their directions (3×2):
    what depends on these alone is worked out once."""
    along = np.frombuffer(directions).reshape(3, 2)
    across = np.cross(along[:, 0], along[:, 1])
    inverse: NDArray[np.float64] = np.linalg.inv(
        np.column_stack([along, across / np.linalg.norm(across)])
    )
    inverse.flags.writeable = False
    return inverse


class Screen:
    """How a plane is laid on the screen: which axis runs where, and which way."""

    __slots__ = ("columns", "flip_columns", "flip_rows", "plane", "rows", "through")

    def __init__(self, plane: Plane | None, neurological: bool = False) -> None:
        self.plane = plane
        """None for frames as stored."""
        if plane is None:
            self.columns, self.rows, self.through = 0, 1, 2
            self.flip_columns = self.flip_rows = False
            return
        self.columns = plane.left_edge.axis.world_index
        self.rows = plane.top_edge.axis.world_index
        self.through = plane.through.world_index
        self.flip_columns = not (neurological and plane is not Plane.SAGITTAL)
        self.flip_rows = True


class Frame:
    """One picture as shown. Pixel centres are whole numbers, x to the right and y downwards."""

    def __init__(self, tiles: Sequence[Tile], size: tuple[int, int] | None) -> None:
        self.tiles = tuple(tiles)
        """More than one only in a montage."""
        self._size = size

    @property
    def is_size_known(self) -> bool:
        """Whether `width` and `height` can be told; else they raise."""
        return self._size is not None or math.isfinite(self.tiles[0].rectangle[2])

    @property
    def width(self) -> int:
        """In pixels."""
        return (self._size or self.tiles[0].size)[0]

    @property
    def height(self) -> int:
        """In pixels."""
        return (self._size or self.tiles[0].size)[1]

    @property
    def plane(self) -> Plane | None:
        """Of its (first) slice; None for frames as stored."""
        return self.tiles[0].plane

    @property
    def source_index(self) -> int:
        """The acquired slice it shows (first), counted in patient order, or as stored."""
        return self.tiles[0].source_index

    @property
    def mm_per_pixel(self) -> tuple[float, float]:
        """From one pixel to the next along x and y (acquired pixels,
        where there are no millimetres)."""
        (x1, y1), (x2, y2), (x3, y3) = self.tiles[0].matrix[:, :2].tolist()
        return math.sqrt(x1 * x1 + x2 * x2 + x3 * x3), math.sqrt(y1 * y1 + y2 * y2 + y3 * y3)

    def tile_at(self, x: float, y: float) -> Tile:
        """The slice shown at a pixel; between tiles, the nearest."""

        def off(tile: Tile) -> float:
            x0, y0, x1, y1 = tile.rectangle
            return max(x0 - 0.5 - x, x - x1 + 0.5, 0.0) + max(y0 - 0.5 - y, y - y1 + 0.5, 0.0)

        return self.tiles[0] if len(self.tiles) == 1 else min(self.tiles, key=off)

    def to_source(self, pixels: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 2) pixel centres → (n, 3): mm, or (frame, x, y) of the stored frames."""
        points = np.asarray(pixels, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise SitusError(
                f"pixels have shape {points.shape}, not (n, 2)", fix="give x and y of each"
            )
        if len(self.tiles) == 1:
            return self.tiles[0].to_source(points)
        rows = [self.tile_at(x, y).to_source(np.array([[x, y]])) for x, y in points]
        return np.concatenate(rows) if rows else np.empty((0, 3))

    def from_source(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 3) mm or (frame, x, y) → x, y and the distance off the slice;
        of several slices, on the nearest."""
        placed = np.stack([tile.from_source(points) for tile in self.tiles])
        nearest = np.abs(placed[:, :, 2]).round(9).argmin(axis=0)
        result: NDArray[np.float64] = placed[nearest, np.arange(placed.shape[1])]
        return result


def acquired_axial(lattice: Lattice, frame: int) -> Tile:
    """The acquired axial slice at its own pixels:
    where a `FrameBox` of a series with millimetres lies."""
    x, y, z = (AxisMap(axis.acquired, axis.acquired) for axis in lattice.axes)
    return Tile(
        Lattice((x, y, z), lattice.to_source, has_mm=True), Screen(Plane.AXIAL), frame, size=None
    )
