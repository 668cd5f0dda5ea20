"""What masks of a knee say about a graded sign: shares, counts, millimetres. Never called a reader's grade."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from situs.anatomy.banks import Region
from situs.facts.joint._frame import JointFrame
from situs.facts.joint._regions import JointMasks, Part, part_of

__all__ = ["Cartilage", "Measure", "cartilage_loss", "extrusion_mm", "lesion_count", "lesion_share"]

_LEAST_LESION_MM3 = 15.0
"""Smaller islands are not counted as lesions of their own."""
_WORN = 0.75
"""Cartilage thinner than this share of what is usual in its subregion is worn."""
_USUAL = 80.0
"""Percentile of thickness that is usual."""


@dataclass(frozen=True)
class Measure:
    """A measured value and where it lies if the boundary moves by half a voxel."""

    value: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Cartilage:
    """Loss of cartilage over a subregion."""

    loss: Measure
    """Percent of the surface with any loss."""
    full: Measure
    """Percent of that loss that goes down to bone."""


def lesion_share(part: Part, lesions: NDArray[np.intp], masks: JointMasks) -> Measure:
    """Percent of the part's voxels that are lesion."""
    inside = _within(lesions, part, masks)
    return _share(len(inside), len(part.indices), _faces(inside, masks))


def lesion_count(part: Part, lesions: NDArray[np.intp], masks: JointMasks) -> Measure:
    """Lesions in the part: islands of at least 15 mm³, stable where 6- and 26-connectivity agree."""
    from scipy.ndimage import generate_binary_structure, label

    inside = _within(lesions, part, masks)
    if not len(inside):
        return Measure(0.0, (0.0, 0.0))
    box = np.zeros(tuple(np.ptp(inside, axis=0) + 1), dtype=np.bool_)
    box[tuple((inside - inside.min(axis=0)).T)] = True
    counts = []
    for reach in (1, 3):
        islands, found = label(box, generate_binary_structure(3, reach))
        sizes = np.bincount(islands.ravel(), minlength=found + 1)[1:] * masks.voxel_mm3
        counts.append(int((sizes >= _LEAST_LESION_MM3).sum()))
    return Measure(float(counts[1]), (float(min(counts)), float(max(counts))))


def cartilage_loss(region: Region, cartilage: str, masks: JointMasks, frame: JointFrame) -> Cartilage | None:
    """Loss over a subregion: its surface is cut into columns across the joint line, each with its cartilage thickness.

    A column is worn where its cartilage is thinner than 75 % of what is usual there (the 80th percentile of the
    subregion's columns that have any), bare where there is none. Columns run up and down for femur and tibia, front to
    back for the patella.
    """
    part = part_of(region, masks, frame)
    if part is None or cartilage not in masks:
        return None
    across = (0, 2) if region.structure == "patella" else (0, 1)
    through = 1 if region.structure == "patella" else 2
    step = 2.0 * masks.half_voxel_mm
    bone = frame.own(masks.to_mm(part.indices))
    plate = frame.own(masks.points_mm(cartilage))
    origin = bone[:, across].min(axis=0)
    # The outermost half column on each side holds voxels of the neighbouring subregion as well.
    size = np.floor(np.ptp(bone[:, across], axis=0) / step).astype(int)
    if (size < 3).any():
        return None
    columns = np.floor((plate[:, across] - origin) / step).astype(int)
    inside = ((columns >= 0) & (columns < size)).all(axis=1)
    near = np.abs(plate[:, through] - _joint_face(region.structure, bone[:, through])) < 10.0
    thickness = np.zeros(tuple(size))
    np.add.at(thickness, tuple(columns[inside & near].T), masks.voxel_mm3 / step**2)
    smooth = _mean_of_neighbours(thickness)
    if not (smooth > 0).any():
        return Cartilage(Measure(100.0, (100.0, 100.0)), Measure(100.0, (100.0, 100.0)))
    usual = float(np.percentile(smooth[smooth > 0.3 * step], _USUAL))
    worn, bare = smooth < _WORN * usual, smooth < 0.3 * step
    edge = _edges(worn), _edges(bare)
    loss = _share(int(worn.sum()), worn.size, edge[0])
    return Cartilage(loss, _share(int(bare.sum()), int(worn.sum()), edge[0] + edge[1]))


def extrusion_mm(meniscus: str, direction: str, masks: JointMasks, frame: JointFrame) -> Measure | None:
    """How far a meniscus stands out beyond the tibial plateau, to the front or to its own side of the joint."""
    if meniscus not in masks or "tibia" not in masks:
        return None
    body = frame.own(masks.points_mm(meniscus))
    tibia = frame.own(masks.points_mm("tibia"))
    plateau = tibia[tibia[:, 2] > tibia[:, 2].max() - 15.0]
    sign = 1.0 if direction == "anterior" or meniscus.startswith("lateral") else -1.0
    axis = 1 if direction == "anterior" else 0
    value = float((sign * body[:, axis]).max() - (sign * plateau[:, axis]).max())
    slack = masks.half_voxel_mm
    return Measure(max(0.0, value), (max(0.0, value - slack), max(0.0, value + slack)))


def _joint_face(structure: str, through: NDArray[np.float64]) -> float:
    return float(through.max()) if structure == "tibia" else float(through.min())


def _within(lesions: NDArray[np.intp], part: Part, masks: JointMasks) -> NDArray[np.intp]:
    """The lesion voxels that lie in the part."""
    flat = [np.ravel_multi_index(tuple(v.T), masks.grid.shape) for v in (lesions, part.indices)]
    return lesions[np.isin(flat[0], flat[1])]


def _share(part: int, whole: int, moved: float) -> Measure:
    """Percent, and where it lies if `moved` of the elements may belong to the other side."""
    if not whole:
        return Measure(0.0, (0.0, 0.0))
    value, slack = 100.0 * part / whole, 100.0 * moved / whole
    if part == 0:
        return Measure(0.0, (0.0, 0.0))
    return Measure(value, (max(0.0, value - slack), min(100.0, value + slack)))


def _faces(voxels: NDArray[np.intp], masks: JointMasks) -> float:
    """Half the voxels at the boundary: what half a voxel of boundary motion can add or take."""
    if not len(voxels):
        return 0.0
    box = np.zeros(tuple(np.ptp(voxels, axis=0) + 3), dtype=np.bool_)
    box[tuple((voxels - voxels.min(axis=0) + 1).T)] = True
    return _edges(box)


def _edges(mask: NDArray[np.bool_]) -> float:
    """Half the number of faces between inside and outside."""
    return sum(float(np.count_nonzero(np.diff(mask, axis=axis))) for axis in range(mask.ndim)) / 2.0


def _mean_of_neighbours(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each column with its neighbours, so that the grid's slant against the columns averages out."""
    from scipy.ndimage import uniform_filter

    smooth: NDArray[np.float64] = uniform_filter(values, 3, mode="nearest")
    return smooth
