"""An item about boxes, put together: look, sign, place, conclusion."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from situs.anatomy import Finding, finding_of
from situs.facts import ANY, BoxLedger, Fact
from situs.items.posed import NotAsked, Question
from situs.items.record import Answer, Item, Option, Step, item_id
from situs.space import FrameBox

__all__ = [
    "ANY_FINDING",
    "UNCERTAIN",
    "Asked",
    "Reasoning",
    "asked_of",
    "compose",
    "finding",
    "frame_of",
    "in_words",
    "place_step",
    "same_for_all",
]

UNCERTAIN = NotAsked(
    "an annotation of it or its like cannot be used, so that what is annotated is not known"
)
ANY_FINDING = Finding(ANY, "", "any finding", "findings", (ANY,))


def finding(name: str) -> Finding:
    """The finding a parameter names; `any` is any of them."""
    return ANY_FINDING if name == ANY else finding_of(name)


def same_for_all(question: Question) -> str:
    """Names a question whoever is asked it: patients of whom one is drawn are asked in the same
    words.

    Only for questions whose parameters do not tell the answer.
    """
    return item_id("", question.task, question.form, question.parameters)


def asked_of(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the findings that are asked for by name."""
    return tuple(name for name in names if finding(name).asked)


def frame_of(question: Question) -> int | None:
    """The frame a slice-level question is about."""
    text = question.parameters.get("frame")
    return None if text is None else int(text)


def in_words(boxes: Iterable[FrameBox]) -> tuple[FrameBox, ...]:
    """The boxes with their labels in words."""
    return tuple(FrameBox(b.frame, b.x0, b.y0, b.x1, b.y1, finding_of(b.label).bare) for b in boxes)


def place_step(text: str, facts: Iterable[Fact], boxes: Iterable[FrameBox]) -> Step:
    """Where it is: boxes on their frames."""
    return Step("place", text, tuple(fact.fact_id for fact in facts), in_words(boxes))


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question as it is read, its right answer, and all options it could offer."""

    text: str
    answer: Answer
    pool: tuple[Option, ...] = ()


class Reasoning(msgspec.Struct, frozen=True, kw_only=True):
    """How the annotation proves an answer."""

    signs: list[tuple[str, tuple[Fact, ...]]]
    """What the annotation shows, each with the facts that say so."""
    places: tuple[Step, ...] = ()
    conclusion: str
    facts: tuple[Fact, ...] = ()
    """What the answer rests on beside the signs."""


def compose(
    ledger: BoxLedger,
    question: Question,
    patient_id: str,
    asked: Asked,
    reasoning: Reasoning,
    *,
    boxes: tuple[FrameBox, ...] = (),
    needs: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> Item:
    """The item: look, the signs that the annotation shows, where they are, and the conclusion."""
    frame = frame_of(question)
    look = "Look at this slice." if frame is not None else "Go through all frames."
    steps = [
        Step("look", look),
        *(
            Step("sign", sentence, tuple(f.fact_id for f in sign_facts))
            for sentence, sign_facts in reasoning.signs
        ),
    ]
    every = [*reasoning.facts, *(fact for _, sign_facts in reasoning.signs for fact in sign_facts)]
    ids = [fact.fact_id for fact in every] + [
        id_ for step in reasoning.places for id_ in step.fact_ids
    ]
    used = tuple(dict.fromkeys(ids))
    return Item(
        item_id=item_id(ledger.study_id, question.task, question.form, question.parameters),
        study_id=ledger.study_id,
        series=ledger.series,
        patient_id=patient_id,
        task=question.task,
        form=question.form,
        question=asked.text,
        answer=asked.answer,
        level="volume" if frame is None else "slice",
        frames=() if frame is None else (frame,),
        options=asked.pool,
        needs=needs,
        tags=(*((f"organ:{ledger.organ}",) if ledger.organ else ()), *tags),
        fact_ids=used,
        steps=(*steps, *reasoning.places, Step("conclude", reasoning.conclusion, used)),
        boxes=boxes,
        parameters=question.parameters,
    )
