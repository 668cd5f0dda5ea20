"""How many? Findings, not boxes; only where every linking rule gives the same number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from situs.base.text import counted
from situs.facts import BoxLedger
from situs.items.findings.composed import (
    UNCERTAIN,
    Asked,
    Reasoning,
    asked_of,
    compose,
    finding,
    in_words,
    place_step,
)
from situs.items.findings.words import worded
from situs.items.posed import NotAsked, Question
from situs.items.record import Item, Number, item_id

__all__ = ["Counting"]


class Counting:
    """The number of separate findings of a kind in a volume."""

    name = "counting"
    quotas: ClassVar = {"volume": 8}

    def questions(self, ledger: BoxLedger) -> Iterator[Question]:
        """One for every kind that is annotated and that anyone counts."""
        for name in asked_of(ledger.labels):
            if finding(name).counted:
                yield Question(self.name, "number", {"finding": name})

    def pose(
        self, ledger: BoxLedger, question: Question, patient_id: str, seed: int
    ) -> Item | NotAsked:
        """Put one question."""
        name = question.parameters["finding"]
        boxes = ledger.boxes_of(name)
        if not boxes:
            raise KeyError(name)
        if ledger.is_uncertain(name):
            return UNCERTAIN
        count_fact = ledger.fact("findings", name)
        if "unstable" in count_fact.flags:
            return NotAsked("the number of findings depends on how boxes are linked")
        number = int(count_fact.value)  # type: ignore[arg-type]
        if number > ledger.rules.count_most:
            return NotAsked("too many findings to count by eye")
        about = finding(name)
        own_id = item_id(ledger.study_id, question.task, question.form, question.parameters)
        tubes = [ledger.fact("tube", name, str(n)) for n in range(number)]
        conclusion = (
            f"Linked from frame to frame, the boxes make {counted(number, 'finding', 'findings')}."
        )
        return compose(
            ledger,
            question,
            patient_id,
            Asked(
                text=worded("counting", own_id, seed, about),
                answer=Number(float(number), "", (float(number), float(number))),
            ),
            Reasoning(
                signs=[
                    (
                        (
                            f"Boxes of {about.phrase} that overlap on neighbouring frames belong"
                            " together."
                        ),
                        (count_fact,),
                    )
                ],
                places=(
                    place_step(
                        "They lie in the boxes given.", (ledger.fact("boxes", name), *tubes), boxes
                    ),
                ),
                conclusion=conclusion,
                facts=(count_fact,),
            ),
            boxes=in_words(boxes),
            needs=("slice_order",),
            tags=(f"finding:{name}",),
        )
