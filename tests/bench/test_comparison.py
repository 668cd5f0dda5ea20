"""What is stored is held against what is derived anew: records and numbers."""

from __future__ import annotations

import pytest

from situs.bench.checks import comparison
from situs.items import Boxes, Compound, Grades, Number, YesNo
from situs.space import WorldBox


def _boxed(side: float, grades: dict[str, int]) -> Compound:
    box = WorldBox((0.0, 0.0, 0.0), (side, 2.0, 3.0), "patella")
    return Compound({"box": Boxes((box,)), "grades": Grades(grades)})


@pytest.mark.parametrize(
    ("stored", "anew", "is_same"),
    [
        (_boxed(1.0, {"a": 1, "b": 2}), _boxed(1.0, {"b": 2, "a": 1}), True),
        (_boxed(1.0, {"a": 1}), _boxed(1.0 + 1e-12, {"a": 1}), True),
        (_boxed(1.0, {"a": 1}), _boxed(1.0 + 1e-6, {"a": 1}), False),
        (_boxed(1.0, {"a": 1}), _boxed(1.0, {"a": 2}), False),
        (_boxed(1.0, {"a": 1}), _boxed(1.0, {"a": 1, "b": 0}), False),
        (YesNo(True), YesNo(True), True),
        (YesNo(True), Number(1.0, ""), False),
    ],
)
def test_records_are_the_same_to_within_rounding(
    stored: object, anew: object, is_same: bool
) -> None:
    assert comparison._same_records(anew, stored) is is_same
