"""The average anatomy: what someone who knows other patients, but not this one, would say."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from situs.facts import WHOLE, Fact
from situs.items.owners import mask_task, task_of_masks
from situs.items.record import Item

__all__ = ["AverageAnatomy", "Others", "Place"]

_CLEAR = 2.0
"""An average counts as knowledge only if it is this many standard errors away from no difference.

Without it, leaving a patient out of a balanced cohort tips the average to the *other* answer, and a
prior that knows nothing scores below chance instead of at it. """
_ROLE = "largest"
"""The kind of fact that says which lesion plays a role; questions name lesions by their roles."""

Subjects = tuple[str, ...]
Value = float | tuple[float, ...]


class Place(NamedTuple):
    """One of the numbers of which a fact is made, such as a box's top."""

    number: int
    of: int
    """How many numbers the fact has."""

    def is_in(self, value: object) -> TypeGuard[tuple[float, ...]]:
        """Whether a fact has so many numbers: another's bench may hold anything."""
        return (
            isinstance(value, tuple)
            and len(value) == self.of
            and all(isinstance(number, int | float) for number in value)
        )


class Others(NamedTuple):
    """What patients have, all but one."""

    patients: int
    mean: float
    error: float
    """The standard error of the mean."""

    def sign(self, beyond: float = 0.0) -> int:
        """+1 or -1 if the mean is clearly more or less than `beyond`, else 0.

        One other patient alone tells nothing.
        """
        if self.patients < 2:
            return 0
        far = self.mean - beyond
        if abs(far) <= _CLEAR * self.error or far == 0:
            return 0
        return 1 if far > 0 else -1


