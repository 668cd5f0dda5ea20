"""The programs that a patient's structures and lesions give rise to, as a radiologist would ask
them.

Which structures a lesion or an organ is held against says the table of relevance and neighbours;
distances are the recipe's. Everything that the language can say is more than anybody would ask.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from situs.anatomy import are_continuous, is_sided_lesion, measured, reaching
from situs.base.files import digest
from situs.facts import Ledger
from situs.items.masks.shared import by_canonical, own_organ, relevant_to
from situs.items.programs.expression import Expr, name_of
from situs.items.subjects import Subject

__all__ = ["programs_of"]

_BEARINGS = ("organ", "vessel", "tract")
_UPRIGHT = ("anterior", "posterior", "superior", "inferior")
"""Directions in which lesions of one organ are told apart;
left and right are asked for as sides."""
_MOST_PAIRS = 24
"""Pairs of structures that one thing is held against, about."""
_STRUCTURES = Expr("structures", ("structures",))


def programs_of(ledger: Ledger, subjects: list[Subject]) -> Iterator[Expr]:
    """Every program of the patient, in a stable order."""
    bearings = [s for s in subjects if s.term.kind in _BEARINGS]
    for lesion in (s for s in subjects if s.is_lesion):
        around = [
            name_of(s.key)
            for s in relevant_to(ledger, lesion, bearings)
            if not own_organ(ledger, lesion, s)
        ]
        family = lesion.key.partition(":")[2]
        for one, other in _some_pairs(around):
            yield Expr("closer", (_largest(family), one, other))
        yield from _around_lesion(_largest(family), _limits(ledger))
        if len(ledger.families[family]) > 1:
            sided = is_sided_lesion(ledger.terms[lesion.structure])
            yield from _about_several(family, around, _limits(ledger), sided=sided)
    for organ in (s for s in bearings if s.term.kind == "organ" and measured(s.term).limits_ml):
        near = [s for s in bearings if s.term.canonical in organ.term.neighbours]
        yield from _about_organ(organ, near)
    for subject in subjects:
        ends = measured(subject.term)
        for op, is_asked in (("top_level", ends.top), ("bottom_level", ends.bottom)):
            if is_asked:
                yield Expr(op, (name_of(subject.key),))
    yield from _ends_of_pairs(subjects)


def _limits(ledger: Ledger) -> tuple[float, ...]:
    return tuple(float(limit) for limit in ledger.recipe.truth.within_limits_mm)


def _largest(family: str) -> Expr:
    return Expr("largest", (Expr("lesions", (family,)),))


def _beside(thing: Expr, directions: Iterable[str]) -> Iterator[Expr]:
    """What lies next to a lesion or an organ in a direction."""
    for direction in directions:
        group = Expr("beyond", (direction, _STRUCTURES, thing))
        yield Expr("which", (Expr("nearest", (group, thing)),))


def _about_organ(organ: Subject, near: list[Subject]) -> Iterator[Expr]:
    """How large an organ is, at which level it lies, and what it touches; each pair one way round.

    How far named organs lie apart, and which of two is closer, nobody asks.
    """
    thing = name_of(organ.key)
    yield Expr("volume", (thing,))
    yield Expr("level", (thing,))
    yield from _beside(thing, ("anterior", "posterior"))
    for direction in _UPRIGHT:
        yield Expr("which", (Expr("most", (direction, Expr("touching", (_STRUCTURES, thing)))),))
    for other in near:
        is_first = organ.key < other.key or not measured(other.term).limits_ml
        if is_first and not are_continuous(organ.term, other.term):
            yield Expr("is_touching", (thing, name_of(other.key)))


def _ends_of_pairs(subjects: list[Subject]) -> Iterator[Expr]:
    """Which of two reaches further up or down, where readers compare them so."""
    known = by_canonical(subjects)
    for entry in reaching():
        if all(name in known for name in entry.of):
            pair = _in_drawn_order(*(name_of(known[name].key) for name in entry.of))
            yield Expr("reaches_higher" if entry.end == "top" else "reaches_lower", pair)


def _around_lesion(lesion: Expr, limits: Iterable[float]) -> Iterator[Expr]:
    """What lies beside a lesion, and where the structures lie that it comes near."""
    yield from _beside(lesion, _UPRIGHT)
    groups = [Expr("within", (_STRUCTURES, lesion, limit)) for limit in limits]
    groups.append(Expr("touching", (_STRUCTURES, lesion)))
    for group, direction in itertools.product(groups, _UPRIGHT):
        yield Expr("which", (Expr("most", (direction, group)),))


def _about_several(
    family: str, around: list[Expr], limits: tuple[float, ...], *, sided: bool
) -> Iterator[Expr]:
    """How the lesions of one kind lie to each other and to the structures around them."""
    lesions = Expr("lesions", (family,))
    largest, second = _largest(family), Expr("second_largest", (lesions,))
    extremes = {d: Expr("most", (d, lesions)) for d in _UPRIGHT}
    for structure in around:
        groups = [Expr("within", (lesions, structure, limit)) for limit in limits]
        groups.append(Expr("touching", (lesions, structure)))
        for group in groups:
            yield Expr("any", (group,))
            yield Expr("count", (group,))
        yield from (Expr("is_within", (second, structure, limit)) for limit in limits)
        nearest = Expr("nearest", (lesions, structure))
        yield Expr("same", (largest, nearest))
        yield Expr("diameter", (nearest,))
    for direction, extreme in extremes.items():
        yield Expr("same", (largest, extreme))
        yield Expr("diameter", (extreme,))
        if direction in ("superior", "inferior"):
            yield Expr("level", (extreme,))
    yield Expr("larger", (extremes["superior"], extremes["inferior"]))
    yield Expr("larger", (extremes["anterior"], extremes["posterior"]))
    yield Expr("volume", (second,))
    if sided:
        for side in ("left", "right"):
            yield Expr("count", (Expr("on", (side, lesions)),))
            yield Expr("any", (Expr("on", (side, lesions)),))
        yield Expr("side", (second,))
        yield from (Expr("side", (extremes[d],)) for d in ("superior", "inferior"))


def _some_pairs(around: list[Expr]) -> Iterator[tuple[Expr, Expr]]:
    """Pairs of structures; of too many, the same few for all patients that have them."""
    pairs = list(itertools.combinations(around, 2))
    share = _MOST_PAIRS / max(1, len(pairs))
    for one, other in pairs:
        if share >= 1.0 or _draw(one, other) < share:
            yield _in_drawn_order(one, other)


def _in_drawn_order(one: Expr, other: Expr) -> tuple[Expr, Expr]:
    """Which comes first is drawn, so that the order of names tells nothing."""
    return (one, other) if int(_draw(one, other) * 2**20) % 2 else (other, one)


def _draw(one: Expr, other: Expr) -> float:
    """A number from 0 to 1 that only the two decide."""
    return int(digest(str(one), str(other), size=8), 16) / 2**64
