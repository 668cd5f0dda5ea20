"""Voxel index to millimetre and back, for any orientation,
including oblique and left-handed ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from situs.errors import SitusError
from situs.space.axes import AXES, Direction
from situs.space.points import IndexPoints, WorldPoints

__all__ = ["Affine"]

_SINGULAR = 1e-5
"""Smallest |determinant| of the unit axis vectors: below it two voxel axes are within ~0.0006°."""

_SPACING_MM = (1e-5, 1e4)
"""Spacings outside this range are not millimetres of a patient."""

_FARTHEST_MM = 1e6
"""A scanner's origin lies within metres;
one a kilometre away is a damaged header, and costs precision."""


class Affine:
    """A checked 4×4 map from stored voxel index to RAS+ millimetres. Immutable.

    Ambiguity this type removes: a bare matrix may be LPS or RAS, index→world or its inverse.
    Readers convert to RAS+ at the border; nothing inside Situs holds an LPS matrix.
    """

    __slots__ = (
        "_directions",
        "_face_areas_mm2",
        "_half_voxel_mm",
        "_inverse",
        "_matrix",
        "_spacing_mm",
    )

    def __init__(self, matrix: ArrayLike, *, where: object = None) -> None:
        values = np.array(matrix, dtype=np.float64)
        if values.shape != (4, 4):
            raise SitusError(
                f"affine has shape {values.shape}, not (4, 4)", where=where, fix="check the header"
            )
        if not np.isfinite(values).all():
            raise SitusError(
                "affine holds NaN or infinity", where=where, fix="repair the header's orientation"
            )
        if not np.array_equal(values[3], [0.0, 0.0, 0.0, 1.0]):
            raise SitusError(
                "last row of the affine is not 0 0 0 1", where=where, fix="repair the header"
            )
        if np.abs(values).max() > _FARTHEST_MM:
            problem = (
                f"affine holds {values.flat[np.abs(values).argmax()]:g}, which is no place in a"
                " scanner"
            )
            raise SitusError(problem, where=where, fix="repair the header's orientation")
        spacing = np.sqrt((values[:3, :3] ** 2).sum(axis=0))
        if not ((spacing > _SPACING_MM[0]) & (spacing < _SPACING_MM[1])).all():
            raise SitusError(
                f"voxel spacing {', '.join(f'{s:g}' for s in spacing)} mm is not that of a scan",
                where=where,
                fix="repair the header's spacing and orientation",
            )
        if abs(np.linalg.det(values[:3, :3] / spacing)) < _SINGULAR:
            raise SitusError(
                "affine is singular: two voxel axes coincide", where=where, fix="repair the header"
            )
        values.flags.writeable = False
        inverse = np.asarray(np.linalg.inv(values), dtype=np.float64)
        inverse.flags.writeable = False
        self._matrix = values
        self._inverse = inverse
        i, j, k = spacing
        self._spacing_mm = float(i), float(j), float(k)
        self._directions: tuple[Direction, Direction, Direction] | None = None
        self._face_areas_mm2: tuple[float, float, float] | None = None
        self._half_voxel_mm: NDArray[np.float64] | None = None

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The 4×4 matrix, read-only."""
        return self._matrix

    @property
    def inverse(self) -> NDArray[np.float64]:
        """The 4×4 matrix from world to index, read-only."""
        return self._inverse

    @property
    def linear(self) -> NDArray[np.float64]:
        """The 3×3 part: column j is the world step of one voxel along stored axis j."""
        return self._matrix[:3, :3]

    @property
    def spacing_mm(self) -> tuple[float, float, float]:
        """Length of one voxel step along each stored axis."""
        return self._spacing_mm

    @property
    def voxel_volume_mm3(self) -> float:
        """Volume of one voxel; positive for left-handed affines too."""
        return abs(float(np.linalg.det(self.linear)))

    @property
    def face_areas_mm2(self) -> tuple[float, float, float]:
        """Area of the voxel face across each stored axis."""
        if self._face_areas_mm2 is None:
            a, b, c = self.linear.T
            i, j, k = (float(np.linalg.norm(np.cross(*pair))) for pair in ((b, c), (a, c), (a, b)))
            self._face_areas_mm2 = i, j, k
        return self._face_areas_mm2

    @property
    def half_voxel_mm(self) -> NDArray[np.float64]:
        """Half the world extent of one voxel cube along x,
        y, z (more than half a spacing if oblique); read-only."""
        if self._half_voxel_mm is None:
            half: NDArray[np.float64] = 0.5 * np.abs(self.linear).sum(axis=1)
            half.flags.writeable = False
            self._half_voxel_mm = half
        return self._half_voxel_mm

    @property
    def directions(self) -> tuple[Direction, Direction, Direction]:
        """The patient direction that each stored axis runs towards, nearest first;
        each axis once."""
        if self._directions is None:
            self._directions = self._find_directions()
        return self._directions

    def _find_directions(self) -> tuple[Direction, Direction, Direction]:
        columns = self.linear / np.sqrt((self.linear**2).sum(axis=0))
        result: dict[int, Direction] = {}
        strength = np.abs(columns)
        for _ in range(3):
            world, stored = divmod(int(np.argmax(strength)), 3)
            result[stored] = AXES[world].towards(columns[world, stored])
            strength[world, :] = -1.0
            strength[:, stored] = -1.0
        return result[0], result[1], result[2]

    @property
    def codes(self) -> str:
        """Orientation as nibabel writes it, e.g. `RAS`, `LPS`, `PIR`."""
        return "".join(direction.value[0].upper() for direction in self.directions)

    @property
    def obliquity_degrees(self) -> float:
        """Largest angle between a stored axis and the patient axis it is nearest to."""
        columns = self.linear / np.sqrt((self.linear**2).sum(axis=0))
        cosines = [abs(columns[d.axis.world_index, j]) for j, d in enumerate(self.directions)]
        return float(np.degrees(np.arccos(min(1.0, min(cosines)))))

    @property
    def is_sheared(self) -> bool:
        """Whether the voxel axes are not at right angles (gantry tilt saved as shear)."""
        columns = self.linear / np.sqrt((self.linear**2).sum(axis=0))
        return bool(np.abs(columns.T @ columns - np.eye(3)).max() > 1e-3)

    def to_world(self, points: IndexPoints) -> WorldPoints:
        """Voxel indices → millimetres."""
        return WorldPoints(
            np.asarray(points, dtype=np.float64) @ self.linear.T + self._matrix[:3, 3]
        )

    def to_index(self, points: WorldPoints) -> IndexPoints:
        """Millimetres → (fractional) voxel indices."""
        return IndexPoints(
            np.asarray(points, dtype=np.float64) @ self._inverse[:3, :3].T + self._inverse[:3, 3]
        )

    def reordered(
        self, order: tuple[int, int, int], flips: tuple[bool, bool, bool], shape: tuple[int, ...]
    ) -> Affine:
        """The affine of `array.transpose(order)` flipped along the new axes where `flips` says so.

        `shape` is that of the transposed array.
        """
        matrix = self._matrix.copy()
        matrix[:3, :3] = self.linear[:, order]
        for axis, flip in enumerate(flips):
            if flip:
                matrix[:3, 3] += matrix[:3, axis] * (shape[axis] - 1)
                matrix[:3, axis] *= -1.0
        return Affine(matrix)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Affine) and bool(np.array_equal(self._matrix, other._matrix))

    def __hash__(self) -> int:
        return hash(self._matrix.tobytes())

    def __repr__(self) -> str:
        spacing = " × ".join(f"{s:g}" for s in self.spacing_mm)
        return f"Affine({self.codes}, {spacing} mm)"
