"""What a program's things and groups are in one patient, by facts that hold over their whole
intervals.

Every operator has three outcomes: it holds, it does not, or it cannot be told. A member of a group
stays *open* where it cannot be told whether it belongs; a pick stands only if it beats the open
members too. So an answer that is composed of several steps is as sure as one of a single step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

from situs.anatomy import is_part, near_lesion, term
from situs.facts import Fact, Ledger, number, span
from situs.items.masks.relations import Decided, beyond, on_side, touches, unseen_facts, within
from situs.items.masks.shared import ALIKE, CUT, measure_step, own_organ
from situs.items.posed import NotAsked, quantity, share_words
from situs.items.programs.expression import FILTERS, PICKS, Expr
from situs.items.programs.names import Names
from situs.items.programs.saying import phrase
from situs.items.record import Step
from situs.items.subjects import Subject, resolve, world_box
from situs.space import Direction, Side

__all__ = ["Evaluation", "Group", "Undecided", "names_of", "subject_key"]

_KINDS = {
    "structures": ("organ", "vessel", "tract"),
    "organs": ("organ", "tract"),
    "vessels": ("vessel",),
}
_NEEDS = {
    "left": "side_convention",
    "right": "side_convention",
    "anterior": "view_convention",
    "posterior": "view_convention",
    "superior": "slice_order",
    "inferior": "slice_order",
}
_NONE = NotAsked("nothing in this patient fits the description")
_ONLY = NotAsked("too few to choose from")
_OPEN = NotAsked("whether one of them belongs cannot be told")
_CLOSE = NotAsked("too alike to say which one is meant")
_NOT_ALL = NotAsked("annotation not declared exhaustive")


class Undecided(Exception):
    """Something that a program needs cannot be told; the reason is counted."""

    def __init__(self, reason: NotAsked) -> None:
        super().__init__(reason.reason)
        self.reason = reason


class Group(NamedTuple):
    """The members of a group in one patient, by their structures' names."""

    certain: list[str]
    open: list[str]
    """Those of which it cannot be told whether they belong."""

    @property
    def possible(self) -> list[str]:
        """All that may belong."""
        return [*self.certain, *self.open]


_NAMES: WeakKeyDictionary[Ledger, Names] = WeakKeyDictionary()


def names_of(ledger: Ledger) -> Names:
    """What the structures and lesions of a series are called."""
    if ledger not in _NAMES:
        families = {family: ledger.family_term(family) for family in ledger.families}
        _NAMES[ledger] = Names.of_terms(ledger.terms.values(), families)
    return _NAMES[ledger]


def subject_key(expr: Expr) -> str | None:
    """How the other tasks name a plain thing:
    `aorta`, `largest:liver_lesion`; None for all else."""
    if expr.op == "name":
        return str(expr.args[0])
    role = {"largest": "largest", "second_largest": "second"}.get(expr.op)
    if role is None or expr.group.op != "lesions" or isinstance(expr.group.args[0], Expr):
        return None
    return f"{role}:{expr.group.args[0]}"


