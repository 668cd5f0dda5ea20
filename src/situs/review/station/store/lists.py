"""What comes next on a reader's list, and which slices belong to a case:
asked for all the time, so read sparingly."""

from __future__ import annotations

import time

import msgspec
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session as Connection

from situs.review.station.store.projects import protocol_of
from situs.review.station.store.readings import stage_of, stages_of
from situs.review.station.store.tables import (
    Assignment,
    Project,
    Protocol,
    Reading,
    Snapshot,
    Unit,
    User,
)

__all__ = ["CaseSeries", "case_series", "is_waiting", "next_assignment"]

_AT_ONCE = 20
_ORDER = (
    ("revealed", "adjudicate"),
    ("revealed", "read"),
    ("open", "adjudicate"),
    ("open", "read"),
)
"""Begun cases come first, then adjudications."""


class CaseSeries(msgspec.Struct, frozen=True):
    """What serving a case's slices needs to know."""

    stage: int
    volume: str
    structures: list[str]
    labels: str
    """The hash of the labels that the structures are in; empty for what early versions took in."""


def case_series(db: Connection, user: User, public_id: str) -> CaseSeries | None:
    """The series of a user's own case, in one query of a few columns:
    slices are asked for many times a second."""
    hidden = Snapshot.hidden
    query = (
        select(
            Assignment.state,
            Assignment.purpose,
            Unit.kind,
            Protocol.body["stages"].as_integer(),
            hidden["volume"].as_string(),
            hidden["structures"],
            hidden["labels"].as_string(),
        )
        .join(Unit, Unit.id == Assignment.unit_id)
        .join(Snapshot, Snapshot.hash == Unit.snapshot_hash)
        .join(Project, Project.id == Assignment.project_id)
        .join(Protocol, Protocol.hash == Project.protocol_hash)
        .where(Assignment.public_id == public_id, Assignment.user_id == user.id)
    )
    row = db.execute(query).first()
    if row is None or row[0] == "withdrawn" or not row[4]:
        return None
    state, purpose, kind, stages, volume, structures, labels = row
    stage = stage_of(state, stages_of(kind, purpose, stages))
    names = [str(entry["structure"]) for entry in structures or ()]
    return CaseSeries(stage, volume, names, labels or "")


def next_assignment(db: Connection, user: User, now: float | None = None) -> Assignment | None:
    """The next open case: begun ones first, then adjudications,
    then by block and position; repeats when due."""
    moment = time.time() if now is None else now
    for state, purpose in _ORDER:
        assignment = _first_due(db, user, state, purpose, moment)
        if assignment is not None:
            return assignment
    return None


def is_waiting(db: Connection, user: User, project: int, block: int, now: float) -> bool:
    """Whether all open cases of a block are hidden repeats whose time has not come."""
    within = (Assignment.project_id == project, Assignment.block == block)
    return _first_due(db, user, "open", "read", now, *within) is None


def _first_due(
    db: Connection,
    user: User,
    state: str,
    purpose: str,
    moment: float,
    *within: ColumnElement[bool],
) -> Assignment | None:
    """The first due case of one state and purpose;
    the index gives them in order, so few rows are read."""
    mine = (
        select(Assignment, Unit)
        .join(Unit, Unit.id == Assignment.unit_id)
        .join(Project, Project.id == Assignment.project_id)
        .where(
            Assignment.user_id == user.id,
            Assignment.purpose == purpose,
            Assignment.state == state,
            Project.state == "reading",
            *within,
        )
        .order_by(Assignment.block, Assignment.position)
    )
    skipped = 0
    while True:
        rows = db.execute(mine.offset(skipped).limit(_AT_ONCE)).all()
        for assignment, unit in rows:
            if unit.kind != "repeat" or _is_due(db, user, unit, moment):
                return assignment
        if len(rows) < _AT_ONCE:
            return None
        skipped += _AT_ONCE


def _is_due(db: Connection, user: User, unit: Unit, now: float) -> bool:
    """Whether enough cases or days lie between a repeat and its first reading."""
    first = db.scalar(
        select(func.min(Reading.at))
        .join(Assignment, Assignment.id == Reading.assignment_id)
        .where(Assignment.user_id == user.id, Assignment.unit_id == unit.repeat_of)
    )
    if first is None:
        return False
    protocol = protocol_of(db, db.get_one(Project, unit.project_id))
    if now - first >= protocol.repeat_gap_days * 24 * 3600:
        return True
    since = db.scalar(
        select(func.count(func.distinct(Reading.assignment_id)))
        .join(Assignment, Assignment.id == Reading.assignment_id)
        .where(Assignment.user_id == user.id, Reading.at >= first)
    )
    return (since or 0) >= protocol.repeat_gap_cases
