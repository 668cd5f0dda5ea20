"""How large is it? A number in millilitres, a range, or more than a limit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from situs.facts import Fact, Ledger, number, span
from situs.items._posed import NotAsked, Posed, Question, quantity
from situs.items._record import Answer, Choice, Number, Option, YesNo
from situs.items._subjects import Subject, resolve, sized
from situs.items.tasks._shared import compose, measure_step, obstacle

__all__ = ["VolumeEstimate"]


def _ranges(ledger: Ledger) -> tuple[Option, ...]:
    """The ranges that are offered, none overlapping another."""
    return tuple(
        Option(f"{low}-{high}", f"{low} to {high} mL" if low else f"less than {high} mL")
        for low, high in itertools.pairwise(ledger.recipe.truth.volume_edges_ml)
    )


class VolumeEstimate:
    """Asks for the volume of structures that lie whole inside the scan."""

    name = "volume"

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """A number, a range and every limit, for each structure whose size makes sense to ask."""
        for subject in subjects:
            if not subject.term.ask_size:
                continue
            yield Question(self.name, "number", {"of": subject.key})
            yield Question(self.name, "choice", {"ask": "range", "of": subject.key})
            for limit in ledger.recipe.truth.volume_limits_ml:
                parameters = {"ask": "more_than", "of": subject.key, "ml": str(limit)}
                yield Question(self.name, "yes_no", parameters, family=f"more_than|{subject.key}|{limit}")

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the structure is not cut and its volume is known well enough for what is asked."""
        subject = sized(ledger, resolve(ledger, question.parameters["of"]))
        found = obstacle(ledger, [subject], whole=True, oriented=False)
        if found is not None:
            return found
        fact = ledger.fact("volume", subject.structure)
        match question.parameters.get("ask", "number"):
            case "number":
                return self._pose_number(ledger, subject, fact)
            case "range":
                return self._pose_range(ledger, subject, fact)
            case _:
                return self._pose_more_than(ledger, subject, fact, int(question.parameters["ml"]))

    def _pose_number(self, ledger: Ledger, subject: Subject, fact: Fact) -> Posed | NotAsked:
        value, (low, high) = number(fact), span(fact)
        width = (high - low) / 2 / value
        if width > ledger.recipe.truth.volume_half_width:
            return NotAsked("volume not known well enough")
        text = f"What is the volume of {subject.phrase}, in mL?"
        return _posed(ledger, subject, fact, text, Number(value, "mL", (low, high)), 1.0 / max(width, 1e-6))

    def _pose_range(self, ledger: Ledger, subject: Subject, fact: Fact) -> Posed | NotAsked:
        low, high = span(fact)
        ranges, edges = _ranges(ledger), ledger.recipe.truth.volume_edges_ml
        for option, (start, end) in zip(ranges, itertools.pairwise(edges)):
            if start <= low and high < end:
                margin = min(number(fact) - start, end - number(fact)) / max(1e-6, (high - low) / 2)
                text = f"In which range is the volume of {subject.phrase}?"
                return _posed(ledger, subject, fact, text, Choice(option.value), margin, pool=ranges)
        return NotAsked("volume too near the edge of a range")

    def _pose_more_than(self, ledger: Ledger, subject: Subject, fact: Fact, limit: int) -> Posed | NotAsked:
        value, (low, high) = number(fact), span(fact)
        if low <= limit <= high:
            return NotAsked("volume too close to the limit")
        if not limit / 3 <= value <= limit * 3:
            return NotAsked("volume nowhere near the limit")
        text = f"Is {subject.phrase} larger than {limit} mL?"
        margin = abs(value - limit) / max(1e-6, (high - low) / 2)
        return _posed(ledger, subject, fact, text, YesNo(low > limit), margin, threshold=float(limit))


def _posed(
    ledger: Ledger,
    subject: Subject,
    fact: Fact,
    text: str,
    answer: Answer,
    difficulty: float,
    *,
    threshold: float | None = None,
    pool: tuple[Option, ...] = (),
) -> Posed:
    shown = quantity(number(fact), "mL")
    return compose(
        ledger,
        [subject],
        text=text,
        answer=answer,
        facts=(fact,),
        steps=(measure_step(f"{subject.opening} fills {shown}.", fact, threshold),),
        conclusion=f"The volume is {shown}.",
        needs=("scale",),
        difficulty=difficulty,
        pool=pool,
    )
