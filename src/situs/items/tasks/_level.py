"""At which vertebral level?"""

from __future__ import annotations

from collections.abc import Iterator

from situs.facts import LEVELS, Ledger, has_anchor, level_name, number, span, spine_levels
from situs.items._posed import NotAsked, Posed, Question
from situs.items._record import Choice, Option
from situs.items._subjects import Subject, resolve
from situs.items.tasks._shared import compose, measure_step, obstacle

__all__ = ["Level"]

_POOL = tuple(Option(name, name) for name in LEVELS)
_ENDS = {"kidney_left", "kidney_right", "liver", "spleen", "aorta", "urinary_bladder", "stomach", "gallbladder"}
"""Structures whose ends readers give by vertebra."""


class Level:
    """Asks for the vertebra at which a lesion lies, or an organ begins or ends."""

    name = "level"

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """The centre of every lesion, and both ends of the organs that readers describe so."""
        for subject in subjects:
            if subject.is_lesion:
                yield Question(self.name, "choice", {"of": subject.key, "at": "centre"})
            elif subject.key in _ENDS:
                for end in ("top", "bottom"):
                    yield Question(self.name, "choice", {"of": subject.key, "at": end})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the vertebrae can be counted from an anchor and the place is clear of the line between two."""
        subject, place = resolve(ledger, question.parameters["of"]), question.parameters["at"]
        found = obstacle(ledger, [subject], whole=True, oriented=False)
        if found is not None:
            return found
        if spine_levels(ledger) is None:
            return NotAsked("fewer than three whole vertebrae annotated")
        if not has_anchor(ledger):
            return NotAsked("no anchor to number the vertebrae from")
        fact = ledger.fact(f"level.{place}", subject.structure)
        if "beyond" in fact.flags:
            return NotAsked("lies beyond the annotated vertebrae")
        value, (low, high) = number(fact), span(fact)
        band = ledger.recipe.truth.level_dead_band
        nearest = round(value)
        if low < nearest - 0.5 + band or high > nearest + 0.5 - band:
            return NotAsked("too near the line between two vertebrae")
        name = level_name(value)
        wording = {
            "centre": f"At which vertebral level does the centre of {subject.phrase} lie?",
            "top": f"At which vertebral level does the upper end of {subject.phrase} lie?",
            "bottom": f"At which vertebral level does the lower end of {subject.phrase} lie?",
        }
        return compose(
            ledger,
            [subject],
            text=wording[place],
            answer=Choice(name),
            facts=(fact,),
            steps=(measure_step("Follow the spine to the vertebra beside it.", fact),),
            conclusion=f"It lies at {name}.",
            needs=("slice_order", "anchor"),
            tags=(f"level:{name}",),
            difficulty=(0.5 - abs(value - nearest)) / max(1e-6, (high - low) / 2),
            pool=_POOL,
        )
