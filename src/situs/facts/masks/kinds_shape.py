"""Diameters, lengths and counts."""

from __future__ import annotations

import math

from situs.anatomy import Doubt
from situs.facts.masks.ledger import NOTHING, SIZE, Ledger, kind
from situs.facts.record import Fact
from situs.measure import AxialDiameter, axial_diameter, axial_diameter_ratios, length_3d

__all__: list[str] = []


@kind("axial_diameter", hangs_on=SIZE | {Doubt.UP_DOWN})
def _axial_diameter(ledger: Ledger, name: str) -> Fact:
    """Longest diameter of one connected part on one acquired axial slice. Not RECIST."""
    region, degrees = ledger.main_region(name), ledger.recipe.truth.rotation_degrees
    diameter = axial_diameter(region)
    shorter, longer = axial_diameter_ratios(region, diameter.slice_axis, degrees)
    slack = _in_plane_slack_mm(ledger, diameter)
    return ledger.record(
        "axial_diameter",
        (name,),
        diameter.length_mm,
        unit="mm",
        interval=(
            max(0.0, shorter * diameter.length_mm - slack),
            longer * diameter.length_mm + slack,
        ),
        parameters={"rotation_degrees": degrees},
        flags=ledger.cut_flags(name),
    )


def _in_plane_slack_mm(ledger: Ledger, diameter: AxialDiameter) -> float:
    """How much longer or shorter a diameter may be:
    either end moves by half a pixel along its diagonal."""
    spacing = [
        mm
        for axis, mm in enumerate(ledger.regions.grid.affine.spacing_mm)
        if axis != diameter.slice_axis
    ]
    diagonal = math.hypot(*spacing) / 2.0 + ledger.grid_error_mm
    return 2.0 * max(diagonal, ledger.annotation.surface_mm, float(max(ledger.half_voxel_mm)))


@kind("axial_perpendicular", hangs_on=SIZE | {Doubt.UP_DOWN})
def _axial_perpendicular(ledger: Ledger, name: str) -> Fact:
    """Longest chord at right angles to the longest axial diameter, on its slice."""
    diameter = axial_diameter(ledger.main_region(name))
    slack = _in_plane_slack_mm(ledger, diameter)
    interval = (max(0.0, diameter.perpendicular_mm - slack), diameter.perpendicular_mm + slack)
    flags = ledger.cut_flags(name)
    return ledger.record(
        "axial_perpendicular",
        (name,),
        diameter.perpendicular_mm,
        unit="mm",
        interval=interval,
        flags=flags,
    )


@kind("length_3d", hangs_on=SIZE)
def _length_3d(ledger: Ledger, name: str) -> Fact:
    """Longest straight way through space from one point of the structure to another."""
    longest = length_3d(ledger.main_region(name))
    slack = 2.0 * max(ledger.half_diagonal_mm, ledger.annotation.surface_mm)
    interval = (max(0.0, longest.length_mm - slack), longest.length_mm + slack)
    flags = ledger.cut_flags(name)
    return ledger.record(
        "length_3d", (name,), longest.length_mm, unit="mm", interval=interval, flags=flags
    )


@kind("surface_area", hangs_on=SIZE)
def _surface_area(ledger: Ledger, name: str) -> Fact:
    """Area of the surface in cm², by 13-direction Crofton counting."""
    area = ledger.regions[name].surface_area_mm2 / 100.0
    return ledger.record("surface_area", (name,), area, unit="cm²", flags=ledger.cut_flags(name))


@kind("lesion_count", hangs_on=NOTHING)
def _lesion_count(ledger: Ledger, family: str) -> Fact:
    """Connected parts of all lesions of one family;
    `unstable` if connectivity or a few voxels change the number."""
    names = ledger.families.get(family, [])
    regions = [ledger.regions[name] for name in names]
    counts = [
        sum(numbers) for numbers in zip(*(region.component_counts for region in regions))
    ] or [0]
    smallest = min((min(region.component_voxels) for region in regions), default=0)
    # A part so small beside the others may be a stray one.
    island = ledger.recipe.truth.island_share * sum(region.voxels for region in regions)
    small = smallest < max(ledger.recipe.truth.count_fewest_voxels, island)
    # A lesion annotated as one but in several pieces may be one tumour or several.
    uncertain = len(set(counts)) > 1 or small or counts[-1] != len(names)
    flags = ("unstable",) if uncertain else ()
    return ledger.record("lesion_count", (family,), counts[-1], flags=flags)
