"""What other patients answered, against going through them one by one."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from situs.run.baselines.others import OtherCounts, OtherMedians


@pytest.mark.parametrize("seed", range(30))
def test_counts_and_medians_leave_the_patient_out(seed: int) -> None:
    rng = random.Random(seed)
    rows = [(rng.choice("pqrst"), rng.randrange(6)) for _ in range(rng.randint(1, 25))]
    counts, medians = OtherCounts[str, int](), OtherMedians[str]()
    for patient, value in rows:
        counts.add("k", patient, value)
        medians.add("k", patient, float(value))
    for patient in "pqrstu":
        others = sorted(value for other, value in rows if other != patient)
        assert counts.without("k", patient) == Counter(others)
        assert counts.commonest("k", patient) == _commonest(others)
        even = [value for value in others if value % 2 == 0]
        assert counts.commonest("k", patient, lambda value: value % 2 == 0) == _commonest(even)
        assert medians.without("k", patient) == (others[len(others) // 2] if others else None)


def test_counts_that_were_asked_for_hold_what_is_added_later() -> None:
    counts = OtherCounts[str, str]()
    for patient, value in (("p", "yes"), ("q", "yes"), ("r", "no")):
        counts.add("k", patient, value)
    assert counts.without("k", "p") == Counter({"yes": 1, "no": 1})
    counts.add("k", "s", "no")
    assert counts.without("k", "p") == Counter({"yes": 1, "no": 2})


def _commonest(values: list[int]) -> int | None:
    """The least of those that occur most often."""
    return min(values, key=lambda value: (-values.count(value), value), default=None)
