"""A question as a task poses it to one patient, or the reason it is not asked."""

from __future__ import annotations

import msgspec

from situs.facts import Fact, Ledger
from situs.items.record import Answer, Box, Item, Measurement, Option, Step, item_id
from situs.items.subjects import Subject, world_box

__all__ = ["NotAsked", "Posed", "Question", "find_step", "measured", "quantity", "share_words"]


class NotAsked(msgspec.Struct, frozen=True):
    """Why a question is not asked of this patient; the reason is counted."""

    reason: str


class Question(msgspec.Struct, frozen=True):
    """Which question: task, form and canonical parameters, before it is put to a patient."""

    task: str
    form: str
    parameters: dict[str, str]
    family: str = ""
    """Questions of one family ask the same thing of a patient in another guise:
    at most one is kept."""
    primary: bool = True
    """The guise that twins are formed of."""
    named_only: bool = False
    """It speaks of named anatomy only, so that a textbook may know the answer."""
    textbook: bool = False
    """Any textbook knows the answer: a control, never in the headline."""
    must_offer: str = ""
    """An answer that must be offered, and be right as often as the others:
    asked among twins only."""

    @property
    def quota(self) -> str:
        """The name under which the recipe limits it."""
        return f"{self.task}.{self.parameters.get('ask', self.form)}"


class Posed(msgspec.Struct, frozen=True):
    """A question with its proved answer;
    `pool` are all options that could be offered, in a fixed order."""

    text: str
    answer: Answer
    facts: tuple[Fact, ...]
    steps: tuple[Step, ...]
    boxes: tuple[Box, ...]
    needs: tuple[str, ...]
    tags: tuple[str, ...]
    difficulty: float | None
    pool: tuple[Option, ...] = ()

    def item(self, question: Question, ledger: Ledger, patient_id: str) -> Item:
        """The item, its options not yet chosen or ordered."""
        return Item(
            item_id=item_id(ledger.study_id, question.task, question.form, question.parameters),
            study_id=ledger.study_id,
            series=ledger.series,
            patient_id=patient_id,
            task=question.task,
            form=question.form,
            question=self.text,
            answer=self.answer,
            options=self.pool,
            needs=self.needs,
            tags=self.tags,
            fact_ids=tuple(dict.fromkeys(fact.fact_id for fact in self.facts)),
            steps=self.steps,
            boxes=self.boxes,
            difficulty=self.difficulty,
            parameters=question.parameters,
        )


def find_step(ledger: Ledger, subject: Subject) -> Step:
    """Where to look: the subject's box."""
    box = ledger.fact("box", subject.structure)
    ids = (box.fact_id, *(fact.fact_id for fact in subject.evidence))
    return Step("find", f"Find {subject.phrase}.", ids, (world_box(ledger, subject),))


def quantity(value: float, unit: str) -> str:
    """A number as it is spoken: whole from 10 up, one decimal below, two for ratios."""
    value = round(value, 6)  # a tie (185.625) must not fall either way by the last bit of an affine
    figure = (
        f"{value:.2f}"
        if unit in ("", "fraction")
        else f"{value:.0f}"
        if abs(value) >= 10
        else f"{value:.1f}"
    )
    return figure + (f" {unit}" if unit not in ("", "fraction") else "")


def share_words(share: float) -> str:
    """How much of a structure, to begin a sentence: "None", "Less than 1 %", "12 %", "All"."""
    share = round(share, 6)
    if share <= 0.0 or share >= 1.0:
        return "None" if share <= 0.0 else "All"
    percent = round(100.0 * share)
    return {0: "Less than 1 %", 100: "More than 99 %"}.get(percent, f"{percent} %")


def measured(fact: Fact, threshold: float | None = None) -> Measurement:
    """A fact's number for a step, with the threshold it is held against."""
    bounds = (
        None
        if fact.interval is None or len(fact.interval) != 2
        else (fact.interval[0], fact.interval[1])
    )
    return Measurement(float(fact.value), fact.unit, bounds, threshold)  # type: ignore[arg-type]
