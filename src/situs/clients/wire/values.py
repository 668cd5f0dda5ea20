"""Values of a server's reply that may be anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

__all__ = ["count_of", "is_count", "parsed_arguments"]


def is_count(value: Any) -> bool:
    """Whether a value is a sensible number of tokens."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15


def count_of(counts: Mapping[str, Any], name: str) -> float:
    """A number of tokens by its name; 0 if it is missing or is none."""
    value = counts.get(name)
    return float(value) if value is not None and is_count(value) else 0.0


def parsed_arguments(text: str) -> Any:
    """The arguments of a tool call, which a model wrote; none if they are not JSON."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return {}
