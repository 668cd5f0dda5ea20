"""The blind panel: models that get a question in words only. What they know needs no scan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from situs.judges import Role

__all__ = ["panel_role", "rotations"]

_INSTRUCTIONS = """\
You answer exam questions on scans that you cannot see. You get a JSON array of entries with an id, a question and \
its options. Use what you know of anatomy and disease to choose the likeliest option. Always choose one.

Reply with one JSON object: {"entries": [{"id": "...", "answer": "A"}]}, with exactly one entry for every id you were \
given and the letter of one option as its answer."""


def _read(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    answer = entry.get("answer")
    if not isinstance(answer, str) or answer.strip().upper()[:1] not in "ABCDEFGH":
        return None
    return {"answer": answer.strip().upper()[:1]} if answer.strip() else None


def panel_role() -> Role:
    """The role."""
    return Role("panel", _INSTRUCTIONS, {"answer": {"type": "string", "maxLength": 8}}, _read)


def rotations(values: Sequence[str]) -> list[tuple[str, ...]]:
    """The options in every rotation: each stands at each letter once."""
    return [(*values[n:], *values[:n]) for n in range(len(values))]
