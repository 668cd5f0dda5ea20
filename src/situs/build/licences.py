"""Licences under which images may be sent and shown; all else is restricted."""

from __future__ import annotations

__all__ = ["is_open_licence"]

_OPEN = {
    "cc0-1.0",
    "cc-by-3.0",
    "cc-by-4.0",
    "cc-by-sa-4.0",
    "apache-2.0",
    "mit",
    "bsd-3-clause",
    "pddl-1.0",
}


def is_open_licence(name: str) -> bool:
    """Whether the licence is in the known table, however it is spelt (`CC BY 4.0`, `cc-by-4.0`)."""
    return "-".join(name.lower().split()) in _OPEN
