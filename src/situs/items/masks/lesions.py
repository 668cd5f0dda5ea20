"""Questions about lesions: the organ that holds it,
its pole, and which of two is larger or further forward."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from situs.anatomy import are_akin, is_part, measured
from situs.base.files import digest
from situs.facts import Fact, Ledger, number, span
from situs.items.masks.shared import FAR, ISLANDS, compose, measure_step, obstacle
from situs.items.posed import NotAsked, Posed, Question, quantity
from situs.items.record import Choice, Option, Step
from situs.items.subjects import ANY_LESION, Subject, resolve, second
from situs.items.tasks import NothingExpected, TaskRules
from situs.space import Axis

__all__ = ["LesionOrgan", "LesionPair", "LesionPole"]

_THIRDS = (
    Option("upper", "the upper third"),
    Option("middle", "the middle third"),
    Option("lower", "the lower third"),
)


def _held(ledger: Ledger, question: Question) -> tuple[Subject, Fact] | NotAsked:
    """The lesion that a question is about, and the fact that names the organ which clearly holds
    it."""
    subject = resolve(ledger, question.parameters["of"])
    refusal = obstacle(ledger, [subject], whole=True, oriented=True)
    if refusal is not None:
        return refusal
    holds = ledger.fact("organ_of", subject.structure)
    if holds.value is None:
        return NotAsked("no organ clearly holds the lesion")
    return subject, holds


class LesionOrgan(NothingExpected):
    """Asks which organ holds the largest lesion; the question never names it."""

    name = "lesion_organ"
    rules = TaskRules(
        quotas={"choice": 1},
        mix="lesion",
        units=(),
        whole=False,
        decides=(),
        learns=(),
        group="lesions",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """One question, if the patient has a lesion."""
        if any(s.is_lesion for s in subjects):
            yield Question(self.name, "choice", {"of": ANY_LESION})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if one organ clearly holds it."""
        known = _held(ledger, question)
        if isinstance(known, NotAsked):
            return known
        subject, fact = known
        organ = resolve(ledger, str(fact.value))
        annotated = (resolve(ledger, name) for name in ledger.organs)
        organs = [s for s in annotated if s.key == organ.key or _may_hold(ledger, s, organ)]
        if all(are_akin(s.term, organ.term, ledger.terms) for s in organs):
            # Between the two kidneys it would be a question of the side.
            return NotAsked("no other organ annotated to tell it from")
        return compose(
            ledger,
            [subject],
            text="In which organ does the largest lesion lie?",
            answer=Choice(organ.key),
            facts=(fact,),
            steps=(Step("compare", "See which organ surrounds it.", (fact.fact_id,)),),
            conclusion=f"It lies in {organ.phrase}.",
            needs=("side_convention",),
            pool=tuple(Option(s.key, s.phrase) for s in organs),
        )


def _may_hold(ledger: Ledger, other: Subject, organ: Subject) -> bool:
    """Whether it is offered as a wrong organ: a measured one, and no part or whole of the right
    one.

    Only what the scan shows is offered.
    """
    if not measured(other.term).limits_ml:
        return False
    return not is_part(other.term, organ.term, ledger.terms)


class LesionPole(NothingExpected):
    """Asks in which third of its organ, from top to bottom, a lesion lies, where readers say so."""

    name = "lesion_pole"
    rules = TaskRules(
        quotas={"choice": 6},
        mix="lesion",
        units=(),
        whole=True,
        decides=(),
        learns=(),
        group="lesions",
        ordered=("choice",),
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """One question per lesion family."""
        for subject in subjects:
            if subject.is_lesion:
                yield Question(self.name, "choice", {"of": subject.key})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the organ is whole and the lesion's centre clear of the lines between thirds."""
        known = _held(ledger, question)
        if isinstance(known, NotAsked):
            return known
        subject, holds = known
        organ = str(holds.value)
        if not measured(ledger.terms[organ]).thirds:
            return NotAsked("nobody gives the third of this organ")
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
            text=(
                f"In which third of {_without_side(ledger, organ)}, from top to bottom, is"
                f" {subject.phrase} centred?"
            ),
            answer=Choice(answer.value),
            facts=(height, holds),
            steps=(
                measure_step(
                    f"Its centre lies {100 * number(height):.0f} % of the way up the organ.",
                    height,
                ),
            ),
            conclusion=f"It lies in {answer.text}.",
            needs=("slice_order",),
            difficulty=min(number(height) * 3 - third, third + 1 - number(height) * 3)
            / max(1e-6, (high - low) * 1.5),
            pool=_THIRDS,
        )


