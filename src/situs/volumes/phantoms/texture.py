"""Painting the image: tissues from the shapes, then texture, softening and scanner noise.

The masks never see any of this. Tissue that is no structure (fat, wall, lung bases, ribs, bowel) is
painted first and the structures over it, so an unlabelled thing never covers a labelled one.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from situs.volumes.phantoms.plan import PatientPlan
from situs.volumes.phantoms.raster import Window, along_window, inside_window, window_of
from situs.volumes.phantoms.rotations import turned
from situs.volumes.phantoms.shapes import (
    Capsule,
    Cuboid,
    Ellipsoid,
    FloatArray,
    Shape,
    rotation_rows,
    vector,
)
from situs.volumes.phantoms.tissues import TISSUES, brightness, lively

__all__ = ["paint"]

_Floats: TypeAlias = NDArray[np.floating[Any]]
_CODE = {name: code for code, name in enumerate(TISSUES)}


def paint(plan: PatientPlan, rng: np.random.Generator, *, noise: bool) -> NDArray[np.int16]:
    """The image of a plan, int16 in stored order."""
    from scipy.ndimage import gaussian_filter

    tissue = _Canvas(plan, rng).tissues()
    modality = plan.truth.modality
    values = brightness(modality, plan.truth, rng)
    image = values[tissue] + lively(modality)[tissue] * _smooth_field(plan, rng, 7.0)
    image = gaussian_filter(image, 0.55, truncate=2.0)
    if modality == "mr":
        image *= 1.0 + 0.16 * _smooth_field(plan, rng, 150.0)
    sigma = float(rng.uniform(10.0, 15.0)) if modality == "ct" else float(rng.uniform(14.0, 24.0))
    if noise:
        image = _with_noise(image, sigma, modality == "mr", rng)
    lowest = -1024 if modality == "ct" else 1
    return np.rint(image).clip(lowest, 32000).astype(np.int16)


def _with_noise(
    image: NDArray[np.float32], sigma: float, rician: bool, rng: np.random.Generator
) -> NDArray[np.float32]:
    """CT: slightly blurred Gaussian noise.

    MR: Rician, the magnitude of a complex signal with noise.
    """
    from scipy.ndimage import gaussian_filter

    if rician:
        real = image + sigma * rng.standard_normal(image.shape, dtype=np.float32)
        magnitude: NDArray[np.float32] = np.hypot(
            real, sigma * rng.standard_normal(image.shape, dtype=np.float32)
        )
        return magnitude
    grain = gaussian_filter(rng.standard_normal(image.shape, dtype=np.float32), 0.5, truncate=2.0)
    noisy: NDArray[np.float32] = image + grain * np.float32(sigma / grain.std())
    return noisy


def _smooth_field(
    plan: PatientPlan, rng: np.random.Generator, length_mm: float
) -> NDArray[np.float32]:
    """A random field of about unit deviation that varies over `length_mm`:
    coarse noise, linearly interpolated."""
    from scipy.ndimage import zoom

    size = np.array(plan.grid.shape)
    knots = np.maximum(
        np.ceil(size * np.array(plan.grid.affine.spacing_mm) / length_mm).astype(int) + 1, 2
    )
    coarse = rng.standard_normal(tuple(int(n) for n in knots), dtype=np.float32)
    field: NDArray[np.float32] = zoom(coarse, size / knots, order=1, grid_mode=False)
    return field * np.float32(1.4)


class _Canvas:
    """A map of tissue codes in stored order, painted from the back to the front."""

    def __init__(self, plan: PatientPlan, rng: np.random.Generator) -> None:
        self.plan, self.rng = plan, rng
        rotation = np.array(plan.truth.pose.rotation)
        self._linear = rotation.T @ plan.grid.affine.linear
        self._offset = rotation.T @ (
            plan.grid.affine.matrix[:3, 3] - np.array(plan.truth.pose.translation_mm)
        )
        self.map = np.zeros(plan.grid.shape, dtype=np.uint8)

    def tissues(self) -> NDArray[np.uint8]:
        """The finished map."""
        self._trunk()
        self._vessels()
        self._bowel()
        self._discs()
        for structure in self.plan.truth.structures:
            self._structure(structure.name, structure.shape)
        for n, lesion in enumerate(self.plan.truth.lesions, start=1):
            self._fill(lesion.shape, f"lesion_{n}")
        return self.map

    def _patient_mm(self, row: int, window: Window | None = None) -> FloatArray:
        """The patient's own x, y or z (mm) of each voxel."""
        i, j, k = self.plan.grid.shape
        part = window or (slice(0, i), slice(0, j), slice(0, k))
        return along_window(self._linear[row], float(self._offset[row]), part)

    def _fill(self, shape: Shape, tissue: str) -> None:
        window = window_of(shape, self.plan.grid)
        if window is not None:
            self.map[window][inside_window(shape, self.plan.grid, window)] = _CODE[tissue]

    def _fill_posed(self, shape: Shape, tissue: str) -> None:
        pose = self.plan.truth.pose
        self._fill(shape.transformed(pose.rotation, pose.translation_mm), tissue)

    def _trunk(self) -> None:
        """Skin to cavity: fat, muscle wall with ribs,
        back muscles, visceral fat, and the lung bases above it."""
        anatomy, scale = self.plan.anatomy, self.plan.anatomy.scale
        x, y, z = (self._patient_mm(row).astype(np.float32) for row in range(3))
        (a, b), (ca, cb) = anatomy.body.semi_axes_mm, anatomy.cavity.semi_axes_mm
        depth = y - np.float32(anatomy.body.centre_mm[1])
        wall_a, wall_b = ca + 10.0, cb + 9.0
        inner = np.sqrt((x / ca) ** 2 + (depth / cb) ** 2)
        in_wall = (x / wall_a) ** 2 + (depth / wall_b) ** 2 <= 1.0
        back = ((np.abs(x) - 30 * scale) / (27 * scale)) ** 2 + (
            (y + 42 * scale) / (19 * scale)
        ) ** 2 <= 1.0
        self.map[(x / a) ** 2 + (depth / b) ** 2 <= 1.0] = _CODE["fat"]
        self.map[in_wall] = _CODE["muscle"]
        in_cavity = inner <= 1.0
        self.map[in_cavity] = _CODE["visceral_fat"]
        top = max(
            shape.box_mm[1][2]
            for name, shape in anatomy.organs.items()
            if name in ("liver", "spleen")
        )
        dome = np.float32(top + 6.0) - np.float32(95.0) * inner**2
        lung = in_cavity & (z > dome) & (np.abs(x) + 0.6 * np.abs(depth) > 30.0)
        self.map[lung & (y > -30 * scale)] = _CODE["lung"]
        self._ribs(in_wall & ~in_cavity, x, depth, z)
        self.map[back] = _CODE["muscle"]
        self.map[x**2 + (y + 26 * scale) ** 2 <= (9.0 * scale) ** 2] = _CODE["canal"]

    def _ribs(self, wall: NDArray[np.bool_], x: _Floats, depth: _Floats, z: _Floats) -> None:
        """Oblique bars in the upper wall,
        sloping down to the front, none near the front midline."""
        where = np.nonzero(wall)
        rx, ry, rz = x[where], depth[where], z[where]
        slant = rz + 0.55 * ry
        bar = (np.mod(slant, 31.0) < 9.0) & (slant > -35.0) & (np.abs(rx) > 55.0)
        self.map[tuple(axis[bar] for axis in where)] = _CODE["rib"]

    def _bowel(self) -> None:
        """Loops with a wall, fluid, and gas that rises to the front; colon along both flanks."""
        rng, (a, b) = self.rng, self.plan.anatomy.cavity.semi_axes_mm
        middle = self.plan.anatomy.cavity.centre_mm[1]
        colon = [
            (side * (a - 30.0), middle - 22.0, z)
            for side in (-1, 1)
            for z in np.arange(-150.0, -45.0, 17.0)
        ]
        share = rng.uniform((-0.66, -0.1, -170.0), (0.66, 0.74, 5.0), (120, 3))
        small = share * (a, b, 1.0) + (0.0, middle, 0.0)
        for loop_centre in (*colon, *small):
            at = np.array(loop_centre) + rng.normal(size=3) * 3.0
            outer = rng.uniform(11.0, 18.0) * rng.uniform(0.8, 1.5, 3)
            turn = rotation_rows(turned(*rng.uniform(-40.0, 40.0, 3)))
            gas = rng.random() < 0.28
            if (at[0] / (a - 8)) ** 2 + ((at[1] - middle) / (b - 8)) ** 2 > 0.72:
                outer *= 0.8
            self._fill_posed(Ellipsoid(vector(at), vector(outer), turn), "bowel_wall")
            lumen = Ellipsoid(vector(at), vector(outer - 2.6), turn)
            self._fill_posed(lumen, "bowel_content")
            if gas:
                self._gas(lumen, at[1] + rng.uniform(-0.4, 0.5) * float(outer[1]))

    def _vessels(self) -> None:
        """Small branches in the fat, in any direction."""
        a, b = self.plan.anatomy.cavity.semi_axes_mm
        middle = np.array([0.0, self.plan.anatomy.cavity.centre_mm[1], 0.0])
        for _ in range(45):
            start = self.rng.uniform((-0.6, -0.6, -150.0), (0.6, 0.6, 60.0)) * (a, b, 1.0) + middle
            end = start + self.rng.normal(size=3) * 16.0
            self._fill_posed(
                Capsule(vector(start), vector(end), float(self.rng.uniform(1.4, 2.6))), "cava"
            )

    def _gas(self, lumen: Ellipsoid, level_mm: float) -> None:
        """Gas above a fluid level (own y; the patient lies on the back)."""
        pose = self.plan.truth.pose
        shape = lumen.transformed(pose.rotation, pose.translation_mm)
        window = window_of(shape, self.plan.grid)
        if window is not None:
            inside = inside_window(shape, self.plan.grid, window) & (
                self._patient_mm(1, window) > level_mm
            )
            self.map[window][inside] = _CODE["gas"]

    def _discs(self) -> None:
        """Discs: each vertebra's block, longer and a little narrower,
        below the vertebrae themselves."""
        for name, shape in self.plan.anatomy.organs.items():
            if isinstance(shape, Cuboid) and name.startswith("vertebrae"):
                half = np.array(shape.half_edges_mm) * (0.94, 0.94, 1.0) + (0.0, 0.0, 3.2)
                self._fill_posed(Cuboid(shape.centre_mm, vector(half), shape.rotation), "disc")

    def _structure(self, name: str, shape: Shape) -> None:
        if isinstance(shape, Cuboid):
            self._fill(shape, "cortex")
            self._fill(
                Cuboid(
                    shape.centre_mm, vector(np.array(shape.half_edges_mm) - 2.4), shape.rotation
                ),
                "marrow",
            )
        elif isinstance(shape, Ellipsoid):
            self._organ(name, shape)
        elif isinstance(shape, Capsule):
            tissue = {"aorta": "aorta", "inferior_vena_cava": "cava"}.get(name, "muscle")
            self._fill(shape, "rib" if name.startswith("rib") else tissue)

    def _organ(self, name: str, shape: Ellipsoid) -> None:
        kind = name.split("_")[0]
        if kind == "kidney":
            self._kidney(name, shape)
        elif kind == "stomach":
            self._fill(shape, "stomach_wall")
            self._fill(_shrunk(shape, 1.0, 4.0), "stomach")
            self._stomach_gas()
        else:
            self._fill(shape, kind)

    def _kidney(self, name: str, shape: Ellipsoid) -> None:
        """Cortex, darker medulla, and sinus fat towards the midline."""
        self._fill(shape, "kidney")
        self._fill(_shrunk(shape, 0.68, 0.0), "medulla")
        pose = np.array(self.plan.truth.pose.rotation)
        medial = pose[:, 0] * (1.0 if name.endswith("left") else -1.0)
        at = np.array(shape.centre_mm) + medial * 0.3 * shape.semi_axes_mm[0]
        sinus = _shrunk(shape, 0.34, 0.0)
        self._fill(Ellipsoid(vector(at), sinus.semi_axes_mm, sinus.rotation), "sinus")

    def _stomach_gas(self) -> None:
        stomach = self.plan.anatomy.organs["stomach"]
        share = self.rng.uniform(0.1, 0.9)
        if isinstance(stomach, Ellipsoid) and share < 0.65:
            lo, hi = stomach.box_mm
            self._gas(_shrunk(stomach, 1.0, 4.0), hi[1] - share * 0.6 * (hi[1] - lo[1]))


def _shrunk(shape: Ellipsoid, factor: float, less_mm: float) -> Ellipsoid:
    """The same ellipsoid with semi-axes scaled, then shortened."""
    half = np.array(shape.semi_axes_mm) * factor - less_mm
    return Ellipsoid(shape.centre_mm, vector(half), shape.rotation)
