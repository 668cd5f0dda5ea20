"""Questions about lesions: the organ that holds it, its pole, and which of two is larger or further forward."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from situs._files import digest
from situs.anatomy import term
from situs.facts import Ledger, number, span
from situs.items._posed import NotAsked, Posed, Question, quantity
from situs.items._record import Choice, Option, Step
from situs.items._subjects import ANY_LESION, Subject, resolve, second
from situs.items.tasks._shared import ISLANDS, compose, measure_step, obstacle
from situs.space import Axis

__all__ = ["LesionOrgan", "LesionPair", "LesionPole"]

_THIRDS = (
    Option("upper", "the upper third"),
    Option("middle", "the middle third"),
    Option("lower", "the lower third"),
)


_HOLDERS = ["liver", "spleen", "pancreas", "kidney_left", "kidney_right"]
"""Organs offered beside the right one, the same for every patient."""


class LesionOrgan:
    """Asks which organ holds the largest lesion; the question never names it."""

    name = "lesion_organ"

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """One question, if the patient has a lesion."""
        if any(s.is_lesion for s in subjects):
            yield Question(self.name, "choice", {"of": ANY_LESION})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if one organ clearly holds it."""
        subject = resolve(ledger, question.parameters["of"])
        found = obstacle(ledger, [subject], whole=True, oriented=True)
        if found is not None:
            return found
        fact = ledger.fact("organ_of", subject.structure)
        if fact.value is None:
            return NotAsked("no organ clearly holds the lesion")
        organ = resolve(ledger, str(fact.value))
        organs = [*_HOLDERS, organ.key] if organ.key not in _HOLDERS else _HOLDERS
        return compose(
            ledger,
            [subject],
            text="In which organ does the largest annotated lesion lie?",
            answer=Choice(organ.key),
            facts=(fact,),
            steps=(Step("compare", "See which organ surrounds it.", (fact.fact_id,)),),
            conclusion=f"It lies in {organ.phrase}.",
            needs=("side_convention",),
            pool=tuple(Option(name, f"the {term(name).plain}") for name in organs),
        )


class LesionPole:
    """Asks in which third of its organ, from top to bottom, a lesion lies."""

    name = "lesion_pole"

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """One question per lesion family."""
        for subject in subjects:
            if subject.is_lesion:
                yield Question(self.name, "choice", {"of": subject.key})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the organ is whole and the lesion's centre clear of the lines between thirds."""
        subject = resolve(ledger, question.parameters["of"])
        found = obstacle(ledger, [subject], whole=True, oriented=True)
        if found is not None:
            return found
        holds = ledger.fact("organ_of", subject.structure)
        if holds.value is None:
            return NotAsked("no organ clearly holds the lesion")
        organ = str(holds.value)
        if ledger.is_cut(ledger.whole(organ)):
            return NotAsked("structure cut off by the scan")
        height = ledger.fact("height_in", subject.structure, ledger.whole(organ))
        if "islands" in height.flags:
            return ISLANDS
        low, high = span(height)
        third = int(min(2, max(0, number(height) * 3)))
        if low * 3 < third or high * 3 > third + 1:
            return NotAsked("too near the line between two thirds")
        answer = _THIRDS[2 - third]
        return compose(
            ledger,
            [subject],
            text=f"In which third of its organ, from top to bottom, is {subject.phrase} centred?",
            answer=Choice(answer.value),
            facts=(height, holds),
            steps=(measure_step(f"Its centre lies at {quantity(number(height), 'fraction')} of the height.", height),),
            conclusion=f"It lies in {answer.text}.",
            needs=("slice_order",),
            difficulty=min(number(height) * 3 - third, third + 1 - number(height) * 3) / max(1e-6, (high - low) * 1.5),
            pool=_THIRDS,
        )


class LesionPair:
    """Asks which of two lesions is larger, further forward, or higher."""

    name = "lesion_pair"

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """Every pair of lesion families, and the two largest of each, in three respects."""
        lesions = [s for s in subjects if s.is_lesion]
        twos = [(s, other) for s in lesions if (other := second(ledger, s)) is not None]
        for a, b in (*itertools.combinations(lesions, 2), *twos):
            for ask in ("larger", "forward", "higher") if (a, b) not in twos else ("forward", "higher"):
                if int(digest(a.key, b.key, ask), 16) % 2:
                    a, b = b, a
                yield Question(self.name, "choice", {"ask": ask, "a": a.key, "b": b.key})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the two clearly differ in that respect."""
        ask = question.parameters["ask"]
        a, b = resolve(ledger, question.parameters["a"]), resolve(ledger, question.parameters["b"])
        found = obstacle(ledger, [a, b], whole=True, oriented=ask != "larger")
        if found is not None:
            return found
        if ask == "larger":
            fact = ledger.fact("volume_ratio", a.structure, b.structure)
            (low, high), neutral = span(fact), 1.0
        else:
            axis = Axis.ANTERIOR_POSTERIOR if ask == "forward" else Axis.SUPERIOR_INFERIOR
            fact = ledger.fact(f"gap.{axis}", a.structure, b.structure)
            (low, high), neutral = span(fact), 0.0
            proved = ledger.fact(f"direction.{axis}", a.structure, b.structure)
            if proved.value is None or "unstable" in proved.flags:
                return NotAsked("the two lesions are too alike to call")
        if low <= neutral <= high:
            return NotAsked("the two lesions are too alike to call")
        first = a if low > neutral else b
        wording = {"larger": "is larger", "forward": "lies further forward", "higher": "lies higher"}[ask]
        step = measure_step(f"The first against the second: {quantity(number(fact), fact.unit)}.", fact, neutral)
        return compose(
            ledger,
            [a, b],
            text=f"Which {wording}{' by volume' if ask == 'larger' else ''}: {a.phrase} or {b.phrase}?",
            answer=Choice(first.key),
            facts=(fact,),
            steps=(step,),
            conclusion=f"{first.opening} {wording}.",
            needs=() if ask == "larger" else ("slice_order" if ask == "higher" else "view_convention",),
            difficulty=abs(number(fact) - neutral) / max(1e-6, (high - low) / 2),
            pool=tuple(Option(s.key, s.phrase) for s in (a, b)),
        )
