"""From a program to a posed question: the conclusion, its proof and its options."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import msgspec

from situs.facts import Fact, Ledger, number, span
from situs.items.masks.contact import Contact
from situs.items.masks.direction import DirectionTask
from situs.items.masks.distance import Distance
from situs.items.masks.extent import Extent
from situs.items.masks.lesion_side import LesionSide
from situs.items.masks.level import Level
from situs.items.masks.relations import on_side, unseen_facts
from situs.items.masks.shared import (
    CUT,
    FAR,
    ISLANDS,
    OWN_ORGAN,
    compose,
    measure_step,
    obstacle,
    own_organ,
)
from situs.items.masks.volume import VolumeEstimate
from situs.items.posed import NotAsked, Posed, quantity
from situs.items.programs.evaluate import Evaluation, Undecided
from situs.items.programs.expression import Expr
from situs.items.programs.saying import phrase, render
from situs.items.record import Answer, Choice, Number, Option, Step, YesNo
from situs.items.subjects import Subject, resolve, world_box
from situs.space import Axis, Direction, Side

__all__ = ["pose_program"]

_ALIKE = NotAsked("the two are too alike to call")
_SAME = NotAsked("both descriptions mean the same lesion")


def pose_program(ledger: Ledger, program: Expr) -> Posed | NotAsked:
    """Put a program to a patient. KeyError if a structure or kind of lesion it names is not there."""
    evaluation = Evaluation(ledger, program)
    try:
        posed = _CONCLUDE[program.op](evaluation, program)
    except Undecided as undecided:
        return undecided.reason
    if isinstance(posed, NotAsked):
        return posed
    return _finished(evaluation, posed, render(program, 0, evaluation.names))


def _finished(evaluation: Evaluation, posed: Posed, text: str) -> Posed:
    """The question in its own words, with what its descriptions rest on."""
    ledger = evaluation.ledger
    difficulties = [d for d in (posed.difficulty, *evaluation.margins) if d is not None]
    needs = dict.fromkeys((*evaluation.needs, *posed.needs))
    # A lesion goes by its kind: which of them it is, is for the reader to find.
    tags = dict.fromkeys(
        f"structure:{ledger.family(tag[10:]) or tag[10:]}" if tag.startswith("structure:") else tag
        for tag in posed.tags
        if not tag.startswith("structure:") or tag[10:] in ledger.terms or ":" in tag[10:]
    )
    last = posed.steps[-1:]
    before = posed.steps[:-1]
    finding = tuple(step for step in before if step.kind == "find")
    others = tuple(step for step in before if step.kind != "find")
    return msgspec.structs.replace(
        posed,
        text=text,
        facts=(*posed.facts, *evaluation.facts),
        steps=(*finding, *evaluation.steps, *others, *last),
        needs=tuple(sorted(needs, key=lambda need: need.startswith("sees:"))),
        tags=tuple(tags),
        difficulty=min(difficulties, default=None),
    )


def _things(evaluation: Evaluation, program: Expr) -> list[Subject]:
    return [evaluation.thing(arg) for arg in program.args if isinstance(arg, Expr)]


def _which(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
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


def _any(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    group = program.args[0]
    assert isinstance(group, Expr)
    members = evaluation.group(group)
    if not members.certain and members.open:
        return NotAsked("whether one of them belongs cannot be told")
    some = bool(members.certain)
    return _of_group(evaluation, group, YesNo(some), "There is one." if some else "There is none.")


def _count(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
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
    found = tuple(ledger.fact("box", name) for name in names)
    family = ledger.family_term(str(base.args[0]))
    every = Step("find", f"Find every {family.plain}.", tuple(f.fact_id for f in found), boxes)
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
        facts=(*posed.facts, *found),
        steps=(every, *posed.steps),
        boxes=(*boxes, *posed.boxes),
    )


def _is_touching(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = _things(evaluation, program)
    return _of_two(evaluation, a, b) or Contact().pose_pair(evaluation.ledger, a, b)


def _is_within(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = _things(evaluation, program)
    limit = float(program.args[2])  # type: ignore[arg-type]
    return _of_two(evaluation, a, b) or Distance().pose_within(evaluation.ledger, a, b, limit)


def _gap(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = _things(evaluation, program)
    return _of_two(evaluation, a, b) or Distance().pose_gap(evaluation.ledger, a, b)


def _of_two(evaluation: Evaluation, a: Subject, b: Subject) -> NotAsked | None:
    """Why nobody asks how these two lie to each other, if so."""
    if a.structure == b.structure:
        return _SAME
    if a.term.is_pathology and not b.term.is_pathology and own_organ(evaluation.ledger, a, b):
        return OWN_ORGAN
    return obstacle(evaluation.ledger, [a, b], whole=False, oriented=False)


def _is_on(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = _things(evaluation, program)
    side = Side(str(program.args[0]))
    decided = on_side(evaluation.ledger, side, subject.structure)
    if isinstance(decided, NotAsked):
        return decided
    share = decided.facts[0]
    words = f"{quantity(number(share), 'fraction')} of it lies right of the midline."
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


def _is_beyond(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = _things(evaluation, program)
    problem = _of_two(evaluation, a, b)
    if problem is not None:
        return problem
    return DirectionTask().pose_claim(evaluation.ledger, a, b, Direction(str(program.args[0])))


def _same(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = _things(evaluation, program)
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


def _larger(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    return _ordered(evaluation, program, "volume", "mL", "is larger")


def _wider(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    return _ordered(evaluation, program, "axial_diameter", "mm", "has the longer axial diameter")


def _ordered(
    evaluation: Evaluation, program: Expr, kind: str, unit: str, verb: str
) -> Posed | NotAsked:
    """Which of several is first by a measure; of three, in which order they are."""
    ledger, subjects = evaluation.ledger, _things(evaluation, program)
    if len({s.structure for s in subjects}) < len(subjects):
        return _SAME
    problem = obstacle(ledger, subjects, whole=True, oriented=False)
    if problem is not None:
        return problem
    keys = [str(arg) for arg in program.args]
    facts: dict[str, Fact] = {}
    for key, subject in zip(keys, subjects):
        found = Extent().diameter(ledger, subject) if kind == "axial_diameter" else None
        if isinstance(found, NotAsked):
            return found
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
    shown = ", ".join(phrases[key].removeprefix("the ") for key in order)
    return compose(
        ledger,
        subjects,
        text="",
        answer=Choice(">".join(order) if several else order[0]),
        facts=[facts[key] for key in order],
        steps=steps,
        conclusion=f"From largest to smallest: {shown}."
        if several
        else f"{_opening(phrases[order[0]])} {verb}.",
        pool=tuple(pool),
    )


def _reaches_higher(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    return _reaches(evaluation, program, "top")


def _reaches_lower(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    return _reaches(evaluation, program, "bottom")


def _reaches(evaluation: Evaluation, program: Expr, end: str) -> Posed | NotAsked:
    """Which of two goes further up or down; asked of structures that the scan cuts elsewhere, too."""
    ledger, (a, b) = evaluation.ledger, _things(evaluation, program)
    problem = _of_two(evaluation, a, b) or obstacle(ledger, [a, b], whole=False, oriented=True)
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


def _orders(keys: Sequence[str], phrases: dict[str, str]) -> list[Option]:
    bare = {key: words.removeprefix("the ") for key, words in phrases.items()}
    return [
        Option(">".join(order), ", ".join(bare[key] for key in order))
        for order in itertools.permutations(sorted(keys))
    ]


def _opening(words: str) -> str:
    return words[0].upper() + words[1:]


def _closer(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    ledger = evaluation.ledger
    a, *others = _things(evaluation, program)
    for other in others:
        problem = _of_two(evaluation, a, other)
        if problem is not None:
            return problem
    facts = {s.key: ledger.fact("main_gap", a.structure, s.structure) for s in others}
    near, far = sorted(others, key=lambda s: (number(facts[s.key]), s.key))
    if near.structure == far.structure:
        return _SAME
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


def _volume(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = _things(evaluation, program)
    return VolumeEstimate().pose_of(evaluation.ledger, subject, {})


def _volume_exceeds(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = _things(evaluation, program)
    parameters = {"ask": "more_than", "ml": f"{program.args[1]:g}"}
    return VolumeEstimate().pose_of(evaluation.ledger, subject, parameters)


def _diameter(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = _things(evaluation, program)
    if not subject.term.is_pathology:
        return NotAsked("nobody gives the axial diameter of this structure")
    return Extent().pose_diameter(evaluation.ledger, subject)


def _diameter_exceeds(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = _things(evaluation, program)
    if not subject.term.is_pathology:
        return NotAsked("nobody gives the axial diameter of this structure")
    limit = float(program.args[1])  # type: ignore[arg-type]
    return Extent().pose_wider_than(evaluation.ledger, subject, limit)


def _length(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = _things(evaluation, program)
    problem = obstacle(evaluation.ledger, [subject], whole=True, oriented=True)
    if problem is not None:
        return problem
    fact = evaluation.ledger.fact(f"extent.{Axis.SUPERIOR_INFERIOR}", subject.structure)
    if "islands" in fact.flags:
        return ISLANDS
    limit = evaluation.ledger.recipe.truth.length_half_width
    return _number(evaluation, [subject], fact, limit, ("scale", "slice_order"))


def _centre_distance(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    a, b = _things(evaluation, program)
    problem = _of_two(evaluation, a, b) or obstacle(
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
    shown = quantity(value, "mm")
    return compose(
        evaluation.ledger,
        subjects,
        text="",
        answer=Number(value, "mm", (low, high)),
        facts=(fact,),
        steps=(measure_step(f"It measures {shown}.", fact),),
        conclusion=f"It is {shown}.",
        needs=needs,
        difficulty=2.0 * value / max(1e-6, high - low),
    )


def _level(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = _things(evaluation, program)
    return Level().pose_at(evaluation.ledger, subject, "centre")


def _side(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    (subject,) = _things(evaluation, program)
    if not subject.term.is_pathology:
        return NotAsked("the names give the side away")
    return LesionSide().pose_of(evaluation.ledger, subject)


def _rank(evaluation: Evaluation, program: Expr) -> Posed | NotAsked:
    return _ordered(evaluation, program, "volume", "mL", "")


_CONCLUDE: dict[str, Callable[[Evaluation, Expr], Posed | NotAsked]] = {
    "which": _which,
    "any": _any,
    "count": _count,
    "is_touching": _is_touching,
    "is_within": _is_within,
    "is_on": _is_on,
    "is_beyond": _is_beyond,
    "same": _same,
    "larger": _larger,
    "wider": _wider,
    "closer": _closer,
    "reaches_higher": _reaches_higher,
    "reaches_lower": _reaches_lower,
    "rank": _rank,
    "volume": _volume,
    "volume_exceeds": _volume_exceeds,
    "diameter": _diameter,
    "diameter_exceeds": _diameter_exceeds,
    "length": _length,
    "gap": _gap,
    "centre_distance": _centre_distance,
    "level": _level,
    "side": _side,
}
"""Question → how it is concluded; a test holds it to the operators of the language."""
