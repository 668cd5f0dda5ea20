"""Whether answers go with the patient's own pictures: the run's own answers, dealt out among the
patients.

To one and the same question patients have different right answers (options, or intervals of a
number). If a reader's answers to it were dealt out at random among its patients, whoever does not
look would be right as often as before. What a reader loses by this is due to what differs between
patients: the pictures. No call is needed, and a fixed opinion on a question, however lucky, gives
exactly 0.

For each item, r − p(right | another patient's answer) − p(own answer right for another patient) +
p(any answer right for any other patient), all within one question: the projection of the
U-statistic of that loss (Hoeffding 1948), whose mean is the loss and whose spread over patients is
that of the loss, dealing included.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from situs.items import Choice, Item, Number, YesNo
from situs.probe.diagnosis.effects import Effect, effect_of
from situs.score.explain import Answered, said_by

__all__ = ["agreement", "own_picture_gain", "own_picture_values", "right_values"]

Matrix = NDArray[np.float64]


def right_values(item: Item) -> frozenset[str]:
    """The answers that are right; none where an answer is not one of options."""
    match item.answer:
        case YesNo(value):
            return frozenset({"yes" if value else "no"})
        case Choice(value, also_right):
            return frozenset({value, *also_right})
        case _:
            return frozenset()


def own_picture_gain(answers: Sequence[Answered]) -> Effect:
    """How much oftener the answers are right than if they
    were dealt out among patients asked the same question."""
    items, values = own_picture_values(answers)
    return effect_of(values, items)


def own_picture_values(answers: Sequence[Answered]) -> tuple[list[Item], list[float]]:
    """The loss by dealing, per item;
    questions that have one right answer for all patients tell nothing."""
    items: list[Item] = []
    values: list[float] = []
    for group in _same_question(answers):
        if len({_truth(one.item) for one in group}) < 2:
            continue
        others = _others(group)
        if not others.any(axis=1).all():
            continue
        hits = _hits(group)
        weights = others / others.sum(axis=1, keepdims=True)
        given_another, for_another = (hits * weights).sum(axis=1), (hits.T * weights).sum(axis=1)
        overall = float((hits * others).sum() / others.sum())
        loss = np.diag(hits) - given_another - for_another + overall
        items += [one.item for one in group]
        values += loss.tolist()
    return items, values


def agreement(answers: Sequence[Answered]) -> tuple[list[Item], list[float], list[float]]:
    """Per item: the share of other patients asked the very
    same words who got the same answer, and that of a guess."""
    items, same, guess = [], [], []
    read = [one for one in answers if said_by(one) is not None and one.scored.chance is not None]
    for group in _same_question(read, in_order=True):
        others = _others(group)
        if not others.any(axis=1).all():
            continue
        replies = np.array([said_by(one) for one in group], dtype=object)
        alike = (replies[:, None] == replies[None, :]) & (others > 0)
        items += [one.item for one in group]
        same += (alike.sum(axis=1) / others.sum(axis=1)).tolist()
        guess += [float(one.scored.chance or 0.0) for one in group]
    return items, same, guess


Truth = frozenset[str] | tuple[float, float]
"""The answers that are right, or the interval that a number has to lie in."""


def _truth(item: Item) -> Truth:
    """What an answer is held against; empty for answers that are neither options nor numbers."""
    if isinstance(item.answer, Number):
        return item.answer.interval or (item.answer.value, item.answer.value)
    return right_values(item)


def _same_question(answers: Sequence[Answered], *, in_order: bool = False) -> list[list[Answered]]:
    groups: dict[tuple[str, ...], list[Answered]] = defaultdict(list)
    for one in answers:
        if _truth(one.item):
            offered = [option.value for option in one.item.options]
            groups[one.item.question, *(offered if in_order else sorted(offered))].append(one)
    return [group for group in groups.values() if len(group) > 1]


def _others(group: Sequence[Answered]) -> Matrix:
    """1 where two items are of different patients."""
    patients = np.array([one.item.patient_id for one in group], dtype=object)
    different: Matrix = (patients[:, None] != patients[None, :]).astype(np.float64)
    return different


def _hits(group: Sequence[Answered]) -> Matrix:
    """Row i, column j: whether the answer given for patient j is right for patient i;
    a guess if none was read."""
    hits = np.empty((len(group), len(group)))
    by_answer: dict[str | float | None, Matrix] = {}
    for column, one in enumerate(group):
        reply = _said(one)
        if reply not in by_answer:
            by_answer[reply] = np.array([_hit(reply, other) for other in group])
        hits[:, column] = by_answer[reply]
    return hits


def _said(one: Answered) -> str | float | None:
    if isinstance(one.item.answer, Number):
        return None if one.scored.prediction is None else float(one.scored.prediction)
    return said_by(one)


def _hit(reply: str | float | None, other: Answered) -> float:
    if reply is None:
        return other.scored.chance or 0.0
    truth = _truth(other.item)
    if isinstance(reply, float):
        return float(isinstance(truth, tuple) and truth[0] <= reply <= truth[1])
    return float(reply in truth)
