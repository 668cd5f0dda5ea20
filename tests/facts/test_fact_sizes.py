"""Sizes and distances with their intervals:
half a voxel, or what the annotation may err, whichever is more."""

from __future__ import annotations

import math

import msgspec
import pytest
from _blocks import block_ledger

from situs.errors import SitusError
from situs.facts import fact_id, is_cut, load_recipe, number, span

SHAPE = (40, 30, 20)
LIVER = ((3, 3, 3), (13, 11, 8))  # 10 × 8 × 5 voxels
SPLEEN = ((20, 3, 3), (24, 8, 9))  # 4 × 5 × 6 voxels
FACES = 2 * (8 * 5 + 10 * 5 + 10 * 8)


def test_volume_and_half_a_voxel():
    """2 mm voxels: 400 of 8 mm³; every outer face moves by half a voxel."""
    fact = block_ledger(SHAPE, 2.0, liver=LIVER).fact("volume", "liver")
    assert fact.value == pytest.approx(3.2)
    assert fact.interval == pytest.approx(
        (max(0.0, 3.2 - FACES * 4.0 / 1000), 3.2 + FACES * 4.0 / 1000)
    )
    assert fact.unit == "mL"
    assert not is_cut(fact)


def test_volume_and_annotation_error():
    """With small voxels the surface error rules:
    1.5 mm over the smooth surface, two thirds of the staircase."""
    error = load_recipe().annotation["automatic"]
    fact = block_ledger(SHAPE, 0.5, "automatic", liver=LIVER).fact("volume", "liver")
    slack = max(
        0.5 * FACES * 0.125 / 1000,
        error.surface_mm * FACES * 0.25 / 1.5 / 1000,
        error.volume_percent / 100 * 0.05,
    )
    assert fact.value == pytest.approx(0.05)
    assert fact.interval == pytest.approx((max(0.0, 0.05 - slack), 0.05 + slack))


@pytest.mark.parametrize(
    ("annotation", "slack"), [("exact", 1.0), ("manual", 1.0), ("automatic", 1.5)]
)
def test_centroid_and_box_intervals(annotation, slack):
    """2 mm voxels: half a voxel is 1 mm. A face may lie a whole voxel further out: tips between
    centres are lost.

    A turn by 10° stands the block of 20 × 16 × 10 mm on an edge."""
    ledger = block_ledger(SHAPE, 2.0, annotation, liver=LIVER)
    centroid, box = ledger.fact("centroid", "liver"), ledger.fact("box", "liver")
    middle = (2 * 7.5, 2 * 6.5, 2 * 5.0)
    assert centroid.value == pytest.approx(middle)
    assert centroid.interval == pytest.approx(
        [v - slack for v in middle] + [v + slack for v in middle]
    )
    lo, hi, out = (5.0, 5.0, 5.0), (25.0, 21.0, 15.0), max(2.0, slack)
    assert box.value == pytest.approx((*lo, *hi))
    lows = [v - out for v in lo] + [v - slack for v in hi]
    highs = [v + slack for v in lo] + [v + out for v in hi]
    assert box.interval == pytest.approx(lows + highs)
    extent = ledger.fact("extent.left_right", "liver")
    assert extent.value == pytest.approx(20.0)
    turn = math.radians(10.0)
    longest = 20.0 * math.cos(turn) + math.hypot(16.0, 10.0) * math.sin(turn)
    assert extent.interval == pytest.approx((20.0 - 2 * slack, longest + 2 * out), abs=0.02)


def test_distances_between_blocks():
    """7 voxels of 2 mm lie free between the blocks;
    centres of the facing voxels are 8 steps apart."""
    ledger = block_ledger(SHAPE, 2.0, liver=LIVER, spleen=SPLEEN)
    assert number(ledger.fact("surface_gap", "liver", "spleen")) == pytest.approx(14.0)
    assert number(ledger.fact("boundary_distance", "liver", "spleen")) == pytest.approx(16.0)
    step = (2 * (21.5 - 7.5), 2 * (5.0 - 6.5), 2 * (5.5 - 5.0))
    fact = ledger.fact("centre_distance", "liver", "spleen")
    assert number(fact) == pytest.approx(math.hypot(*step))
    slack = 2.0 * sum(abs(v) for v in step) / math.hypot(*step)
    assert fact.interval == pytest.approx((number(fact) - slack, number(fact) + slack))
    diagonal = 2.0 * math.sqrt(3)
    for kind, value in (("surface_gap", 14), ("main_gap", 14), ("boundary_distance", 16)):
        assert ledger.fact(kind, "liver", "spleen").interval == pytest.approx(
            (value - diagonal, value + diagonal)
        )
    assert ledger.fact("touching", "liver", "spleen").value is False


