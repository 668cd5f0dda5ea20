"""Where does one structure lie from another?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from situs.anatomy import is_sided_lesion
from situs.base.files import digest
from situs.facts import Fact, Ledger, number, span
from situs.items.average import AverageAnatomy, Others, Place
from situs.items.masks.shared import (
    FAR,
    OWN_ORGAN,
    compose,
    measure_step,
    obstacle,
    own_organ,
    relevant_to,
)
from situs.items.posed import NotAsked, Posed, Question, quantity
from situs.items.record import Choice, Item, Option, Step, YesNo
from situs.items.subjects import Subject, resolve
from situs.items.tasks import TaskRules
from situs.space import AXES, Axis, Direction, Side

__all__ = ["DirectionTask"]

_PREPOSITION = {
    Direction.LEFT: "to the left of",
    Direction.RIGHT: "to the right of",
    Direction.ANTERIOR: "in front of",
    Direction.POSTERIOR: "behind",
    Direction.SUPERIOR: "above",
    Direction.INFERIOR: "below",
}
_OPTION = {
    Direction.LEFT: "to the patient's left",
    Direction.RIGHT: "to the patient's right",
    Direction.ANTERIOR: "in front",
    Direction.POSTERIOR: "behind",
    Direction.SUPERIOR: "above",
    Direction.INFERIOR: "below",
}
KNOWN = NotAsked("nearly the whole organ of the lesion lies so")
_FORMS = 9
"""Of so many pairs, three are asked for the main direction in a plane,
the others along each axis."""
_KINDS = ("organ", "vessel", "lesion")
"""What a reader takes bearings from; a vertebra against a rib is no question."""


class DirectionTask:
    """Asks along one patient axis (yes/no), or which of the four directions of a plane (choice).

    Between named organs any textbook knows the answer: those are controls. A lesion has no
    textbook.
    """

    name = "direction"
    rules = TaskRules(
        quotas={"yes_no": 60, "choice": 12},
        mix="lesion",
        units=(),
        whole=False,
        decides=("direction",),
        learns=("centroid",),
        group="sides",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """Every lesion and its organ's neighbours, and named neighbours; each pair one way round,
        in one form.

        Which way and form is fixed by the names, so that a bench never asks a pair both ways.
        """
        bearings = [s for s in subjects if s.term.kind in _KINDS]
        for a, b in _pairs(ledger, bearings):
            pair = f"{a.key}|{b.key}"
            left_out = int(digest(pair), 16) % _FORMS
            if left_out < len(AXES):
                plane = "+".join(axis for number, axis in enumerate(AXES) if number != left_out)
                if Axis.LEFT_RIGHT in plane.split("+") and _side_in_name(a, b):
                    continue
                parameters = {"a": a.key, "b": b.key, "plane": plane}
                yield Question(
                    self.name, "choice", parameters, family=pair, textbook=not a.is_lesion
                )
                continue
            for axis in _axes(ledger, a, b):
                claim = axis.positive if _coin(pair, axis) else axis.negative
                parameters = {"a": a.key, "b": b.key, "claim": claim.value}
                yield Question(
                    self.name,
                    "yes_no",
                    parameters,
                    family=f"{pair}|{axis}",
                    textbook=not a.is_lesion,
                )

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the direction holds for nearly all voxels,
        beyond the margin, however the patient is turned."""
        a, b = resolve(ledger, question.parameters["a"]), resolve(ledger, question.parameters["b"])
        if question.form == "yes_no":
            return self.pose_claim(ledger, a, b, Direction(question.parameters["claim"]))
        return self._hindrance(ledger, a, b) or self._pose_choice(
            ledger, a, b, [Axis(word) for word in question.parameters["plane"].split("+")]
        )

    def expected(self, item: Item, average: AverageAnatomy) -> list[str]:
        """Where it lies in others: along the claimed axis, or in the plane's clearest direction."""
        p = item.parameters
        if item.form == "yes_no":
            claim = Direction(p["claim"])
            sign = _steps_mm(item, claim.axis, average).sign()
            return ["yes" if sign == claim.sign else "no"] if sign else []
        steps = {axis: _steps_mm(item, axis, average) for axis in map(Axis, p["plane"].split("+"))}
        means = {axis: others.mean for axis, others in steps.items() if others.sign()}
        if not means:
            return []
        axis = max(means, key=lambda key: abs(means[key]))
        return [axis.towards(means[axis]).value]

    def expected_number(self, item: Item, average: AverageAnatomy) -> float | None:
        """It asks for no number."""
        return None

    def _hindrance(self, ledger: Ledger, a: Subject, b: Subject) -> NotAsked | None:
        """Why no direction between these two is asked for, if so."""
        refusal = obstacle(ledger, [a, b], whole=True, oriented=True)
        if refusal is not None:
            return refusal
        if a.is_lesion != b.is_lesion and own_organ(ledger, *((a, b) if a.is_lesion else (b, a))):
            return OWN_ORGAN
        far = ledger.recipe.truth.far_centres_mm
        if number(ledger.fact("centre_distance", a.structure, b.structure)) > far:
            return FAR
        if ledger.fact("enveloping", a.structure, b.structure).value:
            return NotAsked("one structure envelops the other")
        return None

    def pose_claim(
        self, ledger: Ledger, a: Subject, b: Subject, claim: Direction
    ) -> Posed | NotAsked:
        """Whether the one lies in this direction from the other."""
        hindrance = self._hindrance(ledger, a, b)
        if hindrance is not None:
            return hindrance
        proved = _proved(ledger, a, b, claim.axis)
        if proved is None:
            return NotAsked("direction too close to call")
        if _named_apart(a, b, claim.axis):
            return NotAsked("the names give the side away")
        if _follows_from_organ(ledger, a, b, proved.axis):
            return KNOWN
        right = proved is claim
        view = ", from the patient's point of view" if claim.axis is Axis.LEFT_RIGHT else ""
        return _posed(
            ledger,
            (a, b),
            proved,
            text=f"Is {a.phrase} {_PREPOSITION[claim]} {b.phrase}{view}?",
            answer=YesNo(right),
            conclusion=(
                f"{'Yes' if right else 'No'}: {a.phrase} is {_PREPOSITION[proved]} {b.phrase}."
            ),
        )

    def _pose_choice(
        self, ledger: Ledger, a: Subject, b: Subject, plane: list[Axis]
    ) -> Posed | NotAsked:
        limit = ledger.recipe.truth.dominance_degrees
        for axis in plane:
            angle = ledger.fact(f"angle.{axis}", a.structure, b.structure)
            proved = _proved(ledger, a, b, axis)
            if proved is None or span(angle)[1] > limit:
                continue
            if _named_apart(a, b, axis):
                return NotAsked("the names give the side away")
            if _follows_from_organ(ledger, a, b, proved.axis):
                return KNOWN
            return _posed(
                ledger,
                (a, b),
                proved,
                text=f"Seen from {b.phrase}, in which direction does {a.phrase} mainly lie?",
                answer=Choice(proved.value),
                conclusion=f"{a.opening} is {_PREPOSITION[proved]} {b.phrase}.",
                extra=(angle,),
                pool=tuple(
                    Option(d.value, _OPTION[d]) for x in plane for d in (x.positive, x.negative)
                ),
            )
        return NotAsked("no single axis dominates")


