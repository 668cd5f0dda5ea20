"""Which of the marks drawn into the pictures lies where?"""

from __future__ import annotations

from collections.abc import Iterator

from situs.facts import Fact, Ledger, mark_points, marked_structures
from situs.items.masks.shared import compose, obstacle
from situs.items.posed import NotAsked, Posed, Question
from situs.items.record import Choice, Option, Step, mark_label
from situs.items.subjects import ANY_LESION, Subject, resolve
from situs.items.tasks import NothingExpected, TaskRules
from situs.space import WorldBox

__all__ = ["Marks"]

_POOL = tuple(Option(letter, f"mark {letter}") for letter in "ABCD")
_PARTNER = "X"
UNSURE = NotAsked("its mask fits the name of another structure as well")
NO_ROOM = NotAsked("no slice has room for marks well inside their structures")


class Marks(NothingExpected):
    """Asks which of four marks on one axial slice lies in a lesion, in the organ of the lesion, or
    beside another mark.

    The marks are in the pixels, never in the words. As posed, mark A is the right one; which letter
    it gets in the end is drawn from their places, whichever of them is right. All are controls:
    where a mark lies in the body tells its structure, so that a learner of the marks' places from
    other patients is right far oftener than chance.
    """

    name = "marks"
    rules = TaskRules(
        quotas={"organ": 4, "same": 4, "same_organ": 1, "lesion": 2},
        mix="marks",
        mix_always=True,
        units=(),
        whole=False,
        decides=(),
        learns=(),
        group="marks",
        drawn=True,
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """Every lesion in its organ, the organ of the largest lesion,
        two marks in one structure, every organ."""
        lesions = [s for s in subjects if s.is_lesion]
        if lesions:
            yield Question(
                self.name, "choice", {"ask": "same_organ", "of": ANY_LESION}, textbook=True
            )
        for number in range(len(_POOL)):
            yield Question(
                self.name, "choice", {"ask": "same", "nearer": str(number)}, textbook=True
            )
        for subject in lesions:
            yield Question(self.name, "choice", {"ask": "lesion", "of": subject.key}, textbook=True)
        for subject in subjects:
            if subject.term.kind in ("organ", "region"):
                yield Question(
                    self.name, "choice", {"ask": "organ", "of": subject.key}, textbook=True
                )

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if one slice has room for the marks, each well inside its structure."""
        ask = question.parameters["ask"]
        if ask == "same":
            fact = ledger.fact(f"marks.same.{question.parameters['nearer']}")
            text = (
                "Which of the marks A to D lies in the same anatomical structure as mark"
                f" {_PARTNER}?"
            )
            if fact.value is None:
                return NO_ROOM
            inside = resolve(ledger, marked_structures(fact)[0])
            return self._posed(ledger, text, inside, inside, (fact,))
        subject = resolve(ledger, question.parameters["of"])
        refusal = obstacle(ledger, [subject], whole=subject.is_lesion, oriented=ask == "organ")
        if refusal is not None:
            return refusal
        if ask == "organ" and subject.structure in ledger.unsure_names:
            return UNSURE
        if ask != "same_organ":
            text = f"Which marked point lies in {subject.phrase}?"
            return self._posed(
                ledger, text, subject, subject, (ledger.fact(f"marks.{ask}", subject.structure),)
            )
        holds = ledger.fact("organ_of", subject.structure)
        if holds.value is None:
            return NotAsked("no organ clearly holds the lesion")
        organ = resolve(ledger, str(holds.value))
        text = f"Which marked point lies in the same organ as {subject.phrase}?"
        return self._posed(
            ledger, text, subject, organ, (ledger.fact("marks.among", organ.structure), holds)
        )

    def _posed(
        self, ledger: Ledger, text: str, asked: Subject, inside: Subject, facts: tuple[Fact, ...]
    ) -> Posed | NotAsked:
        if facts[0].value is None:
            return NO_ROOM
        letters = [*(option.value for option in _POOL), _PARTNER]
        marks = [
            WorldBox(at, at, mark_label(letter))
            for letter, at in zip(letters, mark_points(facts[0]))
        ]
        return compose(
            ledger,
            [asked],
            text=text,
            answer=Choice(_POOL[0].value),
            facts=facts,
            steps=(
                Step(
                    "compare",
                    "See in which structure each mark lies.",
                    (facts[0].fact_id,),
                    tuple(marks),
                ),
            ),
            conclusion=f"It is mark A, in {inside.phrase}.",
            needs=(
                ("side_convention",) if asked.phrase in text and asked.term.side is not None else ()
            ),
            pool=_POOL,
            marks=marks,
        )
