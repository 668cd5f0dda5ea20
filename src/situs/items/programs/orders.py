"""Questions of order: which of several is larger, wider or closer, or reaches further."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from situs.facts import Fact, number, span
from situs.items.masks.extent import Extent
from situs.items.masks.relations import unseen_facts
from situs.items.masks.shared import CUT, FAR, ISLANDS, compose, measure_step, obstacle
from situs.items.posed import NotAsked, Posed, quantity
from situs.items.programs.evaluate import Evaluation
from situs.items.programs.expression import Expr
from situs.items.programs.saying import phrase
from situs.items.programs.things import SAME_LESION, pair_problem, things_of
from situs.items.record import Choice, Option

__all__ = [
    "conclude_closer",
    "conclude_larger",
    "conclude_rank",
    "conclude_reaches_higher",
    "conclude_reaches_lower",
    "conclude_wider",
]

_ALIKE = NotAsked("the two are too alike to call")


def conclude_larger(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    return _ordered(evaluation, program, "volume", "mL", "is larger")


def conclude_wider(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    return _ordered(evaluation, program, "axial_diameter", "mm", "has the longer axial diameter")


def conclude_rank(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    return _ordered(evaluation, program, "volume", "mL", "")


def _ordered(
    evaluation: Evaluation, program: Expr, kind: str, unit: str, verb: str
) -> Posed | NotAsked:
    """Which of several is first by a measure; of three, in which order they are."""
    ledger, subjects = evaluation.ledger, things_of(evaluation, program)
    if len({s.structure for s in subjects}) < len(subjects):
        return SAME_LESION
    problem = obstacle(ledger, subjects, whole=True, oriented=False)
    if problem is not None:
        return problem
    keys = [str(arg) for arg in program.args]
    facts: dict[str, Fact] = {}
    for key, subject in zip(keys, subjects):
        diameter = Extent().diameter(ledger, subject) if kind == "axial_diameter" else None
        if isinstance(diameter, NotAsked):
            return diameter
        facts[key] = ledger.fact(kind, subject.structure)
    order = sorted(keys, key=lambda key: (-number(facts[key]), key))
    if any(span(facts[a])[0] <= span(facts[b])[1] for a, b in itertools.pairwise(order)):
        return _ALIKE
    phrases = {
        key: phrase(arg, evaluation.names)
        for key, arg in zip(keys, program.args)
        if isinstance(arg, Expr)
    }
    steps = [
        measure_step(
            f"{_opening(phrases[k])} measures {quantity(number(facts[k]), unit)}.", facts[k]
        )
        for k in order
    ]
    several = len(keys) > 2
    pool = _orders(keys, phrases) if several else [Option(key, phrases[key]) for key in keys]
    ranking = ", ".join(phrases[key].removeprefix("the ") for key in order)
    return compose(
        ledger,
        subjects,
        text="",
        answer=Choice(">".join(order) if several else order[0]),
        facts=[facts[key] for key in order],
        steps=steps,
        conclusion=f"From largest to smallest: {ranking}."
        if several
        else f"{_opening(phrases[order[0]])} {verb}.",
        pool=tuple(pool),
    )


def _orders(keys: Sequence[str], phrases: dict[str, str]) -> list[Option]:
    bare = {key: words.removeprefix("the ") for key, words in phrases.items()}
    return [
        Option(">".join(order), ", ".join(bare[key] for key in order))
        for order in itertools.permutations(sorted(keys))
    ]


def _opening(words: str) -> str:
    return words[0].upper() + words[1:]


def conclude_reaches_higher(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    return _reaches(evaluation, program, "top")


def conclude_reaches_lower(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    return _reaches(evaluation, program, "bottom")


def _reaches(evaluation: Evaluation, program: Expr, end: str) -> Posed | NotAsked:
    """Which of two goes further up or down;
    asked of structures that the scan cuts elsewhere, too."""
    ledger, (a, b) = evaluation.ledger, things_of(evaluation, program)
    problem = pair_problem(evaluation, a, b) or obstacle(ledger, [a, b], whole=False, oriented=True)
    if problem is not None:
        return problem
    fact = ledger.fact(f"end_gap.{end}", a.structure, b.structure)
    if "cut" in fact.flags:
        return CUT
    if "islands" in fact.flags:
        return ISLANDS
    gap, (low, high) = number(fact), span(fact)
    if low <= 0 <= high:
        return NotAsked("a tilt of the patient would change which one reaches further")
    first, second = (a, b) if (gap > 0) == (end == "top") else (b, a)
    pole, way = ("upper", "up") if end == "top" else ("lower", "down")
    between = quantity(abs(gap), "mm")
    where = "above" if end == "top" else "below"
    text = f"The {pole} end of {first.phrase} lies {between} {where} that of {second.phrase}."
    keys = {s.key: str(arg) for s, arg in zip((a, b), program.args)}
    return compose(
        ledger,
        [a, b],
        text="",
        answer=Choice(keys[first.key]),
        facts=(fact,),
        steps=(measure_step(text, fact),),
        conclusion=f"{first.opening} reaches further {way}.",
        needs=("slice_order",),
        difficulty=2.0 * abs(gap) / max(1e-6, high - low),
        pool=tuple(Option(keys[s.key], s.phrase) for s in (a, b)),
    )


def conclude_closer(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    ledger = evaluation.ledger
    a, *others = things_of(evaluation, program)
    for other in others:
        problem = pair_problem(evaluation, a, other)
        if problem is not None:
            return problem
    facts = {s.key: ledger.fact("main_gap", a.structure, s.structure) for s in others}
    near, far = sorted(others, key=lambda s: (number(facts[s.key]), s.key))
    if near.structure == far.structure:
        return SAME_LESION
    if number(facts[far.key]) > ledger.recipe.truth.far_gap_mm:
        return FAR
    margin = span(facts[far.key])[0] - span(facts[near.key])[1]
    if margin <= 0:
        return NotAsked("distances too close to call")
    # What the scan does not show of the one or of the other must be farther than the nearer one is.
    unseen = unseen_facts(ledger, a.structure, far.structure, beyond_mm=span(facts[near.key])[1])
    if unseen is None:
        return CUT
    gap = number(facts[far.key]) - number(facts[near.key])
    steps = [
        measure_step(f"To {s.phrase} it is {quantity(number(facts[s.key]), 'mm')}.", facts[s.key])
        for s in (near, far)
    ]
    return compose(
        ledger,
        [a, *others],
        text="",
        answer=Choice(near.key),
        facts=(facts[near.key], facts[far.key], *unseen),
        steps=steps,
        conclusion=f"{near.opening} is closer.",
        difficulty=gap / max(1e-6, gap - margin),
        pool=tuple(Option(s.key, s.phrase) for s in others),
    )
