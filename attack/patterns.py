"""Every pattern of the program, searched in texts made of its own parts over and over.

A pattern that takes the square of a text's length hangs the program on some reply, report or file
name, whatever reads it.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
import re
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

__all__ = ["case"]

_SHORT, _LONG = 3_000, 12_000
_MOST_GROWTH = 9.0
"""Four times the text takes four times the work, or with the square sixteen times."""
_SECONDS = 0.05
"""Of work that is worth a look; what stays below at the longer length is quick whatever its growth."""
_TRIES = 6
_NEIGHBOURS = ("", "", " ", "1", "a", ",", "\n")


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """One pattern, and a few texts that nearly match it."""
    name, pattern = rng.choice(_patterns())
    tree = parser.parse(pattern.pattern, pattern.flags)
    parts = [tree, *_parts(tree)]
    for _ in range(_TRIES):
        unit = _text(rng, rng.choice(parts)) + rng.choice(_NEIGHBOURS)
        lead = _text(rng, tree)
        lead = lead[: rng.randint(0, len(lead))]
        if not unit:
            continue
        long = _seconds(pattern, lead, unit, _LONG)
        if long < _SECONDS:
            continue
        # Once more: another process may have been at work.
        long, short = (
            min(long, _seconds(pattern, lead, unit, _LONG)),
            _seconds(pattern, lead, unit, _SHORT),
        )
        if long > max(_SECONDS, _MOST_GROWTH * short):
            told = f"{short * 1000:.0f} ms, then {long * 1000:.0f} ms"
            return [f"{name}: {lead[:80]!r} + n × {unit[:80]!r}: {told}"]
    return []


def _seconds(pattern: re.Pattern[str], lead: str, unit: str, size: int) -> float:
    text = lead + unit * (size // len(unit))
    begun = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    return time.thread_time() - begun


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """All that stand in a module, by themselves or in a collection or record."""
    import situs

    for module in pkgutil.walk_packages(situs.__path__, "situs."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    known: dict[tuple[str, int], tuple[str, re.Pattern[str]]] = {}
    for name, loaded in sorted(sys.modules.items()):
        if name.split(".")[0] != "situs":
            continue
        for variable, value in sorted(vars(loaded).items(), key=lambda entry: entry[0]):
            for pattern in _within(value):
                known.setdefault((pattern.pattern, pattern.flags), (f"{name}.{variable}", pattern))
    return list(known.values())


def _within(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
        return
    if depth > 3 or isinstance(value, type):
        return
    inner: Iterable[Any] = ()
    if isinstance(value, list | tuple | set | frozenset):
        inner = value
    elif isinstance(value, dict):
        inner = value.values()
    else:
        fields = getattr(value, "__struct_fields__", None) or getattr(
            value, "__dataclass_fields__", ()
        )
        inner = [getattr(value, field, None) for field in fields]
    for part in inner:
        yield from _within(part, depth + 1)


def _inner(kind: Any, value: Any) -> list[Any]:
    """The parts of one element of a pattern."""
    if kind is kinds.BRANCH:
        return list(value[1])
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is kinds.ATOMIC_GROUP else []


def _parts(tree: Any) -> Iterator[Any]:
    for kind, value in tree:
        for part in _inner(kind, value):
            yield part
            yield from _parts(part)


def _text(rng: random.Random, tree: Any) -> str:
    """A text that the pattern, or a part of it, would match; what it looks back or ahead for is left out."""
    words = []
    for kind, value in tree:
        if kind is kinds.LITERAL:
            words.append(chr(value))
        elif kind is kinds.IN:
            words.append(_sign(rng, value))
        elif kind in (kinds.ANY, kinds.NOT_LITERAL):
            words.append(rng.choice("a1 ,"))
        elif kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            fewest, most, part = value
            times = min(most, fewest + rng.choice([0, 0, 1, 2]), 4)
            words += [_text(rng, part) for _ in range(times)]
        elif kind not in (kinds.ASSERT, kinds.ASSERT_NOT):
            inner = _inner(kind, value)
            words.append(_text(rng, rng.choice(inner)) if inner else "")
    return "".join(words)


_CLASSES = {
    kinds.CATEGORY_DIGIT: "17", kinds.CATEGORY_SPACE: " \n", kinds.CATEGORY_WORD: "a1", kinds.CATEGORY_NOT_SPACE: "a.",
    kinds.CATEGORY_NOT_WORD: " .", kinds.CATEGORY_NOT_DIGIT: "a,",
}  # fmt: skip


def _sign(rng: random.Random, listed: list[Any]) -> str:
    """A character of a set."""
    signs = ""
    for kind, value in listed:
        if kind is kinds.LITERAL:
            signs += chr(value)
        elif kind is kinds.RANGE:
            signs += chr(rng.randint(value[0], min(value[1], value[0] + 30)))
        elif kind is kinds.CATEGORY:
            signs += _CLASSES[value]
    if listed[0][0] is kinds.NEGATE:
        return rng.choice([sign for sign in "ab 1.,\n-(é" if sign not in signs] or ["\u2060"])
    return rng.choice(signs)
