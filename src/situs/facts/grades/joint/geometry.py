"""What masks of a knee say about a graded sign: shares, counts, millimetres.

Never called a reader's grade.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from situs.facts.grades.joint.frame import JointFrame
from situs.facts.grades.joint.regions import JointMasks, Part
from situs.facts.grades.joint.surface import Mask

__all__ = ["Cartilage", "Measure", "cartilage_loss", "extrusion_mm", "lesion_count", "lesion_share"]

_LEAST_LESION_MM3 = 15.0
"""Smaller islands are not counted as lesions of their own."""
_FEWEST_POINTS = 36
"""Of a bone's surface, for a share of it to mean anything."""


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
    """Lesions in the part: islands of at least 15 mm³,
    stable where 6- and 26-connectivity agree."""
    from scipy.ndimage import generate_binary_structure, label

    inside = _within(lesions, part, masks)
    if not len(inside):
        return Measure(0.0, (0.0, 0.0))
    box = np.zeros(tuple(np.ptp(inside, axis=0) + 1), dtype=np.bool_)
    box[tuple((inside - inside.min(axis=0)).T)] = True
    counts = []
    for reach in (1, 3):
        islands, island_count = label(box, generate_binary_structure(3, reach))
        sizes = np.bincount(islands.ravel(), minlength=island_count + 1)[1:] * masks.voxel_mm3
        counts.append(int((sizes >= _LEAST_LESION_MM3).sum()))
    return Measure(float(counts[1]), (float(min(counts)), float(max(counts))))


def cartilage_loss(
    part: Part | None, bone: str, cartilage: str, masks: JointMasks, frame: JointFrame
) -> Cartilage | None:
    """Loss over a subregion, as percent of its surface;
    see `find_losses` for what counts as lost."""
    if part is None or cartilage not in masks:
        return None
    losses = masks.losses(bone, cartilage, frame)
    shape = masks.grid.shape
    voxels = (losses.surface.indices, part.indices)
    inside = np.isin(*(np.ravel_multi_index(tuple(indices.T), shape) for indices in voxels))
    if np.count_nonzero(inside) < _FEWEST_POINTS:
        return None
    joint = losses.joint & inside

    def area(mask: Mask) -> float:
        return float(losses.surface.area_mm2[mask & joint].sum())

    sure, bare = losses.sure, losses.bare
    loss = _measure(
        _percent(area(sure), area(~bare | sure)),
        _percent(area(losses.least), area(joint)),
        _percent(area(losses.most), area(joint)),
    )
    full = _measure(
        _percent(area(bare & sure), area(sure)),
        _percent(area(losses.bare_least), area(losses.bare_least | losses.worn_most)),
        _percent(area(losses.bare_most), area(losses.bare_most | losses.worn_least)),
    )
    return Cartilage(loss, full)


def _measure(value: float, *bounds: float) -> Measure:
    """The value with its bounds; they are shares of different areas,
    so that it may lie outside by a trifle."""
    return Measure(value, (min(value, *bounds), max(value, *bounds)))


def _percent(part: float, total: float) -> float:
    return 100.0 * part / total if total > 0.0 else 0.0


def extrusion_mm(
    meniscus: str, direction: str, masks: JointMasks, frame: JointFrame
) -> Measure | None:
    """How far a meniscus stands out beyond the tibial plateau, to the front or to its own side of
    the joint.

    Both ends are faces of voxels, each known to half a voxel along the measured axis: the value to
    a whole one.
    """
    if meniscus not in masks or "tibia" not in masks:
        return None
    body, tibia = masks.own(meniscus, frame), masks.own("tibia", frame)
    plateau = tibia[tibia[:, 2] > tibia[:, 2].max() - 15.0]
    sign = 1.0 if direction == "anterior" or meniscus.startswith("lateral") else -1.0
    axis = 1 if direction == "anterior" else 0
    value = float((sign * body[:, axis]).max() - (sign * plateau[:, axis]).max())
    slack = float(np.abs(frame.axes[axis] @ masks.grid.affine.linear).sum())
    return Measure(max(0.0, value), (max(0.0, value - slack), max(0.0, value + slack)))


def _within(lesions: NDArray[np.intp], part: Part, masks: JointMasks) -> NDArray[np.intp]:
    """The lesion voxels that lie in the part."""
    flat = [np.ravel_multi_index(tuple(v.T), masks.grid.shape) for v in (lesions, part.indices)]
    return lesions[np.isin(flat[0], flat[1])]


def _share(part: int, total: int, moved: float) -> Measure:
    """Percent, and where it lies if `moved` of the elements may belong to the other side."""
    if not total:
        return Measure(0.0, (0.0, 0.0))
    value, slack = 100.0 * part / total, 100.0 * moved / total
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
