"""The rows that see no picture, on the items a model was asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from situs.bench import Bench
from situs.items import Choice
from situs.probe.sight_gain import accuracy_of, shortcut_hits
from situs.run import boxes_of
from situs.score import TRICKS, Selection
from situs.score.blind.sample import BlindSample
from situs.score.explain import Answered, Answers

__all__ = ["ShortcutRow", "shortcut_table"]


class ShortcutRow(msgspec.Struct, frozen=True):
    """What one gets without looking."""

    value: float | None
    ci95: tuple[float, float] | None
    n: int
    note: str = ""


def shortcut_table(
    bench: Bench,
    full: Answers,
    shortcuts: Mapping[str, Mapping[str, bool]],
    selection: Selection,
) -> dict[str, ShortcutRow]:
    """On the selected items: chance, the trained shortcuts, option tricks on questions with
    options; and, on items that ask for boxes (about 1,000 of many), boxes that never move."""
    counted = {item_id: one for item_id, one in sorted(full.by_id.items()) if one.counts}
    clusters = {item_id: one.item.patient_id for item_id, one in counted.items()}
    chosen = {item_id: one for item_id, one in counted.items() if one.scored in selection}

    def row(right: Mapping[str, bool], note: str = "") -> ShortcutRow:
        if not right:
            return ShortcutRow(None, None, 0, "no such item")
        accuracy = accuracy_of(right, clusters)
        return ShortcutRow(accuracy.value, accuracy.ci95, accuracy.n, note or accuracy.note)

    table = {"chance": _chance(chosen.values())}
    for name, hits in shortcuts.items():
        table[name] = row({item_id: hit for item_id, hit in hits.items() if item_id in chosen})
    offered = [one.item for one in chosen.values() if one.item.options]
    if offered:
        for name, trick in TRICKS.items():
            picks = ((item.item_id, item.answer, trick(item)) for item in offered)
            right = {
                item_id: truth.value == pick
                for item_id, truth, pick in picks
                if isinstance(truth, Choice)
            }
            table[name] = row(right, "on questions with options")
    boxed = BlindSample(
        lambda: (one.item for one in counted.values() if boxes_of(one.item) is not None)
    )
    if boxed.boxed:
        drawn = list(boxed)  # a grid has hundreds of boxes, which half a million times take hours
        ids = [item.item_id for item in drawn]
        hits_of = shortcut_hits(bench, full.shown, ("grid",), drawn, at_once=50)
        grid = hits_of.among(ids)["grid"]
        share = f" ({len(ids):,} of {boxed.boxed:,}, drawn by id)" if boxed.note else ""
        for name, hits in (("prior boxes", shortcuts["prior"]), ("grid of boxes", grid)):
            row_hits = {item_id: hits[item_id] for item_id in ids}
            table[name] = row(row_hits, f"on questions that ask for boxes{share}")
    return table


def _chance(answered: Iterable[Answered]) -> ShortcutRow:
    values = [one.scored.chance for one in answered if one.scored.chance is not None]
    if not values:
        return ShortcutRow(None, None, 0, "no question with options")
    return ShortcutRow(
        sum(values) / len(values), None, len(values), "known, on questions with options"
    )
