"""Where does one structure lie from another?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from situs._files import digest
from situs.facts import Fact, Ledger, number, span
from situs.items._posed import NotAsked, Posed, Question, quantity
from situs.items._record import Choice, Option, Step, YesNo
from situs.items._subjects import Subject, resolve
from situs.items.tasks._shared import OWN_ORGAN, compose, measure_step, obstacle, own_organ
from situs.space import AXES, Axis, Direction

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
_KINDS = ("organ", "vessel", "lesion")
"""What a reader takes bearings from; a vertebra against a rib is no question."""


class DirectionTask:
    """Asks along one patient axis (yes/no), or which of the four directions of a plane (choice).

    Between named organs any textbook knows the answer: those are controls. A lesion has no textbook.
    """

    name = "direction"

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """Every ordered or unordered pair of bearings, on every axis."""
        bearings = [s for s in subjects if s.term.kind in _KINDS]
        for first, second in itertools.combinations(bearings, 2):
            a, b = (first, second) if first.is_lesion or not second.is_lesion else (second, first)
            if a.is_lesion and b.is_lesion:
                continue
            pair = f"{a.key}|{b.key}"
            for axis in AXES:
                for claim in (axis.positive, axis.negative):
                    yield Question(
                        self.name,
                        "yes_no",
                        {"a": a.key, "b": b.key, "claim": claim.value},
                        family=f"yes_no|{pair}|{axis}",
                        primary=_coin(pair, axis) == (claim is axis.positive),
                        textbook=not a.is_lesion,
                    )
            for (x, y), left_out in itertools.product(((a, b), (b, a)), AXES):
                yield Question(
                    self.name,
                    "choice",
                    {"a": x.key, "b": y.key, "plane": "+".join(axis for axis in AXES if axis is not left_out)},
                    family=f"choice|{pair}",
                    primary=x is a and left_out is AXES[int(digest(pair), 16) % 3],
                    textbook=not a.is_lesion,
                )

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the direction holds for nearly all voxels, beyond the margin, however the patient is turned."""
        a, b = resolve(ledger, question.parameters["a"]), resolve(ledger, question.parameters["b"])
        found = obstacle(ledger, [a, b], whole=True, oriented=True)
        if found is not None:
            return found
        if a.is_lesion != b.is_lesion and own_organ(ledger, *((a, b) if a.is_lesion else (b, a))):
            return OWN_ORGAN
        if ledger.fact("enveloping", a.structure, b.structure).value:
            return NotAsked("one structure envelops the other")
        if question.form == "yes_no":
            return self._pose_yes_no(ledger, a, b, Direction(question.parameters["claim"]))
        return self._pose_choice(ledger, a, b, [Axis(word) for word in question.parameters["plane"].split("+")])

    def _pose_yes_no(self, ledger: Ledger, a: Subject, b: Subject, claim: Direction) -> Posed | NotAsked:
        found = _proved(ledger, a, b, claim.axis)
        if found is None:
            return NotAsked("direction too close to call")
        if _named_apart(a, b, claim.axis):
            return NotAsked("the names give the side away")
        right = found is claim
        view = ", from the patient's point of view" if claim.axis is Axis.LEFT_RIGHT else ""
        return _posed(
            ledger,
            a,
            b,
            found,
            text=f"Is {a.phrase} {_PREPOSITION[claim]} {b.phrase}{view}?",
            answer=YesNo(right),
            conclusion=f"{'Yes' if right else 'No'}: {a.phrase} is {_PREPOSITION[found]} {b.phrase}.",
        )

    def _pose_choice(self, ledger: Ledger, a: Subject, b: Subject, plane: list[Axis]) -> Posed | NotAsked:
        limit = ledger.recipe.truth.dominance_degrees
        for axis in plane:
            angle = ledger.fact(f"angle.{axis}", a.structure, b.structure)
            found = _proved(ledger, a, b, axis)
            if found is None or span(angle)[1] > limit:
                continue
            if _named_apart(a, b, axis):
                return NotAsked("the names give the side away")
            return _posed(
                ledger,
                a,
                b,
                found,
                text=f"Seen from {b.phrase}, in which direction does {a.phrase} mainly lie?",
                answer=Choice(found.value),
                conclusion=f"{a.opening} is {_PREPOSITION[found]} {b.phrase}.",
                extra=(angle,),
                pool=tuple(Option(d.value, _OPTION[d]) for x in plane for d in (x.positive, x.negative)),
            )
        return NotAsked("no single axis dominates")


def _coin(pair: str, axis: Axis) -> bool:
    """Which of two opposite claims is the usual one: fixed per pair, so that all patients are asked the same."""
    return int(digest(pair, axis), 16) % 2 == 0


def _named_apart(a: Subject, b: Subject, axis: Axis) -> bool:
    """Whether one is called left and the other right, so that no one need look."""
    sides = {a.term.side, b.term.side}
    return axis is Axis.LEFT_RIGHT and None not in sides and len(sides) == 2


def _proved(ledger: Ledger, a: Subject, b: Subject, axis: Axis) -> Direction | None:
    fact = ledger.fact(f"direction.{axis}", a.structure, b.structure)
    return Direction(str(fact.value)) if fact.value is not None and "unstable" not in fact.flags else None


def _posed(
    ledger: Ledger,
    a: Subject,
    b: Subject,
    found: Direction,
    *,
    text: str,
    answer: YesNo | Choice,
    conclusion: str,
    extra: tuple[Fact, ...] = (),
    pool: tuple[Option, ...] = (),
) -> Posed:
    axis, names = found.axis, (a.structure, b.structure)
    direction = ledger.fact(f"direction.{axis}", *names)
    gap, share = ledger.fact(f"gap.{axis}", *names), ledger.fact(f"precedence.{axis}", *names)
    margin = ledger.recipe.truth.direction_margin_mm * found.sign
    low, high = span(gap)
    far = quantity(abs(number(gap)), "mm")
    words = f"The centre of {a.phrase} lies {far} {found.value} of that of {b.phrase}."
    nearly = f"More than the margin, and nearly all of it lies {found.value}."
    steps = (measure_step(words, gap, margin), Step("compare", nearly, (share.fact_id,)))
    needs = {"left_right": "side_convention", "superior_inferior": "slice_order"}.get(axis.value, "view_convention")
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
