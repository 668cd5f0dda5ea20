"""The average anatomy: what someone who knows other patients, but not this one, would say."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from situs.facts import WHOLE, Fact
from situs.items.owners import mask_task, task_of_masks
from situs.items.record import Item

__all__ = ["AverageAnatomy", "clear_sign"]

_CLEAR = 2.0
"""An average counts as knowledge only if it is this many standard errors away from no difference.

Without it, leaving a patient out of a balanced cohort tips the average to the *other* answer, and a
prior that knows nothing scores below chance instead of at it. """
_ROLE = "largest"
"""The kind of fact that says which lesion plays a role; questions name lesions by their roles."""

Subjects = tuple[str, ...]
Value = float | tuple[float, ...]


class AverageAnatomy:
    """Facts of patients, always without the patient that is asked about.

    What follows from them, each task knows.
    """

    def __init__(self, facts: Iterable[Fact], patient_of: Mapping[str, str]) -> None:
        """`facts` of the kinds in `kinds`; `patient_of` maps study to patient."""
        self._any: dict[tuple[str, Subjects], dict[str, Value]] = defaultdict(dict)
        self._uncut: dict[tuple[str, Subjects], dict[str, Value]] = defaultdict(dict)
        self._roles: dict[str, dict[str, str]] = defaultdict(dict)
        with_lesions: list[Fact] = []
        for fact in facts:
            patient = patient_of[fact.study_id]
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

    def known(self, kind: str, *keys: str, without: str, cut: bool = False) -> dict[str, Value]:
        """Patient → the fact about these subjects, of all patients but one.

        `cut`: also of structures that are cut. A key is a structure's name, or the role of a lesion
        (`largest:liver_lesion`).
        """
        table = self._any if cut else self._uncut
        roles = [self._roles.get(key) for key in keys]
        if not any(roles):
            by_patient = table.get((kind, keys), {})
            return {p: value for p, value in by_patient.items() if p != without}
        result = {}
        # In the order of the facts, never of a set: the sums of floating-point numbers depend on
        # it.
        for patient in dict.fromkeys(patient for role in roles if role for patient in role):
            if patient == without:
                continue
            names = tuple(
                key if role is None else role.get(patient, "") for key, role in zip(keys, roles)
            )
            by_patient = table.get((kind, names), {})
            if patient in by_patient:
                result[patient] = by_patient[patient]
        return result

    def numbers(self, kind: str, *keys: str, without: str, cut: bool = False) -> dict[str, float]:
        """As `known`, for facts that are one number."""
        known = self.known(kind, *keys, without=without, cut=cut)
        return {patient: value for patient, value in known.items() if isinstance(value, float)}

    def points(
        self, kind: str, key: str, *, n: int, without: str, cut: bool = False
    ) -> dict[str, tuple[float, ...]]:
        """As `known`, for facts that are `n` numbers: another's bench may hold anything."""
        known = self.known(kind, key, without=without, cut=cut)
        return {
            patient: value
            for patient, value in known.items()
            if isinstance(value, tuple)
            and len(value) == n
            and all(isinstance(number, int | float) for number in value)
        }

    def logs(self, kind: str, *keys: str, without: str) -> dict[str, float]:
        """As `numbers`, in logarithms: sizes differ by factors."""
        sizes = self.numbers(kind, *keys, without=without)
        return {patient: math.log(size) for patient, size in sizes.items() if size > 0}

    def mean_size(self, kind: str, *keys: str, without: str) -> float | None:
        """Geometric mean of a size in the other patients; None where nobody else has it."""
        others = list(self.logs(kind, *keys, without=without).values())
        return math.exp(sum(others) / len(others)) if others else None

    def compare(self, kind: str, a: str, b: str, *, without: str) -> int:
        """Which of two sizes is larger in others: +1 the first, -1 the second, 0 not clear."""
        first, second = (self.logs(kind, key, without=without) for key in (a, b))
        return clear_sign(
            first[patient] - second[patient] for patient in first.keys() & second.keys()
        )

    def expected_number(self, item: Item) -> float | None:
        """The number that the average of the other patients suggests, in the item's unit.

        None where it is silent.
        """
        owner = mask_task(item) if item.parameters else None
        return None if owner is None else owner.expected_number(item, self)

    def consistent(self, item: Item) -> list[str]:
        """Answer values that the average of the other patients speaks for.

        None where it is silent.
        """
        owner = mask_task(item) if item.parameters else None
        return [] if owner is None else owner.expected(item, self)


def clear_sign(values: Iterable[float]) -> int:
    """+1 or -1 if the mean is clearly away from zero, else 0.

    One other patient alone tells nothing.
    """
    sample = sorted(values)
    n = len(sample)
    if n < 2:
        return 0
    mean = sum(sample) / n
    error = math.sqrt(sum((v - mean) ** 2 for v in sample) / (n - 1) / n)
    if abs(mean) <= _CLEAR * error or mean == 0:
        return 0
    return 1 if mean > 0 else -1
