"""Which questions about boxes become items: twins, and options that give nothing away.

Patients are divided before anything is drawn. Of some, sheets of questions with countable answers
are drawn (see `sheets`): yes/no, counts, one of several options. They are asked nothing else, since
what else could be asked of a patient tells whether anything was found. The others are asked what
has no countable answer (boxes, frames, text), all that apply, and texts with too few patients for
twins, outside the headline.

* Where a slice is asked about, those of whom one is drawn show the same slice of the stack: a
  finding has its usual slices, and a negative elsewhere could be told by its place alone.
* One of several findings: findings of one organ are drawn as options.
* All that apply: wrong options are chosen so that a finding is offered wrongly about as often as
  rightly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from situs.anatomy import finding_of
from situs.base.files import digest
from situs.facts import BoxRules, TwinRules
from situs.items.arrangement.engine import Placement, evened, in_drawn_order
from situs.items.arrangement.pools import Pool, pool_of
from situs.items.findings.drafts import Draft, alike
from situs.items.findings.sheets import (
    Slot,
    TextName,
    drawn_sheets,
    patients_apart,
    slots_of,
)

__all__ = ["arrange_findings"]

_MISSES = 80
"""So many sets of options in a row that no slots have: there are no more."""

_Proposed = tuple[tuple[str, ...], Pool["Draft"]]
"""The answers offered, and those who may be asked."""


def arrange_findings(
    drafts: Sequence[Draft], seed: int, rules: BoxRules, twins: TwinRules
) -> dict[str, Placement]:
    """Decide for a whole cohort: item id → placement. Items that are missing are not asked."""
    entries = sorted(drafts, key=lambda entry: digest(str(seed), entry.item_id))
    # Where a drawn mark lies tells which of two kindred findings it is on: a control.
    countable = [entry for entry in entries if entry.key is not None and not entry.marked]
    openly = Counter(e.patient_id for e in entries if e.key is None and e.form != "text")
    apart = patients_apart({e.patient_id for e in entries}, openly, seed, rules.sheet_share)

    def choices(left: Sequence[Draft], rng: np.random.Generator) -> Iterator[Slot]:
        return _slots_with_options(left, rng, rules, twins)

    on_sheets = [entry for entry in countable if entry.patient_id in apart]
    sheets = drawn_sheets(on_sheets, choices, seed, rules, twins)
    asked = {_name(e) for e in on_sheets if e.item_id in sheets.placements}
    others = [entry for entry in entries if entry.patient_id not in sheets.patients]
    placed = sheets.placements | _asked_openly(others, asked, rules)
    return in_drawn_order(entries, placed, seed)


def _name(entry: Draft) -> TextName:
    if entry.shared:
        return entry.split, entry.task, entry.level, entry.text
    return entry.split, entry.task, entry.form, entry.text, *entry.pool


def _asked_openly(
    entries: Sequence[Draft], in_headline: set[TextName], rules: BoxRules
) -> dict[str, Placement]:
    """The questions to patients who have no sheet."""
    placed: dict[str, Placement] = {}
    fixed: dict[TextName, list[Draft]] = defaultdict(list)
    several: list[Draft] = []
    counts: Counter[tuple[str, ...]] = Counter()
    for entry in entries:
        if entry.key is not None:
            kind = (entry.patient_id, entry.task, entry.level, entry.form)
            # More is considered than anyone is asked: as many as on a sheet.
            most = rules.sheet if entry.form == "yes_no" else len(entries)
            if not entry.shared and _name(entry) not in in_headline and counts[kind] < most:
                counts[kind] += 1
                fixed[_name(entry)].append(entry)
        elif entry.form == "choices":
            several.append(entry)
        else:
            stratum = "untwinned" if entry.form == "text" else "headline"
            placed[entry.item_id] = Placement(stratum, (), "")
    for _, same in sorted(fixed.items()):
        placed |= _untwinned(same, rules)
    return placed | _several(several, rules)


def _slots_with_options(
    left: Sequence[Draft], rng: np.random.Generator, rules: BoxRules, twins: TwinRules
) -> Iterator[Slot]:
    """Slots of counts and of one of several options, the kinds of question in turn."""
    texts: dict[TextName, list[Draft]] = defaultdict(list)
    for entry in left:
        texts[_name(entry)].append(entry)
    queues: dict[tuple[str, ...], list[Slot]] = defaultdict(list)
    for name, same in sorted(texts.items()):
        if same[0].shared:
            offered = list(_shared(same, rng, rules, twins))
        else:
            best = _fixed(same, rules, twins)
            offered = [best] if best is not None else []
        for values, pool in offered:
            queues[same[0].task, same[0].form, same[0].level] += slots_of(
                name, values, pool.slots()
            )
    taken: set[str] = set()
    for queue in queues.values():
        queue[:] = [queue[place] for place in rng.permutation(len(queue))]
    while any(queues.values()):
        for queue in queues.values():
            while queue:
                slot = queue.pop()
                if taken.isdisjoint(slot.patients):
                    taken.update(slot.patients)
                    yield slot
                    break


def _fixed(entries: list[Draft], rules: BoxRules, twins: TwinRules) -> _Proposed | None:
    """The commonest answers, as many as tell most: m options weigh m − 1 (see `twins`)."""
    entries = _patients_in_turn(entries)
    counts = Counter(str(entry.key) for entry in entries)
    most = rules.count_most if entries[0].form == "number" else rules.options
    order = sorted(counts, key=lambda key: (-counts[key], key))
    best: tuple[int, _Proposed | None] = (0, None)
    for count in range(2, min(most, len(order)) + 1):
        values = tuple(value for value in entries[0].pool or order if value in order[:count])
        pool = pool_of(entries, values, twins.bound, alike)
        worth = (count - 1) * pool.size
        if pool.size >= twins.fewest and worth >= best[0]:
            best = worth, (values, pool)
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
        pool = pool_of(fitting, values, twins.bound, alike)
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