class _Sums(NamedTuple):
    """Values as sums about their middle, from which one value can be taken out again."""

    patients: int
    middle: float
    total: float
    squares: float

    @classmethod
    def of(cls, values: Sequence[float]) -> _Sums:
        """The sums of these."""
        if not values:
            return cls(0, 0.0, 0.0, 0.0)
        # About a value that occurs, sums of equal values are exactly 0.
        middle = sorted(values)[len(values) // 2]
        far = [value - middle for value in values]
        return cls(len(far), middle, math.fsum(far), math.fsum(x * x for x in far))

    def without(self, value: float | None) -> Others | None:
        """What the others come to; None where so little would be left of the squares that their
        difference is noise."""
        if value is None:
            count, total, squares = self.patients, self.total, self.squares
        else:
            far = value - self.middle
            count, total, squares = self.patients - 1, self.total - far, self.squares - far * far
        if count < 1:
            return Others(0, 0.0, 0.0)
        spread = squares - total * total / count
        if value is not None and spread < _NOISE * self.squares:
            return None
        variance = max(0.0, spread) / (count - 1) if count > 1 else 0.0
        return Others(count, self.middle + total / count, math.sqrt(variance / count))


_NOISE = 1e-6
"""The share of the sum of squares below which what is left of it is computed anew."""


class AverageAnatomy:
    """Facts of patients, always without the patient that is asked about.

    What follows from them, each task knows.
    """

    def __init__(self, facts: Iterable[Fact], patient_of: Mapping[str, str]) -> None:
        """`facts` of the kinds in `kinds`; `patient_of` maps study to patient."""
        self._any: dict[tuple[str, Subjects], dict[str, Value]] = defaultdict(dict)
        self._uncut: dict[tuple[str, Subjects], dict[str, Value]] = defaultdict(dict)
        self._roles: dict[str, dict[str, str]] = defaultdict(dict)
        self._patients: dict[str, None] = {}
        self._sums: dict[tuple[object, ...], _Sums] = {}
        with_lesions: list[Fact] = []
        for fact in facts:
            patient = patient_of[fact.study_id]
            self._patients[patient] = None
            if fact.kind == _ROLE:
                self._roles[f"{_ROLE}:{fact.subjects[0]}"][patient] = str(fact.value)
            elif any(name.endswith(WHOLE) for name in fact.subjects):
                with_lesions.append(fact)
            else:
                self._learn(fact, fact.subjects, patient)
        # Measured with the lesions its mask leaves out, an organ stands for the organ without them.
        for fact in with_lesions:
            names = tuple(name.removesuffix(WHOLE) for name in fact.subjects)
            self._learn(fact, names, patient_of[fact.study_id])

    def _learn(self, fact: Fact, subjects: Subjects, patient: str) -> None:
        if isinstance(fact.value, bool) or not isinstance(fact.value, int | float | tuple):
            return
        value = fact.value if isinstance(fact.value, tuple) else float(fact.value)
        self._any[fact.kind, subjects][patient] = value
        if "cut" not in fact.flags:
            self._uncut[fact.kind, subjects][patient] = value

    @staticmethod
    def kinds(tasks: Iterable[str]) -> tuple[str, ...]:
        """The kinds of facts that these tasks learn from."""
        owners = [owner for name in tasks if (owner := task_of_masks(name)) is not None]
        return tuple(sorted({_ROLE, *(kind for owner in owners for kind in owner.rules.learns)}))

    # A key, below, is a structure's name or the role of a lesion (`largest:liver_lesion`). What
    # is measured only where the structures are whole has no `cut`.

    def numbers(self, kind: str, *keys: str, without: str, cut: bool = False) -> Others:
        """A number that all patients but one have; `cut`: also where a structure is cut."""
        return self._others(without, self._number, kind, keys, cut)

    def sizes(self, kind: str, *keys: str, without: str) -> Others:
        """As `numbers`, in logarithms: sizes differ by factors."""
        return self._others(without, self._log, kind, keys)

    def mean_size(self, kind: str, *keys: str, without: str) -> float | None:
        """Geometric mean of a size in the other patients; None where nobody else has it."""
        others = self.sizes(kind, *keys, without=without)
        return math.exp(others.mean) if others.patients else None

    def compare(self, kind: str, a: str, b: str, *, without: str) -> int:
        """Which of two sizes is larger in others: +1 the first, -1 the second, 0 not clear."""
        return self._others(without, self._log_ratio, kind, a, b).sign()

    def apart(self, kind: str, a: str, b: str, at: Place, *, without: str) -> Others:
        """How far a lies beyond b in the other patients, cut or not."""
        return self._others(without, self._difference, kind, a, b, at)

    def _others(self, without: str, measure: Callable[..., float | None], *about: object) -> Others:
        """What a measure comes to in all patients but one.

        It is summed up once for all of them: many are asked, each without himself.
        """
        key = (measure.__name__, *about)
        if key not in self._sums:
            values = (measure(*about, patient) for patient in self._patients)
            self._sums[key] = _Sums.of([value for value in values if value is not None])
        sums, own = self._sums[key], measure(*about, without)
        others = sums.without(own)
        if others is None:
            rest = (measure(*about, patient) for patient in self._patients if patient != without)
            others = _Sums.of([value for value in rest if value is not None]).without(None)
        assert others is not None  # nobody was left out of the sums
        return others

    def _number(self, kind: str, keys: Subjects, cut: bool, patient: str) -> float | None:
        value = self._value(kind, keys, cut, patient)
        return value if isinstance(value, float) else None

    def _log(self, kind: str, keys: Subjects, patient: str) -> float | None:
        size = self._number(kind, keys, False, patient)
        return math.log(size) if size is not None and size > 0 else None

    def _log_ratio(self, kind: str, a: str, b: str, patient: str) -> float | None:
        first, second = self._log(kind, (a,), patient), self._log(kind, (b,), patient)
        return None if first is None or second is None else first - second

    def _difference(self, kind: str, a: str, b: str, at: Place, patient: str) -> float | None:
        first, second = (self._value(kind, (key,), True, patient) for key in (a, b))
        if at.is_in(first) and at.is_in(second):
            return float(first[at.number]) - float(second[at.number])
        return None

    def _value(self, kind: str, keys: Subjects, cut: bool, patient: str) -> Value | None:
        """The fact about these subjects of one patient."""
        roles = [self._roles.get(key) for key in keys]
        names = tuple(
            key if role is None else role.get(patient, "") for key, role in zip(keys, roles)
        )
        table = self._any if cut else self._uncut
        return table.get((kind, names), {}).get(patient)

    def expected_number(self, item: Item) -> float | None:
        """The number that the average of the other patients suggests, in the item's unit.

        None where it is silent.
        """
        owner = mask_task(item) if item.parameters else None
        return None if owner is None else owner.expected_number(item, self)

    def consistent(self, item: Item) -> list[str]:
        """Answer values that the average of the other patients speaks for.

        Empty where it is silent.
        """
        owner = mask_task(item) if item.parameters else None
        return [] if owner is None else owner.expected(item, self)
