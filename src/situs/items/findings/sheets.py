"""Who is asked what in the headline: whole sheets of questions, of which one patient is drawn.

A volume that was read as normal has a *no* to every question, one with many findings has many that
can be asked at all. So how many questions a patient gets, and of which kinds, would tell answers if
each text drew its patients by itself. Here a *slot* is one patient for each offered answer, all
alike to a reader without the picture, and its *sheet* are texts to which every one of them has
another answer. One of the patients is drawn, with equal chances, and is asked the whole sheet and
nothing else. The sheet follows from the slot, not from who is drawn: given the sheet, and whatever
the bench asks or tells of anybody else, each offered answer has the same chance.

Patients who were not drawn may stand in another slot, with a sheet of other questions. Those who
are never drawn are asked nothing: what the bench tells of them would tell of those drawn instead.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.base.files import canonical_json, digest
from situs.facts import BoxRules, TwinRules
from situs.items.arrangement.engine import Placement, grouped
from situs.items.arrangement.evenness import AskedQuestion, shares_of_limit
from situs.items.findings.drafts import Draft, alike

__all__ = ["Sheets", "Slot", "TextName", "drawn_sheets"]

TextName = tuple[str, ...]
"""Of a text: split, task, form or level, words, and all possible options."""

_ROUNDS = 8
"""Patients who were not drawn stand in a slot again, so many times at most."""
_TRIES = 100
"""Draws of a round, at most; of these the one nearest to chance is taken."""
_ALL_ANEW = 10
"""Draws of all slots, before a part of the best of them is drawn anew."""
_SHARES_ANEW = (0.02, 0.1, 0.4, 1.0)
"""Shares of the slots that are drawn anew, any of them as likely."""


class SheetQuestion(msgspec.Struct, frozen=True):
    """A text on a sheet, as it would be put to each patient of the slot."""

    name: TextName
    values: tuple[str, ...]
    """The answers that are offered."""
    drafts: tuple[Draft, ...]
    """One for each patient of the slot, each with another answer."""

    @property
    def identity(self) -> bytes:
        """What tells it from other texts and from the same with other options."""
        return canonical_json([self.name, self.values])

    def asked(self, member: int) -> AskedQuestion:
        """The question that it is if this patient is drawn."""
        entry = self.drafts[member]
        kind = (entry.task, entry.form, entry.level)
        return AskedQuestion(
            entry.patient_id,
            str(entry.key),
            self.values,
            entry.text,
            entry.task,
            kind,
            entry.split,
        )


class Slot(msgspec.Struct, frozen=True):
    """Patients of whom one is asked, and what."""

    patients: tuple[str, ...]
    sheet: tuple[SheetQuestion, ...]


Proposals = Callable[[Sequence[Draft], np.random.Generator], Iterator[Slot]]
"""Slots of questions with options, from drafts of patients who may still be drawn."""


class Sheets(msgspec.Struct, frozen=True):
    """Whom the draw has asked, and who stood in a slot."""

    placements: dict[str, Placement]
    patients: frozenset[str]
    """Those who stood in a slot: nothing else may be asked of them."""


def drawn_sheets(
    entries: Sequence[Draft],
    choices: Proposals,
    seed: int,
    rules: BoxRules,
    twins: TwinRules,
) -> Sheets:
    """Draw sheets for the patients of these drafts, in rounds, until no slot is left.

    `choices` proposes slots for questions with more than two answers. They come first, for a third
    of the patients at most: they need several patients for one question.
    """
    ids = sorted(entry.item_id for entry in entries)
    rng = np.random.default_rng(int(digest("sheets", str(seed), *ids, size=16), 16))
    draw = _Draw(twins)
    left = list(entries)
    for _ in range(_ROUNDS):
        slots = _one_round(left, choices, rng, rules)
        slots = draw.often_enough(slots)
        if not slots:
            break
        drawn = draw.ask(slots, rng)
        stood = {e.item_id for slot in slots for q in slot.sheet for e in q.drafts}
        left = [e for e in left if e.patient_id not in drawn and e.item_id not in stood]
    return Sheets(draw.placements(), frozenset(draw.patients))


def _one_round(
    left: Sequence[Draft], choices: Proposals, rng: np.random.Generator, rules: BoxRules
) -> list[Slot]:
    """Slots with no patient twice."""
    taken: set[str] = set()
    slots: list[Slot] = []
    most = len({entry.patient_id for entry in left}) // 3
    countable = [entry for entry in left if entry.form != "yes_no"]
    for slot in choices(countable, rng):
        if len(taken) + len(slot.patients) > most:
            break
        slots.append(slot)
        taken.update(slot.patients)
    yes_no = [e for e in left if e.form == "yes_no" and e.patient_id not in taken]
    return [*slots, *_pairs(yes_no, rng, rules.sheet)]


# --- pairs: two patients with opposite answers ---

_Floats = NDArray[np.float32]
_Cell = dict[str, Draft]
"""Patient → a question, in the same words and about the same slice."""


def _pairs(entries: Sequence[Draft], rng: np.random.Generator, most: int) -> Iterator[Slot]:
    """Two patients at a time who have opposite answers to as many questions as can be."""
    blocks: dict[tuple[str, str, str], list[Draft]] = defaultdict(list)
    for entry in entries:
        blocks[entry.split, entry.organ, entry.protocol].append(entry)
    for _, block in sorted(blocks.items()):
        yield from _pairs_alike(block, rng, most)


def _pairs_alike(block: Sequence[Draft], rng: np.random.Generator, most: int) -> Iterator[Slot]:
    cells: dict[tuple[object, ...], _Cell] = defaultdict(dict)
    for entry in block:
        cells[*_yes_no_name(entry), alike(entry)].setdefault(entry.patient_id, entry)
    patients = sorted({entry.patient_id for entry in block})
    number = {patient: place for place, patient in enumerate(patients)}
    signs: dict[tuple[str, str], list[_Floats]] = defaultdict(list)
    asked: list[_Cell] = []
    for _, cell in sorted(cells.items(), key=lambda pair: str(pair[0])):
        if len({entry.key for entry in cell.values()}) < 2:
            continue
        column = np.zeros(len(patients), dtype=np.float32)
        for patient, entry in cell.items():
            column[number[patient]] = 1.0 if entry.key == "yes" else -1.0
        first = next(iter(cell.values()))
        signs[first.task, first.level].append(column)
        asked.append(cell)
    if not asked:
        return
    worth = sum(
        np.minimum(_opposite(np.stack(columns, axis=1)), most) for columns in signs.values()
    )
    for one, other in _matched(np.asarray(worth), rng):
        members = patients[one], patients[other]
        both = [cell for cell in asked if all(patient in cell for patient in members)]
        opposed = [cell for cell in both if len({cell[p].key for p in members}) == 2]
        chosen = _most_of_each(
            (opposed[n] for n in rng.permutation(len(opposed))), members[0], most
        )
        sheet = [
            SheetQuestion(_yes_no_name(drafts[0]), ("yes", "no"), drafts)
            for drafts in (tuple(cell[patient] for patient in members) for cell in chosen)
        ]
        yield Slot(members, tuple(sheet))


def _yes_no_name(entry: Draft) -> TextName:
    return entry.split, entry.task, entry.form, entry.text


def _opposite(signs: _Floats) -> _Floats:
    """To how many questions each two patients have opposite answers: a yes (1) and a no (−1)."""
    yes, no = (signs > 0).astype(np.float32), (signs < 0).astype(np.float32)
    result: _Floats = yes @ no.T + no @ yes.T
    return result


def _matched(worth: _Floats, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Pairs in a drawn order, each patient with the one who is worth most of those left."""
    free = np.ones(len(worth), dtype=np.bool_)
    noise = rng.random(worth.shape, dtype=np.float32) * 0.5
    for one in rng.permutation(len(worth)):
        if not free[one]:
            continue
        free[one] = False
        value = np.where(free, worth[one] + noise[one], 0.0)
        other = int(np.argmax(value))
        if free[other] and worth[one, other] > 0:
            free[other] = False
            yield int(one), other


