"""Law 3, units: scaling the affine by s scales lengths by s, areas by s² and volumes by s³,
intervals included.

Masks are `exact`, so that no error in fixed millimetres stands beside the voxels. Questions have
thresholds in millimetres and may change; facts may not.
"""

from __future__ import annotations

import itertools

import pytest
from _studies import close, ledger_of, phantom_labels, scaled

from situs.facts import Fact
from situs.space import AXES
from situs.volumes import LabelMap

POWER = {
    "voxels": 0,
    "components": 0,
    "touches_border": 0,
    "centroid": 1,
    "box": 1,
    **{f"extent.{axis}": 1 for axis in AXES},
    "volume": 3,
    "right_share": 0,
    "side": 0,
    "slice_span": 0,
    "ends_beyond": 0,
}
PAIR_POWER = {
    "centre_distance": 1,
    "boundary_distance": 1,
    "surface_gap": 1,
    "contact_area": 2,
    "touching": 0,
    "enveloping": 0,
    "volume_ratio": 0,
    **{f"gap.{axis}": 1 for axis in AXES},
    **{f"angle.{axis}": 0 for axis in AXES},
}


def times(value: object, factor: float) -> object:
    if isinstance(value, tuple):
        return tuple(times(v, factor) for v in value)
    return value if value is None or isinstance(value, bool | str) else value * factor


def assert_scaled(before: Fact, after: Fact, factor: float) -> None:
    expected = (times(before.value, factor), times(before.interval, factor))
    if before.kind == "volume_ratio" and "unbounded" in before.flags:
        expected, after_values = expected[0], after.value
    else:
        after_values = (after.value, after.interval)
    assert close(after_values, expected, 1e-9, 1e-9 * max(1.0, factor)), (before, after)
    assert before.flags == after.flags


def check_scale(labels: LabelMap, factor: float) -> None:
    one, two = ledger_of(labels), ledger_of(scaled(labels, factor))
    for name, (kind, power) in itertools.product(one.structures, POWER.items()):
        assert_scaled(one.fact(kind, name), two.fact(kind, name), factor**power)
    names = [name for name in one.structures if name != "body"]
    for (a, b), (kind, power) in itertools.product(itertools.pairwise(names), PAIR_POWER.items()):
        assert_scaled(one.fact(kind, a, b), two.fact(kind, a, b), factor**power)
    for a, b in one.contacts.pairs:
        assert_scaled(one.fact("contact_area", a, b), two.fact("contact_area", a, b), factor**2)


@pytest.mark.sampled
@pytest.mark.parametrize("factor", [0.5, 0.1, 1.7, 3.0])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_lengths_areas_and_volumes_scale(index, factor):
    check_scale(phantom_labels(19, index, (7.0, 8.0, 9.0)), factor)


@pytest.mark.sweep
@pytest.mark.parametrize("index", range(20))
def test_sweep_of_scaled_patients(index, little_of):
    for factor in little_of((0.01, 0.3, 0.9, 2.5, 10.0), 2):
        check_scale(phantom_labels(19, index), factor)
