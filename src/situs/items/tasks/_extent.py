"""How long is it from top to bottom, and which is longer?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from situs._files import digest
from situs.facts import Ledger, number, span
from situs.items._posed import NotAsked, Posed, Question, quantity
from situs.items._record import Choice, Number, Option
from situs.items._subjects import Subject, resolve
from situs.items.tasks._shared import compose, measure_step, obstacle
from situs.space import Axis

__all__ = ["Extent"]

_KIND = f"extent.{Axis.SUPERIOR_INFERIOR}"


class Extent:
    """Craniocaudal length: a number in cm, or the longer of two."""

    name = "extent"

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """Every organ's length, and every pair of organs."""
        organs = [s for s in subjects if s.term.kind == "organ" and s.term.ask_size]
        for subject in organs:
            yield Question(self.name, "number", {"of": subject.key})
        for subject in subjects:
            if subject.is_lesion:
                yield Question(self.name, "number", {"ask": "diameter", "of": subject.key})
        for a, b in itertools.combinations(organs, 2):
            for which in ("longer", "shorter"):
                yield Question(
                    self.name,
                    "choice",
                    {"a": a.key, "b": b.key, "which": which},
                    family=f"{a.key}|{b.key}",
                    primary=(which == "longer") == (int(digest("extent", a.key, b.key), 16) % 2 == 0),
                    named_only=True,
                )

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked of whole structures whose lengths are known well enough, or clearly differ."""
        if question.parameters.get("ask") == "diameter":
            return self._pose_diameter(ledger, resolve(ledger, question.parameters["of"]))
        if question.form == "number":
            return self._pose_number(ledger, resolve(ledger, question.parameters["of"]))
        a, b = resolve(ledger, question.parameters["a"]), resolve(ledger, question.parameters["b"])
        return self._pose_longer(ledger, a, b, question.parameters["which"])

    def _pose_number(self, ledger: Ledger, subject: Subject) -> Posed | NotAsked:
        found = obstacle(ledger, [subject], whole=True, oriented=True, sized=True)
        if found is not None:
            return found
        fact = ledger.fact(_KIND, subject.structure)
        value, (low, high) = number(fact), span(fact)
        if (high - low) / 2 > ledger.recipe.truth.length_half_width * value:
            return NotAsked("length not known well enough")
        return compose(
            ledger,
            [subject],
            text=f"How long is {subject.phrase} from top to bottom, in cm?",
            answer=Number(value / 10.0, "cm", (low / 10.0, high / 10.0)),
            facts=(fact,),
            steps=(measure_step(f"From top to bottom it measures {quantity(value, 'mm')}.", fact),),
            conclusion="That is its length.",
            needs=("scale", "slice_order"),
            difficulty=2.0 * value / max(1e-6, high - low),
        )

    def _pose_diameter(self, ledger: Ledger, subject: Subject) -> Posed | NotAsked:
        found = obstacle(ledger, [subject], whole=True, oriented=False)
        if found is not None:
            return found
        affine = ledger.regions.grid.affine
        thickness = max(s for s, d in zip(affine.spacing_mm, affine.directions) if d.axis is Axis.SUPERIOR_INFERIOR)
        fact = ledger.fact("axial_diameter", subject.structure)
        value, (low, high) = number(fact), span(fact)
        truth = ledger.recipe.truth
        if thickness > truth.diameter_thickest_slice_mm or value < truth.diameter_smallest_mm:
            return NotAsked("lesion too small, or slices too thick, for a diameter")
        if (high - low) / 2 > truth.diameter_half_width * value:
            return NotAsked("length not known well enough")
        return compose(
            ledger,
            [subject],
            text=f"What is the longest diameter of {subject.phrase} on any axial slice, in mm?",
            answer=Number(value, "mm", (low, high)),
            facts=(fact,),
            steps=(measure_step(f"On its largest slice it measures {quantity(value, 'mm')}.", fact),),
            conclusion=f"Its longest axial diameter is {quantity(value, 'mm')}.",
            needs=("scale",),
            difficulty=2.0 * value / max(1e-6, high - low),
        )

    def _pose_longer(self, ledger: Ledger, a: Subject, b: Subject, which: str) -> Posed | NotAsked:
        found = obstacle(ledger, [a, b], whole=True, oriented=True, sized=True)
        if found is not None:
            return found
        facts = {s.key: ledger.fact(_KIND, s.structure) for s in (a, b)}
        longer, shorter = sorted((a, b), key=lambda s: (-number(facts[s.key]), s.key))
        margin = span(facts[longer.key])[0] - span(facts[shorter.key])[1]
        if margin <= 0:
            return NotAsked("lengths too close to call")
        answer = longer if which == "longer" else shorter
        steps = [
            measure_step(
                f"{s.opening} measures {quantity(number(facts[s.key]), 'mm')} from top to bottom.", facts[s.key]
            )
            for s in (longer, shorter)
        ]
        gap = number(facts[longer.key]) - number(facts[shorter.key])
        return compose(
            ledger,
            [a, b],
            text=f"Which is {which} from top to bottom, {a.phrase} or {b.phrase}?",
            answer=Choice(answer.key),
            facts=tuple(facts.values()),
            steps=steps,
            conclusion=f"{answer.opening} is {which}.",
            needs=("slice_order",),
            difficulty=gap / max(1e-6, gap - margin),
            pool=tuple(Option(s.key, s.phrase) for s in (a, b)),
        )
