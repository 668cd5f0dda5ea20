"""What other patients answered:
counts and medians without the patient asked about, at no cost per patient."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["OtherCounts", "OtherMedians"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound="str | int | tuple[str, ...]")
_Counts = tuple[tuple[V, int], ...]
"""Each value of one patient, and how often it occurs."""


class _KeyCounts(Generic[V]):
    """How often each value occurs under one key, in all and by patient."""

    def __init__(
        self, patients: list[str], values: list[V], alike: dict[_Counts[V], _Counts[V]]
    ) -> None:
        self.answers = len(values)
        self.all = Counter(values)
        counts: dict[str, dict[V, int]] = {}
        for patient, value in zip(patients, values):
            own = counts.setdefault(patient, {})
            own[value] = own.get(value, 0) + 1
        self.by_patient = {
            patient: alike.setdefault(one, one)
            for patient, one in ((name, tuple(own.items())) for name, own in counts.items())
        }
        self.ranked = sorted(self.all, key=lambda value: (-self.all[value], value))
        self.without: dict[_Counts[V], Counter[V]] = {}


class OtherCounts(Generic[K, V]):
    """How often each value occurs under a key."""

    def __init__(self) -> None:
        self._answers: dict[K, tuple[list[str], list[V]]] = defaultdict(lambda: ([], []))
        self._counted: dict[K, _KeyCounts[V]] = {}
        self._alike: dict[_Counts[V], _Counts[V]] = {}
        """The counts of one patient, once for all patients with the same: a bench has millions."""

    def add(self, key: K, patient: str, value: V) -> None:
        """One answer of a patient; it is counted when somebody asks for its key."""
        patients, values = self._answers[key]
        patients.append(patient)
        values.append(value)

    def _counts(self, key: K) -> _KeyCounts[V]:
        patients, values = self._answers.get(key, ([], []))
        known = self._counted.get(key)
        if known is None or known.answers != len(values):
            known = self._counted[key] = _KeyCounts(patients, values, self._alike)
        return known

    def without(self, key: K, patient: str) -> Counter[V]:
        """The counts over all other patients;
        not to be changed, since patients with like answers share them."""
        counts = self._counts(key)
        asked_about = counts.by_patient.get(patient, ())
        if asked_about not in counts.without:
            patient_counts = Counter(dict(asked_about))
            counts.without[asked_about] = Counter(
                {
                    value: count - patient_counts[value]
                    for value, count in counts.all.items()
                    if count > patient_counts[value]
                }
            )
        return counts.without[asked_about]

    def commonest(
        self, key: K, patient: str, fits: Callable[[V], bool] = lambda value: True
    ) -> V | None:
        """The commonest value over all other patients, the least of equally common ones; None if
        there is none.

        Of those that fit, where that is asked for.
        """
        counts = self._counts(key)
        patient_counts = dict(counts.by_patient.get(patient, ()))
        # Only the patient's values count for less without it; the first of all others outranks the
        # rest.
        other = next(
            (one for one in counts.ranked if one not in patient_counts and fits(one)), None
        )
        left = {
            value: counts.all[value] - count
            for value, count in patient_counts.items()
            if fits(value)
        }
        if other is not None:
            left[other] = counts.all[other]
        return min((v for v in left if left[v]), key=lambda v: (-left[v], v), default=None)


class OtherMedians(Generic[K]):
    """The (upper) median of numbers under a key."""

    def __init__(self) -> None:
        self._all: dict[K, list[float]] = defaultdict(list)
        self._by_patient: dict[K, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._sorted: set[K] = set()

    def add(self, key: K, patient: str, value: float) -> None:
        """One answer of a patient."""
        self._all[key].append(value)
        self._by_patient[key][patient].append(value)
        self._sorted.discard(key)

    def without(self, key: K, patient: str) -> float | None:
        """The median over all other patients; None if there are none."""
        values = self._all[key]
        if key not in self._sorted:
            values.sort()
            self._sorted.add(key)
        patient_values = sorted(self._by_patient[key].get(patient, ()))
        if len(patient_values) == len(values):
            return None
        middle = (len(values) - len(patient_values)) // 2
        taken: Counter[float] = Counter()
        for value in patient_values:
            if bisect_left(values, value) + taken[value] <= middle:
                middle += 1
            taken[value] += 1
        return values[middle]
