"""Whether a server plays by the contract of a turn:
JSON actions, and native tool calls, which some only accept."""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import msgspec

from situs.base.files import digest
from situs.clients import (
    Client,
    Image,
    Limits,
    Message,
    Reply,
    Request,
    Spec,
    Tally,
    Terms,
    ask,
    settings_for,
)
from situs.clients.turns import (
    Action,
    ActionKind,
    Field,
    read_action,
    record_proof,
    schema_of,
    tools_of,
)
from situs.room.actions import ANSWER

__all__ = ["RoomCheck", "check_turns"]

_TRIALS = 4
_LOOK = ActionKind(
    "look",
    "Show one slice.",
    {
        "plane": Field("choice", "which plane", choices=("axial", "coronal"), required=True),
        "slice": Field("whole", "its number", least=1, most=500, required=True),
    },
)
_KINDS = (_LOOK, ANSWER)


class RoomCheck(msgspec.Struct, frozen=True):
    """What a server does with turns."""

    model: str
    trials: int
    schema: int
    """Trials in which one valid JSON action with the right arguments came back."""
    native: int
    """The same of native tool calls."""
    proved: bool
    """Native calls came back every time: `--turns auto` uses them from now on."""
    usable: bool
    """JSON actions, or native calls, came back every time."""
    replies: dict[str, str]
    """Trial → what came back where it was not right."""


def check_turns(
    client: Client,
    spec: Spec,
    *,
    limits: Limits,
    seed: int = 0,
    progress: Callable[[Tally], None] = lambda tally: None,
) -> RoomCheck:
    """Ask for known actions, a picture in the conversation,
    as JSON and as native calls; remember what was proved."""
    draw = random.Random(seed)
    wanted: dict[str, Action] = {}
    requests = []
    settings = settings_for(client, spec)
    for number in range(_TRIALS):
        plane, index = draw.choice(("axial", "coronal")), draw.randrange(1, 500)
        words = f"Use the action look once, with plane {plane} and slice {index}. Nothing else."
        messages = (Message("user", (_grey(), words)),)
        for way in ("schema", "native"):
            key = f"{way} {number + 1}"
            wanted[key] = Action("look", {"plane": plane, "slice": index})
            asked = Request(key, messages, settings)
            if way == "schema":
                instruction = (
                    'Reply with one JSON object: {"action": "look", "plane": …, "slice": …}'
                )
                conversation = (Message("user", (_grey(), f"{words} {instruction}")),)
                asked = Request(key, conversation, settings, schema=schema_of(_KINDS))
            else:
                asked = msgspec.structs.replace(asked, tools=tools_of(_KINDS))
            requests.append(asked)
    right: dict[str, bool] = {}
    replies: dict[str, str] = {}

    def record(request: Request, reply: Reply, seconds: float) -> None:
        is_native = request.key.startswith("native")
        read = read_action(reply, _KINDS) if reply.state == "answered" else None
        same = isinstance(read, Action) and read.arguments == wanted[request.key].arguments
        right[request.key] = same and (bool(reply.tool_calls) or not is_native)
        if not right[request.key]:
            replies[request.key] = (reply.error or reply.text or "(nothing)")[:200]

    ask(client, requests, record, Terms(False, limits=limits), progress=progress)
    counts = {
        way: sum(ok for key, ok in right.items() if key.startswith(way))
        for way in ("schema", "native")
    }
    proved = counts["native"] == _TRIALS
    record_proof(client, proved=proved)
    return RoomCheck(
        client.name,
        _TRIALS,
        counts["schema"],
        counts["native"],
        proved,
        proved or counts["schema"] == _TRIALS,
        replies,
    )


def _grey() -> Image:
    """A small grey picture: some servers take tools or pictures, and not both."""
    from PIL import Image as Pillow

    stream = io.BytesIO()
    Pillow.new("L", (64, 64), 90).save(stream, "PNG")
    data = stream.getvalue()
    return Image(data, "image/png", digest(data), 64, 64)