class Evaluation:
    """One program in one patient; collects facts, steps and needs on the way."""

    def __init__(self, ledger: Ledger, program: Expr) -> None:
        self.ledger = ledger
        self.program = program
        self.names = names_of(ledger)
        self.facts: list[Fact] = []
        self.steps: list[Step] = []
        self.needs: list[str] = []
        self.margins: list[float] = []

    def thing(self, expr: Expr) -> Subject:
        """The structure that a thing is in this patient.

        KeyError if it has none; Undecided if it cannot be told.
        """
        key = subject_key(expr)
        if key is None:
            return self.pick(expr)
        subject = resolve(self.ledger, key)
        if any("unstable" in fact.flags for fact in subject.evidence):
            raise Undecided(ALIKE)
        return subject

    def pick(self, expr: Expr) -> Subject:
        """The member of a group that a pick means."""
        group = self.group(expr.group)
        if not group.certain:
            raise Undecided(_OPEN if group.open else _NONE)
        # `the most anterior liver lesion` of a patient with one lesion is no description.
        if len(group.possible) < 2:
            raise Undecided(_ONLY)
        chosen, facts = _CHOOSE[expr.op](self, expr, group)
        self.facts += facts
        words = phrase(expr, self.names)
        self.steps.append(
            Step("compare", f"Of these, find {words}.", tuple(f.fact_id for f in facts))
        )
        if self.ledger.family(chosen) is None:
            return resolve(self.ledger, chosen)
        return Subject(chosen, words, chosen, self.ledger.terms[chosen], tuple(facts))

    def group(self, expr: Expr) -> Group:
        """The members of a group, and those that may be."""
        base = expr.group if expr.op in FILTERS else expr
        members = self.lesions(base) if base.op == "lesions" else self.structures(base)
        if expr.op not in FILTERS:
            return Group(members, [])
        decide = self._decider(expr)
        certain, undecided = [], []
        for name in members:
            outcome = decide(name)
            if isinstance(outcome, NotAsked):
                undecided.append(name)
            else:
                self._note(name, outcome, expr)
                if outcome.holds:
                    certain.append(name)
        return Group(certain, undecided)

    def lesions(self, base: Expr) -> list[str]:
        """All lesions of a kind, where the annotation has them all. KeyError if there is none."""
        family = str(base.args[0])
        names = self.ledger.families[family]
        terms = self.ledger.terms
        if not (self.ledger.exhaustive or all(terms[name].exhaustive for name in names)):
            raise Undecided(_NOT_ALL)
        count = self.ledger.fact("lesion_count", family)
        if "unstable" in count.flags or len(names) > self.ledger.recipe.truth.count_most:
            raise Undecided(NotAsked("number of lesions not certain"))
        self.facts.append(count)
        return list(names)

    def structures(self, base: Expr) -> list[str]:
        """The structures around what the program is about:
        those that someone would hold it against."""
        kinds = _KINDS[str(base.args[0])]
        ledger = self.ledger
        named = [n for n in ledger.structures if ledger.terms[n].kind in kinds]
        for anchor in self._anchors():
            named = [n for n in named if _is_beside(ledger, anchor, n)]
        return named

    def _anchors(self) -> Iterator[Subject]:
        """What the structures of a ranking are held against."""
        for part in self.program.parts():
            if part.op in (*FILTERS, *PICKS):
                things = (
                    a for a in part.args if isinstance(a, Expr) and subject_key(a) is not None
                )
                yield from map(self.thing, things)

    def _decider(self, expr: Expr) -> Callable[[str], Decided | NotAsked]:
        """Whether a structure passes a filter."""
        ledger = self.ledger
        if expr.op == "on":
            self.needs.append("side_convention")
            side = Side(str(expr.args[0]))
            return lambda name: on_side(ledger, side, name)
        against = self.thing(next(a for a in expr.args if isinstance(a, Expr) and a != expr.group))
        if expr.op == "touching":
            return lambda name: touches(ledger, name, against.structure)
        if expr.op == "within":
            self.needs.append("scale")
            limit = float(expr.args[2])  # type: ignore[arg-type]
            return lambda name: within(ledger, name, against.structure, limit)
        direction = Direction(str(expr.args[0]))
        self.needs.append(_NEEDS[direction])
        return lambda name: beyond(ledger, direction, name, against.structure)

    def _note(self, name: str, outcome: Decided, expr: Expr) -> None:
        """A member that was decided, as a step."""
        decisive = outcome.facts[0]
        self.facts += outcome.facts
        if outcome.margin is not None:
            self.margins.append(outcome.margin)
        is_lesion = self.ledger.family(name) is not None
        who = "One of them" if is_lesion else _opening(self.names.thing(name))
        threshold = float(expr.args[2]) if expr.op == "within" else None  # type: ignore[arg-type]
        words = {
            "touching": (
                f"{who} shares {quantity(number(decisive), decisive.unit)} of surface with it."
            ),
            "within": f"{who} is {quantity(number(decisive), decisive.unit)} away.",
            "on": (
                f"Of {who[0].lower()}{who[1:]}, {share_words(number(decisive)).lower()} lies right"
                " of the midline."
            ),
            "beyond": (
                f"{who} is centred {quantity(abs(number(decisive)), decisive.unit)} from it along"
                " that axis."
            ),
        }[expr.op]
        box = world_box(self.ledger, Subject(name, "", name, self.ledger.terms[name]))
        step = measure_step(words, decisive, threshold)
        self.steps.append(Step(step.kind, step.text, step.fact_ids, (box,), step.value))


def _opening(words: str) -> str:
    return words[0].upper() + words[1:]


