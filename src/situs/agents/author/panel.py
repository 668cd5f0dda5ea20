"""The blind panel: models that get a question in words only. What they know needs no scan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from situs.agents.author.turn import turn_role
from situs.clients.turns import ActionKind, Field
from situs.judges import Role

__all__ = ["panel_role", "rotations"]

_TASK = """\
You answer exam questions on scans that you cannot see. You are shown a question and its options \
by letter. Use what \
you know of anatomy and disease to choose the likeliest option. Always choose one."""
_LETTERS = "ABCDEFGH"
_ACTIONS = (
    ActionKind(
        "answer",
        "Choose an option.",
        {"answer": Field("choice", "its letter", required=True, choices=tuple(_LETTERS.lower()))},
    ),
)


def _read(action: Mapping[str, Any]) -> dict[str, Any] | None:
    return {"action": "answer", "answer": str(action["answer"]).upper()}


def panel_role() -> Role:
    """The role."""
    return turn_role("panel", _TASK, _ACTIONS, _read)


def rotations(values: Sequence[str]) -> list[tuple[str, ...]]:
    """The options in every rotation: each stands at each letter once."""
    return [(*values[n:], *values[:n]) for n in range(len(values))]