def _steps_mm(item: Item, axis: Axis, average: AverageAnatomy) -> Others:
    """How far a lies from b along an axis in the other patients."""
    p, along = item.parameters, Place(axis.world_index, of=3)
    return average.apart("centroid", p["a"], p["b"], along, without=item.patient_id)


def _pairs(ledger: Ledger, bearings: list[Subject]) -> Iterator[tuple[Subject, Subject]]:
    """Lesions with what lies around their organs, and organs or vessels that are neighbours."""
    named = [s for s in bearings if not s.is_lesion]
    for lesion in bearings:
        if lesion.is_lesion:
            yield from ((lesion, other) for other in relevant_to(ledger, lesion, named))
    for a, b in itertools.combinations(named, 2):
        if b.term.canonical in a.term.neighbours:
            yield (a, b) if int(digest("order", a.key, b.key), 16) % 2 else (b, a)


def _axes(ledger: Ledger, a: Subject, b: Subject) -> Iterator[Axis]:
    """The axes along which it makes sense to ask."""
    lesion = a.is_lesion and is_sided_lesion(ledger.terms[a.structure])
    for axis in AXES:
        # A vessel runs from top to bottom past everything beside it; the side of a paired organ is
        # asked for plainly.
        along = axis is Axis.SUPERIOR_INFERIOR and "vessel" in (a.term.kind, b.term.kind)
        known = axis is Axis.LEFT_RIGHT and (lesion or _side_in_name(a, b))
        if not along and not known:
            yield axis


