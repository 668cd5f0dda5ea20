"""Where an item's marks are drawn."""

from __future__ import annotations

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
    for letter, point in mark_points(item, layout.lattice).items():
        placed = [
            (n, tile_number, tile, tile.from_source(point[None])[0])
            for n, tile_number, tile in tiles
        ]
        nearest = min(abs(float(at[2])) for _, _, _, at in placed)
        for n, tile_number, tile, at in placed:
            reach = (
                0.5 * float(layout.lattice.spacing[tile.screen.through]) if several_planes else 0.0
            )
            x0, y0, x1, y1 = tile.rectangle
            inside = x0 - 0.5 <= at[0] <= x1 - 0.5 and y0 - 0.5 <= at[1] <= y1 - 0.5
            if inside and abs(float(at[2])) <= max(nearest, reach) + 1e-6:
                marks[n].setdefault(tile_number, {})[letter] = (float(at[0]), float(at[1]))
    return marks
