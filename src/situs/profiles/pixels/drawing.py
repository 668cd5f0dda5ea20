"""What is drawn into a picture: marks, side letters, a scale bar. White with a black halo, so that
it is seen on any background; the pixel a mark stands for is never covered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.profiles.geometry.frame import Tile
from situs.profiles.planes import Plane
from situs.space import Direction

__all__ = ["draw_marks", "draw_scale_bar", "draw_side_letters"]

_RING_SHARE = 0.018
"""Radius of a ring as a share of the slice's longest side."""
_LETTER_SHARE = 0.045
_BAR_SHARE = 0.25
"""A scale bar is the longest round length up to this share of the slice's width."""
_SIDES = {
    Direction.RIGHT: "R",
    Direction.LEFT: "L",
    Direction.ANTERIOR: "Ant",
    Direction.POSTERIOR: "Post",
    Direction.SUPERIOR: "Head",
    Direction.INFERIOR: "Feet",
}
"""Never a letter that could be taken for a mark."""
_BAR_MM = (1, 2, 5, 10, 20, 50, 100, 200)


def draw_marks(
    picture: NDArray[np.uint8], tile: Tile, marks: dict[str, tuple[float, float]], style: str
) -> NDArray[np.uint8]:
    """A ring or an open cross around each point, with its letter beside it inside the slice."""
    canvas, pen = _canvas(picture)
    x0, y0, x1, y1 = tile.rectangle
    longest = max(x1 - x0, y1 - y0)
    radius = max(4.0, _RING_SHARE * longest)
    font = _font(longest)
    wide = radius if style == "ring" else 1.5 * radius
    taken = [(x - wide, y - wide, x + wide, y + wide) for x, y in marks.values()]
    for letter, (x, y) in marks.items():
        for width, colour in ((3, 0), (1, 255)):
            _shape(pen, x, y, radius, style, width, _colour(canvas, colour))
        box = _letter_box(pen, font, letter, (x, y), radius, (x0, y0, x1, y1), taken)
        taken.append(box)
        _write(canvas, pen, font, letter, box)
    return np.asarray(canvas)


def draw_side_letters(
    picture: NDArray[np.uint8], tile: Tile, *, neurological: bool
) -> NDArray[np.uint8]:
    """The patient directions at the four edges of a slice."""
    assert tile.plane is not None
    canvas, pen = _canvas(picture)
    x0, y0, x1, y1 = tile.rectangle
    font = _font(max(x1 - x0, y1 - y0))
    left, top = tile.plane.left_edge, tile.plane.top_edge
    if neurological and tile.plane is not Plane.SAGITTAL:
        left = left.opposite
    for letter, across, down in (
        (_SIDES[left], 0.0, 0.5),
        (_SIDES[left.opposite], 1.0, 0.5),
        (_SIDES[top], 0.5, 0.0),
        (_SIDES[top.opposite], 0.5, 1.0),
    ):
        width, height = _size(pen, font, letter)
        x = x0 + 3 + across * (x1 - x0 - width - 6)
        y = y0 + 3 + down * (y1 - y0 - height - 6)
        _write(canvas, pen, font, letter, (x, y, x + width, y + height))
    return np.asarray(canvas)


def draw_scale_bar(picture: NDArray[np.uint8], tile: Tile) -> NDArray[np.uint8]:
    """A horizontal bar of a round length at the lower left of a slice, with its length in words."""
    canvas, pen = _canvas(picture)
    x0, y0, x1, y1 = tile.rectangle
    mm_per_pixel = float(np.linalg.norm(tile.matrix[:, 0]))
    fitting = [mm for mm in _BAR_MM if mm / mm_per_pixel <= _BAR_SHARE * (x1 - x0)]
    if not fitting:
        return picture
    length = fitting[-1] / mm_per_pixel
    text = f"{fitting[-1]} mm" if fitting[-1] < 10 else f"{fitting[-1] // 10} cm"
    font = _font(max(x1 - x0, y1 - y0))
    width, height = _size(pen, font, text)
    left, bottom = x0 + 6, y1 - 6
    for thick, colour in ((5, 0), (2, 255)):
        halo = 1 if colour == 0 else 0
        pen.line(
            [(left - halo, bottom), (left + length + halo, bottom)],
            fill=_colour(canvas, colour),
            width=thick,
        )
    _write(canvas, pen, font, text, (left, bottom - height - 6, left + width, bottom - 6))
    return np.asarray(canvas)


