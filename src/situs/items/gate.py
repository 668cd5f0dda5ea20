"""Questions that hang on something about the study that looks wrong are not asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from situs.anatomy import Doubt, Naming
from situs.facts import DOUBT_OF_AXIS, SIZE, WHOLE, Cell, Fact, Ledger, Measured, hangs_on
from situs.items.posed import NotAsked, Posed, Question
from situs.items.record import Boxes
from situs.items.tasks import Task, check_unit

if TYPE_CHECKING:
    from situs.anatomy.banks import BankQuestion
    from situs.facts.grades import GradeLedger

__all__ = ["IN_DOUBT", "grades_in_doubt", "pose"]

IN_DOUBT = {
    Doubt.LEFT_RIGHT: NotAsked("left and right are in doubt in this study"),
    Doubt.FRONT_BACK: NotAsked("front and back are in doubt in this study"),
    Doubt.UP_DOWN: NotAsked("up and down are in doubt in this study"),
    Doubt.SCALE: NotAsked("the scale is in doubt in this study"),
    Doubt.LEVELS: NotAsked("the numbers of the vertebrae are in doubt in this study"),
    Doubt.STRUCTURE: NotAsked("the name or mask of a structure is in doubt"),
}
_ORIENTED = frozenset(DOUBT_OF_AXIS.values())
_NEEDS = {
    "side_convention": Doubt.LEFT_RIGHT,
    "view_convention": Doubt.FRONT_BACK,
    "slice_order": Doubt.UP_DOWN,
    "axial_slices": Doubt.UP_DOWN,
    "scale": Doubt.SCALE,
    "anchor": Doubt.LEVELS,
}
_FRAME = frozenset({"femur", "tibia", "patella"})


def pose(ledger: Ledger, task: Task, question: Question) -> Posed | NotAsked:
    """Put a question to the patient, unless it hangs on a doubt about the study."""
    posed = task.pose(ledger, question)
    if isinstance(posed, NotAsked):
        return posed
    check_unit(task, posed.answer)
    if not ledger.doubts:
        return posed
    return _withheld(ledger, posed) or posed


def _withheld(ledger: Ledger, posed: Posed) -> NotAsked | None:
    """Why the question is not asked, if it hangs on a doubt."""
    hangs_on = _hangs_on(ledger, posed)
    proved_by = _structures(ledger, posed)
    for suspicion in ledger.doubts:
        if suspicion.doubt is Doubt.STRUCTURE and proved_by.intersection(suspicion.structures):
            return IN_DOUBT[Doubt.STRUCTURE]
        if suspicion.doubt is not None and suspicion.doubt in hangs_on:
            return IN_DOUBT[suspicion.doubt]
    return None


def grades_in_doubt(
    ledger: GradeLedger, facts: Sequence[Fact], question: BankQuestion
) -> NotAsked | None:
    """Why a graded question is not asked, if what proves it was measured from masks that are in
    doubt.

    A reader's grade stands in a table, and a box may come from a file: neither hangs on the masks.
    """
    if not ledger.doubts or all(isinstance(fact.derivation, Cell) for fact in facts):
        return None
    bone = ledger.bank.regions[question.region].structure
    used = {
        question.region,
        bone,
        *(name for name in ledger.bank.regions if name.endswith(f"_{bone}")),
    }
    for suspicion in ledger.doubts:
        if suspicion.doubt is not None and suspicion.doubt is not Doubt.STRUCTURE:
            return IN_DOUBT[suspicion.doubt]
        # Bones give a joint its directions, so that a wrong one spoils every region.
        if used.intersection(suspicion.structures) or _FRAME.intersection(suspicion.structures):
            return IN_DOUBT[Doubt.STRUCTURE]
        if (
            any(name.endswith("_cartilage") for name in suspicion.structures)
            and question.family == "cartilage"
        ):
            return IN_DOUBT[Doubt.STRUCTURE]
    return None


def _hangs_on(ledger: Ledger, posed: Posed) -> set[Doubt]:
    doubts = {_NEEDS[need] for need in posed.needs if need in _NEEDS}
    for fact in posed.facts:
        doubts |= hangs_on(fact.kind)
    for name in _named(ledger, posed):
        entry = ledger.terms[name]
        if entry.naming is not Naming.UNSIDED:
            doubts.add(Doubt.LEFT_RIGHT)
        if entry.kind == "vertebra":
            doubts.add(Doubt.LEVELS)
    if isinstance(posed.answer, Boxes):
        doubts |= _ORIENTED | SIZE
    return doubts


def _named(ledger: Ledger, posed: Posed) -> set[str]:
    """Structures that the question or its options name."""
    options = {part for option in posed.pool for part in option.value.split(">")}
    return (_tagged(posed) | options) & ledger.terms.keys()


def _structures(ledger: Ledger, posed: Posed) -> set[str]:
    """Structures that the question names or its proof rests on, through every fact behind it."""
    known = {fact.fact_id: fact for fact in ledger.known_facts()}
    open_facts, seen, names = list(posed.facts), set[str](), _tagged(posed)
    while open_facts:
        fact = open_facts.pop()
        if fact.fact_id in seen:
            continue
        seen.add(fact.fact_id)
        names |= _mentioned(fact)
        if isinstance(fact.derivation, Measured):
            sources = (source.removeprefix("fact:") for source in fact.derivation.inputs)
            open_facts += [known[source] for source in sources if source in known]
    parts = {part for name in names for part in ledger.organs_in_parts.get(name, ())}
    return (names | parts) & ledger.terms.keys()


def _tagged(posed: Posed) -> set[str]:
    return {tag.removeprefix("structure:") for tag in posed.tags}


def _mentioned(fact: Fact) -> set[str]:
    """Every word of a fact's subjects, value and parameters that may name a structure."""
    parameters = (
        fact.derivation.parameters.values() if isinstance(fact.derivation, Measured) else ()
    )
    texts = [*fact.subjects, *(text for text in (fact.value, *parameters) if isinstance(text, str))]
    return {
        word.removesuffix(WHOLE) for text in texts for word in (text, *re.split(r"[+,;|]", text))
    }
