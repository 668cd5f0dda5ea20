"""Which questions about boxes become items: twins, and options that give nothing away.

* Yes/no, counts, and options of a fixed set: a pool of patients for each text, with as many for
  every offered answer
  (see `pools`); answers are drawn, and a patient is asked a text once. Where a slice is asked
  about, those drawn from show the same slice of the stack: a finding has its usual slices, and a
  negative elsewhere could be told by its place alone. Texts with too few patients for that are
  asked outside the headline.
* One of several findings: the same, with findings of one organ drawn as options.
* All that apply: wrong options are chosen so that a finding is offered wrongly about as often as
  rightly.
* Boxes, frames and text have no countable answer and are all kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from situs.anatomy import finding_of, protocol_of_volume
from situs.base.files import canonical_json, digest
from situs.facts import BoxRules, TwinRules
from situs.items.arrangement.engine import (
    Offer,
    Placement,
    evened,
    in_drawn_order,
    twins_of,
)
from situs.items.arrangement.pools import Pool, pool_of
from situs.items.kinds import answer_key
from situs.items.record import Choices, Item, marks_of

__all__ = ["Draft", "arrange_findings", "draft"]

_MISSES = 80
"""So many sets of options in a row that no slots have: there are no more."""


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
    """Whether its options are chosen for each item (one of several findings),
    not fixed by the question."""
    frame: int = -1
    """Of a question about one slice."""
    about: tuple[str, ...] = ()
    """Its tags."""
    split: str = ""
    organ: str = ""
    marked: bool = False
    """A mark is drawn into its picture."""
    protocol: str = ""
    """Sequence and scanner, where known:
    whoever sees that it is a FLAIR knows what is looked for on it."""


def draft(item: Item, split: str = "") -> Draft:
    """The draft of an item that has all its possible options, of a patient in that split."""
    key = None if isinstance(item.answer, Choices) else answer_key(item.answer)
    right = (
        item.answer.values
        if isinstance(item.answer, Choices)
        else (key,)
        if key is not None
        else ()
    )
    pool = tuple(option.value for option in item.options)
    shared = item.form == "choice" and item.task == "classification"
    text, level = item.question, item.level
    organ = next((tag for tag in item.tags if tag.startswith("organ:")), "")
    frame = item.frames[0] if level == "slice" and item.frames else -1
    about = (text, key, right, pool, shared, frame, item.tags, split, organ, bool(marks_of(item)))
    protocol = protocol_of_volume(item.study_id)
    return Draft(item.item_id, item.patient_id, item.task, item.form, level, *about, protocol)


_Proposed = tuple[tuple[str, ...], Pool["Draft"]]
"""The answers offered, and those who may be asked."""
_Name = tuple[str, ...]
"""Of a text: split, task, form or level, words, and all possible options."""


def arrange_findings(
    drafts: Sequence[Draft], seed: int, rules: BoxRules, twins: TwinRules
) -> dict[str, Placement]:
    """Decide for a whole cohort: item id → placement. Items that are missing are not asked."""
    entries = sorted(drafts, key=lambda entry: digest(str(seed), entry.item_id))
    placed: dict[str, Placement] = {}
    fixed: dict[_Name, list[Draft]] = defaultdict(list)
    shared: dict[_Name, list[Draft]] = defaultdict(list)
    several: list[Draft] = []
    for entry in entries:
        if entry.shared:
            shared[entry.split, entry.task, entry.level, entry.text].append(entry)
        elif entry.key is not None:
            fixed[entry.split, entry.task, entry.form, entry.text, *entry.pool].append(entry)
        elif entry.form == "choices":
            several.append(entry)
        else:
            stratum = "untwinned" if entry.form == "text" else "headline"
            placed[entry.item_id] = Placement(stratum, (), "")
    offers: list[Offer[Draft]] = []
    parts = _Parts(entry for same in fixed.values() for entry in same)
    for name, same in sorted(fixed.items()):
        # Where a drawn mark lies tells which of two kindred findings it is on: a control.
        best = None if same[0].marked else _fixed(same, parts, rules, twins)
        if best is None:
            placed |= _untwinned(same, rules)
        else:
            offers.append(_offer(name, best))
    for name, same in sorted(shared.items()):
        rng = np.random.default_rng(
            int(digest("options", str(seed), canonical_json(name), size=8), 16)
        )
        offers += [_offer(name, proposed) for proposed in _shared(same, rng, rules, twins)]
    placed |= twins_of(offers, seed, twins)
    placed |= _several(several, rules)
    return in_drawn_order(entries, placed, seed)


def _offer(name: _Name, proposed: _Proposed) -> Offer[Draft]:
    values, pool = proposed
    first = pool.first
    kind = (first.task, first.form, first.level)
    identity = canonical_json([name, values])
    return Offer(identity, first.task, kind, first.split, first.text, values, pool)


class _Parts:
    """In how many pools a patient stands for each answer: as evenly as can be.

    Some patients have every finding and some have none. If the first were always drawn for *yes*
    and the second for *no*, any half of the patients would have the answers that the other half
    lacks, over all texts together. So a *no* is rather asked of a patient who stands for a *yes*
    elsewhere.
    """

    def __init__(self, entries: Iterable[Draft]) -> None:
        texts: dict[tuple[object, ...], set[str]] = defaultdict(set)
        for entry in entries:
            texts[*_kind(entry), entry.patient_id, entry.key].add(entry.text)
        self._could = Counter({name: len(asked) for name, asked in texts.items()})
        self._does: Counter[tuple[object, ...]] = Counter()

    def evenly(self, entries: Iterable[Draft], values: Sequence[str]) -> list[Draft]:
        """Those first who stand for this answer less often than they could for the others."""

        def excess(entry: Draft) -> float:
            name = (*_kind(entry), entry.patient_id)
            others = [self._could[*name, value] for value in values if value != entry.key]
            return self._does[*name, entry.key] - sum(others) / max(1, len(others))

        return sorted(entries, key=excess)

    def add(self, pool: Pool[Draft]) -> None:
        """Note who is in a pool."""
        self._does.update(
            (*_kind(entry), entry.patient_id, entry.key) for entry in pool.candidates()
        )


def _kind(entry: Draft) -> tuple[object, ...]:
    return entry.split, entry.task, entry.form, entry.level, entry.pool


def _fixed(
    entries: list[Draft], parts: _Parts, rules: BoxRules, twins: TwinRules
) -> _Proposed | None:
    """The commonest answers, as many as tell most: m options weigh m − 1 (see `twins`)."""
    entries = _patients_in_turn(entries)
    counts = Counter(str(entry.key) for entry in entries)
    most = rules.count_most if entries[0].form == "number" else rules.options
    order = sorted(counts, key=lambda key: (-counts[key], key))
    best: tuple[int, _Proposed | None] = (0, None)
    for count in range(2, min(most, len(order)) + 1):
        values = tuple(value for value in entries[0].pool or order if value in order[:count])
        pool = pool_of(parts.evenly(entries, values), values, twins.bound, _alike)
        worth = (count - 1) * pool.size
        if pool.size >= twins.fewest and worth >= best[0]:
            best = worth, (values, pool)
    if best[1] is not None:
        parts.add(best[1][1])
    return best[1]


def _untwinned(entries: list[Draft], rules: BoxRules) -> dict[str, Placement]:
    """A text with too few patients for twins is asked outside the headline,
    no answer much oftener than another."""
    countable = () if entries[0].form == "number" else entries[0].pool or ("yes", "no")
    placed: dict[str, Placement] = {}
    for entry in evened(_patients_in_turn(entries), countable):
        others = sorted(
            (value for value in entry.pool if value != entry.key),
            key=lambda value: digest("option", entry.item_id, value),
        )
        options = (str(entry.key), *others[: rules.options - 1]) if entry.form == "choice" else ()
        placed[entry.item_id] = Placement("untwinned", options, "")
    return placed


def _alike(entry: Draft) -> object:
    """What is known without looking for the finding:
    the part of the body, the sequence, and which slice it is."""
    return entry.organ, entry.protocol, entry.frame


def _shared(
    entries: list[Draft], rng: np.random.Generator, rules: BoxRules, twins: TwinRules
) -> Iterator[_Proposed]:
    """Sets of findings to offer, drawn by how many items there are of each.

    The weights are those of all candidates: if they followed what is left, later options would tell
    earlier answers.
    """
    left = _patients_in_turn(entries)
    weights = Counter(str(entry.key) for entry in left)
    misses = 0
    while misses < _MISSES:
        values = _drawn_options(weights, rng, rules.options)
        fitting = [e for e in left if e.key in values and set(values) - {e.key} <= set(e.pool)]
        pool = pool_of(fitting, values, twins.bound, _alike)
        if pool.size < twins.fewest:
            misses += 1
            continue
        patients = {entry.patient_id for entry in pool.candidates()}
        left = [entry for entry in left if entry.patient_id not in patients]
        yield values, pool


def _drawn_options(
    weights: Mapping[str, int], rng: np.random.Generator, size: int
) -> tuple[str, ...]:
    """Findings of one organ that are not mistaken for one another; none if there are too few."""
    chosen: list[str] = []
    others = sorted(weights)
    while len(chosen) < size and others:
        shares = np.array([weights[key] for key in others], dtype=np.float64)
        chosen.append(others.pop(int(rng.choice(len(others), p=shares / shares.sum()))))
        last = finding_of(chosen[-1])
        others = [
            key
            for key in others
            if finding_of(key).organ == last.organ and not finding_of(key).confusable_with(last)
        ]
    return tuple(sorted(chosen)) if len(chosen) == size else ()


def _several(entries: list[Draft], rules: BoxRules) -> dict[str, Placement]:
    """Each finding is offered wrongly as often as rightly, as far as the slices allow."""
    surplus: Counter[str] = Counter(value for entry in entries for value in entry.right)
    placed: dict[str, Placement] = {}
    for entry in entries:
        free = [value for value in entry.pool if value not in entry.right]
        free.sort(key=lambda value: (-surplus[value], digest(entry.item_id, value)))
        wrong = free[: rules.several_options - len(entry.right)]
        surplus.subtract(wrong)
        options = sorted(
            (*entry.right, *wrong), key=lambda value: digest("order", entry.item_id, value)
        )
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
