"""How far from the lesion?

In mm from surface to surface, within a limit, or which of several is nearest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from situs.base.files import digest
from situs.facts import Fact, Ledger, number, span
from situs.items.masks.relations import unseen_facts, within
from situs.items.masks.shared import (
    CUT,
    FAR,
    NO_LONGER,
    OWN_ORGAN,
    compose,
    measure_step,
    obstacle,
    own_organ,
    relevant_to,
)
from situs.items.posed import NotAsked, Posed, Question, quantity
from situs.items.record import Choice, Number, Option, YesNo
from situs.items.subjects import ANY_LESION, Subject, resolve
from situs.items.tasks import NothingExpected, TaskRules

__all__ = ["Distance"]

_BEARINGS = ("organ", "vessel", "tract")
_MOST_FOURS = 600
"""About so many sets of four structures are asked about."""


class Distance(NothingExpected):
    """Distances between the surfaces of a lesion and of what lies around its organ."""

    name = "distance"
    rules = TaskRules(
        quotas={"within": 40, "gap": 2, "nearest": 120},
        mix="lesion",
        units=("mm",),
        whole=True,
        decides=(),
        learns=(),
        group="sizes",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """Of every lesion and what lies around its organ:
        how far, within each limit, and the nearest of four."""
        lesions = [s for s in subjects if s.is_lesion]
        marks = [s for s in subjects if s.term.kind in _BEARINGS]
        for lesion in lesions:
            for mark in relevant_to(ledger, lesion, marks):
                base = {"a": lesion.key, "b": mark.key}
                family = f"{lesion.key}|{mark.key}|apart"
                yield Question(self.name, "number", {"ask": "gap", **base}, family=family)
                for limit in ledger.recipe.truth.within_limits_mm:
                    yield Question(
                        self.name,
                        "yes_no",
                        {"ask": "within", **base, "mm": str(limit)},
                        family=family,
                    )
        roles = [*lesions, *([resolve(ledger, ANY_LESION)] if len(lesions) > 1 else [])]
        for role in roles:
            for four in _some_fours([s.key for s in relevant_to(ledger, role, marks)]):
                yield Question(
                    self.name, "choice", {"ask": "nearest", "a": role.key, "of": "+".join(four)}
                )

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the distance is known well enough for what is asked."""
        p = question.parameters
        first = resolve(ledger, p["a"])
        if p["ask"] == "nearest":
            return self._pose_nearest(
                ledger, first, [resolve(ledger, key) for key in p["of"].split("+")]
            )
        if p["ask"] not in ("gap", "within"):
            return NO_LONGER
        second = resolve(ledger, p["b"])
        refusal = obstacle(ledger, [first, second], whole=False, oriented=False)
        if refusal is not None:
            return refusal
        if own_organ(ledger, first, second):
            return OWN_ORGAN
        if p["ask"] == "within":
            return self.pose_within(ledger, first, second, int(p["mm"]))
        return self.pose_gap(ledger, first, second)

    def pose_within(self, ledger: Ledger, a: Subject, b: Subject, limit: float) -> Posed | NotAsked:
        """Whether the one comes within so many mm of the other."""
        if max(ledger.regions.grid.affine.spacing_mm) <= limit / 3:
            gap = ledger.fact("main_gap", a.structure, b.structure)
            if number(gap) > limit * ledger.recipe.truth.within_reach:
                return FAR
        decided = within(ledger, a.structure, b.structure, limit)
        if isinstance(decided, NotAsked):
            return decided
        inside, fact = decided.holds, decided.facts[0]
        value = number(fact)
        return compose(
            ledger,
            [a, b],
            text=f"Is {a.phrase} within {limit:g} mm of {b.phrase}?",
            answer=YesNo(inside),
            facts=decided.facts,
            steps=(
                measure_step(
                    f"From surface to surface they are {quantity(value, 'mm')} apart.",
                    fact,
                    float(limit),
                ),
            ),
            conclusion=f"That is {'within' if inside else 'more than'} {limit:g} mm.",
            needs=("scale",),
            difficulty=decided.margin,
        )

    def pose_gap(self, ledger: Ledger, a: Subject, b: Subject) -> Posed | NotAsked:
        """How far the one is from the other."""
        fact = ledger.fact("main_gap", a.structure, b.structure)
        value, (low, high) = number(fact), span(fact)
        if value > ledger.recipe.truth.gap_most_mm:
            return FAR
        if value <= 0 or (high - low) / 2 > ledger.recipe.truth.distance_half_width * value:
            return NotAsked("distance not known well enough")
        unseen = unseen_facts(ledger, a.structure, b.structure, beyond_mm=high)
        if unseen is None:
            return CUT
        return compose(
            ledger,
            [a, b],
            text=f"What is the shortest distance between {a.phrase} and {b.phrase}, in mm?",
            answer=Number(value, "mm", (low, high)),
            facts=(fact, *unseen),
            steps=(
                measure_step(
                    f"From surface to surface they are {quantity(value, 'mm')} apart.", fact
                ),
            ),
            conclusion=f"The shortest distance is {quantity(value, 'mm')}.",
            needs=("scale",),
            difficulty=2.0 * value / max(1e-6, high - low),
        )

    def _pose_nearest(self, ledger: Ledger, a: Subject, others: list[Subject]) -> Posed | NotAsked:
        refusal = obstacle(ledger, [a, *others], whole=False, oriented=False)
        if refusal is not None:
            return refusal
        if any(own_organ(ledger, a, s) for s in others):
            return OWN_ORGAN
        facts = {s.key: ledger.fact("main_gap", a.structure, s.structure) for s in others}
        if any(number(fact) <= 0 for fact in facts.values()):
            return NotAsked("it lies in or touches one of them")
        order = sorted(others, key=lambda s: (number(facts[s.key]), s.key))
        nearest, second = facts[order[0].key], facts[order[1].key]
        if number(second) > ledger.recipe.truth.far_gap_mm:
            return FAR
        margin = min(span(facts[s.key])[0] for s in order[1:]) - span(nearest)[1]
        if margin <= 0:
            return NotAsked("distances too close to call")
        proofs: list[Fact] = []
        for s in order[1:]:
            unseen = unseen_facts(ledger, a.structure, s.structure, beyond_mm=span(nearest)[1])
            if unseen is None:
                return CUT
            proofs += unseen
        steps = [
            measure_step(
                f"{s.opening} is {quantity(number(facts[s.key]), 'mm')} away.", facts[s.key]
            )
            for s in order
        ]
        gap = number(second) - number(nearest)
        return compose(
            ledger,
            [a, *others],
            text=f"Which of these lies nearest to {a.phrase}?",
            answer=Choice(order[0].key),
            facts=(nearest, *(facts[s.key] for s in order[1:]), *proofs),
            steps=steps,
            conclusion=f"{order[0].opening} is nearest.",
            difficulty=gap / max(1e-6, gap - margin),
            pool=tuple(Option(s.key, s.phrase) for s in others),
        )


def _some_fours(names: list[str]) -> Iterator[tuple[str, ...]]:
    """Sets of four names; of too many, the same few for all patients that have the names."""
    share = _MOST_FOURS / max(1, math.comb(len(names), 4))
    for four in itertools.combinations(names, 4):
        if share >= 1.0 or int(digest(*four, size=8), 16) / 2**64 < share:
            yield four