def test_touching_blocks_have_no_gap():
    """A shared face of 5 × 6 … only where both have it: 5 wide, 5 high."""
    ledger = block_ledger(SHAPE, 2.0, liver=LIVER, spleen=((13, 3, 3), (17, 8, 9)))
    assert ledger.fact("touching", "liver", "spleen").value is True
    assert number(ledger.fact("surface_gap", "liver", "spleen")) == 0.0
    assert number(ledger.fact("contact_area", "liver", "spleen")) == pytest.approx(5 * 5 * 4.0)


def test_a_cut_size_has_no_upper_end():
    ledger = block_ledger(SHAPE, 1.0, liver=((0, 3, 3), (13, 11, 8)), spleen=SPLEEN)
    fact = ledger.fact("volume", "liver")
    assert is_cut(fact)
    assert span(fact) == (fact.interval[0], math.inf)
    assert ledger.fact("touches_border", "liver").value is True
    assert is_cut(ledger.fact("centre_distance", "liver", "spleen")), (
        "what follows from a cut structure says so"
    )
    ratio = ledger.fact("volume_ratio", "liver", "spleen")
    assert "unbounded" in ratio.flags
    assert number(ratio) == pytest.approx(13 * 8 * 5 / (4 * 5 * 6))


@pytest.mark.parametrize(("annotation", "slack"), [("exact", 1.0), ("automatic", 1.5)])
def test_the_height_in_an_organ_and_its_interval(annotation, slack):
    """A patient who may not turn: both centre and end may be off, by half a voxel of 2 mm or by the
    surface error.

    The liver is 15 voxels high from the third on, the lesion's centre 10 of them above its lowest
    face."""
    recipe = load_recipe()
    truth = msgspec.structs.replace(recipe.truth, rotation_degrees=0.0)
    blocks = {"liver": ((3, 3, 3), (23, 23, 18)), "liver_lesion_1": ((8, 8, 11), (12, 12, 15))}
    recipe = msgspec.structs.replace(recipe, truth=truth)
    ledger = block_ledger(SHAPE, 2.0, annotation, recipe=recipe, **blocks)
    fact = ledger.fact("height_in", "liver_lesion_1", "liver")
    assert number(fact) == pytest.approx(10 / 15)
    assert fact.interval == pytest.approx((10 / 15 - 2 * slack / 30, 10 / 15 + 2 * slack / 30))


def test_ratio_of_volumes():
    ledger = block_ledger(SHAPE, 1.0, liver=LIVER, spleen=SPLEEN)
    (a_low, a_high), (b_low, b_high) = (span(ledger.fact("volume", n)) for n in ("liver", "spleen"))
    ratio = ledger.fact("volume_ratio", "liver", "spleen")
    assert number(ratio) == pytest.approx(400 / 120)
    assert ratio.interval == pytest.approx((a_low / b_high, a_high / b_low))


def test_the_largest_lesion_and_when_another_may_be():
    clear = block_ledger(
        SHAPE, 1.0, liver_lesion_1=((3, 3, 3), (5, 5, 5)), liver_lesion_2=((10, 3, 3), (22, 14, 14))
    )
    assert clear.fact("largest", "liver_lesion").value == "liver_lesion_2"
    assert clear.fact("largest", "liver_lesion").flags == ()
    alike = block_ledger(
        SHAPE, 1.0, liver_lesion_1=((3, 3, 3), (9, 9, 9)), liver_lesion_2=((10, 3, 3), (16, 9, 10))
    )
    assert alike.fact("largest", "liver_lesion").value == "liver_lesion_2"
    assert alike.fact("largest", "liver_lesion").flags == ("unstable",)


def test_a_fact_keeps_its_id_when_its_value_changes():
    small, large = (block_ledger(SHAPE, s, liver=LIVER).fact("volume", "liver") for s in (1.0, 2.0))
    assert small.value != large.value
    assert small.fact_id == large.fact_id == fact_id("study", "ct", "volume", ("liver",))
    ids = {
        fact_id("study", "ct", kind, who)
        for kind in ("volume", "box")
        for who in (("a",), ("a", "b"), ("b", "a"))
    }
    assert len(ids) == 6


def test_each_fact_names_its_evidence():
    ledger = block_ledger(SHAPE, 1.0, liver=LIVER, spleen=SPLEEN)
    volumes = [ledger.fact("volume", name) for name in ("liver", "spleen")]
    assert volumes[0].derivation.inputs == ("labels:hash",)
    assert volumes[0].derivation.function.startswith("volume@")
    ratio = ledger.fact("volume_ratio", "liver", "spleen")
    assert ratio.derivation.inputs == tuple(f"fact:{v.fact_id}" for v in volumes)


def test_unknown_kinds_are_guessed():
    with pytest.raises(SitusError, match="did you mean volume"):
        block_ledger(SHAPE, liver=LIVER).fact("volum", "liver")


def test_only_numbers_are_numbers():
    with pytest.raises(SitusError, match="not a number"):
        number(block_ledger(SHAPE, liver=LIVER).fact("touches_border", "liver"))
