"""The evidence on a reader, with what is derived from it once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from situs.probe.diagnosis.effects import FEWEST_ITEMS
from situs.probe.diagnosis.evidence import ALL_ITEMS, UNSEEN, Evidence, Moved, Sight, Stability
from situs.probe.diagnosis.habits import Habit
from situs.probe.diagnosis.records import (
    HABIT_LEVEL,
    HABIT_SIZE,
    LEVEL,
    NEGLIGIBLE,
    SAME,
    GroupSight,
)
from situs.score import holm

__all__ = ["Reader", "lost_gains"]

_DETECTABLE = (1.96 + 0.84) / (2 * 1.96)
"""Of the width of a 95 % interval: what four of five repeats would show (Cohen 1988)."""


_FEW = 0.2
"""Answers that show a slip, beside wrong answers to yes/no questions."""


class Reader:
    """The evidence with what is derived from it once."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.all = evidence.sight[ALL_ITEMS]
        significant = {name: sight for name, sight in evidence.sight.items() if _is_shown(sight)}
        self.seen = {
            name: sight for name, sight in significant.items() if (sight.weaker.value or 0.0) > 0
        }
        self.misled = {
            name: sight for name, sight in significant.items() if (sight.weaker.value or 0.0) < 0
        }
        self.groups = {
            name: self._group(name)
            for name in evidence.sight
            if name not in (ALL_ITEMS, evidence.headline)
        }
        lost = lost_gains(evidence.harmless) if self.seen else {}
        self.unstable = {name: one for name, one in lost.items() if _answers_worse(one)}
        self.silenced = {name: one for name, one in lost.items() if name not in self.unstable}
        """Changes under which it no longer answers: whether it would be right is not known."""
        self.clings = {
            group: effect
            for group, effect in evidence.followed.items()
            if effect.below(0.0)
            and (group in self.seen or (ALL_ITEMS in self.seen and group not in self.groups))
        }

    def _group(self, name: str) -> GroupSight:
        sight = self.evidence.sight[name]
        verdict: Literal["sees", "misled", "none shown", "unclear"] = "unclear"
        if name in self.seen:
            verdict = "sees"
        elif name in self.misled:
            verdict = "misled"
        elif sight.gain.decides and sight.highest < max(
            NEGLIGIBLE, (self.all.gain.value or 0.0) / 2
        ):
            verdict = "none shown"
        return GroupSight(verdict, sight.gain, sight.own_picture, sight.p)

    @property
    def known(self) -> bool:
        return self.all.gain.decides

    @property
    def shows_sight(self) -> bool:
        return bool(self.seen or self.misled)

    @property
    def goes_against(self) -> bool:
        """Whether pictures make it worse in more than sides:
        then no axis is exchanged, all is answered wrongly."""
        apart = (ALL_ITEMS, self.evidence.headline, "sides")
        return not self.seen and any(name not in apart for name in self.misled)

    @property
    def inverts(self) -> bool:
        """Whether it says yes for no: wrong in yes/no questions of more than one axis, no others.

        Yes/no questions on one axis cannot tell this from its ends exchanged.
        """
        inversion = self.evidence.inversion
        if inversion is None or not inversion.yes_no.decides:
            return False
        beyond_one_axis = all(
            effect.decides and effect.below(0.0) for effect in inversion.unexplained.values()
        )
        only_yes_no = inversion.in_other_forms < _FEW
        return inversion.yes_no.below(-HABIT_SIZE) and beyond_one_axis and only_yes_no

    @property
    def hint_of_sight(self) -> bool:
        """Over all items or in a group of tasks: no words may then say that it does not look."""
        own_picture = self.all.own_picture
        return (
            self.all.gain.above(0.0)
            or (own_picture.decides and own_picture.above(0.0))
            or self.hint_in_a_group
        )

    @cached_property
    def hint_in_a_group(self) -> bool:
        """Both proofs of sight in a group, however few its items: too few to say that it looks, or
        where.

        Over all items such a group is lost: who sees levels only, and is asked for few, changes
        nothing there.
        """
        sights = [self.evidence.sight[name] for name in self.groups]
        p_values = holm([sight.weaker.p for sight in sights])
        return any(
            p is not None and p < LEVEL and (sight.weaker.value or 0.0) > 0
            for sight, p in zip(sights, p_values)
        )

    @property
    def unchanged_by(self) -> str:
        """The probe under which answers stay the same; empty if none."""
        effects = {name: self.evidence.same[name] for name in UNSEEN if name in self.evidence.same}
        same = {
            name: effect.value or 0.0
            for name, effect in effects.items()
            if effect.n >= FEWEST_ITEMS
        }
        # Another patient's pictures tell most: nothing else about the request is different.
        most = max(
            same,
            key=lambda name: (same[name] >= SAME and name == "other-patient", same[name]),
            default="",
        )
        return most if most and same[most] >= SAME else ""

    @property
    def moved(self) -> Moved | None:
        """The group in which alone its answers change,
        with another patient's pictures if these were shown."""
        unseen_runs = [name for name in reversed(UNSEEN) if name in self.evidence.same]
        return self.evidence.moved.get(unseen_runs[0]) if unseen_runs else None

    @property
    def habit(self) -> Habit | None:
        return next(filter(_is_habit, self.evidence.options), None)

    @property
    def yes(self) -> Habit | None:
        """Said too often; fewer questions ask for yes or no than offer options,
        so this is decided at 5 %."""
        ahead = self.evidence.yes[:1]
        return next(
            (one for one in ahead if one.p < LEVEL and (one.excess.value or 0.0) >= HABIT_SIZE),
            None,
        )

    @property
    def detectable(self) -> float | None:
        interval = self.all.weaker.ci95
        return None if interval is None else (interval[1] - interval[0]) * _DETECTABLE


def _is_shown(sight: Sight) -> bool:
    return sight.p is not None and sight.p < LEVEL


def _is_habit(habit: Habit) -> bool:
    return habit.p < HABIT_LEVEL and (habit.excess.value or 0.0) >= HABIT_SIZE


def _answers_worse(one: Stability) -> bool:
    """Whether the gain is lost by what it answers, not by declining."""
    return one.answered.decides and one.answered.below(0.0)


def lost_gains(harmless: Mapping[str, Stability]) -> dict[str, Stability]:
    """Changes that take away more than half of the gain, the fall beyond chance (Holm)."""
    p_values = holm([one.fall.p for one in harmless.values()])
    lost = {}
    for (name, one), p in zip(harmless.items(), p_values):
        gained, remains, fall = (
            one.gained.value or 0.0,
            one.remains.value or 0.0,
            one.fall.value or 0.0,
        )
        if p is not None and p < LEVEL and fall < 0 < gained and remains < gained / 2:
            lost[name] = one
    return lost
