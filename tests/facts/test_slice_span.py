"""Which slices show a structure, and by how much its ends may be off when the patient turns."""

from __future__ import annotations

import math

import pytest
from _blocks import block_ledger

from situs.facts import load_recipe

TURN = math.radians(load_recipe().truth.rotation_degrees)
ROD = ((30, 30, 8), (32, 32, 88))  # half 1 × 1 × 40 mm
PLATE = ((10, 10, 40), (50, 50, 44))  # half 20 × 20 × 2 mm


def _rod_shortens(half_width: float, half_height: float) -> float:
    """A block that tilts over an edge: what the height loses, less what the width gains."""
    return half_height * (1 - math.cos(TURN)) - half_width * math.sin(TURN)


def _plate_lengthens(half_width: float, half_height: float) -> float:
    """A square block that tilts over a corner."""
    return math.sqrt(2) * half_width * math.sin(TURN) - half_height * (1 - math.cos(TURN))


@pytest.mark.parametrize(
    ("annotation", "inwards", "outwards"), [("exact", 0.5, 1.0), ("automatic", 1.5, 1.5)]
)
def test_ends_move_by_voxel_or_surface_and_by_a_turn(annotation, inwards, outwards):
    """1 mm voxels: half a voxel inwards, a whole one outwards, or 1.5 mm of the surface."""
    ledger = block_ledger((60, 60, 96), 1.0, annotation, liver=ROD, spleen=PLATE)
    rod, plate = (ledger.fact("slice_span", name) for name in ("liver", "spleen"))
    assert rod.value == (8.0, 87.0)
    shorter = _rod_shortens(1.0, 40.0)
    assert rod.interval == pytest.approx(
        (8 - outwards, 87 - inwards - shorter, 8 + inwards + shorter, 87 + outwards), abs=1e-6
    )
    assert plate.value == (40.0, 43.0)
    longer = _plate_lengthens(20.0, 2.0)
    assert plate.interval == pytest.approx(
        (40 - outwards - longer, 43 - inwards, 40 + inwards, 43 + outwards + longer), abs=1e-6
    )


def test_spacing_turns_millimetres_into_slices():
    """2 mm voxels: 1.5 mm of the surface are .75 slices inwards; outwards a whole slice is more."""
    ledger = block_ledger((60, 60, 96), 2.0, "automatic", liver=ROD)
    fact = ledger.fact("slice_span", "liver")
    shorter = _rod_shortens(2.0, 80.0) / 2.0
    assert fact.interval == pytest.approx((7, 87 - 0.75 - shorter, 8.75 + shorter, 88), abs=1e-6)
