"""A room as a way to put questions, for everything that runs benches: `situs run`, `situs probe`, Python."""

from __future__ import annotations

from functools import partial

from situs.room.forecast import forecast_sessions
from situs.room.readers import READERS
from situs.room.runner import run_reader, run_sessions
from situs.room.schema import Room
from situs.run import BASELINES, Ways

__all__ = ["room_ways"]


def room_ways(room: Room, turns: str = "auto") -> Ways:
    """Sessions in the room in place of single questions. `turns`: `schema`, `tools` or `auto`."""
    return Ways(
        ask=partial(run_sessions, room=room, turns=turns),
        answer=partial(run_reader, room=room),
        forecast=partial(forecast_sessions, room=room),
        baselines=(*BASELINES, *READERS),
    )
