"""The piece of evidence all verdicts are made of:
a mean over items, with its interval and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from situs.items import Item
from situs.score import cluster_mean, cluster_of
from situs.score.explain import upper_tail

__all__ = [
    "FEWEST_ITEMS",
    "FEWEST_PATIENTS",
    "Effect",
    "Interval",
    "effect_of",
    "opinion_p",
    "weaker",
]

Interval = tuple[float, float]

FEWEST_PATIENTS = 10
"""Under so many patients nothing is decided."""
FEWEST_ITEMS = 30
"""Nor under so many items."""


class Effect(msgspec.Struct, frozen=True):
    """A mean over items with a 95 % interval over patients."""

    value: float | None = None
    ci95: Interval | None = None
    p: float | None = None
    """Against 0, two-sided; None for shares."""
    n: int = 0
    patients: int = 0
    texts: int = 0
    """Different questions."""

    @property
    def known(self) -> bool:
        """Whether there are enough patients to decide anything."""
        return self.value is not None and self.ci95 is not None

    @property
    def decides(self) -> bool:
        """Whether there are enough patients and items to decide by it."""
        return self.known and self.n >= FEWEST_ITEMS

    def above(self, bound: float) -> bool:
        """Whether the whole interval lies above a bound."""
        return self.ci95 is not None and self.ci95[0] > bound

    def below(self, bound: float) -> bool:
        """Whether the whole interval lies below a bound."""
        return self.ci95 is not None and self.ci95[1] < bound

    @property
    def words(self) -> str:
        """The value with its interval and what it rests on."""
        if self.value is None:
            return "unknown"
        signed = "+" if self.p is not None else ""
        bounds = "no interval"
        if self.ci95 is not None:
            bounds = f"95 % {self.ci95[0]:{signed}.3f} to {self.ci95[1]:{signed}.3f}"
        rests_on = f"{_counted(self.n, 'item')}, {_counted(self.patients, 'patient')}"
        return f"{self.value:{signed}.3f} ({bounds}; {rests_on})"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def effect_of(values: ArrayLike, items: Sequence[Item], *, signed: bool = True) -> Effect:
    """The mean of a value per item, over patients;
    `signed` values lie within −1 and 1, others within 0 and 1."""
    if not items:
        return Effect()
    limit = max(1.0, float(np.abs(np.asarray(values, dtype=np.float64)).max()))
    bounds = (-limit, limit) if signed else (0.0, 1.0)
    estimate = cluster_mean(values, [cluster_of(item) for item in items], bounds=bounds)
    texts = len({item.question for item in items})
    p = estimate.p if signed else None
    return Effect(estimate.value, estimate.ci95, p, estimate.n, estimate.clusters, texts)


def weaker(one: Effect, other: Effect) -> Effect:
    """The one of two effects that proves less, if both have to hold (intersection-union test).

    Of opposite signs they prove nothing: p is then 1.
    """
    if one.p is None or other.p is None or one.value is None or other.value is None:
        return one if other.value is None else other
    if one.value * other.value < 0:
        return msgspec.structs.replace(one if abs(one.value) < abs(other.value) else other, p=1.0)
    return one if one.p >= other.p else other


def opinion_p(habit_shown: Sequence[bool], chances: Sequence[float], texts: Sequence[str]) -> float:
    """How likely as many questions would show a habit, if each question were one try.

    Who does not look has one opinion on a question, however many patients are asked. A question
    shows the habit if more than half of its answers do; the tail is exact.
    """
    _, text_of = np.unique(np.asarray(texts), return_inverse=True)
    asked = np.bincount(text_of)
    shown, expected = (
        np.bincount(text_of, weights=np.asarray(one, dtype=np.float64)) / asked
        for one in (habit_shown, chances)
    )
    return upper_tail(expected, int((shown > 0.5).sum()))
