"""The average anatomy: what someone who knows other patients, but has not seen this one, would say."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from situs.facts import WHOLE, Fact
from situs.items.record import Item
from situs.space import Axis, Direction

__all__ = ["AverageAnatomy"]

_CLEAR = 2.0
"""An average counts as knowledge only if it is this many standard errors away from no difference.

Without it, leaving a patient out of a balanced cohort tips the average to the *other* answer, and a prior
that knows nothing scores below chance instead of at it.
"""


class AverageAnatomy:
    """Mean sizes and places of structures over patients, always without the patient that is asked about."""

    def __init__(self, facts: Iterable[Fact], patient_of: Mapping[str, str]) -> None:
        """`facts` of the kinds in `FACTS`; `patient_of` maps study to patient."""
        self._volumes: dict[str, dict[str, float]] = defaultdict(dict)
        self._lengths: dict[str, dict[str, float]] = defaultdict(dict)
        self._centroids: dict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
        self._right: dict[str, dict[str, float]] = defaultdict(dict)
        later: list[Fact] = []
        for fact in facts:
            if fact.kind == "largest" or fact.subjects[0].endswith(WHOLE):
                later.append(fact)
            else:
                self._know(fact, fact.subjects[0], patient_of[fact.study_id])
        for fact in later:
            if fact.kind == "largest":
                self._know_role(
                    f"largest:{fact.subjects[0]}", str(fact.value), patient_of[fact.study_id]
                )
            else:  # measured with the lesions its mask leaves out, it stands for the organ
                self._know(fact, fact.subjects[0].removesuffix(WHOLE), patient_of[fact.study_id])

    def _know(self, fact: Fact, name: str, patient: str) -> None:
        if (
            fact.kind == "volume"
            and "cut" not in fact.flags
            and isinstance(fact.value, float)
            and fact.value > 0
        ):
            self._volumes[name][patient] = math.log(fact.value)
        elif fact.kind == "centroid" and isinstance(fact.value, tuple):
            self._centroids[name][patient] = fact.value
        elif (
            fact.kind == "extent.superior_inferior"
            and "cut" not in fact.flags
            and isinstance(fact.value, float)
        ):
            self._lengths[name][patient] = math.log(max(fact.value, 1e-6))
        elif fact.kind == "right_share" and isinstance(fact.value, float):
            self._right[name][patient] = fact.value

    def _know_role(self, role: str, name: str, patient: str) -> None:
        if patient in self._volumes[name]:
            self._volumes[role][patient] = self._volumes[name][patient]
        if patient in self._centroids[name]:
            self._centroids[role][patient] = self._centroids[name][patient]
        if patient in self._right[name]:
            self._right[role][patient] = self._right[name][patient]

    FACTS = ("volume", "centroid", "right_share", "largest", "extent.superior_inferior")

    def volume_ml(self, key: str, patient: str) -> float | None:
        """Geometric mean of the structure's volume in the other patients."""
        others = [value for other, value in self._volumes[key].items() if other != patient]
        return math.exp(sum(others) / len(others)) if others else None

    def length_mm(self, key: str, patient: str) -> float | None:
        """Geometric mean of the structure's length from top to bottom in the other patients."""
        others = [value for other, value in self._lengths[key].items() if other != patient]
        return math.exp(sum(others) / len(others)) if others else None

    def expected_number(self, item: Item) -> float | None:
        """The number that the average of the other patients suggests, in the item's unit; None where it is silent."""
        of, patient = item.parameters.get("of", ""), item.patient_id
        if item.task == "volume":
            return self.volume_ml(of, patient)
        length = (
            self.length_mm(of, patient)
            if item.task == "extent" and "ask" not in item.parameters
            else None
        )
        return None if length is None else length / 10.0

    def consistent(self, item: Item) -> list[str]:
        """Answer values that the average of the other patients speaks for; none where it is silent."""
        if not item.parameters:
            return []
        return self._expected(item, [option.value for option in item.options] or ["yes", "no"])

    def _expected(self, item: Item, offered: list[str]) -> list[str]:
        p, patient = item.parameters, item.patient_id
        if item.task == "comparison" and p["ask"] == "larger":
            sign = self._larger(p["a"], p["b"], patient) * (1 if p["which"] == "larger" else -1)
            return [p["a"] if sign > 0 else p["b"]] if sign else []
        if item.task == "comparison" and p["ask"] == "left_right":
            sign = self._larger(p["left"], p["right"], patient)
            return ["left" if sign > 0 else "right"] if sign else []
        if item.task == "extent" and item.form == "choice":
            sign = self._longer(p["a"], p["b"], patient) * (1 if p["which"] == "longer" else -1)
            return [p["a"] if sign > 0 else p["b"]] if sign else []
        if item.task == "extent" and "cm" in p:
            sign = _clear_sign(
                value - math.log(10.0 * float(p["cm"]))
                for other, value in self._lengths[p["of"]].items()
                if other != patient
            )
            return ["yes" if sign > 0 else "no"] if sign else []
        if item.task == "volume":
            return self._volume_answer(item, offered)
        if item.task == "comparison":
            return [
                value
                for value in offered
                if ">" in value and self._may_be(value.split(">"), patient)
            ]
        if item.task == "lesion_side":
            sign = _clear_sign(
                v - 0.5 for other, v in self._right[p["of"]].items() if other != patient
            )
            return ["right" if sign > 0 else "left"] if sign else []
        if item.task == "direction" and item.form == "yes_no":
            claim = Direction(p["claim"])
            sign = self._step(p["a"], p["b"], claim.axis, patient)
            return ["yes" if sign == claim.sign else "no"] if sign else []
        if item.task == "direction":
            return self._main_direction(
                p["a"], p["b"], [Axis(word) for word in p["plane"].split("+")], patient
            )
        return []

    def _larger(self, a: str, b: str, patient: str) -> int:
        first, second = self._volumes[a], self._volumes[b]
        return _clear_sign(
            first[k] - second[k] for k in first.keys() & second.keys() if k != patient
        )

    def _longer(self, a: str, b: str, patient: str) -> int:
        first, second = self._lengths[a], self._lengths[b]
        return _clear_sign(
            first[k] - second[k] for k in first.keys() & second.keys() if k != patient
        )

    def _volume_answer(self, item: Item, offered: list[str]) -> list[str]:
        p, patient = item.parameters, item.patient_id
        others = [value for other, value in self._volumes[p["of"]].items() if other != patient]
        if p.get("ask") == "more_than":
            sign = _clear_sign(value - math.log(float(p["ml"])) for value in others)
            return ["yes" if sign > 0 else "no"] if sign else []
        mean = self.volume_ml(p["of"], patient)
        ranges = {value: value.split("-") for value in offered if "-" in value}
        return [
            v
            for v, (low, high) in ranges.items()
            if mean is not None and float(low) <= mean < float(high)
        ]

    def _may_be(self, order: list[str], patient: str) -> bool:
        return all(self._larger(a, b, patient) >= 0 for a, b in itertools.combinations(order, 2))

    def _steps(self, a: str, b: str, axis: Axis, patient: str) -> list[float]:
        first, second, k = self._centroids[a], self._centroids[b], axis.world_index
        return [
            first[p][k] - second[p][k] for p in sorted(first.keys() & second.keys()) if p != patient
        ]

    def _step(self, a: str, b: str, axis: Axis, patient: str) -> int:
        return _clear_sign(self._steps(a, b, axis, patient))

    def _main_direction(self, a: str, b: str, plane: list[Axis], patient: str) -> list[str]:
        means = {axis: self._steps(a, b, axis, patient) for axis in plane}
        clear = {axis: sum(v) / len(v) for axis, v in means.items() if v and _clear_sign(v)}
        if not clear:
            return []
        axis = max(clear, key=lambda key: abs(clear[key]))
        return [axis.towards(clear[axis]).value]


def _clear_sign(values: Iterable[float]) -> int:
    """+1 or -1 if the mean is clearly away from zero, else 0; one other patient alone tells nothing."""
    sample = sorted(values)
    n = len(sample)
    if n < 2:
        return 0
    mean = sum(sample) / n
    error = math.sqrt(sum((v - mean) ** 2 for v in sample) / (n - 1) / n)
    if abs(mean) <= _CLEAR * error or mean == 0:
        return 0
    return 1 if mean > 0 else -1
