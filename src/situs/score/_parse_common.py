"""What a parser answers, and the parts every parser shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from situs.score._parse_claims import Claim, claims
from situs.score._parse_refusal import refuses

__all__ = ["Parsed", "RefusedInWords", "Result", "Unparsed", "agree", "settle"]

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


def agree(results: Iterable[Result[T]]) -> Result[T] | None:
    """The one answer that all results give; a contradiction if they differ; None if there are none.

    Values decide, not flags; the first result's flags are kept.
    """
    found = list(results)
    if not found:
        return None
    first = found[0]
    if all(_said(result) == _said(first) for result in found):
        return first
    unparsed = next((result for result in found if isinstance(result, Unparsed)), None)
    return unparsed or CONTRADICTION


def settle(text: str, read: Callable[[Claim], Result[T] | None]) -> Result[T] | None:
    """The answer that the reply marks as such, or None if it marks none.

    The last marked *final* answer wins over everything before it. Otherwise all stated answers must agree.
    `read` turns one claim into a result, or None where the claim says nothing readable.
    """
    found = claims(text)
    finals = [claim for claim in found if claim.final]
    if finals:
        together = [claim for claim in finals if claim.group == finals[-1].group]
        results = [read(claim) for claim in together]
        if any(result is None for result in results):
            return RefusedInWords() if refuses(finals[-1].payload) else Unparsed("the final answer is not understood")
        return agree(result for result in results if result is not None)
    stated = [result for claim in found if (result := read(claim)) is not None]
    return agree(stated)


def _said(result: Result[T]) -> tuple[type, object]:
    return type(result), result.value if isinstance(result, Parsed) else None
