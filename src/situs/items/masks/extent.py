"""How long is it from top to bottom, and which is longer?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from situs.anatomy import compared, measured
from situs.facts import (
    Fact,
    Ledger,
    axial_spacing_mm,
    end_is_cut,
    end_is_stray,
    number,
    span,
)
from situs.items.average import AverageAnatomy
from situs.items.masks.shared import (
    BEYOND,
    CANNOT_TELL,
    CUT,
    ISLANDS,
    NO_LONGER,
    by_canonical,
    compose,
    end_facts,
    measure_step,
    obstacle,
)
from situs.items.posed import NotAsked, Posed, Question, quantity
from situs.items.record import Choice, Item, Number, Option, Step, YesNo
from situs.items.subjects import Subject, including_lesions, resolve, sized
from situs.items.tasks import TaskRules
from situs.space import Axis, Side

__all__ = ["Extent"]

_CUT = Option(CANNOT_TELL, "cannot be told, one is cut off")
_KIND = f"extent.{Axis.SUPERIOR_INFERIOR}"


class Extent:
    """Craniocaudal length: a number in cm, or the longer of two; and a lesion's diameter."""

    name = "extent"
    rules = TaskRules(
        quotas={
            "number": 2,
            "diameter": 2,
            "choice": 24,
            "longer_than": 24,
            "wider_than": 12,
        },
        mix="comparison",
        units=("cm", "mm"),
        whole=True,
        decides=("comparison",),
        learns=("extent.superior_inferior",),
        group="sizes",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """The lengths and pairs that the table of relevance names,
        and the diameter of every lesion."""
        for subject in subjects:
            if subject.is_lesion:
                family = f"diameter|{subject.key}"
                yield Question(
                    self.name, "number", {"ask": "diameter", "of": subject.key}, family=family
                )
                for limit in ledger.recipe.truth.diameter_limits_mm:
                    parameters = {"ask": "wider_than", "of": subject.key, "mm": f"{limit:g}"}
                    yield Question(self.name, "yes_no", parameters, family=family)
            elif subject.term.ask_size and measured(subject.term).length:
                family = f"length|{subject.key}"
                yield Question(self.name, "number", {"of": subject.key}, family=family)
                for limit in measured(subject.term).limits_cm:
                    parameters = {"ask": "longer_than", "of": subject.key, "cm": f"{limit:g}"}
                    yield Question(self.name, "yes_no", parameters, family=family)
        for a, b in self._pairs(ledger, subjects):
            for beyond in ({}, BEYOND):
                yield Question(
                    self.name,
                    "choice",
                    {"a": a, "b": b, "which": "longer", **beyond},
                    family=f"{a}|{b}",
                    named_only=True,
                    must_offer=beyond.get("or", ""),
                )

    def _pairs(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[tuple[str, str]]:
        known = by_canonical(s for s in subjects if s.term.ask_size)
        yield from (
            (known[a].key, known[b].key) for a, b in compared("longer") if a in known and b in known
        )
        for entry in (s.term for s in subjects if s.term.ask_size and s.term.side is Side.LEFT):
            if entry.partner in ledger.regions and "longer" in measured(entry).left_right:
                yield entry.name, str(entry.partner)

    def expected(self, item: Item, average: AverageAnatomy) -> list[str]:
        """Which is longer in others, or whether their lengths exceed the limit."""
        p, patient = item.parameters, item.patient_id
        if item.form == "choice":
            sign = average.compare(_KIND, p["a"], p["b"], without=patient)
            longest = sign if p["which"] == "longer" else -sign
            return [p["a"] if longest > 0 else p["b"]] if sign else []
        if "cm" in p:
            limit = math.log(10.0 * float(p["cm"]))
            sign = average.sizes(_KIND, p["of"], without=patient).sign(beyond=limit)
            return ["yes" if sign > 0 else "no"] if sign else []
        return []

    def expected_number(self, item: Item, average: AverageAnatomy) -> float | None:
        """The geometric mean of other patients' lengths, in cm;
        nothing is known of a lesion's diameter."""
        if "ask" in item.parameters:
            return None
        mean_mm = average.mean_size(_KIND, item.parameters["of"], without=item.patient_id)
        return None if mean_mm is None else mean_mm / 10.0

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked of whole structures whose lengths are known well enough, or clearly differ."""
        match question.parameters.get("ask"):
            case "diameter":
                return self.pose_diameter(ledger, resolve(ledger, question.parameters["of"]))
            case "wider_than":
                subject = resolve(ledger, question.parameters["of"])
                return self.pose_wider_than(ledger, subject, float(question.parameters["mm"]))
            case "longer_than":
                subject = sized(ledger, resolve(ledger, question.parameters["of"]))
                return self._pose_longer_than(ledger, subject, float(question.parameters["cm"]))
        if question.form == "number":
            if "ask" in question.parameters:
                return NO_LONGER
            subject = sized(ledger, resolve(ledger, question.parameters["of"]))
            return self._pose_number(ledger, subject)
        a, b = (sized(ledger, resolve(ledger, question.parameters[key])) for key in ("a", "b"))
        return self._pose_longer(
            ledger, a, b, question.parameters["which"], beyond="or" in question.parameters
        )

    def _length(self, ledger: Ledger, subject: Subject) -> Fact | NotAsked:
        """The length that is seen from top to bottom: at least so much, where an end is cut off."""
        refusal = obstacle(ledger, [subject], whole=False, oriented=True)
        if refusal is not None:
            return refusal
        return ledger.fact(_KIND, subject.structure)

    def _pose_longer_than(
        self, ledger: Ledger, subject: Subject, limit_cm: float
    ) -> Posed | NotAsked:
        fact = self._length(ledger, subject)
        if isinstance(fact, NotAsked):
            return fact
        limit = _Limit(10.0 * limit_cm, f"{limit_cm:g} cm")
        if _lacks_an_end(ledger, subject) and span(fact)[0] <= limit.mm:
            return CUT
        if _has_stray_end(ledger, subject):
            return ISLANDS
        text = f"Is {subject.phrase} longer than {limit.words} from top to bottom?"
        words = f"From top to bottom it measures {_measured(ledger, subject, fact)}."
        return _above(
            ledger,
            subject,
            (fact, *end_facts(ledger, subject)),
            limit,
            text,
            words,
            needs=("scale", "slice_order"),
        )

    def pose_wider_than(
        self, ledger: Ledger, subject: Subject, limit_mm: float
    ) -> Posed | NotAsked:
        """Whether the longest axial diameter exceeds a limit."""
        fact = self.diameter(ledger, subject)
        if isinstance(fact, NotAsked):
            return fact
        limit = _Limit(limit_mm, f"{limit_mm:g} mm")
        text = (
            f"Is the longest diameter of {subject.phrase} on any axial slice more than"
            f" {limit.words}?"
        )
        words = f"On its largest slice it measures {quantity(number(fact), 'mm')}."
        return _above(ledger, subject, (fact,), limit, text, words, needs=("scale",))

    def _pose_number(self, ledger: Ledger, subject: Subject) -> Posed | NotAsked:
        fact = self._length(ledger, subject)
        if isinstance(fact, NotAsked):
            return fact
        if _lacks_an_end(ledger, subject):
            return CUT
        if _has_stray_end(ledger, subject):
            return ISLANDS
        value, (low, high) = number(fact), span(fact)
        if (high - low) / 2 > ledger.recipe.truth.length_half_width * value:
            return NotAsked("length not known well enough")
        return compose(
            ledger,
            [subject],
            text=f"How long is {subject.phrase} from top to bottom, in cm?",
            answer=Number(value / 10.0, "cm", (low / 10.0, high / 10.0)),
            facts=(fact, *end_facts(ledger, subject)),
            steps=(measure_step(f"From top to bottom it measures {quantity(value, 'mm')}.", fact),),
            conclusion="That is its length from top to bottom.",
            needs=("scale", "slice_order"),
            difficulty=2.0 * value / max(1e-6, high - low),
        )

    def diameter(self, ledger: Ledger, subject: Subject) -> Fact | NotAsked:
        """A lesion's longest axial diameter, if it is large enough,
        and the slices thin enough, for one."""
        refusal = obstacle(ledger, [subject], whole=True, oriented=False)
        if refusal is not None:
            return refusal
        thickness = axial_spacing_mm(ledger.regions.grid)
        fact = ledger.fact("axial_diameter", subject.structure)
        truth = ledger.recipe.truth
        if (
            thickness > truth.diameter_thickest_slice_mm
            or number(fact) < truth.diameter_smallest_mm
        ):
            return NotAsked("lesion too small, or slices too thick, for a diameter")
        return fact

    def pose_diameter(self, ledger: Ledger, subject: Subject) -> Posed | NotAsked:
        """The longest axial diameter, as a number."""
        fact = self.diameter(ledger, subject)
        if isinstance(fact, NotAsked):
            return fact
        value, (low, high) = number(fact), span(fact)
        if (high - low) / 2 > ledger.recipe.truth.diameter_half_width * value:
            return NotAsked("length not known well enough")
        return compose(
            ledger,
            [subject],
            text=f"What is the longest diameter of {subject.phrase} on any axial slice, in mm?",
            answer=Number(value, "mm", (low, high)),
            facts=(fact,),
            steps=(
                measure_step(f"On its largest slice it measures {quantity(value, 'mm')}.", fact),
            ),
            conclusion=f"Its longest axial diameter is {quantity(value, 'mm')}.",
            needs=("scale",),
            difficulty=2.0 * value / max(1e-6, high - low),
        )

    def _pose_longer(
        self, ledger: Ledger, a: Subject, b: Subject, which: str, *, beyond: bool
    ) -> Posed | NotAsked:
        refusal = obstacle(ledger, [a, b], whole=False, oriented=True)
        if refusal is not None:
            return refusal
        facts = {s.key: ledger.fact(_KIND, s.structure) for s in (a, b)}
        longer, shorter = sorted((a, b), key=lambda s: (-number(facts[s.key]), s.key))
        # Islands of the longer one make it longer still.
        if _has_stray_end(ledger, shorter):
            return ISLANDS
        margin = span(facts[longer.key])[0] - span(facts[shorter.key])[1]
        is_decided = not _lacks_an_end(ledger, shorter)
        if not is_decided and not (beyond and _goes_on(ledger, shorter)):
            return CUT
        if margin <= 0:
            return NotAsked("lengths too close to call")
        answer = longer if which == "longer" else shorter
        steps = [_length_step(ledger, s, facts[s.key]) for s in (longer, shorter)]
        gap = number(facts[longer.key]) - number(facts[shorter.key])
        pool = tuple(Option(s.key, s.short) for s in (a, b))
        return compose(
            ledger,
            [a, b],
            text=(
                f"Which is {which} from top to bottom: {a.short} or"
                f" {b.short}{including_lesions((a, b))}?"
            ),
            answer=Choice(answer.key if is_decided else CANNOT_TELL),
            facts=(*facts.values(), *(end for s in (a, b) for end in end_facts(ledger, s))),
            steps=steps,
            conclusion=(
                f"{answer.opening} is {which}."
                if is_decided
                else f"{shorter.opening} goes on beyond the scan."
            ),
            needs=("slice_order",),
            difficulty=gap / max(1e-6, gap - margin) if is_decided else None,
            pool=(*pool, _CUT) if beyond else pool,
        )


class _Limit(NamedTuple):
    """A length that a structure is held against, as it is measured and as the question says it."""

    mm: float
    words: str


def _above(
    ledger: Ledger,
    subject: Subject,
    facts: tuple[Fact, ...],
    limit: _Limit,
    text: str,
    words: str,
    needs: tuple[str, ...],
) -> Posed | NotAsked:
    """Yes or no, if the whole interval of the first fact lies on one side of the limit and not far
    from it."""
    fact = facts[0]
    value, (low, high) = number(fact), span(fact)
    if low <= limit.mm <= high:
        return NotAsked("length too close to the limit")
    # A structure half or twice as long is told by anyone who knows what it is.
    if not limit.mm / 2 <= value <= limit.mm * 2:
        return NotAsked("length nowhere near the limit")
    return compose(
        ledger,
        [subject],
        text=text,
        answer=YesNo(low > limit.mm),
        facts=facts,
        steps=(measure_step(words, fact, limit.mm),),
        conclusion=f"That is {'more' if low > limit.mm else 'less'} than {limit.words}.",
        needs=needs,
        difficulty=abs(value - limit.mm) / max(1e-6, (high - low) / 2),
    )


def _goes_on(ledger: Ledger, subject: Subject) -> bool:
    """Whether the first or last slice of the scan shows it,
    so that it may be longer than what is seen."""
    return ledger.fact("ends_beyond", subject.structure).value != ""


def _lacks_an_end(ledger: Ledger, subject: Subject) -> bool:
    """Whether it may reach further up or down than what is seen of it."""
    return any(end_is_cut(ledger, subject.structure, end) for end in ("top", "bottom"))


def _has_stray_end(ledger: Ledger, subject: Subject) -> bool:
    """Whether it would reach further up or down if its islands counted."""
    return any(end_is_stray(ledger, subject.structure, end) for end in ("top", "bottom"))


def _measured(ledger: Ledger, subject: Subject, fact: Fact) -> str:
    at_least = "at least " if _lacks_an_end(ledger, subject) else ""
    return f"{at_least}{quantity(number(fact), 'mm')}"


def _length_step(ledger: Ledger, subject: Subject, fact: Fact) -> Step:
    measures = _measured(ledger, subject, fact)
    return measure_step(f"{subject.opening} measures {measures} from top to bottom.", fact)
