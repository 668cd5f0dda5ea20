"""How large is it? A number in millilitres."""

from __future__ import annotations

from collections.abc import Iterator

from situs.facts import Ledger, is_cut, number, span
from situs.items._posed import NotAsked, Posed, Question, find_step, measured, quantity
from situs.items._record import Number, Step
from situs.items._subjects import Subject, resolve, world_box

__all__ = ["VolumeEstimate"]


class VolumeEstimate:
    """Asks for the volume of structures that lie whole inside the scan."""

    name = "volume"

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """One question per structure whose size makes sense to ask."""
        for subject in subjects:
            if subject.term.ask_size:
                yield Question(self.name, "number", {"of": subject.key})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the structure is not cut and its volume is known well enough."""
        subject = resolve(ledger, question.parameters["of"])
        if any("unstable" in fact.flags for fact in subject.evidence):
            return NotAsked("two lesions too alike in size to say which is the largest")
        fact = ledger.fact("volume", subject.structure)
        if is_cut(fact):
            return NotAsked("structure cut off by the scan")
        value, (low, high) = number(fact), span(fact)
        width = (high - low) / 2 / value
        if width > ledger.recipe.truth.volume_half_width:
            return NotAsked("volume not known well enough")
        steps = (
            find_step(ledger, subject),
            Step(
                "measure",
                f"{subject.opening} fills {quantity(value, 'mL')}.",
                (fact.fact_id,),
                (),
                measured(fact),
            ),
            Step("conclude", f"The volume is {quantity(value, 'mL')}.", (fact.fact_id,)),
        )
        return Posed(
            text=f"What is the volume of {subject.phrase}, in mL?",
            answer=Number(value, "mL", (low, high)),
            facts=(fact, ledger.fact("box", subject.structure), *subject.evidence),
            steps=steps,
            boxes=(world_box(ledger, subject),),
            needs=("scale", f"sees:{subject.key}"),
            tags=(f"structure:{subject.key}", f"system:{subject.term.system}"),
            difficulty=1.0 / width if width > 0 else None,
        )
