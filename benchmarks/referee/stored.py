"""How benches store what has names."""

from __future__ import annotations

from typing import Any

__all__ = ["mapping"]


def mapping(entries: list[Any]) -> dict[str, Any]:
    """A column of names and values:
    a map of Arrow, or a list of records, as benches have had it."""
    return dict(
        (one["key"], one["value"]) if isinstance(one, dict) else tuple(one) for one in entries
    )
