"""The lattice a profile shows: along the acquired axes, resampled, cropped or padded.

Everything here is separable: a shown voxel `w` of an axis lies at `start + step * w` acquired
voxels. So any picture maps to millimetres by one matrix, also on oblique and sheared grids.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError
from situs.profiles.schema import Profile
from situs.space import Grid, PixelGrid

__all__ = ["MOST_VOXELS", "AxisMap", "Lattice", "array_order", "lattice_of"]

MOST_VOXELS = 4096
"""Along one axis of what is shown."""


class AxisMap:
    """One axis: how many shown voxels, and where they lie on the acquired ones."""

    __slots__ = ("acquired", "count", "start", "step")

    def __init__(
        self, acquired: int | None, count: int | None, start: float = 0.0, step: float = 1.0
    ) -> None:
        self.acquired = acquired
        """Voxels of the file; None if not known."""
        self.count = count
        self.start = start
        self.step = step

    @property
    def is_identity(self) -> bool:
        """Shown voxels are the acquired ones."""
        return self.count == self.acquired and self.start == 0.0 and self.step == 1.0

    def known(self) -> int:
        """How many voxels are shown, refused where the file's size is not known."""
        if self.count is None:
            raise SitusError(
                "the number or size of its frames is not known",
                fix="build with --images, or use --profile sgmri-frames",
            )
        return self.count

    def resampled(self, count: int, step: float) -> AxisMap:
        """So many voxels, each `step` of the old ones, about the same centre."""
        start = 0.5 * (self.known() - 1) - 0.5 * step * (count - 1)
        return AxisMap(self.acquired, count, self.start + self.step * start, self.step * step)

    def cropped(self, count: int) -> AxisMap:
        """The middle `count` voxels, or as many with padding;
        of an odd rest, the lower end loses the smaller half."""
        first = (self.known() - count) // 2
        return AxisMap(self.acquired, count, self.start + self.step * first, self.step)

    def acquired_at(self, index: float) -> float:
        """Shown index → acquired index."""
        return self.start + self.step * index

    def shown_at(self, acquired: float) -> float:
        """Acquired index → shown index."""
        return (acquired - self.start) / self.step

    def nearest_acquired(self, index: int) -> int:
        """The acquired voxel nearest to a shown one; outside the volume, its end."""
        nearest = int(np.floor(self.acquired_at(index) + 0.5))
        return max(0, nearest if self.acquired is None else min(nearest, self.acquired - 1))


class Lattice:
    """Three axes in patient order (or x, y and frame as stored),
    and where their acquired voxels lie."""

    def __init__(
        self,
        axes: tuple[AxisMap, AxisMap, AxisMap],
        to_source: NDArray[np.float64],
        *,
        has_mm: bool,
    ) -> None:
        self.axes = axes
        self.to_source = to_source
        """4×4: acquired index in this order → mm, or (frame, x, y) where there are none."""
        self.has_mm = has_mm
        steps = np.array([axis.step for axis in axes])
        self.spacing: NDArray[np.float64] = np.linalg.norm(to_source[:3, :3], axis=0) * steps
        """From one shown voxel to the next along each axis:
        mm, or acquired pixels where there are none."""

    @cached_property
    def _from_source(self) -> NDArray[np.float64]:
        return np.asarray(np.linalg.inv(self.to_source), dtype=np.float64)

    @property
    def affine(self) -> NDArray[np.float64]:
        """4×4: shown index → mm (or frame, x, y)."""
        to_acquired = np.diag([*(axis.step for axis in self.axes), 1.0])
        to_acquired[:3, 3] = [axis.start for axis in self.axes]
        matrix: NDArray[np.float64] = self.to_source @ to_acquired
        return matrix

    def acquired_of(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """mm (or frame, x, y) → acquired index in this order."""
        inverse = self._from_source
        result: NDArray[np.float64] = np.asarray(points) @ inverse[:3, :3].T + inverse[:3, 3]
        return result


_PIXELS = np.array(
    [[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
)
"""(x, y, frame) → (frame, x, y)."""


def lattice_of(profile: Profile, grid: Grid | PixelGrid) -> Lattice:
    """The lattice a profile shows of a series."""
    if isinstance(grid, Grid):
        ordered = grid.in_patient_order()
        sizes: tuple[int | None, ...] = ordered.shape
        to_source, has_mm = np.array(ordered.affine.matrix), True
    else:
        sizes, to_source, has_mm = (grid.width, grid.height, grid.frames or None), _PIXELS, False
        _refuse_mm(profile)
    lengths = np.linalg.norm(to_source[:3, :3], axis=0)
    x, y, z = (_axis(profile, axis, size, float(lengths[axis])) for axis, size in enumerate(sizes))
    return Lattice((x, y, z), to_source, has_mm=has_mm)


def _axis(profile: Profile, axis: int, size: int | None, mm: float) -> AxisMap:
    made = AxisMap(size, size)
    if profile.resample.shape is not None and (count := profile.resample.shape[axis]):
        made = made.resampled(count, made.known() / count)
    if profile.resample.spacing_mm is not None:
        wanted = profile.resample.spacing_mm
        if new := wanted if isinstance(wanted, float) else wanted[axis]:
            made = made.resampled(max(1, round(made.known() * mm / new)), new / mm)
    if profile.crop.shape is not None and (count := profile.crop.shape[axis]):
        made = made.cropped(count)
    if profile.crop.size_mm is not None and profile.crop.size_mm[axis]:
        made = made.cropped(max(1, round(profile.crop.size_mm[axis] / (mm * made.step))))
    if made.count is not None and made.count > max(MOST_VOXELS, size or 0):
        problem = f"an axis would have {made.count:,} voxels, more than {MOST_VOXELS:,}"
        raise SitusError(
            problem,
            where=f"profile {profile.name}",
            fix="resample to larger voxels, or crop to less",
        )
    return made


def _refuse_mm(profile: Profile) -> None:
    """A series without millimetres cannot be shown by a profile that speaks of them."""
    wants = {
        "resample.spacing_mm": profile.resample.spacing_mm is not None,
        "crop.size_mm": profile.crop.size_mm is not None,
        "view.every_mm": profile.view.every_mm is not None,
        'view.kind = "three_views"': profile.view.kind == "three_views",
    }
    for field, wanted in wants.items():
        if wanted:
            problem = f"{field} needs millimetres, and the series has none"
            raise SitusError(
                problem, where=f"profile {profile.name}", fix="take a profile of stored frames"
            )


def array_order(axes: str) -> tuple[tuple[int, int, int], tuple[bool, bool, bool]]:
    """Which patient axis each array axis is, and whether it runs the other way."""
    i, j, k = ("RAS".find(letter) if letter in "RAS" else "LPI".find(letter) for letter in axes)
    a, b, c = (letter in "LPI" for letter in axes)
    return (i, j, k), (a, b, c)
