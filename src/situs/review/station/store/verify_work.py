"""Whether units, assignments, accounts and projects are as the chain tells: readings alone say
nothing if somebody else's name, another question or another state stands beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session as Connection

from situs.review.station.store.chain import units_digest
from situs.review.station.store.tables import (
    Adjudication,
    Assignment,
    Event,
    Project,
    Reading,
    Unit,
    User,
)

__all__ = ["Told", "work_problems"]

_FINISHED = ("done", "signed")
_STATES = {"project imported": "draft", "plan frozen": "reading", "reads locked": "locked"}


class Told(msgspec.Struct):
    """What the events tell of everything that has no hash of its own."""

    written: dict[tuple[str, int], tuple[str, str, int | None]] = {}
    """Reading or decision → who wrote it, for which case, of which unit (unknown in old events)."""
    accounts: dict[str, tuple[list[str], bool]] = {}
    """Code → roles, active."""
    projects: dict[str, dict[str, Any]] = {}
    """Name → protocol, bench, seed, state, and digests of its units."""
    signed: set[tuple[str, str, int]] = set()
    """Reader, project and block."""

    def hear(self, event: Event) -> None:
        """Take in one event."""
        body = event.body
        if "table" in body:
            key = body["table"], body["row"]
            self.written[key] = event.actor, body["case"], body.get("unit")
        elif event.kind in ("user added", "user changed"):
            self.accounts[body["user"]] = body["roles"], body.get("active", True)
        elif event.kind == "block signed":
            self.signed.add((event.actor, body["project"], body["block"]))
        elif event.kind in _STATES:
            about = self.projects.setdefault(body["project"], {})
            about.update(body, state=_STATES[event.kind])


class _Work(msgspec.Struct, frozen=True, array_like=True):
    """An assignment, with its reader and project by name."""

    case: str
    unit: int
    reader: str
    project: str
    purpose: str
    block: int
    state: str


def work_problems(db: Connection, told: Told) -> list[str]:
    """Everything that is not as the events tell."""
    return [*_accounts(db, told), *_projects(db, told), *_assignments(db, told)]


def _accounts(db: Connection, told: Told) -> Iterator[str]:
    users = {user.code: user for user in db.scalars(select(User).order_by(User.id))}
    for code, user in users.items():
        if code not in told.accounts:
            yield f"account {code} was added outside the station"
        elif (user.roles, user.active) != told.accounts[code]:
            yield f"account {code} was changed outside the station"
    yield from (f"account {code} was removed" for code in sorted(set(told.accounts) - set(users)))


def _projects(db: Connection, told: Told) -> Iterator[str]:
    projects = {project.name: project for project in db.scalars(select(Project))}
    for name, project in sorted(projects.items()):
        about = told.projects.get(name)
        if about is None:
            yield f"project {name} was added outside the station"
            continue
        given = {
            "protocol": project.protocol_hash,
            "bench_hash": project.bench_hash,
            "seed": project.seed,
            "state": project.state,
        }
        yield from (
            f"{what.removesuffix('_hash')} of project {name} was changed"
            for what, value in given.items()
            if about.get(what) != value
        )
        for key, repeats in (("units_digest", False), ("repeats_digest", True)):
            if key in about and units_digest(_units(db, project, repeats)) != about[key]:
                what = "hidden repeats" if repeats else "units"
                yield f"{what} of project {name} were changed, added or removed"
    yield from (
        f"project {name} was removed" for name in sorted(set(told.projects) - set(projects))
    )


def _units(db: Connection, project: Project, repeats: bool) -> Sequence[Unit]:
    of_kind = Unit.kind == "repeat" if repeats else Unit.kind != "repeat"
    return db.scalars(select(Unit).where(Unit.project_id == project.id, of_kind)).all()


def _assignments(db: Connection, told: Told) -> Iterator[str]:
    """Cases whose reader, question or state is not that of what was said in them."""
    stages: dict[int, set[int]] = defaultdict(set)
    rows: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for key, assignment, stage in db.execute(
        select(Reading.id, Reading.assignment_id, Reading.stage)
    ):
        stages[assignment].add(stage)
        rows[assignment].append(("readings", key))
    for key, assignment in db.execute(select(Adjudication.id, Adjudication.assignment_id)):
        stages[assignment].add(2)
        rows[assignment].append(("adjudications", key))
    columns = (
        Assignment.public_id,
        Assignment.unit_id,
        User.code,
        Project.name,
        Assignment.purpose,
        Assignment.block,
        Assignment.state,
    )
    query = (
        select(Assignment.id, *columns)
        .join(User, User.id == Assignment.user_id)
        .join(Project, Project.id == Assignment.project_id)
        .order_by(Assignment.id)
    )
    for assignment, *values in db.execute(query):
        work = msgspec.convert(values, _Work)
        written = [told.written[key] for key in rows.pop(assignment, ()) if key in told.written]
        yield from _of_one(work, written, stages.get(assignment, set()), told)
    for keys in rows.values():
        yield from (f"the case of {table} {row} was removed" for table, row in keys)


def _of_one(
    work: _Work, written: list[tuple[str, str, int | None]], stages: set[int], told: Told
) -> Iterator[str]:
    case = f"case {work.case[:8]}"
    for actor, of_case, unit in written:
        if (actor, of_case) != (work.reader, work.case):
            yield f"{case} was read by {actor}, and stands under {work.reader}"
        if unit not in (None, work.unit):
            yield f"{case} was about another unit"
    expected = _FINISHED if 2 in stages else ("revealed", "withdrawn") if stages else ("open",)
    # A case that nobody began may have been withdrawn; one that was finished never is.
    if work.state not in expected and not (work.state == "withdrawn" and not stages):
        yield f"{case} of {work.reader} is {work.state}, and its readings say otherwise"
    if work.purpose == "read" and work.state in _FINISHED:
        is_signed = (work.reader, work.project, work.block) in told.signed
        if is_signed != (work.state == "signed"):
            yield f"{case} of {work.reader} is {work.state}, and its block says otherwise"
