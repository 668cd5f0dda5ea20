"""When one structure lies beyond another:
margin, probability, enveloping, and how a direction becomes unstable."""

from __future__ import annotations

import math

import numpy as np
import pytest
from _blocks import block_ledger

from situs.facts import Ledger, load_recipe
from situs.space import AXES, Axis

TRUTH = load_recipe().truth
SHAPE = (130, 14, 14)


def shifted(length: int, shift: int, axis: Axis = Axis.LEFT_RIGHT, **more) -> Ledger:
    """Two equal beams along one axis,
    the liver `shift` mm further along than the spleen, side by side."""
    along = axis.world_index
    shape = tuple(130 if a == along else 14 for a in range(3))
    beside = (along + 1) % 3

    def beam(start: int, place: int):
        lo = [6, 6, 6]
        lo[along], lo[beside] = start, place
        hi = [v + 1 for v in lo]
        hi[along] = start + length
        return tuple(lo), tuple(hi)

    return block_ledger(shape, liver=beam(2 + shift, 5), spleen=beam(2, 8), **more)


def uniform_precedence(length: float, shift: float) -> float:
    """P(X + shift > Y) for X, Y uniform on [0, length]."""
    return 1.0 - (length - shift) ** 2 / (2.0 * length**2) if shift < length else 1.0


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize(("shift", "expected"), [(10, None), (11, "positive"), (40, "positive")])
def test_the_gap_must_exceed_the_margin(axis, shift, expected):
    """Beams of 3 mm are wholly beyond each other at 10 mm;
    a gap of just the margin is still no direction."""
    ledger = shifted(3, shift, axis)
    assert TRUTH.direction_margin_mm == 10.0
    assert ledger.fact(f"gap.{axis}", "liver", "spleen").value == pytest.approx(shift)
    found = ledger.fact(f"direction.{axis}", "liver", "spleen").value
    assert found == (None if expected is None else axis.positive.value)
    back = ledger.fact(f"direction.{axis}", "spleen", "liver").value
    assert back == (None if expected is None else axis.negative.value)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize(("length", "shift"), [(100, 20), (100, 26), (60, 25), (60, 40), (60, 60)])
def test_nearly_all_of_it_must_lie_beyond(axis, length, shift):
    """P ≥ 0.9 from a shift of length × (1 - √0.2) = 55 % on, whatever the centroids say."""
    ledger = shifted(length, shift, axis)
    expected = uniform_precedence(length, shift)
    assert ledger.fact(f"precedence.{axis}", "liver", "spleen").value == pytest.approx(
        expected, abs=2.0 / length
    )
    found = ledger.fact(f"direction.{axis}", "liver", "spleen").value
    assert (found is not None) == (shift >= length * (1 - math.sqrt(0.2)))


def test_enveloping_structures_have_no_direction():
    """A small block in a corner of a large one's box:
    30 mm away, wholly beyond, but never a direction."""
    inner, outer = ((90, 2, 2), (95, 6, 6)), ((1, 1, 1), (100, 12, 12))
    ledger = block_ledger(SHAPE, liver=inner, spleen=outer)
    for pair in (("liver", "spleen"), ("spleen", "liver")):
        assert ledger.fact("enveloping", *pair).value is True
        assert all(ledger.fact(f"direction.{axis}", *pair).value is None for axis in AXES)
    apart = block_ledger(SHAPE, liver=((90, 2, 2), (95, 13, 6)), spleen=outer)
    assert apart.fact("enveloping", "liver", "spleen").value is False


@pytest.mark.parametrize(("shift", "stable"), [(11, False), (12, True)])
def test_a_direction_must_survive_half_a_voxel_and_a_turn(shift, stable):
    """Both centroids may be off by half a voxel (1 mm together),
    and a turn of 10° shortens the gap by its cosine."""
    fact = shifted(3, shift).fact("direction.left_right", "liver", "spleen")
    turned = math.hypot(shift, 3) * math.cos(math.atan2(3, shift) + math.radians(10.0))
    assert (min(shift - 1.0, turned) > TRUTH.direction_margin_mm) == stable, (
        "the case is chosen by the formula"
    )
    assert fact.value == "right"
    assert ("unstable" in fact.flags) == (not stable)


