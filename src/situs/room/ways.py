"""A room as a way to put questions, for everything that runs benches:
`situs run`, `situs probe`, Python."""

from __future__ import annotations

from functools import partial

from situs.errors import SitusError
from situs.room.files import load_room, with_tools
from situs.room.forecast import forecast_sessions
from situs.room.readers import READERS
from situs.room.runner import run_reader, run_sessions
from situs.room.schema import Room
from situs.run import BASELINES, Ways

__all__ = ["enter_room", "room_ways"]


def enter_room(
    name: str | None, tools: str | None = None, turns: str = "auto"
) -> tuple[Room | None, Ways]:
    """The room of this name or file, with these tools,
    and how to put questions in it; without a name, as usual."""
    if name is None:
        for option, value in (("tools", tools), ("turns", None if turns == "auto" else turns)):
            if value is not None:
                raise SitusError("needs a room", where=f"--{option}", fix="add --room NAME")
        return None, Ways()
    room = load_room(name)
    if tools is not None:
        room = with_tools(room, tools)
    return room, room_ways(room, turns)


def room_ways(room: Room, turns: str = "auto") -> Ways:
    """Sessions in the room in place of single questions. `turns`: `schema`, `tools` or `auto`."""
    return Ways(
        ask=partial(run_sessions, room=room, turns=turns),
        answer=partial(run_reader, room=room),
        forecast=partial(forecast_sessions, room=room),
        baselines=(*BASELINES, *READERS),
    )
