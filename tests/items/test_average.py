"""The average anatomy leaves the patient who is asked about out, and nobody else."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situs.items.average import AverageAnatomy, Place

ORDINARY = st.floats(1.0, 4000.0)
OFTEN_EQUAL = st.sampled_from([1.0, 20.0, 20.0, 20.0, 20.000001, 3000.0])


def anatomy(values: Sequence[float], kind: str = "volume", name: str = "liver") -> AverageAnatomy:
    """Patients p0, p1, … with one measure each."""
    facts: list[Any] = [
        SimpleNamespace(study_id=f"s{n}", kind=kind, subjects=(name,), value=value, flags=())
        for n, value in enumerate(values)
    ]
    return AverageAnatomy(facts, {f"s{n}": f"p{n}" for n in range(len(values))})


@given(st.lists(ORDINARY | OFTEN_EQUAL, min_size=1, max_size=12))
def test_each_patient_is_compared_with_all_others(values: list[float]) -> None:
    average = anatomy(values)
    for number in range(len(values)):
        rest = values[:number] + values[number + 1 :]
        others = average.numbers("volume", "liver", without=f"p{number}")
        assert others.patients == len(rest)
        if rest:
            assert others.mean == pytest.approx(statistics.fmean(rest), rel=1e-12)
        if len(rest) > 1:
            error = statistics.stdev(rest) / math.sqrt(len(rest))
            assert others.error == pytest.approx(error, rel=1e-6, abs=1e-9)


def test_who_is_nobody_of_them_is_compared_with_all() -> None:
    average = anatomy([10.0, 1000.0])
    assert average.numbers("volume", "liver", without="p7").patients == 2
    assert average.mean_size("volume", "liver", without="p7") == pytest.approx(100.0)
    assert average.mean_size("volume", "spleen", without="p7") is None


@pytest.mark.parametrize(
    ("values", "sign"),
    [
        ([200.0, 200.0, 200.0], 0),  # all at the limit
        ([200.0, 5.0, 200.0, 200.0], 0),  # the one who differs is the one who is asked
        ([201.0, 5.0, 201.0], 1),
        ([150.0, 5.0, 150.0], -1),
        ([100.0, 5.0, 300.0], 0),  # not clear
        ([1e9, 5.0], 0),  # one other alone tells nothing
    ],
)
def test_only_a_clear_difference_counts(values: list[float], sign: int) -> None:
    others = anatomy(values).numbers("volume", "liver", without="p1")
    assert others.sign(beyond=200.0) == (sign if values[1] == 5.0 else 0)


def test_a_patient_costs_what_he_costs_however_many_there_are() -> None:
    """A question is answered from sums: the facts of the others are not gone through again."""

    class Counted(dict[str, float]):
        looked_up = 0

        def get(self, key: str, default: Any = None) -> Any:
            Counted.looked_up += 1
            return super().get(key, default)

    average = anatomy([float(100 + n % 37) for n in range(1000)])
    table = average._uncut
    for key in table:
        table[key] = Counted(table[key])  # type: ignore[arg-type]
    for number in range(1000):
        average.numbers("volume", "liver", without=f"p{number}")
    assert Counted.looked_up <= 2 * 1000


def test_places_are_compared_along_one_axis() -> None:
    facts: list[Any] = [
        SimpleNamespace(study_id=study, kind="centroid", subjects=(name,), value=at, flags=("cut",))
        for study, name, at in (
            ("s0", "liver", (5.0, 0.0, 9.0)),
            ("s0", "spleen", (1.0, 0.0, 3.0)),
            ("s1", "liver", (7.0, 0.0, 9.0)),
            ("s1", "spleen", (1.0, 0.0, 1.0)),
            ("s2", "liver", (900.0, 0.0, 9.0)),
        )
    ]
    average = AverageAnatomy(facts, {"s0": "p0", "s1": "p1", "s2": "p2"})
    others = average.apart("centroid", "liver", "spleen", Place(2, of=3), without="p9")
    assert (others.patients, others.mean) == (2, 7.0)


def test_a_patient_far_from_all_others_leaves_no_noise_behind() -> None:
    rest = [200.0, 200.001, 200.002]
    others = anatomy([1e9, *rest]).numbers("volume", "liver", without="p0")
    assert others.error == pytest.approx(statistics.stdev(rest) / math.sqrt(3), rel=1e-6)