def _is_beside(ledger: Ledger, anchor: Subject, name: str) -> bool:
    """Whether a structure is one that the anchor is held against:
    around its organ, and no part or whole of it."""
    other = resolve(ledger, name)
    # A structure stands for its partner too: in a mirrored patient the spleen lies beside the right
    # kidney.
    called = {other.term.canonical, term(other.term.canonical).mirrored_name}
    if anchor.term.is_pathology:
        near = near_lesion(ledger.terms[anchor.structure])
        if near is not None and other.term.canonical and near.isdisjoint(called):
            return False
        return not own_organ(ledger, anchor, other)
    if name == anchor.structure or is_part(other.term, anchor.term, ledger.terms):
        return False
    partner = term(anchor.term.canonical).mirrored_name
    neighbours = {*anchor.term.neighbours, *(term(partner).neighbours if partner else ())}
    return not neighbours or not other.term.canonical or not neighbours.isdisjoint(called)


def _by_volume(evaluation: Evaluation, group: Group) -> list[tuple[str, Fact]]:
    facts = {name: evaluation.ledger.fact("volume", name) for name in group.possible}
    return sorted(facts.items(), key=lambda pair: (-number(pair[1]), pair[0]))


def _largest(evaluation: Evaluation, expr: Expr, group: Group) -> tuple[str, list[Fact]]:
    order = _by_volume(evaluation, group)
    first = order[0]
    if first[0] not in group.certain:
        raise Undecided(_OPEN)
    if any(span(first[1])[0] <= span(fact)[1] for _, fact in order[1:]):
        raise Undecided(_CLOSE)
    return first[0], [fact for _, fact in order]


def _second_largest(evaluation: Evaluation, expr: Expr, group: Group) -> tuple[str, list[Fact]]:
    order = _by_volume(evaluation, group)
    if group.open:
        raise Undecided(_OPEN)
    for (_, larger), (_, smaller) in itertools.pairwise(order[:2]):
        if span(larger)[0] <= span(smaller)[1]:
            raise Undecided(_CLOSE)
    if any(span(order[1][1])[0] <= span(fact)[1] for _, fact in order[2:]):
        raise Undecided(_CLOSE)
    return order[1][0], [fact for _, fact in order]


def _nearest(evaluation: Evaluation, expr: Expr, group: Group) -> tuple[str, list[Fact]]:
    ledger = evaluation.ledger
    to = evaluation.thing(next(a for a in expr.args if isinstance(a, Expr) and a != expr.group))
    facts = {name: ledger.fact("main_gap", name, to.structure) for name in group.possible}
    order = sorted(facts, key=lambda name: (number(facts[name]), name))
    if order[0] not in group.certain:
        raise Undecided(_OPEN)
    if number(facts[order[0]]) > ledger.recipe.truth.far_gap_mm:
        raise Undecided(NotAsked("too far apart to be asked about"))
    margin = min(span(facts[name])[0] for name in order[1:]) - span(facts[order[0]])[1]
    if margin <= 0:
        raise Undecided(_CLOSE)
    # What goes on beyond the scan may come nearer there.
    proofs: list[Fact] = []
    for name in order[1:]:
        unseen = unseen_facts(ledger, name, to.structure, beyond_mm=span(facts[order[0]])[1])
        if unseen is None:
            raise Undecided(CUT)
        proofs += unseen
    return order[0], [*(facts[name] for name in order), *proofs]


def _most(evaluation: Evaluation, expr: Expr, group: Group) -> tuple[str, list[Fact]]:
    ledger, direction = evaluation.ledger, Direction(str(expr.args[0]))
    evaluation.needs.append(_NEEDS[direction])
    axis = direction.axis.world_index
    centres = {name: ledger.main_region(name).centroid_mm[axis] for name in group.possible}
    first = max(sorted(centres), key=lambda name: direction.sign * centres[name])
    if first not in group.certain:
        raise Undecided(_OPEN)
    facts: list[Fact] = []
    for name in sorted(centres):
        if name != first:
            outcome = beyond(ledger, direction, first, name)
            if isinstance(outcome, NotAsked):
                raise Undecided(outcome if outcome is CUT else _CLOSE)
            facts += outcome.facts
    return first, facts


_CHOOSE: dict[str, Callable[[Evaluation, Expr, Group], tuple[str, list[Fact]]]] = {
    "largest": _largest,
    "second_largest": _second_largest,
    "nearest": _nearest,
    "most": _most,
}
