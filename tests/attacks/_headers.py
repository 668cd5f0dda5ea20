"""Wrong headers: the voxels are right, where they lie and how large they are is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attacks._study import Attack, Study, axis_toward, placed, reordered
from situs.space import Affine, Grid
from situs.volumes import LabelMap


def _header(matrix: np.ndarray) -> Attack:
    return lambda study: study.relabelled(placed(study.labels, matrix))


def scaled(*factors: float) -> Attack:
    return _header(np.diag([*factors, 1.0]))


def _quarter_turn(a: int, b: int, sign: float = 1.0) -> Attack:
    matrix = np.eye(4)
    matrix[a, a] = matrix[b, b] = 0.0
    matrix[a, b], matrix[b, a] = sign, -sign
    return _header(matrix)


def _spacing(factors: Callable[[LabelMap], np.ndarray]) -> Attack:
    """Wrong voxel sizes, voxel axis by voxel axis."""

    def attack(study: Study) -> Study:
        matrix = study.labels.grid.affine.matrix @ np.diag([*factors(study.labels), 1.0])
        grid = Grid(study.labels.grid.shape, Affine(matrix))
        return study.relabelled(LabelMap(grid, study.labels.layers, study.labels.structures))

    return attack


def _along(world: int, factor: float) -> Attack:
    def factors(labels: LabelMap) -> np.ndarray:
        result = np.ones(3)
        result[axis_toward(labels, world)[0]] = factor
        return result

    return _spacing(factors)


def _in_plane(factor: float) -> Attack:
    def factors(labels: LabelMap) -> np.ndarray:
        result = np.full(3, factor)
        result[axis_toward(labels, 2)[0]] = 1.0
        return result

    return _spacing(factors)


def _blank(study: Study) -> Study:
    labels = study.labels
    return study.relabelled(
        LabelMap(Grid(labels.grid.shape, Affine(np.eye(4))), labels.layers, labels.structures)
    )


def _blank_with_spacing(study: Study) -> Study:
    """The voxel size is there, the directions are not: what many converters write."""
    labels = study.labels
    matrix = np.diag([*labels.grid.affine.spacing_mm, 1.0])
    return study.relabelled(
        LabelMap(Grid(labels.grid.shape, Affine(matrix)), labels.layers, labels.structures)
    )


def _array(change: Callable[[np.ndarray], np.ndarray]) -> Attack:
    """Image and masks stored in another order under the old affine."""

    def attack(study: Study) -> Study:
        image = None if study.image is None else np.ascontiguousarray(change(study.image))
        drawn = reordered(study.truth, change)
        return Study(reordered(study.labels, change), image, drawn, study.modality)

    return attack


def _slices_shuffled(study: Study) -> Study:
    """A fifth of the slices in random order, as where files are sorted by name."""
    axis, _ = axis_toward(study.labels, 2)
    count = study.labels.grid.shape[axis]
    order = np.arange(count)
    part = slice(2 * count // 5, 3 * count // 5)
    order[part] = np.random.default_rng(3).permutation(order[part])
    shuffled = _array(lambda a: a.take(order, axis=axis))(study)
    assert shuffled is not None
    return shuffled


HEADERS: dict[str, Attack] = {
    "upside_down": scaled(1, 1, -1),
    "mirrored": scaled(-1, 1, 1),
    "prone": scaled(1, -1, 1),
    "turned_over": scaled(-1, -1, 1),
    "feet_first_prone": scaled(1, -1, -1),
    "feet_first_supine": scaled(-1, 1, -1),
    "point_reflected": scaled(-1, -1, -1),
    "on_the_side": _quarter_turn(0, 1),
    "on_the_other_side": _quarter_turn(0, 1, -1.0),
    "on_the_head": _quarter_turn(1, 2),
    "on_the_feet": _quarter_turn(1, 2, -1.0),
    "turned_sideways": _quarter_turn(0, 2),
    "cm_for_mm": scaled(0.1, 0.1, 0.1),
    "ten_times": scaled(10, 10, 10),
    "inches": scaled(25.4, 25.4, 25.4),
    "metres": scaled(0.001, 0.001, 0.001),
    "twice": scaled(2, 2, 2),
    "half": scaled(0.5, 0.5, 0.5),
    "larger_by_half": scaled(1.5, 1.5, 1.5),
    "larger_by_3_tenths": scaled(1.3, 1.3, 1.3),
    "smaller_by_3_tenths": scaled(0.7, 0.7, 0.7),
    "slices_twice_as_far": _along(2, 2.0),
    "slices_half_as_far": _along(2, 0.5),
    "slices_1.3_times": _along(2, 1.3),
    "width_twice": _along(0, 2.0),
    "width_1.3_times": _along(0, 1.3),
    "depth_1.3_times": _along(1, 1.3),
    "in_plane_1.3_times": _in_plane(1.3),
    "in_plane_0.77_times": _in_plane(0.77),
    "width_0.77_times": _along(0, 0.77),
    "depth_0.77_times": _along(1, 0.77),
    "slices_0.77_times": _along(2, 0.77),
    "smaller_by_a_seventh": scaled(0.85, 0.85, 0.85),
    "larger_by_a_seventh": scaled(1.15, 1.15, 1.15),
    "in_plane_half": _in_plane(0.5),
    "in_plane_twice": _in_plane(2.0),
    "blank_affine": _blank,
    "blank_directions": _blank_with_spacing,
    "axes_exchanged_01": _array(lambda a: a.transpose(1, 0, 2)),
    "axes_exchanged_02": _array(lambda a: a.transpose(2, 1, 0)),
    "axes_exchanged_12": _array(lambda a: a.transpose(0, 2, 1)),
    "axes_rotated": _array(lambda a: a.transpose(1, 2, 0)),
    "slices_shuffled": _slices_shuffled,
    "array_flipped_0": _array(lambda a: a[::-1]),
    "array_flipped_1": _array(lambda a: a[:, ::-1]),
    "array_flipped_2": _array(lambda a: a[:, :, ::-1]),
}
