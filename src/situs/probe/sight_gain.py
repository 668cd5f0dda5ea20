"""How much of a score is sight:
the model against its own blind runs, and against the best shortcut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from situs.bench import Bench
from situs.items import Item
from situs.probe.mirage import Mirage
from situs.profiles import Profile
from situs.run import LEARNERS, AnswerRow, Spec, make_baseline
from situs.score import (
    Estimate,
    Selection,
    ShortcutGain,
    cluster_mean,
    paired_difference,
    score_answer,
)
from situs.score.explain import Answers

__all__ = [
    "SHORTCUTS",
    "Gain",
    "SightGain",
    "accuracy_of",
    "gain_between",
    "gain_over_better",
    "shortcut_answers",
    "shortcut_replies",
]

SHORTCUTS = LEARNERS
"""Trained with the bench's labels, each without the patient that is asked."""


class Gain(msgspec.Struct, frozen=True):
    """A difference of accuracies, paired by patient."""

    value: float | None
    ci95: tuple[float, float] | None
    n: int
    patients: int
    model: float | None
    blind: float | None
    note: str = ""


class SightGain(msgspec.Struct, frozen=True):
    """What sight adds."""

    value: float | None
    """Headline accuracy of the model minus that of the better
    of its two runs without pictures, on the same items."""
    ci95: tuple[float, float] | None
    n: int
    patients: int
    model: float | None
    text: float | None
    """Told that there is no picture."""
    silent: float | None
    """Without pictures, and nothing said about it."""
    against: str
    """The better of the two: `text` or `silent`."""
    with_chance_credit: Gain
    """The same, refusals and unread replies counted as guesses in all runs;
    whether it looks is decided with this."""
    mirage: Mirage
    """How many replies of the silent run describe a picture."""
    volume_gain: Gain | None
    """Whole input minus one slice; None where `one-slice` was not asked for."""
    over_best_shortcut: ShortcutGain
    by_stratum: dict[str, Gain]
    """Each stratum and `all`: on its questions with options, where it has any."""
    items: str = ""
    """Which items the gain is about, in words."""
    note: str = ""


def gain_between(
    full: Answers, blind: Answers, selection: Selection, *, chance_credit: bool = False
) -> Gain:
    """The full run minus a blind one, on the selected items that count in the full run and were
    asked in both.

    With `chance_credit` a reply that declines or cannot be read counts, in both, as much as a
    uniform guess.
    """
    pairs = [
        (one, blind.by_id[item_id])
        for item_id, one in sorted(full.by_id.items())
        if one.counts and item_id in blind.by_id and one.scored in selection
    ]
    pairs = [(one, other) for one, other in pairs if other.counts]
    if not pairs:
        return Gain(None, None, 0, 0, None, None, "no item was asked in both runs")
    clusters = [one.item.patient_id for one, _ in pairs]
    with_pictures = [one.credit if chance_credit else float(one.right) for one, _ in pairs]
    without = [other.credit if chance_credit else float(other.right) for _, other in pairs]
    difference = paired_difference(with_pictures, without, clusters)
    means = float(np.mean(with_pictures)), float(np.mean(without))
    return Gain(
        difference.value,
        difference.ci95,
        difference.n,
        difference.clusters,
        *means,
        difference.note,
    )


def gain_over_better(
    full: Answers,
    blind: Mapping[str, Answers],
    selection: Selection,
    *,
    chance_credit: bool = False,
) -> tuple[str, Gain]:
    """The name of the blind run that is right more often, and the gain over it.

    Which one is better is not known for sure, so the lower limit is the least of those against
    each.
    """
    gains = {
        name: gain_between(full, run, selection, chance_credit=chance_credit)
        for name, run in blind.items()
    }
    name = max(gains, key=lambda name: gains[name].blind or 0.0)
    better = gains[name]
    lows = [gain.ci95[0] for gain in gains.values() if gain.ci95 is not None]
    if better.ci95 is None or len(lows) < len(gains):
        return name, better
    return name, msgspec.structs.replace(better, ci95=(min(lows), better.ci95[1]))


def shortcut_replies(
    bench: Bench, profile: Profile, names: Sequence[str], items: Iterable[Item]
) -> dict[str, dict[str, str]]:
    """What each shortcut says to each item, before anybody is asked: an item that its task cannot
    explain is refused while nothing has been paid for."""
    baselines = {name: make_baseline(bench, Spec(name), profile) for name in names}
    replies: dict[str, dict[str, str]] = {name: {} for name in names}
    for item in items:
        for name, baseline in baselines.items():
            replies[name][item.item_id] = baseline.answer(item) or ""
    return replies


def shortcut_answers(
    replies: Mapping[str, Mapping[str, str]], full: Answers
) -> dict[str, dict[str, bool]]:
    """What each shortcut gets right of the items that count."""
    return {
        name: {
            item_id: bool(
                score_answer(
                    one.item, AnswerRow(item_id, response=said[item_id]), None, shown=full.shown
                ).outcome.right
            )
            for item_id, one in full.by_id.items()
            if one.counts
        }
        for name, said in replies.items()
    }


def accuracy_of(right: Mapping[str, bool], clusters: Mapping[str, str]) -> Estimate:
    """The share that is right, with an interval by patient."""
    items = sorted(right)
    return cluster_mean([float(right[item]) for item in items], [clusters[item] for item in items])
