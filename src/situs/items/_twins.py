"""Which candidates become items: twins, strata, and options in an order that gives nothing away.

The rule, for every question with a countable answer:

* Headline: one text, asked of several patients, each of its options the right answer equally often.
  Options that no patient's answer reaches are not offered there; surplus patients leave.
* Otherwise, within each stratum, task and set of options, no answer is right more than once oftener
  than any other. So a solver that reads only the options, or only their letters, stays at chance.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from situs._files import canonical_json, digest
from situs.items._candidates import Candidate
from situs.items._record import Item, Option

__all__ = ["Outline", "Placement", "arrange", "outline", "place"]

Draw = Callable[["Outline"], str]

_SHOWN = 4
"""Options of one question, at most."""


class Outline(msgspec.Struct, frozen=True):
    """The little of a candidate that the arrangement of a whole cohort needs."""

    item_id: str
    study_id: str
    patient_id: str
    task: str
    form: str
    text: str
    key: str | None
    pool: tuple[str, ...]
    family: str
    primary: bool
    named_only: bool
    textbook: bool


class Placement(msgspec.Struct, frozen=True):
    """What becomes of one candidate."""

    stratum: str
    """`headline`, `textbook` (named anatomy whose answer never changes) or `untwinned`."""
    options: tuple[str, ...]
    twin_group: str


def outline(candidate: Candidate) -> Outline:
    """The outline of a candidate."""
    item = candidate.item
    countable = {"yes_no": ("yes", "no"), "number": tuple(str(n) for n in range(1, 7)) if candidate.key else ()}
    pool = tuple(option.value for option in item.options) or countable.get(item.form, ())
    return Outline(
        item.item_id,
        item.study_id,
        item.patient_id,
        item.task,
        item.form,
        item.question,
        candidate.key,
        pool,
        candidate.family,
        candidate.primary,
        candidate.named_only,
        candidate.textbook,
    )


def arrange(outlines: Sequence[Outline], seed: int, most: Mapping[str, int] | None = None) -> dict[str, Placement]:
    """Decide for a whole cohort: item id → placement. Candidates that are missing are not asked.

    `most` limits how many questions of a study a stratum other than the headline keeps.
    """

    def draw(entry: Outline) -> str:
        return digest(str(seed), entry.item_id)

    placed: dict[str, Placement] = {}
    controls: list[Outline] = [entry for entry in outlines if entry.textbook]
    spare: list[Outline] = []
    twinned: set[tuple[str, str]] = set()
    groups: set[str] = set()
    by_text: dict[tuple[str, ...], list[Outline]] = defaultdict(list)
    for entry in outlines:
        if not entry.textbook:
            by_text[entry.task, entry.form, entry.text, *entry.pool].append(entry)
    for key in sorted(by_text, key=lambda key: digest(str(seed), *key)):
        entries = by_text[key]
        free = [e for e in entries if e.primary and (e.study_id, e.family) not in twinned]
        chosen, values = _twins(free, draw)
        group = "t" + digest(canonical_json([entries[0].task, entries[0].text, values]), size=8)
        if group in groups:
            chosen = []  # another set of options, thinned to the same few, is asked already
        groups.add(group)
        for entry in chosen:
            options = values if entry.form == "choice" else ()
            placed[entry.item_id] = Placement("headline", options, group)
            twinned.add((entry.study_id, entry.family))
        names_only = entries[0].named_only and len({e.key for e in entries}) == 1 and len(entries) > 1
        (controls if names_only else spare).extend(e for e in entries if e.item_id not in placed)
    for stratum, rest in (("textbook", controls), ("untwinned", spare)):
        free = [entry for entry in rest if (entry.study_id, entry.family) not in twinned]
        for entry in _balanced(_limited(free, draw, (most or {}).get(stratum)), draw):
            placed[entry.item_id] = Placement(stratum, _shown(entry, seed), "")
            twinned.add((entry.study_id, entry.family))
    return _letters([entry for entry in outlines if entry.item_id in placed], placed, draw)


def _twins(entries: list[Outline], draw: Draw) -> tuple[list[Outline], tuple[str, ...]]:
    """As many patients as give every offered answer equally often, and the answers then offered."""
    if not entries or len({entry.patient_id for entry in entries}) < 2:
        return [], ()
    if entries[0].key is None:
        return entries, ()
    by_key: dict[str, list[Outline]] = defaultdict(list)
    for entry in sorted(entries, key=draw):
        if all(entry.patient_id != other.patient_id for other in by_key[str(entry.key)]):
            by_key[str(entry.key)].append(entry)
    keys = sorted(by_key, key=lambda key: (-len(by_key[key]), key))
    sizes = {count: count * len(by_key[keys[count - 1]]) for count in range(2, min(_SHOWN, len(keys)) + 1)}
    if not sizes:
        return [], ()
    offered = max(sizes, key=lambda count: (sizes[count], count))
    each = len(by_key[keys[offered - 1]])
    values = tuple(value for value in entries[0].pool if value in keys[:offered])
    return [entry for key in keys[:offered] for entry in by_key[key][:each]], values


def _limited(entries: list[Outline], draw: Draw, most: int | None) -> list[Outline]:
    """At most so many families of each study, all guises of those that stay."""
    if most is None:
        return entries
    kept: dict[str, dict[str, None]] = defaultdict(dict)
    for entry in sorted(entries, key=draw):
        if len(kept[entry.study_id]) < most:
            kept[entry.study_id][entry.family] = None
    return [entry for entry in entries if entry.family in kept[entry.study_id]]


def _balanced(entries: Iterable[Outline], draw: Draw) -> list[Outline]:
    """One guise per family and patient, so chosen and thinned that no answer outweighs another by more than one."""
    families: dict[tuple[str, str], list[Outline]] = defaultdict(list)
    for entry in sorted(entries, key=draw):
        families[entry.study_id, entry.family].append(entry)
    counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    groups: dict[tuple[str, ...], list[Outline]] = defaultdict(list)
    numbers: list[Outline] = []
    for guises in families.values():
        if guises[0].key is None:
            numbers.append(guises[0])
            continue
        best = min(guises, key=lambda e: _excess(counts[_set_of(e)], e))
        counts[_set_of(best)][str(best.key)] += 1
        groups[_set_of(best)].append(best)
    kept = numbers
    for key, members in groups.items():
        most = min(counts[key][value] for value in members[0].pool) + 1
        seen: Counter[str] = Counter()
        for entry in members:
            seen[str(entry.key)] += 1
            if seen[str(entry.key)] <= most:
                kept.append(entry)
    return kept


def _set_of(entry: Outline) -> tuple[str, ...]:
    return (entry.task, entry.form, *sorted(entry.pool))


def _excess(count: Counter[str], entry: Outline) -> int:
    return count[str(entry.key)] - min(count[value] for value in entry.pool)


def _shown(entry: Outline, seed: int) -> tuple[str, ...]:
    """All options if they are few, else the answer and others drawn at random."""
    if entry.form != "choice" or entry.key is None:
        return ()
    others = sorted((v for v in entry.pool if v != entry.key), key=lambda v: digest(str(seed), entry.item_id, v))
    shown = {entry.key, *others[: _SHOWN - 1]}
    return tuple(value for value in entry.pool if value in shown)


def _letters(entries: list[Outline], placed: dict[str, Placement], draw: Draw) -> dict[str, Placement]:
    """Put each answer at the next letter in turn, within task, stratum and number of options."""
    turns: Counter[tuple[str, str, int]] = Counter()
    result = dict(placed)
    for entry in sorted(entries, key=draw):
        placement = placed[entry.item_id]
        if not placement.options:
            continue
        wrong = [value for value in placement.options if value != entry.key]
        others = sorted(wrong, key=lambda value: digest("order", entry.item_id, value))
        kind = (entry.task, placement.stratum, len(placement.options))
        place_at = turns[kind] % len(placement.options)
        turns[kind] += 1
        order = (*others[:place_at], str(entry.key), *others[place_at:])
        result[entry.item_id] = msgspec.structs.replace(placement, options=order)
    return result


def place(item: Item, placement: Placement, split: str) -> Item:
    """The finished item."""
    by_value: dict[str, Option] = {option.value: option for option in item.options}
    return msgspec.structs.replace(
        item,
        stratum=placement.stratum,
        options=tuple(by_value[value] for value in placement.options),
        twin_group=placement.twin_group,
        split=split,
    )