def _side_in_name(a: Subject, b: Subject) -> bool:
    """Whether one is called left or right and the other lies at the midline or beyond it: nobody
    asks whether the pancreas, or the aorta, is to the left of the left kidney."""
    if a.is_lesion or b.is_lesion:
        return False
    return any(
        one.term.side is not None
        and (other.term.kind == "vessel" or _usual_side(other) is not one.term.side)
        for one, other in ((a, b), (b, a))
    )


def _usual_side(subject: Subject) -> Side | None:
    return subject.term.side or subject.term.expected_side


def _follows_from_organ(ledger: Ledger, a: Subject, b: Subject, axis: Axis) -> bool:
    """Whether nearly all of a lesion's organ lies on one side of the other structure: nobody needs
    to look then.

    Whichever side that is, and wherever the lesion lies: were the odd lesions asked about, their
    answer would be known.
    """
    holder = ledger.fact("organ_of", a.structure).value if a.is_lesion else None
    if holder is None or holder == b.structure:
        return False
    share = number(ledger.fact(f"precedence.{axis}", str(holder), b.structure))
    return max(share, 1.0 - share) >= ledger.recipe.truth.organ_share


def _coin(pair: str, axis: Axis) -> bool:
    """Which of two opposite claims is the usual one:
    fixed per pair, so that all patients are asked the same."""
    return int(digest(pair, axis), 16) % 2 == 0


def _named_apart(a: Subject, b: Subject, axis: Axis) -> bool:
    """Whether one is called left and the other right, so that no one need look."""
    sides = {a.term.side, b.term.side}
    return axis is Axis.LEFT_RIGHT and None not in sides and len(sides) == 2


def _proved(ledger: Ledger, a: Subject, b: Subject, axis: Axis) -> Direction | None:
    return _proved_for(ledger, a.structure, b.structure, axis)


def _proved_for(ledger: Ledger, a: str, b: str, axis: Axis) -> Direction | None:
    fact = ledger.fact(f"direction.{axis}", a, b)
    return (
        Direction(str(fact.value))
        if fact.value is not None and "unstable" not in fact.flags
        else None
    )


def _posed(
    ledger: Ledger,
    pair: tuple[Subject, Subject],
    proved: Direction,
    *,
    text: str,
    answer: YesNo | Choice,
    conclusion: str,
    extra: tuple[Fact, ...] = (),
    pool: tuple[Option, ...] = (),
) -> Posed:
    a, b = pair
    axis, names = proved.axis, (a.structure, b.structure)
    direction = ledger.fact(f"direction.{axis}", *names)
    gap, share = ledger.fact(f"gap.{axis}", *names), ledger.fact(f"precedence.{axis}", *names)
    margin = ledger.recipe.truth.direction_margin_mm * proved.sign
    low, high = span(gap)
    far = quantity(abs(number(gap)), "mm")
    words = f"The centre of {a.phrase} lies {far} {_PREPOSITION[proved]} that of {b.phrase}."
    nearly = f"That is more than the margin, and nearly all of {a.phrase} lies on that side."
    steps = (measure_step(words, gap, margin), Step("compare", nearly, (share.fact_id,)))
    needs = {"left_right": "side_convention", "superior_inferior": "slice_order"}.get(
        axis.value, "view_convention"
    )
    return compose(
        ledger,
        [a, b],
        text=text,
        answer=answer,
        facts=(direction, gap, share, *extra),
        steps=steps,
        conclusion=conclusion,
        needs=(needs,),
        tags=(f"axis:{axis}",),
        difficulty=(abs(number(gap)) - abs(margin)) / max(1e-6, (high - low) / 2),
        pool=pool,
    )
