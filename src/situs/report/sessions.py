"""Runs in a reading room: what they saw, as tables, and some of their sessions to watch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from situs.errors import SitusError
from situs.report.covered import CoveredItem
from situs.report.scored import ReportedRun
from situs.room import SessionView, is_room_run, room_tables, score_room, session_views
from situs.tables import Table

__all__ = ["RunSessions", "sessions_of", "tables_of_rooms"]

_MOST = 6
"""Sessions of a run that are shown."""
_LONGEST_PX = 256


class RunSessions(msgspec.Struct, frozen=True):
    """Sessions of one run."""

    run: str
    sessions: list[SessionView]


def tables_of_rooms(runs: Sequence[ReportedRun]) -> list[Table]:
    """Evidence, looks and tools of every run in a room; its name goes into each title."""
    tables: list[Table] = []
    for number, run in enumerate(runs, start=1):
        folder = run.run.replies.folder
        if folder is None or not is_room_run(folder):
            continue
        try:
            run_tables = room_tables(score_room(run.run))
        except SitusError:
            continue
        tables += [
            msgspec.structs.replace(
                table, name=f"room{number}_{table.name}", title=f"{run.name}: {table.title}"
            )
            for table in run_tables
        ]
    return tables


def sessions_of(
    runs: Sequence[ReportedRun],
    items: Sequence[CoveredItem],
    count: int,
    budget: int,
    data: Path | None,
) -> list[RunSessions]:
    """Sessions of each run in a room,
    on the items that are shown first, as far as `budget` bytes reach."""
    sessions: list[RunSessions] = []
    left = budget
    for run in runs:
        folder = run.run.replies.folder
        if folder is None or not is_room_run(folder):
            continue
        wanted = [item.item_id for item in items if run.covers(item.item_id)]
        fitting = []
        try:
            views = session_views(
                folder, wanted[: min(count, _MOST)], data=data, longest_px=_LONGEST_PX
            )
        except SitusError:
            # The images are not on this machine: the tables stand without sessions.
            continue
        for view in views:
            size = sum(len(turn.picture) for turn in view.turns)
            if size <= left:
                left -= size
                fitting.append(view)
        if fitting:
            sessions.append(RunSessions(run.name, fitting))
    return sessions