def _without_side(ledger: Ledger, organ: str) -> str:
    """`the kidney` for the left kidney: which one it is, is for the reader to find."""
    return "the " + re.sub(r"\b(left|right) ", "", ledger.terms[organ].plain)


class LesionPair(NothingExpected):
    """Asks which of two lesions is larger, further forward, or higher."""

    name = "lesion_pair"
    rules = TaskRules(
        quotas={"larger": 3, "forward": 3, "higher": 3},
        mix="lesion",
        units=(),
        whole=False,
        decides=(),
        learns=(),
        group="lesions",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """Every pair of lesion families, and the two largest of each,
        in the respects that make sense."""
        lesions = [s for s in subjects if s.is_lesion]
        twos = [(s, other) for s in lesions if (other := second(ledger, s)) is not None]
        for a, b in (*itertools.combinations(lesions, 2), *twos):
            for ask in _respects(ledger, a, b):
                if int(digest(a.key, b.key, ask), 16) % 2:
                    a, b = b, a
                yield Question(self.name, "choice", {"ask": ask, "a": a.key, "b": b.key})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the two are not far apart and clearly differ in that respect."""
        ask = question.parameters["ask"]
        a, b = resolve(ledger, question.parameters["a"]), resolve(ledger, question.parameters["b"])
        refusal = obstacle(ledger, [a, b], whole=True, oriented=ask != "larger")
        if refusal is not None:
            return refusal
        if (
            number(ledger.fact("centre_distance", a.structure, b.structure))
            > ledger.recipe.truth.far_centres_mm
        ):
            return FAR
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
        wording = {
            "larger": "is larger",
            "forward": "lies further forward",
            "higher": "lies higher",
        }[ask]
        step = measure_step(_compared(ask, number(fact), fact.unit), fact, neutral)
        return compose(
            ledger,
            [a, b],
            text=(
                f"Which {wording}{' by volume' if ask == 'larger' else ''}: {a.phrase} or"
                f" {b.phrase}?"
            ),
            answer=Choice(first.key),
            facts=(fact,),
            steps=(step,),
            conclusion=f"{first.opening} {wording}.",
            needs=(
                ()
                if ask == "larger"
                else ("slice_order" if ask == "higher" else "view_convention",)
            ),
            difficulty=abs(number(fact) - neutral) / max(1e-6, (high - low) / 2),
            pool=tuple(Option(s.key, s.phrase) for s in (a, b)),
        )


def _compared(ask: str, value: float, unit: str) -> str:
    """The first lesion beside the second, in words."""
    if ask == "larger":
        return f"The first is {quantity(value, unit)} times as large as the second."
    way = {"forward": ("further forward", "further back"), "higher": ("higher", "lower")}[ask]
    return f"The first lies {quantity(abs(value), unit)} {way[value < 0]} than the second."


def _respects(ledger: Ledger, a: Subject, b: Subject) -> tuple[str, ...]:
    """Of one kind the largest is larger;
    of two organs nobody asks which lesion lies higher or further forward."""
    one_kind = a.key.split(":")[1] == b.key.split(":")[1]
    one_organ = ledger.terms[a.structure].part_of == ledger.terms[b.structure].part_of
    return ("larger",) * (not one_kind) + ("forward", "higher") * one_organ