def test_annotation_error_widens_the_gap():
    gap = shifted(3, 30, annotation="automatic").fact("gap.left_right", "liver", "spleen")
    assert load_recipe().annotation["automatic"].surface_mm == 1.5
    length, angle, turn = math.hypot(30, 3), math.atan2(3, 30), math.radians(10.0)
    assert gap.interval[0] == pytest.approx(min(27.0, length * math.cos(angle + turn)))
    assert gap.interval[1] == pytest.approx(max(33.0, length * math.cos(max(0.0, angle - turn))))


@pytest.mark.parametrize("seed", range(20))
def test_the_gap_holds_every_turn_of_the_patient(seed):
    """Any rotation by up to 10° about any axis leaves the step inside the interval,
    on all three axes."""
    rng = np.random.default_rng(seed)
    lo = rng.integers(1, 8, (2, 3))
    blocks = [
        (tuple(map(int, a)), tuple(map(int, a + rng.integers(1, 6, 3)))) for a in lo * (1, 1, 1)
    ]
    ledger = block_ledger((14, 14, 14), 5.0, liver=blocks[0], spleen=blocks[1])
    step = ledger.regions["liver"].centroid_mm - ledger.regions["spleen"].centroid_mm
    for _ in range(200):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        angle = np.radians(rng.uniform(0, TRUTH.rotation_degrees))
        x, y, z = axis
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turned = step + np.sin(angle) * cross @ step + (1 - np.cos(angle)) * cross @ cross @ step
        for k, patient_axis in enumerate(AXES):
            low, high = ledger.fact(f"gap.{patient_axis}", "liver", "spleen").interval
            assert low - 1e-9 <= turned[k] <= high + 1e-9


@pytest.mark.parametrize(
    ("step", "degrees"), [((40, 0, 0), 0.0), ((30, 30, 0), 45.0), ((0, 0, 30), 90.0)]
)
def test_angle_to_an_axis(step, degrees):
    lo = (5, 5, 5)
    moved = tuple(a + b for a, b in zip(lo, step))
    ledger = block_ledger(
        (60, 60, 60), spleen=(lo, (8, 8, 8)), liver=(moved, tuple(v + 3 for v in moved))
    )
    fact = ledger.fact("angle.left_right", "liver", "spleen")
    assert fact.value == pytest.approx(degrees)
    assert fact.interval == pytest.approx((max(0.0, degrees - 10.0), min(90.0, degrees + 10.0)))


def test_just_nine_tenths_beyond_is_enough() -> None:
    """Nine voxels of ten in one plane beyond the spleen, one before it."""
    blocks = {"liver": ((40, 3, 3), (41, 6, 6)), "spleen": ((20, 9, 3), (21, 12, 6))}
    ledger = block_ledger((50, 14, 14), 1.0, **blocks)
    ledger.regions.labels.layers[0][2, 4, 4] = 1
    fact = ledger.fact("direction.left_right", "liver", "spleen")
    assert ledger.fact("precedence.left_right", "liver", "spleen").value == 0.9
    assert TRUTH.direction_probability == 0.9
    assert fact.value == "right"


@pytest.mark.parametrize(("shift", "stable"), [(58, False), (70, True)])
def test_a_turn_must_leave_nine_tenths_beyond_either_way(shift: int, stable: bool) -> None:
    """Beams of 100 mm side by side, 40 mm apart: a turn moves them by 7 mm past each other, which
    leaves P = 1 - (100 - 51)² / 20,000 = 0.88 of 0.91, or 0.93."""
    turned = shift * math.cos(math.radians(10.0)) - 40 * math.sin(math.radians(10.0))
    assert (uniform_precedence(100, turned) >= 0.9) is stable
    blocks = {
        "liver": ((2 + shift, 3, 5), (102 + shift, 4, 6)),
        "spleen": ((2, 43, 5), (102, 44, 6)),
    }
    ledger = block_ledger((190, 50, 12), 1.0, **blocks)
    for pair, side in ((("liver", "spleen"), "right"), (("spleen", "liver"), "left")):
        fact = ledger.fact("direction.left_right", *pair)
        assert fact.value == side
        assert ("unstable" in fact.flags) is not stable
