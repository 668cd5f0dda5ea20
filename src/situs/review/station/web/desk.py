"""The coordinator's study desk and the auditor's trail."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Query, Request
from sqlalchemy import func, select

from situs.review.station.statistics import project_statistics
from situs.review.station.store.leaving import release_reader
from situs.review.station.store.projects import (
    find_project,
    freeze_plan,
    lock_project,
    preview_plan,
    protocol_of,
)
from situs.review.station.store.rows import decisions_of, read_rows
from situs.review.station.store.tables import Assignment, Event, Project, Unit, User
from situs.review.station.store.verify import verify
from situs.review.station.web.messages import EventView, FreezeBody, ReleaseBody
from situs.review.station.web.station import Asking, Problem, Station, need_role

__all__ = ["router"]

router = APIRouter()

ProjectId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
_ALARM = 0.5
"""A reader who sees fewer planted errors is named on the desk."""
_FEWEST_CATCH = 4
_OF_AGREEMENT = ("unit", "why", "decision")
"""What events tell of how readers agree."""


def _station(request: Request) -> Station:
    station: Station = request.app.state.station
    return station


@router.get("/projects")
def projects(actor: Asking, request: Request) -> list[dict[str, Any]]:
    """All projects and how far they are."""
    need_role(actor, "coordinator", "auditor")
    with _station(request).database.read() as db:
        result = []
        for project in db.scalars(select(Project).order_by(Project.id)):
            protocol = protocol_of(db, project)
            kinds = select(Unit.kind, func.count()).where(Unit.project_id == project.id)
            result.append(
                {
                    "id": project.public_id,
                    "name": project.name,
                    "state": project.state,
                    "bench": project.bench,
                    "protocol": protocol.name,
                    "protocol_hash": project.protocol_hash,
                    "about": protocol.about,
                    "units": {row[0]: row[1] for row in db.execute(kinds.group_by(Unit.kind))},
                }
            )
        return result


@router.get("/readers")
def readers(actor: Asking, request: Request) -> list[dict[str, Any]]:
    """Accounts by code."""
    need_role(actor, "coordinator")
    with _station(request).database.read() as db:
        users = db.scalars(select(User).order_by(User.code))
        return [{"code": u.code, "roles": u.roles, "active": u.active} for u in users]


@router.get("/projects/{project}/progress")
def progress(project: ProjectId, actor: Asking, request: Request) -> dict[str, Any]:
    """Cases done by reader, open adjudications, and catch-trial alarms; no answer is told."""
    need_role(actor, "coordinator", "auditor")
    with _station(request).database.read() as db:
        stored = find_project(db, project)
        counts = db.execute(
            select(Assignment.user_id, Assignment.purpose, Assignment.state, func.count())
            .where(Assignment.project_id == stored.id)
            .group_by(Assignment.user_id, Assignment.purpose, Assignment.state)
        ).all()
        codes = {user.id: user.code for user in db.scalars(select(User))}
        # No database promises an order of groups: readers by code, then adjudicators.
        counts = sorted(counts, key=lambda row: (row[1] != "read", codes[row[0]], row[2]))
        catch = project_catch(read_rows(db, stored, ["catch"]))
    rows: dict[str, dict[str, int]] = {}
    for user, purpose, state, count in counts:
        name = codes[user] if purpose == "read" else f"{codes[user]}, adjudication"
        row = rows.setdefault(name, {"done": 0, "open": 0, "withdrawn": 0})
        column = {"done": "done", "signed": "done", "withdrawn": "withdrawn"}.get(state, "open")
        row[column] += count
    alarms = [
        f"{code} saw {entry['value']:.0%} of {entry['n']} planted errors"
        for code, entry in catch.items()
        if entry["n"] >= _FEWEST_CATCH and entry["value"] < _ALARM
    ]
    return {"readers": rows, "alarms": alarms}


def project_catch(rows: list[Any]) -> dict[str, dict[str, Any]]:
    """Seen and shown catch trials by reader."""
    result: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.kind == "catch":
            entry = result.setdefault(row.reader, {"hits": 0, "n": 0})
            entry["n"] += 1
            entry["hits"] += row.says_wrong
    for entry in result.values():
        entry["value"] = entry["hits"] / entry["n"]
    return result


@router.post("/projects/{project}/preview")
def preview(
    project: ProjectId, body: FreezeBody, actor: Asking, request: Request
) -> dict[str, Any]:
    """What an assignment would look like."""
    need_role(actor, "coordinator")
    with _station(request).database.read() as db:
        plan = preview_plan(db, find_project(db, project), body.readers)
    return {
        "loads": plan.loads,
        "pairs": plan.pairs,
        "read_by_all": plan.read_by_all,
        "warnings": plan.warnings,
        "reads": len(plan.places),
    }


@router.post("/projects/{project}/freeze")
def freeze(project: ProjectId, body: FreezeBody, actor: Asking, request: Request) -> dict[str, Any]:
    """Freeze protocol and plan, and hand the lists out."""
    need_role(actor, "coordinator")
    with _station(request).database.write() as db:
        plan = freeze_plan(db, find_project(db, project), body.readers, actor.user.code)
    return {"loads": plan.loads, "warnings": plan.warnings}


@router.post("/projects/{project}/release")
def release(
    project: ProjectId, body: ReleaseBody, actor: Asking, request: Request
) -> dict[str, int]:
    """A reader leaves; unbegun cases go to others, locked reads stay."""
    need_role(actor, "coordinator")
    with _station(request).database.write() as db:
        return release_reader(db, find_project(db, project), body.reader, actor.user.code)


@router.post("/projects/{project}/lock")
def lock(project: ProjectId, actor: Asking, request: Request) -> dict[str, str]:
    """Close the reads."""
    need_role(actor, "coordinator")
    with _station(request).database.write() as db:
        lock_project(db, find_project(db, project), actor.user.code)
    return {"state": "locked"}


@router.get("/projects/{project}/agreement")
def agreement(project: ProjectId, actor: Asking, request: Request) -> dict[str, Any]:
    """Statistics; closed until the reads are locked, so that nobody reads towards them."""
    need_role(actor, "coordinator", "auditor")
    with _station(request).database.read() as db:
        stored = find_project(db, project)
        if stored.state != "locked":
            raise Problem(409, "agreement is shown once reading is locked")
        rows, decisions = read_rows(db, stored), decisions_of(db, stored)
        statistics = project_statistics(rows, decisions, protocol_of(db, stored), seed=stored.seed)
    result: dict[str, Any] = msgspec.to_builtins(statistics)
    return result


_MOST = 2**63 - 1
"""No database compares with more."""
_STORABLE = r"^[^\x00]*$"
"""PostgreSQL takes no NUL, not even to compare with."""


@router.get("/events")
def events(
    actor: Asking,
    request: Request,
    after: Annotated[int, Query(ge=0, le=_MOST)] = 0,
    kind: Annotated[str, Query(max_length=40, pattern=_STORABLE)] = "",
    by: Annotated[str, Query(max_length=40, pattern=_STORABLE)] = "",
) -> list[EventView]:
    """The audit trail, a hundred events at a time."""
    need_role(actor, "auditor", "coordinator")
    query = select(Event).where(Event.sequence > after)
    query = query.where(Event.kind == kind) if kind else query
    query = query.where(Event.actor == by) if by else query
    with _station(request).database.read() as db:
        page = db.scalars(query.order_by(Event.sequence).limit(100)).all()
        is_read = select(Unit.id).join(Project, Project.id == Unit.project_id)
        units = [e.body["unit"] for e in page if "unit" in e.body]
        being_read = set(db.scalars(is_read.where(Unit.id.in_(units), Project.state == "reading")))
    return [
        EventView(
            sequence=e.sequence,
            at=e.at,
            actor=e.actor,
            kind=e.kind,
            body=_told(e, e.body.get("unit") in being_read),
            hash=e.hash,
        )
        for e in page
    ]


def _told(event: Event, is_read: bool) -> dict[str, Any]:
    """An event's body without long lists; while a project is read, without what would tell how
    its readers agree."""
    return {
        k: v if not isinstance(v, list) or len(v) < 20 else len(v)
        for k, v in event.body.items()
        if not (is_read and k in _OF_AGREEMENT)
    }


@router.get("/verify")
def check(actor: Asking, request: Request) -> dict[str, Any]:
    """Walk the chain."""
    need_role(actor, "auditor", "coordinator")
    station = _station(request)
    with station.database.read() as db:
        result: dict[str, Any] = msgspec.to_builtins(verify(db, station.folder))
    return result
