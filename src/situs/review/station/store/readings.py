"""Reading: what is shown at each stage, and how drafts,
answers, ratings and corrections are kept."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session as Connection

from situs.base.files import canonical_json
from situs.errors import SitusError
from situs.review.station.given import check_answer
from situs.review.station.protocol import ReadingProtocol
from situs.review.station.store.adjudicating import open_adjudication
from situs.review.station.store.chain import append_event, row_digest
from situs.review.station.store.projects import protocol_of
from situs.review.station.store.tables import (
    Assignment,
    Project,
    Reading,
    RequestKey,
    Snapshot,
    Unit,
    User,
)

__all__ = [
    "Conflict",
    "Looked",
    "amend",
    "answered_before",
    "keep_answer",
    "latest",
    "own_assignment",
    "remember_answer",
    "save_draft",
    "stage_of",
    "stages_of",
    "submit",
]

_MOST_TEXT = 4000


class Conflict(Exception):
    """Somebody (perhaps the same person in another tab) wrote meanwhile;
    what the case holds now is told."""

    def __init__(self, assignment: Assignment) -> None:
        super().__init__("the case was changed meanwhile")
        self.version = assignment.version
        self.state = assignment.state
        self.draft = dict(assignment.draft)


class Looked(msgspec.Struct, frozen=True):
    """How long a case was looked at, and how many different slices were seen."""

    active_ms: int = 0
    slices_seen: int = 0


def own_assignment(db: Connection, user: User, public_id: str) -> Assignment | None:
    """An assignment of this user; another's is as if it were not there."""
    assignment = db.scalar(select(Assignment).where(Assignment.public_id == public_id))
    if assignment is None or assignment.user_id != user.id or assignment.state == "withdrawn":
        return None
    return assignment


def stages_of(kind: str, purpose: str, stages: int) -> int:
    """1 where the key is shown at once (wordings, audits), else 2; `stages` are the protocol's."""
    if kind == "wording":
        return 1
    return 2 if purpose == "adjudicate" else stages


def stage_of(state: str, stages: int) -> int:
    """The stage a case in this state is at."""
    return 1 if state == "open" and stages == 2 else 2


def latest(db: Connection, assignment: Assignment, stage: int) -> Reading | None:
    """The last version of what was said at a stage."""
    return db.scalars(
        select(Reading)
        .where(Reading.assignment_id == assignment.id, Reading.stage == stage)
        .order_by(Reading.version.desc())
        .limit(1)
    ).first()


def save_draft(
    db: Connection, assignment: Assignment, draft: dict[str, Any], version: int
) -> Assignment:
    """Keep unfinished work; refused if another window has written since."""
    _expect(assignment, version)
    if assignment.state not in ("open", "revealed"):
        raise SitusError("this case is finished", fix="amend it with a reason")
    assignment.draft = draft
    assignment.version += 1
    return assignment


def submit(
    db: Connection,
    assignment: Assignment,
    user: User,
    body: dict[str, Any],
    looked: Looked,
    version: int,
) -> Assignment:
    """Lock what was said at the stage the case is at, and move it on."""
    _expect(assignment, version)
    unit = db.get_one(Unit, assignment.unit_id)
    project = db.get_one(Project, assignment.project_id)
    if project.state != "reading":
        raise SitusError("reading is closed in this project", fix="ask the coordinator")
    if assignment.state not in ("open", "revealed"):
        raise SitusError("this case is finished", fix="amend it with a reason")
    protocol = protocol_of(db, project)
    stage = stage_of(assignment.state, stages_of(unit.kind, assignment.purpose, protocol.stages))
    _check(body, stage, unit, protocol, db.get_one(Snapshot, unit.snapshot_hash))
    keep_answer(db, assignment, user, stage, body, looked)
    assignment.state = "revealed" if stage == 1 else "done"
    assignment.draft = {}
    assignment.version += 1
    if stage == 2 and assignment.purpose == "read" and unit.kind == "item":
        open_adjudication(db, unit, project, protocol)
    return assignment


