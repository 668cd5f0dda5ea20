"""How large is it? A number in millilitres, a range, or more than a limit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from situs.anatomy import measured
from situs.facts import Fact, Ledger, is_cut, number, span
from situs.items.average import AverageAnatomy
from situs.items.masks.shared import CUT, compose, measure_step, obstacle
from situs.items.posed import NotAsked, Posed, Question, quantity
from situs.items.record import Answer, Choice, Item, Number, Option, YesNo
from situs.items.subjects import Subject, resolve, sized
from situs.items.tasks import TaskRules

__all__ = ["VolumeEstimate"]


def _limits(ledger: Ledger, subject: Subject) -> tuple[float, ...]:
    """Volumes that someone decides by;
    of a lesion and of a user's own structure, those of the recipe."""
    if subject.is_lesion or not subject.term.canonical:
        return tuple(float(edge) for edge in ledger.recipe.truth.volume_edges_ml if edge > 0)
    return measured(subject.term).limits_ml


def _ranges(limits: Sequence[float]) -> tuple[Option, ...]:
    """The ranges between the limits, none overlapping another, from nothing to any size."""
    inner = [
        Option(f"{low:g}-{high:g}", f"{low:g} to {high:g} mL")
        for low, high in itertools.pairwise(limits)
    ]
    first, last = limits[0], limits[-1]
    least, most = (
        Option(f"0-{first:g}", f"less than {first:g} mL"),
        Option(f"{last:g}-inf", f"more than {last:g} mL"),
    )
    return (least, *inner, most)


class VolumeEstimate:
    """Asks for the volume of a structure, where what the scan shows of it is enough to tell."""

    name = "volume"
    rules = TaskRules(
        quotas={"number": 3, "more_than": 40, "range": 8},
        mix="quantity",
        mix_always=True,
        units=("mL",),
        whole=True,
        decides=(),
        learns=("volume",),
        group="sizes",
        ordered=("range",),
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """A number, a range or a limit, for each structure whose volume someone decides by."""
        for subject in subjects:
            limits = _limits(ledger, subject)
            if not subject.term.ask_size or not limits:
                continue
            family = f"volume|{subject.key}"
            yield Question(self.name, "number", {"of": subject.key}, family=family)
            yield Question(self.name, "choice", {"ask": "range", "of": subject.key}, family=family)
            if subject.is_lesion or subject.term.canonical:
                for limit in limits if subject.is_lesion else measured(subject.term).open_limits_ml:
                    parameters = {"ask": "more_than", "of": subject.key, "ml": f"{limit:g}"}
                    yield Question(self.name, "yes_no", parameters, family=family)

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the volume is known well enough for what is asked;
        of a structure that is cut, at least so much."""
        subject = sized(ledger, resolve(ledger, question.parameters["of"]))
        return self.pose_of(ledger, subject, question.parameters)

    def pose_of(
        self, ledger: Ledger, subject: Subject, parameters: Mapping[str, str]
    ) -> Posed | NotAsked:
        """The volume of a subject, asked for as the parameters say."""
        refusal = obstacle(ledger, [subject], whole=False, oriented=False)
        if refusal is not None:
            return refusal
        fact = ledger.fact("volume", subject.structure)
        match parameters.get("ask", "number"):
            case "number":
                return self._pose_number(ledger, subject, fact)
            case "range":
                return self._pose_range(ledger, subject, fact)
            case _:
                return self._pose_more_than(ledger, subject, fact, float(parameters["ml"]))

    def expected(self, item: Item, average: AverageAnatomy) -> list[str]:
        """Whether others have more than the limit, or the range in which their mean lies."""
        of, patient = item.parameters["of"], item.patient_id
        if item.parameters.get("ask") == "more_than":
            limit = math.log(float(item.parameters["ml"]))
            sign = average.sizes("volume", of, without=patient).sign(beyond=limit)
            return ["yes" if sign > 0 else "no"] if sign else []
        mean = average.mean_size("volume", of, without=patient)
        if mean is None:
            return []
        ranges = {
            option.value: option.value.split("-") for option in item.options if "-" in option.value
        }
        return [value for value, (low, high) in ranges.items() if float(low) <= mean < float(high)]

    def expected_number(self, item: Item, average: AverageAnatomy) -> float | None:
        """The geometric mean of other patients."""
        return average.mean_size("volume", item.parameters["of"], without=item.patient_id)

    def _pose_number(self, ledger: Ledger, subject: Subject, fact: Fact) -> Posed | NotAsked:
        if is_cut(fact):
            return CUT
        value, (low, high) = number(fact), span(fact)
        width = (high - low) / 2 / value
        if width > ledger.recipe.truth.volume_half_width:
            return NotAsked("volume not known well enough")
        text = f"What is the volume of {subject.phrase}, in mL?"
        return _posed(
            ledger, subject, fact, text, Number(value, "mL", (low, high)), 1.0 / max(width, 1e-6)
        )

    def _pose_range(self, ledger: Ledger, subject: Subject, fact: Fact) -> Posed | NotAsked:
        low, high = span(fact)
        limits = _limits(ledger, subject)
        ranges, edges = _ranges(limits), (0.0, *limits, math.inf)
        for option, (start, end) in zip(ranges, itertools.pairwise(edges)):
            if start <= low and (high < end or math.isinf(end)):
                margin = min(number(fact) - start, end - number(fact)) / _half_width(fact)
                text = f"In which range is the volume of {subject.phrase}?"
                return _posed(
                    ledger, subject, fact, text, Choice(option.value), margin, pool=ranges
                )
        return CUT if is_cut(fact) else NotAsked("volume too near the edge of a range")

    def _pose_more_than(
        self, ledger: Ledger, subject: Subject, fact: Fact, limit: float
    ) -> Posed | NotAsked:
        value, (low, high) = number(fact), span(fact)
        if low <= limit <= high:
            return CUT if is_cut(fact) else NotAsked("volume too close to the limit")
        if not limit / 3 <= value <= limit * 3:
            return NotAsked("volume nowhere near the limit")
        text = f"Is {subject.phrase} larger than {limit:g} mL?"
        margin = abs(value - limit) / _half_width(fact)
        return _posed(ledger, subject, fact, text, YesNo(low > limit), margin, threshold=limit)


def _half_width(fact: Fact) -> float:
    """How far what is seen of a structure may be larger or smaller than it was measured."""
    low, high = fact.interval or span(fact)
    return max(1e-6, (high - low) / 2)


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
    volume_words = f"{'at least ' if is_cut(fact) else ''}{quantity(number(fact), 'mL')}"
    conclusion = f"Its volume is {volume_words}."
    if threshold is not None:
        comparison = "more" if number(fact) > threshold else "less"
        conclusion = f"That is {comparison} than {threshold:g} mL."
    elif isinstance(answer, Choice):
        range_text = next(option.text for option in pool if option.value == answer.value)
        conclusion = f"It lies in the range “{range_text}”."
    return compose(
        ledger,
        [subject],
        text=text,
        answer=answer,
        facts=(fact,),
        steps=(
            measure_step(f"{subject.opening} has a volume of {volume_words}.", fact, threshold),
        ),
        conclusion=conclusion,
        needs=("scale",),
        difficulty=difficulty,
        pool=pool,
    )
