"""The table of evidence a diagnosis is made from:
every effect once, with its interval and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from situs.anatomy import Term
from situs.items import Item
from situs.probe.diagnosis.effects import Effect, weaker
from situs.probe.diagnosis.habits import Habit
from situs.probe.table import Compared
from situs.score.explain import Answers, Budget, Cause

__all__ = [
    "ALL_ITEMS",
    "AXIS_SLIPS",
    "UNSEEN",
    "Evidence",
    "Expected",
    "Inversion",
    "Moved",
    "PriorEvidence",
    "ProbeRuns",
    "Sight",
    "Stability",
    "VolumeGain",
]

ALL_ITEMS = "all"
"""The name under which all items together stand beside the groups of tasks."""
UNSEEN = ("silent", "text", "blank", "noise", "other-patient")
"""Probes that take the pictures away or exchange them."""
AXIS_SLIPS = (Cause.MIRRORED.value, Cause.UP_DOWN.value, Cause.FRONT_BACK.value)
"""Slips that exchange the ends of an axis."""

Expected = Callable[[Item], Sequence[str]]
"""The answers that other patients leave open."""


class ProbeRuns(msgspec.Struct, frozen=True):
    """What was answered in all runs."""

    full: Answers
    blind: Mapping[str, Answers]
    """At least `text` and `silent`."""
    compared: Mapping[str, Collection[Compared]]
    """Probe → its items before and after."""
    expected: Expected
    terms: Mapping[str, Term] = {}
    """The bench's own names of structures."""


class Sight(msgspec.Struct, frozen=True):
    """What tells of sight on some of the items."""

    gain: Effect
    """With pictures minus without, against the better of the two runs without;
    with chance credit."""
    against: str
    """That run."""
    own_picture: Effect
    """Right minus right if its answers were dealt
    out among the patients asked the same question."""
    other_pictures: Effect = Effect()
    """With its pictures minus with black ones, noise or another patient's, whichever proves least
    of what the gain says."""
    balanced: bool = False
    """Whether only twins count, of which the words tell nothing."""
    p: float | None = None
    """Of both proofs together, after Holm over all items and the groups;
    None if it cannot be tested."""

    @property
    def weaker(self) -> Effect:
        """The effect that proves less, of the gain and of what shows that it is due to the
        patient's own pictures.

        Whoever says what is usual, but only where there are pictures, gains by them, too. So a gain
        alone proves sight only where answers are balanced; elsewhere, if too few questions are
        asked of several patients, what other pictures give has to be beaten. Unknown without
        either.
        """
        for proof in (self.own_picture, self.other_pictures):
            if proof.known:
                return weaker(self.gain, proof)
        return self.gain if self.balanced else Effect()

    @property
    def highest(self) -> float:
        """The largest gain that is not excluded."""
        bounds = [one.ci95[1] for one in (self.gain, self.own_picture) if one.ci95 is not None]
        return max(bounds, default=1.0)


class Stability(msgspec.Struct, frozen=True):
    """A change that leaves right answers as they were."""

    fall: Effect
    """After minus before."""
    gained: Effect
    """Before, minus the better run without pictures on the same items."""
    remains: Effect
    """After, minus the same."""
    answered: Effect
    """The fall on items that are still answered: who only declines the changed scan says nothing
    wrong of it."""


class VolumeGain(msgspec.Struct, frozen=True):
    """What all slices add to one, on the items that can be asked of one slice."""

    gain: Effect
    """All slices minus one, with chance credit."""
    sight: Effect
    """All slices minus the better run without pictures, on the same items:
    boxes and spans are not asked of a slice."""


class PriorEvidence(msgspec.Struct, frozen=True):
    """Where other patients suggest one answer: how much oftener than a guess it is given."""

    excess: Effect
    p: float
    """Over questions, each one try."""
    share: float = 0.0
    """Of the questions: most of its answers are that one."""


class Inversion(msgspec.Struct, frozen=True):
    """Whether yes and no are exchanged, which on one axis looks like its ends exchanged."""

    yes_no: Effect
    """Right minus a guess, over yes/no questions."""
    unexplained: dict[str, Effect]
    """Axis slip → the same over the yes/no questions whose wrong answers it does not explain."""
    in_other_forms: float
    """Answers that show an axis slip in other questions,
    as a share of them and wrong yes and no."""


class Moved(msgspec.Struct, frozen=True):
    """A group of tasks in which answers change under a
    probe that leaves nearly all others as they were."""

    group: str
    changed: int
    n: int


class Evidence(msgspec.Struct, frozen=True):
    """Everything a diagnosis may use."""

    items: str
    """Which items sight is decided on, in words."""
    sight: dict[str, Sight]
    """`all`, the headline where that is less than all, and each group of tasks."""
    lesions: Sight | None
    not_lesions: Sight | None
    over_chance: Effect
    """Right minus a uniform guess, with chance credit."""
    same: dict[str, Effect]
    """Probe → share of items with the same answer as in the original run."""
    alike_without: Effect
    """Without pictures: patients asked the very same words get the same answer,
    minus a guess's share."""
    reaction: Effect
    """How much less alike the answers to the same words are with pictures than without."""
    harmless: dict[str, Stability]
    """On items that a change does not concern."""
    declared: dict[str, Stability]
    """On items that a declared change concerns: another convention, another order of slices."""
    followed: dict[str, Effect]
    """Group → where the patient changed: the new right answer minus the old one.

    Of items that were right before and not without pictures: who knows an old answer from the words
    keeps it rightly.
    """
    options: list[Habit]
    yes: list[Habit]
    declined: Effect
    """Share of the answers that decline."""
    unread: Effect
    prior: dict[str, PriorEvidence]
    """`all`, and each group of tasks."""
    budget: Budget
    volume: dict[str, VolumeGain] = {}
    """`all` and each group of tasks; empty without the probe `one-slice`."""
    inversion: Inversion | None = None
    slips: dict[str, Effect] = {}
    """Cause → how much oftener it shows with pictures than in the silent run, where it shows in
    either.

    An opinion on a question may look like a slip of the eye; it is held without pictures as well.
    """
    headline: str = ""
    """The name under which the headline stands among `sight`."""
    moved: dict[str, Moved] = {}
    """Probe → the group of tasks in which alone answers change, where there is one."""
