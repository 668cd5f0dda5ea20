"""Finished reads and decisions of a project, as the statistics take them."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session as Connection

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


def read_rows(db: Connection, project: Project) -> list[ReadRow]:
    """Every finished read, in a fixed order."""
    names = ("item_id", "task", "form", "wording")
    units: dict[int, tuple[Unit, dict[str, Any]]] = {}
    # Only these few fields leave the database: a snapshot is long, and there may be many.
    fields = [Snapshot.hidden[name].as_string() for name in names]
    parts = select(Unit, Snapshot.hidden["right"], *fields)
    parts = parts.join(Snapshot, Snapshot.hash == Unit.snapshot_hash)
    for unit, right, *values in db.execute(parts.where(Unit.project_id == project.id)):
        units[unit.id] = (unit, dict(zip(names, (v or "" for v in values))) | {"right": right})
    said: dict[int, dict[str, Any]] = {}
    query = (
        select(Assignment.id, Assignment.unit_id, User.code, Reading.body, Reading.active_ms)
        .join(Reading, Reading.assignment_id == Assignment.id)
        .join(User, User.id == Assignment.user_id)
        .where(
            Assignment.project_id == project.id,
            Assignment.purpose == "read",
            Assignment.state.in_(_FINISHED),
        )
        .order_by(Assignment.id, Reading.stage, Reading.version)
    )
    for key, unit_id, code, body, active_ms in db.execute(query):
        row = said.setdefault(key, {"unit": unit_id, "reader": code, "active_ms": 0})
        row["active_ms"] += active_ms
        row.update(body)
    return [_row(row, *units[row["unit"]]) for row in said.values()]


def _row(said: dict[str, Any], unit: Unit, hidden: dict[str, Any]) -> ReadRow:
    values = said | {
        "item_id": hidden["item_id"] or hidden["wording"],
        "patient": unit.patient,
        "stratum": unit.stratum,
        "weight": unit.weight,
        "kind": unit.kind,
        "task": hidden["task"],
        "form": hidden["form"],
        "right": hidden["right"] or [],
        "repeat_of": unit.repeat_of,
    }
    return msgspec.convert(values, ReadRow)


def decisions_of(db: Connection, project: Project) -> list[Decision]:
    """The last decision on every adjudicated unit."""
    rows = db.scalars(
        select(Adjudication)
        .join(Unit, Unit.id == Adjudication.unit_id)
        .where(Unit.project_id == project.id)
        .order_by(Adjudication.unit_id, Adjudication.version)
    )
    last = {row.unit_id: row for row in rows}
    return [Decision(r.unit_id, r.decision, r.key_wrong, r.reason) for r in last.values()]
