"""Questions about a group: which member it is, whether there is any, and how many there are."""

from __future__ import annotations

import msgspec

from situs.items.masks.shared import CUT, OWN_ORGAN, compose, own_organ
from situs.items.posed import NotAsked, Posed
from situs.items.programs.evaluate import Evaluation
from situs.items.programs.expression import Expr
from situs.items.record import Answer, Choice, Number, Option, Step, YesNo
from situs.items.subjects import resolve, world_box

__all__ = ["conclude_any", "conclude_count", "conclude_which"]


def conclude_which(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    ranking = program.args[0]
    assert isinstance(ranking, Expr)
    ledger = evaluation.ledger
    members = evaluation.group(ranking.group).certain
    if len(members) < 2:
        return NotAsked("too few to choose from")
    evaluation.steps.clear()
    chosen = evaluation.pick(ranking)
    base = ranking.group if ranking.group.op == "structures" else ranking.group.group
    pool = [resolve(ledger, name) for name in evaluation.structures(base)]
    about = [
        evaluation.thing(arg)
        for part in ranking.parts()
        for arg in part.args
        if isinstance(arg, Expr)
        and arg.op in ("name", "largest", "second_largest")
        and arg is not ranking
    ]
    seen = [s for s in pool if s.structure in members]
    subjects = list({s.key: s for s in (*about, *seen)}.values())
    return compose(
        ledger,
        subjects,
        text="",
        answer=Choice(chosen.key),
        facts=tuple(evaluation.facts),
        steps=(),
        conclusion=f"{chosen.opening} is the one.",
        pool=tuple(Option(s.key, s.phrase) for s in pool),
    )


def conclude_any(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    group = program.args[0]
    assert isinstance(group, Expr)
    members = evaluation.group(group)
    if not members.certain and members.open:
        return NotAsked("whether one of them belongs cannot be told")
    some = bool(members.certain)
    return _of_group(evaluation, group, YesNo(some), "There is one." if some else "There is none.")


def conclude_count(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    group = program.args[0]
    assert isinstance(group, Expr)
    members = evaluation.group(group)
    if members.open:
        return NotAsked("whether one of them belongs cannot be told")
    count = len(members.certain)
    if count == 0:
        return NotAsked("none of them: asked as yes or no")
    words = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}[count]
    conclusion = f"So there {'is' if count == 1 else 'are'} {words}."
    return _of_group(evaluation, group, Number(float(count), "", (count, count)), conclusion)


def _of_group(
    evaluation: Evaluation, group: Expr, answer: Answer, conclusion: str
) -> Posed | NotAsked:
    """A question about all lesions of a kind."""
    ledger = evaluation.ledger
    base = group if group.op == "lesions" else group.group
    names = evaluation.lesions(base)
    against = [evaluation.thing(arg) for arg in group.args if isinstance(arg, Expr) and arg != base]
    if any(own_organ(ledger, resolve(ledger, n), other) for n in names for other in against):
        return OWN_ORGAN
    if any(ledger.is_cut(name) for name in names):
        return CUT
    lesions = [resolve(ledger, name) for name in names]
    boxes = tuple(world_box(ledger, lesion) for lesion in lesions)
    box_facts = tuple(ledger.fact("box", name) for name in names)
    family = ledger.family_term(str(base.args[0]))
    every = Step("find", f"Find every {family.plain}.", tuple(f.fact_id for f in box_facts), boxes)
    posed = compose(
        ledger,
        against,
        text="",
        answer=answer,
        facts=tuple(evaluation.facts),
        steps=(),
        conclusion=conclusion,
        needs=tuple(f"sees:{name}" for name in names),
        tags=(f"structure:{family.name}",),
    )
    return msgspec.structs.replace(
        posed,
        facts=(*posed.facts, *box_facts),
        steps=(every, *posed.steps),
        boxes=(*boxes, *posed.boxes),
    )
