"""Finished reads and decisions of a project, as the statistics take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session as Connection

from situs.base.collecting import collection_paused
from situs.review.station.places import KeyPlace
from situs.review.station.statistics import Decision, ReadRow
from situs.review.station.store.tables import (
    Adjudication,
    Assignment,
    Project,
    Reading,
    Snapshot,
    Unit,
    User,
)

__all__ = ["decisions_of", "read_rows"]

_FINISHED = ("done", "signed")
_OF_UNIT = ("kind", "stratum", "weight", "patient", "repeat_of")
_HIDDEN = ("item_id", "task", "form", "wording")
UNIT_KINDS = ("item", "wording", "catch", "repeat", "training")


@collection_paused()
def read_rows(db: Connection, project: Project, kinds: Sequence[str] = UNIT_KINDS) -> list[ReadRow]:
    """Every finished read of units of these kinds, in a fixed order."""
    units: dict[int, dict[str, Any]] = {}
    # Only these few fields leave the database: a snapshot is long, and there may be many.
    hidden = [Snapshot.hidden[name].as_string() for name in _HIDDEN]
    columns = [getattr(Unit, name) for name in _OF_UNIT]
    parts = select(Unit.id, Snapshot.hidden["right"], Snapshot.hidden["places"], *columns, *hidden)
    parts = parts.join(Snapshot, Snapshot.hash == Unit.snapshot_hash)
    of_kinds = parts.where(Unit.project_id == project.id, Unit.kind.in_(kinds))
    for unit, right, places, *values in db.execute(of_kinds):
        row = dict(zip((*_OF_UNIT, *_HIDDEN), values)) | {"right": tuple(right or ())}
        if places:
            row["places"] = msgspec.convert(places, dict[str, KeyPlace])
        row["item_id"] = row["item_id"] or row["wording"] or ""
        del row["wording"]
        units[unit] = row | {"task": row["task"] or "", "form": row["form"] or ""}
    reads: dict[int, dict[str, Any]] = {}
    query = (
        select(Assignment.id, Assignment.unit_id, User.code, Reading.body, Reading.active_ms)
        .join(Reading, Reading.assignment_id == Assignment.id)
        .join(User, User.id == Assignment.user_id)
        .join(Unit, Unit.id == Assignment.unit_id)
        .where(
            Unit.kind.in_(kinds),
            Assignment.project_id == project.id,
            Assignment.purpose == "read",
            Assignment.state.in_(_FINISHED),
        )
        .order_by(Assignment.id, Reading.stage, Reading.version)
    )
    for key, unit_id, code, body, active_ms in db.execute(query):
        row = reads.setdefault(key, {"unit": unit_id, "reader": code, "active_ms": 0})
        row["active_ms"] += active_ms
        row.update(body)
    return [_row(row | units[row["unit"]]) for row in reads.values()]


def _row(values: dict[str, Any]) -> ReadRow:
    # Made without another check: every value was checked when it was written.
    values["flags"] = tuple(values.get("flags", ()))
    return ReadRow(**values)


def decisions_of(db: Connection, project: Project) -> list[Decision]:
    """The last decision on every adjudicated unit."""
    rows = db.execute(
        select(Adjudication, User.code)
        .join(Unit, Unit.id == Adjudication.unit_id)
        .join(Assignment, Assignment.id == Adjudication.assignment_id)
        .join(User, User.id == Assignment.user_id)
        .where(Unit.project_id == project.id)
        .order_by(Adjudication.unit_id, Adjudication.version)
    )
    last = {row.unit_id: (row, code) for row, code in rows}
    return [
        Decision(row.unit_id, row.decision, row.key_wrong, row.reason, code)
        for row, code in last.values()
    ]
