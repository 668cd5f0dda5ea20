"""The side of a structure: nine tenths of it beyond the spine,
never x = 0, and stable under a turn of the patient."""

from __future__ import annotations

import pytest
from _blocks import block_ledger

from situs.errors import SitusError
from situs.facts import load_recipe

SHAPE = (100, 60, 60)
MIDDLE = 70
SPINE = {
    "vertebrae_L1": ((MIDDLE - 4, 20, 40), (MIDDLE + 5, 30, 50)),
    "vertebrae_L3": ((MIDDLE - 4, 20, 10), (MIDDLE + 5, 30, 20)),
}


def lesion(left_of: int, right_of: int, front: int = 20) -> tuple:
    """A beam that reaches so many mm to the left and to the right of the midline,
    at the spine's depth."""
    return ((MIDDLE - left_of, front, 25), (MIDDLE + right_of + 1, front + 10, 30))


@pytest.mark.parametrize(
    ("left_of", "right_of"),
    [(30, -10), (-10, 25), (10, 10), (20, 2), (20, 3), (2, 20), (17, 2), (3, 20)],
)
def test_nine_tenths_must_lie_on_one_side(left_of, right_of):
    """The middle voxel straddles the midline and counts half on each side."""
    ledger = block_ledger(SHAPE, **SPINE, liver_lesion=lesion(left_of, right_of))
    total = left_of + right_of + 1
    right = min(1.0, max(0.0, (right_of + 0.5) / total))
    assert ledger.fact("right_share", "liver_lesion").value == pytest.approx(right)
    needed = load_recipe().truth.side_share
    expected = "right" if right >= needed else "left" if right <= 1 - needed else "both"
    assert ledger.fact("side", "liver_lesion").value == expected


def test_the_spine_and_not_x_zero_is_the_middle():
    """All of this patient has positive x; left of the spine is left."""
    ledger = block_ledger(SHAPE, **SPINE, liver_lesion=lesion(40, -20))
    assert ledger.fact("side", "liver_lesion").value == "left"
    assert ledger.fact("right_share", "liver_lesion").derivation.parameters["midline"] == "spine"
    assert (
        ledger.fact("right_share", "liver_lesion").derivation.parameters["side_basis"] == "affine"
    )


def test_a_side_must_survive_a_turn_about_the_spine():
    """30 mm in front of the spine, a turn of 10° moves a structure by 5 mm sideways."""
    near = block_ledger(SHAPE, **SPINE, liver_lesion=lesion(-3, 9, front=48)).fact(
        "side", "liver_lesion"
    )
    far = block_ledger(SHAPE, **SPINE, liver_lesion=lesion(-9, 15, front=48)).fact(
        "side", "liver_lesion"
    )
    assert (near.value, near.flags) == ("right", ("unstable",))
    assert (far.value, far.flags) == ("right", ())


def test_without_a_spine_whole_pairs_give_the_midline():
    pairs = {
        "kidney_left": ((MIDDLE - 30, 20, 10), (MIDDLE - 19, 30, 30)),
        "kidney_right": ((MIDDLE + 10, 20, 10), (MIDDLE + 21, 30, 30)),
        "adrenal_gland_left": ((MIDDLE - 20, 22, 40), (MIDDLE - 15, 26, 45)),
        "adrenal_gland_right": ((MIDDLE + 6, 22, 40), (MIDDLE + 11, 26, 45)),
    }
    ledger = block_ledger(SHAPE, **pairs)
    assert ledger.midline.basis == "paired organs"
    expected = ((MIDDLE - 25 + MIDDLE + 15) / 2, (MIDDLE - 18 + MIDDLE + 8) / 2)
    assert ledger.midline.at(ledger.regions["kidney_left"].centroid_mm[2:])[0, 0] == pytest.approx(
        expected[0]
    )
    assert ledger.midline.at(ledger.regions["adrenal_gland_left"].centroid_mm[2:])[
        0, 0
    ] == pytest.approx(expected[1])


@pytest.mark.parametrize("cut", [False, True])
def test_too_little_gives_no_midline(cut):
    """One pair is not enough, nor are two of which one is cut."""
    pairs = {
        "kidney_left": ((10, 20, 10), (20, 30, 30)),
        "kidney_right": ((60, 20, 10), (70, 30, 30)),
    }
    if cut:
        pairs |= {
            "adrenal_gland_left": ((0, 22, 40), (5, 26, 45)),
            "adrenal_gland_right": ((60, 22, 40), (65, 26, 45)),
        }
    ledger = block_ledger(SHAPE, **pairs, liver=((30, 5, 5), (40, 10, 10)))
    assert ledger.midline is None
    with pytest.raises(SitusError, match="no midline"):
        ledger.fact("side", "liver")
