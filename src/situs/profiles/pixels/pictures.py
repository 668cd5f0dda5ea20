"""Slices as pictures, each with its map from pixel to millimetre and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.profiles.pixels.window import Window
from situs.profiles.planes import Plane
from situs.space import Axis, Grid, WorldPoints

__all__ = ["PLANES", "PatientVolume", "Picture", "Plane"]

PLANES = (Plane.AXIAL, Plane.CORONAL, Plane.SAGITTAL)


class PatientVolume:
    """A volume as a view whose axes run to the patient's right, front and head; no voxel is resampled."""

    def __init__(self, array: NDArray[Any], grid: Grid, modality: str) -> None:
        order, flips = grid.to_patient_order()
        self.array = array.transpose(order)[
            tuple(slice(None, None, -1 if flip else 1) for flip in flips)
        ]
        self.grid = grid.in_patient_order()
        self.modality = modality

    def slices(self, plane: Plane) -> int:
        """How many slices the plane has."""
        return int(self.array.shape[plane.through.world_index])

    def nearest_slice(self, plane: Plane, world: NDArray[np.float64]) -> int:
        """The slice nearest to a point."""
        index = self.grid.affine.to_index(WorldPoints(world[None]))[0, plane.through.world_index]
        return int(np.clip(np.rint(index), 0, self.slices(plane) - 1))

    def picture(
        self, plane: Plane, index: int, window: Window, size_px: int | None = None
    ) -> Picture:
        """One slice. Without `size_px` its pixels are the voxels; with it, both axes have the same scale."""
        grey = window.apply(_lay_out(_slice(self.array, plane, index), plane))
        pixel_to_world = self._pixel_to_world(plane, index)
        if size_px is None:
            return Picture(grey, pixel_to_world, plane, index)
        return _scaled(grey, pixel_to_world, plane, index, size_px)

    def mask_picture(self, mask: NDArray[np.bool_], plane: Plane, index: int) -> NDArray[np.bool_]:
        """The same slice of a mask stored like the volume was (already in patient order)."""
        return _lay_out(_slice(mask, plane, index), plane)

    def _pixel_to_world(self, plane: Plane, index: int) -> NDArray[np.float64]:
        """3×3 matrix: (x, y, 1) of a pixel centre → mm."""
        columns, rows = _screen_axes(plane)
        to_index = np.zeros((3, 3))
        for screen, axis in enumerate((columns, rows)):
            to_index[axis.world_index, screen] = -1.0
            to_index[axis.world_index, 2] = self.array.shape[axis.world_index] - 1
        to_index[plane.through.world_index, 2] = index
        matrix = self.grid.affine.linear @ to_index
        matrix[:, 2] += self.grid.affine.matrix[:3, 3]
        return matrix


class Picture:
    """Grey pixels of one slice, and where each lies in the patient."""

    def __init__(
        self, grey: NDArray[np.uint8], pixel_to_world: NDArray[np.float64], plane: Plane, index: int
    ) -> None:
        self.grey = grey
        self.plane = plane
        self.index = index
        self._to_world = pixel_to_world

    @property
    def mm_per_pixel(self) -> tuple[float, float]:
        """Millimetres from one pixel to the next, along x and y."""
        x, y = np.linalg.norm(self._to_world[:, :2], axis=0)
        return float(x), float(y)

    def to_world_origin(self) -> NDArray[np.float64]:
        """Where the first pixel lies, in mm."""
        return self._to_world[:, 2]

    def to_world(self, pixels: NDArray[np.float64]) -> WorldPoints:
        """(n, 2) pixel centres, x to the right and y downwards → mm."""
        homogeneous = np.column_stack([pixels, np.ones(len(pixels))])
        return WorldPoints(homogeneous @ self._to_world.T)

    def to_pixel(self, points: WorldPoints) -> NDArray[np.float64]:
        """mm → (n, 3): x, y on this picture and the distance in mm in front of or behind it."""
        across = np.cross(self._to_world[:, 0], self._to_world[:, 1])
        basis = np.column_stack([self._to_world[:, :2], across / np.linalg.norm(across)])
        result: NDArray[np.float64] = np.linalg.solve(
            basis, (np.asarray(points) - self._to_world[:, 2]).T
        ).T
        return result


def _slice(array: NDArray[Any], plane: Plane, index: int) -> NDArray[Any]:
    """A view; `np.take` would copy a volume that is not stored in C order."""
    return np.asarray(array[(slice(None),) * plane.through.world_index + (index,)])


def _screen_axes(plane: Plane) -> tuple[Axis, Axis]:
    """The patient axes that run along the picture's x and y."""
    return plane.left_edge.axis, plane.top_edge.axis


def _lay_out(values: NDArray[Any], plane: Plane) -> NDArray[Any]:
    """A slice of patient order as rows of a picture: every shown axis falls from the left and top edge."""
    columns, rows = _screen_axes(plane)
    upright = values if columns.world_index > rows.world_index else values.T
    return upright[::-1, ::-1]


def _scaled(
    grey: NDArray[np.uint8], to_world: NDArray[np.float64], plane: Plane, index: int, size_px: int
) -> Picture:
    from PIL import Image

    height, width = grey.shape
    step_x, step_y = np.linalg.norm(to_world[:, :2], axis=0)
    scale = size_px / max(width * step_x, height * step_y)
    new = max(1, round(width * step_x * scale)), max(1, round(height * step_y * scale))
    picture = np.asarray(
        Image.fromarray(np.ascontiguousarray(grey)).resize(new, Image.Resampling.BILINEAR)
    )
    ratio_x, ratio_y = width / new[0], height / new[1]
    resize = np.array(
        [[ratio_x, 0.0, 0.5 * ratio_x - 0.5], [0.0, ratio_y, 0.5 * ratio_y - 0.5], [0.0, 0.0, 1.0]]
    )
    return Picture(picture, to_world @ resize, plane, index)
