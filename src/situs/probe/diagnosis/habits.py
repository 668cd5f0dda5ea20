"""Habits that need no picture: a letter, yes or no, the longest option, the second largest number.

A habit shows in how much oftener an answer is given than it is right, so whoever is right shows
none. It has to show over patients and over questions: who has one opinion on each of seven
questions may well say A to five of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from situs.items import Choice, Item, YesNo
from situs.probe.diagnosis.effects import Effect, effect_of, opinion_p
from situs.probe.diagnosis.own_picture import right_values
from situs.score import TRICKS, holm
from situs.score.explain import Answered, said_by

__all__ = ["Habit", "option_habits", "yes_habit"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NUMBER = re.compile(r"(?<![A-Za-z\d])-?\d+(?:\.\d+)?")
"""A measured number; the 12 of T12 is a name."""
_RANKS = {"largest number": -1, "second largest number": -2, "smallest number": 0}


class Habit(msgspec.Struct, frozen=True):
    """One habit: how much oftener it is followed than right."""

    name: str
    """As it is said: `answers B`, `takes the longest option`."""
    excess: Effect
    followed: float
    """Share of the answers that follow it."""
    p: float
    """The larger of those over patients and over questions;
    corrected after Holm over all habits that were tried."""


Pick = Callable[[Item], str | None]
"""What a habit would answer; None where it does not apply."""


def option_habits(answers: Iterable[Answered]) -> list[Habit]:
    """Letters and option rules, the one followed most first."""
    read = [
        one for one in answers if isinstance(one.item.answer, Choice) and said_by(one) is not None
    ]
    most = max((len(one.item.options) for one in read), default=0)
    by_place: dict[str, Pick] = {
        f"answers {letter}": _letter(number) for number, letter in enumerate(_LETTERS[:most])
    }
    by_place |= {f"takes the {name}": _trick(name) for name in ("last option", "middle option")}
    by_value: dict[str, Pick] = {
        f"takes the {name}": _trick(name) for name in ("longest option", "shortest option")
    }
    by_value |= {f"takes the {name}": _ranked(rank) for name, rank in _RANKS.items()}
    habits = [_habit(name, read, pick, _in_order) for name, pick in by_place.items()]
    habits += [_habit(name, read, pick, _in_any_order) for name, pick in by_value.items()]
    return _corrected([habit for habit in habits if habit is not None])


def yes_habit(answers: Iterable[Answered]) -> list[Habit]:
    """Yes and no, the one said too often first."""
    read = [
        one for one in answers if isinstance(one.item.answer, YesNo) and said_by(one) is not None
    ]
    habits = [_habit(f"says {word}", read, _always(word), _in_any_order) for word in ("yes", "no")]
    return _corrected([habit for habit in habits if habit is not None])


def _in_any_order(item: Item) -> str:
    """What an opinion on an answer is about."""
    return item.question


def _in_order(item: Item) -> str:
    """What an opinion on a letter is about."""
    return "\n".join((item.question, *(option.value for option in item.options)))


def _habit(
    name: str, read: Sequence[Answered], pick: Pick, words: Callable[[Item], str]
) -> Habit | None:
    applicable = [(one, choice) for one in read if (choice := pick(one.item)) is not None]
    if not applicable:
        return None
    follows = [said_by(one) == choice for one, choice in applicable]
    right = [choice in right_values(one.item) for one, choice in applicable]
    items = [one.item for one, _ in applicable]
    excess = effect_of(np.asarray(follows, dtype=float) - np.asarray(right, dtype=float), items)
    chances = [one.scored.chance or 0.0 for one, _ in applicable]
    ahead = excess.value is not None and excess.value > 0 and excess.p is not None
    p = max(excess.p or 0.0, opinion_p(follows, chances, list(map(words, items)))) if ahead else 1.0
    return Habit(name, excess, sum(follows) / len(follows), p)


def _corrected(habits: list[Habit]) -> list[Habit]:
    corrected = holm([habit.p for habit in habits])
    renewed = [
        msgspec.structs.replace(habit, p=1.0 if p is None else p)
        for habit, p in zip(habits, corrected)
    ]
    return sorted(renewed, key=lambda habit: -(habit.excess.value or 0.0))


def _letter(number: int) -> Pick:
    return lambda item: item.options[number].value if number < len(item.options) else None


def _trick(name: str) -> Pick:
    return lambda item: TRICKS[name](item) if item.options else None


def _always(word: str) -> Pick:
    return lambda item: word


def _ranked(rank: int) -> Pick:
    def pick(item: Item) -> str | None:
        numbers = [(_NUMBER.search(option.text), option.value) for option in item.options]
        listed = sorted((float(match[0]), value) for match, value in numbers if match is not None)
        return listed[rank][1] if len(listed) > 2 else None

    return pick
