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

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from situs.items import Choice, Item, Number, YesNo
from situs.probe.diagnosis.effects import Effect, effect_of
from situs.score.explain import Answered, said_by

__all__ = ["agreement", "own_picture_gain", "own_picture_values", "right_values"]

Numbers = NDArray[np.float64]


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
        if not others.all():
            continue
        dealt = _Dealt(group)
        given_another, for_another = dealt.given_another(), dealt.for_another()
        overall = float(given_another.sum() / others.sum())
        loss = dealt.own - given_another / others - for_another / others + overall
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
        if not others.all():
            continue
        replies = [(said_by(one), one.item.patient_id) for one in group]
        by_reply, by_both = Counter(reply for reply, _ in replies), Counter(replies)
        alike = np.array([by_reply[reply] - by_both[reply, own] for reply, own in replies])
        items += [one.item for one in group]
        same += (alike / others).tolist()
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


def _others(group: Sequence[Answered]) -> Numbers:
    """How many items of the group are of other patients, for each."""
    patients = Counter(one.item.patient_id for one in group)
    return np.array([len(group) - patients[one.item.patient_id] for one in group], dtype=float)


class _Dealt:
    """How often the answers of a group would be right if they were dealt out among its patients.

    Counted by answers and truths, not pair by pair: a question may be asked of ten thousands.
    """

    def __init__(self, group: Sequence[Answered]) -> None:
        self._items = [one.item for one in group]
        self._chances = [one.scored.chance or 0.0 for one in group]
        self._truths = [_truth(item) for item in self._items]
        self._replies = [_said(one) for one in group]
        members: dict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(self._items):
            members[item.patient_id].append(place)
        self._alike = [members[item.patient_id] for item in self._items]
        """For each item the places of its patient's."""
        places = range(len(group))
        self.own = np.array([self._hit(place, place) for place in places])
        """Whether each answer is right."""

    def _hit(self, reply: int, truth: int) -> float:
        """Whether the answer to one item is right for another; a guess if none was read."""
        return _hit(self._replies[reply], self._truths[truth], self._chances[truth])

    def given_another(self) -> Numbers:
        """For each item, how many answers of other patients are right."""
        every: Numbers
        stated, unread = self._stated(), self._replies.count(None)
        if stated is not None:
            stated.sort()
            lows, highs = np.array(self._truths, dtype=float).T
            right = np.searchsorted(stated, highs, "right") - np.searchsorted(stated, lows)
            every = right + unread * np.array(self._chances)
        else:
            replies = Counter(self._replies)
            classes = list(zip(self._truths, self._chances))
            right_of = {
                one: sum(count * _hit(reply, *one) for reply, count in replies.items())
                for one in set(classes)
            }
            every = np.array([right_of[one] for one in classes])
        return every - self._within(lambda own, other: self._hit(other, own))

    def for_another(self) -> Numbers:
        """For each item, of how many items of other patients its answer is right."""
        guessed = float(sum(self._chances))
        every: Numbers
        if self._stated() is not None:
            lows, highs = np.sort(np.array(self._truths, dtype=float).T)
            said = np.array([np.nan if one is None else one for one in self._replies], dtype=float)
            right = np.searchsorted(lows, said, "right") - np.searchsorted(highs, said)
            every = np.where(np.isnan(said), guessed, right)
        else:
            truths = Counter(zip(self._truths, self._chances))
            right_of = {
                reply: sum(count * _hit(reply, *one) for one, count in truths.items())
                for reply in set(self._replies)
            }
            every = np.array([right_of[reply] for reply in self._replies])
        return every - self._within(self._hit)

    def _stated(self) -> Numbers | None:
        """The numbers that were said; None where the group asks for options."""
        if not isinstance(self._items[0].answer, Number):
            return None
        return np.array([one for one in self._replies if one is not None], dtype=float)

    def _within(self, hit: Callable[[int, int], float]) -> Numbers:
        """What the patient's own items come to, which are no others."""
        sums = (sum(hit(own, other) for other in alike) for own, alike in enumerate(self._alike))
        return np.array(list(sums))


def _said(one: Answered) -> str | float | None:
    if isinstance(one.item.answer, Number):
        return None if one.scored.prediction is None else float(one.scored.prediction)
    return said_by(one)


def _hit(reply: str | float | None, truth: Truth, chance: float) -> float:
    if reply is None:
        return chance
    if isinstance(reply, float):
        return float(isinstance(truth, tuple) and truth[0] <= reply <= truth[1])
    return float(reply in truth)
