"""The shape of a program: what it asks, whichever structures, lesions and numbers it is about."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

from situs.items.programs.expression import FILTERS, NUMBERS, PICKS, Expr
from situs.items.programs.language import load_language

__all__ = ["all_shapes", "phrases", "shape_of", "slots_of"]

_THING_SLOTS = "ABCDE"


def shape_of(program: Expr) -> Expr:
    """The program with slots for its things ({A}, {B}, …), its kind of lesion ({F}) and its number
    ({X}).

    The same thing takes the same slot, so that a wording may speak of it as `it`.
    """
    return _shape_and_slots(program)[0]


def slots_of(program: Expr) -> dict[str, Expr | str | float]:
    """What stands in each slot of the program's shape."""
    return _shape_and_slots(program)[1]


def _shape_and_slots(program: Expr) -> tuple[Expr, dict[str, Expr | str | float]]:
    slots: dict[str, Expr | str | float] = {}

    def slot_for(value: Expr) -> Expr:
        known = next((slot for slot, other in slots.items() if other == value), None)
        slot = known or _THING_SLOTS[sum(name in _THING_SLOTS for name in slots)]
        slots[slot] = value
        return Expr("slot", (slot,))

    def walk(expr: Expr, wanted: str) -> Expr:
        if wanted in ("thing", "plain"):
            return slot_for(expr)
        takes = load_language().op[expr.op].takes
        args: list[Expr | str | float] = []
        for arg, kind in zip(expr.args, takes):
            if kind in NUMBERS or kind == "family":
                slot = "F" if kind == "family" else "X"
                slots[slot] = arg
                args.append(Expr("slot", (slot,)))
            else:
                args.append(walk(arg, kind) if isinstance(arg, Expr) else arg)
        return Expr(expr.op, tuple(args))

    return walk(program, "question"), slots


@functools.cache
def all_shapes() -> tuple[Expr, ...]:
    """Every shape of the language, in a fixed order:
    all questions, with every filter, pick, direction and side."""
    return tuple(_questions())


def _questions() -> Iterator[Expr]:
    language = load_language()
    for name, operator in language.op.items():
        if operator.gives != "question":
            continue
        slots = iter(_THING_SLOTS)
        choices = [_values(kind, name, slots) for kind in operator.takes]
        for args in itertools.product(*choices):
            # The nearest to what a group was filtered against is asked with that thing in both
            # places.
            yield shape_of(Expr(name, args)) if name == "which" else Expr(name, args)


def _values(kind: str, op: str, slots: Iterator[str]) -> Sequence[Expr | str | float]:
    language = load_language()
    if kind in ("thing", "plain"):
        return [Expr("slot", (next(slots),))]
    if kind in NUMBERS:
        return [Expr("slot", ("X",))]
    if kind in ("direction", "side"):
        return list(getattr(language, kind))
    lesions = Expr("lesions", (Expr("slot", ("F",)),))
    if kind == "lesions":
        base = [] if op == "any" else [lesions]
        return [*base, *_filtered(lesions, Expr("slot", ("A",)))]
    return list(_rankings())


def _filtered(group: Expr, against: Expr) -> Iterator[Expr]:
    """The group, filtered in every way against a thing."""
    language = load_language()
    for name in FILTERS:
        takes = language.op[name].takes
        values: dict[str, list[Expr | str | float]] = {
            "group": [group],
            "plain": [against],
            "mm": [Expr("slot", ("X",))],
            "side": [*language.side],
            "direction": [*language.direction],
        }
        for args in itertools.product(*(values[kind] for kind in takes)):
            yield Expr(name, args)


def _rankings() -> Iterator[Expr]:
    a, b = Expr("slot", ("A",)), Expr("slot", ("B",))
    for klass in load_language().klass:
        base = Expr("structures", (klass,))
        for group in (base, *_filtered(base, a)):
            targets = [a] if group is base or group.op == "on" else [a, b]
            yield from phrases(group, targets)


def phrases(group: Expr, targets: Sequence[Expr]) -> Iterator[Expr]:
    """Every pick from a group, the nearest to each of the targets."""
    for name in PICKS:
        if name == "nearest":
            yield from (Expr(name, (group, target)) for target in targets)
        elif name == "most":
            yield from (Expr(name, (d, group)) for d in load_language().direction)
        else:
            yield Expr(name, (group,))