def keep_answer(
    db: Connection,
    assignment: Assignment,
    user: User,
    stage: int,
    body: dict[str, Any],
    looked: Looked,
    reason: str = "",
) -> Reading:
    """Write one reading and the event that vouches for it."""
    before = latest(db, assignment, stage)
    reading = Reading(
        assignment_id=assignment.id,
        stage=stage,
        version=1 if before is None else before.version + 1,
        body=body,
        reason=reason,
        active_ms=looked.active_ms,
        slices_seen=looked.slices_seen,
        at=round(time.time(), 3),
    )
    db.add(reading)
    db.flush()
    append_event(
        db,
        user.code,
        "reading" if not reason else "reading amended",
        table="readings",
        row=reading.id,
        digest=row_digest(reading),
        case=assignment.public_id,
        unit=assignment.unit_id,
        stage=stage,
        version=reading.version,
    )
    return reading


def amend(
    db: Connection,
    assignment: Assignment,
    user: User,
    body: dict[str, Any],
    reason: str,
    version: int,
) -> Assignment:
    """Correct a rating with a reason, as a further version;
    what was said before the reveal stays."""
    _expect(assignment, version)
    if assignment.purpose != "read":
        raise SitusError("this is no rating", fix="decide anew, with a reason")
    if assignment.state != "done":
        raise SitusError("only finished, unsigned cases are amended", fix="finish the case first")
    if not reason.strip():
        raise SitusError("a correction needs a reason", fix="say why")
    unit = db.get_one(Unit, assignment.unit_id)
    project = db.get_one(Project, assignment.project_id)
    if project.state != "reading":
        raise SitusError("reading is closed in this project", fix="ask the coordinator")
    protocol = protocol_of(db, project)
    _check(body, 2, unit, protocol, db.get_one(Snapshot, unit.snapshot_hash))
    keep_answer(db, assignment, user, 2, body, Looked(), reason.strip()[:_MOST_TEXT])
    assignment.version += 1
    if unit.kind == "item":
        open_adjudication(db, unit, project, protocol)
    return assignment


def _expect(assignment: Assignment, version: int) -> None:
    if assignment.version != version:
        raise Conflict(assignment)


def _check(
    body: dict[str, Any], stage: int, unit: Unit, protocol: ReadingProtocol, snapshot: Snapshot
) -> None:
    """Refuse what the form could not have sent."""
    if stage == 1:
        check_answer(body, snapshot.shown)
        return
    questions = protocol.questions if unit.kind != "wording" else ()
    if questions:
        verdicts = body.get("verdicts") or {}
        if set(verdicts) != set(questions):
            raise SitusError("every question needs a yes or no", fix=", ".join(questions))
    elif body.get("score") not in (0, 1, 2):
        raise SitusError("a score of 0, 1 or 2 is needed", fix="press 0, 1 or 2")


def answered_before(
    db: Connection, user: User, key: str, request: Sequence[Any]
) -> dict[str, Any] | None:
    """What this very submit was answered before; refused if the key came with another request."""
    earlier = db.get(RequestKey, (user.id, key))
    if earlier is None:
        return None
    if earlier.request_hash != hashlib.sha256(canonical_json(request)).hexdigest():
        raise SitusError(
            "this Idempotency-Key was used for another request", fix="send a fresh one"
        )
    return earlier.answer


def remember_answer(
    db: Connection, user: User, key: str, request: Sequence[Any], answer: dict[str, Any]
) -> None:
    """Keep a submit's answer, in the transaction that made the reading."""
    db.add(
        RequestKey(
            user_id=user.id,
            key=key,
            request_hash=hashlib.sha256(canonical_json(request)).hexdigest(),
            answer=answer,
            at=round(time.time(), 3),
        )
    )
