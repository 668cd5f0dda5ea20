"""Which questions about boxes become items: balanced answers, twins, and options that give nothing away.

* Yes/no, counts, and options of a fixed set: within each text, every offered answer is right equally often. Each twin
  group holds one item for each answer, of different patients, on slices that lie alike in the stack as far as there
  are such: a finding has its usual slices, and a negative far from them could be told by its place alone.
* One of several findings: groups of items that share their options, each option right once.
* All that apply: wrong options are chosen so that a finding is offered wrongly about as often as rightly.
* Boxes, frames and text have no countable answer and are all kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec
import numpy as np

from situs._files import canonical_json, digest
from situs.anatomy import finding_of
from situs.facts import BoxRules
from situs.items._record import Choices, Item, answer_key
from situs.items._twins import Placement

__all__ = ["Draft", "Twins", "arrange_findings", "draft", "place_finding"]

_LOOK = 40
"""How far down a list is looked for an item of another patient, or with fitting options."""
_LOOK_ALIKE = 400
"""How far for a slice that lies alike."""


class Draft(msgspec.Struct, frozen=True):
    """The little of an item that the arrangement of a whole cohort needs."""

    item_id: str
    patient_id: str
    task: str
    form: str
    level: str
    text: str
    key: str | None
    right: tuple[str, ...]
    pool: tuple[str, ...]
    shared: bool
    """Whether its options are chosen for each item (one of several findings), not fixed by the question."""
    frame: int = -1
    """Of a question about one slice."""
    about: tuple[str, ...] = ()
    """Its tags."""


def draft(item: Item) -> Draft:
    """The draft of an item that has all its possible options."""
    key = None if isinstance(item.answer, Choices) else answer_key(item.answer)
    right = item.answer.values if isinstance(item.answer, Choices) else (key,) if key is not None else ()
    pool = tuple(option.value for option in item.options)
    shared = item.form == "choice" and item.task == "classification"
    text, level = item.question, item.level
    frame = item.frames[0] if level == "slice" and item.frames else -1
    about = (text, key, right, pool, shared, frame, item.tags)
    return Draft(item.item_id, item.patient_id, item.task, item.form, level, *about)


def arrange_findings(drafts: Sequence[Draft], seed: int, rules: BoxRules) -> dict[str, Placement]:
    """Decide for a whole cohort: item id → placement. Items that are missing are not asked."""
    drawn = sorted(drafts, key=lambda entry: digest(str(seed), entry.item_id))
    placed: dict[str, Placement] = {}
    fixed: dict[tuple[str, ...], list[Draft]] = defaultdict(list)
    shared: dict[tuple[str, ...], list[Draft]] = defaultdict(list)
    several: list[Draft] = []
    for entry in drawn:
        if entry.shared:
            shared[entry.task, entry.level, entry.text].append(entry)
        elif entry.key is not None:
            fixed[entry.task, entry.form, entry.text, *entry.pool].append(entry)
        elif entry.form == "choices":
            several.append(entry)
        else:
            stratum = "untwinned" if entry.form == "text" else "headline"
            placed[entry.item_id] = Placement(stratum, (), "")
    for name, entries in sorted(fixed.items()):
        placed |= _fixed(entries, canonical_json(name), rules)
    for name, entries in sorted(shared.items()):
        placed |= _shared(entries, canonical_json(name), seed, rules)
    placed |= _several(several, rules)
    return _letters([entry for entry in drawn if entry.item_id in placed], placed)


def _fixed(entries: list[Draft], name: bytes, rules: BoxRules) -> dict[str, Placement]:
    """Groups of one item per answer; as many answers as keep most items."""
    by_key: dict[str, list[Draft]] = defaultdict(list)
    for entry in _patients_in_turn(entries):
        by_key[str(entry.key)].append(entry)
    most = rules.count_most if entries[0].form == "number" else rules.options
    order = sorted(by_key, key=lambda key: (-len(by_key[key]), key))
    sizes = {n: n * len(by_key[order[n - 1]]) for n in range(2, min(most, len(order)) + 1)}
    if not sizes:
        return {}
    keys = order[: max(sizes, key=lambda n: (sizes[n], n))]
    queues = {key: deque(by_key[key]) for key in reversed(keys)}
    options = tuple(value for value in entries[0].pool if value in keys)
    placed: dict[str, Placement] = {}
    for number in range(len(by_key[keys[-1]])):
        members = _members(queues)
        if members is None:
            break
        group = "t" + digest(name, str(number), size=8)
        placed |= {entry.item_id: Placement("headline", options, group) for entry in members}
    return placed


def _members(queues: dict[str, deque[Draft]]) -> list[Draft] | None:
    """One item from each queue, no two of one patient, on slices as like as there are; they leave their queues."""
    members: list[Draft] = []
    for queue in queues.values():
        used, wanted = {entry.patient_id for entry in members}, members[0].frame if members else -1
        reach = _LOOK if wanted < 0 else _LOOK_ALIKE
        free = [(n, e) for n, e in enumerate(islice(queue, reach)) if e.patient_id not in used]
        if not free:
            return None
        place, entry = min(free, key=lambda pair: abs(pair[1].frame - wanted)) if wanted >= 0 else free[0]
        members.append(entry)
        del queue[place]
    return members


def _shared(entries: list[Draft], name: bytes, seed: int, rules: BoxRules) -> dict[str, Placement]:
    """Groups of as many items as options: the same findings are offered to all, each is right for one."""
    queues: dict[str, deque[Draft]] = defaultdict(deque)
    for entry in _patients_in_turn(entries):
        queues[str(entry.key)].append(entry)
    organs = {key: finding_of(key).organ for key in queues}
    rng = np.random.default_rng(int(digest("options", str(seed), name, size=8), 16))
    placed: dict[str, Placement] = {}
    number, misses = 0, 0
    while misses < 2 * _LOOK:
        members = _drawn_group(queues, organs, rng, rules.options)
        if members is None:
            misses += 1
            continue
        misses = 0
        options = tuple(sorted(str(entry.key) for entry in members))
        group = "t" + digest(name, str(number), size=8)
        number += 1
        for entry in members:
            placed[entry.item_id] = Placement("headline", options, group)
            queues[str(entry.key)].remove(entry)
    return placed


def _drawn_group(
    queues: dict[str, deque[Draft]], organs: dict[str, str], rng: np.random.Generator, size: int
) -> list[Draft] | None:
    """Findings drawn by how many items wait for each, of one organ, and one fitting item of each."""
    waiting = sorted(key for key in queues if queues[key])
    if len(waiting) < size:
        return None
    weights = np.array([len(queues[key]) for key in waiting], dtype=np.float64)
    first = waiting[int(rng.choice(len(waiting), p=weights / weights.sum()))]
    chosen = [first]
    others = [key for key in waiting if organs[key] == organs[first] and key != first]
    while len(chosen) < size:
        others = [key for key in others if not any(finding_of(key).confusable_with(finding_of(c)) for c in chosen)]
        if not others:
            return None
        weights = np.array([len(queues[key]) for key in others], dtype=np.float64)
        chosen.append(others.pop(int(rng.choice(len(others), p=weights / weights.sum()))))
    members: list[Draft] = []
    for key in chosen:
        used, wrong = {entry.patient_id for entry in members}, {other for other in chosen if other != key}
        fits = (e for _, e in zip(range(_LOOK), queues[key]) if e.patient_id not in used and wrong <= set(e.pool))
        found = next(fits, None)
        if found is None:
            return None
        members.append(found)
    return members


def _several(entries: list[Draft], rules: BoxRules) -> dict[str, Placement]:
    """Each finding is offered wrongly as often as rightly, as far as the slices allow."""
    surplus: Counter[str] = Counter(value for entry in entries for value in entry.right)
    placed: dict[str, Placement] = {}
    for entry in entries:
        free = [value for value in entry.pool if value not in entry.right]
        free.sort(key=lambda value: (-surplus[value], digest(entry.item_id, value)))
        wrong = free[: rules.several_options - len(entry.right)]
        surplus.subtract(wrong)
        options = sorted((*entry.right, *wrong), key=lambda value: digest("order", entry.item_id, value))
        placed[entry.item_id] = Placement("untwinned", tuple(options), "")
    return placed


def _patients_in_turn(entries: Iterable[Draft]) -> list[Draft]:
    """The first item of every patient, then the second of each, in the order drawn."""
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int, Draft]] = []
    for entry in entries:
        ranked.append((seen[entry.patient_id], len(ranked), entry))
        seen[entry.patient_id] += 1
    return [entry for _, _, entry in sorted(ranked, key=lambda row: row[:2])]


def _letters(entries: list[Draft], placed: dict[str, Placement]) -> dict[str, Placement]:
    """Put each answer at the next letter in turn, within task, level and number of options."""
    turns: Counter[tuple[str, str, int]] = Counter()
    result = dict(placed)
    for entry in entries:
        placement = placed[entry.item_id]
        if entry.form != "choice":
            continue
        wrong = [value for value in placement.options if value != entry.key]
        wrong.sort(key=lambda value: digest("order", entry.item_id, value))
        kind = (entry.task, entry.level, len(placement.options))
        at = turns[kind] % len(placement.options)
        turns[kind] += 1
        result[entry.item_id] = msgspec.structs.replace(placement, options=(*wrong[:at], str(entry.key), *wrong[at:]))
    return result


def place_finding(item: Item, placement: Placement, split: str) -> Item:
    """The finished item."""
    by_value = {option.value: option for option in item.options}
    options = tuple(by_value[value] for value in placement.options)
    stratum, group = placement.stratum, placement.twin_group
    return msgspec.structs.replace(item, stratum=stratum, options=options, twin_group=group, split=split)


class Twins:
    """Collects the twin groups of a bench, to tell whether they are what they should be."""

    def __init__(self) -> None:
        self._groups: dict[str, list[_Twin]] = defaultdict(list)
        self._alone: list[str] = []

    def add(self, item: Item) -> None:
        """Note one item."""
        key = None if isinstance(item.answer, Choices) else answer_key(item.answer)
        if item.twin_group:
            offered = frozenset(option.value for option in item.options)
            text = (item.task, item.form, item.question, item.stratum)
            twin = _Twin(item.item_id, item.patient_id, text, offered, key)
            self._groups[item.twin_group].append(twin)
        elif key is not None:
            self._alone.append(item.item_id)

    def problems(self) -> Iterator[tuple[str, str]]:
        """Item id and what is wrong, for every group without one text, one set of options, each answer once and each
        patient once."""
        for own_id in self._alone:
            yield own_id, "has no twins, so that its answer is not balanced"
        for members in self._groups.values():
            first, keys = members[0], [twin.key for twin in members]
            if any((twin.text, twin.offered) != (first.text, first.offered) for twin in members):
                yield first.item_id, "its twins differ in text, options or stratum"
            if len(set(keys)) != len(keys) or len(keys) < 2 or None in keys:
                yield first.item_id, "its twins do not give each answer once"
            if first.offered and set(keys) != first.offered:
                yield first.item_id, "its twins do not give each of their options as an answer"
            if len({twin.patient_id for twin in members}) != len(members):
                yield first.item_id, "a patient occurs twice among its twins"


class _Twin(msgspec.Struct, frozen=True):
    item_id: str
    patient_id: str
    text: tuple[str, ...]
    offered: frozenset[str]
    key: str | None
