"""Projects: a sample of a bench taken in, planned, frozen and locked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import select, update
from sqlalchemy.orm import Session as Connection

from situs.base.files import canonical_json
from situs.errors import SitusError, did_you_mean
from situs.review.station.plan import Plan, PlannedUnit, plan_reads
from situs.review.station.protocol import ReadingProtocol
from situs.review.station.sample import TakenSample
from situs.review.station.store.chain import (
    append_event,
    given_words,
    snapshot_hash,
    units_digest,
    work_digest,
)
from situs.review.station.store.tables import (
    Assignment,
    Project,
    Protocol,
    Snapshot,
    Unit,
    User,
)

__all__ = [
    "ImportedProject",
    "add_project",
    "check_project_name",
    "find_project",
    "freeze_plan",
    "lock_project",
    "new_assignment",
    "preview_plan",
    "protocol_of",
]


_PROTOCOLS: dict[str, ReadingProtocol] = {}
"""By hash. Protocols are immutable and few, and nearly every request asks for one."""


class ImportedProject(msgspec.Struct, frozen=True):
    """What came of an import."""

    project: str
    units: dict[str, int]
    strata: dict[str, dict[str, float]]
    """Stratum → drawn, weight."""
    left_out: dict[str, int]


def find_project(db: Connection, name: str) -> Project:
    """A project by name or public id."""
    project = db.scalar(select(Project).where((Project.name == name) | (Project.public_id == name)))
    if project is None:
        known = list(db.scalars(select(Project.name)))
        fix = did_you_mean(name, known) if known else "import a bench first"
        raise SitusError(f"no project {name!r}", where="--project", fix=fix)
    return project


def protocol_of(db: Connection, project: Project) -> ReadingProtocol:
    """The protocol a project was frozen with."""
    known = _PROTOCOLS.get(project.protocol_hash)
    if known is None:
        body = db.get_one(Protocol, project.protocol_hash).body
        known = _PROTOCOLS[project.protocol_hash] = msgspec.convert(body, ReadingProtocol)
    return known


def check_project_name(db: Connection, name: str) -> None:
    """Refuse a name that a project has."""
    if db.scalar(select(Project).where(Project.name == name)) is not None:
        raise SitusError(f"project {name!r} exists", where="--project", fix="choose another name")


def add_project(
    db: Connection, taken: TakenSample, name: str, actor: str = "command line"
) -> ImportedProject:
    """Make a project of a sample; its items are copied and never follow the bench."""
    check_project_name(db, name)
    project = _project(db, taken, name)
    units = [
        Unit(
            project_id=project.id,
            snapshot_hash=_keep(
                db, msgspec.json.decode(unit.shown), msgspec.json.decode(unit.hidden)
            ),
            kind=unit.kind,
            stratum=unit.stratum,
            weight=unit.weight,
            patient=unit.patient,
            twin_group=unit.twin_group,
        )
        for unit in taken.units
    ]
    db.add_all(units)
    db.flush()
    counts = {kind: sum(u.kind == kind for u in units) for kind in sorted({u.kind for u in units})}
    append_event(
        db,
        actor,
        "project imported",
        project=name,
        public_id=project.public_id,
        bench=taken.bench,
        bench_hash=taken.bench_hash,
        protocol=taken.protocol.hash,
        seed=taken.seed,
        units=counts,
        units_digest=units_digest(units),
        snapshots=sorted({unit.snapshot_hash for unit in units}),
    )
    return ImportedProject(name, counts, taken.strata, taken.left_out)


def _project(db: Connection, taken: TakenSample, name: str) -> Project:
    protocol = taken.protocol
    if db.get(Protocol, protocol.hash) is None:
        body = msgspec.to_builtins(protocol)
        db.add(Protocol(hash=protocol.hash, name=protocol.name, body=body))
        db.flush()
    project = Project(
        public_id=secrets.token_hex(16),
        name=name,
        protocol_hash=protocol.hash,
        bench=taken.bench,
        bench_hash=taken.bench_hash,
        seed=taken.seed,
        state="draft",
    )
    db.add(project)
    db.flush()
    return project


def _keep(db: Connection, visible: dict[str, Any], hidden: dict[str, Any]) -> str:
    name = snapshot_hash(visible, hidden)
    if db.get(Snapshot, name) is None:
        db.add(Snapshot(hash=name, shown=visible, hidden=hidden))
        db.flush()
    return name


def preview_plan(db: Connection, project: Project, readers: Sequence[str]) -> Plan:
    """The plan as it would be frozen, for a coordinator to look at."""
    units = db.scalars(
        select(Unit).where(Unit.project_id == project.id, Unit.kind != "repeat").order_by(Unit.id)
    )
    planned = [PlannedUnit(u.id, u.patient, u.twin_group, u.kind) for u in units]
    return plan_reads(planned, list(readers), protocol_of(db, project), project.seed)


def freeze_plan(db: Connection, project: Project, readers: Sequence[str], actor: str) -> Plan:
    """Hand the lists out; protocol and plan do not change from here on."""
    if project.state != "draft":
        raise SitusError(f"project {project.name!r} is already planned", fix="use --leaves instead")
    users = _readers(db, readers)
    plan = preview_plan(db, project, list(users))
    units = {u.id: u for u in db.scalars(select(Unit).where(Unit.project_id == project.id))}
    rows = []
    for planned in plan.places:
        unit = units[planned.unit]
        if planned.repeat:
            unit = Unit(
                project_id=project.id,
                snapshot_hash=unit.snapshot_hash,
                kind="repeat",
                stratum=unit.stratum,
                weight=0.0,
                patient=unit.patient,
                repeat_of=unit.id,
            )
            db.add(unit)
        rows.append((unit, planned))
    db.flush()  # once for all: repeats get their numbers here
    given = [
        (new_assignment(unit, users[p.reader], "read", p.block, p.position), p.reader)
        for unit, p in rows
    ]
    db.add_all(row for row, _ in given)
    project.state = "reading"
    append_event(
        db,
        actor,
        "plan frozen",
        project=project.name,
        readers=sorted(users),
        plan=hashlib.sha256(canonical_json(plan)).hexdigest(),
        repeats_digest=units_digest(unit for unit, planned in rows if planned.repeat),
        given_digest=work_digest(given_words(*pair) for pair in given),
    )
    return plan


def new_assignment(unit: Unit, user: User, purpose: str, block: int, position: int) -> Assignment:
    """A unit given to somebody, under a random id."""
    return Assignment(
        public_id=secrets.token_hex(16),
        unit_id=unit.id,
        user_id=user.id,
        project_id=unit.project_id,
        purpose=purpose,
        block=block,
        position=position,
        state="open",
        version=1,
        draft={},
    )


def _readers(db: Connection, codes: Sequence[str]) -> dict[str, User]:
    users = {user.code: user for user in db.scalars(select(User).where(User.active))}
    bad = [code for code in codes if code not in users or "reader" not in users[code].roles]
    if bad:
        known = [code for code, user in users.items() if "reader" in user.roles]
        raise SitusError(
            f"{bad[0]!r} is not an active reader",
            where="--readers",
            fix=did_you_mean(bad[0], known),
        )
    return {code: users[code] for code in dict.fromkeys(codes)}


def lock_project(db: Connection, project: Project, actor: str) -> None:
    """Close the reads; agreement may be looked at from here on."""
    if project.state != "reading":
        raise SitusError(f"project {project.name!r} is {project.state}", fix="assign readers first")
    is_open = (Assignment.project_id == project.id) & (Assignment.state == "open")
    closing = select(Assignment, User.code).join(User, User.id == Assignment.user_id)
    digest = work_digest(given_words(*pair) for pair in db.execute(closing.where(is_open)))
    db.execute(update(Assignment).where(is_open).values(state="withdrawn"))
    project.state = "locked"
    append_event(db, actor, "reads locked", project=project.name, withdrawn_digest=digest)
