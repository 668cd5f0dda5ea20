"""Questions about one or two named things: how they lie to each other, and what they measure."""

from __future__ import annotations

from situs.facts import Fact, end_is_stray, number, span
from situs.items.masks.contact import Contact
from situs.items.masks.direction import DirectionTask
from situs.items.masks.distance import Distance
from situs.items.masks.extent import Extent
from situs.items.masks.lesion_side import LesionSide
from situs.items.masks.level import Level
from situs.items.masks.relations import on_side
from situs.items.masks.shared import (
    ISLANDS,
    OWN_ORGAN,
    compose,
    measure_step,
    obstacle,
    own_organ,
)
from situs.items.masks.volume import VolumeEstimate
from situs.items.posed import NotAsked, Posed, quantity, share_words
from situs.items.programs.evaluate import Evaluation
from situs.items.programs.expression import Expr
from situs.items.record import Number, YesNo
from situs.items.subjects import Subject
from situs.space import Axis, Direction, Side

__all__ = [
    "LEVELS_OF",
    "SAME_LESION",
    "conclude_centre_distance",
    "conclude_diameter",
    "conclude_diameter_exceeds",
    "conclude_gap",
    "conclude_is_beyond",
    "conclude_is_on",
    "conclude_is_touching",
    "conclude_is_within",
    "conclude_length",
    "conclude_level",
    "conclude_same",
    "conclude_side",
    "conclude_volume",
    "conclude_volume_exceeds",
    "pair_problem",
    "things_of",
]

LEVELS_OF = {"level": "centre", "top_level": "top", "bottom_level": "bottom"}
"""Question → which point of a thing lies at the vertebra that it asks for."""
SAME_LESION = NotAsked("both descriptions mean the same lesion")


def things_of(evaluation: Evaluation, program: Expr) -> list[Subject]:
    return [evaluation.thing(arg) for arg in program.args if isinstance(arg, Expr)]


def pair_problem(evaluation: Evaluation, a: Subject, b: Subject) -> NotAsked | None:
    """Why nobody asks how these two lie to each other, if so."""
    if a.structure == b.structure:
        return SAME_LESION
    if a.term.is_pathology and not b.term.is_pathology and own_organ(evaluation.ledger, a, b):
        return OWN_ORGAN
    return obstacle(evaluation.ledger, [a, b], whole=False, oriented=False)


def conclude_is_touching(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = things_of(evaluation, program)
    return pair_problem(evaluation, a, b) or Contact().pose_pair(evaluation.ledger, a, b)


def conclude_is_within(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = things_of(evaluation, program)
    limit = float(program.args[2])  # type: ignore[arg-type]
    return pair_problem(evaluation, a, b) or Distance().pose_within(evaluation.ledger, a, b, limit)


def conclude_gap(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = things_of(evaluation, program)
    return pair_problem(evaluation, a, b) or Distance().pose_gap(evaluation.ledger, a, b)


def conclude_is_on(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = things_of(evaluation, program)
    side = Side(str(program.args[0]))
    decided = on_side(evaluation.ledger, side, subject.structure)
    if isinstance(decided, NotAsked):
        return decided
    share = decided.facts[0]
    words = f"{share_words(number(share))} of it lies right of the midline."
    return compose(
        evaluation.ledger,
        [subject],
        text="",
        answer=YesNo(decided.holds),
        facts=decided.facts,
        steps=(measure_step(words, share),),
        conclusion="Yes, it is." if decided.holds else "No, it is on the other side.",
        needs=("side_convention",),
        tags=(f"side_basis:{evaluation.ledger.side_basis}",),
    )


def conclude_is_beyond(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = things_of(evaluation, program)
    problem = pair_problem(evaluation, a, b)
    if problem is not None:
        return problem
    return DirectionTask().pose_claim(evaluation.ledger, a, b, Direction(str(program.args[0])))


def conclude_same(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = things_of(evaluation, program)
    if not (a.term.is_pathology and b.term.is_pathology):
        return NotAsked("only lesions go by several descriptions")
    is_same = a.structure == b.structure
    facts = (*a.evidence, *b.evidence)
    return compose(
        evaluation.ledger,
        [a] if is_same else [a, b],
        text="",
        answer=YesNo(is_same),
        facts=facts,
        steps=(),
        conclusion="Both are the same lesion." if is_same else "These are two lesions.",
    )


def conclude_volume(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = things_of(evaluation, program)
    return VolumeEstimate().pose_of(evaluation.ledger, subject, {})


def conclude_volume_exceeds(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = things_of(evaluation, program)
    parameters = {"ask": "more_than", "ml": f"{program.args[1]:g}"}
    return VolumeEstimate().pose_of(evaluation.ledger, subject, parameters)


def conclude_diameter(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = things_of(evaluation, program)
    if not subject.term.is_pathology:
        return NotAsked("nobody gives the axial diameter of this structure")
    return Extent().pose_diameter(evaluation.ledger, subject)


def conclude_diameter_exceeds(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = things_of(evaluation, program)
    if not subject.term.is_pathology:
        return NotAsked("nobody gives the axial diameter of this structure")
    limit = float(program.args[1])  # type: ignore[arg-type]
    return Extent().pose_wider_than(evaluation.ledger, subject, limit)


def conclude_length(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = things_of(evaluation, program)
    problem = obstacle(evaluation.ledger, [subject], whole=True, oriented=True)
    if problem is not None:
        return problem
    fact = evaluation.ledger.fact(f"extent.{Axis.SUPERIOR_INFERIOR}", subject.structure)
    if any(end_is_stray(evaluation.ledger, subject.structure, end) for end in ("top", "bottom")):
        return ISLANDS
    limit = evaluation.ledger.recipe.truth.length_half_width
    return _number(evaluation, [subject], fact, limit, ("scale", "slice_order"))


def conclude_centre_distance(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = things_of(evaluation, program)
    problem = pair_problem(evaluation, a, b) or obstacle(
        evaluation.ledger, [a, b], whole=True, oriented=False
    )
    if problem is not None:
        return problem
    fact = evaluation.ledger.fact("centre_distance", a.structure, b.structure)
    limit = evaluation.ledger.recipe.truth.distance_half_width
    return _number(evaluation, [a, b], fact, limit, ("scale",))


def _number(
    evaluation: Evaluation,
    subjects: list[Subject],
    fact: Fact,
    half_width: float,
    needs: tuple[str, ...],
) -> Posed | NotAsked:
    """A number in mm, if it is known well enough."""
    value, (low, high) = number(fact), span(fact)
    if value <= 0 or (high - low) / 2 > half_width * value:
        return NotAsked("length not known well enough")
    length_words = quantity(value, "mm")
    return compose(
        evaluation.ledger,
        subjects,
        text="",
        answer=Number(value, "mm", (low, high)),
        facts=(fact,),
        steps=(measure_step(f"It measures {length_words}.", fact),),
        conclusion=f"It is {length_words}.",
        needs=needs,
        difficulty=2.0 * value / max(1e-6, high - low),
    )


def conclude_level(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = things_of(evaluation, program)
    return Level().pose_at(evaluation.ledger, subject, LEVELS_OF[program.op])


def conclude_side(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = things_of(evaluation, program)
    if not subject.term.is_pathology:
        return NotAsked("the names give the side away")
    return LesionSide().pose_of(evaluation.ledger, subject)
