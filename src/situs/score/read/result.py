"""What a reader of replies answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

__all__ = ["CONTRADICTION", "INFERRED", "Parsed", "RefusedInWords", "Result", "Unparsed"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """The reply gives this answer."""

    value: T
    flags: tuple[str, ...] = ()
    """What a careful reader should know, e.g. `unit_missing`."""


@dataclass(frozen=True, slots=True)
class Unparsed:
    """The reply gives no answer that can be told with certainty."""

    reason: str


@dataclass(frozen=True, slots=True)
class RefusedInWords:
    """The reply says that it will not or cannot answer."""


Result: TypeAlias = Parsed[T] | Unparsed | RefusedInWords

CONTRADICTION = Unparsed("contradictory answers")
INFERRED = frozenset({"scale_inferred", "order_inferred", "frame_base_inferred"})
"""Flags of answers that were read otherwise than the profile declares,
because they cannot be meant so."""
