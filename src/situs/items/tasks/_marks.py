"""Which of the marks drawn into the pictures lies where?"""

from __future__ import annotations

from collections.abc import Iterator

from situs.facts import Fact, Ledger, mark_points
from situs.items._posed import NotAsked, Posed, Question
from situs.items._record import Choice, Option, Step, mark_label
from situs.items._subjects import ANY_LESION, Subject, resolve
from situs.items.tasks._shared import compose, obstacle
from situs.space import WorldBox

__all__ = ["Marks"]

_POOL = tuple(Option(letter, f"mark {letter}") for letter in "ABCD")


class Marks:
    """Asks which of four marks on one axial slice lies in an organ, in a lesion, or in the organ of the lesion.

    The marks are in the pixels, never in the words. As posed, mark A is the right one; which letter it gets in the
    end is decided for the whole cohort, so that each letter is right equally often.
    """

    name = "marks"

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """Every organ, every lesion in its organ, and the organ of the largest lesion."""
        lesions = [s for s in subjects if s.is_lesion]
        if lesions:
            yield Question(self.name, "choice", {"ask": "same_organ", "of": ANY_LESION})
        for subject in lesions:
            yield Question(self.name, "choice", {"ask": "lesion", "of": subject.key})
        for subject in subjects:
            if subject.term.kind in ("organ", "region"):
                yield Question(self.name, "choice", {"ask": "organ", "of": subject.key})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if one slice has room for four marks, each well inside its structure."""
        subject, ask = resolve(ledger, question.parameters["of"]), question.parameters["ask"]
        found = obstacle(ledger, [subject], whole=subject.is_lesion, oriented=subject.term.side is not None)
        if found is not None:
            return found
        match ask:
            case "lesion":
                return self._posed(ledger, subject, subject, ledger.fact("marks.lesion", subject.structure))
            case "organ":
                return self._posed(ledger, subject, subject, ledger.fact("marks.organ", subject.structure))
        holds = ledger.fact("organ_of", subject.structure)
        if holds.value is None:
            return NotAsked("no organ clearly holds the lesion")
        if ledger.side_basis == "undeclared":
            return NotAsked("the file declares no orientation, so sides are unknown")
        organ = resolve(ledger, str(holds.value))
        return self._posed(ledger, subject, organ, ledger.fact("marks.organ", organ.structure), holds)

    def _posed(self, ledger: Ledger, asked: Subject, inside: Subject, fact: Fact, *more: Fact) -> Posed | NotAsked:
        if fact.value is None:
            return NotAsked("no slice has room for four marks well inside their structures")
        points = mark_points(fact)
        marks = [WorldBox(at, at, mark_label(option.value)) for option, at in zip(_POOL, points)]
        side = ("side_convention",) if inside.term.side is not None and asked is inside else ()
        return compose(
            ledger,
            [asked],
            text=f"Which marked point lies in {inside.phrase}?"
            if asked is inside
            else f"Which marked point lies in the same organ as {asked.phrase}?",
            answer=Choice(_POOL[0].value),
            facts=(fact, *more),
            steps=(Step("compare", "See in which structure each mark lies.", (fact.fact_id,), tuple(marks)),),
            conclusion=f"It is mark A, in {inside.phrase}.",
            needs=side,
            pool=_POOL[: len(points)],
            marks=marks,
        )
