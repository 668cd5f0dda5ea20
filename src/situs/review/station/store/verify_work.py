"""Whether units, assignments, accounts and projects are as the chain tells: readings alone say
nothing if somebody else's name, another question or another state stands beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session as Connection

from situs.review.station.store.accounts import INVITE_SECONDS, password_digest
from situs.review.station.store.chain import NO_WORK, add_digests, units_digest, work_digest
from situs.review.station.store.tables import (
    Adjudication,
    Assignment,
    Event,
    Invite,
    Project,
    Reading,
    Session,
    Unit,
    User,
)

__all__ = ["Told", "work_problems"]

_FINISHED = ("done", "signed")
_SUMS = ("given_digest", "withdrawn_digest")
_AT_ONCE = 5.0
"""Seconds between what happened and the event that tells of it, at most."""
_STATES = {"project imported": "draft", "plan frozen": "reading", "reads locked": "locked"}


class Told(msgspec.Struct):
    """What the events tell of everything that has no hash of its own."""

    written: dict[tuple[str, int], tuple[str, str, int | None]] = {}
    """Reading or decision → who wrote it, for which case, of which unit (unknown in old events)."""
    accounts: dict[str, tuple[list[str], bool]] = {}
    """Code → roles, active."""
    passwords: dict[str, str] = {}
    """Code → digest of the password's hash; empty where an early version wrote none."""
    invitations: list[tuple[str, float, str]] = []
    """Code, when, and digest of the token; empty where an early version wrote none."""
    sessions: list[tuple[str, float, str]] = []
    """The same of everybody who signed in."""
    projects: dict[str, dict[str, Any]] = {}
    """Name → protocol, bench, seed, state, and digests of its units."""
    snapshots: set[str] = set()
    signed: dict[tuple[str, str, int], int] = {}
    """Reader, project and block → the event of its last signature."""
    last_said: dict[str, int] = {}
    """Case → the event of what was said of it last; a signature closes what was said before it."""

    def hear(self, event: Event) -> None:
        """Take in one event."""
        body = event.body
        if "table" in body:
            key = body["table"], body["row"]
            self.written[key] = event.actor, body["case"], body.get("unit")
            self.last_said[body["case"]] = event.sequence
        elif event.kind in ("user added", "user changed"):
            self.accounts[body["user"]] = body["roles"], body.get("active", True)
        elif event.kind == "password set":
            self.passwords[event.actor] = body.get("password_digest", "")
        elif event.kind == "user invited":
            self.invitations.append((body["user"], event.at, body.get("token_digest", "")))
        elif event.kind == "signed in":
            self.sessions.append((event.actor, event.at, body.get("token_digest", "")))
        elif event.kind == "block signed":
            self.signed[event.actor, body["project"], body["block"]] = event.sequence
        elif "project" in body:
            self._hear_of_project(event)

    def _hear_of_project(self, event: Event) -> None:
        about = self.projects.setdefault(event.body["project"], {})
        for key in _SUMS:  # of what was handed out and withdrawn at different times
            if key in event.body and (event.kind == "plan frozen" or "given_digest" in about):
                about[key] = add_digests(about.get(key, NO_WORK), event.body[key])
        if event.kind in _STATES:
            rest = {key: value for key, value in event.body.items() if key not in _SUMS}
            about.update(rest, state=_STATES[event.kind])
            self.snapshots.update(event.body.get("snapshots", ()))


class _Work(msgspec.Struct, frozen=True, array_like=True):
    """An assignment, with its reader and project by name."""

    case: str
    unit: int
    reader: str
    project: str
    purpose: str
    block: int
    position: int
    state: str


def work_problems(db: Connection, told: Told) -> list[str]:
    """Everything that is not as the events tell."""
    return [
        *_accounts(db, told),
        *_ways_in(db, told),
        *_projects(db, told),
        *_assignments(db, told),
    ]


def _accounts(db: Connection, told: Told) -> Iterator[str]:
    users = {user.code: user for user in db.scalars(select(User).order_by(User.id))}
    for code, user in users.items():
        if code not in told.accounts:
            yield f"account {code} was added outside the station"
        elif (user.roles, user.active) != told.accounts[code]:
            yield f"account {code} was changed outside the station"
        elif user.password and told.passwords.get(code) not in ("", password_digest(user.password)):
            yield f"the password of {code} was set outside the station"
    yield from (f"account {code} was removed" for code in sorted(set(told.accounts) - set(users)))


def _ways_in(db: Connection, told: Told) -> Iterator[str]:
    """Invitations and sessions that nobody was given: whoever plants one acts as somebody else."""
    invites = select(Invite, User.code).outerjoin(User, User.id == Invite.user_id)
    for invite, code in db.execute(invites):
        given = invite.expires - INVITE_SECONDS
        if not _is_told(told.invitations, code, given, invite.token_hash):
            yield f"an invitation of {code} was made outside the station"
    sessions = select(Session, User.code).outerjoin(User, User.id == Session.user_id)
    for session, code in db.execute(sessions):
        if not _is_told(told.sessions, code, session.started, session.token_hash):
            yield f"a session of {code} was made outside the station"


def _is_told(
    events: list[tuple[str, float, str]], code: str | None, when: float, digest: str
) -> bool:
    return any(
        (who, known) in ((code, digest), (code, "")) and abs(at - when) < _AT_ONCE
        for who, at, known in events
    )


def _handed_out(works: Sequence[_Work], told: Told) -> Iterator[str]:
    """Lists with cases that nobody handed out, without some that were, or in another order."""
    by_project: dict[str, list[_Work]] = {name: [] for name in told.projects}
    for work in works:
        by_project.setdefault(work.project, []).append(work)
    for name, given in by_project.items():
        about = told.projects.get(name, {})
        if about.get("state", "draft") != "draft" and "given_digest" not in about:
            continue  # handed out by a version that told less
        if work_digest(map(_given, given)) != about.get("given_digest", NO_WORK):
            yield f"the lists of project {name} are not those that were handed out"
        withdrawn = (_given(work) for work in given if work.state == "withdrawn")
        if work_digest(withdrawn) != about.get("withdrawn_digest", NO_WORK):
            yield f"cases of project {name} were withdrawn or given back outside the station"


def _given(work: _Work) -> tuple[object, ...]:
    return work.case, work.unit, work.reader, work.purpose, work.block, work.position


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
        # What early versions did not tell.
        given |= {key: getattr(project, key) for key in ("public_id", "bench") if about.get(key)}
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
        Assignment.position,
        Assignment.state,
    )
    query = (
        select(Assignment.id, *columns)
        .join(User, User.id == Assignment.user_id)
        .join(Project, Project.id == Assignment.project_id)
        .order_by(Assignment.id)
    )
    works = []
    for assignment, *values in db.execute(query):
        work = msgspec.convert(values, _Work)
        works.append(work)
        written = [told.written[key] for key in rows.pop(assignment, ()) if key in told.written]
        yield from _of_one(work, written, stages.get(assignment, set()), told)
    for keys in rows.values():
        yield from (f"the case of {table} {row} was removed" for table, row in keys)
    yield from _handed_out(works, told)


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
        signature = told.signed.get((work.reader, work.project, work.block), -1)
        is_signed = signature > told.last_said.get(work.case, -1)
        if is_signed != (work.state == "signed"):
            yield f"{case} of {work.reader} is {work.state}, and its block says otherwise"
