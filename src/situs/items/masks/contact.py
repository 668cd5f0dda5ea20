"""Does the lesion touch it?"""

from __future__ import annotations

from collections.abc import Iterator

from situs.facts import Ledger, number
from situs.items.masks.relations import touches
from situs.items.masks.shared import (
    FAR,
    OWN_ORGAN,
    compose,
    measure_step,
    obstacle,
    own_organ,
    relevant_to,
)
from situs.items.posed import NotAsked, Posed, Question, quantity
from situs.items.record import YesNo
from situs.items.subjects import Subject, resolve
from situs.items.tasks import NothingExpected, TaskRules

__all__ = ["Contact"]


class Contact(NothingExpected):
    """Asks whether a lesion touches a vessel or an organ other than its own."""

    name = "contact"
    rules = TaskRules(
        quotas={"yes_no": 3},
        mix="lesion",
        units=(),
        whole=True,
        decides=(),
        learns=(),
        group="contact",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """Every lesion against the vessels and organs around its own."""
        lesions = [s for s in subjects if s.is_lesion]
        others = [s for s in subjects if s.term.kind in ("vessel", "organ", "tract")]
        for lesion in lesions:
            for other in relevant_to(ledger, lesion, others):
                yield Question(self.name, "yes_no", {"a": lesion.key, "b": other.key})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Yes on a clear area of contact that a voxel of erosion leaves,
        no on a gap that a voxel does not close."""
        a, b = (resolve(ledger, question.parameters[key]) for key in ("a", "b"))
        return self.pose_pair(ledger, a, b)

    def pose_pair(self, ledger: Ledger, a: Subject, b: Subject) -> Posed | NotAsked:
        """Whether the one touches the other."""
        refusal = obstacle(ledger, [a, b], whole=False, oriented=False)
        if refusal is not None:
            return refusal
        if own_organ(ledger, a, b):
            return OWN_ORGAN
        gap = ledger.fact("main_gap", a.structure, b.structure)
        if number(gap) > ledger.recipe.truth.contact_reach_mm:
            return FAR
        decided = touches(ledger, a.structure, b.structure)
        if isinstance(decided, NotAsked):
            return decided
        area = decided.facts[0]
        words = (
            f"They share {quantity(number(area), 'mm²')} of surface."
            if decided.holds
            else (f"Between them there are {quantity(number(gap), 'mm')}.")
        )
        return compose(
            ledger,
            [a, b],
            text=f"Does {a.phrase} touch {b.phrase}?",
            answer=YesNo(decided.holds),
            facts=decided.facts,
            steps=(measure_step(words, area if decided.holds else gap),),
            conclusion="They touch." if decided.holds else "They do not touch.",
            difficulty=None,
        )
