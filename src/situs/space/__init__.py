"""Geometry with no pixels: axes, affines, millimetres, grids, boxes and sides.

World coordinates are RAS+ millimetres, as in nibabel: x grows to the patient's right, y to the
front, z to the head. Index coordinates are voxel indices in the order the file stores them, with
the centre of the first voxel at (0, 0, 0). The two are different types here and meet only in an
`Affine`.
"""

from situs.space.affine import Affine
from situs.space.axes import AXES, Axis, Direction, Side
from situs.space.boxes import FrameBox, IndexBox, WorldBox, covered_area
from situs.space.frame_boxes import FrameBoxes, picture_sides
from situs.space.grid import Grid, PixelGrid
from situs.space.points import IndexPoints, WorldPoints

__all__ = [
    "AXES",
    "Affine",
    "Axis",
    "Direction",
    "FrameBox",
    "FrameBoxes",
    "Grid",
    "IndexBox",
    "IndexPoints",
    "PixelGrid",
    "Side",
    "WorldBox",
    "WorldPoints",
    "covered_area",
    "picture_sides",
]
