"""What other patients answered: counts and medians without the patient asked about, at no cost per patient."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["OtherCounts", "OtherMedians"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound="str | int | tuple[str, ...]")


class OtherCounts(Generic[K, V]):
    """How often each value occurs under a key."""

    def __init__(self) -> None:
        self._all: dict[K, Counter[V]] = defaultdict(Counter)
        self._own: dict[K, dict[str, list[V]]] = defaultdict(lambda: defaultdict(list))
        self._ranked: dict[K, list[V]] = {}

    def add(self, key: K, patient: str, value: V) -> None:
        """One answer of a patient."""
        self._all[key][value] += 1
        self._ranked.pop(key, None)
        self._own[key][patient].append(value)

    def without(self, key: K, patient: str) -> Counter[V]:
        """The counts over all other patients."""
        own = Counter(self._own[key].get(patient, ()))
        return Counter(
            {
                value: count - own[value]
                for value, count in self._all[key].items()
                if count > own[value]
            }
        )

    def commonest(
        self, key: K, patient: str, fits: Callable[[V], bool] = lambda value: True
    ) -> V | None:
        """The commonest value over all other patients, the least of equally common ones; None if there is none.

        Of those that fit, where that is asked for.
        """
        counts = self._all.get(key)
        if not counts:
            return None
        if key not in self._ranked:
            self._ranked[key] = sorted(counts, key=lambda value: (-counts[value], value))
        own = Counter(self._own[key].get(patient, ()))
        # Only the patient's values count for less without it; the first of all others outranks the rest.
        other = next((one for one in self._ranked[key] if one not in own and fits(one)), None)
        left = {value: counts[value] - count for value, count in own.items() if fits(value)}
        if other is not None:
            left[other] = counts[other]
        return min((v for v in left if left[v]), key=lambda v: (-left[v], v), default=None)


class OtherMedians(Generic[K]):
    """The (upper) median of numbers under a key."""

    def __init__(self) -> None:
        self._all: dict[K, list[float]] = defaultdict(list)
        self._own: dict[K, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._sorted: set[K] = set()

    def add(self, key: K, patient: str, value: float) -> None:
        """One answer of a patient."""
        self._all[key].append(value)
        self._own[key][patient].append(value)
        self._sorted.discard(key)

    def without(self, key: K, patient: str) -> float | None:
        """The median over all other patients; None if there are none."""
        values = self._all[key]
        if key not in self._sorted:
            values.sort()
            self._sorted.add(key)
        own = sorted(self._own[key].get(patient, ()))
        if len(own) == len(values):
            return None
        place = (len(values) - len(own)) // 2
        taken: Counter[float] = Counter()
        for value in own:
            if bisect_left(values, value) + taken[value] <= place:
                place += 1
            taken[value] += 1
        return values[place]
