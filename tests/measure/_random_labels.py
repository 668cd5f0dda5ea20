"""Random label maps on random grids, and what a referee reads from them."""

from __future__ import annotations

import itertools

import numpy as np
import SimpleITK as sitk  # noqa: N813

from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

ORDERS = tuple(
    itertools.product(itertools.permutations(range(3)), itertools.product((1, -1), repeat=3))
)


def random_affine(rng: np.random.Generator, *, oblique: bool) -> Affine:
    """Any order and direction of axes, unequal spacing, and on request any rotation."""
    order, signs = ORDERS[int(rng.integers(48))]
    linear = np.eye(3)[:, order] * signs
    if oblique:
        rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        linear = rotation @ linear
    matrix = np.eye(4)
    matrix[:3, :3] = linear * rng.uniform(0.4, 5.0, 3)
    matrix[:3, 3] = rng.uniform(-300.0, 300.0, 3)
    return Affine(matrix)


def random_layer(
    rng: np.random.Generator, shape: tuple[int, int, int], values: list[int], dtype=np.uint32
):
    """Random boxes and single voxels of each value; every value keeps at least one voxel."""
    layer = np.zeros(shape, dtype=dtype)
    for value in values:
        for _ in range(int(rng.integers(1, 4))):
            lo = np.array([rng.integers(0, n) for n in shape])
            size = rng.integers(1, 5, 3)
            i, j, k = (slice(a, a + b) for a, b in zip(lo, size))
            block = layer[i, j, k]
            block[rng.random(block.shape) < 0.8] = value
    free = np.argwhere(layer >= 0)
    for value in values:
        if not (layer == value).any():
            rare = [tuple(p) for p in free if layer[tuple(p)] == 0]
            layer[rare[int(rng.integers(len(rare)))]] = value
    return layer


def random_labels(
    seed: int, *, oblique: bool = True, values: list[int] | None = None, layers: int = 1
) -> LabelMap:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(4, 15, 3))
    grid = Grid(shape, random_affine(rng, oblique=oblique))
    values = values or [1, 2, 3, 7, 250]
    arrays = tuple(random_layer(rng, shape, values) for _ in range(layers))
    structures = tuple(
        Structure(n * 100_000 + v, f"s{n}_{v}", n, v)
        for n, array in enumerate(arrays)
        for v in np.unique(array)[1:]
    )
    return LabelMap(
        grid, arrays, tuple(Structure(s.label, s.name, s.layer, int(s.value)) for s in structures)
    )


def itk_image(mask: np.ndarray, affine: Affine) -> sitk.Image:
    """The array as ITK sees it (LPS).

    ITK keeps directions as unit vectors and flips determinants without complaint.
    """
    image = sitk.GetImageFromArray(np.ascontiguousarray(mask.transpose(2, 1, 0)).astype(np.uint32))
    lps = np.diag([-1.0, -1.0, 1.0]) @ affine.linear
    spacing = np.array(affine.spacing_mm)
    image.SetSpacing(spacing.tolist())
    image.SetDirection((lps / spacing).ravel().tolist())
    image.SetOrigin((np.diag([-1.0, -1.0, 1.0]) @ affine.matrix[:3, 3]).tolist())
    return image


class Referee:
    """SimpleITK's label shape statistics in our words: RAS+ mm, half-open index boxes."""

    def __init__(self, array: np.ndarray, affine: Affine) -> None:
        self._filter = sitk.LabelShapeStatisticsImageFilter()
        self._filter.Execute(itk_image(array, affine))

    @property
    def labels(self) -> list[int]:
        return sorted(self._filter.GetLabels())

    def voxels(self, label: int) -> int:
        return self._filter.GetNumberOfPixels(label)

    def volume_ml(self, label: int) -> float:
        return self._filter.GetPhysicalSize(label) / 1000.0

    def centroid_mm(self, label: int) -> np.ndarray:
        return np.array(self._filter.GetCentroid(label)) * (-1.0, -1.0, 1.0)

    def box(self, label: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        box = self._filter.GetBoundingBox(label)
        return tuple(box[:3]), tuple(a + b for a, b in zip(box[:3], box[3:]))
