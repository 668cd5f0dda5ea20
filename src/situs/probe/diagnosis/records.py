"""What a diagnosis is made of:
its findings, sight by group of tasks, and the thresholds that decide."""

from __future__ import annotations

from typing import Literal

import msgspec

from situs.probe.diagnosis.effects import Effect, Interval

__all__ = [
    "FINDINGS",
    "HABIT_LEVEL",
    "HABIT_SIZE",
    "LEVEL",
    "NEGLIGIBLE",
    "SAME",
    "Diagnosis",
    "Finding",
    "GroupSight",
    "Verdict",
    "finding_of",
]

FINDINGS = (
    "looks_at_the_image",
    "text_only",
    "mirrored",
    "mm_as_cm",
    "one_slice_only",
    "follows_the_prior",
    "guesses",
    "memorised",
    "reacts_without_gain",
    "ignores_lesions",
    "option_habit",
    "yes_bias",
    "declines",
)
"""What is always asked, in this order."""

Verdict = Literal["yes", "no", "unclear", "not tested"]

LEVEL = 0.05
"""Of the tests for sight together."""
HABIT_LEVEL = 0.01
HABIT_SIZE = 0.15
NEGLIGIBLE = 0.1
SAME = 0.99
"""A reader who sees a tenth of the items changes about a twentieth of its answers."""


class Finding(msgspec.Struct, frozen=True):
    """One verdict with what it rests on."""

    verdict: Verdict
    words: str
    """The verdict and its evidence, as a sentence."""
    measure: str
    """What `value` is."""
    value: float | None = None
    ci95: Interval | None = None
    n: int = 0
    patients: int = 0


class GroupSight(msgspec.Struct, frozen=True):
    """What is shown of sight in one group of tasks."""

    verdict: Literal["sees", "misled", "none shown", "unclear"]
    gain: Effect
    own_picture: Effect
    p: float | None


class Diagnosis(msgspec.Struct, frozen=True):
    """What kind of reader it is."""

    kind: str
    """The name of the rule of `KINDS` that holds."""
    summary: str
    items: str
    """Which items sight was decided on, in words."""
    findings: dict[str, Finding]
    """Those of `FINDINGS`, then others that were made."""
    groups: dict[str, GroupSight] = {}
    """By group of tasks, where there is more than one."""
    detectable: float | None = None
    """The smallest sight gain that a bench of this size would show in four of five repeats."""


def finding_of(verdict: Verdict, words: str, measure: str, effect: Effect) -> Finding:
    """A verdict with the effect it rests on."""
    return Finding(verdict, words, measure, effect.value, effect.ci95, effect.n, effect.patients)
