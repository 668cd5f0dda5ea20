"""At which vertebral level?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from situs.anatomy import measured
from situs.facts import LEVELS, Ledger, has_anchor, level_name, number, span, spine_levels
from situs.items._posed import NotAsked, Posed, Question
from situs.items._record import Choice, Option, Step
from situs.items._subjects import Subject, resolve
from situs.items.tasks._shared import BEYOND, CANNOT_TELL, CUT, compose, measure_step, obstacle

__all__ = ["Level"]

_CUT = Option(CANNOT_TELL, "cannot be told, it is cut off")


class Level:
    """Asks for the vertebra at which a lesion lies, or an organ begins or ends."""

    name = "level"

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """The centre of every lesion, and both ends of the organs that readers describe so."""
        for subject in subjects:
            if subject.is_lesion:
                yield Question(self.name, "choice", {"of": subject.key, "at": "centre"})
                continue
            ends = [end for end in ("top", "bottom") if _ending(subject, end)]
            for end, beyond in itertools.product(ends, ({}, BEYOND)):
                yield Question(
                    self.name,
                    "choice",
                    {"of": subject.key, "at": end, **beyond},
                    family=f"{subject.key}|{end}",
                    must_offer=beyond.get("or", ""),
                )

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the vertebrae can be counted from an anchor and the place is clear of the line between two."""
        subject, place = resolve(ledger, question.parameters["of"]), question.parameters["at"]
        found = obstacle(ledger, [subject], whole=False, oriented=False)
        beyond = "or" in question.parameters
        if found is not None:
            return found
        if spine_levels(ledger) is None:
            return NotAsked("fewer than three whole vertebrae annotated")
        if not has_anchor(ledger):
            return NotAsked("no anchor to number the vertebrae from")
        if ledger.is_cut(subject.structure):
            return _pose_cut(ledger, subject, place) if beyond else CUT
        fact = ledger.fact(f"level.{place}", subject.structure)
        if "beyond" in fact.flags:
            return NotAsked("lies beyond the annotated vertebrae")
        value, (low, high) = number(fact), span(fact)
        band = ledger.recipe.truth.level_dead_band
        nearest = round(value)
        if low < nearest - 0.5 + band or high > nearest + 0.5 - band:
            return NotAsked("too near the line between two vertebrae")
        name = level_name(value)
        return compose(
            ledger,
            [subject],
            text=_text(subject, place),
            answer=Choice(name),
            facts=(fact,),
            steps=(measure_step("Follow the spine to the vertebra beside it.", fact),),
            conclusion=f"It lies at {name}.",
            needs=("slice_order", "anchor"),
            tags=(f"level:{name}",),
            difficulty=(0.5 - abs(value - nearest)) / max(1e-6, (high - low) / 2),
            pool=(*_vertebrae(ledger), _CUT) if beyond else _vertebrae(ledger),
        )


def _vertebrae(ledger: Ledger) -> tuple[Option, ...]:
    """The vertebrae that the scan shows: no other is offered."""
    levels = spine_levels(ledger)
    assert levels is not None
    first, last = int(levels[0].min()), int(levels[0].max())
    return tuple(Option(name, name) for name in LEVELS[first : last + 1])


def _text(subject: Subject, place: str) -> str:
    asked = "is {} centred" if place == "centre" else _ending(subject, place)
    return f"At which vertebral level {asked.format(subject.phrase)}?"


def _ending(subject: Subject, end: str) -> str:
    """How readers ask for this end; empty if they do not."""
    entry = measured(subject.term)
    return entry.top if end == "top" else entry.bottom


def _pose_cut(ledger: Ledger, subject: Subject, place: str) -> Posed | NotAsked:
    """That the end cannot be told, if it lies beyond the first or last slice."""
    fact = ledger.fact("ends_beyond", subject.structure)
    if place not in str(fact.value).split("+"):
        return CUT
    return compose(
        ledger,
        [subject],
        text=_text(subject, place),
        answer=Choice(CANNOT_TELL),
        facts=(fact,),
        steps=(Step("compare", "See whether that end is shown.", (fact.fact_id,)),),
        conclusion=f"{subject.opening} goes on beyond the scan there.",
        needs=("slice_order", "anchor"),
        pool=(*_vertebrae(ledger), _CUT),
    )
