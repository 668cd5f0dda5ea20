"""The rows that see no picture, on the items a model was asked."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from situs.bench import Bench
from situs.items import Choice
from situs.probe._answers import Answers
from situs.probe._sight_gain import accuracy_of, shortcut_answers
from situs.profiles import Profile
from situs.run import boxes_of
from situs.score import TRICKS

__all__ = ["ShortcutRow", "shortcut_table"]


class ShortcutRow(msgspec.Struct, frozen=True):
    """What one gets without looking."""

    value: float | None
    ci95: tuple[float, float] | None
    n: int
    headline: float | None
    """On the headline stratum alone."""
    note: str = ""


def shortcut_table(
    bench: Bench, full: Answers, profile: Profile, shortcuts: Mapping[str, Mapping[str, bool]], *, seed: int = 0
) -> dict[str, ShortcutRow]:
    """Chance, the trained shortcuts, option tricks on questions with options, and boxes that never move."""
    counted = {item_id: one for item_id, one in sorted(full.by_id.items()) if one.counts}
    clusters = {item_id: one.item.patient_id for item_id, one in counted.items()}
    headline = {item_id for item_id, one in counted.items() if one.item.stratum == "headline"}

    def row(right: Mapping[str, bool], note: str = "") -> ShortcutRow:
        if not right:
            return ShortcutRow(None, None, 0, None, "no such item")
        found = accuracy_of(right, clusters, seed=seed)
        there = [right[item_id] for item_id in right if item_id in headline]
        mean = sum(there) / len(there) if there else None
        return ShortcutRow(found.value, found.ci95, found.n, mean, note or found.note)

    table = {"chance": _chance(full, headline)}
    table |= {name: row(right) for name, right in shortcuts.items()}
    offered = [one.item for one in counted.values() if one.item.options]
    if offered:
        for name, trick in TRICKS.items():
            picks = ((item.item_id, item.answer, trick(item)) for item in offered)
            right = {item_id: truth.value == pick for item_id, truth, pick in picks if isinstance(truth, Choice)}
            table[name] = row(right, "on questions with options")
    boxed = {item_id for item_id, one in counted.items() if boxes_of(one.item) is not None}
    if boxed:
        grid = shortcut_answers(bench, full, profile, ("grid",))["grid"]
        for name, hits in (("prior boxes", shortcuts["prior"]), ("grid of boxes", grid)):
            own = {item_id: hit for item_id, hit in hits.items() if item_id in boxed}
            table[name] = row(own, "on questions that ask for boxes")
    return table


def _chance(full: Answers, headline: set[str]) -> ShortcutRow:
    known = {i: one.scored.chance for i, one in full.by_id.items() if one.counts and one.scored.chance is not None}
    values = [value for value in known.values() if value is not None]
    own = [value for item_id, value in known.items() if item_id in headline and value is not None]
    if not values:
        return ShortcutRow(None, None, 0, None, "no closed question")
    mean = sum(values) / len(values)
    return ShortcutRow(mean, None, len(values), sum(own) / len(own) if own else None, "known, on closed questions")
