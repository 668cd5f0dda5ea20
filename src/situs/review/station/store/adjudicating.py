"""Adjudication: what opens it, who decides, and what the adjudicator sees."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Connection

from situs.errors import SitusError
from situs.review.station.places import SAME_PLACE, KeyPlace, overlap
from situs.review.station.protocol import ReadingProtocol
from situs.review.station.store.chain import (
    append_event,
    given_words,
    row_digest,
    work_digest,
)
from situs.review.station.store.projects import new_assignment
from situs.review.station.store.tables import (
    Adjudication,
    Assignment,
    Project,
    Reading,
    Snapshot,
    Unit,
    User,
)

__all__ = [
    "NOBODY_FREE",
    "decide",
    "last_decision",
    "open_adjudication",
    "readings_of",
    "shuffled_readings",
    "triggers",
]

NOBODY_FREE = "adjudication without adjudicator"
"""What the chain says of a dispute that waits for somebody who may settle it."""
_FINISHED = ("done", "signed")
_NUMBERS_DIFFER = 0.1
"""Numbers differ if they lie further apart than this share of the larger."""


def readings_of(db: Connection, unit: Unit) -> list[dict[str, Any]]:
    """Of every finished read of a unit the last versions of both stages, joined."""
    rows = db.execute(
        select(Assignment, Reading)
        .join(Reading, Reading.assignment_id == Assignment.id)
        .where(
            Assignment.unit_id == unit.id,
            Assignment.purpose == "read",
            Assignment.state.in_(_FINISHED),
        )
        .order_by(Assignment.id, Reading.stage, Reading.version)
    ).all()
    joined: dict[int, dict[str, Any]] = {}
    for assignment, reading in rows:
        joined.setdefault(assignment.id, {}).update(reading.body)
    return list(joined.values())


def triggers(
    readings: Sequence[dict[str, Any]],
    protocol: ReadingProtocol,
    places: Mapping[str, KeyPlace] = {},
) -> list[str]:
    """Which of the protocol's rules these readings set off;
    `places` are the parts that are answered by a place."""
    scores = [r["score"] for r in readings if r.get("score") is not None]
    flags = [set(r.get("flags", ())) for r in readings]
    verdicts = [r.get("verdicts") or {} for r in readings]
    tripped = {
        "key wrong": any("key wrong" in f for f in flags),
        "side doubt": any("side doubt" in f for f in flags),
        "scores differ by 2": bool(scores) and max(scores) - min(scores) >= 2,
        "answers differ": any(differ(a, b, places) for a, b in itertools.combinations(readings, 2)),
        "verdicts differ": any(a != b for a, b in itertools.combinations(verdicts, 2)),
    }
    return [name for name in protocol.adjudicate if tripped[name]]


def differ(a: dict[str, Any], b: dict[str, Any], places: Mapping[str, KeyPlace] = {}) -> bool:
    """Whether two readers answered differently; a case one of them could not tell counts as
    different.

    Places differ where they overlap by less than half.
    """
    if bool(a.get("cannot")) != bool(b.get("cannot")):
        return True
    first, second = a.get("answers") or {}, b.get("answers") or {}
    for name in {*first, *second}:
        answer_pair = str(first.get(name, "")), str(second.get(name, ""))
        if name in places and all(answer_pair):
            if overlap(places[name], *answer_pair) < SAME_PLACE:
                return True
        elif _unlike(*answer_pair):
            return True
    return False


def _unlike(a: str, b: str) -> bool:
    try:
        x, y = float(a.replace(",", ".")), float(b.replace(",", "."))
    except ValueError:
        return a.strip().lower() != b.strip().lower()
    return abs(x - y) > _NUMBERS_DIFFER * max(abs(x), abs(y))


def open_adjudication(
    db: Connection, unit: Unit, project: Project, protocol: ReadingProtocol
) -> None:
    """Once all its reads are finished:
    give a disputed unit to the least busy adjudicator who did not read it."""
    every = db.scalars(select(Assignment).where(Assignment.unit_id == unit.id)).all()
    rows = [row for row in every if row.state != "withdrawn"]
    reads = [row for row in rows if row.purpose == "read"]
    if any(row.state not in _FINISHED for row in reads) or len(rows) > len(reads):
        return
    hidden = db.get_one(Snapshot, unit.snapshot_hash).hidden
    places = msgspec.convert(hidden.get("places", {}), dict[str, KeyPlace])
    reasons = triggers(readings_of(db, unit), protocol, places)
    if not reasons:
        return
    # Whoever answered it, or had it and left, does not come to it with fresh eyes.
    unfit = {row.user_id for row in every}
    free = [
        user
        for user in db.scalars(select(User).where(User.active))
        if "adjudicator" in user.roles and user.id not in unfit
    ]
    if not free:
        append_event(db, "station", NOBODY_FREE, unit=unit.id, why=reasons)
        return
    counts = db.execute(
        select(Assignment.user_id, func.count())
        .where(Assignment.purpose == "adjudicate")
        .group_by(Assignment.user_id)
    )
    loads = {row[0]: row[1] for row in counts}
    chosen = min(free, key=lambda user: (loads.get(user.id, 0), user.id))
    row = new_assignment(unit, chosen, "adjudicate", 0, unit.id)
    db.add(row)
    append_event(
        db,
        "station",
        "adjudication opened",
        project=project.name,
        unit=unit.id,
        why=reasons,
        given_digest=work_digest([given_words(row, chosen.code)]),
    )


def shuffled_readings(db: Connection, assignment: Assignment) -> list[dict[str, Any]]:
    """The readings as A, B, C in an order that the case's random id draws;
    nobody's code is told."""
    unit = db.get_one(Unit, assignment.unit_id)
    allowed = ("answers", "cannot", "confidence", "score", "flags", "verdicts", "comment")
    readings = [
        {key: body[key] for key in allowed if key in body} for body in readings_of(db, unit)
    ]
    random.Random(assignment.public_id).shuffle(readings)
    return [
        {"reader": letter, **body} for letter, body in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", readings)
    ]


