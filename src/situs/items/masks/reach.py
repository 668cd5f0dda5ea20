"""Which of two reaches further up or down?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from situs.anatomy import reaching
from situs.facts import Ledger, end_is_cut, number, span
from situs.items.average import AverageAnatomy, Place
from situs.items.masks.shared import (
    CUT,
    ISLANDS,
    by_canonical,
    compose,
    end_facts,
    measure_step,
    obstacle,
)
from situs.items.posed import NotAsked, Posed, Question, quantity
from situs.items.record import Choice, Item, Option
from situs.items.subjects import Subject, resolve
from situs.items.tasks import TaskRules
from situs.space import Axis

__all__ = ["Reach"]

_WAY = {"top": "up", "bottom": "down"}
_POLE = {"top": ("upper", "above"), "bottom": ("lower", "below")}
_AXIS = Axis.SUPERIOR_INFERIOR.world_index
_OF_BOX = {"top": 3 + _AXIS, "bottom": _AXIS}
"""Where the box of a structure, its lower corner and then its upper one, holds an end."""


class Reach:
    """Asks which of two structures reaches further up or down, where readers compare them so."""

    name = "reach"
    rules = TaskRules(
        quotas={"choice": 12},
        mix="comparison",
        units=(),
        whole=False,
        decides=("comparison",),
        learns=("box",),
        group="sizes",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """The pairs and ends that the table of relevance names."""
        known = by_canonical(subjects)
        for entry in reaching():
            a, b = entry.of
            if a in known and b in known:
                parameters = {"a": known[a].key, "b": known[b].key, "end": entry.end}
                family = f"{known[a].key}|{known[b].key}|{entry.end}"
                yield Question(
                    self.name,
                    "choice",
                    parameters,
                    family=family,
                    named_only=True,
                    textbook=entry.textbook,
                )

    def expected(self, item: Item, average: AverageAnatomy) -> list[str]:
        """Which of the two reaches further in others."""
        p, end = item.parameters, item.parameters["end"]
        place = Place(_OF_BOX[end], of=6)
        sign = average.apart("box", p["a"], p["b"], place, without=item.patient_id).sign()
        further = sign if end == "top" else -sign
        return [p["a"] if further > 0 else p["b"]] if sign else []

    def expected_number(self, item: Item, average: AverageAnatomy) -> float | None:
        """It asks for no number."""
        return None

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the ends differ however the patient is turned. The one that reaches further may
        be cut there: it reaches further still."""
        a, b = (resolve(ledger, question.parameters[key]) for key in ("a", "b"))
        end = question.parameters["end"]
        refusal = obstacle(ledger, [a, b], whole=False, oriented=True)
        if refusal is not None:
            return refusal
        fact = ledger.fact(f"end_gap.{end}", a.structure, b.structure)
        if "islands" in fact.flags:
            return ISLANDS
        gap, (low, high) = number(fact), span(fact)
        if low <= 0 <= high:
            return NotAsked("a tilt of the patient would change which one reaches further")
        first, second = (a, b) if (gap > 0) == (end == "top") else (b, a)
        if end_is_cut(ledger, second.structure, end):
            return CUT
        pole, where = _POLE[end]
        sided = a.term.partner == b.structure
        words = (
            f"The {pole} end of {first.phrase} lies {quantity(abs(gap), 'mm')} {where} that of"
            f" {second.phrase}."
        )
        return compose(
            ledger,
            [a, b],
            text=_text(a, b, end, sided=sided),
            answer=Choice(first.key),
            facts=(fact, *end_facts(ledger, a), *end_facts(ledger, b)),
            steps=(measure_step(words, fact),),
            conclusion=f"{first.opening} reaches further {_WAY[end]}.",
            needs=("slice_order", *(("side_convention",) if sided else ())),
            difficulty=2.0 * abs(gap) / max(1e-6, high - low),
            pool=tuple(Option(s.key, f"the {s.term.side}" if sided else s.phrase) for s in (a, b)),
        )


def _text(a: Subject, b: Subject, end: str, *, sided: bool) -> str:
    if sided:
        noun = re.sub(r"\b(left|right) ", "", a.bare)
        return f"Which {noun} reaches further {_WAY[end]}?"
    return f"Which reaches further {_WAY[end]}: {a.phrase} or {b.phrase}?"
