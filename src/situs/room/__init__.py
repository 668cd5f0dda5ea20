"""The reading room: a model scrolls, measures and uses tools, and it is known what it saw."""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports

if TYPE_CHECKING:
    from situs.room.adapter import RoomCheck, check_turns
    from situs.room.files import load_room, shipped_rooms, with_tools
    from situs.room.playback import SessionView
    from situs.room.readers import READERS
    from situs.room.runner import RoomResult, run_reader, run_sessions
    from situs.room.schema import Allowance, Room
    from situs.room.score_tables import room_tables
    from situs.room.scores import RoomScores, is_room_run, room_scores, score_room
    from situs.room.shown import session_views, show_session
    from situs.room.source import THROUGH_ROOMS
    from situs.room.tools.ladder import LIES, Tools, parse_tools
    from situs.room.ways import enter_room, room_ways
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "LIES",
    "READERS",
    "THROUGH_ROOMS",
    "Allowance",
    "Room",
    "RoomCheck",
    "RoomResult",
    "RoomScores",
    "SessionView",
    "Tools",
    "check_turns",
    "enter_room",
    "is_room_run",
    "load_room",
    "parse_tools",
    "room_scores",
    "room_tables",
    "room_ways",
    "run_reader",
    "run_sessions",
    "score_room",
    "session_views",
    "shipped_rooms",
    "show_session",
    "with_tools",
]
