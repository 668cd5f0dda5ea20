"""Which candidates become items: twins, strata, and options in an order that gives nothing away.

The rule, for every question with a countable answer:

* Headline: one text, asked of several patients, each of its options the right answer equally often.
  Options that no patient's answer reaches are not offered there; surplus patients leave. Of marks, any
  can be given any letter: it is given so that each letter is right equally often.
* The headline is then thinned, whole texts at a time, to the mix of classes that is aimed at.
* Otherwise, within each stratum, task and set of options, no answer is right more than once oftener
  than any other. So a solver that reads only the options, or only their letters, stays at chance.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from situs._files import canonical_json, digest
from situs.items._candidates import Candidate
from situs.items._mix import class_of, shares_kept
from situs.items._offers import is_ordered, offers, random_offer
from situs.items._record import Box, Choice, Item, Option, Step, mark_label, marks_of

__all__ = ["Outline", "Placement", "arrange", "lettered", "outline", "place"]

Draw = Callable[["Outline"], str]

_TEXTS = 8
"""Different texts of one kind of question, at most: more would ask the same of a patient in other words."""
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
    kind: str = ""
    """Task and what it asks; no kind crowds out another of its class."""
    mix_class: str = ""
    must_offer: str = ""
    """An answer that must be offered, among twins only."""
    movable: bool = False
    """Its marks are drawn: the right one can be given any letter."""


class Placement(msgspec.Struct, frozen=True):
    """What becomes of one candidate."""

    stratum: str
    """`headline`, `textbook` (named anatomy whose answer never changes) or `untwinned`."""
    options: tuple[str, ...]
    twin_group: str
    letter: str = ""
    """Of the right mark, where marks are drawn."""


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
        f"{item.task}.{item.parameters.get('ask', item.form)}",
        class_of(item),
        candidate.must_offer,
        bool(marks_of(item)),
    )


def arrange(
    outlines: Sequence[Outline],
    seed: int,
    most: Mapping[str, int] | None = None,
    mix: Mapping[str, float] | None = None,
) -> dict[str, Placement]:
    """Decide for a whole cohort: item id → placement. Candidates that are missing are not asked.

    `most` limits how many questions of a study a stratum keeps (the headline: on average); `mix` is the share of
    each class that the headline aims at.
    """

    def draw(entry: Outline) -> str:
        return digest(str(seed), entry.item_id)

    placed: dict[str, Placement] = {}
    controls: list[Outline] = [entry for entry in outlines if entry.textbook]
    spare: list[Outline] = []
    twinned: set[tuple[str, str]] = set()
    groups: dict[str, list[Outline]] = {}
    by_text: dict[tuple[str, ...], list[Outline]] = defaultdict(list)
    for entry in outlines:
        if not entry.textbook:
            # The vertebrae that a scan shows are part of the patient, not of the question.
            pool = () if is_ordered(entry.kind) else entry.pool
            by_text[entry.task, entry.form, entry.text, entry.must_offer, *pool].append(entry)
    # Cut structures are rare: the questions that need them choose their patients first.
    for key in sorted(by_text, key=lambda key: (not by_text[key][0].must_offer, digest(str(seed), *key))):
        entries = by_text[key]
        free = [e for e in entries if e.primary and (e.study_id, e.family) not in twinned]
        chosen, values = _twins(free, draw)
        group = "t" + digest(canonical_json([entries[0].task, entries[0].text, values]), size=8)
        if group in groups:
            chosen = []  # another set of options, thinned to the same few, is asked already
        groups.setdefault(group, chosen)
        for entry in chosen:
            options = values if entry.form == "choice" else ()
            placed[entry.item_id] = Placement("headline", options, group)
            twinned.add((entry.study_id, entry.family))
        names_only = entries[0].named_only and len({e.key for e in entries}) == 1 and len(entries) > 1
        rest = [e for e in entries if e.item_id not in placed and not e.must_offer]
        (controls if names_only else spare).extend(rest)
    if mix is not None and most is not None and "headline" in most:
        studies = len({entry.study_id for entry in outlines})
        for entry in _beyond_mix(groups, placed, mix, most["headline"] * studies, seed):
            del placed[entry.item_id]
    for stratum, others in (("textbook", controls), ("untwinned", spare)):
        free = [entry for entry in others if (entry.study_id, entry.family) not in twinned]
        for entry in _balanced(_limited(free, draw, (most or {}).get(stratum)), draw):
            placed[entry.item_id] = Placement(stratum, _shown(entry, seed), "")
            twinned.add((entry.study_id, entry.family))
    return _letters([entry for entry in outlines if entry.item_id in placed], placed, draw)


def _beyond_mix(
    groups: Mapping[str, list[Outline]], placed: Mapping[str, Placement], mix: Mapping[str, float], most: int, seed: int
) -> list[Outline]:
    """Twins that leave, whole groups at a time, so that the headline comes near its mix.

    Of each class the kinds of question take turns, those with more options first.
    """
    by_kind: dict[tuple[str, str], list[str]] = defaultdict(list)
    available: Counter[str] = Counter()
    for group, members in groups.items():
        if members:
            by_kind[members[0].mix_class, members[0].kind].append(group)
            available[members[0].mix_class] += len(members)
    turns: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    leaving: list[Outline] = []
    for (name, _), found in by_kind.items():
        found.sort(key=lambda group: (-_choices(groups[group][0], placed), digest(str(seed), group)))
        turns[name] += [(turn, digest(str(seed), group), group) for turn, group in enumerate(found[:_TEXTS])]
        leaving += [entry for group in found[_TEXTS:] for entry in groups[group]]
        available[name] -= sum(len(groups[group]) for group in found[_TEXTS:])
    allowed = shares_kept(available, mix, most)
    for name in sorted(turns):
        kept = 0
        for _, _, group in sorted(turns[name]):
            if kept < allowed[name]:
                kept += len(groups[group])
            else:
                leaving += groups[group]
    return leaving


def _choices(entry: Outline, placed: Mapping[str, Placement]) -> int:
    return len(placed[entry.item_id].options)


def _twins(entries: list[Outline], draw: Draw) -> tuple[list[Outline], tuple[str, ...]]:
    """As many patients as give every offered answer equally often, and the answers then offered.

    More options weigh as much as more patients: of four, three are wrong.
    """
    if not entries or len({entry.patient_id for entry in entries}) < 2:
        return [], ()
    if entries[0].key is None:
        return entries, ()
    if entries[0].movable:
        members = _few_each(entries, draw)
        offered = min(_SHOWN, len(entries[0].pool), len(members))
        return members[: len(members) // offered * offered], entries[0].pool[:offered]
    by_key: dict[str, list[Outline]] = defaultdict(list)
    for entry in sorted(entries, key=draw):
        if all(entry.patient_id != other.patient_id for other in by_key[str(entry.key)]):
            by_key[str(entry.key)].append(entry)
    must = entries[0].must_offer
    if must and must not in by_key:
        return [], ()
    # That it cannot be told is fair beside two other answers that occur; beside one, knowledge would do without sight.
    counts = {key: len(members) for key, members in by_key.items()}
    best: tuple[int, tuple[str, ...], list[Outline]] = (0, (), [])
    for values in offers(entries[0].kind, (entry.pool for entry in entries), counts, _SHOWN, must):
        able = {key: [e for e in by_key[key] if set(values) <= set(e.pool)] for key in values}
        each = min(map(len, able.values()))
        worth = len(values) * (len(values) - 1) * each
        if worth > best[0]:
            best = worth, values, [entry for members in able.values() for entry in members[:each]]
    return best[2], best[1]


def _few_each(entries: list[Outline], draw: Draw) -> list[Outline]:
    """Patient by patient, at most as many questions of one text as there are letters: each gets another letter."""
    asked: Counter[str] = Counter()
    kept = []
    for entry in sorted(entries, key=lambda entry: _by_patient(entry, draw)):
        asked[entry.patient_id] += 1
        if asked[entry.patient_id] <= _SHOWN:
            kept.append(entry)
    return kept


def _by_patient(entry: Outline, draw: Draw) -> tuple[str, str]:
    return (digest(entry.patient_id) if entry.movable else "", draw(entry))


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
        if guises[0].key is None or guises[0].movable:
            numbers.append(guises[0])
            continue
        best = min(guises, key=lambda e: _excess(counts[_set_of(e)], e))
        counts[_set_of(best)][str(best.key)] += 1
        groups[_set_of(best)].append(best)
    kept = numbers
    for key, members in groups.items():
        most = min((counts[key][value] for value in members[0].pool), default=0) + 1
        seen: Counter[str] = Counter()
        for entry in members:
            seen[str(entry.key)] += 1
            if seen[str(entry.key)] <= most:
                kept.append(entry)
    return kept


def _set_of(entry: Outline) -> tuple[str, ...]:
    return (entry.task, entry.form, *sorted(entry.pool))


def _excess(count: Counter[str], entry: Outline) -> int:
    return count[str(entry.key)] - min((count[value] for value in entry.pool), default=0)


def _shown(entry: Outline, seed: int) -> tuple[str, ...]:
    """All options if they are few, else the answer and others drawn at random; of ordered ones, neighbours."""
    if entry.form != "choice" or entry.key is None:
        return ()
    draw = {value: digest(str(seed), entry.item_id, value) for value in entry.pool}
    return random_offer(entry.kind, entry.pool, entry.key, _SHOWN, draw)


def _letters(entries: list[Outline], placed: dict[str, Placement], draw: Draw) -> dict[str, Placement]:
    """Put each answer at the next letter in turn, within task, stratum and number of options (marks: text)."""
    turns: Counter[tuple[str, ...]] = Counter()
    result = dict(placed)
    for entry in sorted(entries, key=lambda entry: _by_patient(entry, draw)):
        placement = placed[entry.item_id]
        if not placement.options:
            continue
        group = placement.twin_group if entry.movable else ""
        kind = (entry.task, placement.stratum, str(len(placement.options)), group)
        place_at = turns[kind] % len(placement.options)
        turns[kind] += 1
        if entry.movable:
            result[entry.item_id] = msgspec.structs.replace(placement, letter=placement.options[place_at])
            continue
        wrong = [value for value in placement.options if value != entry.key]
        others = sorted(wrong, key=lambda value: digest("order", entry.item_id, value))
        order = (*others[:place_at], str(entry.key), *others[place_at:])
        result[entry.item_id] = msgspec.structs.replace(placement, options=order)
    return result


def place(item: Item, placement: Placement, split: str) -> Item:
    """The finished item."""
    by_value: dict[str, Option] = {option.value: option for option in item.options}
    placed = msgspec.structs.replace(
        item,
        stratum=placement.stratum,
        options=tuple(by_value[value] for value in placement.options),
        twin_group=placement.twin_group,
        split=split,
    )
    return lettered(placed, placement.letter) if placement.letter else placed


def lettered(item: Item, letter: str) -> Item:
    """The item with its right mark, posed as A, at another letter; the others take the rest in a fixed disorder."""
    shown = [option.value for option in item.options]
    rest = sorted((v for v in shown if v != letter), key=lambda v: digest("mark", item.item_id, letter, v))
    new = dict(zip("ABCD", (letter, *rest)))
    boxes = {mark_label(old): mark_label(now) for old, now in new.items()}

    def relabelled(found: tuple[Box, ...]) -> tuple[Box, ...]:
        hidden = {mark_label(old) for old in "ABCD"} - boxes.keys()
        kept = [box for box in found if box.label not in hidden]
        moved = [msgspec.structs.replace(box, label=boxes.get(box.label, box.label)) for box in kept]
        return tuple(sorted(moved, key=lambda box: box.label if box.label.startswith(mark_label("")) else ""))

    def said(step: Step) -> Step:
        text = re.sub(r"\bmark ([A-D])\b", lambda found: f"mark {new[found[1]]}", step.text)
        return msgspec.structs.replace(step, text=text, boxes=relabelled(step.boxes))

    steps = tuple(said(step) for step in item.steps)
    return msgspec.structs.replace(item, answer=Choice(letter), boxes=relabelled(item.boxes), steps=steps)
