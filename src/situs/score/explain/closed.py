"""Signatures in answers with options:
which wrong option the exchange of sides, a neighbour or the prior would give."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from situs.anatomy import canonical_name, term
from situs.facts import LEVELS, Fact, marked_structures
from situs.items import Choice, Item, Simple, YesNo, marks_of
from situs.score.explain.causes import Cause
from situs.space import Axis, Direction, WorldBox

__all__ = ["Test", "closed_tests", "exchanged", "offered_values", "wrong_values"]

Test = Callable[[str], bool]
"""Whether an answer value shows a cause."""

CAUSE_OF_AXIS = {
    Axis.LEFT_RIGHT: Cause.MIRRORED,
    Axis.SUPERIOR_INFERIOR: Cause.UP_DOWN,
    Axis.ANTERIOR_POSTERIOR: Cause.FRONT_BACK,
}
_WORDS = {
    Axis.LEFT_RIGHT: (("left", "right"), ("medial", "lateral")),
    Axis.SUPERIOR_INFERIOR: (
        ("superior", "inferior"),
        ("upper", "lower"),
        ("top", "bottom"),
        ("above", "below"),
        ("cranial", "caudal"),
        ("proximal", "distal"),
    ),
    Axis.ANTERIOR_POSTERIOR: (
        ("anterior", "posterior"),
        ("front", "back"),
        ("ventral", "dorsal"),
    ),
}
_SWAPS = {
    axis: dict(pair for one, other in words for pair in ((one, other), (other, one)))
    for axis, words in _WORDS.items()
}
_LEVEL_PLACES = {name: place for place, name in enumerate(LEVELS)}
_NUMBERED = re.compile(r"(?P<stem>.*?)(?P<number>\d+)(?P<rest>\D*)")


def exchanged(value: str, axis: Axis) -> str | None:
    """An option value with the two ends of an axis exchanged; None if it names neither end."""
    parts = re.split(r"([>+])", value)
    swapped = "".join(part if part in (">", "+") else _exchanged_name(part, axis) for part in parts)
    return swapped if swapped != value else None


def _exchanged_name(name: str, axis: Axis) -> str:
    role, _, bare = name.rpartition(":")
    if axis is Axis.LEFT_RIGHT and canonical_name(bare) is not None:
        # The left atrium mirrored is no right atrium: such names have no exchange.
        return (
            f"{role}:{other}"
            if role and (other := term(bare).mirrored_name)
            else (term(bare).mirrored_name or name)
        )
    if axis is not Axis.LEFT_RIGHT and canonical_name(bare) is not None:
        return name
    words = _SWAPS[axis]
    return re.sub(r"[a-z]+", lambda match: words.get(match[0], match[0]), name)


def offered_values(item: Item) -> list[str]:
    """What can be said to a question with options."""
    return [option.value for option in item.options] or ["yes", "no"]


def wrong_values(item: Item, truth: Simple) -> list[str]:
    """Every offered value that is not right; empty where the answer is not one of options."""
    match truth:
        case YesNo(value):
            return ["no" if value else "yes"]
        case Choice(value, also_right):
            return [
                offered for offered in offered_values(item) if offered not in {value, *also_right}
            ]
        case _:
            return []


def closed_tests(
    item: Item, truth: Simple, facts: Mapping[str, Fact], prior: Iterable[str]
) -> dict[Cause, Test]:
    """For every cause that could show in this item: the test of an answer value.

    `facts` are the item's own, `prior` what other patients leave open.
    """
    tests: dict[Cause, Test] = {}
    if isinstance(truth, YesNo):
        for axis in _axes_asked(item):
            tests[CAUSE_OF_AXIS[axis]] = lambda said: True
    if isinstance(truth, Choice):
        for axis, cause in CAUSE_OF_AXIS.items():
            other = exchanged(truth.value, axis)
            if other is not None:
                tests[cause] = _equals(other)
        structure_of = _structures(item, facts.values())
        right = structure_of.get(truth.value, truth.value)
        touching = _touching(right, facts.values())
        tests[Cause.NEIGHBOUR] = lambda said: _are_neighbours(
            right, structure_of.get(said, said), touching
        )
    confident = list(prior)
    if len(confident) == 1:
        tests[Cause.PRIOR] = _equals(confident[0])
    return tests


def _equals(value: str) -> Test:
    return lambda said: said == value


def _axes_asked(item: Item) -> list[Axis]:
    """The axes whose exchange turns yes into no:
    that of the claim, or left–right where the two sides are compared."""
    claim = item.parameters.get("claim", "")
    if claim in set(Direction):
        return [Direction(claim).axis]
    named = [tag.removeprefix("axis:") for tag in item.tags if tag.startswith("axis:")]
    if named:
        return [Axis(name) for name in named if name in set(Axis)]
    a, b = item.parameters.get("a", ""), item.parameters.get("b", "")
    paired = (
        bool(a and b)
        and term(a).partner is not None
        and canonical_name(b) == canonical_name(term(a).partner or "")
    )
    return [Axis.LEFT_RIGHT] if paired else []


def _structures(item: Item, facts: Iterable[Fact]) -> dict[str, str]:
    """For marks: letter → the structure it lies in."""
    held: dict[str, str] = {}
    fact = next(
        (
            fact
            for fact in facts
            if fact.kind.startswith("marks.") and isinstance(fact.value, tuple)
        ),
        None,
    )
    if fact is None or not isinstance(fact.value, tuple):
        return held
    points = [fact.value[start : start + 3] for start in range(0, len(fact.value), 3)]
    inside = marked_structures(fact)
    for letter, box in marks_of(item).items():
        if isinstance(box, WorldBox):
            gaps = [sum((a - b) ** 2 for a, b in zip(point, box.lo_mm)) for point in points]
            held[letter] = inside[gaps.index(min(gaps))]
    return held


def _touching(name: str, facts: Iterable[Fact]) -> set[str]:
    """Structures that a fact of the item places against this one."""
    found: set[str] = set()
    for fact in facts:
        near = (
            fact.kind in ("main_gap", "surface_gap")
            and fact.interval is not None
            and fact.interval[0] <= 0
        )
        if near and name in fact.subjects:
            found.update(fact.subjects)
    return found - {name}


def _are_neighbours(right: str, said: str, touching: set[str]) -> bool:
    if said == right:
        return False
    if right in _LEVEL_PLACES and said in _LEVEL_PLACES:
        return abs(_LEVEL_PLACES[right] - _LEVEL_PLACES[said]) == 1
    if said in touching:
        return True
    one, other = canonical_name(right), canonical_name(said)
    if one is None or other is None or exchanged(one, Axis.LEFT_RIGHT) == other:
        return False
    return (
        other in term(one).neighbours or one in term(other).neighbours or _next_number(one, other)
    )


def _next_number(one: str, other: str) -> bool:
    """Ribs and vertebrae are numbered: T12 and L1 are levels, rib 11 and rib 12 differ by one."""
    a, b = _NUMBERED.fullmatch(one), _NUMBERED.fullmatch(other)
    if a is None or b is None:
        return False
    same = (a["stem"], a["rest"]) == (b["stem"], b["rest"])
    levels = [_LEVEL_PLACES.get(name.rpartition("_")[2]) for name in (one, other)]
    if levels[0] is not None and levels[1] is not None:
        return abs(levels[0] - levels[1]) == 1
    return same and abs(int(a["number"]) - int(b["number"])) == 1
