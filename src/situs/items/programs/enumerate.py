"""The programs that a patient's structures and lesions give rise to, as a radiologist would ask them.

Which structures a lesion or an organ is held against says the table of relevance and neighbours; distances are the
recipe's. Everything that the language can say is more than anybody would ask.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from situs.anatomy import is_sided_lesion, measured
from situs.base.files import digest
from situs.facts import Ledger
from situs.items.masks.shared import own_organ, relevant_to
from situs.items.programs.expression import Expr, name_of
from situs.items.subjects import Subject

__all__ = ["programs_of"]

_BEARINGS = ("organ", "vessel", "tract")
_UPRIGHT = ("anterior", "posterior", "superior", "inferior")
"""Directions in which lesions of one organ are told apart; left and right are asked for as sides."""
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
        yield from _about_one(_largest(family), around)
        yield from _around_lesion(_largest(family), _limits(ledger))
        if len(ledger.families[family]) > 1:
            sided = is_sided_lesion(ledger.terms[lesion.structure])
            yield from _about_several(family, around, _limits(ledger), sided=sided)
    for organ in bearings:
        near = [name_of(s.key) for s in bearings if s.term.canonical in organ.term.neighbours]
        if organ.term.kind == "organ" and measured(organ.term).limits_ml and len(near) > 1:
            yield from _about_one(name_of(organ.key), near)
            yield from _about_organ(name_of(organ.key), near, _limits(ledger))


def _limits(ledger: Ledger) -> tuple[float, ...]:
    return tuple(float(limit) for limit in ledger.recipe.truth.within_limits_mm)


def _largest(family: str) -> Expr:
    return Expr("largest", (Expr("lesions", (family,)),))


def _about_one(thing: Expr, around: list[Expr]) -> Iterator[Expr]:
    """What lies in front of, behind or near a lesion or an organ."""
    for direction in ("anterior", "posterior"):
        group = Expr("beyond", (direction, _STRUCTURES, thing))
        yield Expr("which", (Expr("nearest", (group, thing)),))
    for one, other in _some_pairs(around):
        yield Expr("closer", (thing, one, other))


def _about_organ(organ: Expr, near: list[Expr], limits: Iterable[float]) -> Iterator[Expr]:
    """At which level an organ lies, and whether it comes near its neighbours; each pair one way round."""
    yield Expr("level", (organ,))
    for other, limit in itertools.product(near, limits):
        if str(organ) < str(other):
            yield Expr("is_within", (organ, other, limit))


def _around_lesion(lesion: Expr, limits: Iterable[float]) -> Iterator[Expr]:
    """What lies above or below a lesion, and where the structures lie that it comes near."""
    for direction in ("superior", "inferior"):
        group = Expr("beyond", (direction, _STRUCTURES, lesion))
        yield Expr("which", (Expr("nearest", (group, lesion)),))
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
        draw = int(digest(str(one), str(other), size=8), 16) / 2**64
        if share >= 1.0 or draw < share:
            # Which comes first is drawn, so that the order of names tells nothing.
            yield (one, other) if int(draw * 2**20) % 2 else (other, one)
