"""Where an item's marks are drawn."""

from __future__ import annotations

import numpy as np

from situs.items import Item
from situs.profiles.geometry.layout import Layout, mark_points

__all__ = ["Marks", "marks_on"]

Marks = dict[int, dict[str, tuple[float, float]]]
"""Of one picture: place of a tile → letter → x, y."""


def marks_on(layout: Layout, item: Item) -> list[Marks]:
    """For each picture the marks on its tiles: each mark on the nearest slice of the stack, or, in
    three views, on every slice through it."""
    marks: list[Marks] = [{} for _ in layout.frames]
    tiles = [
        (n, tile_number, tile)
        for n, frame in enumerate(layout.frames)
        for tile_number, tile in enumerate(frame.tiles)
    ]
    several_planes = len({tile.plane for _, _, tile in tiles}) > 1
    points = mark_points(item, layout.lattice)
    if not points:
        return marks
    # A stack has hundreds of slices, and a mark lies on one or two of them.
    together = np.stack(list(points.values()))
    off = np.abs([tile.from_source(together)[:, 2] for _, _, tile in tiles])
    for (letter, point), off_mm in zip(points.items(), off.T, strict=True):
        nearest = float(off_mm.min())
        for (n, tile_number, tile), distance in zip(tiles, off_mm, strict=True):
            reach = (
                0.5 * float(layout.lattice.spacing[tile.screen.through]) if several_planes else 0.0
            )
            if distance > max(nearest, reach) + 1e-6:
                continue
            x, y, _ = tile.from_source(point[None])[0]
            x0, y0, x1, y1 = tile.rectangle
            if x0 - 0.5 <= x <= x1 - 0.5 and y0 - 0.5 <= y <= y1 - 0.5:
                marks[n].setdefault(tile_number, {})[letter] = (float(x), float(y))
    return marks
