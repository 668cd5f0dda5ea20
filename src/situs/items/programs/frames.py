"""Sentences that are built alike: a relation, comparison, measure or place says what is its own,
and the frames make every sentence of it.

So a way to ask that is written once is known for every operator that it suits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

__all__ = ["Frames", "Sentences", "widened"]

Parts = Mapping[str, str]
"""What an operator says of its own: `does` → pattern."""


class Frames(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"is_": "is"}):
    """The sentences of each kind, with their gaps."""

    is_: tuple[str, ...]
    any: tuple[str, ...]
    count: tuple[str, ...]
    group: tuple[str, ...]
    group_p: tuple[str, ...]
    two: tuple[str, ...]
    two_by: tuple[str, ...]
    """For a comparison that has a `basis` which may stand apart: `by volume`."""
    number: tuple[str, ...]
    exceeds: tuple[str, ...]
    level: tuple[str, ...]
    which: tuple[str, ...]


class Sentences(Protocol):
    """What fills the frames, by operator."""

    @property
    def frames(self) -> Frames: ...
    @property
    def relation(self) -> dict[str, dict[str, str]]: ...
    @property
    def comparison(self) -> dict[str, dict[str, str]]: ...
    @property
    def measure(self) -> dict[str, dict[str, str]]: ...
    @property
    def place(self) -> dict[str, dict[str, str]]: ...
    @property
    def superlative(self) -> dict[str, dict[str, str]]: ...


def _of_relations(made: Sentences, takes: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Patterns by place: `op.is_touching`, `any.touching`, `count.touching`, `op.touching`."""
    patterns = {}
    for name, parts in made.relation.items():
        subject = takes[name].index("group") + 1
        slots = {"S": f"{{{subject}}}", "Sp": f"{{{subject}p}}"}
        for place, frames in (
            (f"op.is_{name}", made.frames.is_),
            (f"any.{name}", made.frames.any),
            (f"count.{name}", made.frames.count),
            (f"op.{name}", made.frames.group),
            (f"op.{name}_p", made.frames.group_p),
        ):
            patterns[place] = _filled(frames, parts, slots)
    return patterns


def _of_comparisons(made: Sentences) -> dict[str, list[str]]:
    patterns = {}
    for name, parts in made.comparison.items():
        slots = {"F": parts["first"], "G": parts["second"]}
        apart = made.frames.two_by if "basis" in parts else ()
        patterns[f"op.{name}"] = _filled((*made.frames.two, *apart), parts, slots)
    return patterns


def _of_measures(made: Sentences, ops: Sequence[str]) -> dict[str, list[str]]:
    patterns = {}
    for name, parts in made.measure.items():
        patterns[f"op.{name}"] = _filled(made.frames.number, parts, {})
        if f"{name}_exceeds" in ops:
            patterns[f"op.{name}_exceeds"] = _filled(made.frames.exceeds, parts, {})
    return patterns


def _of_places(made: Sentences) -> dict[str, list[str]]:
    return {
        f"op.{name}": _filled(made.frames.level, parts, {}) for name, parts in made.place.items()
    }


def _of_superlatives(made: Sentences, takes: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    patterns = {}
    for name, parts in made.superlative.items():
        group = takes[name].index("group") + 1
        slots = {"G": f"{{{group}}}", "Gp": f"{{{group}p}}"}
        patterns[f"which.{name}"] = _filled(made.frames.which, parts, slots)
    return patterns


def widened(made: Sentences, takes: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Every pattern that the frames make, by the place in the file that it belongs to.

    `takes`: operator → the types of its arguments.
    """
    return {
        **_of_relations(made, takes),
        **_of_comparisons(made),
        **_of_measures(made, tuple(takes)),
        **_of_places(made),
        **_of_superlatives(made, takes),
    }


def _filled(frames: Sequence[str], parts: Parts, slots: Parts) -> list[str]:
    """The frames with an operator's own parts, which may name each other, and its slots."""

    def part(match: re.Match[str]) -> str:
        return parts.get(match[1], match[0])

    patterns = []
    for text in frames:
        for _ in range(2):
            text = re.sub(r"<(\w+)>", part, text)
        patterns.append(re.sub(r"\{(S|Sp|F|G|Gp)\}", lambda m: slots[m[1]], text))
    return patterns
