"""Diameters, lengths and counts."""

from __future__ import annotations

from situs.facts._ledger import Ledger, kind
from situs.facts._record import Fact
from situs.measure import axial_diameter, length_3d

__all__: list[str] = []


@kind("axial_diameter")
def _axial_diameter(ledger: Ledger, name: str) -> Fact:
    """Longest diameter of one connected part on one acquired axial slice. Not RECIST."""
    found = axial_diameter(ledger.regions[name])
    slack = 2.0 * float(max(ledger.slack_mm()))
    interval = (max(0.0, found.length_mm - slack), found.length_mm + slack)
    return ledger.record(
        "axial_diameter", (name,), found.length_mm, unit="mm", interval=interval, flags=_cut(ledger, name)
    )


@kind("axial_perpendicular")
def _axial_perpendicular(ledger: Ledger, name: str) -> Fact:
    """Longest chord at right angles to the longest axial diameter, on its slice."""
    found = axial_diameter(ledger.regions[name])
    slack = 2.0 * float(max(ledger.slack_mm()))
    interval = (max(0.0, found.perpendicular_mm - slack), found.perpendicular_mm + slack)
    flags = _cut(ledger, name)
    return ledger.record(
        "axial_perpendicular", (name,), found.perpendicular_mm, unit="mm", interval=interval, flags=flags
    )


@kind("length_3d")
def _length_3d(ledger: Ledger, name: str) -> Fact:
    """Longest straight way through space from one point of the structure to another."""
    found = length_3d(ledger.regions[name])
    slack = 2.0 * float(max(ledger.slack_mm()))
    interval = (max(0.0, found.length_mm - slack), found.length_mm + slack)
    return ledger.record("length_3d", (name,), found.length_mm, unit="mm", interval=interval, flags=_cut(ledger, name))


@kind("surface_area")
def _surface_area(ledger: Ledger, name: str) -> Fact:
    """Area of the surface in cm², by 13-direction Crofton counting."""
    return ledger.record(
        "surface_area", (name,), ledger.regions[name].surface_area_mm2 / 100.0, unit="cm²", flags=_cut(ledger, name)
    )


@kind("lesion_count")
def _lesion_count(ledger: Ledger, family: str) -> Fact:
    """Connected parts of all lesions of one family; `unstable` if connectivity or a few voxels change the number."""
    names = ledger.families.get(family, [])
    counts = [0, 0, 0]
    small = False
    for name in names:
        region = ledger.regions[name]
        counts = [a + b for a, b in zip(counts, region.component_counts)]
        small = small or min(region.component_voxels) < ledger.recipe.truth.count_fewest_voxels
    # A lesion annotated as one but in several pieces may be one tumour or several.
    uncertain = len(set(counts)) > 1 or small or counts[-1] != len(names)
    flags = ("unstable",) if uncertain else ()
    return ledger.record("lesion_count", (family,), counts[-1], flags=flags)


def _cut(ledger: Ledger, name: str) -> tuple[str, ...]:
    return ("cut",) if ledger.is_cut(name) else ()
