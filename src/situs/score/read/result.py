"""What a reader of replies answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

__all__ = ["CONTRADICTION", "Parsed", "RefusedInWords", "Result", "Unparsed"]

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
