"""Does the lesion touch it?"""

from __future__ import annotations

from collections.abc import Iterator

from situs.facts import Ledger, number, span
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
        """Yes on a clear area of contact that a voxel of erosion leaves, no on a gap that a voxel does not close."""
        a, b = resolve(ledger, question.parameters["a"]), resolve(ledger, question.parameters["b"])
        found = obstacle(ledger, [a, b], whole=False, oriented=False)
        if found is not None:
            return found
        if own_organ(ledger, a, b):
            return OWN_ORGAN
        kinds = ("contact_area", "main_gap", "eroded_contact")
        area, gap, eroded = (ledger.fact(kind, a.structure, b.structure) for kind in kinds)
        truth, faces = ledger.recipe.truth, ledger.regions.grid.affine.face_areas_mm2
        clear = max(truth.contact_mm2, truth.contact_faces * max(faces))
        if number(gap) > truth.contact_reach_mm:
            return FAR
        touches = number(eroded) >= clear and number(gap) == 0
        if not touches and span(gap)[0] <= 0:
            return NotAsked("contact too close to call")
        if not touches and (ledger.is_cut(a.structure) or ledger.is_cut(b.structure)):
            return NotAsked("structure cut off by the scan")
        words = (
            f"They share {quantity(number(area), 'mm²')} of surface."
            if touches
            else (f"Between them there are {quantity(number(gap), 'mm')}.")
        )
        return compose(
            ledger,
            [a, b],
            text=f"Does {a.phrase} touch {b.phrase}?",
            answer=YesNo(touches),
            facts=(area, gap, eroded),
            steps=(measure_step(words, area if touches else gap),),
            conclusion="They touch." if touches else "They do not touch.",
            difficulty=None,
        )