def _canvas(picture: NDArray[np.uint8]) -> tuple[Any, Any]:
    from PIL import Image, ImageDraw

    canvas = Image.fromarray(np.ascontiguousarray(picture))
    return canvas, ImageDraw.Draw(canvas)


def _font(longest: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(max(11.0, _LETTER_SHARE * longest))


def _colour(canvas: Any, grey: int) -> Any:
    return grey if canvas.mode == "L" else (grey, grey, grey)


def _size(pen: Any, font: Any, text: str) -> tuple[float, float]:
    left, top, right, bottom = pen.textbbox((0, 0), text, font=font, stroke_width=1)
    return right - left, bottom - top


def _write(
    canvas: Any, pen: Any, font: Any, text: str, box: tuple[float, float, float, float]
) -> None:
    left, top, _, _ = pen.textbbox((0, 0), text, font=font, stroke_width=1)
    corner = round(box[0] - left), round(box[1] - top)
    pen.text(
        corner,
        text,
        font=font,
        fill=_colour(canvas, 255),
        stroke_width=1,
        stroke_fill=_colour(canvas, 0),
    )


def _shape(
    pen: Any, x: float, y: float, radius: float, style: str, width: int, colour: Any
) -> None:
    """A ring, or four strokes that end before the point; `width` 3 is the halo of `width` 1."""
    grown = (width - 1) / 2
    if style == "ring":
        outer = radius + grown
        pen.ellipse([x - outer, y - outer, x + outer, y + outer], outline=colour, width=width)
        return
    inner, outer = 0.5 * radius - grown, 1.5 * radius + grown
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        pen.line(
            [(x + dx * inner, y + dy * inner), (x + dx * outer, y + dy * outer)],
            fill=colour,
            width=width,
        )


def _letter_box(
    pen: Any,
    font: Any,
    letter: str,
    point: tuple[float, float],
    radius: float,
    bounds: tuple[float, float, float, float],
    taken: list[tuple[float, float, float, float]],
) -> tuple[float, float, float, float]:
    """A box for the letter beside the point:
    inside the slice, off the other marks where there is room."""
    width, height = _size(pen, font, letter)
    x, y = point
    boxes = []
    for dx, dy, reach in (
        *((dx, dy, 0.75 * radius + 2) for dx, dy in ((1, -1), (-1, -1), (1, 1), (-1, 1))),
        *((dx, dy, 1.5 * radius + 2) for dx, dy in ((1, 0), (-1, 0), (0, -1), (0, 1))),
    ):
        left = x + dx * (reach + 0.5 * width) - 0.5 * width
        top = y + dy * (reach + 0.5 * height) - 0.5 * height
        boxes.append((left, top, left + width, top + height))
    inside = [
        b
        for b in boxes
        if b[0] >= bounds[0] and b[1] >= bounds[1] and b[2] <= bounds[2] and b[3] <= bounds[3]
    ]

    def crowded(box: tuple[float, float, float, float]) -> tuple[float, float]:
        """How much of another mark it covers, then how near it comes to one."""
        covered, near = 0.0, 0.0
        for other in taken:
            across = max(0.0, min(box[2], other[2]) - max(box[0], other[0]))
            covered += across * max(0.0, min(box[3], other[3]) - max(box[1], other[1]))
            dx, dy = (0.5 * (box[a] + box[a + 2] - other[a] - other[a + 2]) for a in (0, 1))
            near += 1.0 / (1.0 + dx * dx + dy * dy)
        return covered, near

    return min(inside or boxes, key=crowded)
