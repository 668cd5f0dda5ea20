"""How much of a score is sight: the model against its own blind runs, and against the best shortcut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from situs.bench import Bench
from situs.probe._answers import Answered, Answers
from situs.profiles import Profile
from situs.run import AnswerRow, Spec, make_baseline
from situs.score import Estimate, Selection, ShortcutGain, cluster_mean, judge, paired_difference

__all__ = ["SHORTCUTS", "Gain", "SightGain", "accuracy_of", "gain_between", "shortcut_answers"]

SHORTCUTS = ("majority", "prior", "nearest", "text-classifier")
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
    """Headline accuracy of the model minus that of its own text-only run, on the same items."""
    ci95: tuple[float, float] | None
    n: int
    patients: int
    model: float | None
    text: float | None
    with_chance_credit: Gain
    """The same, a refusal without pictures counted as a guess would be."""
    volume_gain: Gain | None
    """Whole input minus one slice; None where `one-slice` was not asked for."""
    over_best_shortcut: ShortcutGain
    by_stratum: dict[str, Gain]
    """Each stratum and `all`: on its questions with options, where it has any."""
    items: str = ""
    """Which items the gain is about, in words."""
    note: str = ""


def gain_between(full: Answers, blind: Answers, selection: Selection, *, chance_credit: bool = False) -> Gain:
    """The full run minus a blind one, on the selected items that count in the full run and were asked in both.

    With `chance_credit` an answer that was refused counts, without pictures, as much as a uniform guess.
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
    with_pictures = [float(one.right) for one, _ in pairs]
    without = [_credit(other) if chance_credit else float(other.right) for _, other in pairs]
    found = paired_difference(with_pictures, without, clusters)
    means = float(np.mean(with_pictures)), float(np.mean(without))
    return Gain(found.value, found.ci95, found.n, found.clusters, *means, found.note)


def _credit(one: Answered) -> float:
    if one.scored.outcome.state == "refused" and one.scored.chance is not None:
        return one.scored.chance
    return float(one.right)


def shortcut_answers(bench: Bench, full: Answers, profile: Profile, names: Sequence[str]) -> dict[str, dict[str, bool]]:
    """What each shortcut gets right of the items that count."""
    result = {}
    for name in names:
        baseline = make_baseline(bench, Spec(name), profile)
        result[name] = {
            item_id: bool(
                judge(
                    one.item, AnswerRow(item_id, response=baseline.answer(one.item) or ""), None, shown=full.shown
                ).outcome.right
            )
            for item_id, one in full.by_id.items()
            if one.counts
        }
    return result


def accuracy_of(right: Mapping[str, bool], clusters: Mapping[str, str]) -> Estimate:
    """The share that is right, with an interval by patient."""
    items = sorted(right)
    return cluster_mean([float(right[item]) for item in items], [clusters[item] for item in items])
