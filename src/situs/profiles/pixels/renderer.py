"""From voxels to pictures and arrays, as a profile says."""

from __future__ import annotations

import io
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.base.files import digest
from situs.profiles.geometry.frame import Frame, Tile
from situs.profiles.geometry.lattice import Lattice
from situs.profiles.geometry.marks import Marks
from situs.profiles.input import Image
from situs.profiles.pixels.drawing import draw_marks, draw_scale_bar, draw_side_letters
from situs.profiles.pixels.samples import in_lattice_order, slice_of
from situs.profiles.pixels.tones import tones_around
from situs.profiles.pixels.window import Window, rules_of, window_of
from situs.profiles.schema import Encoding, Profile
from situs.space import Grid

__all__ = ["Renderer", "drawn_on", "encode", "resized"]


class Renderer:
    """One volume under one profile."""

    def __init__(
        self, profile: Profile, array: NDArray[Any], grid: Grid | None, modality: str
    ) -> None:
        self.profile = profile
        self.values = in_lattice_order(array, grid)
        """In patient order, or x, y, frame."""
        self.modality = modality
        self._rules = rules_of(profile, modality)
        self._windows: dict[int, Window] = {}

    def toned(self) -> Renderer | None:
        """The same pictures in tones from which people can choose another window.

        None where a picture has no one window of its own: several windows side by side or as
        colours, one for each slice, or values that are clipped first.
        """
        (rule, *others) = self._rules
        if others or rule.per == "slice" or rule.clip is not None:
            return None
        toned = copy(self)
        toned._windows = {0: tones_around(self.window(0, self.values), self.modality, self.values)}
        return toned

    def picture(
        self, lattice: Lattice, frame: Frame, marks: Marks | None = None
    ) -> NDArray[np.uint8]:
        """Grey (height, width), or red, green and blue (height, width, 3)."""
        colours = self.profile.view.windows == "rgb"
        tiles = [self.tile(lattice, tile) for tile in frame.tiles]
        if len(tiles) == 1 and tiles[0].shape[:2] == (frame.height, frame.width):
            picture = np.ascontiguousarray(tiles[0])
        else:
            picture = np.zeros(
                (frame.height, frame.width, 3) if colours else (frame.height, frame.width), np.uint8
            )
            for tile, pixels in zip(frame.tiles, tiles, strict=True):
                (left, top), (height, width) = tile.corner, pixels.shape[:2]
                picture[top : top + height, left : left + width] = pixels
        return drawn_on(self.profile, picture, lattice, frame, marks or {})

    def tile(self, lattice: Lattice, tile: Tile) -> NDArray[np.uint8]:
        """One slice at its size on the picture, nothing drawn."""
        values = slice_of(
            self.values, lattice, tile.screen, tile.index, self.profile.resample.interpolation
        )
        numbers = range(3) if tile.window is None else [tile.window]
        grey = [resized(self.window(number, values).apply(values), tile.size) for number in numbers]
        return grey[0] if len(grey) == 1 else np.stack(grey, axis=2)

    def window(self, number: int, values: NDArray[Any]) -> Window:
        """The window for a slice: that of the volume, or its own."""
        rule = self._rules[number]
        if rule.per == "slice":
            return window_of(rule, values)
        if number not in self._windows:
            self._windows[number] = window_of(rule, self.values)
        return self._windows[number]


def drawn_on(
    profile: Profile, picture: NDArray[np.uint8], lattice: Lattice, frame: Frame, marks: Marks
) -> NDArray[np.uint8]:
    """The picture with side letters, scale bar and marks, as far as the profile draws them."""
    draw = profile.draw
    for tile_number, tile in enumerate(frame.tiles):
        if draw.side_letters and tile.plane is not None:
            picture = draw_side_letters(
                picture, tile, neurological=profile.view.display == "neurological"
            )
        if draw.scale_bar and lattice.has_mm:
            picture = draw_scale_bar(picture, tile)
        if draw.marks and marks.get(tile_number):
            picture = draw_marks(picture, tile, marks[tile_number], draw.mark_style)
    return picture


def resized(grey: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Bilinear; smaller pictures average over each pixel's surroundings."""
    if grey.shape == (size[1], size[0]):
        return grey
    from PIL import Image as Pillow

    picture = Pillow.fromarray(np.ascontiguousarray(grey)).resize(size, Pillow.Resampling.BILINEAR)
    return np.asarray(picture)


def encode(picture: NDArray[np.uint8], encoding: Encoding) -> Image:
    """PNG or JPEG without any metadata."""
    from PIL import Image as Pillow

    stream = io.BytesIO()
    pillow_image = Pillow.fromarray(np.ascontiguousarray(picture))
    if encoding.format == "png":
        pillow_image.save(stream, "PNG", compress_level=6)
    else:
        pillow_image.save(stream, "JPEG", quality=encoding.quality, subsampling=0)
    data = stream.getvalue()
    height, width = picture.shape[:2]
    return Image(data, f"image/{encoding.format}", digest(data), width, height)
