"""Everything else that can be measured of one structure, as `situs measure --details` prints it."""

from __future__ import annotations

import msgspec

from situs.facts.masks.kinds import number
from situs.facts.masks.kinds_spine import level_name
from situs.facts.masks.ledger import Ledger
from situs.measure import axial_diameter, length_3d, pair_symmetry
from situs.space import Side

__all__ = ["StructureDetails", "details_of"]

Triple = tuple[float, float, float]


class Part(msgspec.Struct, frozen=True):
    """One 26-connected part."""

    voxels: int
    volume_ml: float
    centroid_mm: Triple
    box_index: tuple[tuple[int, int, int], tuple[int, int, int]]


class StructureDetails(msgspec.Struct, frozen=True):
    """Shape, parts, place along the spine and symmetry of one structure."""

    rank_by_volume: int
    """1 is the largest of the file."""
    principal_axes: tuple[Triple, ...]
    """Unit vectors in RAS+, longest first."""
    principal_lengths_mm: Triple
    longest_axial_diameter_mm: float
    perpendicular_diameter_mm: float
    axial_slice: int
    """The slice of the longest axial diameter, in stored order."""
    length_3d_mm: float
    surface_area_cm2: float
    parts: list[Part]
    holes: list[int]
    """Voxels of each cavity."""
    slice_span: tuple[int, int]
    """First axial slice that shows it and one past the last, in stored order."""
    slice_boxes: list[tuple[int, int, int, int, int]]
    """Per axial slice: slice, then low and one past high along the other two stored axes."""
    lies_on: str | None
    """`left`, `right` or `both` of the midline, from the spine or paired organs;
    null if neither is annotated."""
    level: str | None
    """Vertebra beside its centre; null if fewer than three are annotated,
    or it is none of them for certain."""
    symmetry: dict[str, float] | None
    """For the left one of a pair: how its right partner compares."""
    flags: list[str]
    """`cut`, `islands`, `thin`, `overlapping`."""


def details_of(ledger: Ledger, name: str) -> StructureDetails:
    """Measure one structure in full."""
    region = ledger.regions[name]
    axes, diameter = region.principal_axes, axial_diameter(region)
    boxes = region.slice_boxes(diameter.slice_axis)
    volumes = sorted((ledger.regions[n].voxels for n in ledger.structures), reverse=True)
    return StructureDetails(
        rank_by_volume=volumes.index(region.voxels) + 1,
        principal_axes=tuple((x, y, z) for x, y, z in axes.directions),
        principal_lengths_mm=axes.lengths_mm,
        longest_axial_diameter_mm=diameter.length_mm,
        perpendicular_diameter_mm=diameter.perpendicular_mm,
        axial_slice=diameter.slice_index,
        length_3d_mm=length_3d(region).length_mm,
        surface_area_cm2=region.surface_area_mm2 / 100.0,
        parts=[
            Part(p.voxels, p.volume_ml, p.centroid_mm, (p.box_index.lo, p.box_index.hi))
            for p in region.components()
        ],
        holes=list(region.holes),
        slice_span=region.slice_span(diameter.slice_axis),
        slice_boxes=[
            (int(i), int(lo[0]), int(hi[0]), int(lo[1]), int(hi[1]))
            for i, lo, hi in zip(boxes.index, boxes.lo, boxes.hi)
        ],
        lies_on=str(ledger.fact("side", name).value) if ledger.midline is not None else None,
        level=_level(ledger, name),
        symmetry=_symmetry(ledger, name),
        flags=_flags(ledger, name),
    )


def _level(ledger: Ledger, name: str) -> str | None:
    if ledger.spine is None:
        return None
    fact = ledger.fact("level.centre", name)
    return None if {"beyond", "disputed"} & set(fact.flags) else level_name(number(fact))


def _symmetry(ledger: Ledger, name: str) -> dict[str, float] | None:
    entry = ledger.terms[name]
    if entry.side is not Side.LEFT or entry.partner not in ledger.regions or ledger.midline is None:
        return None
    symmetry = pair_symmetry(
        ledger.regions[str(entry.partner)], ledger.regions[name], ledger.midline
    )
    return {field: float(getattr(symmetry, field)) for field in symmetry.__struct_fields__}


def _flags(ledger: Ledger, name: str) -> list[str]:
    region = ledger.regions[name]
    others = [other for other in ledger.structures if other != name]
    flag_states = {
        "cut": ledger.is_cut(name),
        "islands": any(
            n < ledger.recipe.truth.island_share * region.voxels for n in region.component_voxels
        ),
        "thin": region.core_voxels == 0,
        "overlapping": any(ledger.contacts.shared_voxels(name, other) for other in others),
    }
    return [flag for flag, holds in flag_states.items() if holds]
