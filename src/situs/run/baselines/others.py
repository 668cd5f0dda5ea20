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


class OtherCounts(Generic[K, V]):
    """How often each value occurs under a key."""

    def __init__(self) -> None:
        self._all: dict[K, Counter[V]] = defaultdict(Counter)
        self._by_patient: dict[K, dict[str, _Counts[V]]] = defaultdict(dict)
        self._alike: dict[_Counts[V], _Counts[V]] = {}
        """The counts of one patient, once for all patients with the same: a bench has millions."""
        self._ranked: dict[K, list[V]] = {}
        self._without: dict[K, dict[_Counts[V], Counter[V]]] = {}

    def add(self, key: K, patient: str, value: V) -> None:
        """One answer of a patient."""
        self._all[key][value] += 1
        self._ranked.pop(key, None)
        self._without.pop(key, None)
        patients = self._by_patient[key]
        counts = dict(patients.get(patient, ()))
        counts[value] = counts.get(value, 0) + 1
        patient_counts = tuple(counts.items())
        patients[patient] = self._alike.setdefault(patient_counts, patient_counts)

    def without(self, key: K, patient: str) -> Counter[V]:
        """The counts over all other patients;
        not to be changed, since patients with like answers share them."""
        asked_about = self._by_patient[key].get(patient, ())
        known = self._without.setdefault(key, {})
        if asked_about not in known:
            patient_counts = Counter(dict(asked_about))
            known[asked_about] = Counter(
                {
                    value: count - patient_counts[value]
                    for value, count in self._all[key].items()
                    if count > patient_counts[value]
                }
            )
        return known[asked_about]

    def commonest(
        self, key: K, patient: str, fits: Callable[[V], bool] = lambda value: True
    ) -> V | None:
        """The commonest value over all other patients, the least of equally common ones; None if
        there is none.

        Of those that fit, where that is asked for.
        """
        counts = self._all.get(key)
        if not counts:
            return None
        if key not in self._ranked:
            self._ranked[key] = sorted(counts, key=lambda value: (-counts[value], value))
        patient_counts = dict(self._by_patient[key].get(patient, ()))
        # Only the patient's values count for less without it; the first of all others outranks the
        # rest.
        other = next(
            (one for one in self._ranked[key] if one not in patient_counts and fits(one)), None
        )
        left = {
            value: counts[value] - count for value, count in patient_counts.items() if fits(value)
        }
        if other is not None:
            left[other] = counts[other]
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
