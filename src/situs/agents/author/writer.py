"""The writer: phrases a shape of question. It sees no patient, value, option or answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from situs.agents.author.turn import turn_role
from situs.clients.turns import ActionKind, Field
from situs.items.programs import Expr, built_in_wordings
from situs.judges import Role

__all__ = ["WORDINGS_ASKED", "writer_role", "writer_shown"]

WORDINGS_ASKED = 4
_LONGEST = 300

_SLOTS = {
    "F": "one lesion of a kind, without an article (liver lesion); {Fs} is its plural",
    "X": "a number",
}
_THING = "a structure or a lesion, with its article (the aorta, the largest liver lesion)"

_TASK = f"""\
You are an experienced radiologist who words questions for an exam on CT and MR scans. You are \
shown the meaning of \
one question as a formula with slots, what each slot stands for, and example wordings.

Write up to {WORDINGS_ASKED} new wordings, as a colleague would ask it at the workstation. Keep \
every slot as it is \
written, such as {{A}} or {{X}}. Keep the meaning exactly: which thing is compared with which, the \
direction, yes or \
no, the unit. One question, one sentence, plain English. No numbers, names, options, answers, \
hints or explanations \
of your own. If reasons are given why earlier wordings were refused, avoid them."""
_ACTIONS = (
    ActionKind(
        "word",
        "Give your wordings.",
        {
            "wordings": Field(
                "texts",
                "one sentence each",
                required=True,
                longest=2 * _LONGEST,
                count=(1, WORDINGS_ASKED),
            )
        },
    ),
    ActionKind("stop", "The examples cannot be said in another way."),
)


def _read(action: Mapping[str, Any]) -> dict[str, Any] | None:
    # An empty one is refused like any other, so that the card counts it with its reason.
    return {"action": action["action"], "wordings": action.get("wordings", [])}


def writer_role(again: bool) -> Role:
    """The role, in its first or in a later round."""
    return turn_role("writer-again" if again else "writer", _TASK, _ACTIONS, _read)


def writer_shown(shape: Expr, refused: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """What the writer sees of a shape; `refused` are earlier texts and why they were not taken."""
    slots = sorted(set(re.findall(r"\{([A-Z])\}", str(shape))))
    subject: dict[str, Any] = {
        "question": str(shape),
        "slots": {f"{{{slot}}}": _SLOTS.get(slot, _THING) for slot in slots},
        "examples": [one.text for one in built_in_wordings(shape)],
    }
    if refused:
        subject["refused"] = [{"text": text[:_LONGEST], "why": why} for text, why in refused]
    return subject
