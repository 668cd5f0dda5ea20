"""An item about boxes, put together: look, sign, place, conclusion."""

from __future__ import annotations

from collections.abc import Iterable

from situs.anatomy import Finding, finding_of
from situs.facts import ANY, BoxLedger, Fact
from situs.items.posed import NotAsked, Question
from situs.items.record import Answer, Item, Option, Step, item_id
from situs.space import FrameBox

__all__ = [
    "ANY_FINDING",
    "UNCERTAIN",
    "asked_of",
    "compose",
    "finding",
    "frame_of",
    "place_step",
    "said",
]

UNCERTAIN = NotAsked(
    "an annotation of it or its like cannot be used, so that what is annotated is not known"
)
ANY_FINDING = Finding(ANY, "", "any finding", "findings", (ANY,))


def finding(name: str) -> Finding:
    """The finding a parameter names; `any` is any of them."""
    return ANY_FINDING if name == ANY else finding_of(name)


def asked_of(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the findings that are asked for by name."""
    return tuple(name for name in names if finding(name).asked)


def frame_of(question: Question) -> int | None:
    """The frame a slice-level question is about."""
    text = question.parameters.get("frame")
    return None if text is None else int(text)


def said(boxes: Iterable[FrameBox]) -> tuple[FrameBox, ...]:
    """The boxes with their labels in words."""
    return tuple(FrameBox(b.frame, b.x0, b.y0, b.x1, b.y1, finding_of(b.label).bare) for b in boxes)


def place_step(text: str, facts: Iterable[Fact], boxes: Iterable[FrameBox]) -> Step:
    """Where it is: boxes on their frames."""
    return Step("place", text, tuple(fact.fact_id for fact in facts), said(boxes))


def compose(
    ledger: BoxLedger,
    question: Question,
    patient_id: str,
    *,
    text: str,
    answer: Answer,
    signs: list[tuple[str, tuple[Fact, ...]]],
    places: tuple[Step, ...] = (),
    conclusion: str,
    facts: tuple[Fact, ...] = (),
    boxes: tuple[FrameBox, ...] = (),
    pool: tuple[Option, ...] = (),
    needs: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> Item:
    """The item; `signs` are what the annotation shows, each with the facts that say so."""
    frame = frame_of(question)
    look = "Look at this slice." if frame is not None else "Go through all frames."
    steps = [
        Step("look", look),
        *(Step("sign", said_, tuple(f.fact_id for f in own)) for said_, own in signs),
    ]
    every = [*facts, *(fact for _, own in signs for fact in own)]
    ids = [fact.fact_id for fact in every] + [id_ for step in places for id_ in step.fact_ids]
    used = tuple(dict.fromkeys(ids))
    return Item(
        item_id=item_id(ledger.study_id, question.task, question.form, question.parameters),
        study_id=ledger.study_id,
        series=ledger.series,
        patient_id=patient_id,
        task=question.task,
        form=question.form,
        question=text,
        answer=answer,
        level="volume" if frame is None else "slice",
        frames=() if frame is None else (frame,),
        options=pool,
        needs=needs,
        tags=(*((f"organ:{ledger.organ}",) if ledger.organ else ()), *tags),
        fact_ids=used,
        steps=(*steps, *places, Step("conclude", conclusion, used)),
        boxes=boxes,
        parameters=question.parameters,
    )
