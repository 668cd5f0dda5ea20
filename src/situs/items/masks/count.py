"""How many lesions?"""

from __future__ import annotations

from collections.abc import Iterator

from situs.facts import Ledger, number
from situs.items.masks.shared import plural
from situs.items.posed import NotAsked, Posed, Question, measured
from situs.items.record import Number, Step
from situs.items.subjects import Subject, resolve, world_box
from situs.items.tasks import NothingExpected, TaskRules

__all__ = ["Count"]


class Count(NothingExpected):
    """Asks for the number of lesions, only where the annotation is declared to hold them all."""

    name = "count"
    rules = TaskRules(
        quotas={"number": 2},
        mix="lesion",
        mix_always=True,
        units=("",),
        whole=True,
        decides=(),
        learns=(),
        group="lesions",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """One question per lesion family."""
        for subject in subjects:
            if subject.is_lesion:
                yield Question(self.name, "number", {"of": subject.key.split(":")[1]})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the number does not depend on how voxels are connected, and is small."""
        family = question.parameters["of"]
        names = ledger.families.get(family, [])
        if not names:
            raise KeyError(family)
        if not (ledger.exhaustive or all(ledger.terms[name].exhaustive for name in names)):
            return NotAsked("annotation not declared exhaustive")
        if any(ledger.is_cut(name) for name in names):
            return NotAsked("structure cut off by the scan")
        fact = ledger.fact("lesion_count", family)
        if "unstable" in fact.flags or number(fact) > ledger.recipe.truth.count_most:
            return NotAsked("number of lesions not certain")
        entry = ledger.family_term(family)
        plain = entry.plain
        count = number(fact)
        verb = "is" if count == 1 else "are"
        lesions = [resolve(ledger, name) for name in names]
        boxes = tuple(world_box(ledger, lesion) for lesion in lesions)
        box_facts = tuple(ledger.fact("box", name) for name in names)
        return Posed(
            text=f"How many {plural(plain)} are there?",
            answer=Number(count, "", (count, count)),
            facts=(fact, *box_facts),
            steps=(
                Step("find", f"Find every {plain}.", tuple(f.fact_id for f in box_facts), boxes),
                Step("measure", f"Count them: {count:.0f}.", (fact.fact_id,), (), measured(fact)),
                Step("conclude", f"There {verb} {count:.0f} of them.", (fact.fact_id,)),
            ),
            boxes=boxes,
            needs=tuple(f"sees:{name}" for name in names),
            tags=(f"structure:{family}", f"system:{entry.system}"),
            difficulty=None,
        )
