"""Comparing what is stored with what was derived anew."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

import msgspec

from situs.errors import SitusError
from situs.facts import Fact
from situs.items import Item, right_options

__all__ = ["SomeLedger", "fact_problems", "item_differences", "same"]

_RELATIVE = 1e-9
"""Two measurements of the same voxels may differ by this, and no more."""


class SomeLedger(Protocol):
    """Whatever derives facts from evidence."""

    def fact(self, kind: str, *subjects: str) -> Fact:
        """A fact by kind and subjects."""


def fact_problems(fact: Fact, ledger: SomeLedger) -> Iterator[str]:
    """How a stored fact differs from the one that the evidence gives."""
    try:
        anew = ledger.fact(fact.kind, *fact.subjects)
    except (SitusError, KeyError, IndexError, TypeError, ValueError):
        yield f"{fact.kind} of {', '.join(fact.subjects)} cannot be derived"
        return
    if anew.fact_id != fact.fact_id:
        yield "its id does not match its kind and subjects"
    if not same(anew.value, fact.value):
        yield f"{fact.kind} of {', '.join(fact.subjects)} is {anew.value}, stored as {fact.value}"
    if not same(anew.interval, fact.interval):
        yield (
            f"interval of {fact.kind} of {', '.join(fact.subjects)} is {anew.interval}, stored as"
            f" {fact.interval}"
        )
    if (anew.unit, anew.flags, anew.derivation) != (fact.unit, fact.flags, fact.derivation):
        yield f"unit, flags or derivation of {fact.kind} of {', '.join(fact.subjects)} differ"


def item_differences(item: Item, anew: Item) -> Iterator[str]:
    """How a stored item differs from the one that is posed anew with all its possible options."""
    if not _same_records(anew.answer, item.answer):
        yield f"the answer is {_answer_json(anew)}, stored as {_answer_json(item)}"
    for name in ("question", "fact_ids", "needs", "tags", "level", "frames", "twin_of"):
        if getattr(anew, name) != getattr(item, name):
            yield f"its {name} is not what the task writes"
    for name in ("steps", "boxes"):
        if not _same_records(getattr(anew, name), getattr(item, name)):
            yield f"its {name} are not what the facts give"
    if not same(anew.difficulty, item.difficulty):
        yield "its difficulty is not what the facts give"
    yield from _option_problems(item, anew)


def _option_problems(item: Item, anew: Item) -> Iterator[str]:
    possible = {option.value: option.text for option in anew.options}
    values = [option.value for option in item.options]
    for option in item.options:
        if possible.get(option.value) != option.text:
            yield f"option {option.value!r} reads {option.text!r}, which the task does not offer"
    if len(set(values)) != len(values):
        yield "an option occurs twice"
    if not right_options(item.answer) <= set(values):
        yield "its answer is not among its options"
    if anew.options and len(values) < 2:
        yield "has fewer than two options"


_ENCODER = msgspec.msgpack.Encoder(order="deterministic")


def _same_records(a: object, b: object) -> bool:
    """`same` of records. Nearly all are equal to the last bit, which their bytes tell at once."""
    if _ENCODER.encode(a) == _ENCODER.encode(b):
        return True
    return same(msgspec.to_builtins(a), msgspec.to_builtins(b))


def _answer_json(item: Item) -> str:
    return msgspec.json.encode(item.answer).decode()


def same(a: object, b: object) -> bool:
    """Equal, numbers to within rounding; true and 1 are different."""
    if (
        isinstance(a, float | int)
        and isinstance(b, float | int)
        and not (isinstance(a, bool) or isinstance(b, bool))
    ):
        return math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=1e-9)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b
