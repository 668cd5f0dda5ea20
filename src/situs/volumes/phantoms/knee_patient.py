"""A phantom knee as voxels: an image like a sagittal DESS, and exact masks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError, did_you_mean
from situs.space import Affine, Grid
from situs.volumes.phantoms.acquisition import ORIENTATIONS
from situs.volumes.phantoms.knee import KneeSide, KneeTruth, plan_knee
from situs.volumes.phantoms.raster import inside_window, window_of
from situs.volumes.phantoms.rotations import about_axis, turned
from situs.volumes.phantoms.shapes import BoolArray, Cylinder, FloatArray, Shape

__all__ = ["KNEE_LABELS", "PhantomKnee", "make_knee"]

KNEE_LABELS = {
    "femur": 1,
    "tibia": 2,
    "patella": 3,
    "femoral_cartilage": 4,
    "tibial_cartilage": 5,
    "patellar_cartilage": 6,
    "medial_meniscus": 7,
    "lateral_meniscus": 8,
    "joint_fluid": 9,
}
"""Structure → value in the first layer; the second layer holds `bone_marrow_lesion` as 1."""

_GREY = {"air": 4, "muscle": 150, "femur": 70, "tibia": 70, "patella": 75, "femoral_cartilage": 235}
_GREY |= {
    "tibial_cartilage": 230,
    "patellar_cartilage": 240,
    "medial_meniscus": 35,
    "lateral_meniscus": 35,
}
_GREY |= {"joint_fluid": 390, "lesion": 185}
_LIMB = Cylinder((0.0, 8.0, 10.0), (54.0, 60.0), 68.0)
_MARGIN_MM = 4.0


@dataclass(frozen=True, eq=False)
class PhantomKnee:
    """A synthetic knee. Arrays are read-only and in stored order."""

    patient_id: str
    side: KneeSide
    grid: Grid
    image: NDArray[np.int16]
    layers: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    """Tissues (`KNEE_LABELS`), and lesions of the bone marrow, which lie within the bones."""
    truth: KneeTruth

    def mask(self, name: str) -> BoolArray:
        """The voxels of one structure."""
        if name == "bone_marrow_lesion":
            lesions: BoolArray = self.layers[1] == 1
            return lesions
        if name not in KNEE_LABELS:
            raise SitusError(
                f"no structure {name!r} in a knee", fix=did_you_mean(name, KNEE_LABELS)
            )
        voxels: BoolArray = self.layers[0] == KNEE_LABELS[name]
        return voxels


def make_knee(
    seed: int,
    index: int,
    *,
    side: KneeSide | None = None,
    spacing_mm: tuple[float, float, float] = (1.0, 0.8, 0.8),
    oblique: bool = True,
    reorder: bool = True,
    noise: bool = True,
    any_size: bool = False,
) -> PhantomKnee:
    """Knee number `index` of the population `seed`; the same arguments always give the same bytes.

    `spacing_mm` is that of the axes nearest to right, front and head (slices are sagittal). Only
    `any_size` changes the anatomy (see `plan_knee`); `side` mirrors it.
    """
    if seed < 0 or index < 0:
        raise SitusError(
            f"seed {seed} or index {index} is negative", fix="give whole numbers from 0"
        )
    anatomy = plan_knee(_stream(seed, index, 0), any_size=any_size)
    rng = _stream(seed, index, 1)
    drawn: KneeSide = "left" if rng.random() < 0.5 else "right"
    chosen = side or drawn
    pose, shift = turned(*rng.uniform(-8.0, 8.0, 3)), rng.uniform(-60.0, 60.0, 3)
    mirror = np.diag([1.0 if chosen == "right" else -1.0, 1.0, 1.0])
    # The mirror stands last, so that a left knee is the exact reflection of the right one in the
    # plane x = shift.
    turn = mirror @ pose
    solids = {
        name: [s.transformed(turn, shift) for s in parts]
        for name, parts in anatomy.structures.items()
    }
    lesions = [s.transformed(turn, shift) for s in anatomy.lesions]
    limb = _LIMB.transformed(turn, shift)
    grid = _scan(
        _stream(seed, index, 2), limb, spacing_mm, mirror, oblique=oblique, reorder=reorder
    )
    layers = _label(grid, solids, lesions)
    image = _paint(grid, layers, limb, _stream(seed, index, 3), noise=noise)
    for array in (image, *layers):
        array.flags.writeable = False
    return PhantomKnee(f"knee-{seed}-{index:04d}", chosen, grid, image, layers, anatomy.truth)


def _stream(seed: int, index: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index, purpose, 7)))


def _scan(
    rng: np.random.Generator,
    limb: Cylinder,
    spacing_mm: tuple[float, float, float],
    mirror: FloatArray,
    *,
    oblique: bool,
    reorder: bool,
) -> Grid:
    """A grid over the limb; the stored axes in any order and direction."""
    tilt, degrees = rng.normal(size=3), rng.uniform(0.0, 10.0)
    order, flips = ORIENTATIONS[int(rng.integers(48))]
    axes = np.eye(3)
    if oblique:
        axes = mirror @ about_axis(tilt / np.linalg.norm(tilt), float(degrees)) @ mirror
    if not reorder:
        order, flips = (0, 1, 2), (False, False, False)
    spacing = np.array(spacing_mm)
    hi, lo = limb.support(axes.T) + _MARGIN_MM, -limb.support(-axes.T) - _MARGIN_MM
    size = np.ceil((hi - lo) / spacing).astype(int)
    matrix = np.eye(4)
    matrix[:3, :3] = axes * spacing
    matrix[:3, 3] = axes @ ((lo + hi) / 2 - (size - 1) / 2 * spacing)
    a, b, c = order
    shape = (int(size[a]), int(size[b]), int(size[c]))
    stored = Affine(matrix).reordered((a, b, c), (flips[0], flips[1], flips[2]), shape)
    return Grid(shape, Affine(stored.matrix.astype(np.float32)))


def _label(
    grid: Grid, solids: dict[str, list[Shape]], lesions: list[Shape]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    tissue, marrow = np.zeros(grid.shape, dtype=np.uint8), np.zeros(grid.shape, dtype=np.uint8)
    for name, parts in solids.items():
        for part in parts:
            _fill(tissue, part, grid, KNEE_LABELS[name])
    for lesion in lesions:
        _fill(marrow, lesion, grid, 1)
    return tissue, marrow


def _fill(array: NDArray[np.uint8], shape: Shape, grid: Grid, value: int) -> None:
    window = window_of(shape, grid)
    if window is not None:
        array[window][inside_window(shape, grid, window)] = value


def _paint(
    grid: Grid,
    layers: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    limb: Cylinder,
    rng: np.random.Generator,
    *,
    noise: bool,
) -> NDArray[np.int16]:
    """Bright fluid and cartilage, dark menisci and bone, grey muscle, Rician noise."""
    from scipy.ndimage import gaussian_filter

    body = np.zeros(grid.shape, dtype=np.uint8)
    _fill(body, limb, grid, 1)
    grey = np.array([_GREY["muscle"], *(_GREY[name] for name in KNEE_LABELS)], dtype=np.float32)
    image = np.where(
        layers[0] > 0, grey[layers[0]], np.where(body > 0, _GREY["muscle"], _GREY["air"])
    )
    image = np.where(layers[1] > 0, np.float32(_GREY["lesion"]), image).astype(np.float32)
    image = gaussian_filter(image, 0.5, truncate=2.0)
    if noise:
        real = image + 9.0 * rng.standard_normal(image.shape, dtype=np.float32)
        image = np.hypot(real, 9.0 * rng.standard_normal(image.shape, dtype=np.float32))
    stored: NDArray[np.int16] = np.rint(image).clip(1, 32000).astype(np.int16)
    return stored
