"""Where on a bone's surface cartilage is lost: for certain, and perhaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from situs.facts.grades.joint.surface import BoneSurface, Mask

__all__ = ["Losses", "find_losses"]

_WORN = 0.7
_BARE = 0.2
"""Shares of the usual thickness below which cartilage is worn, or gone."""
_ABRUPT = 0.6
"""A worn patch is a defect if it is thinner than this share of the cartilage around it;
else thickness just varies."""
_RING_MM = 3.0
"""How far around a patch the cartilage is compared."""
_EDGE_MM = 0.25
"""Beside half a voxel, how far the edge of a patch may be off:
a step of the lines across the cartilage."""


@dataclass(frozen=True, eq=False)
class Losses:
    """Patches of lost cartilage on one bone, each a mask of the surface's points."""

    surface: BoneSurface
    joint: Mask
    """What may be joint surface."""
    sure: Mask
    bare: Mask
    """Where nothing covers the bone, lost or not."""
    least: Mask
    most: Mask
    """What is lost at least and at most: margins too, and edges off by half a voxel."""
    bare_least: Mask
    worn_most: Mask
    """What of that is lost down to bone at least, and not so far at most."""
    bare_most: Mask
    worn_least: Mask
    """The other way round."""


def find_losses(surface: BoneSurface, bone: str, half_voxel_mm: float) -> Losses:
    """Cartilage is worn where it is thinner than 70 % of what is usual on this bone (the 95th
    percentile where there is any), gone where it is thinner than 20 %. Patches narrower than 1.5 mm
    (two voxels, if that is more) do not count.

    Lost for certain are patches with cartilage on all sides that are bare, or much thinner than
    what is around them. Thin or missing cartilage at the margin may be lost, or may be where it
    ends of itself; and a gentle change of thickness may be natural. Both count as lost at most, as
    far as they face the joint.
    """
    bare = surface.thinner_than(_BARE)
    worn = surface.thinner_than(_WORN) | bare
    defects = [patch for patch in surface.shut_in(worn) if _is_abrupt(patch, surface)]
    sure = np.zeros_like(worn)
    for patch in (*defects, *surface.shut_in(bare)):
        sure |= patch
    facing = _facing_joint(surface, bone)
    lost = sure | surface.without_specks(worn & ~sure & (facing | ~bare))
    edge = half_voxel_mm + _EDGE_MM
    # Lines at the edge of a bare patch meet some of the cartilage around it: a seam that is no worn
    # patch of its own.
    thin = surface.without_specks(worn & ~bare)
    seam = worn & ~bare & ~thin
    deep = bare | (seam & surface.grown(bare, surface.narrowest_mm))
    worn_most = lost & (surface.grown(thin & lost, edge) | seam)
    bare_most = lost & surface.grown(deep & lost, edge)
    return Losses(
        surface,
        joint=~bare | lost,
        sure=sure,
        bare=deep,
        least=surface.grown(sure, -edge),
        most=surface.grown(lost, edge),
        bare_least=sure & bare & ~worn_most,
        worn_most=worn_most,
        bare_most=bare_most,
        worn_least=sure & ~deep & ~bare_most,
    )


def _is_abrupt(patch: Mask, surface: BoneSurface) -> bool:
    ring = surface.grown(patch, _RING_MM) & ~surface.grown(patch, _RING_MM / 3.0)
    if not ring.any():
        return False
    inside, around = (float(np.median(surface.thickness_mm[mask])) for mask in (patch, ring))
    return inside < _ABRUPT * around


def _facing_joint(surface: BoneSurface, bone: str) -> Mask:
    """Where cartilage can be: within 60° of the way to the joint;
    on the femur all round, but not on its sides."""
    lateral, anterior, superior = surface.normals.T
    match bone:
        case "patella":
            faces: Mask = anterior < -0.5
        case "tibia":
            faces = superior > 0.5
        case _:
            faces = (superior < 0.5) & (np.abs(lateral) < 0.8)
    return faces
