"""What stands right before and right after a place in a text, or in its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

__all__ = ["just_after", "just_before"]

T = TypeVar("T")


@overload
def just_before(text: str, at: int, width: int) -> str: ...
@overload
def just_before(text: Sequence[T], at: int, width: int) -> Sequence[T]: ...
def just_before(text: Sequence[T], at: int, width: int) -> Sequence[T]:
    """Up to so many characters or words that end at a place."""
    return text[max(0, at - width) : at]


@overload
def just_after(text: str, at: int, width: int) -> str: ...
@overload
def just_after(text: Sequence[T], at: int, width: int) -> Sequence[T]: ...
def just_after(text: Sequence[T], at: int, width: int) -> Sequence[T]:
    """Up to so many characters or words from a place on."""
    return text[at : at + width]