def _most_of_each(cells: Iterable[_Cell], first: str, most: int) -> Iterator[_Cell]:
    """At most so many questions of a task and level; of a finding one with each answer, and none in
    the same words: a patient would be its own twin.

    Neighbouring slices of a patient have the same answer: a second one would add little but a
    patient who is right or wrong on everything. `first` is the first patient of the pair.
    """
    counts: Counter[tuple[str, str]] = Counter()
    seen: set[tuple[object, ...]] = set()
    for cell in cells:
        entry = cell[first]
        told = (entry.task, entry.level, entry.about or entry.text, entry.key)
        if seen.isdisjoint({told, (entry.text,)}) and counts[entry.task, entry.level] < most:
            counts[entry.task, entry.level] += 1
            seen |= {told, (entry.text,)}
            yield cell


# --- the draw ---


class _Draw:
    """Asks one patient of each slot, and remembers what was asked."""

    def __init__(self, twins: TwinRules) -> None:
        self._twins = twins
        self._asked: dict[bytes, list[tuple[SheetQuestion, int]]] = defaultdict(list)
        self._questions: list[AskedQuestion] = []
        self.patients: set[str] = set()

    def often_enough(self, slots: Iterable[Slot]) -> list[Slot]:
        """The slots without texts that too few patients would be asked.

        A slot asks each of its texts once, whoever is drawn: this tells nothing of the draw.
        """
        slots = list(slots)
        counts = Counter({name: len(asked) for name, asked in self._asked.items()})
        counts.update(question.identity for slot in slots for question in slot.sheet)
        result = []
        for slot in slots:
            sheet = tuple(q for q in slot.sheet if counts[q.identity] >= self._twins.fewest)
            if sheet:
                result.append(Slot(slot.patients, sheet))
        return result

    def ask(self, slots: Sequence[Slot], rng: np.random.Generator) -> set[str]:
        """Draw one patient of each slot, and return those drawn.

        Draws are repeated until whoever counts the answers of others is near chance on all that is
        asked so far (see `evenness`); one of the slots that are too far is not told from the rest,
        so any of them are drawn anew: all at first, then a part of the draw nearest to chance.
        """
        sizes = np.array([len(slot.patients) for slot in slots])
        best: tuple[float, list[int]] | None = None
        for tried in range(_TRIES):
            anew = rng.integers(sizes)
            if best is not None and tried >= _ALL_ANEW:
                kept = rng.random(len(slots)) >= rng.choice(_SHARES_ANEW)
                anew = np.where(kept, best[1], anew)
            members = [int(member) for member in anew]
            questions = [q.asked(m) for slot, m in zip(slots, members) for q in slot.sheet]
            shares = shares_of_limit(
                [*self._questions, *questions], self._twins.evenness, parts=True
            )
            furthest = max(shares.values(), default=0.0)
            if best is None or furthest < best[0]:
                best = furthest, members
            if furthest <= 1.0:
                break
        assert best is not None
        for slot, member in zip(slots, best[1]):
            self.patients.update(slot.patients)
            for question in slot.sheet:
                self._questions.append(question.asked(member))
                self._asked[question.identity].append((question, member))
        return {slot.patients[member] for slot, member in zip(slots, best[1])}

    def placements(self) -> dict[str, Placement]:
        """What was asked, in groups of twins in an order that tells nothing of the rounds."""
        placed: dict[str, Placement] = {}
        for identity, asked in sorted(self._asked.items()):
            asked.sort(key=lambda pair: digest("twins", pair[0].drafts[pair[1]].item_id))
            for number, members in enumerate(grouped(asked, self._twins.together)):
                twin_group = "t" + digest(identity, str(number), size=8)
                for question, member in members:
                    entry = question.drafts[member]
                    options = question.values if entry.form == "choice" else ()
                    placed[entry.item_id] = Placement("headline", options, twin_group)
        return placed


def slots_of(
    name: TextName, values: tuple[str, ...], rows: Iterable[Sequence[Draft]]
) -> Iterator[Slot]:
    """A slot with one question for each row of drafts."""
    for row in rows:
        question = SheetQuestion(name, values, tuple(row))
        yield Slot(tuple(entry.patient_id for entry in row), (question,))


def patients_apart(
    patients: Iterable[str], open_ones: Mapping[str, int], seed: int, share: float
) -> set[str]:
    """Those whose sheets are drawn; the others are asked everything that has no drawn answer.

    A patient of whom nothing else can be asked is always among them; of the rest a `share`.
    """
    return {
        patient
        for patient in patients
        if not open_ones.get(patient)
        or int(digest("sheet", str(seed), patient, size=4), 16) / 16**8 < share
    }
