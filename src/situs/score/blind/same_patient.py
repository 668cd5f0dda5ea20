"""How far the other answers of the same patient tell an answer.

A bench asks several things of one patient, and they hang together: a tear on slice 12 says that the
volume has one. No balance over patients can change that, so it is measured and printed. It concerns
whoever is given several questions of a patient with their answers; a model that is asked one
question at a time is not.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from situs.base.files import digest
from situs.bench import SamePatient
from situs.items import Choice, Item, YesNo, answer_key

__all__ = ["told_by_other_answers"]

_MOST_PATIENTS = 400
_MOST_ASKED = 40
"""Of a patient; both are drawn by hash, so that the work has a bound."""
_TIE = 1e-12
"""Scores that differ by less are one: they are sums of logarithms."""


class _Answered(NamedTuple):
    item_id: str
    text: tuple[str, ...]
    answer: str
    options: tuple[str, ...]
    headline: bool


def told_by_other_answers(items: Iterable[Item]) -> SamePatient | None:
    """What one reaches who knows a patient's other answers, and all answers of the other patients.

    Naive Bayes: an option's score is the sum over the patient's other answers of the logarithm of
    how often they go with it in other patients, with one added to every count. None if the headline
    asks nobody two things.
    """
    patients = _drawn(items)
    together: Counter[tuple[object, ...]] = Counter()
    for asked in patients:
        for one in asked:
            for other in asked:
                if one is not other:
                    together[one.text, one.answer, other.text, other.answer] += 1
                    together[one.text, one.answer, other.text] += 1
    right = n = 0
    chance = 0.0
    for asked in patients:
        for one in asked:
            others = [other for other in asked if other is not one]
            if one.headline and others:
                right += _guess(one, others, together) == one.answer
                chance += 1.0 / len(one.options)
                n += 1
    return SamePatient(right, n, chance / n) if n else None


def _guess(
    one: _Answered, others: Sequence[_Answered], together: Counter[tuple[object, ...]]
) -> str:
    """The option that goes best with the others, the patient left out of the counts."""

    def score(option: str) -> float:
        counted_self = int(option == one.answer)
        total = 0.0
        for other in others:
            pair = together[one.text, option, other.text, other.answer] - counted_self
            beside = together[one.text, option, other.text] - counted_self
            total += math.log((pair + 1.0) / (beside + len(other.options)))
        return total

    scores = [score(option) for option in one.options]
    best = [option for option, value in zip(one.options, scores) if value >= max(scores) - _TIE]
    return best[int(digest("tie", one.item_id, size=4), 16) % len(best)]


def _drawn(items: Iterable[Item]) -> list[list[_Answered]]:
    """The questions with options, by patient; only of patients who may still be drawn."""
    found: dict[str, list[_Answered]] = defaultdict(list)
    last = ""
    for item in items:
        if isinstance(item.answer, YesNo | Choice):
            if last and item.patient_id not in found and _place(item.patient_id) > last:
                continue
            options = tuple(option.value for option in item.options) or ("yes", "no")
            text = (item.question, item.level, *sorted(options))
            answer = str(answer_key(item.answer))
            headline = item.stratum == "headline"
            found[item.patient_id].append(_Answered(item.item_id, text, answer, options, headline))
            if len(found) > 2 * _MOST_PATIENTS:
                for patient in sorted(found, key=_place)[_MOST_PATIENTS:]:
                    del found[patient]
                last = max(map(_place, found))
    chosen = sorted(found, key=_place)[:_MOST_PATIENTS]
    by_hash = [
        sorted(found[one], key=lambda asked: digest("asked", asked.item_id)) for one in chosen
    ]
    return [asked[:_MOST_ASKED] for asked in by_hash]


def _place(patient: str) -> str:
    """Where a patient stands among all, as if at random."""
    return digest("patient", patient)
