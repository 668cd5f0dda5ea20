"""How much of a score is sight:
the model against its own blind runs, and against the best shortcut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import msgspec
import numpy as np

from situs.bench import Bench
from situs.items import Item
from situs.probe.mirage import Mirage
from situs.run import LEARNERS, AnswerRow, Spec, Viewing, make_baseline
from situs.score import (
    Estimate,
    Selection,
    ShortcutGain,
    cluster_mean,
    paired_difference,
)
from situs.score.explain import Answers
from situs.score.outcomes import Asked
from situs.score.plain_answers import judged_replies

__all__ = [
    "SHORTCUTS",
    "Gain",
    "ShortcutHits",
    "SightGain",
    "accuracy_of",
    "gain_between",
    "gain_over_better",
    "shortcut_hits",
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


class ShortcutHits:
    """Which items each shortcut gets right."""

    def __init__(self, names: Iterable[str]) -> None:
        self._places: dict[str, int] = {}
        self._right = {name: bytearray() for name in names}

    def add(self, items: Sequence[Item], right: Mapping[str, Sequence[bool]]) -> None:
        """What became of the answers to some more items."""
        for item in items:
            self._places[item.item_id] = len(self._places)
        for name, hits in right.items():
            self._right[name].extend(hits)

    def among(self, item_ids: Sequence[str]) -> dict[str, dict[str, bool]]:
        """Shortcut → item → whether it is right, of these items."""
        places = [self._places[item_id] for item_id in item_ids]
        return {
            name: {item_id: bool(hits[place]) for item_id, place in zip(item_ids, places)}
            for name, hits in self._right.items()
        }


def shortcut_hits(
    bench: Bench,
    viewing: Viewing,
    names: Sequence[str],
    items: Iterable[Item],
    *,
    at_once: int = 2000,
) -> ShortcutHits:
    """Every shortcut asked every item, before anybody else is: an item that its task cannot explain
    is refused while nothing has been paid for. So many answers are scored `at_once`."""
    baselines = {name: make_baseline(bench, Spec(name), viewing=viewing) for name in names}
    stream, hits = iter(items), ShortcutHits(names)
    while batch := list(islice(stream, at_once)):
        viewing.look_ahead(batch)
        asked = [Asked.of(item, None, shown=viewing) for item in batch]
        right = {}
        for name, baseline in baselines.items():
            rows = [AnswerRow(i.item_id, response=baseline.answer(i) or "") for i in batch]
            judged = judged_replies(asked, rows).arrays["right"]
            right[name] = [bool(one) for one in judged.to_pylist()]
        hits.add(batch, right)
    return hits


def accuracy_of(right: Mapping[str, bool], clusters: Mapping[str, str]) -> Estimate:
    """The share that is right, with an interval by patient."""
    items = sorted(right)
    return cluster_mean([float(right[item]) for item in items], [clusters[item] for item in items])