def last_decision(db: Connection, assignment: Assignment) -> dict[str, Any] | None:
    """What an adjudicator decided on a case, as it stands; None before."""
    row = db.scalars(
        select(Adjudication)
        .where(Adjudication.assignment_id == assignment.id)
        .order_by(Adjudication.version.desc())
        .limit(1)
    ).first()
    if row is None:
        return None
    return {"decision": row.decision, "key_wrong": row.key_wrong, "reason": row.reason}


def decide(
    db: Connection,
    assignment: Assignment,
    user: User,
    decision: str,
    key_wrong: bool,
    reason: str,
) -> Adjudication:
    """Settle a unit: keep, fix (a request to whoever builds the bench) or drop, with a reason.

    While the project is read, a decision may be corrected: a further version, with its own reason.
    """
    if decision not in ("keep", "fix", "drop"):
        raise SitusError(f"unknown decision {decision!r}", fix="keep, fix or drop")
    if not reason.strip():
        raise SitusError("a decision needs a reason", fix="say why")
    if assignment.state not in ("revealed", "done"):
        raise SitusError("read the case blind first", fix="answer it before deciding")
    if db.get_one(Project, assignment.project_id).state != "reading":
        raise SitusError("reading is closed in this project", fix="ask the coordinator")
    is_correction = assignment.state == "done"
    last = db.scalar(
        select(func.max(Adjudication.version)).where(Adjudication.unit_id == assignment.unit_id)
    )
    row = Adjudication(
        unit_id=assignment.unit_id,
        assignment_id=assignment.id,
        version=(last or 0) + 1,
        decision=decision,
        key_wrong=key_wrong,
        reason=reason.strip()[:4000],
        at=round(time.time(), 3),
    )
    db.add(row)
    db.flush()
    assignment.state = "done"
    assignment.draft = {}
    assignment.version += 1
    append_event(
        db,
        user.code,
        "adjudication amended" if is_correction else "adjudication",
        table="adjudications",
        row=row.id,
        digest=row_digest(row),
        case=assignment.public_id,
        unit=assignment.unit_id,
        decision=decision,
    )
    return row
